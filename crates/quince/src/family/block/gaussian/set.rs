//! Parameters that are set rather than learnt, and the statistics that lead to them.

use super::{Gaussians, Shape};
use crate::error::{Error, Result};
use crate::family::block::Family;
use crate::matrix::Matrix;
use crate::run::Run;

impl Gaussians {
    /// Sets parameters: means, one row per component, and covariances (or one row of variances), one per component or a
    /// shared one.
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
            if covariances.len() != self.covariances.len() || !covariances.iter().all(fits) {
                let remedy = format!("Give {} of {side} x {width} finite numbers.", self.covariances.len());
                return Err(Error::data(format!("{} covariances do not fit", covariances.len()), remedy));
            }
            let factored = |matrix: &Matrix| self.factored(matrix.values().to_vec(), run);
            self.covariances = covariances.iter().map(factored).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Statistics about the present means that lead to the present parameters, of components with these total weights; the
    /// variance floor is subtracted from them.
    pub(crate) fn statistics_for(&mut self, totals: &[f64]) -> Matrix {
        let (width, mut statistics) = (self.width(), Matrix::zeros(totals.len(), self.statistic_count()));
        self.origin = self.means.clone();
        let floors: Vec<f64> = self.settled.iter().map(|settled| settled[2]).collect();
        let mean_floor = floors.iter().sum::<f64>() / width as f64;
        for (k, &total) in totals.iter().enumerate() {
            let covariance = &self.covariances[self.covariance_of(k)].covariance;
            let row = statistics.row_mut(k);
            row[0] = total;
            row[1 + width..].iter_mut().zip(covariance).for_each(|(sum, entry)| *sum = total * entry);
            for j in 0..width {
                let place = 1 + width + if self.is_full() { j * width + j } else { j };
                let own = if self.shape == Shape::Spherical { mean_floor } else { floors[j] };
                row[place] = (row[place] - total * own).max(0.0);
            }
        }
        statistics
    }
}
