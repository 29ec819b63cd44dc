//! Calls that once panicked or answered wrongly: each returns an error, or panics where its documentation says so.
//!
//! `bad_input.rs` throws random settings and data at every method; here are the calls beside the methods.

use quince::bayes::NaiveBayes;
use quince::cluster::{KMeans, MiniBatchUpdates, scatter, silhouettes};
use quince::encode::{
    Encoder, MissingValues, NeighbourWeights, PolynomialFeatures, class_words, knn_impute, monomials,
};
use quince::evaluate::{
    ConfusionMatrix, CurveCandidate, Folds, Roc, compare, curve, evaluate, grouped_folds, hold_out, log_loss,
    root_mean_square, stratified_folds, train_validation_test,
};
use quince::learn::{
    Classes, DynLearner, Examples, FeatureGroup, FeatureKind, FeatureMap, FeatureSource, Learner, Prediction, Target,
    Task,
};
use quince::linear::{LeastSquares, Ridge};
use quince::margin::OneClassSvm;
use quince::matrix::{Dense, Features, Rows, Sparse, View};
use quince::mixture::{InitialParameters, Mixture};
use quince::neighbours::{DistanceMetric, Index, Knn, Measure, SearchMethod, SearchStructure};
use quince::numbers::quantile;
use quince::registry::METHODS;
use quince::run::Stream;
use quince::table::{Labelled, Table};
use quince::{Matrix, Model, Result, Run};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn run() -> Run {
    Run::new().threads(1)
}

/// Two classes of two rows each.
fn rows() -> Matrix {
    Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0], [5.0, 4.0], [4.0, 5.0]])
}

fn two_classes() -> Classes {
    Classes::of(["a", "b"])
}

/// The code of an error: that there is one, and no panic, is what is asked here.
fn refused<T>(result: Result<T>) -> &'static str {
    result.err().expect("an error").code()
}

/// Whether a call panics, as its documentation says.
fn panics<T>(call: impl FnOnce() -> T) -> bool {
    catch_unwind(AssertUnwindSafe(call)).is_err()
}

#[test]
fn a_code_that_no_class_has_is_no_target() {
    for code in [2, 7, u32::MAX - 1] {
        assert_eq!(refused(Target::classes(two_classes(), vec![0, code])), "data");
    }
    assert!(Target::classes(Classes::of([]), vec![0]).is_err());
}

#[test]
fn rows_without_a_class_are_refused_by_every_method_that_needs_one() {
    let (rows, target) = (rows(), Target::classes(two_classes(), vec![0, 1, Target::UNKNOWN, 1]).unwrap());
    for method in METHODS.iter().filter(|method| method.info.learns(Task::Classification)) {
        let learner = method.configure(&serde_json::json!({})).unwrap();
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let can = method.info.can(quince::learn::Capability::SemiSupervised);
        assert_eq!(learner.fit_dyn(&examples, &run()).is_ok(), can, "{}", method.info.name);
    }
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    assert!(LeastSquares::default().fit_with_spectrum(&examples, &run()).is_err());
}

#[test]
fn examples_speak_of_the_same_rows() {
    let (rows, short) = (rows(), Target::none(3));
    assert_eq!(refused(Examples::new(rows.features(), &short, None)), "shape");
    let target = Target::none(4);
    for weights in [vec![1.0; 3], vec![1.0; 5], vec![]] {
        assert_eq!(refused(Examples::new(rows.features(), &target, Some(&weights))), "shape");
    }
    for wrong in [f64::NAN, -1.0, f64::INFINITY] {
        assert_eq!(refused(Examples::new(rows.features(), &target, Some(&[1.0, 1.0, 1.0, wrong]))), "data");
    }
    assert_eq!(refused(Examples::new(rows.features(), &target, Some(&[0.0; 4]))), "data");
    assert_eq!(refused(Examples::new(Matrix::zeros(0, 2).features(), &Target::none(0), None)), "data");
    assert_eq!(refused(Target::numbers(Matrix::column_vector(vec![1.0, f64::NAN]))), "not-finite");
}

