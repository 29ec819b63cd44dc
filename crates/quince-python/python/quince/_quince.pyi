"""The Rust half. Use what `quince` shows of it."""

import os
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str

@final
class Model:
    """A trained model: what `quince.train` returns and what `quince.load` opens."""

    @property
    def method(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def task(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def report(self) -> dict[str, Any]: ...
    @property
    def classes(self) -> NDArray[Any] | None: ...
    @property
    def columns(self) -> dict[str, str]: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def notes(self) -> Any: ...
    def predict(self, data: Any, *, n_jobs: int | None = None) -> NDArray[Any]: ...
    def predict_proba(self, data: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]: ...
    def evaluate(self, data: Any, *, n_jobs: int | None = None) -> dict[str, Any]: ...
    def explain(self, data: Any = None, row: int = 0) -> dict[str, Any]: ...
    def imputed_values(self, data: Any, *, n_jobs: int | None = None) -> list[dict[str, Any]]: ...
    def sample(self, n: int = 1, *, label: str | None = None, seed: int = 0) -> dict[str, list[Any]]: ...
    def parameter(self, name: str) -> Any: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def annotated(self, notes: str | None = None, names: list[str] | None = None) -> Model: ...

@final
class Table:
    """A table: columns with names, kinds and missing values."""

    def __new__(
        cls,
        data: Any,
        *,
        kinds: dict[str, str] | None = None,
        drop: list[str] | None = None,
        encode: dict[str, str] | None = None,
        degree: int = 1,
    ) -> Table: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def kinds(self) -> dict[str, str]: ...
    def describe(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...

def read(
    path: str | os.PathLike[str],
    *,
    kinds: dict[str, str] | None = None,
    drop: list[str] | None = None,
    encode: dict[str, str] | None = None,
    degree: int = 1,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    pixels: tuple[int, int] = (16, 16),
    binarise: float | None = None,
    patches: tuple[int, int] | None = None,
) -> Table: ...
def read_csv(
    path: str | os.PathLike[str],
    *,
    kinds: dict[str, str] | None = None,
    drop: list[str] | None = None,
    delimiter: str | None = None,
    header: bool = True,
) -> Table: ...
@final
class TextEncoder:
    """A vocabulary, and how texts are split into words, learnt from texts."""

    @staticmethod
    def of(state: dict[str, Any]) -> TextEncoder: ...
    @property
    def vocabulary(self) -> list[str]: ...
    @property
    def width(self) -> int: ...
    def counts(
        self, texts: list[str], *, threads: int = 0
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]: ...

def learn_text(
    texts: list[str], settings: dict[str, Any], *, threads: int = 0
) -> tuple[TextEncoder, tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]]: ...
def inverse_document_frequencies(
    rows: int, rows_with: NDArray[np.uint32], smooth: bool
) -> NDArray[np.float64]: ...
def weigh_terms(
    starts: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.int64],
    *,
    idf: NDArray[np.float64] | None = None,
    sublinear: bool = False,
    norm: str | None = None,
) -> NDArray[np.float64]: ...
def column_moments(
    x: Any, *, weights: NDArray[np.float64] | None = None, threads: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def merge_moments(
    before: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
    after: tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def fill_values(x: Any, statistic: str, *, threads: int = 0) -> NDArray[np.float64]: ...
def available_cores() -> int: ...
def stop_words(language: str) -> list[str]: ...
def mutual_information(x: Any, codes: NDArray[np.uint32], classes: int) -> NDArray[np.float64]: ...
def chi_squared(x: Any, codes: NDArray[np.uint32], classes: int) -> NDArray[np.float64]: ...
@final
class TableEncoder:
    """How the columns of a table become features, learnt from a table."""

    @staticmethod
    def of(state: dict[str, Any], donors: NDArray[np.float64] | None) -> TableEncoder: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def columns(self) -> dict[str, str]: ...
    def encode(
        self, data: Any, *, kept: bool = False, threads: int = 0
    ) -> NDArray[np.float64] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...

def learn_table(
    table: Table,
    *,
    codes: NDArray[np.uint32] | None = None,
    classes: int = 0,
    kept: bool = False,
    threads: int = 0,
) -> tuple[
    TableEncoder,
    NDArray[np.float64] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    list[tuple[str, str]],
]: ...
def knn_impute(
    x: NDArray[np.float64],
    donors: NDArray[np.float64],
    k: int,
    *,
    by_distance: bool = False,
    otherwise: list[float],
    threads: int = 0,
) -> NDArray[np.float64]: ...
def monomials(columns: int, lowest: int, highest: int, single: bool) -> list[list[int]]: ...
def count_products(columns: int, lowest: int, highest: int, *, single: bool, constant: bool) -> int: ...
def products(
    x: Any,
    lowest: int,
    highest: int,
    *,
    single: bool,
    constant: bool,
    by_columns: bool = False,
    threads: int = 0,
) -> NDArray[Any] | tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def models() -> dict[str, dict[str, Any]]: ...
def train(
    data: Any,
    target: str | None,
    model: str,
    settings: dict[str, Any],
    *,
    resume: Model | None = None,
    task: str | None = None,
    weight: str | None = None,
    seed: int = 0,
    threads: int = 0,
    budget: float | None = None,
) -> Model: ...
def compare(
    data: Any,
    target: str,
    models: list[tuple[str, dict[str, Any]]] | None,
    *,
    folds: str = "10",
    hold_out: float | None = None,
    by: str | None = None,
    task: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    seed: int = 0,
    threads: int = 0,
    budget: float | None = None,
) -> dict[str, Any]: ...
def fit(
    method: str,
    x: Any,
    settings: dict[str, Any],
    *,
    target: NDArray[Any] | None = None,
    classes: list[str] | None = None,
    weights: NDArray[np.float64] | None = None,
    start: NDArray[np.float64] | dict[str, Any] | Model | None = None,
    seed: int = 0,
    threads: int = 0,
    budget: float | None = None,
) -> Model: ...
def update(
    model: Model,
    x: Any,
    *,
    target: NDArray[Any] | None = None,
    classes: list[str] | None = None,
    weights: NDArray[np.float64] | None = None,
    threads: int = 0,
) -> Model: ...
def leave_one_out(
    method: str,
    x: Any,
    settings: dict[str, Any],
    *,
    target: NDArray[Any] | None = None,
    classes: list[str] | None = None,
    weights: NDArray[np.float64] | None = None,
    threads: int = 0,
) -> NDArray[np.float64]: ...
def predict(model: Model, x: Any, answer: str, *, threads: int = 0) -> NDArray[Any]: ...
def linear_outputs(
    x: Any, coefficients: NDArray[np.float64], intercept: NDArray[np.float64], *, threads: int = 0
) -> NDArray[np.float64]: ...
@final
class Neighbours:
    """Rows among which neighbours are searched; an array is not copied."""

    def __new__(
        cls, x: Any, settings: dict[str, Any], *, weights: list[float] = ..., threads: int = 0
    ) -> Neighbours: ...
    def nearest(self, x: Any, k: int, *, threads: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...

def nearest_rows(
    model: Model, x: Any, k: int, *, threads: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...
def cluster_error(
    model: Model, x: Any, *, weights: NDArray[np.float64] | None = None, threads: int = 0
) -> float: ...
def cluster_distances(model: Model, x: Any, *, threads: int = 0) -> NDArray[np.float64]: ...
def silhouettes(x: Any, labels: NDArray[np.uint32], *, threads: int = 0) -> NDArray[np.float64]: ...

@final
class Single:
    """A distribution of one number; `quince.family` shows it."""

    @staticmethod
    def normal(mean: float, standard_deviation: float) -> Single: ...
    @staticmethod
    def normal_of(values: NDArray[np.float64], unbiased: bool) -> Single: ...
    @staticmethod
    def poisson(rate: float) -> Single: ...
    @staticmethod
    def poisson_of(values: NDArray[np.float64]) -> Single: ...
    @staticmethod
    def binomial(tries: float, probability: float) -> Single: ...
    @staticmethod
    def binomial_of(tries: float, values: NDArray[np.float64]) -> Single: ...
    @staticmethod
    def beta(a: float, b: float) -> Single: ...
    def log_density(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def cumulative(self, x: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def sample(self, count: int, seed: int) -> NDArray[np.float64]: ...
    @property
    def mean(self) -> float: ...
    @property
    def variance(self) -> float: ...

@final
class Gaussian:
    """A multivariate normal distribution; `quince.family` shows it."""

    @staticmethod
    def of(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> Gaussian: ...
    @staticmethod
    def fit(rows: NDArray[np.float64], unbiased: bool) -> Gaussian: ...
    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def sample(self, count: int, seed: int) -> NDArray[np.float64]: ...
    @property
    def mean(self) -> NDArray[np.float64]: ...
    @property
    def covariance(self) -> NDArray[np.float64]: ...

@final
class Multinomial:
    """A multinomial distribution; `quince.family` shows it."""

    @staticmethod
    def of(weights: NDArray[np.float64]) -> Multinomial: ...
    @staticmethod
    def fit(rows: NDArray[np.float64]) -> Multinomial: ...
    def log_probability(self, rows: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def sample(self, length: int, count: int, seed: int) -> NDArray[np.float64]: ...
    @property
    def probabilities(self) -> NDArray[np.float64]: ...

@final
class Joint:
    """A joint distribution of two variables; `quince.family` shows it."""

    @staticmethod
    def of(table: NDArray[np.float64]) -> Joint: ...
    @staticmethod
    def from_conditional(prior: NDArray[np.float64], conditional: NDArray[np.float64]) -> Joint: ...
    @property
    def table(self) -> NDArray[np.float64]: ...
    @property
    def rows(self) -> NDArray[np.float64]: ...
    @property
    def columns(self) -> NDArray[np.float64]: ...
    def given_row(self, row: int) -> NDArray[np.float64] | None: ...
    def given_column(self, column: int) -> NDArray[np.float64] | None: ...
    def is_independent(self, tolerance: float) -> bool: ...
    def correlation(self, of_rows: NDArray[np.float64], of_columns: NDArray[np.float64]) -> float | None: ...
def known_baseline(values: list[float], columns: int) -> Model: ...
def known_centres(centres: NDArray[np.float64], settings: dict[str, Any]) -> Model: ...
def known_gaussian(
    means: NDArray[np.float64],
    covariances: list[NDArray[np.float64]],
    priors: list[float],
    classes: list[str],
    settings: dict[str, Any],
) -> Model: ...
def known_discriminants(
    means: NDArray[np.float64],
    within: NDArray[np.float64],
    priors: list[float],
    classes: list[str],
    settings: dict[str, Any],
    *,
    total: NDArray[np.float64] | None = None,
) -> Model: ...
def known_linear_svm(
    weights: NDArray[np.float64], bias: float, classes: list[str], settings: dict[str, Any]
) -> Model: ...
def project_rows(model: Model, x: Any, *, threads: int = 0) -> NDArray[np.float64]: ...
def with_coefficients(model: Model, coefficients: NDArray[np.float64], intercept: list[float]) -> Model: ...
def widen_categories(model: Model, counts: list[int]) -> Model: ...
def mixture_criterion(
    model: Model,
    x: Any,
    criterion: str,
    *,
    weights: NDArray[np.float64] | None = None,
    threads: int = 0,
) -> float: ...
def impute_rows(
    model: Model, x: Any, *, threads: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
