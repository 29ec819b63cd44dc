//! What is in a column of words, and what is left out of a table.

use crate::{Sheet, fitted, trained};
use quince::bayes::{Families, NaiveBayes};
use quince::learn::{Count, Target};
use quince::mixture::{Mixture, MixtureModel};
use quince::table::{Cells, ReadOptions};
use quince::{Kind, Model, Run};
use std::collections::BTreeSet;

#[test]
fn components_of_names_of_cars_share_them() {
    let names = Sheet::read("auto_mpg.csv").columns(|name| name == "car_name").table();
    assert_eq!(names.column("car_name").unwrap().kind(), Kind::Text);
    let all = names.unsupervised(None, &[]).unwrap().labelled;
    for k in [2, 3] {
        let model = Model::fit(&all, None, &Mixture::new(k), &Run::new()).unwrap();
        let weights = model.fitted::<MixtureModel>().unwrap().weights();
        assert!(weights.len() == k && weights.iter().all(|weight| *weight > 0.05), "{weights:?}");
    }
}

#[test]
fn what_is_left_out_of_a_table_is_named_with_the_reason() {
    let zoo = Sheet::read("zoo.csv").table();
    let set = zoo.supervised("type", None, None, None, false).unwrap();
    assert_eq!(set.notes, ["'name' is ignored: most rows have a value of their own"]);
    let ionosphere = Sheet::read("ionosphere.csv").table();
    // The second column of this table is zero in every row.
    let set = ionosphere.supervised("Class", None, None, None, false).unwrap();
    assert_eq!(set.notes, ["'V2' is ignored: constant"]);
}

#[test]
fn two_groups_of_cars_are_found_whatever_the_rows_are_numbered() {
    // Light cars with four cylinders, heavy ones with eight.
    let cars = Sheet::read("auto_mpg.csv").filter(|_, row| ["4", "8"].contains(&row[1].as_str()));
    let rows = cars.numbers(&["displacement", "weight"]);
    let (model, _) = fitted(&Mixture { k: Count::Fixed(2), ..Mixture::default() }, &rows, &Target::none(rows.rows()));
    let responsibilities = model.responsibilities(&rows.features(), &Run::new()).unwrap();
    let first = |i: usize| responsibilities[(i, 0)] > 0.5;
    let eights: Vec<usize> = (0..rows.rows()).filter(|&i| cars.rows[i][1] == "8").collect();
    let fours: Vec<usize> = (0..rows.rows()).filter(|&i| cars.rows[i][1] == "4").collect();
    let share = |rows: &[usize]| rows.iter().filter(|&&i| first(i)).count() as f64 / rows.len() as f64;
    assert!((share(&eights) - share(&fours)).abs() > 0.95, "{} {}", share(&eights), share(&fours));
}

/// Cars by their makes, of which every tenth row has an empty text.
fn makes() -> Sheet {
    let letters = |cell: &str| cell.chars().filter(char::is_ascii_lowercase).collect::<String>();
    let make = |cell: &str| format!("car {}", letters(cell.split(' ').next().unwrap()));
    let mut sheet = Sheet::read("auto_mpg.csv").columns(|name| ["origin", "car_name"].contains(&name));
    sheet = sheet.map("car_name", make).map("origin", |cell| if cell == "1" { "home" } else { "abroad" }.into());
    sheet.rows.iter_mut().step_by(10).for_each(|row| row[1].clear());
    sheet
}

#[test]
fn an_empty_text_is_a_document_without_words_and_no_missing_value() {
    let sheet = makes();
    let text = |csv: &str| {
        let kinds = vec![("car_name".to_string(), Kind::Text)];
        let encode = vec![("car_name".to_string(), "presence,least=1".to_string())];
        let options = ReadOptions { kinds, encode, ..ReadOptions::default() };
        let mut cells = Cells::parse(csv.as_bytes().to_vec(), "cars.csv", &options, &Run::new()).unwrap();
        cells.table(&options, &Run::new()).unwrap()
    };
    let bernoulli = NaiveBayes::new().family("bernoulli".parse::<Families>().unwrap()).calibrate(false);
    let model = trained(&text(&sheet.csv()), "origin", &bernoulli);
    // Counted here: a word that is not there says something, and a text that is not known says nothing.
    let words: BTreeSet<&str> = sheet.rows.iter().flat_map(|row| row[1].split_whitespace()).collect();
    let [abroad, home] = ["abroad", "home"].map(|class| {
        let rows: Vec<&Vec<String>> = sheet.rows.iter().filter(|row| row[0] == class).collect();
        let n = rows.len() as f64;
        let with = |word: &str| rows.iter().filter(|row| row[1].split(' ').any(|other| other == word)).count() as f64;
        (n, n * words.iter().map(|word| 1.0 - (with(word) + 1.0) / (n + 2.0)).product::<f64>())
    });
    let found = model.probabilities(&text("car_name\n\"\"\nzzz\n?\n")).unwrap();
    let (empty, missing) = (home.1 / (home.1 + abroad.1), home.0 / (home.0 + abroad.0));
    for (i, expected) in [empty, empty, missing].into_iter().enumerate() {
        assert!((found[(i, 1)] - expected).abs() < 1e-9, "row {i}: {} is not {expected}", found[(i, 1)]);
    }
    assert!((empty - missing).abs() > 0.01, "{empty} {missing}");
}