#[test]
fn folds_of_nothing_of_too_many_and_of_unknown_classes_are_refused() {
    let target = Target::labels(&["a", "a", "b", "b"]);
    let unknown = Target::classes(two_classes(), vec![0, 1, Target::UNKNOWN, 1]).unwrap();
    let stream = || Stream::new(1, 0);
    for folds in [0, 1, 5, usize::MAX] {
        assert_eq!(refused(stratified_folds(&target, folds, &mut stream())), "setting");
        assert!(grouped_folds(&[0, 1, 2, 3], folds, &mut stream()).is_err());
    }
    assert!(grouped_folds(&[], 0, &mut stream()).is_err());
    assert!(stratified_folds(&Target::none(0), 2, &mut stream()).is_err());
    assert_eq!(refused(stratified_folds(&unknown, 2, &mut stream())), "data");
    assert_eq!(refused(hold_out(&unknown, 0.5, &mut stream())), "data");
    for share in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        assert!(hold_out(&target, share, &mut stream()).is_err());
        assert!(train_validation_test(&target, share.max(0.1), share, &mut stream()).is_err());
    }
}

#[test]
fn metrics_refuse_codes_and_lengths_that_do_not_fit() {
    let classes = two_classes();
    let half = Matrix::from_rows(&[[0.5, 0.5], [0.5, 0.5]]);
    for codes in [vec![0, 2], vec![0, Target::UNKNOWN], vec![0], vec![]] {
        assert!(log_loss(&half, &codes, None).is_err());
        assert!(ConfusionMatrix::of(&classes, &codes, &[0, 1], None).is_err());
        assert!(ConfusionMatrix::of(&classes, &[0, 1], &codes, None).is_err());
    }
    assert!(log_loss(&half, &[0, 1], Some(&[1.0])).is_err());
    assert!(ConfusionMatrix::of(&classes, &[0, 1], &[0, 1], Some(&[1.0, f64::NAN])).is_err());
    assert!(ConfusionMatrix::from_counts(&classes, vec![vec![1.0, 2.0]]).is_err());
    assert!(ConfusionMatrix::from_counts(&classes, vec![vec![1.0], vec![2.0, 3.0]]).is_err());
    assert!(Roc::of(&[0.5, 0.1], &[true], None).is_err());
    assert!(Roc::of(&[0.5, f64::NAN], &[true, false], None).is_err());
    assert!(Roc::of(&[0.5, 0.1], &[true, false], Some(&[1.0])).is_err());
    assert!(root_mean_square(&half, &Matrix::zeros(2, 1), None).is_err());
    assert!(root_mean_square(&half, &Matrix::zeros(1, 2), None).is_err());
    let prediction = |scores: Matrix, probabilities: Matrix| Prediction::Classes { scores, probabilities };
    let truth = Target::classes(classes.clone(), vec![0, 1]).unwrap();
    let unknown = Target::classes(classes, vec![0, Target::UNKNOWN]).unwrap();
    assert!(evaluate(&unknown, &prediction(half.clone(), half.clone()), None).is_err());
    assert!(evaluate(&truth, &prediction(Matrix::zeros(3, 2), half.clone()), None).is_err());
    assert!(evaluate(&truth, &prediction(half.clone(), Matrix::zeros(1, 2)), None).is_err());
    assert!(evaluate(&truth, &prediction(half.clone(), Matrix::zeros(2, 3)), None).is_err());
    assert!(evaluate(&truth, &prediction(Matrix::from_rows(&[[0., 0., 1.]; 2]), half.clone()), None).is_err());
    assert!(evaluate(&truth, &Prediction::Numbers(Matrix::zeros(2, 1)), None).is_err());
    assert!(evaluate(&truth, &prediction(half.clone(), half), Some(&[1.0])).is_err());
    assert!(evaluate(&Target::none(2), &Prediction::Novelty { scores: vec![1.0; 2] }, None).is_err());
}

