//! Pictures as rows of numbers.
//!
//! A picture becomes grey, then a grid of rows and columns, each cell the mean of the part of the picture that it
//! covers, from 0 (black) to 1 (white); then, if asked, 0 or 1. Or, as for satellite pictures, every patch of a picture
//! becomes a row: a 3 x 3 neighbourhood in four bands is 36 numbers (one `pixel_row_column_band` each).

use super::cells::{Cells, Raw};
use super::folder::{Entry, each, with_labels};
use super::read::Pictures;
use crate::error::{Error, Place, Result};
use crate::run::Run;
use image::{DynamicImage, ImageReader, Limits};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest side of a picture, and the most bytes it may unpack to: a small file can claim to be a huge picture.
const MAX_SIDE: u32 = 20_000;
const MAX_BYTES: u64 = 512 << 20;

/// Beyond this many bytes a picture must bring bytes of its own: no format packs more than this many into one. Deflate packs
/// 1032, and a byte of a PNG with two colours is eight pixels of three bytes each.
const FREE_BYTES: u64 = 16 << 20;
const MAX_BYTES_PER_BYTE: u64 = 1032 * 8 * 3;

/// The pixels of a picture by row, column and band, as its file holds them.
struct Picture {
    rows: usize,
    columns: usize,
    bands: usize,
    /// Bytes of a value: 1 and 2 are whole numbers, 4 a float.
    depth: usize,
    bytes: Vec<u8>,
}

pub(super) fn pictures_of(entries: &[Entry], options: Pictures, run: &Run) -> Result<Cells> {
    options.check()?;
    let taken = AtomicUsize::new(0);
    let read = |entry: &Entry| {
        let picture = open(entry)?;
        let Some(size) = options.patches else { return Ok((1, vec![picture.grid(options.pixels, options.binarise)])) };
        let needed = 16 * picture.fitting(size) * size.0 * size.1 * picture.bands;
        let together = taken.fetch_add(needed, Ordering::Relaxed) + needed;
        crate::matrix::afford(together as f64, "the patches of all pictures")?;
        Ok((picture.bands, picture.patches(size, entry, options.binarise)?))
    };
    let mut found: Vec<(&Entry, usize, Vec<Vec<f64>>)> = Vec::with_capacity(entries.len());
    each(entries, "pictures", run, read, |entry, (bands, rows)| found.push((entry, bands, rows)))?;
    let bands = found.first().map_or(1, |(_, bands, _)| *bands);
    if let Some((entry, other, _)) = found.iter().find(|(_, other, _)| *other != bands) {
        let problem = format!("this picture has {other} bands, the first has {bands}");
        return Err(refuse(entry, problem, "Give pictures of the same kind."));
    }
    let mut names = Vec::new();
    let (height, width) = options.patches.unwrap_or(options.pixels);
    for r in 1..=height {
        for c in 1..=width {
            match options.patches {
                None => names.push(format!("pixel_{r}_{c}")),
                Some(_) => names.extend((1..=bands).map(|band| format!("pixel_{r}_{c}_{band}"))),
            }
        }
    }
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut rows: Vec<&Entry> = Vec::new();
    for (entry, _, patches) in found {
        for patch in patches {
            patch.into_iter().zip(&mut values).for_each(|(value, column)| column.push(value));
            rows.push(entry);
        }
    }
    let columns = values.into_iter().map(Raw::Numbers).collect();
    Ok(Cells { pictures: Some(options), ..with_labels(names, columns, &rows) })
}

fn refuse(entry: &Entry, problem: String, remedy: &str) -> Error {
    let place = Place { file: Some(entry.path.display().to_string()), ..Place::default() };
    Error::table(place, problem, remedy.to_string())
}

fn open(entry: &Entry) -> Result<Picture> {
    let wrong = |error: &dyn std::fmt::Display| {
        refuse(entry, format!("the picture cannot be read: {error}"), "Mend the file, or take it out of the folder.")
    };
    let failed = |e: std::io::Error| Error::file(entry.path.display().to_string(), e);
    let length = std::fs::metadata(&entry.path).map_err(failed)?.len();
    let reader = ImageReader::open(&entry.path).map_err(failed)?;
    let mut reader = reader.with_guessed_format().map_err(|e| wrong(&e))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES.min(FREE_BYTES + length.saturating_mul(MAX_BYTES_PER_BYTE)));
    reader.limits(limits);
    // Should a decoder fall over a picture that contradicts itself, we stand.
    let decoded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| reader.decode()));
    let picture = decoded.map_err(|_| wrong(&"it contradicts itself"))?.map_err(|e| wrong(&e))?;
    if picture.width() == 0 || picture.height() == 0 {
        return Err(wrong(&"it has no pixels"));
    }
    Ok(Picture::of(picture))
}

impl Picture {
    fn of(picture: DynamicImage) -> Picture {
        let (rows, columns, colour) = (picture.height() as usize, picture.width() as usize, picture.color());
        let bands = usize::from(colour.channel_count());
        let depth = usize::from(colour.bytes_per_pixel()) / bands;
        Picture { rows, columns, bands, depth, bytes: picture.into_bytes() }
    }

