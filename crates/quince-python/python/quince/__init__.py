"""Classical machine learning for real tables, with scikit-learn's conventions.

For arrays there are estimators with scikit-learn's parameters and attributes; `models()` says which classes belong to which
method. Some of them, such as `MixedNB` and `MixedMixture`, take data frames with native columns, too. Features are prepared with
encoders and imputers (`quince.preprocessing`), texts with vectorizers (`quince.text`), and a whole data frame at once with
`TableEncoder`. For tables (a file, or a pandas, polars or pyarrow frame with numbers, categories, texts and missing values) there
are `train` and `compare`. Every model is saved with `save` and opened with `load`, and opening one never runs code.
"""

# What the package shows is what its modules list in their `__all__`, beside the classes: there is no other list.

from quince import _threads, baseline, bayes, cluster, files, learn, linear, margin, mixture, neighbours, preprocessing, text
from quince._quince import Model, Table, __version__, models, read, read_csv
from quince._threads import *
from quince.baseline import *
from quince.bayes import *
from quince.cluster import *
from quince.files import *
from quince.learn import *
from quince.linear import *
from quince.margin import *
from quince.mixture import *
from quince.neighbours import *
from quince.preprocessing import *
from quince.text import *

__all__ = ["Model", "Table", "__version__", "models", "read", "read_csv"]
__all__ += _threads.__all__
__all__ += baseline.__all__
__all__ += bayes.__all__
__all__ += cluster.__all__
__all__ += files.__all__
__all__ += learn.__all__
__all__ += linear.__all__
__all__ += margin.__all__
__all__ += mixture.__all__
__all__ += neighbours.__all__
__all__ += preprocessing.__all__
__all__ += text.__all__
