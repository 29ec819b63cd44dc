//! `quince impute`: a table in, the same table out, with its missing values imputed.

use crate::arguments::Impute;
use crate::commands::predict::{keep_types, read_columns, say_what_is_changed, say_what_is_left_out};
use crate::destination::Destination;
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::model::ImputedCell;
use quince::numbers::number_text;
use quince::registry;
use quince::table::{Cells, OutputColumn, OutputValues};
use quince::{Error, Kind, Model, Result, Table};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

pub fn run(options: &Impute, session: &Session) -> Result<()> {
    let inputs: Vec<_> = [Some(&options.table.table), options.model.as_ref()].into_iter().flatten().collect();
    let inputs: Vec<&std::path::Path> = inputs.into_iter().map(|path| path.as_path()).collect();
    let output = Destination::new(&options.output, &inputs)?.for_json(session.json)?;
    let list_of_filled = options.filled.as_ref().map(|_| Destination::new(&options.filled, &inputs)).transpose()?;
    if output.path().is_some() && output.path() == options.filled.as_deref() {
        return Err(Error::Setting {
            name: "filled".into(),
            problem: "is the file that the table goes to".into(),
            remedy: "Give each a file of its own.".into(),
        });
    }
    let (model, cells, table) = match &options.model {
        Some(path) => {
            let model = Model::load(path)?;
            let (cells, table) = session.table_for(&model, &options.table, true)?;
            (model, cells, table)
        }
        None => {
            let (cells, table) = session.cells_and_table(&options.table, &options.kinds)?;
            (learn(options, &table, session)?, cells, table)
        }
    };
    session.progress.stage("imputing missing values");
    let filled = session.run.finish(|| match &options.model {
        Some(_) => model.impute(&table, &session.run),
        None => model.impute_all(&table, &session.run),
    })?;
    session.run.check_cancelled()?;
    session.progress.finish();
    if let Some(list) = &list_of_filled {
        match list.is_delimited() {
            true => list.write_text(&as_list(&filled, Layout::new(list.path(), None)))?,
            false => list.write_columns(list_columns(&filled))?,
        }
        if let Some(path) = list.path() {
            session.say(&format!("what was filled in is listed in {}", path.display()));
        }
    }
    if session.json {
        output.write_text(&as_json(&filled))?;
    } else {
        say_what_is_left_out(&cells, session);
        write_table(&output, &cells, &table, &filled, session)?;
    }
    if let Some(path) = output.path() {
        let what = if session.json { "the list of filled values" } else { "the table" };
        session.say(&format!("{what} written to {}", path.display()));
    }
    say_what_is_left(&table, &filled, session);
    Ok(())
}

/// A mixture of the table itself.
fn learn(options: &Impute, table: &Table, session: &Session) -> Result<Model> {
    let method = registry::method("mixture")?;
    let mut written = input::written_settings(method, &options.set, &options.family)?;
    if let Some(k) = &options.k {
        written.push(("k".into(), k.clone()));
    }
    let learner = method.configure(&input::settings(method, &written)?)?;
    let unsupervised = table.unsupervised(options.weight.as_deref(), &[])?;
    unsupervised.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    session.progress.stage("learning a mixture");
    let model = Model::fit(&unsupervised.labelled, unsupervised.weights.as_deref(), learner.as_ref(), &session.run)?;
    session.say(&format!("learnt from the table itself: {}", model.report().route));
    model.report().remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
    Ok(model)
}

fn say_what_is_left(table: &Table, filled: &[ImputedCell], session: &Session) {
    let all: usize = table.columns().iter().map(|column| column.missing_count()).sum();
    let left: Vec<String> = table
        .columns()
        .iter()
        .filter(|column| column.missing_count() > 0 && !filled.iter().any(|cell| cell.column == column.name()))
        .map(|column| format!("'{}'", column.name()))
        .collect();
    session.say(&match filled.len() {
        0 if all > 0 => "no missing value was filled".to_string(),
        0 => "there is no missing value to fill".to_string(),
        1 => "1 missing value filled".to_string(),
        count => format!("{count} missing values filled"),
    });
    if all > filled.len() && !left.is_empty() {
        session.say(&format!("note: missing values are left in {}, which the model does not cover", left.join(", ")));
    }
}

