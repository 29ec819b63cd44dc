//! `quince evaluate`: a saved model on a table whose target is known.

use crate::arguments::Evaluate;
use crate::input::Session;
use crate::show;
use quince::evaluate::{ConfusionMatrix, Evaluation, Roc, evaluate};
use quince::learn::{Prediction, Target, TargetView};
use quince::{Model, Result};
use serde_json::{Value, json};

pub fn run(options: &Evaluate, session: &Session) -> Result<()> {
    let model = Model::load(&options.model)?;
    let (_, table) = session.table_for(&model, &options.table, true)?;
    let (truth, rows) = model.truth(&table)?;
    let weights = options.weight.as_deref().map(|name| table.weights(name, &rows)).transpose()?;
    if rows.len() < table.rows() {
        let without = table.rows() - rows.len();
        session.say(&format!("note: {without} rows have no '{}' and are left out", model.target()));
    }
    session.progress.stage("predicting");
    let prediction = model.predict_with(&table.take(&rows), &session.run)?;
    let evaluation = evaluate(&truth, &prediction, weights.as_deref())?;
    let curves = if options.roc { curves(&truth, &prediction, weights.as_deref())? } else { Vec::new() };
    session.progress.finish();
    if session.json {
        let mut value = json!(evaluation);
        if let (Value::Object(object), true) = (&mut value, options.roc) {
            let curves: Vec<Value> = curves.iter().map(|(label, roc)| json!({"label": label, "roc": roc})).collect();
            object.insert("roc".into(), Value::Array(curves));
        }
        show::print_json(&value);
    } else {
        let by = if prediction.probabilities().is_some() { "probability from" } else { "margin from" };
        show::print(&as_text(&evaluation, &curves, by));
    }
    Ok(())
}

/// The curve of each class, with its label.
fn curves(truth: &Target, prediction: &Prediction, weights: Option<&[f64]>) -> Result<Vec<(String, Roc)>> {
    let TargetView::Classes { classes, .. } = truth.view() else { return Ok(Vec::new()) };
    let curves = Roc::of_classes(truth, prediction, weights)?;
    Ok(classes.names().iter().cloned().zip(curves).collect())
}

fn as_text(evaluation: &Evaluation, curves: &[(String, Roc)], by: &str) -> String {
    match evaluation {
        Evaluation::Regression { rows, rmse, mean_absolute_error, r2 } => {
            let line = |name: &str, value: f64| vec![name.to_string(), show::number(value)];
            let lines = [
                line("RMSE", *rmse),
                line("mean absolute error", *mean_absolute_error),
                vec!["R²".to_string(), r2.map_or("-".into(), show::number)],
            ];
            format!("{rows} rows\n\n{}", show::table(&["metric", "value"], &lines, 1..))
        }
        Evaluation::Classification { rows, accuracy, error_rate, log_loss, f1, area, confusion, classes } => {
            let mut text = format!(
                "{rows} rows\naccuracy {}, error rate {}, log loss {}, mean F1 {}, mean area under ROC {}\n\n",
                show::number(*accuracy),
                show::number(*error_rate),
                log_loss.map_or("-".into(), show::number),
                show::number(*f1),
                area.map_or("-".into(), show::number)
            );
            let lines: Vec<Vec<String>> = classes
                .iter()
                .map(|class| {
                    vec![
                        class.label.clone(),
                        show::short(class.rows),
                        show::number(class.precision),
                        show::number(class.recall),
                        show::number(class.f1),
                        class.area.map_or("-".into(), show::number),
                    ]
                })
                .collect();
            text += &show::table(&["class", "rows", "precision", "recall", "F1", "area under ROC"], &lines, 1..);
            text += "\nconfusion (rows: true class, columns: predicted; in brackets: share of the row)\n\n";
            text += &confusion_table(confusion);
            for (label, roc) in curves {
                let line = |k: usize| {
                    vec![
                        show::number(roc.thresholds[k]),
                        show::number(roc.false_positives[k]),
                        show::number(roc.true_positives[k]),
                    ]
                };
                let lines: Vec<Vec<String>> = (1..roc.thresholds.len()).map(line).collect();
                text += &format!("\nROC of '{label}'\n\n");
                text += &show::table(&[by, "false positives", "true positives"], &lines, ..);
            }
            text
        }
    }
}

fn confusion_table(confusion: &ConfusionMatrix) -> String {
    let names = confusion.classes().names();
    let mut header = vec![""];
    header.extend(names.iter().map(String::as_str));
    let shares = confusion.normalised_rows();
    let line = |(i, name): (usize, &String)| {
        let cell = |j: usize| format!("{} ({:.2})", show::short(confusion.counts()[i][j]), shares[i][j]);
        std::iter::once(name.clone()).chain((0..names.len()).map(cell)).collect()
    };
    let lines: Vec<Vec<String>> = names.iter().enumerate().map(line).collect();
    show::table(&header, &lines, 1..)
}
