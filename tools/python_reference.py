#!/usr/bin/env python3
"""Makes the reference of the Python package, a page per module, in the frame of the guide.

    python tools/python_reference.py GUIDE      GUIDE is the folder that `make guide` has made

Everything comes from the installed package: its `__all__`, signatures, and docstrings in numpy's form. A class or function without
a docstring, or with a parameter that it does not explain, is an error, and nothing is written. The guide's pages get a link to
the reference beside their link to the page on Python, which is there without it.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

import quince
import quince.family

#: The pages in order: a module, and the title of its page. What has no module of its own is on the first.
PAGES = {
    "quince": "Tables, models and files",
    "quince.baseline": "Baselines",
    "quince.linear": "Linear models",
    "quince.neighbours": "Nearest neighbours",
    "quince.bayes": "Bayes classifiers",
    "quince.margin": "Support vector machines",
    "quince.cluster": "Clusters",
    "quince.mixture": "Mixtures",
    "quince.preprocessing": "Preparing features",
    "quince.text": "Texts",
    "quince.family": "Distributions",
}
#: Sections of a docstring that list names with what they mean.
LISTS = ("Parameters", "Attributes", "Returns")
#: What scikit-learn's own machinery adds to every class, and its guide explains.
NOT_OURS = re.compile(r"(get|set)_(params|metadata_routing|output|\w+_request)$")


class Problem(Exception):
    """What is wrong in a docstring."""


class Section:
    """A part of a docstring under a heading; the first has none."""

    def __init__(self, title: str, lines: list[str]) -> None:
        self.title = title
        self.lines = lines

    def entries(self) -> Iterator[tuple[str, str, list[str]]]:
        """`name : type` and the indented lines below it."""
        name, kind, about = "", "", []
        for line in self.lines:
            if line and not line[0].isspace():
                if name:
                    yield name, kind, about
                name, _, kind = (part.strip() for part in line.partition(" :"))
                about = []
            else:
                about.append(line.strip())
        if name:
            yield name, kind, about


def sections(docstring: str) -> list[Section]:
    """A docstring cut at its underlined headings."""
    lines = inspect.cleandoc(docstring).splitlines()
    starts = [i for i in range(len(lines) - 1) if lines[i] and re.fullmatch(r"-{3,}", lines[i + 1])]
    found = [Section("", lines[: starts[0]] if starts else lines)]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        found.append(Section(lines[start], lines[start + 2 : end]))
    return found


class Reference:
    """All public names, where they are shown, and the HTML of each."""

    def __init__(self) -> None:
        family = [(name, getattr(quince.family, name)) for name in quince.family.__all__]
        shown = [(name, getattr(quince, name)) for name in quince.__all__ if not name.startswith("_")] + family
        self.pages: dict[str, list[tuple[str, Any]]] = {module: [] for module in PAGES}
        self.place: dict[str, str] = {}
        for name, item in sorted(shown, key=lambda pair: pair[0].lower()):
            module = self.module_of(item)
            self.pages[module].append((name, item))
            self.place.setdefault(name, f"{file_of(module)}#{name}")

    @staticmethod
    def module_of(item: Any) -> str:
        module = getattr(item, "__module__", None) or "quince"
        longest = max((page for page in PAGES if f"{module}.".startswith(f"{page}.")), key=len)
        return longest

    def prose(self, lines: list[str]) -> str:
        """Paragraphs and lists; `names` in backticks are code, and linked where the reference has them."""
        html, paragraph = [], []

        def close() -> None:
            if paragraph:
                tag = "li" if paragraph[0].startswith("- ") else "p"
                text = " ".join(paragraph).removeprefix("- ")
                html.append(f"<{tag}>{self.inline(text)}</{tag}>")
                paragraph.clear()

        for line in (line.strip() for line in lines):
            if not line or line.startswith("- "):
                close()
            if line:
                paragraph.append(line)
        close()
        text = "\n".join(html)
        return re.sub(r"(<li>.*?</li>)(?!\n<li>)", r"\1</ul>", re.sub(r"(?<!</li>\n)(<li>)", r"<ul>\1", text))

    def inline(self, text: str) -> str:
        def code(found: re.Match[str]) -> str:
            name = found[1].replace("&#x27;", "'")
            known = self.place.get(name.removeprefix("quince.").removesuffix("()"))
            html = f"<code>{found[1]}</code>"
            return f'<a href="{known}">{html}</a>' if known else html

        return re.sub(r"``?([^`]+)``?", code, escape(text, quote=False))

    def body(self, name: str, docstring: str | None, parameters: list[str]) -> str:
        if not docstring:
            raise Problem(f"{name} has no docstring.")
        html, listed = [], set()
        for section in sections(docstring):
            if section.title:
                html.append(f"<h4>{escape(section.title)}</h4>")
            if section.title in LISTS:
                rows = []
                for names, kind, about in section.entries():
                    listed |= {one.strip(" *") for one in names.split(",")} if section.title == "Parameters" else set()
                    shown = ", ".join(f"<code>{escape(one.strip())}</code>" for one in names.split(","))
                    type_of = f'<span class="kind">{self.inline(kind)}</span>' if kind else ""
                    rows.append(f"<dt>{shown} {type_of}</dt>\n<dd>{self.prose(about)}</dd>")
                html.append("<dl>\n" + "\n".join(rows) + "\n</dl>")
            elif section.title == "Examples":
                html.append(f"<pre><code>{escape(chr(10).join(section.lines).strip(), quote=False)}</code></pre>")
            else:
                html.append(self.prose(section.lines))
        if listed and (missing := [one for one in parameters if one not in listed]):
            raise Problem(f"{name} does not explain its parameter '{missing[0]}'.")
        return "\n".join(html)

    def item(self, name: str, item: Any) -> str:
        html = [f'<h2 id="{name}"><a class="here" href="#{name}" aria-label="Link to this part">#</a>{name}</h2>']
        signature = signature_of(item)
        if signature is not None and signature.parameters:
            prefix = "class " if inspect.isclass(item) else ""
            html.append(f"<pre><code>{prefix}{escape(name)}{escape(str_of(signature))}</code></pre>")
        parameters = [] if signature is None else [p for p in signature.parameters if p not in ("self", "data")]
        html.append(self.body(name, item.__doc__, parameters))
        methods = list(methods_of(item)) if inspect.isclass(item) else []
        if methods:
            html.append("<h4>Methods</h4>\n<dl>")
            for method, function in methods:
                about = inspect.getdoc(function)
                if not about:
                    raise Problem(f"{name}.{method} has no docstring.")
                call = "" if isinstance(function, property) or inspect.isgetsetdescriptor(function) else signature_of(function)
                shown = method if call == "" else method + str_of(call)
                html.append(f"<dt><code>{escape(shown)}</code></dt>\n<dd>{self.method_body(about)}</dd>")
            html.append("</dl>")
        return "\n".join(html)

    def method_body(self, docstring: str) -> str:
        html = []
        for section in sections(docstring):
            if section.title in LISTS:
                parts = (f"<li><code>{escape(n)}</code> {self.inline(k)}: {self.inline(' '.join(a))}</li>" for n, k, a in section.entries())
                html.append(f"<p>{section.title}:</p><ul>{''.join(parts)}</ul>")
            elif section.title == "Examples":
                html.append(f"<pre><code>{escape(chr(10).join(section.lines).strip(), quote=False)}</code></pre>")
            else:
                html.append(self.prose(section.lines))
        return "\n".join(html)


def signature_of(item: Any) -> inspect.Signature | None:
    """The signature without types, which the entries of parameters say in words."""
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return None
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values() if p.name not in ("self", "cls")]
    return signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)


def str_of(signature: inspect.Signature | None) -> str:
    """The signature, on lines of their own where it is long."""
    if signature is None:
        return ""
    # A default that is a class or a function is shown by its name, not by its place in memory.
    text = re.sub(r"<(?:class|function) '?([\w.]+)'?(?: at 0x\w+)?>", r"\1", str(signature))
    if len(text) <= 56:
        return text
    lines = textwrap.wrap(text[1:-1], 76, initial_indent="    ", subsequent_indent="    ", break_long_words=False)
    return "(\n" + "\n".join(lines) + "\n)"


def methods_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the package defines, those of its base classes included."""
    for name in sorted(dir(cls)):
        if name.startswith("_") or NOT_OURS.match(name):
            continue
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or not (owner.__module__ or "").startswith("quince"):
            continue
        found = vars(owner)[name]
        function = getattr(found, "__func__", found)
        function = getattr(function, "fn", function)  # what scikit-learn shows only if it is available
        if callable(function) or isinstance(function, property) or inspect.isgetsetdescriptor(function):
            yield name, function


