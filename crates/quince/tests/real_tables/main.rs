//! What quince promises of tables as people have them, on real ones (`tests/data/README.md` says where they come from): labels and
//! new rows, probabilities, units, small classes. What is expected is counted here from the cells, or follows from algebra.

mod classes;
mod formats;
mod labels;
mod missing;
mod rows;
mod units;

use quince::evaluate::exact_leave_one_out;
use quince::learn::{DynLearner, Examples, Learner, Prediction, Target, TargetView, Task};
use quince::neighbours::Knn;
use quince::run::{Report, Stream};
use quince::table::{Cells, ReadOptions};
use quince::{Matrix, Model, Run, Table};

/// The cells of a table, as they are written in a file without quotes.
#[derive(Clone)]
struct Sheet {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    fn read(name: &str) -> Sheet {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains('"'), "cells are cut at commas");
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
        Sheet { names: lines.next().unwrap(), rows: lines.collect() }
    }

    fn csv(&self) -> String {
        let lines = std::iter::once(&self.names).chain(&self.rows).map(|cells| cells.join(",") + "\n");
        lines.collect()
    }

    fn table(&self) -> Table {
        Table::from_csv(&self.csv()).unwrap()
    }

    fn place(&self, name: &str) -> usize {
        self.names.iter().position(|other| other == name).unwrap()
    }

    /// The cells of a column.
    fn column(&self, name: &str) -> Vec<String> {
        let j = self.place(name);
        self.rows.iter().map(|row| row[j].clone()).collect()
    }

    /// With other texts in a column.
    fn map(mut self, name: &str, text: impl Fn(&str) -> String) -> Sheet {
        let j = self.place(name);
        self.rows.iter_mut().for_each(|row| row[j] = text(&row[j]));
        self
    }

    /// The rows of which this is true.
    fn filter(mut self, keep: impl Fn(usize, &[String]) -> bool) -> Sheet {
        let rows = std::mem::take(&mut self.rows).into_iter().enumerate();
        self.rows = rows.filter(|(i, row)| keep(*i, row)).map(|(_, row)| row).collect();
        self
    }

    /// The columns of which this is true.
    fn columns(mut self, keep: impl Fn(&str) -> bool) -> Sheet {
        let kept: Vec<usize> = (0..self.names.len()).filter(|&j| keep(&self.names[j])).collect();
        let some = |cells: &Vec<String>| kept.iter().map(|&j| cells[j].clone()).collect::<Vec<_>>();
        self.rows = self.rows.iter().map(some).collect();
        self.names = some(&self.names);
        self
    }

    /// With this fraction of all cells taken out, but for one column.
    fn with_missing(mut self, fraction: f64, but: &str) -> Sheet {
        let (but, mut stream) = (self.place(but), Stream::new(23, 0));
        for (j, cell) in self.rows.iter_mut().flat_map(|row| row.iter_mut().enumerate()) {
            if stream.uniform() < fraction && j != but {
                *cell = "?".into();
            }
        }
        self
    }

    /// Columns as numbers; a missing value is not a number.
    fn numbers(&self, names: &[&str]) -> Matrix {
        let places: Vec<usize> = names.iter().map(|name| self.place(name)).collect();
        let number = |cell: &String| if cell == "?" { f64::NAN } else { cell.parse().unwrap() };
        let values = self.rows.iter().flat_map(|row| places.iter().map(|&j| number(&row[j]))).collect();
        Matrix::new(self.rows.len(), names.len(), values).unwrap()
    }
}

/// Heart disease, yes or no.
fn heart() -> Sheet {
    Sheet::read("heart.csv").map("num", |cell| if cell == "0" { "healthy" } else { "sick" }.into())
}

/// A table from text in the format that its name says.
fn parsed(bytes: impl Into<Vec<u8>>, name: &str) -> Table {
    let options = ReadOptions::default();
    Cells::parse(bytes.into(), name, &options, &Run::new()).unwrap().table(&options, &Run::new()).unwrap()
}

