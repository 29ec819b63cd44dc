//! Settings that no data could go with are refused before any are looked at, by name and by type.

use quince::cluster::KMeans;
use quince::learn::{Count, Examples, Learner, Target, configured};
use quince::linear::{LeastSquares, Ridge};
use quince::margin::{LinearSvm, OneClassSvm, Svm};
use quince::mixture::Mixture;
use quince::neighbours::{DistanceMetric, Knn, SearchMethod};
use quince::registry;
use quince::{Matrix, Result, Run};
use serde_json::json;

/// The code of an error: that there is one, and no panic, is what is asked here.
fn refused<T>(result: Result<T>) -> &'static str {
    result.err().expect("an error").code()
}

#[test]
fn settings_that_no_data_could_go_with_are_refused_when_they_are_given() {
    let cases = [
        ("knn", json!({"search": "tree", "metric": "cosine"}), "'search' cannot be tree for this metric"),
        ("knn", json!({"search": "product", "metric": "manhattan"}), "'search' cannot be product for this metric"),
        ("knn", json!({"feature_weights": "1,-2,1"}), "'feature_weights' cannot be read at '-2'"),
        ("knn", json!({"feature_weights": "age=2,city"}), "'feature_weights' cannot be read at 'city'"),
        ("knn", json!({"feature_weights": "0,0"}), "'feature_weights' are all zero"),
        ("kmeans", json!({"polish": true, "algorithm": "mini-batch"}), "'polish' is for Lloyd's algorithm"),
        ("svm", json!({"class_weights": "yes=0"}), "'class_weights' cannot be read at 'yes=0'"),
        ("svm", json!({"class_weights": "balance"}), "'class_weights' cannot be read at 'balance'"),
        ("linear-svm", json!({"class_weights": "yes=2,yes=3"}), "'class_weights' names 'yes' twice"),
        ("linear-svm", json!({"loss": "log", "solver": "dual"}), "'loss' is for stochastic gradient descent alone"),
        ("linear-svm", json!({"solver": "newton"}), "'solver' cannot be newton for a loss that is not smooth"),
        ("mixture", json!({"family": "kernel-density"}), "'family' cannot be kernel-density in a mixture"),
        ("naive-bayes", json!({"priors": "0.5,0.6"}), "'priors' add up to 1.1"),
        ("gaussian", json!({"priors": "-1,2"}), "'priors' cannot be [-1.0, 2.0]"),
        ("naive-bayes", json!({"bins": 2_000_000}), "'bins' cannot be 2000000"),
        ("naive-bayes", json!({"categories": 2_000_000}), "'categories' cannot be 2000000"),
    ];
    for (name, settings, problem) in cases {
        let said = registry::method(name).unwrap().configure(&settings).err();
        let said = said.unwrap_or_else(|| panic!("{name} takes {settings}"));
        assert_eq!((said.code(), said.to_string()), ("setting", format!("setting {problem}")), "{name} {settings}");
        assert!(!said.remedy().is_empty());
    }
}

#[test]
fn a_method_of_known_type_is_configured_by_the_same_rules() {
    let knn: Knn = configured(&json!({"k": 3, "metric": "cosine"})).unwrap();
    assert_eq!(knn, Knn::new().k(Count::Fixed(3)).metric(DistanceMetric::Cosine));
    assert_eq!(configured::<Knn>(&json!({"kk": 3})).unwrap_err().remedy(), "Did you mean 'k'?");
    assert_eq!(configured::<Knn>(&json!({"k": 0})).unwrap_err().to_string(), "setting 'k' cannot be 0");
    assert!(configured::<Knn>(&json!({"search": "tree", "metric": "cosine"})).is_err());
    // The struct itself can be filled in with anything: a fit looks at it first.
    let (rows, target) = (Matrix::from_rows(&[[0.0], [1.0]]), Target::labels(&["a", "b"]));
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let by_type = Knn { search: SearchMethod::Tree, ..knn };
    let said = by_type.fit_examples(&examples, &Run::new()).err().unwrap().to_string();
    assert_eq!(said, "setting 'search' cannot be tree for this metric");
}

#[test]
fn settings_out_of_range_are_refused_by_type_too() {
    let run = || Run::new().threads(1);
    let rows = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0], [5.0, 4.0], [4.0, 5.0]]);
    let numbers = Target::numbers(Matrix::column_vector(vec![1.0, 2.0, 3.0, 5.0])).unwrap();
    let (none, labels) = (Target::none(4), Target::labels(&["a", "a", "b", "b"]));
    let features = rows.features();
    let numbers = Examples::new(features, &numbers, None).unwrap();
    let none = Examples::new(features, &none, None).unwrap();
    let labels = Examples::new(features, &labels, None).unwrap();
    for alpha in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(Ridge::new().alpha(alpha).fit_examples(&numbers, &run())), "setting");
        assert_eq!(refused(LeastSquares::new().tolerance(alpha).fit_with_spectrum(&numbers, &run())), "setting");
    }
    for c in [f64::NAN, 0.0, -1.0] {
        assert_eq!(refused(Svm::new().c(c).fit_examples(&labels, &run())), "setting");
        assert_eq!(refused(LinearSvm::new().c(c).fit_examples(&labels, &run())), "setting");
    }
    assert_eq!(refused(OneClassSvm::new().nu(f64::NAN).fit_examples(&none, &run())), "setting");
    assert_eq!(refused(KMeans::new(2).restarts(0).fit_examples(&none, &run())), "setting");
    assert_eq!(refused(KMeans::new(2).restarts(0).cluster_with(features, None, &run())), "setting");
    assert_eq!(refused(KMeans::new(2).batch(0).cluster_from(features, None, &rows, &run())), "setting");
    assert_eq!(refused(KMeans::new(0).fit_examples(&none, &run())), "setting");
    assert_eq!(refused(Mixture::new(2).restarts(0).fit_examples(&none, &run())), "setting");
    assert_eq!(refused(Mixture::new(2).per_class(0).fit_examples(&labels, &run())), "setting");
    assert_eq!(refused(Knn { k: Count::Fixed(0), ..Knn::default() }.fit_examples(&labels, &run())), "setting");
}
