"""The reference of the package is made from the package, and has all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import quince

TOOL = Path(__file__).resolve().parents[3] / "tools" / "python_reference.py"
#: As much of a page of the guide as the reference needs.
PAGE = """<head><title>Python</title></head>
<nav><ul><li><a href="{up}index.html">Begin</a></li>
<li><a href="{up}python.html">Python</a></li>
</ul></nav>
<main id="text">the former text</main>
"""


def make(guide: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, guide], capture_output=True, text=True, timeout=120)


def test_everything_that_is_shown_has_a_place_in_the_reference(tmp_path):
    (tmp_path / "methods").mkdir()
    for name, up in (("index", ""), ("python", ""), ("methods/ridge", "../")):
        (tmp_path / f"{name}.html").write_text(PAGE.format(up=up))
    for _ in range(2):  # again over what was made before
        done = make(tmp_path)
        assert done.returncode == 0, done.stderr
    index = (tmp_path / "python" / "index.html").read_text()
    pages = {path.name: path.read_text() for path in (tmp_path / "python").glob("*.html")}
    for name in quince.__all__:
        if not name.startswith("_"):
            assert f"#{name}" in index
            assert sum(f'<h2 id="{name}">' in page for page in pages.values()) == 1
    assert "What the squared length of the coefficients costs" in pages["linear.html"]
    ridge = (tmp_path / "methods" / "ridge.html").read_text()
    assert ridge.count('<a href="../python/index.html">') == 1 and "the former text" in ridge
    assert "the former text" not in index and '<a href="../index.html">' in index


def test_without_a_guide_nothing_is_made(tmp_path):
    done = make(tmp_path)
    assert done.returncode == 1 and "Run: make guide" in done.stderr
    assert not list(tmp_path.iterdir())
