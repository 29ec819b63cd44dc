//! What features are columns of: for methods that have a family for each column.

use super::Encoder;
use super::plan::Plan;
use crate::matrix::Features;
use crate::table::Kind;

/// The columns behind features, in the order of the features.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheme {
    /// A column, or what is made of it.
    pub parts: Vec<Part>,
}

/// A column of a table among features.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name of the column.
    pub name: String,
    /// What it is.
    pub what: What,
    /// Its first feature, counted among the dense ones or, if it is sparse, among the sparse ones.
    pub first: usize,
    /// How many features it has.
    pub width: usize,
}

/// What a column of features is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum What {
    /// A number.
    Number,
    /// A whole number of at least zero.
    Count,
    /// 0 or 1.
    YesNo,
    /// The number of one of these categories.
    Category(Vec<String>),
    /// How often each of some words occurs; sparse.
    Words,
    /// Numbers at places; sparse.
    Vector,
}

impl What {
    /// Whether it is sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self, What::Words | What::Vector)
    }
}

impl Scheme {
    /// Of a matrix: numbers called x0, x1 and so on, or as they are named, and what is sparse as one vector called x.
    pub fn of_matrix(features: &Features<'_>, names: &[String]) -> Scheme {
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{j}"));
        let number = |j: usize| Part { name: name(j), what: What::Number, first: j, width: 1 };
        let mut parts: Vec<Part> = (0..features.dense_columns()).map(number).collect();
        if let Some(sparse) = features.sparse_part() {
            parts.push(Part { name: "x".into(), what: What::Vector, first: 0, width: sparse.columns() });
        }
        Scheme { parts }
    }
}

impl Encoder {
    /// What the features are columns of. A matrix that was taken as it is is dense.
    pub fn scheme(&self) -> Scheme {
        let (mut parts, mut dense, mut sparse) = (Vec::new(), 0, 0);
        let mut put = |name: String, what: What, width: usize| {
            let next = if what.is_sparse() { &mut sparse } else { &mut dense };
            parts.push(Part { name, what, first: *next, width });
            *next += width;
        };
        for field in self.fields().take(self.identity.unwrap_or(0)) {
            put(field.name, What::Number, 1);
        }
        for column in &self.columns {
            let name = column.field.name.clone();
            let width = column.plan.sparse_width();
            match &column.plan {
                Plan::Standard { mean, deviation, log, .. } => {
                    let plain = *mean == 0.0 && *deviation == 1.0 && !log;
                    let count = plain && column.field.kind == Kind::Count;
                    put(name, if count { What::Count } else { What::Number }, 1);
                }
                Plan::YesNo { .. } => put(name, What::YesNo, 1),
                Plan::Codes { names, rare, .. } => {
                    let names = names.iter().cloned().chain(rare.then(|| "(rare)".to_string())).collect();
                    put(name, What::Category(names), 1);
                }
                Plan::Words(_) => put(name, What::Words, width),
                plan if plan.is_sparse() => put(name, What::Vector, width),
                plan => plan.names(&name).for_each(|feature| put(feature, What::Number, 1)),
            }
            if column.plan.tells_holes() {
                put(format!("{} is missing", column.field.name), What::YesNo, 1);
            }
        }
        let products = self.terms().map_or(0, |terms| terms.len());
        for name in self.feature_names().skip(dense_before(&parts)).take(products) {
            parts.push(Part { name, what: What::Number, first: dense_before(&parts), width: 1 });
        }
        Scheme { parts }
    }
}

/// How many dense features there are so far.
fn dense_before(parts: &[Part]) -> usize {
    parts.iter().filter(|part| !part.what.is_sparse()).map(|part| part.width).sum()
}
