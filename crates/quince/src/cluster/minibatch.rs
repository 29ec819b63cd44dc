//! Mini-batch k-means, for more rows than one wants to see again and again (Sculley 2010).
//!
//! A batch of rows goes to the nearest centres; each centre then moves to the mean of all rows it has ever been given,
//! c ← c + Σ w (x - c) / n. A stream is learnt the same way, batch by batch, without ever holding more than one.

use super::lloyd::nearest;
use super::points::Points;
use crate::error::{Error, Result};
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Centres that learn from batches.
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    /// The centres, one a row.
    pub centres: Matrix,
    /// The weight of the rows that each has been given.
    pub sizes: Vec<f64>,
}

impl Batches {
    /// Centres that have seen nothing yet.
    pub fn new(centres: Matrix) -> Batches {
        let k = centres.rows();
        Batches { centres, sizes: vec![0.0; k] }
    }

    /// Learns from one batch; says the error of its rows before it, and how far the centres moved (squared, in all).
    pub fn learn(&mut self, batch: Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<(f64, f64)> {
        super::check(&batch, weights)?;
        if batch.columns() != self.centres.columns() {
            return Err(Error::data(
                format!("the rows have {} columns, the centres have {}", batch.columns(), self.centres.columns()),
                "Give every batch the columns of the centres.",
            ));
        }
        let points = Points::new(batch, weights, run)?;
        let mut about = self.centres.clone();
        (0..about.rows()).for_each(|c| about.row_mut(c).iter_mut().zip(&points.origin).for_each(|(x, o)| *x -= o));
        let (labels, error) = nearest(&points, about.clone(), run)?;
        let mut sums = Matrix::zeros(about.rows(), about.columns());
        let mut given = vec![0.0; about.rows()];
        let mut row = vec![0.0; about.columns()];
        for (i, &label) in labels.iter().enumerate() {
            points.add_row(i, points.weight(i), sums.row_mut(label as usize), &mut row);
            given[label as usize] += points.weight(i);
        }
        let mut moved = 0.0;
        for c in (0..about.rows()).filter(|&c| given[c] > 0.0) {
            let before = self.sizes[c];
            let after = before + given[c];
            for j in 0..about.columns() {
                let next = (before * about[(c, j)] + sums[(c, j)]) / after + points.origin[j];
                moved += (next - self.centres[(c, j)]).powi(2);
                self.centres[(c, j)] = next;
            }
            self.sizes[c] = after;
        }
        Ok((error, moved))
    }
}