def file_of(module: str) -> str:
    return "tables.html" if module == "quince" else f"{module.removeprefix('quince.')}.html"


#: The title of each page by its file.
FILES = {file_of(module): title for module, title in PAGES.items()}


def first_sentence(docstring: str) -> str:
    paragraph = inspect.cleandoc(docstring).split("\n\n")[0].replace("\n", " ")
    return re.split(r"(?<=[.]) (?=[A-Z])", paragraph)[0]


def frame(guide: str, title: str, body: str, here: str) -> str:
    """A page of the guide with another text: links of its contents go one folder up, and the reference's pages are among them."""
    up = re.sub(r'href="(?!http|#|data:)', 'href="../', guide).replace(' aria-current="page"', "")
    up = re.sub(r'(<a href="\.\./python\.html">[^<]*</a>)\s*<ul>.*?</ul>', r"\1", up, flags=re.S)
    current = '<a href="../python/index.html">Python reference</a>'
    links = ((file, ' aria-current="page"' if file == here else "", title) for file, title in FILES.items())
    listed = "".join(f'<li><a href="{file}"{mark}>{escape(title)}</a></li>' for file, mark, title in links)
    up = up.replace(current, f'<a href="index.html">Python reference</a>\n<ul>{listed}</ul>\n')
    up = re.sub(r"<title>.*?</title>", f"<title>{escape(title)} · quince</title>", up, flags=re.S)
    up = up.replace("</head>", f"<style>{STYLE}</style>\n</head>")
    return re.sub(r'<main id="text">.*?</main>', lambda _: f'<main id="text">\n{body}\n</main>', up, flags=re.S)


