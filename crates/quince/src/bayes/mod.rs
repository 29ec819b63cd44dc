//! Bayes classifiers: the class with the largest posterior probability wins, the prior times the likelihood of the row.
//!
//! ```text
//! P(class | row) = P(class) p(row | class) / Σ_k P(k) p(row | k)
//! ```
//!
//! Scores are ln P(class) + ln p(row | class); their differences are the log odds. The likelihood of a row is a product of
//! blocks ([`family`](crate::family)): single columns, each with a family, or several columns that share one. [`NaiveBayes`] takes columns as independent given
//! the class, so that the likelihood of a row is the product over its cells, and missing values are left out.
//! [`GaussianClassifier`] takes all numbers together as one multivariate Gaussian, whose covariances may be full, diagonal or
//! spherical, and each class's own or shared: quadratic and linear discriminant analysis are two of its settings, the nearest
//! mean is another.
//!
//! What is learnt are sufficient statistics of each class, in one pass over the rows. They can be added to
//! ([`BayesModel::update`]), merged ([`BayesModel::merged`]) and taken back, which is why exact leave-one-out costs no more
//! than predicting.

mod axes;
mod calibrate;
mod centroid;
mod discriminant;
mod explain;
mod gaussian;
mod known;
mod leave_one_out;
mod model;
mod naive;
mod predict;
mod priors;
mod sample;
#[cfg(test)]
mod tests;

pub use crate::family::layout::{Families, FamilyChoice};
pub use crate::family::{FamilyParameters, Parameters};
pub use axes::{DiscriminantAxes, PrincipalAxes};
pub use centroid::{CentroidMetric, CentroidModel, NearestCentroid};
pub use discriminant::{Boundaries, Discriminant, LinearDiscriminants};
pub use gaussian::{
    ClassCovariance, GaussianClassifier, SharedCovariance, ShrinkTo, ShrinkageAmount, SingularCovariance, VarianceOf,
};
pub use model::BayesModel;
pub use naive::NaiveBayes;
pub use priors::Priors;

use crate::em::{Trace, visiting_order};
use crate::error::Result;
use crate::family::layout::{LayoutData, LayoutOptions, layout};
use crate::family::statistics::Members;
use crate::learn::{Examples, FeatureMap, Fitted, Prediction, Target, TargetView};
use crate::run::{Certificate, Report, Run, StopReason};
use calibrate::FoldBlocks;

/// Lays out blocks for the columns of examples and learns their parameters.
fn fit(
    examples: &Examples<'_>,
    choices: &LayoutOptions<'_>,
    (priors, calibrate): (&Priors, bool),
    run: &Run,
) -> Result<(BayesModel, Report)> {
    let TargetView::Classes { classes, codes } = examples.target.view() else { return Err(Target::missing()) };
    priors.check(classes.count())?;
    let features = &examples.features;
    let (count, weights, columns) = (classes.count(), examples.weights, examples.feature_map());
    let given = priors.given(count);
    let data = layout_data(examples, &columns, (codes, count), given.as_deref());
    let laid_out = layout(&data, choices, run)?;
    let of_folds = FoldBlocks::of(&laid_out, &data, choices);
    let members = Members::new(codes, count, weights);
    let mut model = BayesModel::fit(laid_out.blocks, laid_out.choices, priors.clone(), features, &members, run)?;
    let trace = model.fit_missing(features, codes, weights, model::MAX_EM_STEPS, run)?;
    let late = trace.as_ref().is_some_and(|trace| trace.stop == StopReason::Budget);
    let is_exact = trace.is_none() && of_folds.are_the_same();
    let too_hopeful = calibrate && !is_exact && (late || !model.is_calibrated_by_folds(&of_folds, &data, run)?);
    if too_hopeful {
        run.finish(|| model.calibrate(features, &members, run))?;
    } else if calibrate && is_exact {
        model.calibrate(features, &members, run)?;
    }
    let mut report = Report::computed(model.route());
    if let Some(trace) = trace {
        report.route = format!("{} steps of EM for missing values, {}", trace.objectives.len(), report.route);
        report.certificate = certificate(&trace);
        report.remarks.extend(remark_on_missing(&trace));
        (report.stop, report.trace) = (trace.stop, trace.objectives);
    }
    if too_hopeful {
        report.remarks.push("probabilities are not calibrated by folds, and may be overconfident".into());
    }
    report.fact("parameters", model.free_parameters() as f64);
    report.fact("temperature", model.temperature());
    report.fact("contamination", model.contamination());
    report.remarks.extend(model.remarks(classes.names()));
    Ok((model, report))
}

/// The rows to lay out blocks for.
fn layout_data<'a>(
    examples: &'a Examples<'_>,
    (feature_map, of_matrix): &'a (FeatureMap, bool),
    (codes, classes): (&'a [u32], usize),
    priors: Option<&'a [f64]>,
) -> LayoutData<'a> {
    LayoutData {
        feature_map,
        of_matrix: *of_matrix,
        features: &examples.features,
        codes,
        classes,
        components: classes,
        priors,
        weights: examples.weights,
    }
}

/// How far EM for missing values has come.
fn certificate(trace: &Trace) -> Option<Certificate> {
    let measure = "rise of the log likelihood of a row by the last step but one".to_string();
    (trace.objectives.len() > 1).then(|| Certificate {
        measure,
        value: trace.rise.abs(),
        tolerance: model::EM_TOLERANCE,
    })
}

/// A remark if EM for missing values ended early.
fn remark_on_missing(trace: &Trace) -> Option<String> {
    let advice =
        "the covariances may be nearly singular: a larger variance_floor or shrinkage, or shared=pooled, settles them";
    match trace.stop {
        StopReason::StepLimit => Some(format!(
            "after {} steps of EM for missing values the likelihood was still rising; {advice}",
            trace.objectives.len()
        )),
        _ => trace.remark(),
    }
}

/// Exact leave-one-out predictions of every row; `None` where anything that the model keeps has seen the row that is left out: the
/// calibration, families and bins that were chosen by the rows, and what is expected of other rows' missing values.
fn leave_one_out(
    examples: &Examples<'_>,
    choices: &LayoutOptions<'_>,
    (priors, calibrate): (&Priors, bool),
    run: &Run,
) -> Result<Option<Prediction>> {
    let TargetView::Classes { classes, codes } = examples.target.view() else { return Err(Target::missing()) };
    priors.check(classes.count())?;
    if calibrate {
        return Ok(None);
    }
    let features = &examples.features;
    let (count, weights, columns) = (classes.count(), examples.weights, examples.feature_map());
    let given = priors.given(count);
    let data = layout_data(examples, &columns, (codes, count), given.as_deref());
    let laid_out = layout(&data, choices, run)?;
    if laid_out.is_of_rows || visiting_order(features, &laid_out.blocks).is_some() {
        return Ok(None);
    }
    let members = Members::new(codes, count, weights);
    let model = BayesModel::fit(laid_out.blocks, laid_out.choices, priors.clone(), features, &members, run)?;
    model.without_each(features, &members, run).map(Some)
}
