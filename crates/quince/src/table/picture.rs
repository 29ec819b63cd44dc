//! Pictures as rows of numbers.
//!
//! A picture becomes grey, then a grid of so many rows and columns, each cell the mean of the part of the picture that it
//! covers, from 0 (black) to 1 (white); then, if asked, 0 or 1. Or, as for satellite pictures, every patch of a picture
//! becomes a row: a 3 x 3 neighbourhood in four bands is 36 numbers (one `pixel_row_column_band` each).

use super::cells::{Cells, Raw};
use super::folder::{Entry, each, with_labels};
use super::read::ReadOptions;
use crate::error::{Error, Place, Result};
use crate::run::Run;
use image::{DynamicImage, ImageReader, Limits};

/// The longest side of a picture, and the most bytes it may unpack to: a small file can claim to be a huge picture.
const LONGEST: u32 = 20_000;
const MOST_BYTES: u64 = 512 << 20;

/// Beyond this many bytes a picture must bring bytes of its own: no format packs more than so many into one. Deflate packs
/// 1032, and a byte of a PNG with two colours is eight pixels of three bytes each.
const FREE_BYTES: u64 = 16 << 20;
const MOST_PACKED: u64 = 1032 * 8 * 3;

/// Brightness of pixels by row, column and band, from 0 to 1.
struct Picture {
    rows: usize,
    columns: usize,
    bands: usize,
    values: Vec<f32>,
}

pub(super) fn pictures_of(entries: &[Entry], options: &ReadOptions, run: &Run) -> Result<Cells> {
    let mut names = Vec::new();
    let mut values: Vec<Vec<f64>> = Vec::new();
    let mut rows: Vec<&Entry> = Vec::new();
    let read = |entry: &Entry| {
        let picture = open(entry)?;
        match options.patches {
            None => Ok((1, picture.grid(options.pixels, options.binarise))),
            Some(size) => Ok((picture.bands, picture.patches(size, entry, options.binarise)?)),
        }
    };
    let mut found = Vec::with_capacity(entries.len());
    each(entries, "pictures", run, read, |_, picture| found.push(picture))?;
    let places: Vec<(&Entry, usize, Vec<Vec<f64>>)> =
        entries.iter().zip(found).map(|(entry, (bands, patches))| (entry, bands, patches)).collect();
    let bands = places.first().map_or(1, |place| place.1);
    if let Some((entry, other, _)) = places.iter().find(|place| place.1 != bands) {
        let problem = format!("this picture has {other} bands, the first has {bands}");
        return Err(refuse(entry, problem, "Give pictures of the same kind."));
    }
    let (height, width) = options.patches.unwrap_or(options.pixels);
    for r in 1..=height {
        for c in 1..=width {
            match options.patches {
                None => names.push(format!("pixel_{r}_{c}")),
                Some(_) => names.extend((1..=bands).map(|band| format!("pixel_{r}_{c}_{band}"))),
            }
        }
    }
    values.resize(names.len(), Vec::new());
    for (entry, _, patches) in places {
        for patch in patches {
            patch.into_iter().zip(&mut values).for_each(|(value, column)| column.push(value));
            rows.push(entry);
        }
    }
    let columns = values.into_iter().map(Raw::Numbers).collect();
    Ok(with_labels(names, columns, &rows))
}

fn refuse(entry: &Entry, problem: String, remedy: &str) -> Error {
    let place = Place { file: Some(entry.path.display().to_string()), ..Place::default() };
    Error::table(place, problem, remedy.to_string())
}

fn open(entry: &Entry) -> Result<Picture> {
    let wrong = |error: &dyn std::fmt::Display| {
        refuse(entry, format!("the picture cannot be read: {error}"), "Mend the file, or take it out of the folder.")
    };
    let failed = |e: std::io::Error| Error::file(entry.path.display().to_string(), &e);
    let length = std::fs::metadata(&entry.path).map_err(failed)?.len();
    let reader = ImageReader::open(&entry.path).map_err(failed)?;
    let mut reader = reader.with_guessed_format().map_err(|e| wrong(&e))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST);
    limits.max_image_height = Some(LONGEST);
    limits.max_alloc = Some(MOST_BYTES.min(FREE_BYTES + length.saturating_mul(MOST_PACKED)));
    reader.limits(limits);
    let picture = reader.decode().map_err(|e| wrong(&e))?;
    if picture.width() == 0 || picture.height() == 0 {
        return Err(wrong(&"it has no pixels"));
    }
    Ok(Picture::of(&picture))
}

