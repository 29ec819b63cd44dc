//! Rows drawn from a Bayes classifier: a class by its prior, and then every column by its family.

use super::model::BayesModel;
use crate::error::Result;
use crate::family::Multinomial;
use crate::learn::Drawn;
use crate::run::Run;

impl BayesModel {
    /// So many rows with their classes; of one class only, if that is given.
    pub fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Vec<Drawn>> {
        let priors: Vec<f64> = self.log_priors.iter().map(|log| log.exp()).collect();
        let classes = Multinomial::new(&priors)?;
        self.product.sample(count, |stream| class.unwrap_or_else(|| classes.sample_place(stream)), |class| class, run)
    }
}
