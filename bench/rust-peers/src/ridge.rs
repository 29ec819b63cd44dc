//! Ridge regression. Neither library centres the columns as the intercept needs it, so this is done here, within the
//! time, as a user of theirs would have to.

use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_elasticnet::ElasticNet;
use ndarray::{Array1, Array2, Axis};
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::ridge_regression::{RidgeRegression, RidgeRegressionParameters};

use crate::{Answer, Given, Job, Real};

const ALPHA: f64 = 1.0;

pub fn linfa<F: Real>(given: &Given) -> Result<Job<F>, String> {
    let (rows, target) = (given.rows::<F>("rows")?, given.column::<F>("target")?);
    // linfa divides the squared errors by twice the number of rows.
    let penalty = F::cast(ALPHA) / F::cast(rows.nrows());
    Ok(Box::new(move || {
        let centred = Centred::new(&rows, &target);
        let model = ElasticNet::params()
            .l1_ratio(F::zero())
            .penalty(penalty)
            .tolerance(F::cast(1e-12))
            .max_iterations(1000)
            .fit(&DatasetBase::new(centred.rows.view(), centred.target.view()))
            .map_err(|error| error.to_string())?;
        Ok(centred.line(model.hyperplane().clone()))
    }))
}

pub fn smartcore<F: Real>(given: &Given) -> Result<Job<F>, String> {
    let (rows, target) = (given.rows::<F>("rows")?, given.column::<F>("target")?);
    Ok(Box::new(move || {
        let mut centred = Centred::new(&rows, &target);
        let (height, width) = rows.dim();
        let values = std::mem::take(&mut centred.rows).into_raw_vec_and_offset().0;
        let matrix = DenseMatrix::new(height, width, values, false).map_err(|error| error.to_string())?;
        let parameters = RidgeRegressionParameters::default().with_alpha(F::cast(ALPHA)).with_normalize(false);
        let model =
            RidgeRegression::fit(&matrix, &centred.target.to_vec(), parameters).map_err(|error| error.to_string())?;
        let coefficients = smartcore::linalg::basic::arrays::Array::iterator(model.coefficients(), 0);
        Ok(centred.line(coefficients.copied().collect()))
    }))
}

/// Rows and target with their means taken away.
struct Centred<F> {
    rows: Array2<F>,
    target: Array1<F>,
    means: Array1<F>,
    target_mean: F,
}

impl<F: Real> Centred<F> {
    fn new(rows: &Array2<F>, target: &Array1<F>) -> Self {
        let means = rows.mean_axis(Axis(0)).expect("there are rows");
        let target_mean = target.mean().expect("there are rows");
        Self { rows: rows - &means, target: target.mapv(|value| value - target_mean), means, target_mean }
    }

    fn line(&self, coefficients: Array1<F>) -> Answer<F> {
        let intercept = self.target_mean - self.means.dot(&coefficients);
        Answer::Line { coefficients, intercept }
    }
}