STYLE = """
dl { margin: 0 0 1.05rem; } dt { margin-top: 0.6rem; } dd { margin: 0.1rem 0 0 1.4rem; } dd p, dd ul { margin: 0 0 0.4rem; }
h4 { margin: 1.2rem 0 0.3rem; font-family: system-ui, sans-serif; font-size: 0.86rem; color: var(--faint); }
a:has(> code) { text-decoration: none; } .scroll table { width: 100%; } .scroll td:first-child { width: 15.5rem; }
.kind { color: var(--faint); font-size: 0.9em; } main > dl { max-width: 43rem; } dt code { white-space: pre-wrap; }
"""


def link_to_the_reference(page: str, up: str) -> str:
    """The page with a link below the one to the page on Python."""
    place = re.search(r'<li><a href="[^"]*python\.html"[^>]*>[^<]*</a>(\s*<ul>.*?</ul>\s*)?</li>\n', page, flags=re.S)
    if place is None:
        raise Problem("the guide has no link to its page on Python.")
    link = f'<li class="below"><a href="{up}python/index.html">Python reference</a></li>\n'
    return page if link in page else page[: place.end()] + link + page[place.end() :]


def make(guide: Path) -> dict[Path, str]:
    """All files that are to be written, by their place."""
    reference, files = Reference(), {}
    for path in sorted(guide.rglob("*.html")):
        if path.parent != guide / "python":
            up = "../" * (len(path.relative_to(guide).parts) - 1)
            files[path] = link_to_the_reference(path.read_text(encoding="utf-8"), up)
    around = files[guide / "python.html"]
    index = ["<h1>Python reference</h1>", "<p>What <code>import quince</code> shows, made from the package itself.</p>"]
    for module, title in PAGES.items():
        items = reference.pages[module]
        if not items:
            raise Problem(f"{module} shows nothing: its page would be empty.")
        about: ModuleType = sys.modules[module]
        intro = reference.prose(inspect.cleandoc(about.__doc__ or "").splitlines())
        body = [f"<h1>{title}</h1>", intro, *(reference.item(name, item) for name, item in items)]
        files[guide / "python" / file_of(module)] = frame(around, title, "\n".join(body), file_of(module))
        rows = (
            f'<tr><td><a href="{reference.place[name]}"><code>{name}</code></a></td>'
            f"<td>{reference.inline(first_sentence(item.__doc__ or ''))}</td></tr>"
            for name, item in items
        )
        index.append(f'<h2><a href="{file_of(module)}">{title}</a></h2>\n<div class="scroll"><table>{"".join(rows)}</table></div>')
    files[guide / "python" / "index.html"] = frame(around, "Python reference", "\n".join(index), "index.html")
    return files


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    guide = Path(sys.argv[1])
    if not (guide / "python.html").exists():
        print(f"{guide}: there is no guide here. Run: make guide", file=sys.stderr)
        return 1
    try:
        files = make(guide)
    except Problem as problem:
        print(f"{problem} No reference was written.", file=sys.stderr)
        return 1
    (guide / "python").mkdir(exist_ok=True)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    print(f"{guide / 'python'}: {sum(path.parent.name == 'python' for path in files)} pages", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
