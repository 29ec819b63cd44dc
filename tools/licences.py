#!/usr/bin/env python3
"""Checks that quince may be shipped with every crate it depends on.

Asks `cargo metadata` for all crates of the lock file (those of other platforms, of tests and of build scripts too) and
fails if one comes from anywhere but the registry or the workspace, or if its licence expression cannot be satisfied
from the permissive licences below.

    python3 tools/licences.py               the check
    python3 tools/licences.py --self-test   does the check itself judge rightly?

Needs Python 3.11 and nothing else. `$CARGO` names the cargo to run.
"""

import argparse
import json
import os
import re
import subprocess
import sys

ALLOWED = (
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "0BSD",
    "CC0-1.0",
    "Unlicense",
    "BSL-1.0",
    "MPL-2.0",
)
# SPDX compares names without regard to case.
ALLOWED_FOLDED = frozenset(name.casefold() for name in ALLOWED)


class BadExpression(ValueError):
    """A licence expression that SPDX's grammar does not allow."""


# --- the expression ---------------------------------------------------------------------------------------------------
#
# SPDX, annex D, loosest binding first; "/" is how crates wrote OR before they knew SPDX:
#     any     = all (("OR" | "/") all)*
#     all     = one ("AND" one)*
#     one     = "(" any ")" | name ("WITH" exception)?

TOKEN = re.compile(r"\s*(?:([()/])|([A-Za-z0-9.:-]+\+?))")
OPERATORS = ("OR", "AND", "WITH")


def tokens_of(text):
    """Splits an expression into brackets, operators (in capitals) and names."""
    found, at, text = [], 0, text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise BadExpression(f"unexpected {text[at:].lstrip()[0]!r}")
        mark, word = match.groups()
        if mark is not None:
            found.append("OR" if mark == "/" else mark)
        elif word in OPERATORS or word.upper() in OPERATORS and word.islower():
            found.append(word.upper())
        else:
            found.append(word)
        at = match.end()
    return found


def parse(text):
    """Turns an expression into a tree: a name, or ("OR" | "AND", [trees])."""
    left = tokens_of(text)

    def next_is(token):
        return bool(left) and left[0] == token

    def name(what):
        if not left:
            raise BadExpression(f"it ends where {what} should stand")
        word = left.pop(0)
        if word in OPERATORS or word in "()":
            raise BadExpression(f"{word!r} stands where {what} should")
        return word

    def chain(operator, part):
        parts = [part()]
        while next_is(operator):
            left.pop(0)
            parts.append(part())
        return parts[0] if len(parts) == 1 else (operator, parts)

    def any_of():
        return chain("OR", all_of)

    def all_of():
        return chain("AND", one)

    def one():
        if next_is("("):
            left.pop(0)
            inside = any_of()
            if not next_is(")"):
                raise BadExpression("a bracket is not closed")
            left.pop(0)
            return inside
        licence = name("a licence")
        if next_is("WITH"):
            left.pop(0)
            return f"{licence} WITH {name('an exception')}"
        return licence

    tree = any_of()
    if left:
        raise BadExpression(f"{left[0]!r} does not belong there")
    return tree


def permits(tree):
    """Whether the permissive licences satisfy the tree: one branch of an OR, every branch of an AND."""
    if isinstance(tree, str):
        # "X+" means X or any later version, so X itself will do.
        licence, _, exception = tree.partition(" WITH ")
        plain = licence.removesuffix("+") + (f" WITH {exception}" if exception else "")
        return plain.casefold() in ALLOWED_FOLDED
    operator, parts = tree
    return (any if operator == "OR" else all)(permits(part) for part in parts)


# --- the crates -------------------------------------------------------------------------------------------------------


def metadata(manifest):
    """What `cargo metadata` says of the workspace."""
    command = [os.environ.get("CARGO") or "cargo", "metadata", "--format-version", "1", "--locked"]
    if manifest:
        command += ["--manifest-path", manifest]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    except FileNotFoundError:
        sys.exit(f"licences: cannot run {command[0]!r}: install Rust, or name cargo in $CARGO.")
    except subprocess.CalledProcessError as failure:
        sys.exit(f"licences: `{' '.join(command)}` failed with code {failure.returncode}; see its words above.")
    return json.loads(done.stdout)