    /// The value at a place among all, from 0 to 1.
    fn value(&self, place: usize) -> f64 {
        let bytes = &self.bytes[place * self.depth..][..self.depth];
        match *bytes {
            [value] => f64::from(value) / 255.0,
            [a, b] => f64::from(u16::from_ne_bytes([a, b])) / 65535.0,
            [a, b, c, d] => f64::from(f32::from_ne_bytes([a, b, c, d])),
            _ => 0.0,
        }
    }

    /// How bright a pixel is: of colours as the eye weighs them (Rec. 709); transparency does not count.
    fn grey(&self, r: usize, c: usize) -> f64 {
        let first = (r * self.columns + c) * self.bands;
        match self.bands {
            1 | 2 => self.value(first),
            _ => 0.2126 * self.value(first) + 0.7152 * self.value(first + 1) + 0.0722 * self.value(first + 2),
        }
    }

    /// One row of numbers: the picture on a grid.
    fn grid(&self, (height, width): (usize, usize), binarise: Option<f64>) -> Vec<f64> {
        let mut grid = Vec::with_capacity(height * width);
        let across = shares(self.columns, width);
        for tall in shares(self.rows, height) {
            for wide in &across {
                let mean: f64 = tall
                    .iter()
                    .flat_map(|&(i, part)| wide.iter().map(move |&(j, share)| (i, j, part * share)))
                    .map(|(i, j, share)| share * self.grey(i, j))
                    .sum();
                grid.push(two_levels(mean, binarise));
            }
        }
        grid
    }

    /// At how many places a patch of this size fits.
    fn fitting(&self, (height, width): (usize, usize)) -> usize {
        (self.rows + 1).saturating_sub(height) * (self.columns + 1).saturating_sub(width)
    }

    /// One row of numbers for each place at which a patch fits.
    fn patches(&self, size: (usize, usize), entry: &Entry, binarise: Option<f64>) -> Result<Vec<Vec<f64>>> {
        let (height, width) = size;
        if self.fitting(size) == 0 {
            let problem = format!("a picture of {} x {} has no patch of {height} x {width}", self.rows, self.columns);
            return Err(refuse(entry, problem, "Ask for smaller patches, or give larger pictures."));
        }
        let mut patches = Vec::with_capacity(self.fitting(size));
        for top in 0..=self.rows - height {
            for left in 0..=self.columns - width {
                let line = |r: usize| {
                    let first = ((top + r) * self.columns + left) * self.bands;
                    first..first + width * self.bands
                };
                let places = (0..height).flat_map(line);
                patches.push(places.map(|place| two_levels(self.value(place), binarise)).collect());
            }
        }
        Ok(patches)
    }
}

fn two_levels(value: f64, binarise: Option<f64>) -> f64 {
    binarise.map_or(value, |threshold| f64::from(u8::from(value >= threshold)))
}

/// For each of `parts` equal parts of a line of `length` pixels: which pixels it covers, and their fractions of it.
fn shares(length: usize, parts: usize) -> Vec<Vec<(usize, f64)>> {
    let size = length as f64 / parts as f64;
    let one = |part: usize| {
        let (from, to) = (part as f64 * size, (part + 1) as f64 * size);
        let covered = from as usize..(to.ceil() as usize).min(length);
        covered
            .map(|i| (i, ((i + 1) as f64).min(to) - (i as f64).max(from)))
            .filter(|(_, share)| *share > 0.0)
            .map(|(i, share)| (i, share / size))
            .collect()
    };
    (0..parts).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight() -> Picture {
        // Brightness rises from the left to the right: 0, 1/7, ... 1.
        let bytes = (0..64).flat_map(|k| ((k % 8) as f32 / 7.0).to_ne_bytes()).collect();
        Picture { rows: 8, columns: 8, bands: 1, depth: 4, bytes }
    }

    #[test]
    fn t2_one_picture_on_grids_of_two_four_eight_and_sixteen() {
        for side in [2, 4, 8, 16] {
            let grid = eight().grid((side, side), None);
            assert_eq!(grid.len(), side * side);
            for (k, &value) in grid.iter().enumerate() {
                // The mean of the columns that a cell covers.
                let (c, size) = (k % side, 8 / side.min(8));
                let first = c * 8 / side;
                let mean = (first..first + size).map(|j| j as f64 / 7.0).sum::<f64>() / size as f64;
                assert!((value - mean).abs() < 1e-6, "{side}: {value} {mean}");
            }
        }
        assert_eq!(eight().grid((2, 2), Some(0.5)), [0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn t2_a_patch_of_three_by_three_pixels_in_four_bands_is_36_numbers() {
        let picture = Picture { rows: 5, columns: 4, bands: 4, depth: 1, bytes: (0..80).collect() };
        let entry = Entry::test();
        let patches = picture.patches((3, 3), &entry, None).unwrap();
        assert_eq!((patches.len(), patches[0].len()), (6, 36));
        // The second patch begins one pixel to the right; its second line four pixels on.
        assert_eq!(patches[1][..2], [4.0 / 255.0, 5.0 / 255.0]);
        assert_eq!(patches[1][12], (4.0 + 16.0) / 255.0);
        assert!(picture.patches((6, 3), &entry, None).is_err());
    }
}
