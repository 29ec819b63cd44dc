//! Parquet, by the `parquet` crate, once the headers have been looked at.

mod thrift;

use super::arrow::{exact_digits, is_readable, not_understood};
use super::cells::{Cells, Raw, most_cells};
use super::write::ArrowColumn;
use super::{Column, Table};
use crate::error::{Error, Place, Result};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use thrift::{FOOTER, PAGE, ThriftReader};

pub(super) const CONTRADICTION: &str = "it contradicts itself";

pub(super) fn parse(bytes: Vec<u8>, source: &str) -> Result<Cells> {
    let refuse = |error: &dyn std::fmt::Display| {
        let place = Place { file: Some(source.into()), ..Place::default() };
        let error = error.to_string();
        let (problem, remedy) = match error.split_once("Disabled feature at compile time: ") {
            Some((_, codec)) => (
                format!("its pages are packed with {codec}, which is not read"),
                "Write the file again with snappy, gzip, zstd, lz4 or no compression.",
            ),
            None => (error, "Copy the file again, or write it again where it was made."),
        };
        Error::table(place, format!("the Parquet file cannot be read: {problem}"), remedy)
    };
    // What the headers say is checked before the reader goes by it, and should it still fall over a lie, we stand.
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(Bytes::from(bytes))));
    let (schema, batches) = match read {
        Ok(read) => read.map_err(|error| refuse(&error))?,
        Err(_) => return Err(refuse(&CONTRADICTION)),
    };
    if batches.iter().all(|batch| batch.num_rows() == 0) || schema.fields().is_empty() {
        return Err(refuse(&"it has no rows"));
    }
    cells_of(&schema, batches, source)
}

/// A table of the columns that can be read, in batches, and the schema of all.
pub(super) fn cells_of(schema: &Schema, batches: Vec<RecordBatch>, source: &str) -> Result<Cells> {
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let fields = schema.fields().iter().enumerate();
    let places: Vec<usize> = fields.filter(|(_, field)| is_readable(field.data_type())).map(|(j, _)| j).collect();
    let parts = |k: usize| -> Vec<ArrayRef> { batches.iter().map(|batch| batch.column(k).clone()).collect() };
    let exact = places.iter().enumerate().filter_map(|(k, &j)| Some((j, exact_digits(&parts(k))?))).collect();
    let is_read: Vec<String> = places.iter().map(|&j| schema.field(j).name().clone()).collect();
    let mut columns = Table::from_batches(&is_read, &batches)?.columns.into_iter();
    let column = |field: &FieldRef| match is_readable(field.data_type()) {
        true => columns.next(),
        false => Some(not_understood(field.name(), field.data_type(), rows)),
    };
    let columns: Vec<Column> = schema.fields().iter().filter_map(column).collect();
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let columns = columns.into_iter().map(Raw::Typed).collect();
    let own = |(j, field): (usize, &FieldRef)| {
        let parts = places.binary_search(&j).map(parts).unwrap_or_default();
        ArrowColumn { field: field.clone(), parts }
    };
    let arrow = schema.fields().iter().enumerate().map(own).collect();
    Ok(Cells { source: source.into(), names, columns, rows, exact, arrow, ..Cells::default() })
}

/// The columns that can be read, in batches, and the schema of all.
fn read(bytes: Bytes) -> std::result::Result<(Schema, Vec<RecordBatch>), String> {
    check_footer(&bytes)?;
    let most = most_cells(bytes.len());
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).map_err(|e| e.to_string())?;
    let schema = builder.schema().as_ref().clone();
    let wanted: Vec<usize> = (0..schema.fields().len()).filter(|&j| is_readable(schema.field(j).data_type())).collect();
    let leaves = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let largest = check_pages(&bytes, builder.metadata(), (&leaves, wanted.len()), most)?;
    // No word is longer than the page it stands in, so that a batch of words fits, however often they are the same.
    let batch = (8 * most / largest.max(1)).clamp(1, 65_536);
    let reader = builder.with_projection(leaves).with_batch_size(batch).build().map_err(|e| e.to_string())?;
    let (mut batches, mut held) = (Vec::new(), 0);
    for batch in reader {
        let batch = batch.map_err(|e| e.to_string())?;
        held += batch.get_array_memory_size();
        if held > 16 * most {
            return Err(too_much(&bytes));
        }
        batches.push(batch);
    }
    Ok((schema, batches))
}

