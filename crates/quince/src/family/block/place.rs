//! The columns of a block, dense or sparse.

use serde::{Deserialize, Serialize};

/// The columns of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Place {
    /// These dense columns.
    Dense(Vec<usize>),
    /// Sparse columns, counted from the first sparse one.
    Sparse { first: usize, width: usize },
}

impl Place {
    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        match self {
            Place::Dense(columns) => columns.len(),
            Place::Sparse { width, .. } => *width,
        }
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self, Place::Sparse { .. })
    }

    /// The dense columns.
    pub(crate) fn columns(&self) -> &[usize] {
        if let Place::Dense(columns) = self { columns } else { &[] }
    }
}
