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
//! | text | one column a word, weighed by tf-idf (lower case; words found in two rows or more) | no word |
//!
//! A category that was not seen in training is 0 in every column; a word that was not seen is left out. A column that is
//! constant in the training rows is only centred. Matrices are taken as they are ([`Encoder::identity`]). For a method
//! that takes holes ([`Holes::Kept`]) a hole stays one: NaN in every feature of its column, unless these are sparse.
//!
//! All of this is only what is usual: a table may wish otherwise ([`Encoding`], [`Table::with_encoding`]).

mod decode;
mod impute;
mod plan;
mod polynomial;
mod products;
mod scheme;
pub mod select;
mod settings;
mod shares;
mod text;

pub use impute::{Near, fill_from_neighbours};
pub use polynomial::monomials;
pub use products::{Expanded, Number, Products};
pub use scheme::{Part, Scheme, What};
pub use settings::{Categories, Encoding, Fill, Numbers, Wish};
pub use shares::{ClassWords, ColumnWords, WordShare, word_shares};
pub use text::{Amount, ClassOf, Counts, Cut, Language, Score, Stop, TextEncoder, Texts, Weigh, stop_words};

use crate::error::{Error, Place, Result};
use crate::learn::Target;
use crate::matrix::{Matrix, Rows, Sparse};
use crate::registry::{Ability, Card};
use crate::run::Run;
use crate::table::{Column, Field, Kind, Pictures, Table};
use plan::Plan;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How every column of a table becomes features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    columns: Vec<Encoded>,
    /// For a matrix: the number of its columns, taken as they are.
    identity: Option<usize>,
    /// For a matrix whose columns have names: these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// Products of up to so many numbers are features too; 0 and 1 make none.
    #[serde(default, skip_serializing_if = "is_plain")]
    degree: usize,
    /// How the numbers were made of pictures, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pictures: Option<Pictures>,
    /// Columns are taken as they are: see [`Encoder::fit_as_they_are`].
    #[serde(default, skip_serializing_if = "is_false")]
    as_they_are: bool,
    /// The numbers of the training rows, with holes, where holes are filled from near rows.
    #[serde(skip)]
    donors: Option<Matrix>,
}

fn is_false(answer: &bool) -> bool {
    !answer
}

fn is_plain(degree: &usize) -> bool {
    *degree <= 1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Encoded {
    field: Field,
    plan: Plan,
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
        if card.can(Ability::Holes) || card.can(Ability::AsTheyAre) { Holes::Kept } else { Holes::Filled }
    }
}

impl Encoder {
    /// Learns how to encode from these rows. Ignored columns are left out; an error says why none is left.
    pub fn learn(table: &Table, run: &Run) -> Result<Encoder> {
        Ok(Encoder::fit(table, None, Holes::Filled, run)?.0)
    }

    /// Learns how to encode from these rows, and encodes them. The target is only looked at where words are selected by it.
    pub fn fit(table: &Table, target: Option<&Target>, holes: Holes, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(false, table, target, holes, run)
    }

    /// Learns how to take columns as they are, for methods that have a family for each: numbers stay unscaled, categories become
    /// the numbers 0, 1, ..., words are counted, and holes stay holes (NaN; of a text, at its first word).
    pub fn fit_as_they_are(table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(true, table, target, Holes::Kept, run)
    }

    /// Learns how to encode for a method.
    pub fn fit_for(card: &Card, table: &Table, target: Option<&Target>, run: &Run) -> Result<(Encoder, Rows)> {
        Encoder::fit_by(card.can(Ability::AsTheyAre), table, target, Holes::for_method(card), run)
    }

