//! Answers in every format that is written, and models that come back from their files or leave the old one.

use crate::{Sheet, heart, parsed, trained};
use quince::bayes::NaiveBayes;
use quince::learn::Task;
use quince::registry::METHODS;
use quince::table::{OutputColumn, OutputFormat, OutputValues, gzip};
use quince::{Model, Run, Table};
use serde_json::json;

/// The answers for all animals.
fn answers() -> Vec<OutputColumn> {
    let table = Sheet::read("zoo.csv").table();
    let model = trained(&table, "type", &NaiveBayes::default());
    let answers = model.answers(&model.predict(&table).unwrap(), true, &[]).unwrap();
    answers.into_iter().map(OutputColumn::from).collect()
}

fn holds(table: &Table, columns: &[OutputColumn], name: &str) {
    assert_eq!((table.rows(), table.columns().len()), (101, columns.len()), "{name}");
    for (column, expected) in table.columns().iter().zip(columns) {
        assert_eq!(column.name(), expected.name, "{name}");
        for i in 0..table.rows() {
            match &expected.values {
                OutputValues::Numbers(numbers) => assert_eq!(column.number(i), Some(numbers[i]), "{name}, row {i}"),
                OutputValues::Texts(texts) => assert_eq!(column.text(i).as_deref(), texts[i].as_deref(), "{name}"),
                OutputValues::Arrow(_) => panic!("answers are numbers or texts"),
            }
        }
    }
}

#[test]
fn answers_are_the_same_in_every_format() {
    let columns = answers();
    assert_eq!(columns.len(), 8, "a label, and a probability of each of seven classes");
    for (format, name) in [
        (OutputFormat::Delimited, "zoo.csv"),
        (OutputFormat::Json, "zoo.json"),
        (OutputFormat::JsonLines, "zoo.jsonl"),
        (OutputFormat::Parquet, "zoo.parquet"),
        (OutputFormat::Arrow, "zoo.feather"),
    ] {
        let bytes = format.encode(columns.clone()).unwrap();
        if !matches!(format, OutputFormat::Parquet | OutputFormat::Arrow) {
            holds(&parsed(gzip(&bytes), &format!("{name}.gz")), &columns, name);
        }
        holds(&parsed(bytes, name), &columns, name);
    }
    let bytes = OutputFormat::Arrow.encode(columns.clone()).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    let batches: Vec<_> = reader.map(|batch| batch.unwrap()).collect();
    holds(&Table::try_from(&batches[..]).unwrap(), &columns, "zoo.arrow");
}

#[test]
fn models_of_extreme_numbers_come_back_or_leave_the_old_file() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("real_tables_extreme");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("m.quince");
    let old = trained(&heart().table(), "num", &NaiveBayes::default()).to_bytes();
    let (mut written, mut refused) = (0, 0);
    // Squares of these, or their sums, are infinite, or nothing.
    for power in ["e151", "e305", "e-305"] {
        let table = heart().map("chol", |cell| format!("{cell}{power}")).table().take(&(0..80).collect::<Vec<_>>());
        for method in METHODS {
            let groups = !method.info.learns(Task::Classification);
            let labelled = if groups {
                table.unsupervised(None, &["num"]).unwrap().labelled
            } else {
                table.labelled("num", None).unwrap()
            };
            let learner = method.configure(&json!({})).unwrap();
            let Ok(model) = Model::fit(&labelled, None, learner.as_ref(), &Run::new()) else { continue };
            std::fs::write(&path, &old).unwrap();
            match model.save(&path) {
                Ok(()) => {
                    let again = Model::load(&path).unwrap_or_else(|error| panic!("{}: {error}", method.info.name));
                    let both = (again.predict(&table), model.predict(&table));
                    assert!(both.0 == both.1, "{} {power}: {both:?}", method.info.name);
                    written += 1;
                }
                Err(_) => {
                    assert_eq!(std::fs::read(&path).unwrap(), old, "{}", method.info.name);
                    refused += 1;
                }
            }
        }
    }
    println!("{written} written, {refused} refused");
    assert!(written > METHODS.len());
}
