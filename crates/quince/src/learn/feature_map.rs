//! Which features are which columns: for methods that have a family for each column, and for those that name features.

use crate::matrix::Features;

/// What made the features of rows: it knows which columns they come from, and their names.
pub trait FeatureSource: std::fmt::Debug + Sync {
    /// Which feature is which column.
    fn feature_map(&self) -> FeatureMap;

    /// The names of all features, dense ones first. There may be very many: they are made one by one.
    fn feature_names(&self) -> Box<dyn Iterator<Item = String> + '_>;

    /// Whether the features are those of a matrix, whose columns have no kinds.
    fn is_matrix(&self) -> bool;
}

/// The columns behind features, in their order. A column may have several groups, whose kinds or names differ.
///
/// ```
/// use quince::Matrix;
/// use quince::learn::{FeatureKind, FeatureMap};
/// let map = FeatureMap::of_matrix(&Matrix::zeros(1, 2).features(), &["height".into()]);
/// assert_eq!((map.groups[0].name.as_str(), map.groups[1].name.as_str()), ("height", "x1"));
/// assert_eq!(map.groups[1].kind, FeatureKind::Number);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeatureMap {
    /// The groups of features.
    pub groups: Vec<FeatureGroup>,
}

/// Features of one column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureGroup {
    /// The name of the column, or of the feature where a column has several dense ones.
    pub name: String,
    /// The number of the column, counted from 0; none for a product of columns.
    pub column: Option<usize>,
    /// The kind of its features.
    pub kind: FeatureKind,
    /// Its first feature, counted among the dense ones or, if it is sparse, among the sparse ones.
    pub first: usize,
    /// The number of its features.
    pub width: usize,
}

/// What a column of features is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FeatureKind {
    /// A number.
    Number,
    /// A whole number of at least zero.
    Count,
    /// 0 or 1.
    YesNo,
    /// The number of one of these categories.
    Category(Vec<String>),
    /// One of the features of a category, one-hot or hashed: all are zero where there is none.
    CategoryFeature,
    /// Counts of words; sparse.
    Words,
    /// Numbers at places; sparse.
    Vector,
}

impl FeatureKind {
    /// Whether it is sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self, FeatureKind::Words | FeatureKind::Vector)
    }

    /// The kind in words.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            FeatureKind::Number => "a number",
            FeatureKind::Count => "a count",
            FeatureKind::YesNo => "yes or no",
            FeatureKind::Category(_) => "a category",
            FeatureKind::CategoryFeature => "a feature of a category",
            FeatureKind::Words => "a text",
            FeatureKind::Vector => "a vector",
        }
    }
}

impl FeatureMap {
    /// Of a matrix: numbers called x0, x1 and so on, or as they are named, and what is sparse as one vector called x.
    pub fn of_matrix(features: &Features<'_>, names: &[String]) -> FeatureMap {
        FeatureMap::of_columns(features.dense_columns(), features.sparse_part().map(|sparse| sparse.columns()), names)
    }

    /// Of a matrix with these numbers of dense and sparse columns.
    pub(crate) fn of_columns(dense: usize, sparse: Option<usize>, names: &[String]) -> FeatureMap {
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{j}"));
        let number =
            |j: usize| FeatureGroup { name: name(j), column: Some(j), kind: FeatureKind::Number, first: j, width: 1 };
        let mut groups: Vec<FeatureGroup> = (0..dense).map(number).collect();
        if let Some(width) = sparse {
            groups.push(FeatureGroup {
                name: "x".into(),
                column: Some(dense),
                kind: FeatureKind::Vector,
                first: 0,
                width,
            });
        }
        FeatureMap { groups }
    }
}
