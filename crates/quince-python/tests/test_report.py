"""What a fit says of itself: a dict for people, and getters of one type each for programs."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import quince

FITS = {
    "direct": quince.Ridge(),
    "iterative": quince.KMeans(3, random_state=0),
    "cut short": quince.GaussianMixture(3, max_iter=1, random_state=0),
    "with remarks": quince.LinearRegression(),
    "with a certificate": quince.SVC(),
}


@pytest.mark.parametrize("kind", FITS)
def test_getters_say_what_the_report_says(kind, rng):
    X = rng.normal(size=(90, 3))
    if kind == "with remarks":
        X[:, 2] = X[:, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FITS[kind].fit(X, X[:, 0] > 0)._model
    report, certificate = model.report, model.report["certificate"]
    assert (model.route, model.stop_reason) == (report["route"], report["stop"])
    assert (model.trace, model.remarks) == (report["trace"], report["remarks"])
    assert model.certificate_holds == (certificate is None or certificate["value"] <= certificate["tolerance"])
    assert model.stop_reason == "step-limit" or kind != "cut short"
    assert model.remarks or kind != "with remarks"


def test_a_number_that_json_does_not_have_is_a_number_of_the_trace():
    # Steps so large that the loss overflows.
    X = 1e150 * np.arange(8.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = quince.SGDClassifier("squared_hinge", eta0=1e10, learning_rate="constant", max_iter=3, tol=None)
        trace = model.fit(X, np.arange(8) % 2)._model.trace
    assert trace and all(isinstance(loss, float) for loss in trace)


def test_no_class_reads_the_dict():
    sources = Path(quince.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if re.search(r"report_?\[", path.read_text())]
