#!/usr/bin/env bash
# Runs every check of quince in order and closes with one line of counts, such as "quince: 812 passed, 0 failed".
#
#     tools/test.sh                 all checks (this is what `make test` calls)
#     tools/test.sh --count FILE    only count the tests in a saved output
#
# The steps are targets of the Makefile, so that each can be run alone. The quick ones come first: a wrong licence or a
# clippy warning should not cost a wait for the tests. Stops at the first step that fails.
set -euo pipefail

steps=(licences lint rust-test doc guide python-test python-reference)
make=${MAKE:-make}

# Adds up what cargo and pytest say at the end of their runs and prints "passed failed". They say:
#     test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.03s
#     11 passed, 1 failed, 2 skipped in 4.20s          (pytest; without -q it stands between rows of "=")
# A pytest error (a test that could not even start) counts as failed.
count() {
    awk '
        { gsub(/\033\[[0-9;]*m/, "") } # colours, where a setting forces them
        /^test result: / {
            passed += $4
            failed += $6
        }
        /^(=+ )?[0-9]+ [a-z ]+(, [0-9]+ [a-z ]+)* in [0-9.]+s/ {
            sub(/^=+ /, "")
            sub(/ in [0-9.]+s.*/, "")
            parts = split($0, part, /, /)
            for (i = 1; i <= parts; i++) {
                split(part[i], pair, " ")
                if (pair[2] == "passed") passed += pair[1]
                if (pair[2] == "failed" || pair[2] == "error" || pair[2] == "errors") failed += pair[1]
            }
        }
        END { print passed + 0, failed + 0 }
    ' "$1"
}

# Sets passed and failed, and prints the closing line.
close() {
    local counts
    counts=$(count "$1")
    read -r passed failed <<<"$counts"
    echo "quince: $passed passed, $failed failed"
}

if [[ ${1:-} == --count ]]; then
    close "${2:?which file?}"
    exit
elif [[ $# -gt 0 ]]; then
    echo "usage: tools/test.sh [--count FILE]" >&2
    exit 2
fi

cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for step in "${steps[@]}"; do
    echo
    echo "=== $step"
    started=$SECONDS
    # Only what goes to stdout is kept for counting; cargo's talk goes to stderr and stays as it is.
    if "$make" --no-print-directory "$step" | tee -a "$log"; then
        echo "--- $step: $((SECONDS - started)) s"
    else
        echo "--- $step: failed after $((SECONDS - started)) s"
        echo
        close "$log"
        echo "quince: the step '$step' failed, and the steps after it were not run. Alone: make $step" >&2
        exit 1
    fi
done

echo
echo "=== all steps in $SECONDS s"
close "$log"
if ((passed == 0 || failed > 0)); then
    echo "quince: every step ended well, yet the counts above cannot be right; see count() in tools/test.sh." >&2
    exit 1
fi
