//! Tables in which many cells are missing, and rows without a class.

use crate::{Sheet, accuracy, cross_validated, heart, left_out, log_loss};
use quince::bayes::GaussianClassifier;
use quince::evaluate::{Contestants, Folds, Metric, compare};
use quince::learn::DynLearner;
use quince::mixture::Mixture;
use quince::neighbours::{Knn, MissingRule};
use quince::registry::Registry;
use quince::{Model, Run, Table};

/// Tables of two classes, with these targets.
fn two_classes() -> [(&'static str, Sheet, &'static str); 2] {
    [("heart", heart(), "num"), ("credit", Sheet::read("credit.csv"), "A16")]
}

#[test]
fn a_gaussian_classifier_of_many_missing_values_is_no_worse_than_the_baseline() {
    for (name, sheet, target) in two_classes() {
        for fraction in [0.2, 0.5] {
            let sheet = sheet.clone().with_missing(fraction, target);
            let found = cross_validated(&sheet, target, &GaussianClassifier::default(), 5);
            println!("{name}, {fraction} missing: {found:?}");
            assert!(found.loss < found.baseline && found.accuracy > 0.6, "{name}, {fraction}: {found:?}");
        }
    }
}

/// The log loss of every method by folds.
fn losses(table: &Table, target: &str, folds: &Folds, learners: &[Box<dyn DynLearner>]) -> Vec<(String, f64)> {
    let labelled = table.labelled(target, None).unwrap();
    let board = compare(&labelled, learners, folds, None, None, &Run::new()).unwrap();
    let loss = |entrant: &quince::evaluate::Entrant| {
        let loss = entrant.metric(Metric::LogLoss).unwrap_or_else(|| panic!("{entrant:?}"));
        (entrant.method.clone(), loss.mean)
    };
    board.entrants.iter().map(loss).collect()
}

#[test]
fn what_leave_one_out_says_of_missing_values_is_within_sight_of_folds() {
    let learners: Vec<Box<dyn DynLearner>> = vec![Box::new(GaussianClassifier::default())];
    for fraction in [0.0, 0.4] {
        let sheet = heart().columns(|name| !["ca", "thal"].contains(&name)).with_missing(fraction, "num");
        let table = sheet.filter(|i, _| i < 80).table();
        let by_rows = losses(&table, "num", &Folds::LeaveOneOut, &learners)[0].1;
        let by_folds = losses(&table, "num", &Folds::K(10), &learners)[0].1;
        println!("{fraction} missing: {by_rows} by rows, {by_folds} by folds");
        assert!((by_rows - by_folds).abs() < 0.1, "{fraction}: {by_rows} {by_folds}");
    }
}

#[test]
fn no_method_is_worse_than_the_baseline_where_a_third_of_the_cells_is_missing() {
    let zoo = Sheet::read("zoo.csv").columns(|name| name != "name");
    let tables = two_classes().into_iter().chain([("zoo", zoo, "type")]);
    for (name, sheet, target) in tables {
        let table = sheet.with_missing(1.0 / 3.0, target).table();
        let labelled = table.labelled(target, None).unwrap();
        let contestants = Contestants::of(&Registry::standard(), &labelled.target);
        let found = losses(&table, target, &Folds::K(4), &contestants.learners().unwrap());
        println!("{name}: {found:?}");
        let baseline = found.iter().find(|(method, _)| method == "baseline").unwrap().1;
        for (method, loss) in &found {
            assert!(*loss <= baseline, "{name}: {method} has {loss}, the baseline {baseline}");
        }
        assert!(found.iter().any(|(method, _)| method == "mixture"), "{found:?}");
    }
}

#[test]
fn rows_without_a_class_do_no_harm() {
    let ionosphere = Sheet::read("ionosphere.csv");
    for (name, sheet, target) in two_classes().into_iter().chain([("ionosphere", ionosphere, "Class")]) {
        let truth = sheet.column(target);
        let step = truth.len() / 40;
        let known: Vec<usize> = (0..truth.len()).filter(|i| i % step == 0).collect();
        let new: Vec<usize> = (0..truth.len()).filter(|i| i % step != 0).collect();
        let mut few = sheet.clone();
        let j = few.place(target);
        new.iter().for_each(|&i| few.rows[i][j] = "?".into());
        let table = few.table();
        let judge = |unlabelled: bool| {
            let set = table.supervised(target, None, None, None, unlabelled).unwrap();
            assert_eq!(set.labelled.target.rows(), if unlabelled { truth.len() } else { known.len() });
            let model = Model::fit(&set.labelled, None, &Mixture::default(), &Run::new()).unwrap();
            let (rows, truth) = (table.take(&new), new.iter().map(|&i| truth[i].clone()).collect::<Vec<_>>());
            let loss = log_loss(&model.probabilities(&rows).unwrap(), model.classes().unwrap().names(), &truth);
            (loss, accuracy(&model.labels::<String>(&rows).unwrap(), &truth))
        };
        let (with, alone) = (judge(true), judge(false));
        println!("{name}: {with:?} with rows without a class, {alone:?} from {} labels alone", known.len());
        // Two standard errors of a difference of two such fractions.
        let chance = 2.0 * (2.0 * alone.1 * (1.0 - alone.1) / new.len() as f64).sqrt();
        assert!(with.0 < alone.0 + 0.03 && with.1 > alone.1 - chance, "{name}: {with:?} {alone:?}");
    }
}

#[test]
fn neighbours_choose_the_rule_for_missing_cells_of_categories() {
    let credit = Sheet::read("credit.csv").with_missing(0.3, "A16");
    for (sheet, target) in [(credit, "A16"), (Sheet::read("votes.csv"), "Class")] {
        let by = |missing| left_out(&sheet.table(), target, &Knn { missing, ..Knn::default() });
        let (auto, rules) = (by(MissingRule::Auto), [by(MissingRule::LeftOut), by(MissingRule::Indicator)]);
        assert_eq!(auto.0, rules[0].0.min(rules[1].0), "{target}");
        // Cells of categories that say that they are missing are categories like any other.
        let mut told = sheet.clone();
        for j in 0..told.names.len() {
            if told.rows.iter().any(|row| row[j] != "?" && row[j].parse::<f64>().is_err()) {
                let name = told.names[j].clone();
                told = told.map(&name, |cell| if cell == "?" { "none" } else { cell }.into());
            }
        }
        let told = left_out(&told.table(), target, &Knn::default());
        println!("{target}: {auto:?}, told {told:?}, by each rule {rules:?}");
        assert!(auto.1 > told.1 - 0.02, "{target}: {auto:?} {told:?}");
    }
}
