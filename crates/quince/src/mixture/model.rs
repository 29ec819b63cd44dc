//! A fitted mixture: densities, responsibilities and predictions.

use super::{Criterion, as_counts};
use crate::calibration::Calibration;
use crate::em::{NO_CLASS, State};
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::family::block::{Block, Scores, TILE};
use crate::family::evidence::{Sure, Weighing};
use crate::family::product::Product;
use crate::family::{FamilyParameters, Multinomial, Parameters};
use crate::learn::{FeatureSource, Fitted, Imputed, Prediction, SampledRow, SavedParts, check_weights};
use crate::matrix::simd::log_sum_exp;
use crate::matrix::{Features, Matrix};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// What a mixture has learnt.
///
/// ```
/// use quince::family::FamilyParameters;
/// use quince::mixture::MixtureModel;
/// use quince::{Matrix, Run};
/// let (means, variances) = (Matrix::from_rows(&[[0.0], [4.0]]), Matrix::from_rows(&[[1.0], [1.0]]));
/// let model = MixtureModel::known(&FamilyParameters::Normal { means, variances }, &[0.2, 0.8])?;
/// // Half way between the means both densities are the same.
/// let half_way = Matrix::from_rows(&[[2.0]]);
/// let responsibilities = model.responsibilities(&half_way.features(), &Run::new())?;
/// assert!((responsibilities[(0, 0)] - 0.2).abs() < 1e-12);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct MixtureModel {
    pub(super) state: State,
    /// The calibration of the probabilities of classes, if there is one.
    pub(super) calibration: Option<Calibration>,
}

/// The goodness of fit.
pub(super) struct Fit {
    pub(super) likelihood: f64,
    /// The entropy of the responsibilities, -Σ r ln r over rows and components.
    entropy: f64,
    /// The total weight of the rows.
    pub(super) rows: f64,
}