pub(super) fn too_much(bytes: &[u8]) -> String {
    format!("its {} bytes claim to be a table far larger than that", bytes.len())
}

/// Whether the header at the end of the file is one. Where there is none at all, the reader says so.
fn check_footer(bytes: &[u8]) -> std::result::Result<(), String> {
    let Some((rest, &[a, b, c, d, b'P', b'A', b'R', b'1'])) = bytes.split_last_chunk::<8>() else { return Ok(()) };
    let Some(start) = rest.len().checked_sub(u32::from_le_bytes([a, b, c, d]) as usize) else { return Ok(()) };
    ThriftReader { rest: &rest[start..] }.fields(&FOOTER, &mut |_, _, _| {}).ok_or_else(|| CONTRADICTION.into())
}

/// Whether the file is long enough for its rows and pages; the bytes of the largest page.
fn check_pages(
    bytes: &[u8],
    about: &ParquetMetaData,
    (leaves, columns): (&ProjectionMask, usize),
    most: usize,
) -> std::result::Result<usize, String> {
    let (mut rows, mut largest, mut unpacked, mut values) = (0usize, 0, 0usize, 0usize);
    let mut rest = bytes.len() as u64;
    for group in about.row_groups() {
        rows = rows.saturating_add(usize::try_from(group.num_rows()).map_err(|_| CONTRADICTION)?);
        let chunks = group.columns().iter().enumerate();
        for (_, chunk) in chunks.filter(|(leaf, _)| leaves.leaf_included(*leaf)) {
            // No two columns share their bytes.
            rest = rest.checked_sub(chunk.byte_range().1).ok_or(CONTRADICTION)?;
            for page in pages(bytes, chunk).ok_or(CONTRADICTION)? {
                largest = largest.max(page.unpacked);
                unpacked = unpacked.saturating_add(page.unpacked);
                values = values.saturating_add(page.values).saturating_add(page.words);
            }
        }
    }
    if rows.saturating_mul(columns.max(1)).max(values) > most || unpacked > 8 * most {
        return Err(too_much(bytes));
    }
    Ok(largest)
}

/// What the header of a page says of it.
#[derive(Default)]
struct Page {
    unpacked: usize,
    packed: usize,
    /// How many cells it has.
    values: usize,
    /// How many entries, if it is a dictionary.
    words: usize,
}

/// The pages of a column.
fn pages(bytes: &[u8], chunk: &ColumnChunkMetaData) -> Option<Vec<Page>> {
    let (start, length) = chunk.byte_range();
    let (mut at, mut left) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
    let mut pages = Vec::new();
    while left > 0 {
        let rest = bytes.get(at..)?;
        let mut walk = ThriftReader { rest };
        let (mut page, mut negative) = (Page::default(), false);
        walk.fields(&PAGE, &mut |around, field, number| {
            let place = match (around, field) {
                (0, 2) => &mut page.unpacked,
                (0, 3) => &mut page.packed,
                (5 | 8, 1) => &mut page.values,
                (7, 1) => &mut page.words,
                _ => return,
            };
            // As the reader has it: the last of several counts, in 32 bits.
            let number = i32::try_from(number).ok().and_then(|number| usize::try_from(number).ok());
            negative |= number.is_none();
            *place = number.unwrap_or(0);
        })?;
        let size = (rest.len() - walk.rest.len()).checked_add(page.packed)?;
        left = left.checked_sub(size).filter(|_| !negative)?;
        at += size;
        pages.push(page);
    }
    Some(pages)
}
