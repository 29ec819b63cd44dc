"""Data that several tests learn from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

pytest.register_assert_rewrite("bayes_data", "preprocessing_data")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def iris_csv() -> Path:
    return ROOT / "examples" / "data" / "iris.csv"


@pytest.fixture(scope="session")
def command() -> str:
    """The command `quince`, which `make python-test` builds."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = shutil.which("quince", path=str(target / "release"))
    if built is None:
        pytest.fail("the command quince has not been built: cargo build --release")
    return built
