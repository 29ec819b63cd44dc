//! The fitted model of a support vector machine: its support vectors, their coefficients, and a summary of the fit.

use super::calibrate::classes_by;
use super::certificate::GapCertificate;
use super::dual::{Dual, Solution};
use super::kernel::{Kernel, KernelSpace};
use super::linear::GAP_PER_VIOLATION;
use crate::calibration::LogOdds;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::learn::{FeatureSource, Fitted, Prediction, SavedParts};
use crate::matrix::{Features, Matrix, Rows};
use crate::numbers::{json_number, percent, short};
use crate::run::{Certificate, Report, Run, StopReason};
use serde::{Deserialize, Serialize};

/// A fitted support vector machine: support vectors and their coefficients.
///
/// ```
/// use quince::margin::{Kernel, SvmModel};
/// use quince::{Matrix, Run};
/// let support = Matrix::from_rows(&[[1.0], [3.0]]);
/// let model = SvmModel::of_numbers(Kernel::Linear, &support.features(), vec![-0.5, 0.5], 1.0)?;
/// // b + Σ β x·x' = 1 - ½·2 + ½·6
/// assert_eq!(model.scores(&Matrix::from_rows(&[[2.0]]).features(), &Run::new())?, [3.0]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct SvmModel {
    pub(super) kernel: Kernel,
    pub(super) output: Output,
    /// Indices of the support vectors among the training rows, in order.
    pub(super) support_indices: Vec<usize>,
    /// Their features; none if the kernel is precomputed.
    pub(super) support_vectors: Rows,
    /// Dual coefficients β, one per support vector.
    pub(super) beta: Vec<f64>,
    /// Constant b of the score.
    pub(super) bias: f64,
    /// Weights w of the features, for a linear kernel.
    pub(super) weights: Option<Matrix>,
    /// How scores become probabilities.
    pub(super) log_odds: LogOdds,
    /// Whether that was learnt from scores of the rows that the model has learnt, as a fit that goes on tries to mend.
    pub(super) own_scores: bool,
    /// How far below zero the scores of free support vectors are: rows no further below are not novel.
    pub(super) slack: f64,
    pub(super) summary: SvmSummary,
}

/// What a model predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Output {
    Classes,
    Numbers,
    Novelty,
}

/// A summary of how a model was fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvmSummary {
    /// Number of training rows.
    pub rows: usize,
    /// Number of support vectors beyond the edge of the margin, whose β is at its bound.
    pub bounded: usize,
    /// Primal objective of the model; `None` where a hard margin is not met yet.
    pub primal: Option<f64>,
    /// Dual objective: a lower bound of the primal objective of any model.
    #[serde(with = "json_number")]
    pub dual: f64,
    /// Whether the solver has converged.
    pub finished: bool,
    /// Norm ‖w‖ of the weights in the feature space of the kernel.
    #[serde(with = "json_number")]
    pub norm: f64,
    /// Largest violation of the KKT conditions.
    #[serde(with = "json_number")]
    pub kkt_violation: f64,
    /// Number of SMO steps.
    pub steps: usize,
    /// Exact leave-one-out error, if it was computed.
    pub leave_one_out: Option<f64>,
}

impl SvmModel {
    /// The model of a solved problem.
    pub(super) fn of(dual: &Dual<'_>, solution: &Solution, certificate: &GapCertificate, output: Output) -> SvmModel {
        let support: Vec<usize> = (0..dual.count()).filter(|&i| solution.beta[i] != 0.0).collect();
        let support_indices: Vec<usize> = support.iter().map(|&i| dual.indices[i]).collect();
        let beta: Vec<f64> = support.iter().map(|&i| solution.beta[i]).collect();
        let bounded = support.iter().filter(|&&i| dual.is_beyond(solution, i, certificate.bias)).count();
        let kernel = dual.space.kernel;
        let support_vectors = match kernel {
            Kernel::Precomputed => Rows::default(),
            _ => dual.rows.take(&support_indices),
        };
        SvmModel {
            weights: linear_weights(&kernel, &support_vectors, &beta),
            kernel,
            output,
            support_indices,
            support_vectors,
            beta,
            bias: certificate.bias,
            log_odds: LogOdds { temperature: 1.0, offset: 0.0 },
            own_scores: false,
            slack: 0.0,
            summary: SvmSummary {
                rows: dual.count(),
                bounded,
                primal: Some(certificate.primal).filter(|primal| primal.is_finite()),
                finished: solution.stop == StopReason::Converged,
                dual: certificate.dual,
                norm: certificate.squared_norm.sqrt(),
                kkt_violation: solution.kkt_violation,
                steps: solution.steps,
                leave_one_out: None,
            },
        }
    }