impl Fit {
    /// The information criterion: the smaller, the better.
    pub(super) fn criterion(&self, criterion: Criterion, parameters: usize) -> f64 {
        let parameters = parameters as f64;
        match criterion {
            Criterion::Bic => parameters * self.rows.ln() - 2.0 * self.likelihood,
            Criterion::Aic => 2.0 * parameters - 2.0 * self.likelihood,
            Criterion::Icl => parameters * self.rows.ln() - 2.0 * self.likelihood + 2.0 * self.entropy,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    blocks: Vec<Block>,
    dense: usize,
    /// The class of each component; empty if there are no classes.
    classes: Vec<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<Calibration>,
}

impl MixtureModel {
    pub(super) fn new(state: State) -> MixtureModel {
        MixtureModel { state, calibration: None }
    }

    /// The same with the probabilities of classes calibrated.
    pub(super) fn calibrated(self, calibration: Calibration) -> MixtureModel {
        MixtureModel { calibration: Some(calibration), ..self }
    }

    /// The temperature of the calibration of classes, as of a [`BayesModel`](crate::bayes::BayesModel::temperature); 1 without
    /// calibration.
    pub fn temperature(&self) -> f64 {
        self.calibration.as_ref().map_or(1.0, |calibration| calibration.temperature)
    }

    /// Components with known parameters and mixing weights, which sum to one.
    ///
    /// ```
    /// use quince::mixture::{FamilyParameters, Mixture, MixtureModel};
    /// use quince::prelude::*;
    /// let parameters = FamilyParameters::Poisson { rates: Matrix::from_rows(&[[1.0], [9.0]]) };
    /// let model = Model::known(&Mixture::new(2), MixtureModel::known(&parameters, &[0.3, 0.7])?, 1, None)?;
    /// assert_eq!(model.predict(&[[0.0], [8.0]])?.labels(), [0, 1]);
    /// # quince::Result::Ok(())
    /// ```
    pub fn known(parameters: &FamilyParameters, weights: &[f64]) -> Result<MixtureModel> {
        let total: f64 = weights.iter().sum();
        if !weights.iter().all(|weight| *weight > 0.0) || (total - 1.0).abs() > 1e-6 {
            let problem = format!("the weights of the components add up to {total}");
            return Err(Error::data(problem, "Give numbers above 0 that add up to 1."));
        }
        let product = Product::known(parameters, weights, &Run::new())?;
        Ok(MixtureModel::new(State::new(product, weights.to_vec(), vec![NO_CLASS; weights.len()])))
    }

    /// The parameters, if one dense family has all features.
    pub fn family_parameters(&self) -> Option<FamilyParameters> {
        self.state.product.family_parameters()
    }

    /// The number of components.
    pub fn components(&self) -> usize {
        self.state.totals.len()
    }

    /// The mixing weights of the components; they sum to one.
    pub fn weights(&self) -> Vec<f64> {
        self.state.log_weights.iter().map(|log| log.exp()).collect()
    }

    /// The parameters of every block.
    pub fn parameters(&self) -> Vec<Parameters> {
        self.state.product.parameters()
    }

    /// The class of each component; `None` without classes.
    pub fn classes_of_components(&self) -> Option<&[u32]> {
        self.has_classes().then_some(&self.state.class_of[..])
    }

    /// BIC, AIC or ICL of rows: the smaller, the better.
    pub fn criterion(
        &self,
        criterion: Criterion,
        rows: &Features<'_>,
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<f64> {
        weights.map_or(Ok(()), |weights| check_weights(weights, rows.rows()))?;
        let weights = as_counts(weights);
        Ok(self.judge(rows, weights.as_deref(), run)?.criterion(criterion, self.free_parameters()))
    }

    /// The number of free parameters.
    pub fn free_parameters(&self) -> usize {
        self.state.product.free_parameters() + self.components() - 1
    }

    /// Whether components belong to classes.
    pub(super) fn has_classes(&self) -> bool {
        self.state.class_of.iter().any(|&class| class != NO_CLASS)
    }

    /// The log density ln p(row) of every row, its novelty score: the lower, the more of an outlier.
    ///
    /// ```
    /// use quince::family::FamilyParameters;
    /// use quince::mixture::MixtureModel;
    /// use quince::{Matrix, Run};
    /// let rates = Matrix::from_rows(&[[1.0], [2.0]]);
    /// let model = MixtureModel::known(&FamilyParameters::Poisson { rates }, &[0.5, 0.5])?;
    /// let zero = model.log_densities(&Matrix::from_rows(&[[0.0]]).features(), &Run::new())?[0].exp();
    /// assert!((zero - 0.5 * ((-1f64).exp() + (-2f64).exp())).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn log_densities(&self, rows: &Features<'_>, run: &Run) -> Result<Vec<f64>> {
        self.ask(rows, 1, run, |_, densities, out| out.copy_from_slice(densities))
    }

    /// The responsibility of every component for every row, one column per component.
    #[doc(alias = "posterior")]
    pub fn responsibilities(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        let components = self.components();
        let responsibilities = self.ask(rows, components, run, |lines, _, out| {
            for k in 0..components {
                out.iter_mut().skip(k).step_by(components).zip(lines.of(k)).for_each(|(to, r)| *to = *r);
            }
        })?;
        Matrix::new(rows.rows(), components, responsibilities)
    }

    /// Writes `width` numbers per row, from the responsibilities of a tile's rows and their log densities.
    fn ask(
        &self,
        rows: &Features<'_>,
        width: usize,
        run: &Run,
        write: impl Fn(&Scores, &[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>> {
        let (starts, weights) = (&self.state.log_weights, self.weights());
        self.state.product.ask_of(rows, width, run, |tile, lines, out| {
            let (mut lines, mut densities) = (lines.clone(), [0.0; TILE]);
            let count = out.len() / width;
            for (k, start) in starts.iter().enumerate() {
                lines.of_mut(k).iter_mut().for_each(|score| *score += start);
            }
            lines.make_responsibilities(&[1.0; TILE][..count], &weights, &mut densities[..count]);
            self.state.product.add_common(tile, &mut densities[..count]);
            write(&lines, &densities[..count], out);
        })
    }

    /// The goodness of fit to rows.
    pub(super) fn judge(&self, rows: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<Fit> {
        let components = self.components();
        let found = self.ask(rows, 2, run, |lines, densities, out| {
            for (i, (out, density)) in out.chunks_exact_mut(2).zip(densities).enumerate() {
                let part = |r: f64| if r > 0.0 { r * r.ln() } else { 0.0 };
                let sum: f64 = (0..components).map(|k| part(lines.of(k)[i])).sum();
                out.copy_from_slice(&[*density, -sum]);
            }
        })?;
        let mut fit = Fit { likelihood: 0.0, entropy: 0.0, rows: 0.0 };
        for (i, pair) in found.chunks_exact(2).enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            if weight > 0.0 {
                fit.likelihood += weight * pair[0];
                fit.entropy += weight * pair[1];
                fit.rows += weight;
            }
        }
        Ok(fit)
    }

    /// The number of classes; zero if there are none.
    fn class_count(&self) -> usize {
        self.state.class_of.iter().filter(|class| **class != NO_CLASS).max().map_or(0, |&last| last as usize + 1)
    }

    /// The score of each class, ln Σ π_k p_k(row) over its components.
    fn class_scores(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        let (state, classes) = (&self.state, self.class_count());
        let scores = state.product.ask(rows, classes, run, |lines, out: &mut [f64]| {
            for (i, out) in out.chunks_exact_mut(classes).enumerate() {
                for (class, out) in out.iter_mut().enumerate() {
                    let own = (0..state.class_of.len()).filter(|&k| state.class_of[k] as usize == class);
                    let said: Vec<f64> = own.map(|k| state.log_weights[k] + lines.of(k)[i]).collect();
                    *out = log_sum_exp(&said);
                }
            }
        })?;
        Matrix::new(rows.rows(), classes, scores)
    }

    /// The log likelihood of each row under each class.
    pub(super) fn class_likelihoods(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        let (mut likelihoods, log_priors) = (self.class_scores(rows, run)?, self.log_priors());
        for i in 0..likelihoods.rows() {
            for (said, prior) in likelihoods.row_mut(i).iter_mut().zip(&log_priors) {
                // Nothing is known of a class without rows.
                *said = if *prior == f64::NEG_INFINITY { f64::NEG_INFINITY } else { *said - prior };
            }
        }
        Ok(likelihoods)
    }

    /// The score of each class and its probability.
    fn classes(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let log_priors = self.log_priors();
        if let Some(calibration) = &self.calibration {
            let mut scores = self.class_likelihoods(rows, run)?;
            (0..scores.rows()).for_each(|i| calibration.weigh(scores.row_mut(i), &log_priors));
            let mut probabilities = scores.clone();
            calibration.to_probabilities(probabilities.values_mut(), &log_priors);
            return Ok(Prediction::Classes { scores, probabilities });
        }
        let mut scores = self.class_scores(rows, run)?;
        let mut probabilities = scores.clone();
        for i in 0..probabilities.rows() {
            // A row that is impossible under every class gets the priors.
            if scores.row(i).iter().all(|score| *score == f64::NEG_INFINITY) {
                scores.row_mut(i).copy_from_slice(&log_priors);
            }
            let all = log_sum_exp(scores.row(i));
            let probabilities = probabilities.row_mut(i).iter_mut().zip(scores.row(i));
            probabilities.for_each(|(probability, score)| *probability = (*score - all).exp());
        }
        Ok(Prediction::Classes { scores, probabilities })
    }

    /// The log prior of each class.
    pub(super) fn log_priors(&self) -> Vec<f64> {
        (0..self.class_count()).map(|class| self.log_prior(class)).collect()
    }

    fn log_prior(&self, class: usize) -> f64 {
        let own = self.state.class_of.iter().zip(&self.state.log_weights);
        log_sum_exp(&own.filter(|(of, _)| **of as usize == class).map(|(_, log)| *log).collect::<Vec<_>>())
    }
}

impl Fitted for MixtureModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        if self.has_classes() {
            return self.classes(rows, run);
        }
        let components = self.components();
        let both = self.ask(rows, components + 1, run, |lines, densities, out| {
            for (i, (out, density)) in out.chunks_exact_mut(components + 1).zip(densities).enumerate() {
                (0..components).for_each(|k| out[k] = lines.of(k)[i]);
                out[components] = *density;
            }
        })?;
        let responsibilities = both.chunks_exact(components + 1).flat_map(|row| &row[..components]).copied().collect();
        let log_densities = both.chunks_exact(components + 1).map(|row| row[components]).collect();
        Ok(Prediction::Responsibilities {
            responsibilities: Matrix::new(rows.rows(), components, responsibilities)?,
            log_densities,
        })
    }

    fn groups(&self) -> usize {
        self.components()
    }

    fn explain(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Option<Explanation> {
        Some(self.explanation(encoder, classes))
    }

    fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Option<Explanation>> {
        let mut names = self.names(classes);
        if !self.has_classes() {
            names.iter_mut().for_each(|name| name.insert_str(0, "component "));
        }
        let responsibilities = self.responsibilities(row, &Run::new())?;
        let of_class = |class: u32| {
            let own = self.state.class_of.iter().enumerate().filter(move |(_, of)| **of == class);
            own.map(|(k, _)| (k, responsibilities[(0, k)]))
        };
        let mut pair = None;
        if self.has_classes() {
            // The most probable component of each of the two most probable classes.
            let Prediction::Classes { scores, .. } = self.classes(row, &Run::new())? else { unreachable!() };
            let mut order: Vec<u32> = (0..classes.len() as u32).collect();
            order.sort_by(|a, b| scores[(0, *b as usize)].total_cmp(&scores[(0, *a as usize)]));
            let best = |class: u32| of_class(class).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(k, _)| k);
            if let [first, second, ..] = order[..] {
                pair = best(first).zip(best(second)).map(|(first, second)| [first, second]);
            }
        }
        let log_priors = self.log_priors();
        let sure = |row: &Features<'_>, k: usize| {
            let class = self.state.class_of[k];
            if class == NO_CLASS {
                return Ok(Sure { probability: responsibilities[(0, k)], prior: self.state.log_weights[k].exp() });
            }
            let Prediction::Classes { probabilities, .. } = self.classes(row, &Run::new())? else { unreachable!() };
            let (probability, prior) = (probabilities[(0, class as usize)], log_priors[class as usize].exp());
            Ok(Sure { probability, prior })
        };
        let bias =
            |class: &u32| self.calibration.as_ref().map_or(0.0, |calibration| calibration.biases[*class as usize]);
        let by = Weighing {
            log_priors: &self.state.log_weights,
            biases: &self.state.class_of.iter().map(bias).collect::<Vec<_>>(),
            temperature: self.temperature(),
            contamination: self.calibration.as_ref().map_or(0.0, |calibration| calibration.contamination),
        };
        self.state.product.explain_row(row, encoder, &names, &by, pair, sure).map(Some)
    }

    fn impute(&self, rows: &Features<'_>, classes: Option<&[u32]>, run: &Run) -> Result<Option<Imputed>> {
        let State { product, log_weights, class_of, .. } = &self.state;
        product.impute(rows, log_weights, classes.map(|classes| (classes, &class_of[..])), run).map(Some)
    }

    fn sample(&self, count: usize, class: Option<usize>, run: &Run) -> Result<Option<Vec<SampledRow>>> {
        let state = &self.state;
        let mut weights = self.weights();
        if let Some(class) = class {
            let other = |k: usize| if self.has_classes() { state.class_of[k] as usize != class } else { k != class };
            weights.iter_mut().enumerate().filter(|(k, _)| other(*k)).for_each(|(_, weight)| *weight = 0.0);
        }
        let components = Multinomial::new(&weights)?;
        let label = |k: usize| if self.has_classes() { state.class_of[k] as usize } else { k };
        state.product.sample(count, |stream| components.sample_place(stream), label, run).map(Some)
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        let state = &self.state;
        parts.put_vector("components", &state.totals);
        state.product.save(parts);
        let classes = if self.has_classes() { state.class_of.clone() } else { Vec::new() };
        let (blocks, dense, calibration) =
            (state.product.blocks.clone(), state.product.dense, self.calibration.clone());
        parts.put_json("blocks", &Saved { blocks, dense, classes, calibration });
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<MixtureModel> {
        let Saved { blocks, dense, mut classes, calibration } = parts.take_json("blocks")?;
        let totals = parts.take_vector("components", None)?;
        let components = totals.len();
        let total: f64 = totals.iter().sum();
        if totals.iter().any(|total| !(total.is_finite() && *total >= 0.0)) || !(total > 0.0 && total.is_finite()) {
            return Err(parts.wrong("the components have no weights"));
        }
        let fits = |class: usize| classes.iter().any(|&other| other as usize == class);
        if classes.is_empty() && parts.classes() == 0 {
            classes = vec![NO_CLASS; components];
        } else if classes.len() != components || !(0..parts.classes()).all(fits) {
            return Err(parts.wrong("the components do not fit the classes"));
        } else if classes.iter().any(|&class| class as usize >= parts.classes()) {
            return Err(parts.wrong("a component is of a class that is not there"));
        }
        if calibration.as_ref().is_some_and(|calibration| !calibration.is_sound(parts.classes())) {
            return Err(parts.wrong("the calibration does not fit the classes"));
        }
        let product = Product::load(parts, blocks, dense, components)?;
        Ok(MixtureModel { state: State::new(product, totals, classes), calibration })
    }
}
