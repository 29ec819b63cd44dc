//! k-means from given centres. smartcore always draws its own start, so it cannot take part.

use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_clustering::{KMeans, KMeansInit};

use crate::{Answer, Given, Job, Real};

pub fn linfa<F: Real>(given: &Given) -> Result<Job<F>, String> {
    let start = given.rows::<F>("start")?;
    let rows = DatasetBase::from(given.rows::<F>("rows")?);
    Ok(Box::new(move || {
        let model = KMeans::params(start.nrows())
            .init_method(KMeansInit::Precomputed(start.clone()))
            .n_runs(1)
            .max_n_iterations(100)
            // It stops when the centres move by less than this; zero is refused.
            .tolerance(F::cast(1e-30))
            .fit(&rows)
            .map_err(|error| error.to_string())?;
        Ok(Answer::Centres(model.centroids().clone()))
    }))
}