/// The table as it was read, missing values filled.
fn write_table(
    output: &Destination<'_>,
    cells: &Cells,
    table: &Table,
    filled: &[ImputedCell],
    session: &Session,
) -> Result<()> {
    let spelled = spelled(cells, table, filled)?;
    if !output.is_delimited() {
        let shown: Vec<usize> = (0..cells.names().len()).filter(|&j| cells.why_not_read(j).is_none()).collect();
        let mut columns = read_columns(cells, table, &shown)?;
        let place: HashMap<usize, usize> = shown.iter().enumerate().map(|(k, &j)| (j, k)).collect();
        let changed: HashSet<usize> = spelled.iter().map(|&(_, j, _)| j).collect();
        if output.is_arrow() {
            keep_types(cells, &shown, &mut columns, |j| !changed.contains(&j));
        }
        for (i, j, text) in spelled {
            match &mut columns[place[&j]].values {
                OutputValues::Numbers(numbers) => numbers[i] = text.replace(',', ".").parse().unwrap_or(f64::NAN),
                OutputValues::Texts(texts) => texts[i] = Some(text),
                OutputValues::Arrow(_) => {}
            }
        }
        return output.write_columns(columns);
    }
    let layout = Layout::new(output.path(), Some(cells));
    // In the layout of the file itself, everything but the filled cells stays as it was, to the byte.
    if let Some(text) = cells.with_cells(spelled.clone()).filter(|_| cells.delimiter() == Some(layout.delimiter())) {
        return output.write(&text?);
    }
    say_what_is_changed(cells, table, layout, session)?;
    let shown = |j: &usize| cells.why_not_read(*j).is_none();
    let mut text = layout.line((0..cells.names().len()).filter(shown).map(|j| &cells.names()[j]));
    let (mut i, mut next) = (0, spelled.into_iter().peekable());
    cells.each_row(table, |row| {
        let mut line: Vec<String> = row.iter().map(|cell| (*cell).to_string()).collect();
        while let Some((_, j, text)) = next.next_if(|cell| cell.0 == i) {
            line[j] = text;
        }
        text += &layout.line(line.iter().enumerate().filter(|(j, _)| shown(j)).map(|(_, cell)| cell));
        i += 1;
    })?;
    output.write_text(&text)
}

/// Row, column and text of each filled cell, in order; answers and numbers are spelled as the table spells them.
fn spelled(cells: &Cells, table: &Table, filled: &[ImputedCell]) -> Result<Vec<(usize, usize, String)>> {
    let of_kind = |j: usize| table.column(&cells.names()[j]).map_or(Kind::Ignored, |column| column.kind());
    let mut commas = false;
    let mut spelling: HashMap<(usize, bool), String> = HashMap::new();
    let answers: Vec<usize> = (0..cells.names().len()).filter(|&j| of_kind(j) == Kind::YesNo).collect();
    let with_numbers: HashSet<&str> =
        filled.iter().filter(|cell| cell.number().is_some()).map(|cell| &*cell.column).collect();
    let numbers: Vec<usize> = (0..cells.names().len()).filter(|&j| with_numbers.contains(&*cells.names()[j])).collect();
    cells.each_row(table, |row| {
        for &j in &answers {
            if let Some(answer) = quince::table::kind::yes_or_no(row[j]) {
                spelling.entry((j, answer)).or_insert_with(|| row[j].to_string());
            }
        }
        commas |= numbers.iter().any(|&j| row[j].contains(','));
    })?;
    let place: HashMap<&str, usize> = cells.names().iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    let text = |cell: &ImputedCell| {
        let j = *place.get(cell.column.as_str())?;
        let spelled = || spelling.get(&(j, cell.value == "yes")).cloned();
        let text = match of_kind(j) {
            Kind::YesNo => spelled().unwrap_or_else(|| cell.value.clone()),
            _ if commas && cell.number().is_some() => cell.value.replace('.', ","),
            _ => cell.value.clone(),
        };
        Some((cell.row, j, text))
    };
    let mut spelled: Vec<(usize, usize, String)> = filled.iter().filter_map(text).collect();
    spelled.sort_by_key(|&(i, j, _)| (i, j));
    Ok(spelled)
}

/// The filled values as columns of a file.
fn list_columns(filled: &[ImputedCell]) -> Vec<OutputColumn> {
    let texts =
        |of: fn(&ImputedCell) -> String| OutputValues::Texts(filled.iter().map(|cell| Some(of(cell))).collect());
    let numbers = |of: fn(&ImputedCell) -> Option<f64>| {
        OutputValues::Numbers(filled.iter().map(|cell| of(cell).unwrap_or(f64::NAN)).collect())
    };
    let columns = [
        ("row", numbers(|cell| Some((cell.row + 1) as f64))),
        ("column", texts(|cell| cell.column.clone())),
        ("value", texts(|cell| cell.value.clone())),
        ("standard_deviation", numbers(|cell| cell.standard_deviation)),
        ("probability", numbers(|cell| cell.probability)),
    ];
    columns.map(|(name, values)| OutputColumn { name: name.into(), values }).into()
}

/// One line per filled value.
fn as_list(filled: &[ImputedCell], layout: Layout) -> String {
    let mut text = layout.line(["row", "column", "value", "standard_deviation", "probability"]);
    for cell in filled {
        let number =
            |x: Option<f64>| x.map_or_else(String::new, |x| number_text(format!("{x:.4e}").parse().unwrap_or(x)));
        let row = (cell.row + 1).to_string();
        text += &layout.line([
            &row,
            &cell.column,
            &cell.value,
            &number(cell.standard_deviation),
            &number(cell.probability),
        ]);
    }
    text
}

fn as_json(filled: &[ImputedCell]) -> String {
    let object = |cell: &ImputedCell| {
        let value = cell.number().map_or_else(|| Value::from(cell.value.as_str()), show::json_number);
        let (row, column) = (cell.row + 1, &cell.column);
        json!({"row": row, "column": column, "value": value, "standard_deviation": cell.standard_deviation, "probability": cell.probability})
    };
    let objects: Vec<Value> = filled.iter().map(object).collect();
    show::json(&objects)
}
