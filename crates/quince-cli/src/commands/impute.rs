//! `quince impute`: a table in, the same table with its holes filled out.

use crate::arguments::Impute;
use crate::input::{self, Session};
use crate::layout::Layout;
use crate::show;
use quince::model::Hole;
use quince::numbers::number_text;
use quince::registry;
use quince::table::Cells;
use quince::{Error, Kind, Model, Result, Table};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

pub fn run(options: &Impute, session: &Session) -> Result<()> {
    let inputs: Vec<_> = [Some(&options.table.table), options.model.as_ref()].into_iter().flatten().collect();
    let inputs: Vec<&std::path::Path> = inputs.into_iter().map(|path| path.as_path()).collect();
    for output in options.output.iter().chain(&options.holes) {
        input::check_output(output, &inputs)?;
    }
    if options.output.is_some() && options.output == options.holes {
        return Err(Error::Setting {
            name: "holes".into(),
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
    session.progress.stage("filling holes");
    let mut holes = session.run.finish(|| model.complete(&table, &session.run))?;
    if options.model.is_none() {
        holes.extend(constants(&table, &holes));
        holes.sort_by_key(|hole| hole.row);
    }
    session.run.check_cancelled()?;
    session.progress.finish();
    let layout = Layout::new(options.output.as_deref(), Some(&cells));
    let text = if session.json { as_json(&holes) } else { as_text(&cells, &table, &holes, layout)? };
    if let Some(path) = &options.holes {
        write(path, &list(&holes, Layout::new(Some(path), None)))?;
        session.say(&format!("what was filled in is listed in {}", path.display()));
    }
    match &options.output {
        None => show::print(&text),
        Some(path) => {
            write(path, &text)?;
            let what = if session.json { "the list of holes" } else { "the table" };
            session.say(&format!("{what} written to {}", path.display()));
        }
    }
    say_what_is_left(&table, &holes, session);
    Ok(())
}

fn write(path: &std::path::Path, text: &str) -> Result<()> {
    quince::model::replace_file(path, text.as_bytes()).map_err(|e| Error::file(path.display().to_string(), &e))
}

/// A mixture of the table itself.
fn learn(options: &Impute, table: &Table, session: &Session) -> Result<Model> {
    let entry = registry::method("mixture")?;
    let mut written = options.set.iter().map(|text| input::assignment(text)).collect::<Result<Vec<_>>>()?;
    input::add_families(entry, &options.family, &mut written)?;
    if let Some(k) = &options.k {
        written.push(("k".into(), k.clone()));
    }
    let learner = entry.configure(&input::settings(entry, &written)?)?;
    let groupable = table.groupable(options.weight.as_deref(), &[])?;
    groupable.notes.iter().for_each(|note| session.say(&format!("note: {note}")));
    session.progress.stage("learning a mixture");
    let model = Model::fit(&groupable.labelled, groupable.weights.as_deref(), learner.as_ref(), &session.run)?;
    session.say(&format!("learnt from the table itself: {}", model.report().route));
    model.report().remarks.iter().for_each(|remark| session.say(&format!("note: {remark}")));
    Ok(model)
}

/// What fills the holes of columns that the model says nothing of because most cells are known and all of these the same: that.
fn constants(table: &Table, filled: &[Hole]) -> Vec<Hole> {
    let mut found = Vec::new();
    for column in table.columns().iter().filter(|column| column.holes() > 0 && column.why_ignored() != "as asked") {
        let mut known = (0..table.rows()).filter_map(|i| column.text(i));
        let Some(value) = known.next() else { continue };
        let mostly = 2 * column.holes() < table.rows();
        if mostly && known.all(|other| other == value) && !filled.iter().any(|hole| hole.column == column.name()) {
            let (column_name, value) = (column.name().to_string(), value.into_owned());
            found.extend((0..table.rows()).filter(|&i| column.is_hole(i)).map(|row| Hole {
                row,
                column: column_name.clone(),
                value: value.clone(),
                deviation: None,
                probability: None,
            }));
        }
    }
    found
}

fn say_what_is_left(table: &Table, holes: &[Hole], session: &Session) {
    let filled = holes.len();
    let all: usize = table.columns().iter().map(|column| column.holes()).sum();
    let left: Vec<String> = table
        .columns()
        .iter()
        .filter(|column| column.holes() > 0 && !holes.iter().any(|hole| hole.column == column.name()))
        .map(|column| format!("'{}'", column.name()))
        .collect();
    session.say(&match filled {
        0 if all > 0 => "no hole was filled".to_string(),
        0 => "there is no hole to fill".to_string(),
        1 => "1 hole filled".to_string(),
        count => format!("{count} holes filled"),
    });
    if all > filled && !left.is_empty() {
        session.say(&format!("note: holes are left in {}, which the model says nothing of", left.join(", ")));
    }
}

/// The table as it was read, holes filled; answers and numbers are spelled as the table spells them.
fn as_text(cells: &Cells, table: &Table, holes: &[Hole], layout: Layout) -> Result<String> {
    let of_kind = |j: usize| table.column(&cells.names()[j]).map_or(Kind::Ignored, |column| column.kind());
    let mut commas = false;
    let mut spelling: HashMap<(usize, bool), String> = HashMap::new();
    let answers: Vec<usize> = (0..cells.names().len()).filter(|&j| of_kind(j) == Kind::YesNo).collect();
    let filled: HashSet<&str> = holes.iter().filter(|hole| hole.number().is_some()).map(|hole| &*hole.column).collect();
    let numbers: Vec<usize> = (0..cells.names().len()).filter(|&j| filled.contains(&*cells.names()[j])).collect();
    cells.each_row(table, |row| {
        for &j in &answers {
            if let Some(answer) = quince::table::kind::yes_or_no(row[j]) {
                spelling.entry((j, answer)).or_insert_with(|| row[j].to_string());
            }
        }
        commas |= numbers.iter().any(|&j| row[j].contains(','));
    })?;
    let place: HashMap<&str, usize> = cells.names().iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect();
    let mut text = layout.line(cells.names());
    let (mut i, mut next) = (0, holes.iter().peekable());
    cells.each_row(table, |row| {
        let mut line: Vec<String> = row.iter().map(|cell| (*cell).to_string()).collect();
        while let Some(hole) = next.next_if(|hole| hole.row == i) {
            let Some(&j) = place.get(hole.column.as_str()) else { continue };
            let spelled = || spelling.get(&(j, hole.value == "yes")).cloned();
            line[j] = match of_kind(j) {
                Kind::YesNo => spelled().unwrap_or_else(|| hole.value.clone()),
                _ if commas && hole.number().is_some() => hole.value.replace('.', ","),
                _ => hole.value.clone(),
            };
        }
        text += &layout.line(&line);
        i += 1;
    })?;
    Ok(text)
}

/// One line a hole.
fn list(holes: &[Hole], layout: Layout) -> String {
    let mut text = layout.line(["row", "column", "value", "deviation", "probability"]);
    for hole in holes {
        let number =
            |x: Option<f64>| x.map_or_else(String::new, |x| number_text(format!("{x:.4e}").parse().unwrap_or(x)));
        let row = (hole.row + 1).to_string();
        text += &layout.line([&row, &hole.column, &hole.value, &number(hole.deviation), &number(hole.probability)]);
    }
    text
}

fn as_json(holes: &[Hole]) -> String {
    let object = |hole: &Hole| {
        let value = hole.number().map_or_else(|| Value::from(hole.value.as_str()), show::json_number);
        let (row, column) = (hole.row + 1, &hole.column);
        json!({"row": row, "column": column, "value": value, "deviation": hole.deviation, "probability": hole.probability})
    };
    let objects: Vec<Value> = holes.iter().map(object).collect();
    serde_json::to_string_pretty(&objects).expect("cells are JSON") + "\n"
}
