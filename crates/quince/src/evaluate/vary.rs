//! What a curve changes: the number of training rows, a setting of the method, or how columns become features.

use super::curve::CurveCandidate;
use crate::error::{Error, Result};
use crate::learn::{DynLearner, Method};
use crate::table::{Encoding, Labelled, Table};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Fractions of the training rows for a learning curve.
pub const TRAINING_FRACTIONS: [f64; 8] = [0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];

/// The highest degree of polynomial features that a curve goes to.
const MAX_CURVE_DEGREE: usize = 10;

/// What a curve changes, and the values it takes.
///
/// ```
/// use quince::evaluate::{Folds, Varied, curve};
/// use quince::{Run, Table, registry};
/// let table = Table::from_csv("x,y\n1,2.1\n2,3.9\n3,6.2\n4,7.8\n5,9.9\n6,12.1\n")?;
/// let (labelled, ridge) = (table.labelled("y", None)?, registry::method("ridge")?);
/// let varied = Varied::parse("alpha", "0.1, 1, 100", &labelled, ridge)?;
/// let candidates = varied.candidates(&labelled, ridge, &serde_json::json!({}))?;
/// let found = curve(varied.name(), &candidates, &Folds::K(3), None, None, &Run::new())?;
/// assert_eq!(found.points[found.best.unwrap()].value, "0.1");
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Varied {
    /// The fraction of the training rows that is learnt from: a learning curve.
    Rows(Vec<f64>),
    /// A setting of the method: a validation curve.
    Setting {
        /// Its name.
        name: String,
        /// Its values, as a person writes them.
        values: Vec<String>,
    },
    /// The degree of polynomial features.
    Degree(Vec<usize>),
    /// An option of how a column becomes features.
    ColumnOption {
        /// The column.
        column: String,
        /// The option, for example `words` of a text.
        option: String,
        /// Its values, as a person writes them.
        values: Vec<String>,
    },
}

impl Varied {
    /// Reads what is to be varied, as a person writes it: a setting of the method, `column:option`, or `degree`, and values with
    /// commas between them.
    pub fn parse(name: &str, values: &str, labelled: &Labelled, method: &Method) -> Result<Varied> {
        let values: Vec<String> =
            values.split(',').map(str::trim).filter(|value| !value.is_empty()).map(str::to_string).collect();
        if values.is_empty() {
            let remedy = "Write setting=value,value,..., for example alpha=0.1,1,10.";
            return Err(Error::setting(name, "has no values", remedy));
        }
        if name == "degree" && method.info.setting(name).is_none() {
            let degree = |value: &String| {
                let degree = value.parse().ok().filter(|degree| (1..=MAX_CURVE_DEGREE).contains(degree));
                degree.ok_or_else(|| {
                    let remedy = format!("Give numbers from 1 to {MAX_CURVE_DEGREE}.");
                    Error::setting(name, format!("cannot be {value}"), remedy)
                })
            };
            return Ok(Varied::Degree(values.iter().map(degree).collect::<Result<_>>()?));
        }
        Ok(match name.rsplit_once(':').filter(|(column, _)| labelled.table.column(column).is_ok()) {
            Some((column, option)) => Varied::ColumnOption { column: column.into(), option: option.into(), values },
            None => Varied::Setting { name: name.into(), values },
        })
    }

