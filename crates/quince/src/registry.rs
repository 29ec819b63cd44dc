//! The registry: every method, once. The command line, `compare`, the guide and the README read this list and nothing else.

use crate::baseline::Baseline;
use crate::bayes::{GaussianClassifier, NaiveBayes, NearestCentroid};
use crate::cluster::KMeans;
use crate::error::{Error, Result, did_you_mean};
use crate::learn::Learner;
use crate::linear::{LeastSquares, Ridge};
use crate::margin::{LinearSvm, OneClassSvm, Svm};
use crate::mixture::Mixture;
use crate::neighbours::Knn;

pub use crate::learn::Method;

/// The methods, in the order they are shown. To add one: its own folder, and a line here.
pub static METHODS: &[Method] = &[
    Method::of::<Baseline>(),
    Method::of::<LeastSquares>(),
    Method::of::<Ridge>(),
    Method::of::<Knn>(),
    Method::of::<NaiveBayes>(),
    Method::of::<GaussianClassifier>(),
    Method::of::<NearestCentroid>(),
    Method::of::<Svm>(),
    Method::of::<LinearSvm>(),
    Method::of::<KMeans>(),
    Method::of::<Mixture>(),
    Method::of::<OneClassSvm>(),
];

/// The standard method with this name.
///
/// ```
/// let svm = quince::registry::method("svm")?;
/// assert_eq!(svm.info.title, "Support vector machine");
/// assert_eq!(svm.defaults()["c"], 1.0);
/// # quince::Result::Ok(())
/// ```
pub fn method(name: &str) -> Result<&'static Method> {
    find(METHODS, name)
}

fn find<'a>(methods: &'a [Method], name: &str) -> Result<&'a Method> {
    methods.iter().find(|method| method.info.name == name).ok_or_else(|| Error::Unknown {
        what: "method",
        name: name.to_string(),
        remedy: did_you_mean(name, "methods", methods.iter().map(|method| method.info.name)),
    })
}

/// The methods that saved models may be of: the standard ones, and one's own.
///
/// ```
/// use quince::registry::Registry;
/// let registry = Registry::standard();
/// assert_eq!(registry.method("knn")?.info.title, registry.methods()[3].info.title);
/// assert_eq!(registry.method("kmn").err().unwrap().remedy(), "Did you mean 'knn'?");
/// # quince::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Registry(Vec<Method>);

impl Registry {
    /// The methods of [`METHODS`].
    pub fn standard() -> Registry {
        Registry(METHODS.to_vec())
    }

    /// With one more method, instead of another of the same name.
    pub fn with<L: Learner>(mut self) -> Registry {
        self.0.retain(|method| method.info.name != L::INFO.name);
        self.0.push(Method::of::<L>());
        self
    }

    /// The method with this name.
    pub fn method(&self, name: &str) -> Result<&Method> {
        find(&self.0, name)
    }

    /// All methods, in the order they are shown.
    pub fn methods(&self) -> &[Method] {
        &self.0
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::standard()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_description_lists_exactly_the_settings_of_its_struct_and_its_defaults_are_in_range() {
        for entry in METHODS {
            let defaults = entry.defaults();
            let in_struct: Vec<&String> = defaults.as_object().unwrap().keys().collect();
            let mut described: Vec<&str> = entry.info.settings.iter().map(|s| s.name).collect();
            described.sort();
            let mut in_struct: Vec<&str> = in_struct.into_iter().map(String::as_str).collect();
            in_struct.sort();
            assert_eq!(in_struct, described, "{}", entry.info.name);
            entry.configure(&json!({})).unwrap();
        }
    }

    #[test]
    fn a_wrong_name_or_value_is_refused_with_a_remedy() {
        let ridge = method("ridge").unwrap();
        let wrong = ridge.configure(&json!({"alhpa": 1.0})).err().unwrap();
        assert_eq!(wrong.remedy(), "Did you mean 'alpha'?");
        let wrong = ridge.configure(&json!({"alpha": -1.0})).err().unwrap();
        assert_eq!(wrong.to_string(), "setting 'alpha' cannot be -1");
        assert_eq!(wrong.remedy(), "It takes a number of at least 0.");
        assert_eq!(ridge.parse_setting("alpha", "nan").unwrap_err().code(), "setting");
        assert_eq!(method("rigde").err().unwrap().remedy(), "Did you mean 'ridge'?");
    }
}
