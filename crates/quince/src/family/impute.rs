//! Imputation: missing values filled with their conditional expectation given the rest of the row, and its uncertainty.
//!
//! Every component has its own expectation, and a responsibility r_k by what is observed of the row: the mean of a missing
//! value is Σ r_k m_k, its variance Σ r_k (v_k + (m_k - m)²), and the probability of a category Σ r_k p_k.

use super::block::{Expected, Scores, TILE, Tile};
use super::product::Product;
use crate::error::{Error, Result};
use crate::learn::{Imputed, Target};
use crate::matrix::{Features, Matrix};
use crate::run::Run;

/// Checks that there is one class for each row, which some component has or which is not known.
fn check_known_classes(known: &[u32], rows: usize, classes: u32) -> Result<()> {
    if known.len() != rows {
        return Err(Error::one_each((rows, "row"), (known.len(), "class code")));
    }
    match known.iter().position(|&class| class != Target::UNKNOWN && class >= classes) {
        None => Ok(()),
        Some(row) => Err(Error::data(
            format!("row {} has the class code {}, and there are {classes} classes", row + 1, known[row]),
            "Codes count from 0; Target::UNKNOWN is for rows whose class is not known.",
        )),
    }
}

impl Product {
    /// Imputes the missing values of rows under components with these log weights. A row whose class is known belongs to a
    /// component of that class: `classes` has the classes of rows, as far as they are known, and those of components.
    pub(crate) fn impute(
        &self,
        rows: &Features<'_>,
        log_weights: &[f64],
        classes: Option<(&[u32], &[u32])>,
        run: &Run,
    ) -> Result<Imputed> {
        if rows.columns() == self.features && rows.dense_columns() != self.dense {
            return self.impute(&rows.split_at(self.dense)?.features(), log_weights, classes, run);
        }
        if let Some((known, own)) = classes {
            let count = own.iter().filter(|class| **class != Target::UNKNOWN).max().map_or(0, |class| class + 1);
            check_known_classes(known, rows.rows(), count)?;
        }
        let dense = self.dense;
        let mut values = Matrix::zeros(rows.rows(), dense);
        let mut standard_deviations = Matrix::zeros(rows.rows(), dense);
        // Rows are scored once more, so that everything that can be wrong with them is found there.
        self.ask(rows, 1, run, |_, _: &mut [u8]| {})?;
        let chunk = (TILE * dense).max(1);
        let mut pieces: Vec<(&mut [f64], &mut [f64])> =
            values.values_mut().chunks_mut(chunk).zip(standard_deviations.values_mut().chunks_mut(chunk)).collect();
        for (round, some) in pieces.chunks_mut(16).enumerate() {
            run.each(some, |at, (values, standard_deviations)| {
                let first = (round * 16 + at) * TILE;
                let mut tile = Tile::new(rows);
                tile.fill(rows, first..first + values.len() / dense);
                let classes = classes.map(|(known, own)| (&known[first..first + tile.rows()], own));
                self.impute_tile(&tile, log_weights, classes, values, standard_deviations);
            });
            run.check()?;
        }
        Ok(Imputed { values, standard_deviations })
    }

    fn impute_tile(
        &self,
        tile: &Tile<'_>,
        log_weights: &[f64],
        classes: Option<(&[u32], &[u32])>,
        values: &mut [f64],
        standard_deviations: &mut [f64],
    ) {
        let mut cells = MissingCells::of(tile, self.dense, values, standard_deviations);
        if cells.count == 0 {
            return;
        }
        let responsibilities = self.responsibilities(tile, log_weights, classes);
        for block in &self.blocks {
            for k in 0..self.components {
                let own = responsibilities.of(k);
                block.family().expect(k, tile, &mut |i, column, expected| cells.add(i, column, own[i], expected));
            }
        }
        cells.fill(values, standard_deviations);
    }

