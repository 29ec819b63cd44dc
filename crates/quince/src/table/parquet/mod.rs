//! Parquet, by the `parquet` crate.

use super::Table;
use super::cells::{Cells, Raw};
use crate::error::{Error, Place, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

pub(super) fn parse(bytes: Vec<u8>, source: &str) -> Result<Cells> {
    let refuse = |error: &dyn std::fmt::Display| {
        let place = Place { file: Some(source.into()), ..Place::default() };
        Error::table(place, format!("the Parquet file cannot be read: {error}"), "Write the file again.".to_string())
    };
    // A footer may lie: what it says is checked by the reader, and should that fall over a lie, we still stand.
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).map_err(|e| e.to_string())?;
        let schema = builder.schema().clone();
        let reader = builder.with_batch_size(65_536).build().map_err(|e| e.to_string())?;
        let batches = reader.collect::<std::result::Result<Vec<_>, _>>().map_err(|e| e.to_string())?;
        Ok::<_, String>((schema, batches))
    }));
    let (schema, batches) = match read {
        Ok(read) => read.map_err(|error| refuse(&error))?,
        Err(_) => return Err(refuse(&"it contradicts itself")),
    };
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let table = Table::from_batches(&names, &batches)?;
    if table.rows() == 0 || names.is_empty() {
        return Err(refuse(&"it has no rows"));
    }
    let columns = table.columns.into_iter().map(Raw::Typed).collect();
    Ok(Cells { source: source.into(), names, columns, rows: table.rows, lines: Vec::new(), written: None })
}
