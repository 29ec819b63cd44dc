//! Sampling from a Bayes classifier: a class by its prior, and then every column by its family.

use super::model::BayesModel;
use crate::error::{Error, Result};
use crate::family::Multinomial;
use crate::learn::SampledRow;
use crate::run::Run;

impl BayesModel {
    /// This many rows with their classes; of one class only, if that is given.
    pub fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Vec<SampledRow>> {
        let priors: Vec<f64> = self.log_priors.iter().map(|log| log.exp()).collect();
        let classes = Multinomial::new(&priors)?;
        if let Some(class) = class.filter(|class| *class >= priors.len()) {
            let problem = format!("there is no class {class}, and {} classes are known", priors.len());
            return Err(Error::data(problem, "Classes are counted from 0."));
        }
        self.product.sample(count, |stream| class.unwrap_or_else(|| classes.sample_place(stream)), |class| class, run)
    }
}