    /// The responsibilities of the components for a tile's rows, as far as their classes are known within those of their class.
    fn responsibilities(&self, tile: &Tile<'_>, log_weights: &[f64], classes: Option<(&[u32], &[u32])>) -> Scores {
        let rows = tile.rows();
        let (mut responsibilities, mut densities) = (Scores::new(self.components), [0.0; TILE]);
        responsibilities.start(rows, log_weights);
        self.blocks.iter().for_each(|block| block.family().score(tile, &mut responsibilities));
        if let Some((known, own)) = classes {
            responsibilities.mask_classes(known.iter().copied(), own);
            // A row that is impossible under its class is filled by the weights of that class's components.
            for (i, &class) in known.iter().enumerate().filter(|(_, class)| **class != Target::UNKNOWN) {
                if (0..self.components).all(|k| responsibilities.of(k)[i] == f64::NEG_INFINITY) {
                    let its = (0..self.components).filter(|&k| own[k] == class);
                    its.for_each(|k| responsibilities.of_mut(k)[i] = log_weights[k]);
                }
            }
        }
        let weights: Vec<f64> = log_weights.iter().map(|log| log.exp()).collect();
        responsibilities.make_responsibilities(&[1.0; TILE][..rows], &weights, &mut densities[..rows]);
        responsibilities
    }
}

/// What the components expect of the missing values of a tile.
struct MissingCells {
    dense: usize,
    /// The index of each cell among the missing ones, or [`MissingCells::NOT_MISSING`].
    indices: Vec<usize>,
    count: usize,
    /// Of numbers: the responsibility, mean and variance of each component.
    numbers: Vec<Vec<(f64, f64, f64)>>,
    /// Of categories: their probabilities.
    categories: Vec<Vec<f64>>,
}

impl MissingCells {
    const NOT_MISSING: usize = usize::MAX;

    /// The missing values of a tile; all values are copied to `values`.
    fn of(tile: &Tile<'_>, dense: usize, values: &mut [f64], standard_deviations: &mut [f64]) -> MissingCells {
        let (mut indices, mut count) = (vec![MissingCells::NOT_MISSING; tile.rows() * dense], 0);
        standard_deviations.fill(f64::NAN);
        for j in 0..dense {
            for (i, &x) in tile.column(j).iter().enumerate() {
                values[i * dense + j] = x;
                if x.is_nan() {
                    indices[i * dense + j] = count;
                    count += 1;
                }
            }
        }
        MissingCells { dense, indices, count, numbers: vec![Vec::new(); count], categories: vec![Vec::new(); count] }
    }

    fn add(&mut self, i: usize, column: usize, responsibility: f64, expected: Expected<'_>) {
        let cell = self.indices[i * self.dense + column];
        match expected {
            Expected::Number { mean, variance } => self.numbers[cell].push((responsibility, mean, variance)),
            Expected::Category(p) => {
                let sums = &mut self.categories[cell];
                sums.resize(p.len(), 0.0);
                sums.iter_mut().zip(p).for_each(|(sum, p)| *sum += responsibility * p);
            }
        }
    }

    /// Fills in mean and standard deviation of a number, the most probable category and its probability.
    fn fill(&self, values: &mut [f64], standard_deviations: &mut [f64]) {
        for (at, &cell) in self.indices.iter().enumerate().filter(|(_, cell)| **cell != MissingCells::NOT_MISSING) {
            let (numbers, probabilities) = (&self.numbers[cell], &self.categories[cell]);
            if !numbers.is_empty() {
                let mean: f64 = numbers.iter().map(|(r, mean, _)| r * mean).sum();
                let parts = numbers.iter().map(|(r, own, variance)| r * (variance + (own - mean).powi(2)));
                (values[at], standard_deviations[at]) = (mean, parts.sum::<f64>().sqrt());
            } else if !probabilities.is_empty() {
                let likeliest = crate::learn::largest(probabilities) as usize;
                (values[at], standard_deviations[at]) = (likeliest as f64, probabilities[likeliest]);
            }
        }
    }
}
