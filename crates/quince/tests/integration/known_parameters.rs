//! Models built from known parameters are those that were fitted, in answers and in files.

use quince::baseline::{Baseline, ConstantModel, Draw};
use quince::bayes::{BayesModel, CentroidMetric, CentroidModel, FamilyParameters, NearestCentroid, SharedCovariance};
use quince::cluster::{KMeans, KMeansModel};
use quince::learn::{Classes, Count, Fitted};
use quince::linear::{LinearModel, Ridge};
use quince::margin::{Kernel, LinearSvm, LinearSvmModel, Loss, Svm, SvmModel};
use quince::mixture::MixtureModel;
use quince::neighbours::{DistanceMetric, Index, Knn, KnnModel, Measure, SearchMethod, Votes};
use quince::prelude::*;

const ROWS: [[f64; 2]; 6] = [[0.0, 0.0], [0.3, 1.0], [1.0, 0.4], [9.0, 9.2], [9.5, 8.0], [8.0, 9.0]];

/// A model answers the same after it was saved and loaded.
fn survives_a_file(model: &Model) {
    survives(model, &ROWS);
}

fn survives<const C: usize>(model: &Model, rows: &[[f64; C]]) {
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(rows).unwrap(), model.predict(rows).unwrap());
}

/// An index of the same rows.
fn again(index: &Index) -> Index {
    Index::new(&index.features(), index.measure().clone(), SearchMethod::Auto, &Run::new()).unwrap()
}

const NUMBERS: [f64; 6] = [1.0, 2.0, 2.5, 8.0, 9.0, 7.0];
const LABELS: [&str; 6] = ["a", "a", "a", "b", "b", "b"];

fn classes() -> Option<Classes> {
    Some(Classes::of(["a", "b"]))
}

#[test]
fn getters_of_a_linear_model_build_it_again() {
    let fitted = Ridge::default().fit(&ROWS, &NUMBERS).unwrap();
    let ridge: &LinearModel = fitted.fitted().unwrap();
    let known = LinearModel::of_numbers(ridge.coefficients().clone(), ridge.intercept().to_vec()).unwrap();
    let model = Model::known(&Ridge::default(), known, 2, None).unwrap();
    assert_eq!(model.numbers(&ROWS).unwrap(), fitted.numbers(&ROWS).unwrap());
    survives_a_file(&model);
}

#[test]
fn getters_of_support_vector_machines_build_them_again() {
    let svm = Svm::new().probabilities(false);
    let fitted = svm.fit(&ROWS, &LABELS).unwrap();
    let kernel_model: &SvmModel = fitted.fitted().unwrap();
    let (beta, bias) = (kernel_model.coefficients().to_vec(), kernel_model.bias());
    let known = SvmModel::of_classes(*kernel_model.kernel(), &kernel_model.support_vectors(), beta, bias).unwrap();
    let model = Model::known(&svm, known, 2, classes()).unwrap();
    assert_eq!(model.predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());
    survives_a_file(&model);

    let linear = LinearSvm::new().probabilities(false);
    let fitted = linear.fit(&ROWS, &LABELS).unwrap();
    let linear_model: &LinearSvmModel = fitted.fitted().unwrap();
    let known = LinearSvmModel::of_classes(linear_model.weights().to_vec(), linear_model.bias(), linear.loss).unwrap();
    assert!(LinearSvmModel::of_classes(vec![f64::NAN], 0.0, linear.loss).is_err());
    assert!(LinearSvmModel::of_numbers(vec![1.0], f64::INFINITY).is_err());
    let model = Model::known(&linear, known, 2, classes()).unwrap();
    assert_eq!(model.predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());
    survives_a_file(&model);
}

