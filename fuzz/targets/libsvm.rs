//! LIBSVM. The first byte asks for a kind of the first column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, ReadOptions};
use quince_fuzz::{kind, read, seeds, take};

const SEEDS: [&str; 3] = [
    "+1 3:1 17:0.5 # first\n\n-1 2:1e2\n+1\n-1 70000:3\n",
    "1.5 qid:3 1:2\n0.25 qid:3 1:1\n? qid:4\n",
    "spam 0:1 4294967294:1\nham 1:-1e-300\n",
];

fuzz_target!(
    init: seeds::plant(seeds::texts(&[15], &SEEDS)),
    |input: &[u8]| {
        let mut rest = input;
        let wish = kind(take(&mut rest));
        read(rest, &ReadOptions { format: Some(Format::LibSvm), ..ReadOptions::default() }, wish);
    }
);
