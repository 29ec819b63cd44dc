//! The Rust half of the Python package `quince`: arrays in, models out, the lock released in between.
//!
//! Nothing is decided here. Arrays become [`quince::matrix::Features`] without a copy ([`features`]), work runs with
//! Python's lock released and listens for Ctrl-C ([`steer`]), errors become Python's ([`errors`]), and models, tables
//! and leaderboards are handed over. scikit-learn's parameters, attributes and checks are in `python/quince/`.

mod baseline;
mod bayes;
mod cluster;
mod encode;
mod errors;
mod family;
mod features;
mod json;
mod learn;
mod linear;
mod margin;
mod mixture;
mod model;
mod neighbours;
mod steer;
mod table;
mod text;

/// The extension module `quince._quince`.
#[pyo3::pymodule]
mod _quince {
    #[pymodule_export]
    use crate::baseline::{baseline_of_classes, baseline_of_numbers, baseline_of_values};
    #[pymodule_export]
    use crate::bayes::{ask_bayes, bayes_classes, bayes_parameters, fit_bayes, leave_one_out_bayes, update_bayes};
    #[pymodule_export]
    use crate::cluster::{cluster_distances, cluster_error, cluster_labels, fit_clusters, learn_batch, silhouettes};
    #[pymodule_export]
    use crate::encode::{TableEncoder, count_products, knn_impute, learn_table, monomials, products};
    #[pymodule_export]
    use crate::family::{Gaussian, Joint, Multinomial, Single};
    #[pymodule_export]
    use crate::learn::{compare, models, train};
    #[pymodule_export]
    use crate::linear::{Spectrum, fit_linear, linear_outputs};
    #[pymodule_export]
    use crate::margin::{fit_sgd, fit_svm, svm_scores};
    #[pymodule_export]
    use crate::mixture::{
        ask_mixture, fit_mixture, fit_mixture_from, impute_rows, mixture_criterion, mixture_parameters,
    };
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::neighbours::{Neighbours, fit_neighbours, nearest_rows, neighbours_labels, neighbours_say};
    #[pymodule_export]
    use crate::table::{Table, read, read_csv};
    #[pymodule_export]
    use crate::text::{TextEncoder, chi_squared, learn_text, mutual_information, stop_words};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
