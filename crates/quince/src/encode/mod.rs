//! From the columns of a table to numbers for the vector road.
//!
//! An [`Encoder`] is learnt from the training rows alone and saved with the model. It finds its columns by name, so the
//! order of a table's columns never matters.
//!
//! | kind | features | a hole becomes |
//! |---|---|---|
//! | number, count | (value - mean) / standard deviation | the mean, so 0 |
//! | yes/no | 0 or 1 | the more frequent answer |
//! | category | one column a category, 1 where it is this one | the most frequent category |
//! | vector | one column a place, as it is | nothing |
//! | text | one column a word, how often it occurs (lower case; words found in two rows or more) | no word |
//!
//! A category that was not seen in training is 0 in every column; a word that was not seen is left out. A column that is
//! constant in the training rows is only centred. Matrices are taken as they are ([`Encoder::identity`]). For a method
//! that takes holes ([`Holes::Kept`]) a hole stays one: NaN in every feature of its column, unless these are sparse.

mod text;

use crate::error::{Error, Place, Result};
use crate::matrix::{Matrix, Rows, Sparse};
use crate::numbers::mean_and_deviation;
use crate::registry::{Ability, Card};
use crate::run::Run;
use crate::table::{Column, Field, Kind, Table};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Categories of more values than this are sparse.
const DENSE_CATEGORIES: usize = 32;

/// How every column of a table becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    columns: Vec<Encoded>,
    /// For a matrix: the number of its columns, taken as they are.
    identity: Option<usize>,
    /// For a matrix whose columns have names: these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Encoded {
    field: Field,
    plan: Plan,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Plan {
    Standard {
        mean: f64,
        deviation: f64,
    },
    YesNo {
        fill: bool,
    },
    OneHot {
        names: Vec<String>,
        fill: usize,
    },
    Words {
        vocabulary: Vec<String>,
    },
    /// Places `first` to `first + width - 1` of a vector, as they are.
    Vector {
        first: usize,
        width: usize,
    },
}

/// What becomes of holes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holes {
    /// They are filled by the rule of their kind.
    Filled,
    /// They stay, as NaN.
    Kept,
}

impl Holes {
    /// What a method wants.
    pub fn for_method(card: &Card) -> Holes {
        if card.can(Ability::Holes) { Holes::Kept } else { Holes::Filled }
    }
}

impl Encoder {
    /// Learns how to encode from these rows. Ignored columns are left out; an error says why none is left.
    pub fn learn(table: &Table, run: &Run) -> Result<Encoder> {
        let used = |column: &&Column| column.kind() != Kind::Ignored;
        let mut columns = Vec::new();
        for column in table.columns().iter().filter(used) {
            run.check()?;
            let field = Field { name: column.name().into(), kind: column.kind() };
            columns.push(Encoded { field, plan: Plan::learn(column, run)? });
        }
        if columns.is_empty() {
            let reasons: Vec<String> =
                table.columns().iter().map(|c| format!("'{}' ({})", c.name(), c.why_ignored())).collect();
            let reasons = if reasons.is_empty() { "there is none".into() } else { reasons.join(", ") };
            return Err(Error::table(
                Place { file: table.source_name(), ..Place::default() },
                format!("no usable column is left to learn from: {reasons}"),
                "Give another kind to a column that should count, for example --kind name=number.",
            ));
        }
        Ok(Encoder { columns, identity: None, names: Vec::new() })
    }

    /// For a matrix: its columns as they are, called x0, x1 and so on.
    pub fn identity(columns: usize) -> Encoder {
        Encoder { columns: Vec::new(), identity: Some(columns), names: Vec::new() }
    }

    /// For a matrix whose columns have names: its columns as they are.
    pub fn identity_of(names: Vec<String>) -> Encoder {
        Encoder { columns: Vec::new(), identity: Some(names.len()), names }
    }

    /// Whether matrices are taken as they are.
    pub fn is_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// Names and kinds of the columns that a table must have.
    pub fn fields(&self) -> Vec<Field> {
        match self.identity {
            Some(columns) => {
                let name = |j: usize| self.names.get(j).cloned().unwrap_or_else(|| format!("x{j}"));
                (0..columns).map(|j| Field { name: name(j), kind: Kind::Number }).collect()
            }
            None => self.columns.iter().map(|column| column.field.clone()).collect(),
        }
    }

