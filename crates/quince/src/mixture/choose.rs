//! How many components: the number that the criterion likes best.

use super::em::{Course, State};
use super::{Mixture, MixtureModel};
use crate::error::{Error, Result};
use crate::learn::Examples;
use crate::run::{Report, Run, Stop};

/// The most components that are tried.
const MOST: usize = 10;

/// Done when so many numbers of components after the best are worse.
const WORSE: usize = 3;

/// A number of components that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// How many components.
    pub k: usize,
    /// The criterion: the smaller the better.
    pub criterion: f64,
}

/// Tries one component after another, and keeps the best number of them.
pub(super) fn choose(mixture: &Mixture, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
    let mut trials: Vec<Trial> = Vec::new();
    let mut best: Option<(f64, State, Course)> = None;
    let mut cut_short = false;
    for k in 1..=MOST.min(examples.features.rows()) {
        if best.is_some() && run.out_of_time() {
            cut_short = true;
            break;
        }
        let (state, course) = match mixture.best(k, examples, run) {
            Err(Error::OutOfTime { .. }) if best.is_some() => {
                cut_short = true;
                break;
            }
            found => found?,
        };
        let model = MixtureModel::new(state);
        let fit = run.finish(|| model.judge(&examples.features, examples.weights, run))?;
        let criterion = fit.criterion(mixture.criterion, model.free_parameters());
        trials.push(Trial { k, criterion });
        if best.as_ref().is_none_or(|(least, _, _)| criterion < *least) {
            best = Some((criterion, model.state, course));
        }
        let chosen = best.as_ref().map_or(0, |(_, state, _)| state.totals.len());
        if k >= chosen + WORSE {
            break;
        }
    }
    let (_, state, mut course) = best.expect("one component is always tried");
    if cut_short {
        course.stop = Stop::Budget;
    }
    let k = state.totals.len();
    let (model, mut report) = mixture.finish(state, course, examples, run)?;
    let word = match mixture.criterion {
        super::Criterion::Bic => "BIC",
        super::Criterion::Aic => "AIC",
        super::Criterion::Icl => "ICL",
    };
    for trial in &trials {
        report.fact(&format!("{word} with {} components", trial.k), trial.criterion);
    }
    let last = trials.last().map_or(1, |trial| trial.k);
    report.remarks.push(format!("{k} of 1 to {last} components have the smallest {word}"));
    Ok((model, report))
}
