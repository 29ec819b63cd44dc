//! What the features of an encoder are columns of.

use super::column::ColumnEncoder;
use super::encoder::Encoder;
use crate::learn::{FeatureGroup, FeatureKind, FeatureMap, FeatureSource};
use crate::table::Kind;

impl FeatureSource for Encoder {
    fn feature_map(&self) -> FeatureMap {
        self.feature_map()
    }

    fn feature_names(&self) -> Box<dyn Iterator<Item = String> + '_> {
        Box::new(Encoder::feature_names(self))
    }

    fn is_matrix(&self) -> bool {
        self.is_identity()
    }
}

impl Encoder {
    /// What the features are columns of. A matrix is dense.
    pub fn feature_map(&self) -> FeatureMap {
        if let Some(matrix) = &self.matrix {
            return matrix.feature_map();
        }
        let (mut groups, mut dense, mut sparse) = (Vec::new(), 0, 0);
        for (place, column) in self.columns.iter().enumerate() {
            let mut put = |name: String, kind: FeatureKind, width: usize| {
                let next = if kind.is_sparse() { &mut sparse } else { &mut dense };
                groups.push(FeatureGroup { name, column: Some(place), kind, first: *next, width });
                *next += width;
            };
            let name = column.field.name.clone();
            let width = column.encoder.sparse_width();
            match &column.encoder {
                ColumnEncoder::Standard { mean, standard_deviation, log, .. } => {
                    let plain = *mean == 0.0 && *standard_deviation == 1.0 && !log;
                    let count = plain && column.field.kind == Kind::Count;
                    put(name, if count { FeatureKind::Count } else { FeatureKind::Number }, 1);
                }
                ColumnEncoder::YesNo { .. } => put(name, FeatureKind::YesNo, 1),
                ColumnEncoder::Codes { names, rare, .. } => {
                    let names = names.values().iter().cloned().chain(rare.then(|| "(rare)".to_string())).collect();
                    put(name, FeatureKind::Category(names), 1);
                }
                ColumnEncoder::Words(_) => put(name, FeatureKind::Words, width),
                encoder if encoder.is_sparse() => put(name, FeatureKind::Vector, width),
                encoder @ (ColumnEncoder::OneHot { .. } | ColumnEncoder::Hashed { .. }) => {
                    encoder.names(&name).for_each(|feature| put(feature, FeatureKind::CategoryFeature, 1));
                }
                ColumnEncoder::Ordinal { .. } | ColumnEncoder::Vector { .. } => put(name, FeatureKind::Number, 1),
            }
            if column.encoder.has_missing_indicator() {
                put(format!("{} is missing", column.field.name), FeatureKind::YesNo, 1);
            }
        }
        let products = self.terms().map_or(0, |terms| terms.len());
        for name in self.feature_names().skip(dense_before(&groups)).take(products) {
            let first = dense_before(&groups);
            groups.push(FeatureGroup { name, column: None, kind: FeatureKind::Number, first, width: 1 });
        }
        FeatureMap { groups }
    }
}

/// How many dense features there are so far.
fn dense_before(groups: &[FeatureGroup]) -> usize {
    groups.iter().filter(|group| !group.kind.is_sparse()).map(|group| group.width).sum()
}