#[test]
fn getters_of_neighbours_build_them_again() {
    let knn = Knn::new().k(Count::Fixed(3)).metric(DistanceMetric::Manhattan).feature_weights("1,0.5").smoothing(0.5);
    let fitted = knn.fit(&ROWS, &NUMBERS).unwrap();
    let neighbours: &KnnModel = fitted.fitted().unwrap();
    let known = KnnModel::of_numbers(again(neighbours.index()), neighbours.numbers().unwrap().clone(), neighbours.k());
    let model = Model::known(&knn, known.unwrap(), 2, None).unwrap();
    assert_eq!(model.numbers(&ROWS).unwrap(), fitted.numbers(&ROWS).unwrap());
    survives_a_file(&model);

    let knn = knn.votes(Votes::Distance);
    let weights = [1.0, 2.0, 0.5, 1.0, 1.0, 3.0];
    let fitted = knn.clone().sample_weights(weights).fit(&ROWS, &LABELS).unwrap();
    let neighbours: &KnnModel = fitted.fitted().unwrap();
    let codes = neighbours.codes().unwrap().to_vec();
    let known = KnnModel::of_classes(again(neighbours.index()), codes, 2, neighbours.k()).unwrap();
    let known = known.weighted(neighbours.sample_weights().to_vec()).unwrap().voting(neighbours.votes());
    let known = known.smoothed(neighbours.smoothing()).unwrap();
    let model = Model::known(&knn, known, 2, classes()).unwrap();
    assert_eq!(model.predict(&ROWS).unwrap(), fitted.predict(&ROWS).unwrap());
    survives_a_file(&model);
}

#[test]
fn centres_and_frequencies_build_a_model_again() {
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
    let line = || LinearSvmModel::of_numbers(vec![1.0, 2.0], 0.0).unwrap();
    assert!(Model::known(&LinearSvm::default(), line(), 3, None).is_err());
    assert!(Model::known(&LinearSvm::default(), line(), 2, Some(Classes::of(["a", "b"]))).is_err());
    let sides = LinearSvmModel::of_classes(vec![1.0, 2.0], 0.0, Loss::Hinge).unwrap();
    assert!(Model::known(&LinearSvm::default(), sides.clone(), 2, None).is_err());
    assert!(Model::known(&LinearSvm::default(), sides.clone(), 2, Some(Classes::of(["a", "b", "c"]))).is_err());
    assert!(sides.predict(&vectors.features(), &Run::new()).is_ok());
}

/// The probability of the first of two classes by a model of known parameters, for rows of numbers.
fn first_class(parameters: &FamilyParameters, priors: [f64; 2], rows: &[Vec<f64>]) -> Vec<f64> {
    let fitted = BayesModel::known(parameters, &priors).unwrap();
    let columns = parameters.features();
    let model = Model::known(&NaiveBayes::default(), fitted, columns, Some(Classes::of(["a", "b"]))).unwrap();
    let rows = Matrix::new(rows.len(), columns, rows.concat()).unwrap();
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.predict(&rows).unwrap(), model.predict(&rows).unwrap());
    let Prediction::Classes { probabilities, .. } = model.predict(&rows).unwrap() else { unreachable!() };
    probabilities.column(0)
}

/// 1 / (1 + e^-x).
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }
}

#[test]
fn bayes_models_of_known_parameters_follow_bayes_rule() {
    let rows = [vec![0.0, 1.0], vec![3.0, 2.0]];
    let means = || Matrix::from_rows(&[[0.0, 1.0], [2.0, 1.0]]);
    let log_odds = 0.25f64.ln() - 0.75f64.ln();
    // Unit covariance: the log odds of the first class are (μ₁ - μ₂)·x + (|μ₂|² - |μ₁|²) / 2 + ln of the priors' ratio.
    let linear = |x: &Vec<f64>| logistic(-2.0 * x[0] + 2.0 + log_odds);
    let expected: Vec<f64> = rows.iter().map(linear).collect();
    let unit = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
    let variances = Matrix::from_rows(&[[1.0, 1.0]]);
    for covariances in [vec![unit.clone()], vec![unit.clone(), unit.clone()], vec![variances]] {
        let gaussian = FamilyParameters::Gaussian { means: means(), covariances };
        assert_close(&first_class(&gaussian, [0.25, 0.75], &rows), &expected);
    }
    let axes = Matrix::from_rows(&[[1.0], [0.0]]);
    let whitened = FamilyParameters::Whitened { centre: vec![1.0, 1.0], axes, means: means() };
    assert_close(&first_class(&whitened, [0.25, 0.75], &rows), &expected);
    let nothing = FamilyParameters::Whitened { centre: vec![0.0; 2], axes: Matrix::zeros(2, 0), means: means() };
    assert_close(&first_class(&nothing, [0.25, 0.75], &rows), &[0.25, 0.25]);
    let normal = FamilyParameters::Normal { means: means(), variances: Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]) };
    assert_close(&first_class(&normal, [0.25, 0.75], &rows), &expected);

    // Counts 0, 1 and 3, 2 with rates 1, 2 against 4, 2: the log odds are -x ln 4 + 3.
    let poisson = FamilyParameters::Poisson { rates: Matrix::from_rows(&[[1.0, 2.0], [4.0, 2.0]]) };
    let expected = rows.clone().map(|x| logistic(3.0 - x[0] * 4f64.ln()));
    assert_close(&first_class(&poisson, [0.5, 0.5], &rows), &expected);
    let probabilities = Matrix::from_rows(&[[0.2, 0.8], [0.6, 0.4]]);
    let multinomial = FamilyParameters::Multinomial { probabilities: probabilities.clone() };
    let expected = rows.clone().map(|x| logistic(x[0] * (0.2f64 / 0.6).ln() + x[1] * 2f64.ln()));
    assert_close(&first_class(&multinomial, [0.5, 0.5], &rows), &expected);
    // No, yes and yes, yes.
    let bernoulli = FamilyParameters::Bernoulli { probabilities: probabilities.clone(), threshold: 0.5 };
    assert_close(&first_class(&bernoulli, [0.5, 0.5], &rows), &[0.64 / (0.64 + 0.16), 0.16 / (0.16 + 0.24)]);
    let categorical = FamilyParameters::Categorical { probabilities: vec![probabilities.clone(), probabilities] };
    let rows = [vec![0.0, 1.0], vec![1.0, 1.0]];
    assert_close(&first_class(&categorical, [0.5, 0.5], &rows), &[0.16 / (0.16 + 0.24), 0.64 / (0.64 + 0.16)]);
}

