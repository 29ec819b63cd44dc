"""Runs every Python example of the guide, each page in a folder of its own in which `examples` is the repository's
and `iris.quince` a model.

    python docs/generator/tests/python_examples.py        in an environment where quince is installed
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

import quince

ROOT = Path(__file__).resolve().parents[3]


def examples(page: Path) -> list[tuple[int, str]]:
    """Line and text of each block of Python."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


def main() -> int:
    passed = failed = 0
    for page in sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("docs/methods/*.md")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            os.symlink(ROOT / "examples", "examples")
            names: dict[str, object] = {"__name__": "guide"}
            quince.train("examples/data/iris.csv", "species").save("iris.quince")
            for line, code in examples(page):
                said = io.StringIO()
                try:
                    with contextlib.redirect_stdout(said):
                        exec(compile("\n" * line + code, str(page), "exec"), names)
                    passed += 1
                except Exception:
                    failed += 1
                    print(f"{page.relative_to(ROOT)}:{line}: the example fails", file=sys.stderr)
                    traceback.print_exc()
                if "-v" in sys.argv:
                    print(f"{page.relative_to(ROOT)}:{line}\n{said.getvalue()}")
            os.chdir(ROOT)
    print(f"test result: {'ok' if not failed else 'FAILED'}. {passed} passed; {failed} failed (Python examples of the guide)")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