    /// The kind that a column of this name had in training, if the encoder uses it.
    pub fn kind(&self, name: &str) -> Option<Kind> {
        match self.identity {
            None => {
                self.columns.iter().find(|column| column.field.name == name).map(|column| read_as(column.field.kind))
            }
            Some(columns) => {
                let numbered = || name.strip_prefix('x')?.parse().ok().filter(|&j: &usize| j < columns);
                let known =
                    if self.names.is_empty() { numbered().is_some() } else { self.names.iter().any(|n| n == name) };
                known.then_some(Kind::Number)
            }
        }
    }

    /// How many features come out.
    pub fn width(&self) -> usize {
        self.identity.unwrap_or_else(|| self.columns.iter().map(|column| column.plan.width()).sum())
    }

    /// The names of the features, dense ones first: `age`, `city=Oslo`, `review: good`.
    pub fn feature_names(&self) -> Vec<String> {
        if self.identity.is_some() {
            return self.fields().into_iter().map(|field| field.name).collect();
        }
        let mut names = Vec::with_capacity(self.width());
        for sparse in [false, true] {
            for Encoded { field, plan } in self.columns.iter().filter(|column| column.plan.is_sparse() == sparse) {
                match plan {
                    Plan::Standard { .. } | Plan::YesNo { .. } => names.push(field.name.clone()),
                    Plan::OneHot { names: values, .. } => {
                        names.extend(values.iter().map(|value| format!("{}={value}", field.name)));
                    }
                    Plan::Vector { first, width } => {
                        names.extend((*first..first + width).map(|place| format!("{}: {place}", field.name)));
                    }
                    Plan::Words { vocabulary } => {
                        names.extend(vocabulary.iter().map(|word| format!("{}: {word}", field.name)));
                    }
                }
            }
        }
        names
    }

