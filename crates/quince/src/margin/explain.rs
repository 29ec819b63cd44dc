//! What a machine has learnt, in words.

use super::kernel::Kernel;
use super::linear::{row_table, weight_table};
use super::machine::{Answer, SvmModel, counted, left_to_gain};
use crate::encode::Encoder;
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::matrix::Features;
use crate::numbers::short;
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
        let (free, bounded) = (support - about.bounded, about.bounded);
        let (edge, beyond) = match self.answer {
            Answer::Classes => ("on the edge of the margin", "inside it or on the wrong side"),
            Answer::Numbers => ("on the edge of the tube", "outside it"),
            Answer::Novelty => ("on the edge of what is usual", "beyond it"),
        };
        say(format!(
            "{support} of {} rows are support vectors: {free} {edge}, and {bounded} {beyond}, at their bound.",
            about.rows
        ));
        if !about.finished {
            say("The optimum was not reached: the fit was cut short.".into());
        }
        if self.answer == Answer::Classes && about.norm > 0.0 && about.finished {
            say(format!(
                "The margin, from side to side, is {} wide (2/‖w‖, in the features of the kernel).",
                short(2.0 / about.norm)
            ));
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
        let gain = left_to_gain(about.primal, Some(about.dual));
        say(format!("{}{}.", gain[..1].to_uppercase(), &gain[1..]));
        if let Some(weights) = &self.weights {
            said.tables.push(weight_table(encoder, weights.values(), self.bias));
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
                let score = self.novelty(score);
                let what = if score < 0.0 { "novel" } else { "like the others" };
                format!("The score is {}: the row is {what}.", short(score))
            }
        });
        if let Some(weights) = &self.weights {
            said.tables.push(row_table(row, encoder, weights.values(), self.bias));
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
            let title = "The training rows that spoke most, counted from 1";
            let mut table = Listing::new(title, ["kernel", "kernel x coefficient"]);
            let others = spoke.split_off(TOLD.min(spoke.len()));
            for (place, kernel, part) in spoke {
                table.numbers(format!("row {}", place + 1), [kernel, part]);
            }
            if !others.is_empty() {
                let sum = others.iter().map(|other| other.2).sum();
                table.last(format!("{} more", counted(others.len(), "row")), sum);
            }
            table.last("(constant)", self.bias);
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
