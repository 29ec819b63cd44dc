//! ARFF. The first byte asks for a kind of the first column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, ReadOptions};
use quince_fuzz::{kind, read, seeds, take};

const SEEDS: [&str; 3] = [
    "% weather\n@RELATION w\n\n@attribute outlook {sunny, 'very rainy'}\n@attribute 'max temp' REAL\n\
     @Attribute note string\n@attribute play {no,yes}\n@data\nsunny, 85.5, \"it\\'s hot\", no % remark\n\
     'very rainy',?,'?',yes\n{1 3, 3 yes}\n",
    "@relation r\n@attribute d date \"yyyy-MM-dd\"\n@attribute n integer\n@data\n\"2020-01-01\",1\n?,2\n",
    "@attribute a{x,y}\n@data\nx\ny\n{}\n{0 y}\n",
];

fuzz_target!(
    init: seeds::plant(seeds::texts(&[15], &SEEDS)),
    |input: &[u8]| {
        let mut rest = input;
        let wish = kind(take(&mut rest));
        read(rest, &ReadOptions { format: Some(Format::Arff), ..ReadOptions::default() }, wish);
    }
);
