//! Columns of vectors: many numbers in a cell, most of them zero, written as `place:number` pairs with rising places.

use super::{Column, ColumnData};
use crate::matrix::Sparse;
use crate::numbers::number_text;
use std::sync::Arc;

pub(crate) const REMEDY: &str = "Write place:number pairs with spaces between them, places rising: 3:1 17:0.5.";

/// The pairs of one cell, or what is wrong with it.
pub(crate) fn pairs(cell: &str) -> Result<Vec<(u32, f64)>, String> {
    let mut found: Vec<(u32, f64)> = Vec::new();
    for word in cell.split_ascii_whitespace() {
        let (place, number) = word.split_once(':').ok_or_else(|| format!("'{word}' has no colon"))?;
        // The last place is left free, so that a width can be counted.
        let known = place.parse::<u32>().ok().filter(|&place| place < u32::MAX);
        let place = known.ok_or_else(|| format!("'{place}' is no place: it must be a whole number"))?;
        let number = number.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| format!("'{word}' has no finite number behind its colon"))?;
        if let Some(&(before, _)) = found.last().filter(|last| last.0 >= place) {
            return Err(format!("place {place} stands behind place {before}"));
        }
        found.push((place, number));
    }
    Ok(found)
}

/// The cells of a column from the pairs of its rows.
pub(crate) fn data(rows: Vec<Vec<(u32, f64)>>) -> ColumnData {
    let width = rows.iter().filter_map(|row| row.last()).map(|pair| pair.0 as usize + 1).max().unwrap_or(0);
    let sparse = Sparse::from_rows(width, rows).expect("places rise, and the width is that of the last");
    ColumnData::Vectors(Arc::new(sparse))
}

/// A row as it would be written.
pub(crate) fn text(rows: &Sparse, i: usize) -> String {
    let pairs: Vec<String> = rows.entries(i).map(|(place, x)| format!("{place}:{}", number_text(x))).collect();
    pairs.join(" ")
}

impl Column {
    /// The rows of a column of vectors.
    pub fn vectors(&self) -> Option<&Sparse> {
        if let ColumnData::Vectors(rows) = &self.data { Some(rows) } else { None }
    }

    /// The first place of a column of vectors and how many there are: files count from 0 or from 1.
    pub(crate) fn vector_places(&self) -> (usize, usize) {
        let Some(rows) = self.vectors() else { return (0, 0) };
        let from_zero = (0..rows.rows()).any(|i| rows.row(i).0.first() == Some(&0));
        let first = usize::from(!from_zero);
        (first, rows.columns().saturating_sub(first))
    }
}
