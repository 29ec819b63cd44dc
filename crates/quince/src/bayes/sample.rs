//! Rows drawn from a Bayes classifier: a class by its prior, and then every column by its family.

use super::model::BayesModel;
use crate::error::Result;
use crate::family::Multinomial;
use crate::learn::Drawn;
use crate::matrix::afford;
use crate::run::{Run, Stream};

impl BayesModel {
    /// So many rows with their classes; of one class only, if that is given.
    pub fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Vec<Drawn>> {
        let priors: Vec<f64> = self.log_priors.iter().map(|log| log.exp()).collect();
        let classes = Multinomial::new(&priors)?;
        let mut stream: Stream = run.stream(0x5a);
        afford((count as f64) * (200.0 + 64.0 * self.product.dense as f64), &format!("making up {count} rows"))?;
        let mut rows = Vec::with_capacity(count);
        for i in 0..count {
            if i % 256 == 0 {
                run.check()?;
            }
            let class = class.unwrap_or_else(|| classes.sample_place(&mut stream));
            let row = self.product.draw(class, &mut stream);
            rows.push(Drawn { class, dense: row.dense, sequences: row.sequences });
        }
        Ok(rows)
    }
}
