//! Parquet. The reader takes panics of the `parquet` crate for refusals.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, ReadOptions};
use quince_fuzz::{panics, read, seeds};

fuzz_target!(
    init: {
        seeds::plant(seeds::parquet());
        panics::keep();
    },
    |input: &[u8]| {
        let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::default() };
        panics::none_from(|| read(input, &options, None));
    }
);