def complaint(package):
    """Why a crate from outside the workspace cannot be shipped, as a sentence, or None."""
    crate = f"{package['name']} {package['version']}"
    source = package["source"]
    if source is None:
        return f"{crate} lies outside the workspace: take it from the registry, or make it a member."
    kind = source.partition("+")[0]
    if kind not in ("registry", "sparse"):
        return f"{crate} is a {kind} dependency: only crates of the registry may be used."
    expression = package["license"]
    if not expression:
        return f"{crate} names no licence: nobody can tell whether it may be shipped."
    try:
        fine = permits(parse(expression))
    except BadExpression as fault:
        return f'{crate} has the licence "{expression}", which cannot be read: {fault}.'
    return None if fine else f'{crate} has the licence "{expression}", which no permissive licence satisfies.'


def check(manifest):
    """Prints one sentence a fault, or the summary; returns the exit code."""
    found = metadata(manifest)
    members = set(found["workspace_members"])
    outside = [package for package in found["packages"] if package["id"] not in members]
    faults = sorted(filter(None, map(complaint, outside)))
    for fault in faults:
        print(f"licences: {fault}", file=sys.stderr)
    if faults:
        print(f"licences: {len(faults)} of {len(outside)} crates cannot be used. Allowed: {', '.join(ALLOWED)}.",
              file=sys.stderr)
        return 1
    print(f"{len(outside)} crates, licences fine")
    return 0


# --- the self-test ----------------------------------------------------------------------------------------------------

GOOD = (
    "MIT",
    "mit",
    "MIT OR Apache-2.0",
    "MIT/Apache-2.0",
    "Unlicense / MIT",
    "GPL-3.0-only OR MIT",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "Apache-2.0 WITH LLVM-exception",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "GPL-2.0-only AND MIT OR ISC",  # AND binds tighter: (GPL and MIT) or ISC
    "((Zlib))",
    "Apache-2.0+",
    "MIT or Apache-2.0",
)
BARRED = (
    "GPL-3.0-only",
    "MIT AND GPL-3.0-only",
    "MIT AND (GPL-2.0-only OR LGPL-2.1-only)",
    "LGPL-3.0-only OR MIT AND GPL-2.0-only",  # AND binds tighter here too
    "GPL-2.0-only WITH Classpath-exception-2.0",
    "MIT WITH LLVM-exception",  # not a pair on the list, though MIT alone is
    "LicenseRef-ours",
    "NONE",
)
BROKEN = ("", "MIT OR", "OR MIT", "(MIT", "MIT)", "MIT Apache-2.0", "MIT WITH", "MIT WITH (X)", "MIT, ISC", "()",
          "(MIT OR ISC) WITH LLVM-exception", "MIT Or ISC")


def crate(**changes):
    """A crate as cargo describes it, for the self-test."""
    return {"name": "demo", "version": "1.0.0", "source": "registry+somewhere", "license": "MIT"} | changes


CRATES = (
    # what cargo says of it, a word of the complaint we expect (None: no complaint)
    (crate(), None),
    (crate(source="sparse+somewhere"), None),
    (crate(source="git+somewhere"), "git dependency"),
    (crate(source=None), "outside the workspace"),
    (crate(license=None), "names no licence"),
    (crate(license="AGPL-3.0-only"), "no permissive licence"),
    (crate(license="MIT OR"), "cannot be read"),
)


def self_test():
    """Judges the samples above; returns the exit code."""
    faults = []

    def verdict(text):
        try:
            return "good" if permits(parse(text)) else "barred"
        except BadExpression:
            return "broken"

    for expected, samples in (("good", GOOD), ("barred", BARRED), ("broken", BROKEN)):
        for text in samples:
            if verdict(text) != expected:
                faults.append(f'"{text}" should be {expected} and is {verdict(text)}')
    for package, word in CRATES:
        said = complaint(package)
        if (said is None) != (word is None) or (word and word not in said):
            faults.append(f"{package} should give {word!r} and gives {said!r}")
    for fault in faults:
        print(f"licences: self-test: {fault}", file=sys.stderr)
    if not faults:
        print(f"licences: self-test fine ({len(GOOD) + len(BARRED) + len(BROKEN) + len(CRATES)} cases)")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description="Checks the licences and sources of all crates quince depends on.")
    parser.add_argument("--self-test", action="store_true", help="check the checker on expressions with known answers")
    parser.add_argument("--manifest-path", metavar="TOML", help="the Cargo.toml to look at (default: the one here)")
    options = parser.parse_args()
    return self_test() if options.self_test else check(options.manifest_path)


if __name__ == "__main__":
    sys.exit(main())
