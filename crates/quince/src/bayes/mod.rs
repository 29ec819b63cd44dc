//! Bayes classifiers: the class of a row is the one that makes the row likeliest, weighed by how frequent the class is.
//!
//! ```text
//! P(class | row) = P(class) p(row | class) / Σ_k P(k) p(row | k)
//! ```
//!
//! Scores are ln P(class) + ln p(row | class); their differences are the log odds. What a row's likelihood is made of are blocks
//! ([`family`](crate::family)): columns that have a family of their own, or several that share one. [`NaiveBayes`] takes single
//! columns as independent given the class, so that a row's likelihood is the product of its cells', and holes are simply left
//! out. [`Gaussian`] takes all numbers together as one Gaussian, whose covariances may be full, diagonal or spherical, and each
//! class's own or common: quadratic and linear discriminant analysis are two of its settings, the nearest mean is another.
//!
//! What is learnt are sums over the rows of each class, in one pass. They can be added to ([`BayesModel::update`]), joined
//! ([`BayesModel::merged`]) and taken back, which is how leaving out one row after another costs no more than predicting.

mod ask;
mod calibrate;
mod discriminant;
mod explain;
mod gaussian;
mod leave_one_out;
mod model;
mod naive;
mod priors;
mod sample;
#[cfg(test)]
mod tests;

pub use crate::family::Parameters;
pub use crate::family::layout::{Choice, Families};
pub use discriminant::{Boundaries, Discriminant};
pub use gaussian::{Covariance, Gaussian, ShareOf, SharedCovariance, ShrinkTo};
pub use model::BayesModel;
pub use naive::NaiveBayes;
pub use priors::Priors;

use crate::error::Result;
use crate::family::layout::{Choices, Data, layout};
use crate::family::sums::Members;
use crate::learn::{Examples, Fitted, Prediction, Target};
use crate::run::{Report, Run, Stop};

/// Lays out blocks for the columns of examples and learns their parameters.
fn fit(
    examples: &Examples<'_>,
    choices: &Choices<'_>,
    (priors, calibrate): (&Priors, bool),
    run: &Run,
) -> Result<(BayesModel, Report)> {
    let Target::Classes { classes, codes } = examples.target else { return Err(Target::missing()) };
    priors.check(classes.count())?;
    let features = &examples.features;
    let (scheme, of_matrix) = examples.scheme();
    let (count, weights) = (classes.count(), examples.weights);
    let data = Data { scheme: &scheme, of_matrix, features, codes, classes: count, components: count, weights };
    let (blocks, chosen) = layout(&data, choices, run)?;
    let members = Members::new(codes, classes.count(), examples.weights);
    let mut model = BayesModel::fit(blocks, chosen, priors.clone(), features, &members, run)?;
    let course = model.expect_holes(features, codes, examples.weights, run)?;
    let late = course.as_ref().is_some_and(|course| course.stop == Stop::Budget);
    if calibrate && late {
        run.finish(|| model.calibrate(features, &members, run))?;
    } else if calibrate {
        model.calibrate(features, &members, run)?;
    }
    let mut report = Report::computed(model.route());
    if let Some(course) = course {
        report.route = format!("{} steps of EM for the holes, {}", course.trace.len(), report.route);
        report.remarks.extend(course.remark());
        (report.stop, report.trace) = (course.stop, course.trace);
    }
    report.fact("parameters", model.free_parameters() as f64);
    report.fact("trust", model.trust());
    report.fact("odd", model.odd());
    report.remarks.extend(model.remarks(classes.names()));
    Ok((model, report))
}

/// What the model says of every row when it is learnt without it.
fn leave_one_out(
    examples: &Examples<'_>,
    choices: &Choices<'_>,
    how: (&Priors, bool),
    run: &Run,
) -> Result<Prediction> {
    let Target::Classes { classes, codes } = examples.target else { return Err(Target::missing()) };
    let (model, _) = fit(examples, choices, how, run)?;
    let members = Members::new(codes, classes.count(), examples.weights);
    model.without_each(&examples.features, &members, run)
}
