//! Labels: one component or several per class, all labels, some or none.

use super::*;
use crate::bayes::{GaussianClassifier, NaiveBayes};
use crate::family::FamilyParameters;
use crate::learn::{Fitted, Prediction};
use crate::run::StopReason;

#[test]
fn all_labelled_with_one_component_is_the_bayes_classifier() {
    let example = example(11, 400, 0.1, true);
    let (features, target) = (example.rows.features(), target(&example.groups));
    let examples = Examples::new(features, &target, example.weights.as_deref()).unwrap();
    let predict = |model: &dyn Fitted| match model.predict(&features, &Run::new()).unwrap() {
        Prediction::Classes { scores, probabilities } => (scores, probabilities),
        other => panic!("{other:?}"),
    };
    // Without missing values in Gaussians there is nothing to iterate, and the bits are the same.
    for family in ["normal", "auto", "poisson,x0=normal,x1=normal,x2=normal"] {
        let family: Families = family.parse().unwrap();
        let naive =
            NaiveBayes { family: family.clone(), variance_floor: 1e-6, calibrate: false, ..NaiveBayes::default() };
        let mixture = Mixture { family, calibrate: false, ..Mixture::default() };
        let (bayes, _) = Learner::fit_examples(&naive, &examples, &Run::new()).unwrap();
        let (mixture, report) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
        assert_eq!(report.stop, StopReason::Computed);
        assert_eq!(predict(&bayes).0, predict(&mixture).0);
    }
    let gaussian = GaussianClassifier { variance_floor: 1e-6, calibrate: false, ..GaussianClassifier::default() };
    let mixture =
        Mixture { family: "gaussian".parse().unwrap(), tolerance: 1e-12, calibrate: false, ..Mixture::default() };
    let (bayes, _) = Learner::fit_examples(&gaussian, &examples, &Run::new()).unwrap();
    let (mixture, _) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
    for (a, b) in predict(&bayes).1.values().iter().zip(predict(&mixture).1.values()) {
        assert!((a - b).abs() < 1e-4, "{a} {b}");
    }
}

#[test]
fn no_label_at_all_is_the_mixture() {
    // A component for each class and rows of no class: nothing but the start ties components to classes.
    let example = example(12, 300, 0.1, false);
    let features = example.rows.features();
    for names in ["full+words", "normal+poisson", "categorical+words"] {
        let unknown = vec![NO_CLASS; 300];
        let objectives = |class_of: Vec<u32>, classes: Option<&[u32]>| {
            let mut state = state(names, &example, class_of, 4);
            let data = Data::new(&features, None, classes, &state.product.blocks);
            let trace = run_em(&mut state, &data, 10, &Run::new());
            (trace.objectives, MixtureModel::new(state).responsibilities(&features, &Run::new()).unwrap())
        };
        assert_eq!(objectives(vec![0, 1, 2], Some(&unknown)), objectives(vec![NO_CLASS; K], None));
    }
}