#[test]
fn a_model_refuses_to_name_the_classes_of_another() {
    let train = |labels: &[&str]| {
        let (rows, target) = (rows(), Target::labels(labels));
        Model::fit_features(&rows.features(), &target, None, &Ridge::default(), &run()).unwrap()
    };
    let (two, three) = (train(&["a", "b", "a", "b"]), train(&["a", "b", "c", "c"]));
    let prediction = three.predict_features(&rows().features(), &run()).unwrap();
    assert_eq!(refused(two.label_names(&prediction)), "data");
    let numbers = Prediction::Clusters { labels: vec![9], distances: Matrix::zeros(1, 1) };
    assert_eq!(refused(two.label_names(&numbers)), "data");
}

fn labelled() -> Labelled {
    let csv = "x,t,y\n1,good,a\n2,bad,a\n3,good,b\n4,bad,b\n5,good,b\n6,bad,a\n";
    Table::from_csv(csv).unwrap().labelled("y", None).unwrap()
}

fn learners(learners: Vec<Box<dyn DynLearner>>) -> Vec<Box<dyn DynLearner>> {
    learners
}

#[test]
fn what_has_no_target_is_not_compared() {
    let without = Labelled { target: Target::none(6), ..labelled() };
    let methods = learners(vec![Box::new(KMeans::new(2)), Box::new(Mixture::new(2)), Box::new(OneClassSvm::default())]);
    for folds in [Folds::LeaveOneOut, Folds::K(2), Folds::HoldOut(0.5)] {
        let error = compare(&without, &methods, &folds, None, None, &run()).unwrap_err();
        assert_eq!(error.to_string(), "there is no target to measure answers by");
    }
}

#[test]
fn comparisons_and_curves_refuse_rows_groups_and_weights_that_do_not_fit() {
    let (all, ridge) = (labelled(), Ridge::default());
    let methods = learners(vec![Box::new(ridge.clone())]);
    let compared = |labelled: &Labelled, folds: &Folds, weights: Option<&[f64]>| {
        compare(labelled, &methods, folds, None, weights, &run())
    };
    let drawn = |labelled: &Labelled, folds: &Folds, weights: Option<&[f64]>| {
        let trial = |value: &str, labelled| CurveCandidate {
            value: value.into(),
            labelled: Cow::Borrowed(labelled),
            learner: Arc::new(ridge.clone()),
            fraction: 1.0,
        };
        curve("alpha", &[trial("1", &all), trial("2", labelled)], folds, None, weights, &run())
    };
    let short = Labelled { target: all.target.take(&[0, 1, 2]), ..all.clone() };
    let fewer = all.take(&[0, 1, 2, 3]);
    let unnumbered = Labelled { rows: vec![0], ..all.clone() };
    let unknown = Target::classes(two_classes(), vec![0, 1, 0, 1, Target::UNKNOWN, 0]).unwrap();
    let unknown = Labelled { target: unknown, ..all.clone() };
    for folds in [Folds::K(2), Folds::HoldOut(0.5), Folds::LeaveOneOut] {
        for wrong in [&short, &unnumbered, &unknown] {
            assert!(compared(wrong, &folds, None).is_err());
            assert!(drawn(wrong, &folds, None).is_err());
        }
        assert!(drawn(&fewer, &folds, None).is_err());
        assert!(compared(&all, &folds, Some(&[1.0; 5])).is_err());
        assert!(drawn(&all, &folds, Some(&[1.0; 5])).is_err());
    }
    for folds in [Folds::Grouped(2, vec![0, 1]), Folds::Grouped(2, vec![0; 9]), Folds::K(0), Folds::HoldOut(f64::NAN)] {
        assert!(compared(&all, &folds, None).is_err());
        assert!(drawn(&all, &folds, None).is_err());
    }
    let nothing = all.take(&[]);
    for folds in [Folds::K(2), Folds::HoldOut(0.5)] {
        assert!(compared(&nothing, &folds, None).is_err());
    }
    let alone = compared(&nothing, &Folds::LeaveOneOut, None);
    assert!(alone.is_err() || alone.is_ok_and(|alone| alone.entrants[0].problem.is_some()));
    assert!(Model::fit(&short, None, &ridge, &run()).is_err());
}

