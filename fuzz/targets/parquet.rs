//! Parquet. The reader takes panics of the `parquet` crate for refusals, so only a panic that gets out of it counts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, ReadOptions};
use quince_fuzz::{read, seeds};
use std::panic::{catch_unwind, set_hook};
use std::sync::Mutex;

/// What the last panic said.
static LAST: Mutex<String> = Mutex::new(String::new());

fuzz_target!(
    init: {
        seeds::plant(seeds::parquet());
        set_hook(Box::new(|panic| {
            *LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = panic.to_string();
        }));
    },
    |input: &[u8]| {
        let options = ReadOptions { format: Some(Format::Parquet), ..ReadOptions::default() };
        if catch_unwind(|| read(input, &options, None)).is_err() {
            eprintln!("{}", LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
            std::process::abort();
        }
    }
);
