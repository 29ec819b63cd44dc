//! Parameters that are given rather than learnt, and the sums that would lead to them.

use super::{Gaussians, Shape};
use crate::error::{Error, Result};
use crate::family::block::Family;
use crate::matrix::Matrix;
use crate::run::Run;

impl Gaussians {
    /// Sets parameters: means, a row a component, and covariances (or variances, a row), one for each component or one for all.
    pub(crate) fn set(&mut self, means: Option<&Matrix>, covariances: Option<&[Matrix]>, run: &Run) -> Result<()> {
        let (components, width) = (self.means.rows(), self.width());
        let finite = |matrix: &Matrix| matrix.values().iter().all(|x| x.is_finite());
        if let Some(means) = means {
            if (means.rows(), means.columns()) != (components, width) || !finite(means) {
                let problem = format!("{} x {} means do not fit", means.rows(), means.columns());
                let remedy = format!("Give {components} rows of {width} finite numbers.");
                return Err(Error::data(problem, remedy));
            }
            self.means = means.clone();
        }
        if let Some(covariances) = covariances {
            let side = if self.is_full() { width } else { 1 };
            let fits = |matrix: &Matrix| (matrix.rows(), matrix.columns()) == (side, width) && finite(matrix);
            if covariances.len() != self.spreads.len() || !covariances.iter().all(fits) {
                let remedy = format!("Give {} of {side} x {width} finite numbers.", self.spreads.len());
                return Err(Error::data(format!("{} covariances do not fit", covariances.len()), remedy));
            }
            let spread = |matrix: &Matrix| self.spread(matrix.values().to_vec(), run);
            self.spreads = covariances.iter().map(spread).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Sums, about the present means, that lead to the present parameters, of components with so much weight; what is added to
    /// variances is taken off them.
    pub(crate) fn sums_for(&mut self, totals: &[f64]) -> Matrix {
        let (width, mut sums) = (self.width(), Matrix::zeros(totals.len(), self.sums()));
        self.origin = self.means.clone();
        let added: Vec<f64> = self.settled.iter().map(|settled| settled[2]).collect();
        let mean_added = added.iter().sum::<f64>() / width as f64;
        for (k, &total) in totals.iter().enumerate() {
            let covariance = &self.spreads[self.spread_of(k)].covariance;
            let row = sums.row_mut(k);
            row[0] = total;
            row[1 + width..].iter_mut().zip(covariance).for_each(|(sum, entry)| *sum = total * entry);
            for j in 0..width {
                let place = 1 + width + if self.is_full() { j * width + j } else { j };
                let own = if self.shape == Shape::Spherical { mean_added } else { added[j] };
                row[place] = (row[place] - total * own).max(0.0);
            }
        }
        sums
    }
}
