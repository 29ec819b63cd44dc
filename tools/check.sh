#!/usr/bin/env bash
# What one runs while editing: format, lints, and the unit tests of the packages that differ from the last commit.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo=${CARGO:-cargo}

changed=$(git diff --name-only HEAD && git ls-files --others --exclude-standard)
packages=()
for pair in crates/quince:quince crates/quince-cli:quince-cli docs/generator:quince-guide; do
    if grep -q "^${pair%%:*}/.*\.rs$" <<<"$changed"; then
        packages+=(-p "${pair##*:}")
    fi
done

"$cargo" fmt --all --check
"$cargo" clippy --workspace --all-targets --release --locked -- -D warnings
if ((${#packages[@]} > 0)); then
    "$cargo" test --profile quick --locked --all-features --lib --bins "${packages[@]}"
else
    echo "no Rust file has changed since the last commit"
fi
