//! JSON lines. The first byte asks for a kind of the first column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, ReadOptions};
use quince_fuzz::{kind, read, seeds, take};

const SEEDS: [&str; 4] = [
    r#"{"z": 1.5, "a": "x", "ok": true}
{"a": "\u00e9", "z": null, "ok": false, "l": [1, {"b": 2}]}
"#,
    r#"[{"a": 1e308, "b": "NA"}, {"a": -0.0, "b": "two words"}]"#,
    r#"{"a": 1, "a": 2}
{"a": 18446744073709551615}
{"c": "0:1 3:0.5"}
"#,
    "{}\n{\"a\":\"yes\"}\n{\"a\":\"no\"}\n",
];

fuzz_target!(
    init: seeds::plant(seeds::texts(&[15], &SEEDS)),
    |input: &[u8]| {
        let mut rest = input;
        let wish = kind(take(&mut rest));
        read(rest, &ReadOptions { format: Some(Format::JsonLines), ..ReadOptions::default() }, wish);
    }
);
