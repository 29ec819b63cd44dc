//! Models built from known parameters are those that were fitted, in answers and in files.

use quince::baseline::{Baseline, ConstantModel};
use quince::cluster::{KMeans, KMeansModel};
use quince::learn::{Classes, Fitted};
use quince::linear::{LinearModel, Ridge};
use quince::margin::{Kernel, LinearSvm, LinearSvmModel, Loss, Svm, SvmModel};
use quince::prelude::*;

const ROWS: [[f64; 2]; 6] = [[0.0, 0.0], [0.3, 1.0], [1.0, 0.4], [9.0, 9.2], [9.5, 8.0], [8.0, 9.0]];

/// A model answers the same after it was saved and loaded.
fn survives_a_file(model: &Model) {
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(&ROWS).unwrap(), model.predict(&ROWS).unwrap());
}

#[test]
fn getters_of_a_fitted_model_build_it_again() {
    let numbers = [1.0, 2.0, 2.5, 8.0, 9.0, 7.0];
    let labels = ["a", "a", "a", "b", "b", "b"];
    let classes = || Some(Classes::of(["a", "b"]));

    let fitted = Ridge::default().fit(&ROWS, &numbers).unwrap();
    let ridge: &LinearModel = fitted.fitted().unwrap();
    let known = LinearModel::of_numbers(ridge.coefficients().clone(), ridge.intercept().to_vec()).unwrap();
    let model = Model::known(&Ridge::default(), known, 2, None).unwrap();
    assert_eq!(model.numbers(&ROWS).unwrap(), fitted.numbers(&ROWS).unwrap());
    survives_a_file(&model);

    let svm = Svm::new().probabilities(false);
    let fitted = svm.fit(&ROWS, &labels).unwrap();
    let machine: &SvmModel = fitted.fitted().unwrap();
    let (beta, bias) = (machine.coefficients().to_vec(), machine.bias());
    let known = SvmModel::of_classes(*machine.kernel(), &machine.support_vectors(), beta, bias).unwrap();
    let model = Model::known(&svm, known, 2, classes()).unwrap();
    assert_eq!(model.predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());
    survives_a_file(&model);

    let linear = LinearSvm::new().probabilities(false);
    let fitted = linear.fit(&ROWS, &labels).unwrap();
    let machine: &LinearSvmModel = fitted.fitted().unwrap();
    let known = LinearSvmModel::of_classes(machine.weights().to_vec(), machine.bias(), linear.loss);
    let model = Model::known(&linear, known, 2, classes()).unwrap();
    assert_eq!(model.predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());
    survives_a_file(&model);

    let fitted = KMeans::new(2).fit_unsupervised(&ROWS).unwrap();
    let centres: &KMeansModel = fitted.fitted().unwrap();
    let model = Model::known(&KMeans::new(2), KMeansModel::from_centres(centres.centres().clone()).unwrap(), 2, None);
    assert_eq!(model.unwrap().predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());

    let known = ConstantModel::of_classes(vec![0.25, 0.75]).unwrap();
    let model = Model::known(&Baseline::default(), known, 2, classes()).unwrap();
    assert_eq!(model.labels::<String>(&ROWS).unwrap(), ["b"; 6]);
    survives_a_file(&model);
}

#[test]
fn parameters_that_do_not_fit_together_are_refused() {
    let one = || Matrix::from_rows(&[[1.0], [2.0]]);
    let message = |error: Option<quince::Error>| error.unwrap().to_string();
    assert_eq!(message(LinearModel::of_numbers(one(), vec![1.0, 2.0]).err()), "1 outputs have 2 intercepts");
    assert_eq!(
        message(LinearModel::of_numbers(Matrix::from_rows(&[[f64::NAN]]), vec![1.0]).err()),
        "NaN among the coefficients: row 1, column 1"
    );
    assert_eq!(message(LinearModel::of_classes(3, one(), vec![0.0], 1.0).err()), "3 classes do not have 1 outputs");
    assert!(LinearModel::of_classes(2, one(), vec![0.0], f64::NAN).is_err());
    assert!(KMeansModel::from_centres(Matrix::zeros(0, 3)).is_err());
    assert!(KMeansModel::from_centres(Matrix::from_rows(&[[f64::INFINITY]])).is_err());
    assert!(ConstantModel::of_classes(vec![0.5, 0.6]).is_err() && ConstantModel::of_classes(vec![f64::NAN]).is_err());
    let vectors = Matrix::from_rows(&ROWS);
    let short = SvmModel::of_numbers(Kernel::Linear, &vectors.features(), vec![1.0], 0.0);
    assert_eq!(message(short.err()), "6 support vectors have 1 coefficients");
    assert!(SvmModel::of_classes(Kernel::Precomputed, &vectors.features(), vec![1.0; 6], 0.0).is_err());
    // The model has other columns or classes than are said.
    let line = || LinearSvmModel::of_numbers(vec![1.0, 2.0], 0.0);
    assert!(Model::known(&LinearSvm::default(), line(), 3, None).is_err());
    assert!(Model::known(&LinearSvm::default(), line(), 2, Some(Classes::of(["a", "b"]))).is_err());
    let sides = LinearSvmModel::of_classes(vec![1.0, 2.0], 0.0, Loss::Hinge);
    assert!(Model::known(&LinearSvm::default(), sides.clone(), 2, None).is_err());
    assert!(Model::known(&LinearSvm::default(), sides.clone(), 2, Some(Classes::of(["a", "b", "c"]))).is_err());
    assert!(sides.predict(&vectors.features(), &Run::new()).is_ok());
}
