//! Singular values of the centred features, computed on demand: they cost more than the fit itself.

use super::solve::{Solution, System};
use crate::error::Result;
use crate::matrix::{Cholesky, singular_values_of};
use crate::run::Run;

/// What a fit keeps to give the singular values of its centred and weighted features later.
#[derive(Clone, Debug)]
pub struct Spectrum {
    source: Source,
    /// The number of singular values: the smaller of the numbers of rows and features.
    count: usize,
}

#[derive(Clone, Debug)]
enum Source {
    /// L with X̃ᵀX̃ = L·Lᵀ, or the same of the rows with a bump (see [`System::Rows`]).
    Factor {
        factor: Cholesky,
        bump: f64,
    },
    Known(Vec<f64>),
}

impl Spectrum {
    pub(super) fn of(solution: Solution, columns: usize) -> Spectrum {
        let count = columns.min(solution.centred.rows);
        let source = match solution.system {
            System::Columns(factor) => Source::Factor { factor, bump: 0.0 },
            System::Rows { factor, bump, .. } => Source::Factor { factor, bump },
            System::Singular { all, .. } => Source::Known(all),
            System::PivotedCholesky { factor, .. } => Source::Factor { factor: factor.into_inner(), bump: 0.0 },
            System::Positive | System::Iterated => Source::Known(Vec::new()),
        };
        Spectrum { source, count }
    }

    /// The singular values, largest first, as many as the features have rows or columns, whichever are fewer. A
    /// direction that all rows share is zero.
    pub fn values(&self, run: &Run) -> Result<Vec<f64>> {
        let mut values = match &self.source {
            Source::Known(values) => values.clone(),
            Source::Factor { factor, bump } => {
                let mut lower = factor.lower().to_owned();
                for j in 1..lower.ncols() {
                    (0..j).for_each(|i| lower[(i, j)] = 0.0);
                }
                let mut values =
                    run.aside(lower.ncols(), move || singular_values_of(lower.as_ref()))?.unwrap_or_default();
                if *bump > 0.0 {
                    // The bump adds one singular value of its own, √bump exactly, to those of the rows.
                    let distance = |k: &usize| (values[*k] - bump.sqrt()).abs();
                    let nearest = (0..values.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
                    nearest.map(|k| values.remove(k));
                }
                values
            }
        };
        values.resize(self.count, 0.0);
        Ok(values)
    }
}