/// A classifier of a table.
fn trained(table: &Table, target: &str, learner: &dyn DynLearner) -> Model {
    let labelled = table.labelled(target, Some(Task::Classification)).unwrap();
    Model::fit(&labelled, None, learner, &Run::new()).unwrap()
}

/// The mean of -ln p(class of the row).
fn log_loss(probabilities: &Matrix, classes: &[String], truth: &[String]) -> f64 {
    assert_eq!((probabilities.rows(), probabilities.columns()), (truth.len(), classes.len()));
    let loss = |(i, label): (usize, &String)| {
        assert!((probabilities.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", probabilities.row(i));
        -probabilities[(i, classes.iter().position(|class| class == label).unwrap())].ln()
    };
    truth.iter().enumerate().map(loss).sum::<f64>() / truth.len() as f64
}

/// The fraction of labels that are right.
fn accuracy(said: &[String], truth: &[String]) -> f64 {
    said.iter().zip(truth).filter(|(said, truth)| said == truth).count() as f64 / truth.len() as f64
}

/// How good answers for rows are that a model has not seen.
#[derive(Clone, Copy, Debug)]
struct Judgement {
    loss: f64,
    accuracy: f64,
    /// The log loss of the frequencies of the classes.
    baseline: f64,
}

/// Model and baseline from some rows, judged by others.
fn judged(train: &Sheet, test: &Sheet, target: &str, learner: &dyn DynLearner) -> Judgement {
    let (model, table) = (trained(&train.table(), target, learner), test.table());
    let (known, truth) = (train.column(target), test.column(target));
    let probabilities = model.probabilities(&table).unwrap();
    let frequency = |label: &String| known.iter().filter(|other| *other == label).count() as f64 / known.len() as f64;
    Judgement {
        loss: log_loss(&probabilities, model.classes().unwrap().names(), &truth),
        accuracy: accuracy(&model.labels::<String>(&table).unwrap(), &truth),
        baseline: truth.iter().map(|label| -frequency(label).ln()).sum::<f64>() / truth.len() as f64,
    }
}

/// The mean over folds, of which each has every such row.
fn cross_validated(sheet: &Sheet, target: &str, learner: &dyn DynLearner, folds: usize) -> Judgement {
    let fold = |k: usize| {
        let train = sheet.clone().filter(|i, _| i % folds != k);
        judged(&train, &sheet.clone().filter(|i, _| i % folds == k), target, learner)
    };
    let found: Vec<Judgement> = (0..folds).map(fold).collect();
    let mean = |of: fn(&Judgement) -> f64| found.iter().map(of).sum::<f64>() / folds as f64;
    Judgement { loss: mean(|one| one.loss), accuracy: mean(|one| one.accuracy), baseline: mean(|one| one.baseline) }
}

/// Loss and accuracy of nearest neighbours, each row by the others.
fn left_out(table: &Table, target: &str, knn: &Knn) -> (f64, f64) {
    let labelled = table.labelled(target, None).unwrap();
    let said = exact_leave_one_out(&labelled, None, knn, &Run::new()).unwrap().unwrap();
    let TargetView::Classes { classes, codes } = labelled.target.view() else { panic!("classes") };
    let named = |codes: &[u32]| codes.iter().map(|&code| classes.names()[code as usize].clone()).collect::<Vec<_>>();
    let Prediction::Classes { probabilities, .. } = &said else { panic!("classes") };
    (log_loss(probabilities, classes.names(), &named(codes)), accuracy(&named(&said.labels()), &named(codes)))
}

/// A method fitted to rows of numbers.
fn fitted<L: Learner>(learner: &L, rows: &Matrix, target: &Target) -> (L::Fitted, Report) {
    learner.fit_examples(&Examples::new(rows.features(), target, None).unwrap(), &Run::new()).unwrap()
}
