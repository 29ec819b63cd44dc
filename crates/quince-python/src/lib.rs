//! The Rust half of the Python package `quince`: arrays in, models out, the lock released in between.
//!
//! Nothing is decided here. Arrays become [`quince::matrix::Features`] without a copy ([`features`]), work runs with
//! Python's lock released and listens for Ctrl-C ([`steer`]), errors become Python's ([`errors`]), and models, tables
//! and leaderboards are handed over. scikit-learn's parameters, attributes and checks are in `python/quince/`.

mod categories;
mod cluster;
mod encode;
mod errors;
mod family;
mod features;
mod fit;
mod json;
mod known;
mod learn;
mod linear;
mod mixture;
mod model;
mod neighbours;
mod parameters;
mod predict;
mod statistics;
mod steer;
mod table;
mod text;

/// The extension module `quince._quince`.
#[pyo3::pymodule]
mod _quince {
    #[pymodule_export]
    use crate::categories::{
        Categories, CategoryGroups, count_categories, learn_categories, one_hot_dense, one_hot_groups, one_hot_sparse,
    };
    #[pymodule_export]
    use crate::cluster::{cluster_distances, cluster_error, silhouettes};
    #[pymodule_export]
    use crate::encode::{TableEncoder, count_products, knn_impute, learn_table, monomials, products};
    #[pymodule_export]
    use crate::family::{Gaussian, Joint, Multinomial, Single};
    #[pymodule_export]
    use crate::fit::{fit, leave_one_out, update};
    #[pymodule_export]
    use crate::known::{
        known_baseline, known_centres, known_discriminants, known_gaussian, known_linear_svm, project_rows,
        widen_categories, with_coefficients,
    };
    #[pymodule_export]
    use crate::learn::{compare, models, train};
    #[pymodule_export]
    use crate::linear::linear_outputs;
    #[pymodule_export]
    use crate::mixture::{impute_rows, mixture_criterion};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::neighbours::{Neighbours, nearest_rows};
    #[pymodule_export]
    use crate::predict::predict;
    #[pymodule_export]
    use crate::statistics::{column_moments, fill_values, merge_moments};
    #[pymodule_export]
    use crate::steer::available_cores;
    #[pymodule_export]
    use crate::table::{Table, read, read_csv};
    #[pymodule_export]
    use crate::text::{
        TextEncoder, chi_squared, inverse_document_frequencies, learn_text, mutual_information, stop_words, weigh_terms,
    };

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const UNKNOWN_CATEGORY: u32 = quince::encode::UNKNOWN_CATEGORY;
}
