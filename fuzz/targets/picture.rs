//! Pictures, as the only file of a folder. The first byte says: a grid or patches, grey or two levels, and whether the picture
//! may be large. Decoding a large one takes a hundred times as long, and mostly shows no more. The reader takes panics of the decoders
//! for refusals.
#![no_main]

use image::ImageReader;
use libfuzzer_sys::fuzz_target;
use quince::table::{Cells, Pictures, ReadOptions};
use quince_fuzz::{check_cells, check_error, panics, run, seeds, take};
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A folder of this process, in memory where the system has such a place.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    let folder = place.join(format!("quince-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
});

/// The most pixels of a picture that is not large.
const MAX_SMALL_PIXELS: u64 = 1 << 9;

/// Whether a picture claims to have few pixels, or nothing can be said.
fn is_small(bytes: &[u8]) -> bool {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().expect("memory can be read");
    reader.into_dimensions().map_or(true, |(width, height)| u64::from(width) * u64::from(height) <= MAX_SMALL_PIXELS)
}

fuzz_target!(
    init: {
        seeds::plant(seeds::pictures());
        panics::keep();
    },
    |input: &[u8]| {
        let mut rest = input;
        let choice = take(&mut rest);
        if choice & 0x1c != 0x1c && !is_small(rest) {
            return;
        }
        std::fs::write(FOLDER.join("picture.png"), rest).expect("the temporary folder can be written to");
        let pictures = Pictures {
            pixels: (4, 3),
            patches: (choice & 1 == 1).then_some((2, 2)),
            binarise: (choice & 2 == 2).then_some(0.5),
        };
        let options = ReadOptions { pictures: Some(pictures), ..ReadOptions::default() };
        panics::none_from(|| match Cells::read(&*FOLDER, &options, &run()) {
            Ok(cells) => check_cells(cells, &options, None),
            Err(error) => check_error(&error),
        });
    }
);