#[test]
fn a_class_that_does_not_occur_takes_no_folds_away() {
    let classes = Classes::in_order(vec!["a".into(), "b".into(), "c".into()]).unwrap();
    let all = labelled();
    let target = Target::classes(classes, vec![0, 0, 1, 1, 1, 0]).unwrap();
    let with = Labelled { target, ..all };
    let methods = learners(vec![Box::new(NaiveBayes::default())]);
    let found = compare(&with, &methods, &Folds::K(3), None, None, &run()).unwrap();
    assert_eq!((found.folds, found.warnings.len()), (3, 0));
}

/// What claims to have made features: one group of them.
#[derive(Debug)]
struct Claim(FeatureGroup);

impl FeatureSource for Claim {
    fn feature_map(&self) -> FeatureMap {
        FeatureMap { groups: vec![self.0.clone()] }
    }

    fn feature_names(&self) -> Box<dyn Iterator<Item = String> + '_> {
        Box::new(std::iter::once(self.0.name.clone()))
    }

    fn is_matrix(&self) -> bool {
        false
    }
}

#[test]
fn an_encoder_of_other_features_is_refused() {
    let (rows, target) = (rows(), Target::labels(&["a", "a", "b", "b"]));
    let sparse = Sparse::from_rows(4, (0..4).map(|i| vec![(i, 1.0)])).unwrap();
    let claim = |kind, first, width| Claim(FeatureGroup { name: "x".into(), column: Some(0), kind, first, width });
    let examples = |features, claim: &Claim| Examples::new(features, &target, None).unwrap().encoded_by(claim).is_ok();
    let category = |count: usize| FeatureKind::Category((0..count).map(|k| k.to_string()).collect());
    assert!(examples(rows.features(), &claim(FeatureKind::Number, 1, 1)));
    assert!(!examples(rows.features(), &claim(FeatureKind::Number, 2, 1)));
    assert!(!examples(rows.features(), &claim(FeatureKind::Number, 1, usize::MAX)));
    assert!(!examples(rows.features(), &claim(FeatureKind::Words, 0, 1)));
    assert!(examples(sparse.features(), &claim(FeatureKind::Words, 0, 4)));
    assert!(!examples(sparse.features(), &claim(FeatureKind::Words, 0, 5)));
    // The first column holds 0, 1, 5 and 4.
    assert!(examples(rows.features(), &claim(category(6), 0, 1)));
    assert!(!examples(rows.features(), &claim(category(5), 0, 1)));
}

#[test]
fn a_model_is_of_the_method_that_was_fitted() {
    let (rows, target) = (rows(), Target::labels(&["a", "a", "b", "b"]));
    let (fitted, report) =
        Knn::default().fit_dyn(&Examples::new(rows.features(), &target, None).unwrap(), &run()).unwrap();
    let parts = (&rows.features(), &target);
    assert_eq!(refused(Model::from_fitted(&Ridge::default(), parts, fitted, report, &run())), "data");
}