    fn fit_by(
        as_they_are: bool,
        table: &Table,
        target: Option<&Target>,
        holes: Holes,
        run: &Run,
    ) -> Result<(Encoder, Rows)> {
        let classes = match target {
            Some(Target::Classes { classes, codes }) => Some((codes.as_slice(), classes.count())),
            _ => None,
        };
        let Encoding { degree, pictures, .. } = *table.encoding();
        let mut encoder = Encoder { degree, pictures, as_they_are, ..Encoder::identity(0) };
        encoder.identity = None;
        let (mut columns, mut texts) = (Vec::new(), Vec::new());
        for column in table.columns().iter().filter(|column| column.kind() != Kind::Ignored) {
            run.check()?;
            let field = Field { name: column.name().into(), kind: column.kind() };
            let wish = table.encoding().columns.get(column.name());
            let learn = if as_they_are { Plan::learn_as_is } else { Plan::learn };
            let (plan, rows) = learn(column, wish, classes, run)?;
            encoder.columns.push(Encoded { field, plan });
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
        let rows = encoder.with_holes(rows, holes, run)?;
        Ok((encoder, rows))
    }

    /// For a matrix: its columns as they are, called x0, x1 and so on.
    pub fn identity(columns: usize) -> Encoder {
        Encoder {
            columns: Vec::new(),
            identity: Some(columns),
            names: Vec::new(),
            degree: 1,
            pictures: None,
            as_they_are: false,
            donors: None,
        }
    }

    /// For a matrix whose columns have names: its columns as they are.
    pub fn identity_of(names: Vec<String>) -> Encoder {
        Encoder { names: names.clone(), ..Encoder::identity(names.len()) }
    }

    /// Whether matrices are taken as they are.
    pub fn is_identity(&self) -> bool {
        self.identity.is_some()
    }

    /// How the numbers were made of pictures, if they were.
    pub fn pictures(&self) -> Option<Pictures> {
        self.pictures
    }

    /// How many columns a table must have.
    pub fn columns(&self) -> usize {
        self.identity.unwrap_or(self.columns.len())
    }

    /// Names and kinds of the columns that a table must have. A small file may claim very many: they are made one by one.
    pub fn fields(&self) -> impl Iterator<Item = Field> + '_ {
        let name = |j: usize| self.names.get(j).cloned().unwrap_or_else(|| format!("x{j}"));
        let of_matrix = (0..self.identity.unwrap_or(0)).map(move |j| Field { name: name(j), kind: Kind::Number });
        of_matrix.chain(self.columns.iter().map(|column| column.field.clone()))
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
        let sparse = |column: &Encoded| column.plan.sparse_width();
        self.identity.unwrap_or_else(|| self.dense_width() + self.columns.iter().map(sparse).sum::<usize>())
    }