#[test]
fn a_class_without_rows_is_never_predicted() {
    let rows = Matrix::from_rows(&[[1.0], [2.0], [8.0], [9.0]]);
    let target = target(&[0, 0, 2, 2]);
    let features = rows.features();
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = Mixture { family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) = Learner::fit_examples(&mixture, &examples, &Run::new()).unwrap();
    let Prediction::Classes { probabilities, .. } = model.predict(&features, &Run::new()).unwrap() else { panic!() };
    assert!(
        (0..4).all(|i| probabilities[(i, 1)] == 0.0 && (probabilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-12)
    );
}

#[test]
fn several_components_a_class_need_rows_and_a_class_without_rows_is_no_harm() {
    let rows = Matrix::from_rows(&[[1.0], [2.0], [1.5], [8.0], [9.0], [8.5]]);
    let (features, target) = (rows.features(), target(&[0, 0, 0, 2, 2, 2]));
    let examples = Examples::new(features, &target, None).unwrap();
    let mixture = |per_class: usize| Mixture { per_class, family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) = Learner::fit_examples(&mixture(2), &examples, &Run::new()).unwrap();
    assert_eq!(model.predict(&features, &Run::new()).unwrap().labels(), [0, 0, 0, 2, 2, 2]);
    let wrong = Learner::fit_examples(&mixture(usize::MAX), &examples, &Run::new()).err().unwrap();
    assert!(wrong.to_string().contains("per_class"));
    let nothing = [0.0; 6];
    let mut some = nothing;
    some[5] = 1.0;
    let codes = Target::classes(Classes::of(["a", "b", "c"]), vec![0, 0, 1, 1, 2, NO_CLASS]).unwrap();
    let weighed = Examples::new(features, &codes, Some(&some)).unwrap();
    let wrong = Learner::fit_examples(&mixture(1), &weighed, &Run::new()).err().unwrap();
    assert_eq!(wrong.to_string(), "no row that counts has a class");
}

#[test]
fn classes_of_several_components_keep_all_their_classes() {
    // So many rows that some are enough to start from, whose classes take turns; one class weighs nothing.
    let count = 3 * start::MAX_START_ROWS;
    let mut stream = Stream::new(9, 0);
    let codes: Vec<u32> = (0..count).map(|i| (i % 3) as u32).collect();
    let rows: Vec<[f64; 1]> = codes.iter().map(|&code| [10.0 * f64::from(code) + stream.normal()]).collect();
    let rows = Matrix::from_rows(&rows);
    let classes = Classes::of(["a", "b", "c"]);
    let target = Target::classes(classes, codes.clone()).unwrap();
    let two = Mixture { per_class: 2, family: "normal".parse().unwrap(), ..Mixture::default() };
    let (model, _) =
        Learner::fit_examples(&two, &Examples::new(rows.features(), &target, None).unwrap(), &Run::new()).unwrap();
    let said = Fitted::predict(&model, &rows.features(), &Run::new()).unwrap().labels();
    assert!(said.iter().zip(&codes).filter(|(said, code)| said == code).count() as f64 > 0.99 * count as f64);
    let weights: Vec<f64> = codes.iter().map(|&code| if code == 1 { 0.0 } else { 1.0 }).collect();
    let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
    let (model, _) = Learner::fit_examples(&two, &examples, &Run::new()).unwrap();
    let said = Fitted::predict(&model, &rows.features(), &Run::new()).unwrap().labels();
    assert!(said.iter().all(|said| *said != 1));
}

#[test]
fn components_of_whole_numbers_do_not_collapse_to_a_value_that_many_rows_share() {
    // 0, 1 and 2 against 3, 4 and 5, each twenty times: a component for one value alone has a likelihood without bound.
    let codes: Vec<u32> = (0..120).map(|i| i % 2).collect();
    let rows: Vec<[f64; 1]> = (0..120).map(|i| [f64::from(3 * (i % 2) + i / 2 % 3)]).collect();
    let (rows, target) = (Matrix::from_rows(&rows), target(&codes));
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for family in ["normal", "gaussian"] {
        let two = Mixture { per_class: 2, family: family.parse().unwrap(), ..Mixture::default() };
        let (model, _) = Learner::fit_examples(&two, &examples, &Run::new()).unwrap();
        let variances: Vec<f64> = match model.family_parameters().unwrap() {
            FamilyParameters::Normal { variances, .. } => variances.values().to_vec(),
            FamilyParameters::Gaussian { covariances, .. } => covariances.iter().map(|of| of[(0, 0)]).collect(),
            other => panic!("{other:?}"),
        };
        assert!(variances.iter().all(|variance| *variance >= 1.0 / 12.0), "{variances:?}");
        assert_eq!(Fitted::predict(&model, &rows.features(), &Run::new()).unwrap().labels(), codes);
        // One component for each class is the Bayes classifier, whose variance is that of its rows: 2/3.
        let one = Mixture { per_class: 1, variance_floor: 0.0, ..two };
        let (model, _) = Learner::fit_examples(&one, &examples, &Run::new()).unwrap();
        let first = match model.family_parameters().unwrap() {
            FamilyParameters::Normal { variances, .. } => variances[(0, 0)],
            FamilyParameters::Gaussian { covariances, .. } => covariances[0][(0, 0)],
            other => panic!("{other:?}"),
        };
        assert!((first - 2.0 / 3.0).abs() < 1e-12, "{first}");
    }
}
