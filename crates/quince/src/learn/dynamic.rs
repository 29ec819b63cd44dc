//! Methods whose type is not known, only their name: what a registry holds and a command line configures.

use super::examples::Examples;
use super::learner::{Fitted, Learner};
use super::method::MethodInfo;
use super::prediction::Prediction;
use super::saved_parts::SavedParts;
use crate::error::{Error, Result, did_you_mean};
use crate::run::{Report, Run};
use serde_json::Value;
use std::any::Any;
use std::sync::Arc;

/// A [`Learner`] whose type is not known: what the registry hands out.
pub trait DynLearner: Send + Sync {
    /// What the method says of itself.
    fn info(&self) -> &'static MethodInfo;

    /// The method, for a registry.
    fn method(&self) -> Method;

    /// All settings, by name.
    fn settings(&self) -> Value;

    /// See [`Learner::RESUMES`].
    fn resumes(&self) -> bool;

    /// See [`Learner::has_probabilities`].
    fn has_probabilities_dyn(&self) -> bool;

    /// Whether this is what the method learns.
    fn learns(&self, fitted: &dyn Fitted) -> bool;

    /// See [`Learner::fit_examples`].
    fn fit_dyn(&self, examples: &Examples<'_>, run: &Run) -> Result<(Arc<dyn Fitted>, Report)>;

    /// See [`Learner::resume`].
    fn resume_dyn(
        &self,
        from: &dyn Fitted,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<Option<(Arc<dyn Fitted>, Report)>>;

    /// See [`Learner::leave_one_out_examples`].
    fn leave_one_out_dyn(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>>;
}

impl<L: Learner> DynLearner for L {
    fn info(&self) -> &'static MethodInfo {
        const { &L::INFO }
    }

    fn method(&self) -> Method {
        Method::of::<L>()
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn resumes(&self) -> bool {
        L::RESUMES
    }

    fn has_probabilities_dyn(&self) -> bool {
        self.has_probabilities()
    }

    fn learns(&self, fitted: &dyn Fitted) -> bool {
        (fitted as &dyn Any).is::<L::Fitted>()
    }

    fn fit_dyn(&self, examples: &Examples<'_>, run: &Run) -> Result<(Arc<dyn Fitted>, Report)> {
        let (fitted, report) = self.fit_examples(examples, run)?;
        Ok((Arc::new(fitted), report))
    }

    fn resume_dyn(
        &self,
        from: &dyn Fitted,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<Option<(Arc<dyn Fitted>, Report)>> {
        let Some(from) = (from as &dyn Any).downcast_ref::<L::Fitted>() else { return Ok(None) };
        Ok(self.resume(from, examples, run)?.map(|(fitted, report)| (Arc::new(fitted) as Arc<dyn Fitted>, report)))
    }

    fn leave_one_out_dyn(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        self.leave_one_out_examples(examples, run)
    }
}

/// A method whose type is not known: what a registry holds.
///
/// ```
/// use quince::registry;
/// use serde_json::json;
/// let ridge = registry::method("ridge")?;
/// assert_eq!(ridge.configure(&json!({"alpha": 3}))?.settings()["alpha"], 3.0);
/// assert!(ridge.configure(&json!({"alpha": -1})).is_err() && ridge.configure(&json!({"alhpa": 1})).is_err());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy)]
pub struct Method {
    /// What it is.
    pub info: &'static MethodInfo,
    defaults: fn() -> Value,
    configure: fn(&Value) -> Result<Box<dyn DynLearner>>,
    unchecked: fn(&Value) -> Result<Box<dyn DynLearner>>,
    load: fn(&mut SavedParts<'_>) -> Result<Arc<dyn Fitted>>,
}

impl Method {
    /// The method whose settings are `L`.
    pub const fn of<L: Learner>() -> Method {
        Method {
            info: const { &L::INFO },
            defaults: || serde_json::to_value(L::default()).unwrap_or_default(),
            configure: |settings| Ok(Box::new(checked::<L>(settings)?)),
            unchecked: |settings| Ok(Box::new(learner_of::<L>(settings)?)),
            load: |parts| Ok(Arc::new(L::Fitted::load(parts)?)),
        }
    }

    /// The method's settings and their default values.
    pub fn defaults(&self) -> Value {
        (self.defaults)()
    }

    /// The method with these settings, given by name; what is not given has its default. Unknown names and values out
    /// of range are refused.
    pub fn configure(&self, settings: &Value) -> Result<Box<dyn DynLearner>> {
        (self.configure)(&self.with_defaults(settings)?)
    }

    /// These settings, and the defaults of all others.
    fn with_defaults(&self, settings: &Value) -> Result<Value> {
        let mut all = self.defaults();
        match (&mut all, settings) {
            (_, Value::Null) => {}
            (Value::Object(all), Value::Object(given)) => {
                for (name, value) in given {
                    if !all.contains_key(name) {
                        return Err(self.no_such_setting(name));
                    }
                    all.insert(name.clone(), value.clone());
                }
            }
            _ => {
                let problem = format!("settings cannot be {settings}");
                return Err(Error::data(problem, "Give an object of names and values."));
            }
        }
        Ok(all)
    }

    /// The method with these settings, which nobody has checked, as if its struct had been filled in: a fit refuses what is out of
    /// range.
    pub fn unchecked(&self, settings: &Value) -> Result<Box<dyn DynLearner>> {
        (self.unchecked)(settings)
    }

    /// The method with the settings of a saved model, of which those are left out that this release does not know: they said how to
    /// fit, and the model is fitted. Only whether scores are probabilities is still asked of them.
    pub(crate) fn of_file(&self, settings: &Value) -> Result<Box<dyn DynLearner>> {
        let mut all = self.defaults();
        if let (Value::Object(all), Value::Object(given)) = (&mut all, settings) {
            let known = all.iter_mut().filter_map(|(name, value)| Some((value, given.get(name)?)));
            known.for_each(|(value, given)| *value = given.clone());
        }
        self.unchecked(&all)
    }

    /// Takes what the method has learnt out of what was saved.
    pub(crate) fn load(&self, parts: &mut SavedParts<'_>) -> Result<Arc<dyn Fitted>> {
        (self.load)(parts)
    }

    /// Reads `name=value` as a person writes it on a command line, with the type that the setting has.
    pub fn parse_setting(&self, name: &str, text: &str) -> Result<Value> {
        let setting = self.info.setting(name).ok_or_else(|| self.no_such_setting(name))?;
        setting.parse(text)
    }

    fn no_such_setting(&self, name: &str) -> Error {
        let names = self.info.settings.iter().map(|setting| setting.name);
        Error::setting(name, format!("is not a setting of '{}'", self.info.name), did_you_mean(name, "settings", names))
    }
}

/// As [`Method::configure`], for a method whose type is known.
///
/// ```
/// use quince::prelude::*;
/// use serde_json::json;
/// let ridge: Ridge = quince::learn::configured(&json!({"alpha": 3}))?;
/// assert_eq!(ridge, Ridge::new().alpha(3.0));
/// # quince::Result::Ok(())
/// ```
pub fn configured<L: Learner>(settings: &Value) -> Result<L> {
    checked(&Method::of::<L>().with_defaults(settings)?)
}

/// A settings struct from all its fields by name, each in its range, and none against another.
fn checked<L: Learner>(settings: &Value) -> Result<L> {
    L::INFO.check(settings)?;
    let learner = learner_of::<L>(settings)?;
    learner.check_settings()?;
    Ok(learner)
}

/// A settings struct from its fields by name.
fn learner_of<L: Learner>(settings: &Value) -> Result<L> {
    serde_json::from_value(settings.clone())
        .map_err(|e| Error::setting(L::INFO.name, e.to_string(), "Look at the settings of the method."))
}