    /// The names of the features, dense ones first: `age`, `city=Oslo`, `age^2`, `review: good`. A small file may claim very
    /// many: they are made one by one.
    pub fn feature_names(&self) -> impl Iterator<Item = String> + '_ {
        let of_matrix = self.fields().take(self.identity.unwrap_or(0)).map(|field| field.name);
        let dense = || {
            self.columns.iter().flat_map(|Encoded { field, plan }| {
                let names = (!plan.is_sparse()).then(|| plan.names(&field.name));
                let missing = plan.tells_holes().then(|| format!("{} is missing", field.name));
                names.into_iter().flatten().chain(missing)
            })
        };
        let sparse = self.columns.iter().filter(|column| column.plan.is_sparse());
        let terms = self.terms().unwrap_or_default();
        let numbers: Vec<String> = match terms.is_empty() {
            true => Vec::new(),
            false => {
                let names: Vec<String> = dense().collect();
                self.number_places().map(|place| names[place].clone()).collect()
            }
        };
        let products = terms.into_iter().map(move |term| polynomial::name(&term, &numbers));
        let sparse = sparse.flat_map(|Encoded { field, plan }| plan.names(&field.name));
        of_matrix.chain(dense()).chain(products).chain(sparse)
    }

    /// Of columns of texts: name and encoder.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &TextEncoder)> {
        self.columns.iter().filter_map(|column| match &column.plan {
            Plan::Words(encoder) => Some((column.field.name.as_str(), encoder)),
            _ => None,
        })
    }

    /// What a user should know: columns of texts of which no word is left.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let empty = self.texts().filter(|(_, words)| words.width() == 0);
        empty.map(|(name, words)| {
            let shared = words.settings().least != Amount::Rows(0) && words.settings().least != Amount::Rows(1);
            let why = if shared { " (words in few rows are left out: least=1 keeps them)" } else { "" };
            format!("'{name}' says nothing: no word of it is left{why}")
        })
    }

    /// The features of a table's rows. Columns are found by name and read as the kind they had in training.
    pub fn encode(&self, table: &Table, holes: Holes, run: &Run) -> Result<Rows> {
        let columns = self.align(table)?;
        if self.is_identity() {
            return as_they_are(&columns, table, holes);
        }
        let columns: Vec<&Column> = columns.iter().collect();
        let dense = self.encode_dense(&columns, run)?;
        let rows = Rows::of(dense, self.encode_sparse(&columns, vec![None; columns.len()], run)?);
        self.with_holes(rows, holes, run)
    }

    /// Fills all holes, or only those of columns that wish it for every method.
    fn with_holes(&self, rows: Rows, holes: Holes, run: &Run) -> Result<Rows> {
        match holes {
            Holes::Filled => self.filled(&rows, run),
            Holes::Kept if self.columns.iter().any(|column| column.plan.always_filled()) => {
                self.fill(&rows, Plan::always_filled, run)
            }
            Holes::Kept => Ok(rows),
        }
    }

    fn encode_dense(&self, columns: &[&Column], run: &Run) -> Result<Matrix> {
        let rows = columns.first().map_or(0, |column| column.rows());
        let mut dense = Matrix::zeros(rows, self.dense_width());
        let mut first = 0;
        for (Encoded { plan, .. }, column) in self.columns.iter().zip(columns) {
            run.check()?;
            plan.encode_dense(column, first, &mut dense);
            first += plan.dense_width();
        }
        self.multiply_out(&mut dense)?;
        Ok(dense)
    }

    /// Rows that were encoded with their holes kept, with their holes filled.
    pub fn filled(&self, rows: &Rows, run: &Run) -> Result<Rows> {
        self.fill(rows, |_| true, run)
    }

    /// Fills the holes of some columns.
    fn fill(&self, rows: &Rows, wanted: impl Fn(&Plan) -> bool, run: &Run) -> Result<Rows> {
        let mut dense = rows.dense().clone();
        if let Some(donors) = &self.donors {
            self.fill_from(donors, &mut dense, run)?;
        }
        let mut first = 0;
        for Encoded { plan, .. } in &self.columns {
            let width = plan.dense_width();
            if width > 0 && wanted(plan) {
                (0..dense.rows()).for_each(|i| plan.fill(&mut dense.row_mut(i)[first..first + width]));
            }
            first += width;
        }
        self.multiply_out(&mut dense)?;
        Ok(rows.with_dense(dense))
    }

    /// Fills the holes of columns that wish it from near rows.
    fn fill_from(&self, donors: &Matrix, dense: &mut Matrix, run: &Run) -> Result<()> {
        let number = |column: &&Encoded| matches!(column.plan, Plan::Standard { .. });
        let plans: Vec<&Plan> = self.columns.iter().filter(number).map(|column| &column.plan).collect();
        let otherwise: Vec<f64> = plans.iter().map(|plan| plan.filler()).collect();
        let mut numbers = self.numbers_of(dense);
        fill_from_neighbours(&mut numbers, donors, (self.neighbours(), Near::Alike), &otherwise, run)?;
        for (k, place) in self.standard_places().enumerate().filter(|(k, _)| plans[*k].neighbours() > 0) {
            (0..dense.rows()).for_each(|i| dense[(i, place)] = numbers[(i, k)]);
        }
        Ok(())
    }

    /// The numbers among the dense features, one beside the other.
    fn numbers_of(&self, dense: &Matrix) -> Matrix {
        let places: Vec<usize> = self.standard_places().collect();
        let mut numbers = Matrix::zeros(dense.rows(), places.len());
        for i in 0..dense.rows() {
            places.iter().enumerate().for_each(|(k, &place)| numbers[(i, k)] = dense[(i, place)]);
        }
        numbers
    }

    /// From how many near rows holes are filled, if any are.
    fn neighbours(&self) -> usize {
        self.columns.iter().map(|column| column.plan.neighbours()).max().unwrap_or(0)
    }

    /// Writes the products of numbers after all other dense features.
    fn multiply_out(&self, dense: &mut Matrix) -> Result<()> {
        let terms = self.terms()?;
        let (places, first) = (self.number_places().collect::<Vec<_>>(), self.dense_width() - terms.len());
        for i in 0..if terms.is_empty() { 0 } else { dense.rows() } {
            let numbers: Vec<f64> = places.iter().map(|&place| dense[(i, place)]).collect();
            terms.iter().enumerate().for_each(|(t, term)| dense[(i, first + t)] = polynomial::product(&numbers, term));
        }
        Ok(())
    }

    /// The products of numbers that are features.
    fn terms(&self) -> Result<Vec<Vec<u32>>> {
        if is_plain(&self.degree) {
            return Ok(Vec::new());
        }
        monomials(self.number_places().count(), 2..=self.degree, false)
    }

    /// Where among the dense features the single numbers are.
    fn number_places(&self) -> impl Iterator<Item = usize> {
        self.dense_places(Plan::is_number)
    }

    fn standard_places(&self) -> impl Iterator<Item = usize> {
        self.dense_places(|plan| matches!(plan, Plan::Standard { .. }))
    }

    fn dense_places(&self, wanted: impl Fn(&Plan) -> bool) -> impl Iterator<Item = usize> {
        let mut next = 0;
        self.columns.iter().filter_map(move |column| {
            let place = next;
            next += column.plan.dense_width();
            wanted(&column.plan).then_some(place)
        })
    }

    fn encode_sparse(&self, columns: &[&Column], known: Vec<Option<Sparse>>, run: &Run) -> Result<Option<Sparse>> {
        let mut parts = Vec::new();
        for ((Encoded { plan, .. }, column), known) in self.columns.iter().zip(columns).zip(known) {
            run.check()?;
            let part = if known.is_some() { known } else { plan.encode_sparse(column, run)? };
            let marked = self.as_they_are && matches!(plan, Plan::Words(_));
            parts.extend(part.map(|part| if marked { part.with_holes(|i| column.is_hole(i)) } else { part }));
        }
        Ok((!parts.is_empty()).then(|| Sparse::side_by_side(parts)))
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
        let fields: Vec<Field> = self.fields().collect();
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

    fn dense_width(&self) -> usize {
        let plans: usize = self.columns.iter().map(|column| column.plan.dense_width()).sum();
        plans + self.terms().map_or(0, |terms| terms.len())
    }

    /// Whether everything in a loaded encoder fits together.
    pub(crate) fn is_sound(&self) -> bool {
        let numbers = self.standard_places().count();
        self.columns.iter().all(|column| column.plan.is_sound())
            && (self.identity.is_none() || self.columns.is_empty())
            && self.identity.is_none_or(|columns| columns <= u32::MAX as usize)
            && (self.names.is_empty() || self.identity == Some(self.names.len()))
            && self.terms().is_ok()
            && self.pictures.is_none_or(|pictures| pictures.check().is_ok())
            && self.donors.as_ref().map_or(self.neighbours() == 0, |donors| donors.columns() == numbers)
    }

    /// The rows that holes are filled from, which serde leaves out because they are many numbers.
    pub fn donors(&self) -> Option<&Matrix> {
        self.donors.as_ref()
    }

    /// An encoder that serde has read, with the rows that holes are filled from; an error if they do not fit together.
    pub fn with_donors(mut self, donors: Option<Matrix>) -> Result<Encoder> {
        self.donors = donors;
        if self.is_sound() {
            return Ok(self);
        }
        Err(Error::data("the parts of the encoder do not fit together", "Learn it again from the table."))
    }

    /// Hands out what is saved as arrays beside the header: vocabularies and their weights, and rows to fill holes from.
    pub(crate) fn take_arrays(&mut self, mut take: impl FnMut(String, Saved)) {
        for (k, column) in self.columns.iter_mut().enumerate() {
            if let Plan::Words(text) = &mut column.plan {
                take(format!("vocabulary.{k}"), Saved::Words(std::mem::take(&mut text.vocabulary)));
                for (name, numbers) in [("weights", &mut text.weights), ("scores", &mut text.scores)] {
                    if !numbers.is_empty() {
                        take(format!("vocabulary.{k}.{name}"), Saved::Vector(std::mem::take(numbers)));
                    }
                }
            }
        }
        if let Some(donors) = self.donors.take() {
            take("donors".into(), Saved::Matrix(donors));
        }
    }

    /// Takes back what was handed out.
    pub(crate) fn put_arrays(&mut self, parts: &crate::model::Parts) -> Result<()> {
        for (k, column) in self.columns.iter_mut().enumerate() {
            if let Plan::Words(text) = &mut column.plan {
                let name = format!("vocabulary.{k}");
                text.vocabulary = parts.words(&name)?;
                for (what, numbers) in [("weights", &mut text.weights), ("scores", &mut text.scores)] {
                    let name = format!("{name}.{what}");
                    if parts.has(&name) {
                        *numbers = parts.vector(&name, None)?;
                    }
                }
            }
        }
        if parts.has("donors") {
            self.donors = Some(parts.matrix("donors", None)?);
        }
        Ok(())
    }
}

/// What is saved as an array.
pub(crate) enum Saved {
    Words(Vec<String>),
    Vector(Vec<f64>),
    Matrix(Matrix),
}

fn nothing_left(table: &Table) -> Error {
    let reasons: Vec<String> =
        table.columns().iter().map(|c| format!("'{}' ({})", c.name(), c.why_ignored())).collect();
    let reasons = if reasons.is_empty() { "there is none".into() } else { reasons.join(", ") };
    Error::table(
        Place { file: table.source_name(), ..Place::default() },
        format!("no usable column is left to learn from: {reasons}"),
        "Give another kind to a column that should count, for example --kind name=number.",
    )
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
