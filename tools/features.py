#!/usr/bin/env python3
"""Says whether the wheel and the guide share the build of all dependencies with the tests of the workspace.

They do if each dependency has the same features in all three; what differs belongs into tools/features/Cargo.toml.
"""

import os
import re
import subprocess
import sys

CARGO = os.environ.get("CARGO", "cargo")


def features(*selection):
    """The features of each dependency, as "name version" and a set."""
    command = [CARGO, "tree", "--locked", "--prefix", "none", "--no-dedupe", "-f", "{p} [{f}]", *selection]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        match = re.match(r"(\S+ v\S+)(?: \(proc-macro\))? \[(.*)\]$", line)
        if match:
            found.setdefault(match[1], set()).update(filter(None, match[2].split(",")))
    return found


def main():
    everything = features("--workspace", "-e", "normal,build,dev")
    apart = []
    for package in ["quince-python", "quince-guide"]:
        for name, own in features("-p", package, "-e", "normal,build").items():
            if missing := everything[name] - own:
                apart.append(f"{package} builds {name} without {', '.join(sorted(missing))}")
    if apart:
        sys.exit("\n".join(apart) + "\nAdd these features to tools/features/Cargo.toml.")


main()