    /// A model of two classes with known support vectors, their dual coefficients (positive for the second class) and constant.
    pub fn of_classes(kernel: Kernel, support_vectors: &Features<'_>, beta: Vec<f64>, bias: f64) -> Result<SvmModel> {
        SvmModel::known(kernel, support_vectors, beta, bias, Output::Classes)
    }

    /// A model of numbers with known support vectors, their dual coefficients and constant.
    pub fn of_numbers(kernel: Kernel, support_vectors: &Features<'_>, beta: Vec<f64>, bias: f64) -> Result<SvmModel> {
        SvmModel::known(kernel, support_vectors, beta, bias, Output::Numbers)
    }

    /// A model of what is novel with known support vectors, their dual coefficients and constant: rows whose score is below zero are novel.
    pub fn of_novelty(kernel: Kernel, support_vectors: &Features<'_>, beta: Vec<f64>, bias: f64) -> Result<SvmModel> {
        SvmModel::known(kernel, support_vectors, beta, bias, Output::Novelty)
    }

    fn known(
        kernel: Kernel,
        support_vectors: &Features<'_>,
        beta: Vec<f64>,
        bias: f64,
        output: Output,
    ) -> Result<SvmModel> {
        if kernel == Kernel::Precomputed {
            return Err(Error::data("a precomputed kernel has no support vectors", "Choose another kernel."));
        }
        let support = support_vectors.rows();
        if support != beta.len() {
            let problem = format!("{support} support vectors have {} coefficients", beta.len());
            return Err(Error::shape(problem, "Give every support vector one coefficient."));
        }
        support_vectors.check_finite()?;
        Matrix::column_vector(beta.iter().copied().chain([bias]).collect()).check_finite("coefficients")?;
        let support_indices: Vec<usize> = (0..support).collect();
        let support_vectors = support_vectors.take(&support_indices);
        Ok(SvmModel {
            weights: linear_weights(&kernel, &support_vectors, &beta),
            kernel,
            output,
            support_indices,
            support_vectors,
            beta,
            bias,
            log_odds: LogOdds { temperature: 1.0, offset: 0.0 },
            own_scores: false,
            slack: 0.0,
            summary: SvmSummary {
                rows: support,
                bounded: 0,
                primal: None,
                dual: 0.0,
                finished: true,
                norm: 0.0,
                kkt_violation: 0.0,
                steps: 0,
                leave_one_out: None,
            },
        })
    }

    /// The report of a fit to a tolerance, for a target in some unit.
    pub(super) fn report(&self, solution: &Solution, tolerance: f64, unit: f64) -> Report {
        let (support, summary) = (self.beta.len(), &self.summary);
        let mut report = Report {
            route: format!(
                "{}, {} in {}{}",
                counted(support, "support vector"),
                counted(solution.steps, "step"),
                counted(solution.blocks, "block"),
                match solution.interior_steps {
                    0 => String::new(),
                    steps => format!(", then {} of the interior-point method", counted(steps, "step")),
                }
            ),
            stop: solution.stop,
            certificate: Some(match solution.relative_gap {
                Some(value) => Certificate {
                    measure: "relative duality gap".into(),
                    value,
                    tolerance: GAP_PER_VIOLATION * tolerance / unit,
                },
                None => {
                    Certificate { measure: "largest KKT violation".into(), value: solution.kkt_violation, tolerance }
                }
            }),
            trace: solution.trace.clone(),
            ..Report::default()
        };
        if let Some(primal) = summary.primal {
            report.fact("primal", primal);
            report.fact("gap", primal - summary.dual);
        }
        report.fact("dual", summary.dual);
        report.fact("support vectors", support as f64);
        report.fact("bounded", summary.bounded as f64);
        report.fact("steps", summary.steps as f64);
        report.remarks.push(gap_in_words(summary.primal, Some(summary.dual)));
        if solution.stop == StopReason::Stalled {
            report.remarks.push(STALLED.into());
        }
        if self.kernel != Kernel::Precomputed {
            report.remarks.push(format!("the model holds {} of those it was trained on", counted(support, "row")));
        }
        report
    }

    /// Indices of the support vectors among the training rows, counted from 0.
    pub fn support_indices(&self) -> &[usize] {
        &self.support_indices
    }

