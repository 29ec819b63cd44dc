"""The examples of the README and of the docstrings work as they stand."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
from pathlib import Path

import pytest

import quince

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


@pytest.mark.parametrize("module", sorted(module.name for module in pkgutil.walk_packages(quince.__path__, "quince.")))
def test_the_docstrings_are_true(module):
    assert doctest.testmod(importlib.import_module(module), optionflags=FLAGS).failed == 0
