"""Texts as sparse matrices of counts, with scikit-learn's parameters, and the selection of the most informative columns."""

from __future__ import annotations

__all__ = ["CountVectorizer", "HashingVectorizer", "SelectKBest", "TfidfVectorizer", "chi2", "mutual_information"]

import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.stats import chi2 as chi2_distribution
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from quince import _quince, _threads
from quince._base import for_extension

Score = Callable[[Any, ArrayLike], Any]


def _texts(raw_documents: Any) -> list[str]:
    if isinstance(raw_documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    texts = raw_documents if isinstance(raw_documents, list) else list(raw_documents)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            missing = text is None or text is np.nan or (isinstance(text, float) and np.isnan(text))
            if missing:
                raise ValueError(f"text {place} is missing: np.nan is an invalid document, expected str. Give ''.")
            raise TypeError(f"text {place} is a {type(text).__name__}, expected str. Decode bytes first.")
    return texts


class _Vectorizer(TransformerMixin, BaseEstimator):
    """What the vectorizers share: how texts are split into words."""

    _analyzers: ClassVar[dict[str, str]] = {
        "word": "runs",
        "unicode": "words",
        "char": "letters",
        "char_wb": "letters-in-words",
    }

    def _settings(self) -> dict[str, Any]:
        if self.analyzer not in self._analyzers:
            raise ValueError(f"analyzer cannot be {self.analyzer!r}. Give one of {', '.join(map(repr, self._analyzers))}.")
        if self.strip_accents not in (None, "unicode"):
            raise ValueError(f"strip_accents cannot be {self.strip_accents!r}. Give 'unicode' or None.")
        smallest, largest = self.ngram_range
        if not 1 <= smallest <= largest:
            raise ValueError(
                f"Invalid value for ngram_range={self.ngram_range} lower boundary larger than the upper boundary."
            )
        stop: Any = "none"
        if isinstance(self.stop_words, str):
            stop = {"list": _quince.stop_words(self.stop_words)}
        elif self.stop_words is not None:
            stop = {"list": sorted(set(self.stop_words))}
        words = self.analyzer in ("word", "unicode")
        return {
            "analyzer": self._analyzers[self.analyzer],
            "ngrams": [int(smallest), int(largest)],
            "lowercase": bool(self.lowercase),
            "strip_accents": self.strip_accents == "unicode",
            "stop_words": stop if words else "none",
            "stem": self.stem if words else None,
            "weighting": "presence" if self.binary else "counts",
        }

    def _matrix(self, compressed: tuple[Any, Any, Any], width: int, dtype: Any) -> sparse.csr_matrix:
        starts, columns, counts = compressed
        if starts[-1] < np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        matrix = sparse.csr_matrix((counts, columns, starts), shape=(len(starts) - 1, width), copy=False)
        matrix.has_sorted_indices = True
        if self.binary:
            matrix.data.fill(1)
        return matrix if matrix.dtype == dtype else matrix.astype(dtype)

    def _threads(self) -> int:
        return _threads.effective(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class CountVectorizer(_Vectorizer):
    """Counts the words of texts: a sparse matrix with one row per text and one column per word.

    Parameters, attributes and the matrix are scikit-learn's; texts are split and counted on all cores. In addition, `stem`
    names a language (`"english"`) by whose rules words are reduced to their stems, and `analyzer="unicode"` splits words by
    Unicode's rule, which keeps `don't` and `3.50` together.

    Differences: `stop_words` takes any of 18 languages, with NLTK's lists, which are not scikit-learn's; there are no
    tokenizers or token patterns of your own; of words that are equally frequent at the limit of `max_features`, the first in
    the alphabet are kept.
    """

    def __init__(
        self,
        *,
        strip_accents: Literal["unicode"] | None = None,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        stem: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Literal["word", "unicode", "char", "char_wb"] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        dtype: Any = np.int64,
        n_jobs: int | None = None,
    ) -> None:
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stem = stem
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, raw_documents: Iterable[str], y: Any = None) -> CountVectorizer:
        """Learns the vocabulary of texts."""
        self.fit_transform(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learns the vocabulary of texts, and counts its words in them."""
        texts = _texts(raw_documents)
        if self.vocabulary is not None:
            self._take_vocabulary()
            return self._count(texts)
        if not texts:
            raise ValueError("empty vocabulary; there are no documents")
        settings = self._settings() | self._limits(len(texts))
        self._encoder, compressed = _quince.learn_text(texts, settings, threads=self._threads())
        self._order: NDArray[np.int32] | None = None
        self.fixed_vocabulary_ = False
        vars(self).pop("_places", None)
        width = self._encoder.width
        if width == 0:
            del self._encoder
            if compressed[0][-1] == 0 and self.min_df in (0, 1):
                raise ValueError("empty vocabulary; perhaps the documents only contain stop words")
            raise ValueError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return self._matrix(compressed, width, self.dtype)

    def _limits(self, rows: int) -> dict[str, Any]:
        def amount(name: str, value: float) -> dict[str, Any]:
            if isinstance(value, Integral):
                if value < 0:
                    raise ValueError(f"{name} cannot be {value}. Give a number of at least 0, or a share from 0 to 1.")
                return {"rows": int(value)}
            if not 0.0 <= value <= 1.0:
                raise ValueError(f"{name} cannot be {value}. Give a whole number, or a share from 0 to 1.")
            return {"share": float(value)}

        def number(limit: dict[str, Any]) -> float:
            return limit["rows"] if "rows" in limit else limit["share"] * rows

        least, most = amount("min_df", self.min_df), amount("max_df", self.max_df)
        if number(most) < number(least):
            raise ValueError("max_df corresponds to < documents than min_df")
        if self.max_features is not None and self.max_features < 1:
            raise ValueError(f"max_features cannot be {self.max_features}. Give a number of at least 1, or None.")
        return {"min_document_frequency": least, "max_document_frequency": most, "words": self.max_features or np.iinfo(np.int32).max}

    def _take_vocabulary(self) -> None:
        given = self.vocabulary
        if isinstance(given, Mapping):
            places = dict(given)
            if sorted(places.values()) != list(range(len(places))):
                raise ValueError("the places of the vocabulary are not 0, 1, 2 and so on, each once")
        else:
            words = sorted(given) if isinstance(given, (set, frozenset)) else list(given or ())
            places = {word: place for place, word in enumerate(words)}
            if len(places) != len(words):
                raise ValueError("Duplicate term in vocabulary")
        if not places:
            raise ValueError("empty vocabulary passed to fit")
        words = sorted(places)
        self._encoder = _quince.TextEncoder.of({"settings": self._settings(), "vocabulary": words})
        order = np.array([places[word] for word in words], dtype=np.int32)
        self._order = None if np.array_equal(order, np.arange(len(order))) else order
        self._places = places
        self.fixed_vocabulary_ = True

    def _count(self, texts: list[str]) -> sparse.csr_matrix:
        starts, columns, counts = self._encoder.counts(texts, threads=self._threads())
        if self._order is None:
            return self._matrix((starts, columns, counts), self._encoder.width, self.dtype)
        matrix = self._matrix((starts, self._order[columns], counts), self._encoder.width, self.dtype)
        matrix.has_sorted_indices = False
        matrix.sort_indices()
        return matrix

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """Counts the words of the vocabulary in other texts."""
        if "_encoder" not in vars(self) and self.vocabulary is not None:
            self._take_vocabulary()
        check_is_fitted(self)
        return self._count(_texts(raw_documents))

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of every word."""
        if "_encoder" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted, and has no vocabulary_")
        if "_places" not in vars(self):
            self._places = {word: place for place, word in enumerate(self._encoder.vocabulary)}
        return self._places

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The word of every column."""
        check_is_fitted(self)
        words = sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)
        return np.asarray(words, dtype=object)

    def inverse_transform(self, X: Any) -> list[NDArray[Any]]:
        """The words of each row, without their order."""
        names = self.get_feature_names_out()
        rows = sparse.csr_matrix(X)
        return [names[rows.indices[a:b][rows.data[a:b] != 0]] for a, b in zip(rows.indptr, rows.indptr[1:])]

    def __sklearn_is_fitted__(self) -> bool:
        return "_encoder" in vars(self)


class TfidfVectorizer(CountVectorizer):
    """Counts the words of texts and weights them by tf-idf: rare words more, and every row scaled to length 1.

    Parameters, attributes and the matrix are scikit-learn's; see `CountVectorizer` for what is added.
    """

    def __init__(
        self,
        *,
        strip_accents: Literal["unicode"] | None = None,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        stem: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Literal["word", "unicode", "char", "char_wb"] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: Literal["l1", "l2"] | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            strip_accents=strip_accents,
            lowercase=lowercase,
            stop_words=stop_words,
            stem=stem,
            ngram_range=ngram_range,
            analyzer=analyzer,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            n_jobs=n_jobs,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def fit_transform(self, raw_documents: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Learns vocabulary and weights from texts, and weights their words."""
        counts = super().fit_transform(raw_documents)
        if self.use_idf:
            rows_with = np.bincount(counts.indices, minlength=counts.shape[1]).astype(np.uint32)
            idf = _quince.inverse_document_frequencies(counts.shape[0], rows_with, bool(self.smooth_idf))
            self.idf_ = idf.astype(self.dtype)
        return self._weighted(counts)

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """Weights the words of other texts."""
        counts = super().transform(raw_documents)
        if self.use_idf:
            check_is_fitted(self, "idf_")
        return self._weighted(counts)

    def _weighted(self, counts: sparse.csr_matrix) -> sparse.csr_matrix:
        return _weighted(counts, self.norm, idf=self.idf_ if self.use_idf else None, sublinear=bool(self.sublinear_tf))


def _weighted(
    counts: sparse.csr_matrix, norm: str | None, idf: ArrayLike | None = None, sublinear: bool = False
) -> sparse.csr_matrix:
    """Counts as the encoder of texts weights them, in the type that they have."""
    if norm not in ("l1", "l2", None):
        raise ValueError(f"norm cannot be {norm!r}. Give 'l1', 'l2' or None.")
    starts, columns = np.asarray(counts.indptr, dtype=np.int64), np.asarray(counts.indices, dtype=np.int32)
    idf = None if idf is None else np.ascontiguousarray(idf, dtype=np.float64)
    values = _quince.weigh_terms(starts, columns, counts.data.astype(np.int64), idf=idf, sublinear=sublinear, norm=norm)
    counts.data = values.astype(counts.dtype, copy=False)
    return counts


class HashingVectorizer(_Vectorizer):
    """Counts words in columns that a hash function assigns them to: there is no vocabulary, and nothing to learn.

    Parameters and the matrix are scikit-learn's; see `CountVectorizer` for what is added.
    """

    def __init__(
        self,
        *,
        strip_accents: Literal["unicode"] | None = None,
        lowercase: bool = True,
        stop_words: str | Iterable[str] | None = None,
        stem: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Literal["word", "unicode", "char", "char_wb"] = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: Literal["l1", "l2"] | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.stop_words = stop_words
        self.stem = stem
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> HashingVectorizer:
        """Checks the parameters; there is nothing to learn."""
        self._places()
        return self

    partial_fit = fit

    def _places(self) -> dict[str, Any]:
        if not 1 <= self.n_features <= 2**24:
            raise ValueError(f"n_features cannot be {self.n_features}. Give a number from 1 to {2**24}.")
        return self._settings() | {"hash": int(self.n_features), "signed": bool(self.alternate_sign and not self.binary)}

    def transform(self, raw_documents: Iterable[str]) -> sparse.csr_matrix:
        """Counts the words of texts."""
        encoder = _quince.TextEncoder.of({"settings": self._places()})
        compressed = encoder.counts(_texts(raw_documents), threads=self._threads())
        return _weighted(self._matrix(compressed, self.n_features, self.dtype), self.norm)

    def fit_transform(self, X: Iterable[str], y: Any = None) -> sparse.csr_matrix:
        """Counts the words of texts."""
        return self.fit(X, y).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


def _codes(y: ArrayLike, rows: int) -> tuple[NDArray[np.uint32], int]:
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(codes) != rows:
        raise ValueError(f"there are {rows} rows and {len(codes)} labels. Give every row one label.")
    return codes.astype(np.uint32), len(classes)


def _counts(X: Any) -> Any:
    X = X.astype(np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    return for_extension(X)


def mutual_information(X: Any, y: ArrayLike) -> NDArray[np.float64]:
    """The mutual information of the presence of each column (is its count above zero?) and the class, in nats."""
    X = _counts(X)
    return _quince.mutual_information(X, *_codes(y, X.shape[0]))


def chi2(X: Any, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The chi-squared statistic of each column of counts and the classes, and its p-value."""
    X = _counts(X)
    codes, classes = _codes(y, X.shape[0])
    statistic = _quince.chi_squared(X, codes, classes)
    return statistic, chi2_distribution.sf(statistic, classes - 1)


class SelectKBest(SelectorMixin, BaseEstimator):
    """Keeps the k most informative columns: by `mutual_information`, `chi2`, or any score of your own."""

    def __init__(self, score_func: Score = mutual_information, *, k: int | Literal["all"] = 10) -> None:
        self.score_func = score_func
        self.k = k

    def fit(self, X: Any, y: ArrayLike) -> SelectKBest:
        """Scores the columns."""
        X, y = validate_data(self, X, y, accept_sparse=["csr", "csc"], multi_output=False)
        if self.k != "all" and not (isinstance(self.k, Integral) and self.k >= 0):
            raise ValueError(f"k cannot be {self.k!r}. Give a whole number of at least 0, or 'all'.")
        if self.k != "all" and self.k > X.shape[1]:
            warnings.warn(f"k={self.k} is greater than n_features={X.shape[1]}: all are kept", UserWarning, stacklevel=2)
        scores = self.score_func(X, y)
        self.scores_, self.pvalues_ = scores if isinstance(scores, tuple) else (scores, None)
        return self

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        if self.k == "all":
            return np.ones(len(self.scores_), dtype=bool)
        scores = np.where(np.isnan(self.scores_), -np.inf, self.scores_)
        mask = np.zeros(len(scores), dtype=bool)
        mask[np.argsort(-scores, kind="stable")[: self.k]] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


__all__ = [
    "CountVectorizer",
    "HashingVectorizer",
    "SelectKBest",
    "TfidfVectorizer",
    "chi2",
    "mutual_information",
]
