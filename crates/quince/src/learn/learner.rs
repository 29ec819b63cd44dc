//! Settings that can be fitted, and fitted models that can predict.

use super::examples::Examples;
use super::feature_map::FeatureSource;
use super::imputed::Imputed;
use super::method::MethodInfo;
use super::prediction::{Prediction, SampledRow};
use super::saved_parts::SavedParts;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::matrix::Features;
use crate::run::{Report, Run};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::sync::Arc;

/// Settings of a method, ready to be fitted.
///
/// A method writes [`Learner::fit_checked`] and, where it can, [`Learner::resume_checked`] and
/// [`Learner::leave_one_out_checked`]. Everybody calls [`Learner::fit_examples`], [`Learner::resume`] and
/// [`Learner::leave_one_out_examples`]: they refuse settings out of range and data that the method cannot learn from, so that a
/// method meets neither.
///
/// ```
/// use quince::learn::{Examples, Fitted, Learner, Prediction, Target};
/// use quince::{Matrix, Run, linear::Ridge};
/// let (x, y) = (Matrix::from_rows(&[[0.0], [2.0]]), Target::numbers(Matrix::from_rows(&[[1.0], [3.0]]))?);
/// let (line, _) = Ridge::new().alpha(0.0).fit_examples(&Examples::new(x.features(), &y, None)?, &Run::new())?;
/// let Prediction::Numbers(at_one) = line.predict(&Matrix::from_rows(&[[1.0]]).features(), &Run::new())? else { panic!() };
/// assert!((at_one[(0, 0)] - 2.0).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
pub trait Learner: Settings + Serialize + DeserializeOwned + Default + Clone + Send + Sync + 'static {
    /// What comes out.
    type Fitted: Fitted + Clone;

    /// Name, summary, capabilities and settings, for the registry.
    const INFO: MethodInfo;

    /// Whether a fit that was cut short can be resumed: whether the method writes [`Learner::resume_checked`].
    const RESUMES: bool = false;

    /// Refuses settings that contradict each other; each is in its range by itself.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }

    /// Whether scores of classes become probabilities: not where settings say that they are not calibrated.
    fn has_probabilities(&self) -> bool {
        true
    }

    /// Learns from examples: what a method writes.
    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(Self::Fitted, Report)>;

    /// Continues where a fit to the same examples has ended, which a budget may have cut short; `None` if the method has
    /// to start again.
    fn resume_checked(
        &self,
        _from: &Self::Fitted,
        _examples: &Checked<'_>,
        _run: &Run,
    ) -> Result<Option<(Self::Fitted, Report)>> {
        Ok(None)
    }

    /// The prediction for every row by the model learnt without it, where algebra gives that without refitting.
    fn leave_one_out_checked(&self, _examples: &Checked<'_>, _run: &Run) -> Result<Option<Prediction>> {
        Ok(None)
    }

    /// Learns from examples, after checking settings and data.
    fn fit_examples(&self, examples: &Examples<'_>, run: &Run) -> Result<(Self::Fitted, Report)> {
        named(self.fit_checked(&Checked::new(self, examples)?, run), Self::INFO.name)
    }

    /// Continues where a fit to the same examples has ended, which a budget may have cut short; `None` if the method has
    /// to start again.
    fn resume(
        &self,
        from: &Self::Fitted,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<Option<(Self::Fitted, Report)>> {
        named(self.resume_checked(from, &Checked::new(self, examples)?, run), Self::INFO.name)
    }

    /// The prediction for every row by the model learnt without it; `None` where that takes refitting.
    fn leave_one_out_examples(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        let left_out = named(self.leave_one_out_checked(&Checked::new(self, examples)?, run), Self::INFO.name)?;
        Ok(left_out.map(|prediction| prediction.with_probabilities_if(self.has_probabilities())))
    }
}

/// Examples that a learner with sound settings can learn from: only [`Learner`]'s own methods make them.
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a>(Examples<'a>);

impl<'a> Checked<'a> {
    pub(crate) fn new<L: Learner>(learner: &L, examples: &Examples<'a>) -> Result<Checked<'a>> {
        check_settings(learner)?;
        L::INFO.check_examples(examples)?;
        Ok(Checked(*examples))
    }
}

impl<'a> std::ops::Deref for Checked<'a> {
    type Target = Examples<'a>;

    fn deref(&self) -> &Examples<'a> {
        &self.0
    }
}

/// Refuses settings out of range, and those that contradict each other.
fn check_settings<L: Learner>(learner: &L) -> Result<()> {
    learner.check_domains()?;
    learner.check_settings()
}

/// What a method has learnt. Its own type is found again by [`Model::fitted`](crate::Model::fitted).
pub trait Fitted: Any + Send + Sync {
    /// Predicts for every row: what a method writes. Everybody calls [`Fitted::predict`]. The rows may have any columns;
    /// [`Features::check_columns`] refuses other than the model's.
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction>;

    /// Predicts for every row. An error if the rows have other columns than those it was fitted to, or values that lead to no
    /// finite answer.
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let prediction = self.predict_rows(rows, run)?;
        if prediction.is_finite() {
            return Ok(prediction);
        }
        rows.check_finite()?;
        Err(Error::data(
            "the prediction is not finite",
            "Look for values far larger than those the model was trained on.",
        ))
    }

    /// What one should know of the model, in sentences: what a report says when it has learnt on.
    fn remarks(&self, _classes: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// The cluster of every row and its distance from the centre there, in memory for those alone; `None` of a method without centres.
    fn clusters(&self, _rows: &Features<'_>, _run: &Run) -> Result<Option<(Vec<u32>, Vec<f64>)>> {
        Ok(None)
    }

    /// The number of clusters or components; zero of a method without any.
    fn groups(&self) -> usize {
        0
    }

    /// The same with more rows learnt from; `None` if the method has to start again.
    fn updated(&self, _more: &Examples<'_>, _run: &Run) -> Result<Option<Arc<dyn Fitted>>> {
        Ok(None)
    }

    /// What the model has learnt, as a person reads it; `None` if the method cannot say. `encoder` knows the names of features.
    fn explain(&self, _encoder: &dyn FeatureSource, _classes: &[String]) -> Option<Explanation> {
        None
    }

    /// What spoke for the answer to a row; `None` if the method cannot say.
    fn explain_row(
        &self,
        _row: &Features<'_>,
        _encoder: &dyn FeatureSource,
        _classes: &[String],
    ) -> Result<Option<Explanation>> {
        Ok(None)
    }

    /// Imputes the missing values of rows given the rest of the row, and its class where that is known; `None` if the method is not
    /// a generative model.
    fn impute(&self, _rows: &Features<'_>, _classes: Option<&[u32]>, _run: &Run) -> Result<Option<Imputed>> {
        Ok(None)
    }

    /// Draws rows, of one class only if that is given; `None` if the method is not a generative model.
    fn sample(&self, _count: usize, _class: Option<usize>, _run: &Run) -> Result<Option<Vec<SampledRow>>> {
        Ok(None)
    }

    /// Puts all numbers of the model into named arrays.
    fn save(&self, parts: &mut SavedParts<'_>);

    /// Takes all of them out again, checking that they fit together. A file with an array that is not taken is refused.
    fn load(parts: &mut SavedParts<'_>) -> Result<Self>
    where
        Self: Sized;
}

/// Names the method in an error that a budget caused.
pub(crate) fn named<T>(result: Result<T>, method: &str) -> Result<T> {
    result.map_err(|error| match error {
        Error::OutOfTime { .. } => Error::OutOfTime { what: method.to_string() },
        other => other,
    })
}
