//! Classes that are small, rare or weighted; clean tables; who is compared.

use crate::{Sheet, cross_validated, fitted, left_out};
use quince::Run;
use quince::evaluate::{Contestants, Folds, Metric, compare};
use quince::learn::{Amount, Capability, DynLearner, Target};
use quince::margin::{LinearSvm, Svm};
use quince::neighbours::Knn;
use quince::registry::{METHODS, Registry, method};
use serde_json::json;

fn learners(names: &[&str]) -> Vec<Box<dyn DynLearner>> {
    names.iter().map(|name| method(name).unwrap().configure(&json!({})).unwrap()).collect()
}

#[test]
fn small_classes_take_no_folds_away_from_the_others() {
    let zoo = Sheet::read("zoo.csv").columns(|name| name != "name");
    let j = zoo.place("type");
    // All four amphibians, and two of them.
    let some = zoo.clone().filter(|i, row| row[j] != "amphibian" || i < 30);
    let count = |sheet: &Sheet| sheet.column("type").iter().filter(|label| *label == "amphibian").count();
    assert_eq!((count(&zoo), count(&some)), (4, 2));
    for sheet in [zoo, some] {
        let labelled = sheet.table().labelled("type", None).unwrap();
        let methods = learners(&["baseline", "naive-bayes", "knn", "ridge"]);
        let board = compare(&labelled, &methods, &Folds::default(), None, None, &Run::new()).unwrap();
        assert_eq!(board.folds, 10);
        for entrant in &board.entrants {
            assert!(entrant.folds == 10 && entrant.problem.is_none(), "{entrant:?}");
            assert!(entrant.metric(Metric::LogLoss).unwrap().mean.is_finite());
        }
        let rows = count(&sheet);
        let warning = format!("the class 'amphibian' has {rows} rows, and is tested in {rows} of 10 folds");
        assert!(board.warnings.contains(&warning), "{:?}", board.warnings);
        assert_ne!(board.entrants[0].method, "baseline");
    }
}

#[test]
fn every_classifier_is_compared_or_named_with_its_reason() {
    for (file, target, classes) in [("zoo.csv", "type", 7), ("ionosphere.csv", "Class", 2)] {
        let labelled = Sheet::read(file).table().labelled(target, None).unwrap();
        let contestants = Contestants::of(&Registry::standard(), &labelled.target);
        let reason = |name: &str| contestants.left_out.iter().find(|one| one.method == name).map(|one| &one.reason);
        for method in METHODS.iter().filter(|method| method.info.can(Capability::Classify)) {
            let takes_part = contestants.methods.iter().any(|other| other.info.name == method.info.name);
            assert_eq!(takes_part, reason(method.info.name).is_none(), "{file}: {}", method.info.name);
        }
        assert!(contestants.methods.iter().any(|method| method.info.name == "mixture"), "{file}");
        let of_two = (classes > 2).then(|| format!("learns two classes, and the target has {classes}"));
        assert_eq!(reason("svm"), of_two.as_ref(), "{file}");
    }
}

#[test]
fn class_weights_do_not_spoil_probabilities() {
    // Ten good returns for each bad one.
    let all = Sheet::read("ionosphere.csv");
    let j = all.place("Class");
    let bad: Vec<usize> = (0..all.rows.len()).filter(|&i| all.rows[i][j] == "bad").step_by(6).collect();
    let sheet = all.filter(|i, row| row[j] == "good" || bad.contains(&i));
    let counts = ["good", "bad"].map(|class| sheet.column("Class").iter().filter(|label| *label == class).count());
    assert_eq!(counts, [225, 21]);
    let weights = || String::from("balanced");
    let pairs: [(Box<dyn DynLearner>, Box<dyn DynLearner>); 2] = [
        (Box::new(Svm { class_weights: weights(), ..Svm::default() }), Box::new(Svm::default())),
        (Box::new(LinearSvm { class_weights: weights(), ..LinearSvm::default() }), Box::new(LinearSvm::default())),
    ];
    for (weighted, plain) in pairs {
        let name = plain.info().name;
        let [with, without] = [&weighted, &plain].map(|learner| cross_validated(&sheet, "Class", learner.as_ref(), 5));
        println!("{name}: {with:?} with weights, {without:?} without");
        assert!(with.loss < without.loss + 0.03 && with.loss < with.baseline, "{name}: {with:?} {without:?}");
    }
}

#[test]
fn the_label_is_the_class_with_the_largest_probability_whatever_classes_weigh() {
    let table = Sheet::read("ionosphere.csv").table();
    let labelled = table.labelled("Class", None).unwrap();
    for name in ["svm", "linear-svm"] {
        for weights in ["balanced", "bad=10", "good=10"] {
            let learner = method(name).unwrap().configure(&json!({"class_weights": weights})).unwrap();
            let model = quince::Model::fit(&labelled, None, learner.as_ref(), &Run::new()).unwrap();
            let prediction = model.predict(&table).unwrap();
            let probabilities = prediction.probabilities().unwrap();
            for (i, label) in prediction.labels().into_iter().enumerate() {
                assert!(probabilities[(i, label as usize)] >= 0.5, "{name}, {weights}, row {i}");
            }
        }
    }
}

#[test]
fn neighbours_of_clean_tables_are_not_smoothed_away() {
    for (file, target) in
        [("zoo.csv", "type"), ("glass.csv", "Type"), ("ionosphere.csv", "Class"), ("wine.csv", "cultivar")]
    {
        let table = Sheet::read(file).columns(|name| name != "name").table();
        let by = |smoothing| left_out(&table, target, &Knn { smoothing, ..Knn::default() });
        let (chosen, one_vote) = (by(Amount::Auto), by(Amount::Fixed(1.0)));
        println!("{file}: {chosen:?} by the best smoothing, {one_vote:?} by one vote");
        assert!(chosen.0 <= one_vote.0 + 1e-12 && chosen.1 > one_vote.1 - 0.02, "{file}: {chosen:?} {one_vote:?}");
    }
    // The neighbours are few: k is not driven to its limit.
    let zoo = Sheet::read("zoo.csv");
    let names: Vec<&str> = zoo.names[1..17].iter().map(String::as_str).collect();
    let (model, _) = fitted(&Knn::default(), &zoo.numbers(&names), &Target::labels(&zoo.column("type")));
    assert!(model.k() < 10, "{}", model.k());
}
