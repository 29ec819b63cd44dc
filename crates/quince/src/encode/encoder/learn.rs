//! Learning an encoder from the columns of a table.

use super::{EncodedColumn, Encoder, MissingValues};
use crate::encode::column::ColumnEncoder;
use crate::error::{Error, Place, Result};
use crate::learn::{Capability, MethodInfo, Target, TargetView};
use crate::matrix::Rows;
use crate::run::Run;
use crate::table::{Encoding, Field, Kind, Table};

impl Encoder {
    /// Learns how to encode from these rows. Ignored columns are left out; an error says why none is left.
    pub fn learn(table: &Table, run: &Run) -> Result<Encoder> {
        Ok(Encoder::fit(table, None, MissingValues::Imputed, run)?.0)
    }

    /// Learns how to encode from these rows, and encodes them. The target is only looked at where words are selected by it.
    pub fn fit(table: &Table, target: Option<&Target>, missing: MissingValues, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(false, table, target, missing, run)
    }

    /// Learns native columns, for methods that have a family for each: numbers stay unscaled, categories become their codes
    /// 0, 1, ..., words are counted, and missing values stay missing (NaN; of a text, at its first word).
    pub fn fit_native(table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(true, table, target, MissingValues::Kept, run)
    }

    /// Learns how to encode for a method.
    pub fn fit_for(info: &MethodInfo, table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(info.can(Capability::NativeColumns), table, target, MissingValues::for_method(info), run)
    }

    fn fit_by(
        native_columns: bool,
        table: &Table,
        target: Option<&Target>,
        missing: MissingValues,
        run: &Run,
    ) -> Result<(Encoder, Rows)> {
        let classes = match target.map(Target::view) {
            Some(TargetView::Classes { classes, codes }) => Some((codes, classes.count())),
            _ => None,
        };
        let Encoding { degree, pictures, .. } = *table.encoding();
        let mut encoder = Encoder { degree, pictures, native_columns, ..Encoder::identity(0) };
        encoder.matrix = None;
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for column in table.columns().iter().filter(|column| column.kind() != Kind::Ignored) {
            run.check()?;
            let field = Field { name: column.name().into(), kind: column.kind() };
            let options = table.encoding().columns.get(column.name());
            let learn = if native_columns { ColumnEncoder::learn_native } else { ColumnEncoder::learn };
            let (column_encoder, rows) = learn(column, options, classes, run)?;
            encoder.columns.push(EncodedColumn { field, encoder: column_encoder });
            columns.push(column);
            texts.push(rows);
        }
        if columns.is_empty() {
            return Err(nothing_left(table));
        }
        encoder.terms()?;
        let dense = encoder.encode_dense(&columns, run)?;
        if encoder.neighbours() > 0 {
            encoder.donors = Some(encoder.numbers_of(&dense));
        }
        let rows = Rows::of(dense, encoder.encode_sparse(&columns, texts, run)?);
        let rows = encoder.impute_or_keep(rows, missing, run)?;
        Ok((encoder, rows))
    }
}

fn nothing_left(table: &Table) -> Error {
    let reasons: Vec<String> =
        table.columns().iter().map(|c| format!("'{}' ({})", c.name(), c.why_ignored())).collect();
    let reasons = if reasons.is_empty() { "there is none".into() } else { reasons.join(", ") };
    Error::table(
        Place { file: table.source_name(), ..Place::default() },
        format!("no usable column is left to learn from: {reasons}"),
        "Give another kind to a column that should count, for example number.",
    )
}