#[test]
fn batches_of_no_rows_no_centres_and_other_columns_are_refused() {
    let mut updates = MiniBatchUpdates::new(rows());
    assert_eq!(refused(updates.learn(Matrix::zeros(0, 2).features(), None, &run())), "data");
    assert_eq!(refused(updates.learn(Matrix::zeros(2, 3).features(), None, &run())), "shape");
    assert_eq!(refused(updates.learn(Matrix::zeros(2, 2).features(), Some(&[1.0]), &run())), "shape");
    assert!(updates.learn(Matrix::from_rows(&[[f64::NAN, 1.0]]).features(), None, &run()).is_err());
    assert!(MiniBatchUpdates::new(Matrix::zeros(0, 2)).model(0.0).is_err());
    assert!(MiniBatchUpdates::new(Matrix::zeros(0, 2)).learn(rows().features(), None, &run()).is_err());
    let not_a_number = Matrix::from_rows(&[[f64::NAN, 0.0]]);
    assert!(MiniBatchUpdates::new(not_a_number).learn(rows().features(), None, &run()).is_err());
}

#[test]
fn a_matrix_that_was_written_with_a_wrong_size_cannot_be_read() {
    for text in [
        r#"{"rows":2,"columns":2,"values":[1.0]}"#,
        r#"{"rows":0,"columns":0,"values":[1.0]}"#,
        r#"{"rows":18446744073709551615,"columns":2,"values":[]}"#,
    ] {
        assert!(serde_json::from_str::<Matrix>(text).is_err(), "{text}");
    }
    assert!(serde_json::from_str::<Matrix>(r#"{"rows":1,"columns":2,"values":[1.0,2.0]}"#).is_ok());
    assert_eq!(refused(Matrix::new(usize::MAX, 2, vec![1.0])), "shape");
    assert_eq!(refused(Matrix::try_from(vec![vec![1.0], vec![]])), "shape");
}

#[test]
fn an_index_past_the_end_panics_instead_of_answering_with_another_element() {
    let two = Matrix::from_rows(&[[1.0, 2.0], [3.0, 4.0]]);
    let transposed = View::strided(two.values(), (2, 1), (1, 1)).unwrap();
    assert!(panics(|| two[(0, 3)]) && panics(|| two[(0, 2)]) && panics(|| two[(2, 0)]));
    assert!(panics(|| two.clone()[(0, 3)] = 1.0));
    assert!(panics(|| two.row(2).len()) && panics(|| two.column(2)) && panics(|| Matrix::zeros(0, 2).column(2)));
    assert!(panics(|| two.view().get(0, 3)) && panics(|| transposed.get(0, 1)) && panics(|| transposed.get(2, 0)));
    assert!(panics(|| Dense::F64(two.view()).get(0, 2)));
}

#[test]
fn rows_that_are_not_there_cannot_be_taken() {
    let four = rows();
    // A view of the first two rows, over the numbers of all four.
    let two = Features::dense(Dense::F64(View::row_major(four.values(), 2, 2)));
    let by_columns = Features::dense(Dense::F64(View::strided(four.values(), (2, 2), (1, 4)).unwrap()));
    let sparse = Sparse::from_rows(2, vec![vec![(0, 1.0)], vec![(1, 2.0)]]).unwrap();
    let table = Table::from_csv("x,y\n1,a\n2,b\n").unwrap();
    for wrong in [2, 3, usize::MAX] {
        assert!(panics(|| two.take(&[wrong])) && panics(|| by_columns.take(&[0, wrong])));
        assert!(panics(|| sparse.take_rows(&[wrong])) && panics(|| sparse.features().take(&[wrong])));
        assert!(panics(|| two.take(&[0, 1]).take(&[wrong])) && panics(|| table.take(&[wrong])));
        assert!(panics(|| Target::labels(&["a", "b"]).take(&[wrong])));
        assert!(panics(|| table.columns()[0].is_missing(wrong)) && panics(|| table.columns()[0].number(wrong)));
        assert!(table.weights("x", &[wrong]).is_err() && table.groups("y", &[wrong]).is_err());
    }
    assert!(panics(|| four.take_rows(&[4])) && panics(|| Rows::from(four.clone()).take(&[4])));
    assert!(Sparse::new(usize::MAX, 2, vec![], vec![], vec![]).is_err());
    assert!(Sparse::new(1, 2, vec![0, 1], vec![2], vec![1.0]).is_err());
    assert!(View::strided(four.values(), (usize::MAX, usize::MAX), (2, 2)).is_err());
}

#[test]
fn quantiles_and_neighbours_that_do_not_exist() {
    for (values, q) in [(&[][..], 0.5), (&[1.0, 2.0][..], -0.1), (&[1.0][..], 1.1), (&[1.0][..], f64::NAN)] {
        assert!(quantile(values, q).is_nan());
    }
    let (four, measure) = (rows(), || Measure::of(DistanceMetric::Euclidean));
    let index = Index::new(&four.features(), measure(), SearchMethod::Auto, &run()).unwrap();
    for (rows, k) in [(&[4][..], 1), (&[usize::MAX][..], 1), (&[0][..], 4), (&[0][..], 0)] {
        assert!(index.nearest_others(rows, k, &run()).is_err());
    }
    assert!(index.nearest(&Matrix::zeros(1, 3).features(), 1, &run()).is_err());
    assert!(index.nearest(&Matrix::zeros(1, 2).features(), 5, &run()).is_err());
    let structure = SearchStructure::new(&four.features(), measure(), SearchMethod::Direct, &run()).unwrap();
    let other = Matrix::zeros(3, 2);
    assert!(structure.nearest(&other.features(), &four.features(), 1, &run()).is_err());
    assert!(structure.nearest_others(&other.features(), &[0], 1, &run()).is_err());
    let weighed = Measure { weights: vec![1.0], ..measure() };
    assert!(Index::new(&four.features(), weighed.clone(), SearchMethod::Auto, &run()).is_err());
    assert!(panics(|| weighed.distance(&[1.0, 2.0], &[1.0, 2.0])) && panics(|| measure().distance(&[1.0], &[])));
}

#[test]
fn no_model_answers_for_rows_with_values_that_it_cannot_read() {
    let four = rows();
    let numbers = Matrix::column_vector(vec![1.0, 2.0, 3.0, 5.0]);
    let targets = [Target::labels(&["a", "a", "b", "b"]), Target::numbers(numbers).unwrap(), Target::none(4)];
    for method in METHODS {
        for target in targets.iter().filter(|target| method.info.learns(target.task())) {
            let learner = method.configure(&serde_json::json!({})).unwrap();
            let (fitted, _) = learner.fit_dyn(&Examples::new(four.features(), target, None).unwrap(), &run()).unwrap();
            let takes_missing = method.info.can(quince::learn::Capability::MissingValues)
                || method.info.can(quince::learn::Capability::NativeColumns)
                || method.info.name == "baseline";
            for (wrong, fine) in [(f64::NAN, takes_missing), (f64::INFINITY, method.info.name == "baseline")] {
                let asked = Matrix::from_rows(&[[1.0, wrong], [2.0, 3.0]]);
                let answer = fitted.predict(&asked.features(), &run());
                assert_eq!(answer.is_ok(), fine, "{} with {wrong}", method.info.name);
            }
            // The baseline needs no features.
            for columns in [0, 1, 3].into_iter().filter(|_| method.info.name != "baseline") {
                let asked = Matrix::zeros(1, columns);
                let answer = fitted.predict(&asked.features(), &run());
                assert!(answer.is_err(), "{} with {columns} columns", method.info.name);
            }
        }
    }
}

#[test]
fn encoders_refuse_columns_and_classes_that_do_not_fit() {
    let (mut four, nan) = (rows(), f64::NAN);
    let impute = |rows: &mut Matrix, donors: &Matrix, otherwise: &[f64]| {
        knn_impute(rows, donors, (1, NeighbourWeights::Uniform), otherwise, &run())
    };
    assert!(impute(&mut four, &Matrix::zeros(2, 3), &[0.0; 2]).is_err());
    assert!(impute(&mut Matrix::from_rows(&[[nan, 1.0]]), &four, &[0.0]).is_err());
    let products = PolynomialFeatures::new(3, 1..=2, false, true).unwrap();
    assert!(products.by_rows(&four.view(), &run()).is_err() && products.by_columns(&four.view(), &run()).is_err());
    assert!(products.sparse(&Sparse::from_rows(2, vec![vec![]]).unwrap(), &run()).is_err());
    for columns in [0, 1, 2] {
        for degree in [1001, 1_000_000, usize::MAX] {
            assert!(monomials(columns, degree..=degree, false).is_err());
            assert!(monomials(columns, 0..=degree, true).is_err());
            assert!(PolynomialFeatures::new(columns, 1..=degree, false, true).is_err());
        }
    }
    let unknown = Target::classes(two_classes(), vec![0, 1, 0, 1, Target::UNKNOWN, 0]).unwrap();
    let with = Labelled { target: unknown, ..labelled() };
    assert_eq!(class_words(&with, 3, &run()).unwrap().len(), 0);
    let texts = Table::from_csv("t,y\n\"it was good\",a\n\"it was bad\",b\n\"so it was\",\n").unwrap();
    let texts = texts.encoded_as("t", "").unwrap();
    let all = texts.supervised("y", None, None, None, true).unwrap().labelled;
    assert!(class_words(&all, 3, &run()).is_ok());
    let short = Labelled { target: all.target.take(&[0]), ..all.clone() };
    assert!(class_words(&short, 3, &run()).is_err());
    let encoder = Encoder::learn(&all.table, &run()).unwrap();
    assert!(encoder.encode(&Table::from_csv("x\n1\n").unwrap(), MissingValues::Kept, &run()).is_err());
    for labels in [&[0][..], &[0; 5]] {
        assert!(scatter(&four.features(), labels).is_err() && silhouettes(&four.features(), labels, &run()).is_err());
    }
}

#[test]
fn models_refuse_weights_columns_and_examples_of_other_rows() {
    let (four, none) = (rows(), Target::none(4));
    let examples = Examples::new(four.features(), &none, None).unwrap();
    let (mixture, _) = Mixture::new(2).fit_examples(&examples, &run()).unwrap();
    let by = quince::mixture::Criterion::Bic;
    assert!(mixture.criterion(by, &four.features(), Some(&[1.0]), &run()).is_err());
    assert!(mixture.criterion(by, &Matrix::zeros(1, 3).features(), None, &run()).is_err());
    let (means, _) = KMeans::new(2).fit_examples(&examples, &run()).unwrap();
    assert!(means.assign(&four.features(), Some(&[1.0]), &run()).is_err());
    assert!(means.distances(&Matrix::zeros(1, 3).features(), &run()).is_err());
    assert!(Model::known(&KMeans::new(2), means.clone(), usize::MAX, None).is_err());
    assert!(Model::known(&KMeans::new(2), means.clone(), 3, None).is_err());
    assert!(Model::known(&KMeans::new(2), means, 2, Some(two_classes())).is_err());
    let labels = Target::labels(&["a", "a", "b", "b"]);
    let bayes = Model::fit_features(&four.features(), &labels, None, &NaiveBayes::default(), &run()).unwrap();
    let three = Target::labels(&["a", "b", "c", "c"]);
    let (narrow, numbers) = (Matrix::zeros(4, 1), Target::numbers(Matrix::zeros(4, 1)).unwrap());
    let others = Target::labels(&["x", "x", "y", "y"]);
    let unknown = Target::classes(two_classes(), vec![0, 1, Target::UNKNOWN, 1]).unwrap();
    let wrong = [&three, &none, &numbers, &others, &unknown].map(|target| (&four, target));
    for (features, target) in wrong.into_iter().chain([(&narrow, &labels)]) {
        assert!(bayes.updated(&Examples::new(features.features(), target, None).unwrap(), &run()).is_err());
    }
    let of_three = Model::fit_features(&four.features(), &three, None, &NaiveBayes::default(), &run()).unwrap();
    assert!(bayes.with_fitted(of_three.fitted::<quince::bayes::BayesModel>().unwrap().clone()).is_err());
    assert!(bayes.explain_features(&Matrix::zeros(0, 2).features()).is_err());
    assert!(bayes.explain_features(&Matrix::zeros(1, 5).features()).is_err());
    assert!(bayes.impute_features(&Matrix::zeros(1, 5).features(), &run()).is_err());
    assert!(bayes.sample(1, Some("c"), &run()).is_err());
}

#[test]
fn ragged_and_empty_rows_are_refused_by_the_short_way_too() {
    use quince::prelude::*;
    assert!(vec![vec![1.0], vec![]].to_features().is_err());
    assert!([1.0, f64::NAN].to_target().is_err());
    let none: Vec<Vec<f64>> = Vec::new();
    assert!(Ridge::new().fit(&none, &Vec::<f64>::new()).is_err());
    assert!(Ridge::new().fit(&[[1.0], [2.0]], &[1.0]).is_err());
    assert!(matches!(Ridge::new().alpha(-1.0).fit(&[[1.0], [2.0]], &[1.0, 2.0]), Err(Error::Setting { .. })));
}

#[test]
fn sizes_that_cannot_be_numbered_are_refused_before_memory_is_asked_for() {
    assert_eq!(refused(Sparse::new(1, 1 << 40, vec![0, 0], vec![], vec![])), "shape");
    let wide = Sparse::new(2, u32::MAX as usize, vec![0, 1, 1], vec![7], vec![1.0]).unwrap();
    assert!(scatter(&wide.features(), &[0, 0]).is_err());
}

#[test]
fn a_place_outside_a_matrix_is_none_inside_it() {
    let matrix = Matrix::zeros(2, 2);
    for (i, j) in [(2, 0), (0, 2), (1 << 63, 0), (usize::MAX, 1)] {
        assert!(catch_unwind(AssertUnwindSafe(|| matrix[(i, j)])).is_err(), "{i}, {j}");
    }
    assert!(catch_unwind(AssertUnwindSafe(|| matrix.row(1 << 63).to_vec())).is_err());
}

#[test]
fn a_model_put_together_of_parts_that_do_not_fit_refuses_to_predict() {
    let (rows, three) = (rows(), Target::labels(&["a", "b", "c", "c"]));
    let examples = Examples::new(rows.features(), &three, None).unwrap();
    let (fitted, report) = Ridge::default().fit_dyn(&examples, &run()).unwrap();
    let two = Target::classes(two_classes(), vec![0, 1, 0, 1]).unwrap();
    let parts = (&rows.features(), &two);
    let model = Model::from_fitted(&Ridge::default(), parts, fitted, report, &run()).unwrap();
    assert_eq!(refused(model.labels::<String>(&rows)), "shape");
}

#[test]
fn every_way_to_a_fit_refuses_targets_that_it_cannot_learn_from() {
    let (rows, unknown) = (rows(), Target::classes(two_classes(), vec![0, 1, Target::UNKNOWN, 1]).unwrap());
    let examples = Examples::new(rows.features(), &unknown, None).unwrap();
    assert!(Knn::new().k(1).losses_by_k(&examples, &run()).is_err());
    assert!(Mixture::new(2).fit_from(&examples, &InitialParameters::default(), &run()).is_err());
    let probabilities = Matrix::from_rows(&[[0.5, 0.5]; 4]);
    let prediction = Prediction::Classes { scores: probabilities.clone(), probabilities };
    assert!(Roc::of_classes(&unknown, &prediction, None).is_err());
    for settings in [serde_json::json!([1]), serde_json::json!("alpha=1")] {
        assert!(quince::registry::method("ridge").unwrap().configure(&settings).is_err());
    }
}