    /// What changes: `rows`, `degree`, the name of a setting, or `column:option`.
    pub fn name(&self) -> Cow<'_, str> {
        match self {
            Varied::Rows(_) => "rows".into(),
            Varied::Degree(_) => "degree".into(),
            Varied::Setting { name, .. } => name.into(),
            Varied::ColumnOption { column, option, .. } => format!("{column}:{option}").into(),
        }
    }

    /// One candidate for each value: the method with these settings, but for what is varied.
    pub fn candidates<'a>(
        &self,
        labelled: &'a Labelled,
        method: &Method,
        settings: &Value,
    ) -> Result<Vec<CurveCandidate<'a>>> {
        let candidate = |value: String, labelled: Cow<'a, Labelled>, learner: Arc<dyn DynLearner>, fraction: f64| {
            CurveCandidate { value, labelled, learner, fraction }
        };
        let same = || Cow::Borrowed(labelled);
        let encoded = |table: Table| Cow::Owned(Labelled { table, ..labelled.clone() });
        let learner = || -> Result<Arc<dyn DynLearner>> { Ok(method.configure(settings)?.into()) };
        match self {
            Varied::Rows(fractions) => {
                let learner = learner()?;
                let of = |part: &f64| candidate(format!("{} %", part * 100.0), same(), learner.clone(), *part);
                Ok(fractions.iter().map(of).collect())
            }
            Varied::Setting { name, values } => {
                let of = |value: &String| {
                    let mut settings = settings.as_object().cloned().unwrap_or_default();
                    settings.insert(name.clone(), method.parse_setting(name, value)?);
                    let learner = method.configure(&Value::Object(settings))?;
                    Ok(candidate(value.clone(), same(), learner.into(), 1.0))
                };
                values.iter().map(of).collect()
            }
            Varied::Degree(degrees) => {
                let learner = learner()?;
                let of = |degree: &usize| {
                    let encoding = Encoding { degree: *degree, ..labelled.table.encoding().clone() };
                    let table = labelled.table.clone().with_encoding(encoding)?;
                    Ok(candidate(degree.to_string(), encoded(table), learner.clone(), 1.0))
                };
                degrees.iter().map(of).collect()
            }
            Varied::ColumnOption { column, option, values } => {
                let learner = learner()?;
                let of = |value: &String| {
                    let table = labelled.table.clone().encoded_also(column, &format!("{option}={value}"))?;
                    Ok(candidate(value.clone(), encoded(table), learner.clone(), 1.0))
                };
                values.iter().map(of).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Learner;
    use crate::linear::Ridge;
    use serde_json::json;

    fn labelled() -> Labelled {
        Table::from_csv("a,b,y\n1,u,2.5\n2,v,3.5\n3,u,5.5\n4,v,9.5\n").unwrap().labelled("y", None).unwrap()
    }

    #[test]
    fn what_is_varied_is_a_setting_an_option_of_a_column_or_the_degree() {
        let (labelled, ridge) = (labelled(), Method::of::<Ridge>());
        let parse = |name: &str, values: &str| Varied::parse(name, values, &labelled, &ridge);
        let values = |all: &[&str]| all.iter().map(|value| value.to_string()).collect::<Vec<_>>();
        let alpha = Varied::Setting { name: "alpha".into(), values: values(&["1", "10"]) };
        assert_eq!(parse("alpha", "1, 10,").unwrap(), alpha);
        assert_eq!(parse("degree", "1,2").unwrap(), Varied::Degree(vec![1, 2]));
        let fill = parse("a:fill", "mean,median").unwrap();
        assert_eq!(fill.name(), "a:fill");
        assert!(matches!(fill, Varied::ColumnOption { ref column, .. } if column == "a"));
        // What is no column of the table is a setting, which the method refuses by its name.
        let wrong = parse("c:fill", "mean").unwrap().candidates(&labelled, &ridge, &json!({})).err().unwrap();
        assert_eq!(wrong.to_string(), "setting 'c:fill' is not a setting of 'ridge'");
        for (name, given) in [("alpha", " , "), ("degree", "0"), ("degree", "11"), ("degree", "x")] {
            assert_eq!(parse(name, given).unwrap_err().code(), "setting", "{name}={given}");
        }
    }

    #[test]
    fn every_value_is_a_candidate_and_the_rest_stays() {
        let (labelled, ridge) = (labelled(), Method::of::<Ridge>());
        let settings = json!({"intercept": false});
        let candidates = |name: &str, values: &str| {
            let varied = Varied::parse(name, values, &labelled, &ridge).unwrap();
            varied.candidates(&labelled, &ridge, &settings).unwrap()
        };
        let alphas = candidates("alpha", "1,10");
        let of = |candidate: &CurveCandidate<'_>, name: &str| candidate.learner.settings()[name].clone();
        assert_eq!((of(&alphas[1], "alpha"), of(&alphas[1], "intercept")), (json!(10.0), json!(false)));
        let degrees = candidates("degree", "1,3");
        let degree = |candidate: &CurveCandidate<'_>| candidate.labelled.table.encoding().degree;
        assert_eq!((degree(&degrees[0]), degree(&degrees[1])), (1, 3));
        assert_eq!(of(&degrees[1], "intercept"), json!(false));
        assert_eq!(candidates("a:fill", "mean,median").len(), 2);
        let rows = Varied::Rows(vec![0.5, 1.0]).candidates(&labelled, &ridge, &settings).unwrap();
        assert_eq!((rows[0].value.as_str(), rows[0].fraction), ("50 %", 0.5));
        assert_eq!(Ridge::INFO.name, rows[0].learner.info().name);
    }
}
