//! Learning and validation curves (E2).

use crate::example;
use quince::Run;
use quince::evaluate::{CurveCandidate, Folds, Metric, TRAINING_FRACTIONS, Varied, curve};
use quince::learn::DynLearner;
use quince::linear::Ridge;
use quince::registry;
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;

#[test]
fn e2_a_learning_curve_learns_from_more_and_more_rows() {
    let labelled = example("iris.csv").labelled("species", None).unwrap();
    let ridge: Arc<dyn DynLearner> = Arc::new(Ridge::default());
    let trial = |&fraction: &f64| CurveCandidate {
        value: fraction.to_string(),
        labelled: Cow::Borrowed(&labelled),
        learner: ridge.clone(),
        fraction,
    };
    let trials: Vec<CurveCandidate<'_>> = TRAINING_FRACTIONS.iter().map(trial).collect();
    let found = curve("rows", &trials, &Folds::K(5), None, None, &Run::new()).unwrap();
    assert_eq!(found.points.len(), TRAINING_FRACTIONS.len());
    assert!(found.points.windows(2).all(|pair| pair[0].rows < pair[1].rows));
    // 120 rows of 150 are learnt from in each fold, 2 % are one of each species.
    assert_eq!((found.points[0].rows, found.points[7].rows), (3.0, 120.0));
    let validation = |p: usize| found.points[p].validation.unwrap().mean;
    assert!(validation(7) < validation(1), "{:?}", found.points);
    let threads = curve("rows", &trials, &Folds::K(5), None, None, &Run::new().threads(2)).unwrap();
    assert_eq!(format!("{found:?}"), format!("{threads:?}"));
}

#[test]
fn e2_a_validation_curve_has_both_sides_and_its_best() {
    let labelled = example("iris.csv").labelled("species", None).unwrap();
    let knn = registry::method("knn").unwrap();
    let varied = Varied::parse("k", "1,5,110", &labelled, knn).unwrap();
    let trials = varied.candidates(&labelled, knn, &json!({})).unwrap();
    let found = curve(varied.name(), &trials, &Folds::K(5), Some(Metric::Accuracy), None, &Run::new()).unwrap();
    // With one neighbour a row finds itself; two flowers of iris are equal and of one species.
    assert_eq!(found.points[0].train.unwrap().mean, 1.0);
    // Nearly all rows as neighbours know hardly more than which species is the most frequent.
    let validation = [0, 1, 2].map(|p| found.points[p].validation.unwrap().mean);
    assert!(validation[2] < validation[0].min(validation[1]) - 0.2, "{validation:?}");
    assert_eq!(found.best, Some(usize::from(validation[1] > validation[0])));
}

#[test]
fn a_curve_without_points_or_with_leave_one_out_is_refused() {
    let labelled = example("iris.csv").labelled("species", None).unwrap();
    let ridge = Arc::new(Ridge::default());
    let all = CurveCandidate { value: "1".into(), labelled: Cow::Borrowed(&labelled), learner: ridge, fraction: 1.0 };
    assert!(curve("rows", &[], &Folds::K(5), None, None, &Run::new()).is_err());
    let error = curve("rows", &[all], &Folds::LeaveOneOut, None, None, &Run::new()).unwrap_err();
    assert_eq!(error.to_string(), "setting 'folds' cannot be leave-one-out for a curve");
}