    /// The features of a table's rows. Columns are found by name and read as the kind they had in training.
    pub fn encode(&self, table: &Table, holes: Holes, run: &Run) -> Result<Rows> {
        let columns = self.align(table)?;
        if self.is_identity() {
            return as_they_are(&columns, table, holes);
        }
        let rows = table.rows();
        let mut dense = Matrix::zeros(rows, self.dense_width());
        let mut sparse_rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); if self.has_sparse() { rows } else { 0 }];
        let (mut next_dense, mut next_sparse) = (0, 0);
        for (Encoded { plan, .. }, column) in self.columns.iter().zip(&columns) {
            run.check()?;
            if plan.is_sparse() {
                plan.encode_sparse(column, next_sparse, &mut sparse_rows, run)?;
                next_sparse += plan.width();
            } else {
                plan.encode_dense(column, next_dense, holes, &mut dense);
                next_dense += plan.width();
            }
        }
        let sparse = self.has_sparse().then(|| Sparse::from_rows(next_sparse, sparse_rows)).transpose()?;
        Ok(Rows::of(dense, sparse))
    }

    /// The columns that the encoder knows, in its order and with its kinds.
    fn align(&self, table: &Table) -> Result<Vec<Column>> {
        // A file may claim any number of columns: look before listing their names.
        if self.identity.is_some_and(|columns| columns > table.columns().len()) {
            return Err(Error::table(
                Place { file: table.source_name(), ..Place::default() },
                format!("the table has {} columns, the model takes {}", table.columns().len(), self.width()),
                "Give the table the same columns as in training, in any order (empty cells are fine).",
            ));
        }
        let fields = self.fields();
        let there: HashMap<&str, &Column> = table.columns().iter().map(|column| (column.name(), column)).collect();
        let missing: Vec<&Field> = fields.iter().filter(|field| !there.contains_key(field.name.as_str())).collect();
        if !missing.is_empty() {
            let (noun, verb) = if missing.len() == 1 { ("column", "is") } else { ("columns", "are") };
            let shown: Vec<String> = missing.iter().take(8).map(|field| format!("'{}'", field.name)).collect();
            let more = if missing.len() > 8 { format!(" and {} more", missing.len() - 8) } else { String::new() };
            return Err(Error::table(
                Place { file: table.source_name(), ..Place::default() },
                format!("the {noun} {}{more} that the model was trained on {verb} missing", shown.join(", ")),
                "Give the table the same columns as in training, in any order (empty cells are fine).",
            ));
        }
        fields.iter().map(|field| there[field.name.as_str()].as_kind(read_as(field.kind), table)).collect()
    }

    fn has_sparse(&self) -> bool {
        self.columns.iter().any(|column| column.plan.is_sparse())
    }

    fn dense_width(&self) -> usize {
        self.columns.iter().filter(|column| !column.plan.is_sparse()).map(|column| column.plan.width()).sum()
    }

    /// Whether everything in a loaded encoder fits together.
    pub(crate) fn is_sound(&self) -> bool {
        let sound = |plan: &Plan| match plan {
            Plan::Standard { mean, deviation } => mean.is_finite() && *deviation > 0.0,
            Plan::OneHot { names, fill } => *fill < names.len(),
            Plan::Vector { first, width } => first.checked_add(*width).is_some_and(|end| end <= u32::MAX as usize),
            Plan::YesNo { .. } | Plan::Words { .. } => true,
        };
        self.columns.iter().all(|column| sound(&column.plan))
            && (self.identity.is_none() || self.columns.is_empty())
            && (self.names.is_empty() || self.identity == Some(self.names.len()))
    }

    /// Takes the vocabularies out, to be saved as bytes; [`Encoder::put_vocabularies`] puts them back.
    pub(crate) fn take_vocabularies(&mut self) -> Vec<(String, Vec<String>)> {
        let mut taken = Vec::new();
        for (k, column) in self.columns.iter_mut().enumerate() {
            if let Plan::Words { vocabulary } = &mut column.plan {
                taken.push((format!("vocabulary.{k}"), std::mem::take(vocabulary)));
            }
        }
        taken
    }

    pub(crate) fn put_vocabularies(&mut self, mut find: impl FnMut(&str) -> Result<Vec<String>>) -> Result<()> {
        for (k, column) in self.columns.iter_mut().enumerate() {
            if let Plan::Words { vocabulary } = &mut column.plan {
                *vocabulary = find(&format!("vocabulary.{k}"))?;
            }
        }
        Ok(())
    }
}

/// The numbers of columns that stand for the columns of a matrix, which cannot have holes.
fn as_they_are(columns: &[Column], table: &Table, holes: Holes) -> Result<Rows> {
    let mut dense = Matrix::zeros(table.rows(), columns.len());
    for (j, column) in columns.iter().enumerate() {
        for i in 0..table.rows() {
            let kept = (holes == Holes::Kept).then_some(f64::NAN);
            dense[(i, j)] = column.number(i).or(kept).ok_or_else(|| {
                Error::table(
                    table.place(i, column.name()),
                    "a hole where the model needs a number",
                    "Fill the hole: a model trained on a matrix has no rule for holes.",
                )
            })?;
        }
    }
    Ok(Rows::of(dense, None))
}

/// A column of counts in training may hold any number later: both are standardised alike.
fn read_as(kind: Kind) -> Kind {
    if kind == Kind::Count { Kind::Number } else { kind }
}