    /// The support vectors; none if the kernel is precomputed.
    pub fn support_vectors(&self) -> Features<'_> {
        self.support_vectors.features()
    }

    /// Dual coefficient β of each support vector: above zero for the positive class, which is the second.
    pub fn coefficients(&self) -> &[f64] {
        &self.beta
    }

    /// Constant b of the score.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The temperature, which calibrates probabilities: it multiplies the scores before the softmax, so it is an inverse temperature
    /// in the sense of Guo and others (2017), who divide by theirs.
    pub fn temperature(&self) -> f64 {
        self.log_odds.temperature
    }

    /// The offset of the log odds: zero unless classes have weights. A score s means log odds of 2·temperature·s + offset, but never
    /// less than even odds for the label, which is the sign of the score.
    pub fn offset(&self) -> f64 {
        self.log_odds.offset
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Weights w of the features, for a linear kernel.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_ref().map(Matrix::values)
    }

    /// A summary of the fit.
    pub fn summary(&self) -> &SvmSummary {
        &self.summary
    }

    /// Scores f(x) of rows.
    pub fn scores(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
        let columns = self.support_vectors.features().columns();
        if self.kernel != Kernel::Precomputed && !self.beta.is_empty() {
            rows.check_columns(columns)?;
        }
        if let Some(weights) = &self.weights {
            return Ok(rows.outputs(weights, &[self.bias], run)?.into_values());
        }
        let mut scores = vec![self.bias; rows.rows()];
        if self.kernel == Kernel::Precomputed {
            if let Some(index) = self.support_indices.iter().find(|index| **index >= rows.columns()) {
                let problem = format!(
                    "the rows have {} columns, and the kernel with training row {} is wanted",
                    rows.columns(),
                    index + 1
                );
                return Err(Error::data(problem, "Give the kernel of every row with every training row."));
            }
            let space = KernelSpace::of(rows, self.kernel);
            space.add_to(&mut scores, rows, &space.queries(rows, &self.support_indices), &self.beta, run)?;
            return Ok(scores);
        }
        let support_vectors = self.support_vectors.features();
        let space = KernelSpace::of(&support_vectors, self.kernel);
        for some in (0..self.beta.len()).collect::<Vec<_>>().chunks(4096) {
            let beta: Vec<f64> = some.iter().map(|&k| self.beta[k]).collect();
            space.add_to(&mut scores, rows, &space.queries(&support_vectors, some), &beta, run)?;
        }
        Ok(scores)
    }

    /// The novelty score: below zero if a row is novel, with support vectors on the edge counted as usual.
    pub(super) fn novelty(&self, score: f64) -> f64 {
        score + self.slack
    }

    /// Dual coefficients β of some training rows.
    pub(super) fn coefficients_of(&self, rows: &[usize]) -> Vec<f64> {
        let beta = |row: &usize| self.support_indices.binary_search(row).map_or(0.0, |k| self.beta[k]);
        rows.iter().map(beta).collect()
    }

    /// An error unless these are the rows that the model was trained on.
    pub(super) fn check_same_rows(&self, rows: &Features<'_>) -> Result<()> {
        let same = self.support_indices.iter().all(|&index| index < rows.rows())
            && (self.kernel == Kernel::Precomputed || {
                let columns = rows.columns();
                let (mut own, mut given) = (vec![0.0; columns], vec![0.0; columns]);
                let support_vectors = self.support_vectors.features();
                support_vectors.columns() == columns
                    && self.support_indices.iter().enumerate().all(|(k, &index)| {
                        support_vectors.pack(std::iter::once(k), &mut own);
                        rows.pack(std::iter::once(index), &mut given);
                        own == given
                    })
            });
        let remedy = "Give the table that the model was trained on, or train again.";
        if same { Ok(()) } else { Err(Error::data("the model was trained on other rows", remedy)) }
    }
}

/// The remark of a fit that was stopped by its budget.
pub(super) const RESUME: &str = "the budget ran out; the fit can be resumed from this model";

/// The remark of a fit that rounding keeps from its optimum.
pub(super) const STALLED: &str = "rounding leaves no better step: scale the columns, or give a larger tolerance";

