//! A fitted model in words, and the contributions to the score of a row.

use super::kernel::Kernel;
use super::linear::{row_table, weight_table};
use super::model::{Output, SvmModel, counted, gap_in_words};
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::learn::FeatureSource;
use crate::matrix::Features;
use crate::numbers::short;
use crate::run::Run;

/// Support vectors that are listed for a row.
const MAX_ROWS_LISTED: usize = 10;

impl SvmModel {
    pub(super) fn describe(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Explanation {
        let summary = &self.summary;
        let support = self.beta.len();
        let mut explanation = Explanation::default();
        let mut say = |sentence: String| explanation.sentences.push(sentence);
        say(format!("The kernel is {}.", self.kernel_in_words()));
        say(match self.output {
            Output::Classes => {
                format!("A score above zero means '{}', below zero '{}'.", classes[1], classes[0])
            }
            Output::Numbers => "The score is the number that is predicted.".into(),
            Output::Novelty => "A row with a score below zero is novel.".into(),
        });
        let (free, bounded) = (support - summary.bounded, summary.bounded);
        let (edge, beyond) = match self.output {
            Output::Classes => ("on the edge of the margin", "inside it or on the wrong side"),
            Output::Numbers => ("on the edge of the tube", "outside it"),
            Output::Novelty => ("on the edge of what is usual", "beyond it"),
        };
        say(format!(
            "{support} of {} rows are support vectors: {free} {edge}, and {bounded} {beyond}, at their bound.",
            summary.rows
        ));
        if !summary.finished {
            say("The solver has not converged: the fit was stopped early.".into());
        }
        if self.output == Output::Classes && summary.norm > 0.0 && summary.finished {
            say(format!(
                "The margin, from side to side, is {} wide (2/‖w‖, in the features of the kernel).",
                short(2.0 / summary.norm)
            ));
            let bound = short(support as f64 / summary.rows as f64);
            say(match summary.leave_one_out {
                Some(exact) => {
                    format!("Leave-one-out error: at most {bound} (support vectors / rows); exactly {}.", short(exact))
                }
                None => format!(
                    "Leave-one-out error: at most {bound} (support vectors / rows); leave_one_out=always gives the exact figure."
                ),
            });
        }
        let gap = gap_in_words(summary.primal, Some(summary.dual));
        say(format!("{}{}.", gap[..1].to_uppercase(), &gap[1..]));
        if let Some(weights) = &self.weights {
            explanation.tables.push(weight_table(encoder, weights.values(), self.bias));
        }
        explanation
    }

    /// What contributed to the score of a row: the features of a linear kernel, or support vectors.
    pub(super) fn describe_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Explanation> {
        let run = Run::new();
        let score = self.scores(row, &run)?[0];
        let mut explanation = Explanation::default();
        explanation.sentences.push(match self.output {
            Output::Classes => {
                let class = &classes[usize::from(score > 0.0)];
                format!("The score is {}, which means '{class}'.", short(score))
            }
            Output::Numbers => format!("The number is {}.", short(score)),
            Output::Novelty => {
                let score = self.novelty(score);
                let what = if score < 0.0 { "novel" } else { "like the others" };
                format!("The score is {}: the row is {what}.", short(score))
            }
        });
        if let Some(weights) = &self.weights {
            explanation.tables.push(row_table(row, encoder, weights.values(), self.bias));
        } else if self.kernel != Kernel::Precomputed {
            let columns = row.columns();
            let (mut own, mut other) = (vec![0.0; columns], vec![0.0; columns]);
            row.pack(std::iter::once(0), &mut own);
            let support_vectors = self.support_vectors.features();
            let mut contributions: Vec<(usize, f64, f64)> = (0..self.beta.len())
                .map(|k| {
                    support_vectors.pack(std::iter::once(k), &mut other);
                    let kernel = self.kernel.of(&own, &other);
                    (self.support_indices[k], kernel, self.beta[k] * kernel)
                })
                .collect();
            contributions.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
            let title = "Largest contributions of training rows, counted from 1";
            let mut table = Listing::new(title, ["kernel", "kernel x coefficient"]);
            let others = contributions.split_off(MAX_ROWS_LISTED.min(contributions.len()));
            for (index, kernel, contribution) in contributions {
                table.numbers(format!("row {}", index + 1), [kernel, contribution]);
            }
            if !others.is_empty() {
                let sum = others.iter().map(|other| other.2).sum();
                table.last(format!("{} more", counted(others.len(), "row")), sum);
            }
            table.last("(constant)", self.bias);
            explanation.tables.push(table);
        }
        Ok(explanation)
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