impl Plan {
    fn learn(column: &Column, run: &Run) -> Result<Plan> {
        Ok(match column.kind() {
            Kind::Number | Kind::Count | Kind::Ignored => {
                let values: Vec<f64> = (0..column.rows()).filter_map(|i| column.number(i)).collect();
                let (mean, deviation) = mean_and_deviation(&values);
                let usable = deviation > 0.0 && deviation.is_finite();
                Plan::Standard { mean, deviation: if usable { deviation } else { 1.0 } }
            }
            Kind::YesNo => {
                let yes = (0..column.rows()).filter(|&i| column.number(i) == Some(1.0)).count();
                let no = (0..column.rows()).filter(|&i| column.number(i) == Some(0.0)).count();
                Plan::YesNo { fill: yes > no }
            }
            Kind::Category => {
                let mut counts = std::collections::BTreeMap::new();
                for name in (0..column.rows()).filter_map(|i| column.text(i)) {
                    *counts.entry(name).or_insert(0usize) += 1;
                }
                let most = counts.values().copied().max().unwrap_or(0);
                let fill = counts.values().position(|&count| count == most).unwrap_or(0);
                let mut names: Vec<String> = counts.into_keys().map(|name| name.into_owned()).collect();
                if names.is_empty() {
                    names.push(String::new());
                }
                Plan::OneHot { names, fill }
            }
            Kind::Vector => {
                let rows = column.vectors();
                let places = || (0..column.rows()).flat_map(|i| rows.map_or(&[][..], |rows| rows.row(i).0));
                // Files count places from 0 or from 1.
                let first = usize::from(!places().any(|&place| place == 0));
                Plan::Vector { first, width: rows.map_or(0, |rows| rows.columns().saturating_sub(first)) }
            }
            Kind::Text => Plan::Words { vocabulary: text::vocabulary(column, run)? },
        })
    }

    fn width(&self) -> usize {
        match self {
            Plan::Standard { .. } | Plan::YesNo { .. } => 1,
            Plan::OneHot { names, .. } => names.len(),
            Plan::Words { vocabulary } => vocabulary.len(),
            Plan::Vector { width, .. } => *width,
        }
    }

    fn is_sparse(&self) -> bool {
        match self {
            Plan::Standard { .. } | Plan::YesNo { .. } => false,
            Plan::OneHot { names, .. } => names.len() > DENSE_CATEGORIES,
            Plan::Words { .. } | Plan::Vector { .. } => true,
        }
    }

    fn encode_dense(&self, column: &Column, first: usize, holes: Holes, out: &mut Matrix) {
        match self {
            Plan::Standard { mean, deviation } => {
                for i in 0..column.rows() {
                    out[(i, first)] = column.number(i).map_or(0.0, |value| (value - mean) / deviation);
                }
            }
            Plan::YesNo { fill } => {
                let fill = f64::from(u8::from(*fill));
                (0..column.rows()).for_each(|i| out[(i, first)] = column.number(i).unwrap_or(fill));
            }
            Plan::OneHot { .. } => self.category_codes(column, |i, code| out[(i, first + code)] = 1.0),
            Plan::Words { .. } | Plan::Vector { .. } => {}
        }
        if holes == Holes::Kept {
            for i in (0..column.rows()).filter(|&i| column.is_hole(i)) {
                out.row_mut(i)[first..first + self.width()].fill(f64::NAN);
            }
        }
    }

    fn encode_sparse(&self, column: &Column, first: usize, rows: &mut [Vec<(u32, f64)>], run: &Run) -> Result<()> {
        match self {
            Plan::OneHot { .. } => self.category_codes(column, |i, code| rows[i].push(((first + code) as u32, 1.0))),
            Plan::Words { vocabulary } => {
                for (row, counts) in rows.iter_mut().zip(text::counts(column, vocabulary, run)?) {
                    row.extend(counts.into_iter().map(|(word, count)| (first as u32 + word, count)));
                }
            }
            Plan::Vector { first: from, width } => {
                let Some(vectors) = column.vectors() else { return Ok(()) };
                for (i, row) in rows.iter_mut().enumerate() {
                    // A place that was not seen in training is left out.
                    let known = |place: usize| place.checked_sub(*from).filter(|place| place < width);
                    row.extend(vectors.entries(i).filter_map(|(place, x)| Some(((first + known(place)?) as u32, x))));
                }
            }
            Plan::Standard { .. } | Plan::YesNo { .. } => {}
        }
        Ok(())
    }

    /// Calls `found(row, code)` for every row whose category is known; a hole counts as the most frequent one.
    fn category_codes(&self, column: &Column, mut found: impl FnMut(usize, usize)) {
        let Plan::OneHot { names, fill } = self else {
            return;
        };
        for i in 0..column.rows() {
            match column.text(i) {
                None => found(i, *fill),
                Some(name) => {
                    if let Ok(code) = names.binary_search_by(|other| other.as_str().cmp(&name)) {
                        found(i, code);
                    }
                }
            }
        }
    }
}