#[test]
fn histograms_kernels_and_chains_of_known_parameters_follow_bayes_rule() {
    // Bins of widths 1 and 3, whose shares are 0.5, 0.5 and 0.1, 0.9: a density is a share by its width, the same for both classes.
    let edges = vec![vec![0.0, 1.0, 4.0]];
    let probabilities = vec![Matrix::from_rows(&[[0.5, 0.5], [0.1, 0.9]])];
    let histogram = FamilyParameters::Histogram { edges, probabilities };
    assert_close(&first_class(&histogram, [0.5, 0.5], &[vec![0.5], vec![2.0]]), &[0.5 / 0.6, 0.5 / 1.4]);

    let (values, weights) = (vec![vec![0.0, 3.0]], vec![Matrix::from_rows(&[[0.25, 0.75], [1.0, 0.0]])]);
    let kernels = FamilyParameters::KernelDensity { values, weights, bandwidth: 2.0 };
    let normal = |x: f64, value: f64| (-0.5 * ((x - value) / 2.0f64).powi(2)).exp();
    let expected = [1.0, -2.0].map(|x| {
        let (first, second) = (0.25 * normal(x, 0.0) + 0.75 * normal(x, 3.0), normal(x, 0.0));
        first / (first + second)
    });
    assert_close(&first_class(&kernels, [0.5, 0.5], &[vec![1.0], vec![-2.0]]), &expected);

    // P(1) P(0 | 1) of a chain over two categories and then three; and P(2) of the second, where the first is missing.
    let starts =
        vec![Matrix::from_rows(&[[0.5, 0.5], [0.8, 0.2]]), Matrix::from_rows(&[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])];
    let of_first = Matrix::from_rows(&[[0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]);
    let of_second = Matrix::from_rows(&[[0.3, 0.3, 0.4], [0.9, 0.05, 0.05]]);
    let chain = FamilyParameters::MarkovChain { starts, transitions: vec![vec![of_first, of_second]] };
    let rows = [vec![1.0, 0.0], vec![f64::NAN, 2.0]];
    assert_close(&first_class(&chain, [0.5, 0.5], &rows), &[0.5 * 0.4 / (0.5 * 0.4 + 0.2 * 0.9), 0.5 / 0.6]);

    for parameters in [histogram, kernels, chain] {
        let again = BayesModel::known(&parameters, &[0.5, 0.5]).unwrap().family_parameters().unwrap();
        let numbers = |parameters: &FamilyParameters| match parameters {
            FamilyParameters::Histogram { edges, probabilities } => (edges.concat(), probabilities.clone()),
            FamilyParameters::KernelDensity { values, weights, bandwidth } => {
                ([&values[0][..], &[*bandwidth]].concat(), weights.clone())
            }
            FamilyParameters::MarkovChain { starts, transitions } => {
                (Vec::new(), [&starts[..], &transitions.concat()].concat())
            }
            _ => unreachable!("one of the three"),
        };
        let ((places, found), (expected_places, expected)) = (numbers(&again), numbers(&parameters));
        assert_eq!(places, expected_places);
        found.iter().zip(&expected).for_each(|(found, expected)| assert_close(found.values(), expected.values()));
    }
}

#[test]
fn a_model_of_novelty_is_made_of_support_vectors() {
    let support = Matrix::from_rows(&[[1.0, 0.0]]);
    let novelty = SvmModel::of_novelty(Kernel::Linear, &support.features(), vec![2.0], -1.0).unwrap();
    let model = Model::known(&OneClassSvm::default(), novelty, 2, None).unwrap();
    // Scores are 2 x - 1: below zero left of ½.
    let rows = Matrix::from_rows(&[[0.0, 5.0], [1.0, 5.0]]);
    assert_eq!(model.members(&rows, &Run::new()).unwrap().labels, [1, 0]);
    survives_a_file(&model);
}

#[test]
fn parameters_of_bayes_models_and_mixtures_come_back() {
    let means = Matrix::from_rows(&[[0.0, 1.0], [2.0, 1.5]]);
    let covariances =
        vec![Matrix::from_rows(&[[1.0, 0.3], [0.3, 2.0]]), Matrix::from_rows(&[[0.7, -0.1], [-0.1, 0.9]])];
    let parameters = FamilyParameters::Gaussian { means, covariances };
    assert_eq!(BayesModel::known(&parameters, &[0.1, 0.9]).unwrap().family_parameters(), Some(parameters.clone()));
    let mixture = MixtureModel::known(&parameters, &[0.5, 0.5]).unwrap();
    assert_eq!((mixture.family_parameters(), mixture.weights()), (Some(parameters), vec![0.5, 0.5]));
    survives_a_file(&Model::known(&Mixture::new(2), mixture, 2, None).unwrap());

    let gaussian = GaussianClassifier::new().variance_floor(0.0).calibrate(false);
    let fitted = gaussian.fit(&ROWS, &["a", "a", "a", "b", "b", "b"]).unwrap();
    let bayes: &BayesModel = fitted.fitted().unwrap();
    let known = BayesModel::known(&bayes.family_parameters().unwrap(), &[0.5, 0.5]).unwrap();
    let model = Model::known(&gaussian, known, 2, Some(Classes::of(["a", "b"]))).unwrap();
    let probabilities = |model: &Model| model.probabilities(&ROWS).unwrap().values().to_vec();
    assert_close(&probabilities(&model), &probabilities(&fitted));
}

#[test]
fn centroids_and_draws_are_values_too() {
    let centroids = Matrix::from_rows(&[[0.0, 0.0], [4.0, 0.0]]);
    for metric in [CentroidMetric::Euclidean, CentroidMetric::Manhattan] {
        let known = CentroidModel::known(metric, centroids.clone(), vec![1.0, 2.0], &[0.5, 0.5]).unwrap();
        let model = Model::known(&NearestCentroid::new(), known, 2, Some(Classes::of(["a", "b"]))).unwrap();
        assert_eq!(model.labels::<String>(&[[1.9, 3.0], [2.1, 3.0]]).unwrap(), ["a", "b"]);
        survives_a_file(&model);
        // The squared distances of the row (1, 2) in standard deviations: 1 + 1 and 9 + 1, or 2² and 4².
        let found = model.probabilities(&[[1.0, 2.0]]).unwrap()[(0, 0)];
        let apart = if metric == CentroidMetric::Euclidean { 8.0 } else { 12.0 };
        assert_close(&[found], &[logistic(apart)]);
    }
    let drawn = ConstantModel::of_classes(vec![0.5, 0.5]).unwrap().drawing(Draw::Label { seed: 3 });
    let model = Model::known(&Baseline::default(), drawn, 2, Some(Classes::of(["a", "b"]))).unwrap();
    let many = Matrix::zeros(1000, 2);
    let labels = model.labels::<String>(&many).unwrap();
    let share = labels.iter().filter(|label| *label == "a").count();
    assert!((400..600).contains(&share) && model.labels::<String>(&many).unwrap() == labels);
    survives_a_file(&model);
}

#[test]
fn known_neighbours_vote_by_the_formula_and_are_checked() {
    let rows = Matrix::from_rows(&[[0.0], [2.0], [3.0], [9.0]]);
    let index =
        || Index::new(&rows.features(), Measure::of(DistanceMetric::Euclidean), SearchMethod::Auto, &Run::new());
    let of_classes = |codes: [u32; 4], k: usize| KnnModel::of_classes(index().unwrap(), codes.to_vec(), 2, k);
    let first = |model: KnnModel| {
        let model = Model::known(&Knn::default(), model, 1, Some(Classes::of(["a", "b"]))).unwrap();
        survives(&model, &[[1.5]]);
        model.probabilities(&[[1.5]]).unwrap()[(0, 0)]
    };
    // Nearest to 1.5 are 2 (b, at 0.5), then 0 and 3 (a and b, at 1.5), with one vote more in halves.
    assert_close(&[first(of_classes([0, 1, 1, 0], 3).unwrap())], &[1.5 / 4.0]);
    let plain = || of_classes([0, 1, 1, 0], 3).unwrap().smoothed(0.0).unwrap();
    assert_close(&[first(plain())], &[1.0 / 3.0]);
    // One over the distances: 2/3 for a, 2 + 2/3 for b.
    assert_close(&[first(plain().voting(Votes::Distance))], &[(2.0 / 3.0) / (10.0 / 3.0)]);
    assert_close(&[first(plain().weighted(vec![4.0, 1.0, 3.0, 1.0]).unwrap())], &[0.5]);

    let message = |refused: quince::Result<KnnModel>| refused.err().unwrap().to_string();
    let of_numbers = |numbers: Matrix| message(KnnModel::of_numbers(index().unwrap(), numbers, 1));
    assert_eq!(message(of_classes([0, 1, 2, 0], 3)), "the code 2 is not that of any of 2 classes");
    assert_eq!(message(of_classes([0, 1, 1, 0], 5)), "5 neighbours cannot be found among 4 rows");
    assert_eq!(message(of_classes([0, 1, 1, 0], 0)), "0 neighbours cannot be found among 4 rows");
    assert_eq!(message(KnnModel::of_classes(index().unwrap(), vec![0, 0], 2, 1)), "4 rows have 2 targets");
    assert_eq!(message(KnnModel::of_classes(index().unwrap(), vec![0; 4], 1, 1)), "the number of classes is 1");
    assert_eq!(of_numbers(Matrix::zeros(3, 1)), "4 rows have 3 targets");
    assert_eq!(of_numbers(Matrix::zeros(4, 0)), "the rows have no numbers");
    let infinite = Matrix::from_rows(&[[1.0], [f64::INFINITY], [1.0], [1.0]]);
    assert_eq!(of_numbers(infinite), "inf among the numbers: row 2, column 1");
    assert_eq!(message(plain().weighted(vec![1.0; 3])), "4 rows have 3 sample weights");
    assert_eq!(message(plain().weighted(vec![1.0, 0.0, 1.0, 1.0])), "a sample weight is not a number above 0");
    assert_eq!(message(plain().smoothed(-1.0)), "the smoothing is -1");
    let measure = Measure { p: f64::NAN, ..Measure::of(DistanceMetric::Euclidean) };
    let odd = Index::new(&rows.features(), measure, SearchMethod::Auto, &Run::new()).unwrap();
    assert_eq!(message(KnnModel::of_classes(odd, vec![0, 1, 1, 0], 2, 1)), "the exponent of the metric is NaN");
}

#[test]
fn known_parameters_of_families_are_checked() {
    let means = || Matrix::from_rows(&[[0.0, 1.0], [2.0, 1.0]]);
    let refused = |parameters: FamilyParameters| BayesModel::known(&parameters, &[0.5, 0.5]).unwrap_err().to_string();
    let gaussian = |covariances: Vec<Matrix>| refused(FamilyParameters::Gaussian { means: means(), covariances });
    let square = |a: f64, b: f64, c: f64, d: f64| Matrix::from_rows(&[[a, b], [c, d]]);
    assert_eq!(gaussian(vec![]), "2 components have 0 covariances");
    assert_eq!(gaussian(vec![square(1.0, 0.5, -0.5, 1.0)]), "a covariance is not symmetric");
    assert_eq!(gaussian(vec![Matrix::zeros(2, 3)]), "a covariance of 2 columns is 2 x 3");
    assert!(gaussian(vec![square(1.0, 2.0, 2.0, 1.0)]).contains("singular"));
    assert!(gaussian(vec![square(1.0, f64::NAN, 0.0, 1.0)]).starts_with("NaN among the covariances"));
    let variances = square(1.0, 1.0, 0.0, 1.0);
    assert_eq!(refused(FamilyParameters::Normal { means: means(), variances }), "a variance is 0");
    // Below 1e-12 of the variance over both classes, which is 25e10, a variance would be taken for rounding.
    let far = FamilyParameters::Normal {
        means: Matrix::from_rows(&[[0.0], [1e6]]),
        variances: Matrix::from_rows(&[[0.01], [0.01]]),
    };
    assert_eq!(refused(far), "the variance 0.01 is too small for means that are so far apart");
    let probabilities = square(0.5, 0.5, 0.5, 0.6);
    assert_eq!(refused(FamilyParameters::Multinomial { probabilities }), "probabilities add up to 1.1");
    assert_eq!(refused(FamilyParameters::Poisson { rates: square(1.0, -1.0, 1.0, 1.0) }), "a rate is -1");
    let histogram = |edges: &[f64]| {
        let probabilities = vec![square(0.5, 0.5, 0.1, 0.9)];
        refused(FamilyParameters::Histogram { edges: vec![edges.to_vec()], probabilities })
    };
    assert_eq!(histogram(&[0.0, 1.0]), "there are not as many bins as the edges make");
    assert_eq!(histogram(&[0.0, 2.0, 1.0]), "edges do not rise");
    let kernels = |bandwidth| FamilyParameters::KernelDensity {
        values: vec![vec![0.0, 1.0]],
        weights: vec![square(0.5, 0.5, 0.1, 0.9)],
        bandwidth,
    };
    assert_eq!(refused(kernels(0.0)), "the bandwidth is 0");
    let starts = vec![square(0.5, 0.5, 0.1, 0.9); 2];
    let chain = FamilyParameters::MarkovChain { starts, transitions: Vec::new() };
    assert_eq!(refused(chain), "the transitions do not fit the categories");
    let three = FamilyParameters::Poisson { rates: means() };
    assert!(BayesModel::known(&three, &[0.3, 0.3, 0.4]).is_err());
    assert!(BayesModel::known(&three, &[0.3, 0.3]).is_err());
    assert!(MixtureModel::known(&three, &[0.5, 0.6]).is_err());
}

#[test]
fn discriminant_axes_whiten_rows_and_keep_the_answers_of_linear_discriminant_analysis() {
    let rows: Vec<[f64; 3]> = (0..60)
        .map(|i| {
            let (x, class) = (f64::from(i), f64::from(i % 3));
            let noise = |k: f64| (x * k).sin() * 2.0;
            [class + noise(1.3), 2.0 * (class - 1.0).abs() + noise(2.1), noise(0.7) + 0.5 * noise(1.3)]
        })
        .collect();
    let labels: Vec<String> = (0..60).map(|i| format!("c{}", i % 3)).collect();
    let plain = GaussianClassifier::new().shared(SharedCovariance::Pooled).variance_floor(0.0).calibrate(false);
    let whole = plain.clone().fit(&rows, &labels).unwrap();
    let reduced = plain.clone().discriminant_axes(2usize).fit(&rows, &labels).unwrap();
    assert_close(reduced.probabilities(&rows).unwrap().values(), whole.probabilities(&rows).unwrap().values());
    // VᵀWV = 1, with W the covariance that the classes share.
    let bayes: &BayesModel = whole.fitted().unwrap();
    let Some(FamilyParameters::Gaussian { covariances, .. }) = bayes.family_parameters() else { unreachable!() };
    let (_, axes) = reduced.fitted::<BayesModel>().unwrap().axes().unwrap();
    assert_eq!((axes.rows(), axes.columns()), (3, 2));
    for a in 0..2 {
        for b in 0..2 {
            let sum: f64 =
                (0..9).map(|ij| axes[(ij / 3, a)] * covariances[0][(ij / 3, ij % 3)] * axes[(ij % 3, b)]).sum();
            assert_close(&[sum], &[f64::from(u8::from(a == b))]);
        }
    }
    // The first separates the classes better than the second: the means lie farther apart along it.
    let features = Matrix::from_rows(&rows);
    let projected =
        reduced.fitted::<BayesModel>().unwrap().project(&features.features(), &Run::new()).unwrap().unwrap();
    let separation = |axis: usize| {
        let mean = |class: usize| (0..20).map(|i| projected[(3 * i + class, axis)]).sum::<f64>() / 20.0;
        (0..3).map(|class| mean(class).powi(2)).sum::<f64>()
    };
    assert!(separation(0) > separation(1) && separation(1) > 0.0);
    assert!(plain.pca(1usize).discriminant_axes(1usize).fit(&rows, &labels).is_err());
}