/// Both objectives and the duality gap in words, as far as they are known.
pub(super) fn gap_in_words(primal: Option<f64>, dual: Option<f64>) -> String {
    match (primal, dual) {
        (Some(primal), Some(dual)) => {
            let share = if primal > dual { (primal - dual) / primal.abs().max(f64::MIN_POSITIVE) } else { 0.0 };
            let (primal, dual) = (short(primal), short(dual));
            let bound = if primal == dual { String::new() } else { format!(" and cannot be below {dual}") };
            format!("the objective is {primal}{bound}: a duality gap of at most {}", percent(share))
        }
        (Some(primal), None) => format!("the objective is {}", short(primal)),
        (None, dual) => {
            let dual = short(dual.unwrap_or(0.0));
            format!("the objective cannot be below {dual}, and some rows are still on the wrong side of their margin")
        }
    }
}

/// A count of something, in words.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Weights w = Σ βᵢ xᵢ of a linear kernel.
fn linear_weights(kernel: &Kernel, support_vectors: &Rows, beta: &[f64]) -> Option<Matrix> {
    (*kernel == Kernel::Linear).then(|| {
        let rows = support_vectors.features();
        let mut weights = Matrix::zeros(rows.columns(), 1);
        for (k, beta) in beta.iter().enumerate() {
            rows.for_row(k, |j, value| weights[(j, 0)] += beta * value);
        }
        weights
    })
}

impl Fitted for SvmModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let scores = self.scores(rows, run)?;
        Ok(match self.output {
            Output::Numbers => Prediction::Numbers(Matrix::column_vector(scores)),
            Output::Novelty => {
                Prediction::Novelty { scores: scores.iter().map(|score| self.novelty(*score)).collect() }
            }
            Output::Classes => classes_by(&self.log_odds, &scores),
        })
    }

    fn explain(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Option<Explanation> {
        Some(self.describe(encoder, classes))
    }

    fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Option<Explanation>> {
        self.describe_row(row, encoder, classes).map(Some)
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_rows("support_vectors", &self.support_vectors);
        parts.put_counts("support_indices", &self.support_indices);
        parts.put_vector("beta", &self.beta);
        parts.put_number("bias", self.bias);
        parts.put_number("temperature", self.log_odds.temperature);
        if self.log_odds.offset != 0.0 {
            parts.put_number("offset", self.log_odds.offset);
        }
        if self.own_scores {
            parts.put_number("own_scores", 1.0);
        }
        parts.put_number("slack", self.slack);
        parts.put_json("model", &Saved { kernel: self.kernel, output: self.output, summary: self.summary.clone() });
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<SvmModel> {
        let Saved { kernel, output, summary } = parts.take_json("model")?;
        let support_vectors = parts.take_rows("support_vectors")?;
        let beta = parts.take_vector("beta", None)?;
        let support_indices = parts.take_counts("support_indices", Some(beta.len()))?;
        if support_indices.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(parts.wrong("the indices of the support vectors are not in order"));
        }
        let (rows, columns) = (support_vectors.features().rows(), support_vectors.features().columns());
        let fits = match kernel {
            Kernel::Precomputed => rows == 0 && support_indices.last().is_none_or(|last| *last < parts.features()),
            _ => rows == beta.len() && columns == parts.features(),
        };
        if !fits {
            return Err(parts.wrong("the support vectors do not have the columns of the model"));
        }
        let classes = if output == Output::Classes { 2 } else { 0 };
        if parts.classes() != classes {
            return Err(parts.wrong("the support vectors do not match the target of the model"));
        }
        if summary.bounded > beta.len() {
            return Err(parts.wrong("more support vectors are at their bounds than there are"));
        }
        let [bias, temperature, slack] =
            [parts.take_number("bias")?, parts.take_number("temperature")?, parts.take_number("slack")?];
        let offset = if parts.has("offset") { parts.take_number("offset")? } else { 0.0 };
        let own_scores = parts.has("own_scores") && parts.take_number("own_scores")? != 0.0;
        if beta.iter().chain(&[bias, temperature, offset, slack]).any(|number| !number.is_finite()) || temperature < 0.0
        {
            return Err(parts.wrong("a coefficient is not a number"));
        }
        support_vectors.features().afford_columns()?;
        Ok(SvmModel {
            weights: linear_weights(&kernel, &support_vectors, &beta),
            kernel,
            output,
            support_indices,
            support_vectors,
            beta,
            bias,
            log_odds: LogOdds { temperature, offset },
            own_scores,
            slack,
            summary,
        })
    }
}

/// What a file holds of a model beside its arrays.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    kernel: Kernel,
    output: Output,
    summary: SvmSummary,
}
