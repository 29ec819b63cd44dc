//! `quince describe`: what a table holds.

use crate::arguments::Describe;
use crate::input::Session;
use crate::show;
use quince::encode::{ClassWords, ColumnWords, WordFrequency, class_words};
use quince::learn::Task;
use quince::table::{ColumnDescription, Description};
use quince::{Error, Kind, Result};
use serde::Serialize;

pub fn run(options: &Describe, session: &Session) -> Result<()> {
    let table = session.table(&options.table, &options.kinds)?;
    session.progress.stage("describing");
    let description = table.describe();
    let words = match &options.target {
        Some(target) => {
            let labelled = table.labelled(target, None)?;
            if labelled.target.task() != Task::Classification {
                return Err(Error::Data {
                    problem: format!("'{target}' is a column of numbers, and words are typical of classes"),
                    remedy: format!("Give a column of classes, or make it one with --kind {target}=category."),
                });
            }
            let words = class_words(&labelled, WORDS_PER_CLASS, &session.run)?;
            if words.is_empty() {
                session.say("note: the table has no texts, so there are no words that could be typical of a class");
            }
            words
        }
        None => Vec::new(),
    };
    session.progress.finish();
    if session.json {
        show::print_json(&WithWords { description, words })
    } else {
        show::print(&(as_text(&description) + &words_as_text(&words)));
    }
    Ok(())
}

/// How many typical words of each class are shown.
const WORDS_PER_CLASS: usize = 8;

#[derive(Serialize)]
struct WithWords {
    #[serde(flatten)]
    description: Description,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<ColumnWords>,
}

/// One line per class: its typical words, and each as a percentage of its words.
fn words_as_text(columns: &[ColumnWords]) -> String {
    let mut text = String::new();
    for column in columns {
        text += &format!("\nwords of '{}' that are typical of a class, in percent of its words\n\n", column.column);
        let line = |class: &ClassWords| {
            let share = |word: &WordFrequency| format!("{} {}", word.word, show::short(100.0 * word.share));
            let words: Vec<String> = class.typical.iter().map(share).collect();
            vec![class.class.clone(), class.words.to_string(), words.join(", ")]
        };
        let lines: Vec<Vec<String>> = column.classes.iter().map(line).collect();
        text += &show::table(&["class", "words", "typical"], &lines, 1..2);
    }
    text
}

fn as_text(description: &Description) -> String {
    let line = |column: &ColumnDescription| {
        vec![
            column.name.clone(),
            column.kind.to_string(),
            column.missing.to_string(),
            column.distinct.to_string(),
            details(column),
        ]
    };
    let lines: Vec<Vec<String>> = description.columns.iter().map(line).collect();
    let mut text = format!("{} rows, {} columns\n\n", description.rows, description.columns.len());
    text += &show::table(&["column", "kind", "missing", "distinct", "values"], &lines, 2..4);
    let mut strongest: Vec<_> = description.correlations.iter().collect();
    strongest.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    if !strongest.is_empty() {
        text += "\nstrongest correlations\n\n";
        let lines: Vec<Vec<String>> =
            strongest.iter().take(8).map(|c| vec![c.first.clone(), c.second.clone(), show::number(c.value)]).collect();
        text += &show::table(&["", "", "correlation"], &lines, 2..3);
    }
    text
}

fn details(column: &ColumnDescription) -> String {
    if column.kind == Kind::Ignored {
        return column.why_ignored.clone();
    }
    if let Some(numbers) = &column.numbers {
        let [least, _, median, _, most] = numbers.quantiles.map(show::short);
        let (mean, sd) = (show::short(numbers.mean), show::short(numbers.standard_deviation));
        return format!("mean {mean}, sd {sd}, from {least} to {most}, median {median}");
    }
    if let Some((width, filled)) = column.vectors {
        return format!("{width} places, {:.1} % filled", 100.0 * filled);
    }
    if let Some(words) = column.mean_words {
        return format!("{words:.1} words on average");
    }
    let shown: Vec<String> =
        column.top.iter().take(4).map(|(value, count)| format!("{} {count}", show::clipped(value))).collect();
    let more = column.distinct.saturating_sub(shown.len());
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
