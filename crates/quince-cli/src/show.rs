//! Tables and numbers as a person reads them, and printing that does not mind a closed pipe.

use comfy_table::{CellAlignment, Table, presets};
use quince::evaluate::FoldStatistics;
use serde::Serialize;
use std::io::Write;

/// Writes to standard output. A reader that has gone away (`| head`) is no error.
pub fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// Prints bytes on standard output.
pub fn print_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    if let Err(error) = written {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("error: standard output: {error}");
        std::process::exit(1);
    }
}

/// Prints a value as JSON.
pub fn print_json(value: &impl Serialize) {
    print(&json(value));
}

/// A value as JSON, on lines of its own.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("results hold nothing that JSON cannot") + "\n"
}

/// A plain table; the columns in `right` are aligned to the right.
pub fn table(header: &[&str], rows: &[Vec<String>], right: impl std::ops::RangeBounds<usize>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.to_vec());
    rows.iter().for_each(|row| {
        table.add_row(row);
    });
    for (k, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if right.contains(&k) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_string()).collect();
    lines.join("\n") + "\n"
}

/// Four decimals, fewer for large numbers, an exponent for very large or small ones.
pub fn number(value: f64) -> String {
    if value == 0.0 || (0.001..1e6).contains(&value.abs()) {
        format!("{value:.*}", decimals(value))
    } else {
        format!("{value:.3e}")
    }
}

fn decimals(value: f64) -> usize {
    match value.abs() {
        large if large >= 1000.0 => 1,
        medium if medium >= 100.0 => 2,
        _ => 4,
    }
}

/// The same without zeros at the end.
pub fn short(value: f64) -> String {
    let text = number(value);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Mean ± standard deviation.
pub fn mean_and_deviation(statistics: Option<FoldStatistics>) -> String {
    match statistics {
        None => "-".into(),
        Some(FoldStatistics { mean, standard_deviation: None }) => number(mean),
        Some(FoldStatistics { mean, standard_deviation: Some(deviation) })
            if mean == 0.0 || (0.001..1e6).contains(&mean.abs()) =>
        {
            let decimals = decimals(mean);
            format!("{mean:.decimals$} ± {deviation:.decimals$}")
        }
        Some(FoldStatistics { mean, standard_deviation: Some(deviation) }) => {
            format!("{} ± {}", number(mean), number(deviation))
        }
    }
}

/// A time in the unit that fits.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// A cell, at most thirty characters of it.
pub fn clipped(cell: &str) -> String {
    if cell.chars().count() <= 30 { cell.to_string() } else { cell.chars().take(29).chain(['…']).collect() }
}

/// A number in JSON: without a point if it is whole.
pub fn json_number(x: f64) -> serde_json::Value {
    let whole = x as i64;
    if whole as f64 == x && whole.unsigned_abs() < 1 << 53 { whole.into() } else { x.into() }
}