impl Picture {
    fn of(picture: &DynamicImage) -> Picture {
        let (rows, columns) = (picture.height() as usize, picture.width() as usize);
        let bands = picture.color().channel_count() as usize;
        let values = match bands {
            1 => picture.to_luma32f().into_raw(),
            2 => picture.to_luma_alpha32f().into_raw(),
            3 => picture.to_rgb32f().into_raw(),
            _ => picture.to_rgba32f().into_raw(),
        };
        Picture { rows, columns, bands, values }
    }

    /// How bright a pixel is: of colours as the eye weighs them (Rec. 709); transparency does not count.
    fn grey(&self, r: usize, c: usize) -> f64 {
        let pixel = &self.values[(r * self.columns + c) * self.bands..][..self.bands];
        match self.bands {
            1 | 2 => f64::from(pixel[0]),
            _ => 0.2126 * f64::from(pixel[0]) + 0.7152 * f64::from(pixel[1]) + 0.0722 * f64::from(pixel[2]),
        }
    }

    /// One row of numbers: the picture on a grid.
    fn grid(&self, (height, width): (usize, usize), binarise: Option<f64>) -> Vec<Vec<f64>> {
        let mut grid = vec![0.0; height * width];
        for (r, tall) in shares(self.rows, height).into_iter().enumerate() {
            for (c, wide) in shares(self.columns, width).into_iter().enumerate() {
                let mean: f64 = tall
                    .iter()
                    .flat_map(|&(i, part)| wide.iter().map(move |&(j, share)| (i, j, part * share)))
                    .map(|(i, j, share)| share * self.grey(i, j))
                    .sum();
                grid[r * width + c] = two_levels(mean, binarise);
            }
        }
        vec![grid]
    }

    /// One row of numbers for each place at which a patch fits.
    fn patches(&self, (height, width): (usize, usize), entry: &Entry, binarise: Option<f64>) -> Result<Vec<Vec<f64>>> {
        if self.rows < height || self.columns < width {
            let problem = format!("a picture of {} x {} has no patch of {height} x {width}", self.rows, self.columns);
            return Err(refuse(entry, problem, "Ask for smaller patches, or give larger pictures."));
        }
        let count = (self.rows - height + 1) * (self.columns - width + 1);
        crate::matrix::afford(16.0 * (count * height * width * self.bands) as f64, "all patches of a picture")?;
        let mut patches = Vec::with_capacity(count);
        for top in 0..=self.rows - height {
            for left in 0..=self.columns - width {
                let line =
                    |r: usize| &self.values[((top + r) * self.columns + left) * self.bands..][..width * self.bands];
                let values = (0..height).flat_map(line);
                patches.push(values.map(|&value| two_levels(f64::from(value), binarise)).collect());
            }
        }
        Ok(patches)
    }
}

fn two_levels(value: f64, binarise: Option<f64>) -> f64 {
    binarise.map_or(value, |threshold| f64::from(u8::from(value >= threshold)))
}

/// For each of `parts` equal parts of a line of `length` pixels: which pixels it covers, and their shares in it.
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
        let values = (0..64).map(|k| (k % 8) as f32 / 7.0).collect();
        Picture { rows: 8, columns: 8, bands: 1, values }
    }

    #[test]
    fn t2_one_picture_on_grids_of_two_four_eight_and_sixteen() {
        for side in [2, 4, 8, 16] {
            let grid = &eight().grid((side, side), None)[0];
            assert_eq!(grid.len(), side * side);
            for (k, &value) in grid.iter().enumerate() {
                // The mean of the columns that a cell covers.
                let (c, size) = (k % side, 8 / side.min(8));
                let first = c * 8 / side;
                let mean = (first..first + size).map(|j| j as f64 / 7.0).sum::<f64>() / size as f64;
                assert!((value - mean).abs() < 1e-6, "{side}: {value} {mean}");
            }
        }
        assert_eq!(eight().grid((2, 2), Some(0.5))[0], [0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn t2_a_patch_of_three_by_three_pixels_in_four_bands_is_36_numbers() {
        let picture = Picture { rows: 5, columns: 4, bands: 4, values: (0..80).map(|k| k as f32).collect() };
        let entry = Entry::test();
        let patches = picture.patches((3, 3), &entry, None).unwrap();
        assert_eq!((patches.len(), patches[0].len()), (6, 36));
        // The second patch begins one pixel to the right; its second line four pixels on.
        assert_eq!(patches[1][..2], [4.0, 5.0]);
        assert_eq!(patches[1][12], 4.0 + 16.0);
        assert!(picture.patches((6, 3), &entry, None).is_err());
    }
}
