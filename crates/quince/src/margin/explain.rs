//! What a machine has learnt, in words.

use super::kernel::Kernel;
use super::machine::{Answer, SvmModel};
use crate::encode::Encoder;
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::matrix::Features;
use crate::numbers::{percent, short};
use crate::run::Run;

/// So many support vectors are told of a row.
const TOLD: usize = 10;

impl SvmModel {
    pub(super) fn tell(&self, encoder: &Encoder, classes: &[String]) -> Explanation {
        let about = &self.about;
        let support = self.beta.len();
        let mut said = Explanation::default();
        let mut say = |sentence: String| said.sentences.push(sentence);
        say(format!("The kernel is {}.", self.kernel_in_words()));
        say(match self.answer {
            Answer::Classes => {
                format!("A score above zero means '{}', below zero '{}'.", classes[1], classes[0])
            }
            Answer::Numbers => "The score is the number that is predicted.".into(),
            Answer::Novelty => "A row with a score below zero is novel.".into(),
        });
        let free = support - about.bounded;
        say(format!(
            "{support} of {} rows are support vectors: {free} on the edge of the margin, and {} inside it or beyond, at their bound.",
            about.rows, about.bounded
        ));
        if self.answer == Answer::Classes && about.norm > 0.0 {
            say(format!("The margin, from side to side, is {} wide (2/‖w‖, in the features of the kernel).", short(2.0 / about.norm)));
            let bound = short(support as f64 / about.rows as f64);
            say(match about.leave_one_out {
                Some(exact) => format!(
                    "Leave-one-out: at most a share of {bound} of the rows is misjudged (support vectors / rows); exactly it is {}.",
                    short(exact)
                ),
                None => format!(
                    "Leave-one-out: at most a share of {bound} of the rows is misjudged (support vectors / rows); train with --set leave_one_out=always for the exact figure."
                ),
            });
        }
        let gap = about.primal - about.dual;
        let share = if gap > 0.0 { gap / about.primal.abs() } else { 0.0 };
        say(format!(
            "The objective is {} and cannot be below {}: at most {} of it are left to gain.",
            short(about.primal),
            short(about.dual),
            percent(share)
        ));
        if let Some(weights) = &self.weights {
            let mut named: Vec<(String, f64)> = encoder.feature_names().zip(weights.values().iter().copied()).collect();
            named.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            let mut table = Listing::new("Weights, the largest first", ["weight"]);
            named.into_iter().filter(|(_, weight)| *weight != 0.0).for_each(|(name, weight)| table.numbers(name, [weight]));
            table.numbers("(constant)", [self.bias]);
            said.tables.push(table);
        }
        said
    }

    /// What spoke for the score of a row: the columns of a linear kernel, or the support vectors most alike.
    pub(super) fn tell_of_row(&self, row: &Features<'_>, encoder: &Encoder, classes: &[String]) -> Result<Explanation> {
        let run = Run::new();
        let score = self.scores(row, &run)?[0];
        let mut said = Explanation::default();
        said.sentences.push(match self.answer {
            Answer::Classes => {
                let class = &classes[usize::from(score > 0.0)];
                format!("The score is {}, which means '{class}'.", short(score))
            }
            Answer::Numbers => format!("The number is {}.", short(score)),
            Answer::Novelty => {
                let what = if score < 0.0 { "novel" } else { "like the others" };
                format!("The score is {}: the row is {what}.", short(score))
            }
        });
        if let Some(weights) = &self.weights {
            let mut spoke: Vec<(String, f64, f64)> = Vec::new();
            let names: Vec<String> = encoder.feature_names().collect();
            row.for_row(0, |j, value| spoke.push((names[j].clone(), value, value * weights[(j, 0)])));
            spoke.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
            let mut table = Listing::new("What spoke for it", ["value", "value x weight"]);
            spoke.into_iter().filter(|(_, _, part)| *part != 0.0).for_each(|(name, value, part)| table.numbers(name, [value, part]));
            said.tables.push(table);
        } else if self.kernel != Kernel::Precomputed {
            let columns = row.columns();
            let (mut own, mut other) = (vec![0.0; columns], vec![0.0; columns]);
            row.pack(std::iter::once(0), &mut own);
            let supports = self.supports.features();
            let mut spoke: Vec<(usize, f64, f64)> = (0..self.beta.len())
                .map(|k| {
                    supports.pack(std::iter::once(k), &mut other);
                    let kernel = self.kernel.of(&own, &other);
                    (self.places[k], kernel, self.beta[k] * kernel)
                })
                .collect();
            spoke.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
            let mut table = Listing::new("The training rows that spoke most", ["kernel", "kernel x coefficient"]);
            for (place, kernel, part) in spoke.into_iter().take(TOLD) {
                table.numbers(format!("row {}", place + 1), [kernel, part]);
            }
            said.tables.push(table);
        }
        Ok(said)
    }

    fn kernel_in_words(&self) -> String {
        match self.kernel {
            Kernel::Linear => "linear, x·y".into(),
            Kernel::Polynomial { gamma, constant, degree } => {
                format!("polynomial, ({} x·y + {})^{degree}", short(gamma), short(constant))
            }
            Kernel::Rbf { gamma } => format!("rbf, exp(-{} ‖x - y‖²)", short(gamma)),
            Kernel::Sigmoid { gamma, constant } => format!("sigmoid, tanh({} x·y + {})", short(gamma), short(constant)),
            Kernel::Precomputed => "precomputed".into(),
        }
    }
}
