//! Model selection: the best of several starts, and the number of components with the smallest criterion.

use super::{Mixture, MixtureModel, start};
use crate::em::{Data, State, Trace};
use crate::error::{Error, Result};
use crate::family::layout::Open;
use crate::learn::Examples;
use crate::run::{Report, Run, StopReason};

/// The most components that are tried.
const MAX_COMPONENTS: usize = 10;

/// The search ends when this many numbers of components after the best are worse.
const MAX_WORSE_IN_A_ROW: usize = 3;

/// A number of components that was tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComponentCountCandidate {
    /// The number of components.
    pub k: usize,
    /// The criterion: the smaller, the better.
    pub criterion: f64,
}

/// Tries 1, 2, ... components, and keeps the best number of them.
pub(super) fn choose(mixture: &Mixture, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
    let mut trials: Vec<ComponentCountCandidate> = Vec::new();
    let mut best: Option<(f64, State, Trace)> = None;
    let mut cut_short = false;
    for k in 1..=MAX_COMPONENTS.min(examples.features.rows()) {
        if best.is_some() && run.out_of_time() {
            cut_short = true;
            break;
        }
        let (state, trace) = match mixture.best(k, examples, run) {
            Err(Error::OutOfTime { .. }) if best.is_some() => {
                cut_short = true;
                break;
            }
            found => found?,
        };
        let model = MixtureModel::new(state);
        let fit = run.finish(|| model.judge(&examples.features, examples.weights, run))?;
        let criterion = fit.criterion(mixture.criterion, model.free_parameters());
        trials.push(ComponentCountCandidate { k, criterion });
        if best.as_ref().is_none_or(|(least, _, _)| criterion < *least) {
            best = Some((criterion, model.state, trace));
        }
        let chosen = best.as_ref().map_or(0, |(_, state, _)| state.totals.len());
        if k >= chosen + MAX_WORSE_IN_A_ROW {
            break;
        }
    }
    let (_, state, mut trace) = best.expect("one component is always tried");
    if cut_short {
        trace.stop = StopReason::Budget;
    }
    let k = state.totals.len();
    let (model, mut report) = mixture.finish(state, trace, examples, run)?;
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
    if k == MAX_COMPONENTS {
        report.remarks.push(format!("{MAX_COMPONENTS} components are the most that are tried; give k to have more"));
    }
    report.remarks.push(format!("{k} of 1 to {last} components have the smallest {word} that was found"));
    Ok((model, report))
}

impl Mixture {
    /// The best of several starts with k components.
    pub(super) fn best(&self, k: usize, examples: &Examples<'_>, run: &Run) -> Result<(State, Trace)> {
        let (features, weights) = (&examples.features, examples.weights);
        let codes = vec![0; features.rows()];
        let mut product = run.finish(|| self.blocks(examples, &codes, (1, k), weights, Open::Together, run))?;
        run.finish(|| start::settle(&mut product, features, weights, run))?;
        let data = Data::new(features, weights, None, &product.blocks);
        let starts = if k == 1 { 1 } else { self.restarts };
        let (mut best, mut failed, mut cut_short) = (None::<(State, Trace)>, None, false);
        for at in 0..starts {
            let run_em = || {
                let mut state = start::draw(self.start, at, &product, features, weights, run)?;
                let trace = state.run_em(&data, self.em_options(), run)?;
                Ok((state, trace))
            };
            match run_em() {
                Ok(found) if best.as_ref().is_none_or(|best| found.1.reached() > best.1.reached()) => {
                    best = Some(found)
                }
                Ok(_) => {}
                // A start that fails does no harm while another succeeds.
                Err(error @ (Error::Data { .. } | Error::OutOfTime { .. })) => failed = failed.or(Some(error)),
                Err(error) => return Err(error),
            }
            cut_short = best.is_some() && run.out_of_time() && at + 1 < starts;
            if cut_short {
                break;
            }
        }
        let Some((mut state, mut trace)) = best else { return Err(failed.expect("there is a start")) };
        if cut_short {
            trace.stop = StopReason::Budget;
        }
        run.finish(|| state.heaviest_first(run))?;
        Ok((state, trace))
    }
}
