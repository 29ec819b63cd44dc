//! `quince predict`: a table in, the same table with predictions out.

use crate::arguments::Predict;
use crate::destination::Destination;
use crate::input::Session;
use crate::layout::Layout;
use crate::show;
use quince::learn::{LabelType, Task};
use quince::model::AnswerColumn;
use quince::numbers::loses_digits;
use quince::table::{Cells, Column, OutputColumn, OutputValues};
use quince::{Model, Result, Table};

pub fn run(options: &Predict, session: &Session) -> Result<()> {
    let output = Destination::new(&options.output, &[&options.model, &options.table.table])?.for_json(session.json)?;
    let model = Model::load(&options.model)?;
    let (cells, table) = session.table_for(&model, &options.table, false)?;
    session.progress.stage("predicting");
    let added = if model.task() == Task::Clustering {
        let columns = AnswerColumn::of_members(model.members(&table, &session.run)?);
        columns.into_iter().map(|column| column.beside(cells.names())).collect()
    } else {
        let prediction = model.predict_with(&table, &session.run)?;
        model.answers(&prediction, !options.no_probabilities, cells.names())?
    };
    session.progress.finish();
    // Whoever predicts a folder wants to know about its files, and has their texts and pixels already.
    let folder = options.table.table.is_dir();
    let shows = |&j: &usize| !folder || matches!(cells.names()[j].as_str(), "label" | "file");
    let shown: Vec<usize> =
        (0..cells.names().len()).filter(shows).filter(|&j| cells.why_not_read(j).is_none()).collect();
    if session.json {
        output.write_text(&show::json(&AnswerColumn::objects(&added)))?;
    } else if output.is_delimited() {
        let layout = Layout::new(output.path(), Some(&cells));
        say_what_is_left_out(&cells, session);
        say_what_is_changed(&cells, &table, layout, session)?;
        output.write_text(&as_text(&cells, &table, &shown, &added, layout)?)?;
    } else {
        let mut columns = read_columns(&cells, &table, &shown)?;
        if output.is_arrow() {
            keep_types(&cells, &shown, &mut columns, |_| true);
        }
        say_what_is_left_out(&cells, session);
        let typed = |column| if output.is_arrow() { with_typed_labels(column, &model) } else { column };
        columns.extend(added.into_iter().map(OutputColumn::from).map(typed));
        output.write_columns(columns)?;
    }
    if let Some(path) = output.path() {
        session.say(&format!("{} predictions written to {}", cells.rows(), path.display()));
    }
    Ok(())
}

/// A column of answers, whose labels are numbers if they were numbers in training and lose no digit as such.
fn with_typed_labels(mut column: OutputColumn, model: &Model) -> OutputColumn {
    let is_number = |label_type| matches!(label_type, LabelType::Integers | LabelType::Numbers);
    let of_numbers = model.classes().is_some_and(|classes| is_number(classes.label_type()));
    if let OutputValues::Texts(labels) = &column.values {
        let number = |label: &Option<String>| label.as_ref().filter(|label| !loses_digits(label))?.parse().ok();
        if let Some(numbers) = labels.iter().map(number).collect::<Option<Vec<f64>>>().filter(|_| of_numbers) {
            column.values = OutputValues::Numbers(numbers);
        }
    }
    column
}

/// Says which columns a file has that are not read, and so not written either.
pub fn say_what_is_left_out(cells: &Cells, session: &Session) {
    for (j, name) in cells.names().iter().enumerate() {
        if let Some(why) = cells.why_not_read(j) {
            session.say(&format!("note: '{name}' is left out of what is written: {why}"));
        }
    }
}

/// Says how many cells are not written as they were read.
pub fn say_what_is_changed(cells: &Cells, table: &Table, layout: Layout, session: &Session) -> Result<()> {
    let mut changed = 0;
    cells.each_row(table, |row| changed += row.iter().filter(|cell| layout.changes(cell)).count())?;
    if changed > 0 {
        let cells = if changed == 1 { "1 cell has".to_string() } else { format!("{changed} cells have") };
        session.say(&format!(
            "note: {cells} tabs or line breaks, which are written as spaces between tabs; a .csv file keeps them"
        ));
    }
    Ok(())
}

/// Of a file of Arrow columns: those that are wanted are written with their own types.
pub fn keep_types(cells: &Cells, shown: &[usize], columns: &mut [OutputColumn], wanted: impl Fn(usize) -> bool) {
    for (&j, column) in shown.iter().zip(columns).filter(|(j, _)| wanted(**j)) {
        if let Some(values) = cells.as_written(j) {
            column.values = values;
        }
    }
}

/// Columns of a table that was read, to be written: numbers as numbers, everything else as it was spelled.
pub fn read_columns(cells: &Cells, table: &Table, shown: &[usize]) -> Result<Vec<OutputColumn>> {
    let columns: Vec<Option<&Column>> = shown.iter().map(|&j| table.column(&cells.names()[j]).ok()).collect();
    let numbers = |column: &Option<&Column>| {
        let column = column.filter(|column| column.rows() == cells.rows());
        column.and_then(Column::numbers_to_write)
    };
    let mut values: Vec<OutputValues> = columns
        .iter()
        .map(|column| numbers(column).map_or_else(|| OutputValues::Texts(Vec::new()), OutputValues::Numbers))
        .collect();
    let mut i = 0;
    cells.each_row(table, |row| {
        for ((values, column), &j) in values.iter_mut().zip(&columns).zip(shown) {
            if let OutputValues::Texts(texts) = values {
                // Without the spaces around them, as they are read.
                let text = row[j].trim();
                let missing = text.is_empty() || column.is_some_and(|column| column.is_missing(i));
                texts.push((!missing).then(|| text.to_string()));
            }
        }
        i += 1;
    })?;
    let name = |&j: &usize| cells.names()[j].clone();
    Ok(shown.iter().map(name).zip(values).map(|(name, values)| OutputColumn { name, values }).collect())
}

/// The columns of the table that are shown, and those that are added.
fn as_text(cells: &Cells, table: &Table, shown: &[usize], added: &[AnswerColumn], layout: Layout) -> Result<String> {
    let names = shown.iter().map(|&j| &cells.names()[j]).chain(added.iter().map(|column| &column.name));
    let mut text = layout.line(names);
    let mut i = 0;
    cells.each_row(table, |row| {
        let old = shown.iter().map(|&j| row[j].to_string());
        let new = added.iter().map(|column| column.values.text(i));
        text += &layout.line(old.chain(new));
        i += 1;
    })?;
    Ok(text)
}
