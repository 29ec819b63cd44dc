//! Arrow's file format (also called Feather) and its stream format, by the `arrow-ipc` crate, once the headers of their messages
//! have been looked at. A file is a stream between two marks, and is read as one.

use super::arrow::is_readable;
use super::cells::{Cells, most_cells};
use super::parquet::{CONTRADICTION, cells_of, too_much};
use crate::error::{Error, Place, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, Schema};

/// How a file begins; a stream has no such mark.
pub(super) const MARK: &[u8; 6] = b"ARROW1";

pub(super) fn parse(bytes: &[u8], source: &str) -> Result<Cells> {
    let refuse = |problem: &str| {
        let place = Place { file: Some(source.into()), ..Place::default() };
        let remedy = "Copy the file again, or write it again where it was made.";
        Error::table(place, format!("the Arrow file cannot be read: {problem}"), remedy)
    };
    // What the headers say is checked before the reader goes by it, and should it still fall over a lie, we stand.
    let read = std::panic::catch_unwind(|| read(bytes)).unwrap_or_else(|_| Err(CONTRADICTION.into()));
    let (schema, batches) = read.map_err(|problem| refuse(&problem))?;
    if schema.fields().is_empty() || batches.iter().all(|batch| batch.num_rows() == 0) {
        return Err(refuse("it has no rows"));
    }
    cells_of(&schema, batches, source)
}

/// The schema, and the columns that can be read, in batches.
fn read(bytes: &[u8]) -> std::result::Result<(Schema, Vec<RecordBatch>), String> {
    if bytes.starts_with(b"FEA1") {
        return Err("it is of Feather's first version, and only the second is read".into());
    }
    let most = most_cells(bytes.len());
    let stream = if bytes.starts_with(MARK) { after_padding(&bytes[MARK.len()..]) } else { bytes };
    if !are_affordable(stream, most)? {
        return Err(too_much(bytes));
    }
    let reader = StreamReader::try_new(stream, None).map_err(|e| e.to_string())?;
    let schema = reader.schema().as_ref().clone();
    let wanted: Vec<usize> = (0..schema.fields().len()).filter(|&j| is_readable(schema.field(j).data_type())).collect();
    let (mut batches, mut held) = (Vec::new(), 0usize);
    for batch in reader {
        let batch = batch.and_then(|batch| batch.project(&wanted)).map_err(|e| e.to_string())?;
        held = batch.columns().iter().fold(held, |held, column| held.saturating_add(bytes_of_words(column)));
        if held > 16 * most {
            return Err(too_much(bytes));
        }
        batches.push(batch);
    }
    Ok((schema, batches))
}

/// What follows the mark of a file: zeros up to the next place that is a multiple of 8, or of 64, are there for alignment alone.
fn after_padding(rest: &[u8]) -> &[u8] {
    let mut rest = rest.get(2..).unwrap_or_default();
    while let Some(after) = rest.strip_prefix(&[0; 8]) {
        rest = after;
    }
    rest
}

/// Whether the messages of a stream are headers of buffers that are no larger, unpacked, than a file of this size may ask for.
fn are_affordable(mut rest: &[u8], most: usize) -> std::result::Result<bool, String> {
    let contradicts = || CONTRADICTION.to_string();
    let (mut cells, mut unpacked) = (0usize, 0usize);
    while let Some((size, after)) = size_of_header(rest).filter(|(size, _)| *size != 0) {
        let size = usize::try_from(size).map_err(|_| contradicts())?;
        let header = after.get(..size).ok_or("it ends too early")?;
        let message = arrow_ipc::root_as_message(header).map_err(|_| contradicts())?;
        let length = usize::try_from(message.bodyLength()).map_err(|_| contradicts())?;
        let body = after[size..].get(..length).ok_or("it ends too early")?;
        rest = &after[size + length..];
        let of_dictionary = || message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
        let Some(batch) = message.header_as_record_batch().or_else(of_dictionary) else { continue };
        for node in batch.nodes().into_iter().flatten() {
            cells = cells.saturating_add(usize::try_from(node.length()).map_err(|_| contradicts())?);
        }
        for buffer in batch.buffers().into_iter().flatten() {
            let start = usize::try_from(buffer.offset()).map_err(|_| contradicts())?;
            let packed = usize::try_from(buffer.length()).map_err(|_| contradicts())?;
            let bytes = start.checked_add(packed).and_then(|end| body.get(start..end)).ok_or_else(contradicts)?;
            // A packed buffer begins with its size; -1 says that it is not packed after all.
            let says = bytes.first_chunk::<8>().filter(|_| batch.compression().is_some());
            let size = says.and_then(|says| usize::try_from(i64::from_le_bytes(*says)).ok());
            unpacked = unpacked.saturating_add(size.unwrap_or(packed));
        }
    }
    Ok(cells <= most && unpacked <= 8 * most)
}

/// The size of the header of the next message, and what follows. Before Arrow 0.15 there was no mark before it.
fn size_of_header(rest: &[u8]) -> Option<(i32, &[u8])> {
    let (first, after) = rest.split_first_chunk::<4>()?;
    let (size, after) = if *first == [0xff; 4] { after.split_first_chunk::<4>()? } else { (first, after) };
    Some((i32::from_le_bytes(*size), after))
}

/// At most how many bytes the words of a column have, one after another: views and dictionaries may repeat few.
fn bytes_of_words(column: &dyn Array) -> usize {
    let longest = |words: &dyn Array| match words.data_type() {
        DataType::Utf8 => words.as_string::<i32>().iter().flatten().map(str::len).max(),
        DataType::LargeUtf8 => words.as_string::<i64>().iter().flatten().map(str::len).max(),
        DataType::Utf8View => words.as_string_view().iter().flatten().map(str::len).max(),
        _ => None,
    };
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().iter().flatten().map(str::len).sum(),
        DataType::Dictionary(..) => {
            longest(column.as_any_dictionary().values().as_ref()).unwrap_or(8).saturating_mul(column.len())
        }
        _ => column.get_buffer_memory_size(),
    }
}
