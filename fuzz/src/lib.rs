//! What the fuzz targets share: a watch over memory, a first corpus, and what must hold of every table that was read.

pub mod gzip;
mod memory;
pub mod panics;
pub mod seeds;

use quince::table::{Cells, Kind, ReadOptions};
use quince::{Error, Run, Table};

/// A run on one thread, so that the same bytes always take the same way.
pub fn run() -> Run {
    Run::new().threads(1)
}

/// Reads bytes as a table, and checks what came out. `kind` asks for a kind of the first column.
pub fn read(bytes: &[u8], options: &ReadOptions, kind: Option<Kind>) {
    match Cells::parse(bytes.to_vec(), "fuzz", options, &run()) {
        Ok(cells) => check_cells(cells, options, kind),
        Err(error) => check_error(&error),
    }
}

/// The most cells that are looked at one by one. A few bytes may stand for millions of cells that are all the same.
const LOOKED_AT: usize = 1 << 12;

/// What was read becomes a table that can be walked through and described, or a sentence on why not.
pub fn check_cells(mut cells: Cells, options: &ReadOptions, kind: Option<Kind>) {
    assert!(cells.rows() > 0, "a table without rows was read");
    let mut options = options.clone();
    options.kinds.extend(cells.names().first().cloned().zip(kind));
    let table = match cells.table(&options, &run()) {
        Ok(table) => table,
        Err(error) => return check_error(&error),
    };
    assert_eq!(table.rows(), cells.rows());
    assert_eq!(table.columns().len(), cells.names().len());
    assert!(table.columns().iter().all(|column| column.rows() == table.rows()));
    if table.rows() * table.columns().len() > LOOKED_AT {
        return;
    }
    check_table(&table);
    let (mut rows, width) = (0, table.columns().len());
    let walked = cells.each_row(&table, |row| {
        assert_eq!(row.len(), width);
        rows += 1;
    });
    walked.expect("what was read once can be read again");
    assert_eq!(rows, table.rows());
}

/// A cell is missing or has a text, and the table can be described.
fn check_table(table: &Table) {
    for column in table.columns() {
        let missing = (0..table.rows()).filter(|&i| column.text(i).is_none()).count();
        assert_eq!(missing, column.missing_count());
        assert!((0..table.rows()).filter_map(|i| column.number(i)).all(f64::is_finite), "an infinite number");
        column.nearly_numbers();
    }
    assert_eq!(table.describe().rows, table.rows());
    // Any column may be asked for as the target.
    for column in table.columns().first().into_iter().chain(table.columns().last()) {
        if let Err(error) = table.labelled(column.name(), None) {
            check_error(&error);
        }
    }
}

/// An error says something.
pub fn check_error(error: &Error) {
    assert!(!error.to_string().trim().is_empty(), "an error without a message");
}

/// The next byte of an input; zero where it has ended.
pub fn take(input: &mut &[u8]) -> u8 {
    let (&first, rest) = input.split_first().unwrap_or((&0, &[]));
    *input = rest;
    first
}

/// A kind by a byte, or none.
pub fn kind(byte: u8) -> Option<Kind> {
    Kind::ALL.get(usize::from(byte % 16)).copied()
}
