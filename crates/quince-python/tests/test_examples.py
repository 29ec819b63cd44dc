"""The examples of the README and of the docstrings work as they stand."""

from __future__ import annotations

import doctest
import importlib
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_readme_is_true(tmp_path):
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        found = doctest.testfile(
            str(ROOT / "crates/quince-python/README.md"),
            module_relative=False,
            optionflags=FLAGS,
            globs={"IRIS": str(ROOT / "examples/data/iris.csv")},
        )
    finally:
        os.chdir(here)
    assert found.attempted > 5 and found.failed == 0


@pytest.mark.parametrize("module", ["linear", "baseline", "neighbours", "cluster", "learn", "files"])
def test_the_docstrings_are_true(module):
    assert doctest.testmod(importlib.import_module(f"quince.{module}"), optionflags=FLAGS).failed == 0
