//! Which start, and how many components: the likeliest, and the number that the criterion likes best.

use super::em::{Course, Seen, State};
use super::{Mixture, MixtureModel, start};
use crate::error::{Error, Result};
use crate::family::layout::Open;
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
        let noun = if trial.k == 1 { "component" } else { "components" };
        report.fact(&format!("{word} with {} {noun}", trial.k), trial.criterion);
    }
    let last = trials.last().map_or(1, |trial| trial.k);
    if k == MOST {
        report.remarks.push(format!("{MOST} components are the most that are tried; give k to have more"));
    }
    report.remarks.push(format!("{k} of 1 to {last} components have the smallest {word} that was found"));
    Ok((model, report))
}

impl Mixture {
    /// So many components, from the likeliest of several starts.
    pub(super) fn best(&self, k: usize, examples: &Examples<'_>, run: &Run) -> Result<(State, Course)> {
        let (features, weights) = (&examples.features, examples.weights);
        let codes = vec![0; features.rows()];
        let mut product = run.finish(|| self.blocks(examples, &codes, (1, k), weights, Open::Together, run))?;
        run.finish(|| start::settle(&mut product, features, weights, run))?;
        let seen = Seen::new(features, weights, None, &product.blocks);
        let starts = if k == 1 { 1 } else { self.restarts };
        let (mut best, mut failed, mut cut_short) = (None::<(State, Course)>, None, false);
        for at in 0..starts {
            let climb = || {
                let draw = || start::draw(self.start, at, &product, features, weights, run);
                let mut state = if at == 0 { run.finish(draw)? } else { draw()? };
                let course = state.climb(&seen, self.limits(), run)?;
                Ok((state, course))
            };
            match climb() {
                Ok(found) if best.as_ref().is_none_or(|best| found.1.reached() > best.1.reached()) => {
                    best = Some(found)
                }
                Ok(_) => {}
                // A start that leads nowhere is no harm while another leads somewhere.
                Err(error @ (Error::Data { .. } | Error::OutOfTime { .. })) => failed = failed.or(Some(error)),
                Err(error) => return Err(error),
            }
            cut_short = best.is_some() && run.out_of_time() && at + 1 < starts;
            if cut_short {
                break;
            }
        }
        let Some((mut state, mut course)) = best else { return Err(failed.expect("there is a start")) };
        if cut_short {
            course.stop = Stop::Budget;
        }
        run.finish(|| state.heaviest_first(run))?;
        Ok((state, course))
    }
}
