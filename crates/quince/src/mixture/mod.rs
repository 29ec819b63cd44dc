//! Mixture models: every row comes from one of several latent components.
//!
//! ```text
//! p(row) = Σ_k π_k p_k(row)
//! ```
//!
//! A component is what a class is to a Bayes classifier: a product of blocks ([`family`](crate::family)), each of which has
//! some columns and their family: Gaussian, Poisson, categorical, multinomial and others. If the component of every row were
//! known, the parameters would follow from sufficient statistics, as in [`bayes`](crate::bayes). As it is latent, EM
//! alternates:
//!
//! - **E**xpectation: the responsibility of component k for row i is r_ik = π_k p_k(row i) / Σ_j π_j p_j(row i), by the
//!   present parameters;
//! - **M**aximisation: every row is added to the statistics of every component, weighted by its responsibilities, and the
//!   parameters follow.
//!
//! No step can lower the likelihood Π_i p(row i) (times the prior, where counts are smoothed). A floor is added to variances
//! as well, so that no component collapses to a point; that is the one thing that can lower the likelihood.
//!
//! **Labels are masks.** A component may belong to a class; only the components of that class are responsible for a row whose
//! class is known. Where all rows have a class, and every class one component, the responsibilities are known from the
//! beginning: that is the Bayes classifier, in one step. Where none has, it is the mixture. In between, rows without a class
//! help to estimate what each class is like: semi-supervised learning. It is one loop (`em`, accelerated by squared
//! extrapolation; the probabilities of classes are calibrated on held-out rows), and missing values go through it too: they are left out of the likelihood, and a Gaussian block has their
//! conditional expectation and covariance in its statistics.

mod calibrate;
mod choose;
mod classes;
mod explain;
mod model;
mod start;
#[cfg(test)]
mod tests;

pub use crate::family::FamilyParameters;
pub use choose::ComponentCountCandidate;
pub use model::MixtureModel;

use crate::em::{Data, Options, State, Trace};
use crate::error::{Error, Result};
use crate::family::block::{GaussianPlan, Shape, Shared, VarianceFloor};
use crate::family::layout::{Families, FamilyName, Layout, LayoutData, LayoutOptions, Open, layout};
use crate::family::product::Product;
use crate::learn::{
    Amount, Capability, Checked, Count, Domain, Examples, Learner, MethodInfo, Settings, Target, TargetView,
};
use crate::matrix::Matrix;
use crate::run::{Certificate, Outcome, Report, Run};
use std::borrow::Cow;

/// The pseudocount of a word by default, where there are no classes.
const ALPHA_OF_WORDS: f64 = 0.1;

crate::settings! {
    /// A mixture model, fitted by EM.
    ///
    /// ```
    /// use quince::learn::Count;
    /// use quince::prelude::*;
    /// let missing = f64::NAN;
    /// let small = [[20.0, 4.1], [21.0, missing], [19.0, 3.8], [22.0, 4.4]];
    /// let large = [[60.0, 28.0], [missing, 31.0], [64.0, 33.0], [58.0, 27.0]];
    /// let rows = [small, large].concat();
    /// let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
    /// let labels = two.fit_unsupervised(&rows)?.clusters(&rows)?;
    /// assert!(labels[..4].iter().all(|&label| label == labels[0]) && labels[4..].iter().all(|&label| label != labels[0]));
    /// # quince::Result::Ok(())
    /// ```
    #[doc(alias = "gmm")]
    #[doc(alias = "gaussian mixture")]
    pub struct Mixture(k) {
        /// The number of components; auto takes the number from 1 to 10 with the smallest criterion.
        k: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// The number of components of every class, where there are classes; k, criterion, start, restarts, covariance
        /// and shared are not used then.
        per_class: usize = 1, in Domain::Integer(1);
        /// The family of columns, for example age=normal,visits=poisson; auto, normal, poisson, bernoulli, categorical,
        /// multinomial, histogram, quantiles, and for columns together gaussian.
        family: Families = Families::default(), in Domain::Parsed(Families::PARSER);
        /// The shape of the covariances of numbers, where no family is given.
        covariance: CovarianceType = CovarianceType::Full, in CovarianceType::DOMAIN;
        /// Whether components share a covariance.
        shared: bool = false, in Domain::Boolean;
        /// The information criterion that selects the number of components: likelihood against number of parameters.
        criterion: Criterion = Criterion::Bic, in Criterion::DOMAIN;
        /// Start from the clusters of k-means, from rows far from each other (k-means++), or from random
        /// responsibilities; auto alternates between the first and the last.
        start: MixtureInit = MixtureInit::Auto, in MixtureInit::DOMAIN;
        /// The number of starts; the one with the highest likelihood wins.
        restarts: usize = 4, in Domain::Integer(1);
        /// The most steps of EM.
        steps: usize = 500, in Domain::Integer(0);
        /// EM has converged when the mean log likelihood of a row rises by no more than this.
        tolerance: f64 = 1e-6, in Domain::Number(0.0, f64::MAX);
        /// Whether to accelerate EM by squared extrapolation (SQUAREM), as long as the likelihood does not fall by it.
        accelerate: bool = true, in Domain::Boolean;
        /// Variance floor: this fraction of each column's variance over all rows is added to the variances of all
        /// components.
        variance_floor: f64 = 1e-6, in Domain::Number(0.0, 1e9);
        /// Variance floor: this constant is added to all variances as well.
        variance_floor_constant: f64 = 0.0, in Domain::Number(0.0, f64::MAX);
        /// Additive smoothing: the pseudocount of every category, bin, word and answer; 1 is Laplace's rule; auto is 1, but
        /// 0.1 of words where there are no classes.
        alpha: Amount = Amount::Auto, in Domain::NumberOr(0.0, 1e12, &["auto"]);
        /// The weight of a row without a class relative to one with a class; auto takes the one of 0, 0.01, 0.1 and 1
        /// under which held-out classes are most probable.
        unlabelled: Amount = Amount::Auto, in Domain::NumberOr(0.0, 1e9, &["auto"]);
        /// Calibrate the probabilities of classes on held-out rows, so that they are not overconfident.
        calibrate: bool = true, in Domain::Boolean;
    }
}

/// Initial parameters of EM, as far as they are given; the rest is as the settings say.
///
/// ```
/// use quince::learn::Examples;
/// use quince::mixture::InitialParameters;
/// use quince::prelude::*;
/// let (rows, target) = (Matrix::from_rows(&[[0.0], [1.0], [8.0], [9.0]]), Target::none(4));
/// let start = InitialParameters { means: Some(Matrix::from_rows(&[[9.0], [0.0]])), ..InitialParameters::default() };
/// let examples = Examples::new(rows.features(), &target, None)?;
/// let (model, _) = Mixture::new(2).fit_from(&examples, &start, &Run::new())?;
/// // Components keep the order in which they were given.
/// let means = model.parameters()[0].array("mean").cloned().unwrap();
/// assert!((means[(0, 0)] - 8.5).abs() < 1e-3 && (means[(1, 0)] - 0.5).abs() < 1e-3);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialParameters {
    /// The responsibility of each component for each row, one column per component.
    pub responsibilities: Option<Matrix>,
    /// The mixing weights of the components.
    pub weights: Option<Vec<f64>>,
    /// The means of Gaussian components, one row per component.
    pub means: Option<Matrix>,
    /// Their covariances, or a shared one; for diagonal and spherical shapes, a row of variances.
    pub covariances: Option<Vec<Matrix>>,
}

crate::choices! {
    /// The shape of the components' covariances.
    pub enum CovarianceType {
        /// Any symmetric positive definite matrix.
        #[default]
        Full = "full",
        /// One variance per column.
        Diagonal = "diagonal",
        /// One variance for all columns.
        Spherical = "spherical",
    }
}

crate::choices! {
    /// Information criteria for the number of components; the smallest wins. ℓ is the log likelihood, p the number of free
    /// parameters, n the number of rows.
    pub enum Criterion {
        /// The Bayesian information criterion p ln n - 2 ℓ.
        #[default]
        Bic = "bic",
        /// Akaike's information criterion 2 p - 2 ℓ.
        Aic = "aic",
        /// The integrated completed likelihood: BIC plus twice the entropy of the responsibilities, so that overlapping
        /// components cost more.
        Icl = "icl",
    }
}

crate::choices! {
    /// How EM is initialised.
    pub enum MixtureInit {
        /// Alternately from the clusters of k-means and from random responsibilities.
        #[default]
        Auto = "auto",
        /// From the clusters of k-means.
        Kmeans = "kmeans",
        /// From rows far from each other (k-means++) and the rows nearest to them.
        PlusPlus = "plus-plus",
        /// From random responsibilities.
        Random = "random",
    }
}

impl Learner for Mixture {
    type Fitted = MixtureModel;

    const INFO: MethodInfo = MethodInfo {
        name: "mixture",
        title: "Mixture",
        summary: "Components of any families, fitted by EM: soft clusters with densities, and classes from few labels.",
        capabilities: &[
            Capability::Classify,
            Capability::Cluster,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::MissingValues,
            Capability::SemiSupervised,
            Capability::NativeColumns,
        ],
        settings: Self::SETTINGS,
        python: &["GaussianMixture", "MultinomialMixture", "MixedMixture", "SemiSupervisedNB"],
    };

    fn check_settings(&self) -> Result<()> {
        for name in self.family.names() {
            if matches!(name, FamilyName::KernelDensity | FamilyName::MarkovChain) {
                let problem = format!("cannot be {name} in a mixture");
                return Err(Error::setting("family", problem, "Take another one, or naive-bayes with classes."));
            }
        }
        Ok(())
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        match examples.target.view() {
            TargetView::None(_) => self.find(examples, run),
            TargetView::Classes { .. } => self.classify(examples, run),
            TargetView::Numbers(_) => Err(Target::missing()),
        }
    }
}

/// Weights as frequencies of rows. If they are less than one on average they cannot be that: they are rescaled to sum to the
/// number of rows with positive weight.
fn as_counts(weights: Option<&[f64]>) -> Option<Cow<'_, [f64]>> {
    let weights = weights?;
    let counted = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    let times = counted / weights.iter().sum::<f64>();
    // Ones that were summed up may differ from one by rounding.
    let are_fractions = times > 1.0 + 1e-9 && times.is_finite();
    Some(if are_fractions { weights.iter().map(|weight| times * weight).collect() } else { Cow::Borrowed(weights) })
}

impl Mixture {
    /// The pseudocounts of categories, bins and answers, and of words. Where there are no classes, a word more in each component
    /// for every word of a large vocabulary makes components alike, until one of them has all rows.
    fn pseudocounts(&self, open: Open) -> (f64, f64) {
        match (self.alpha, open) {
            (Amount::Fixed(alpha), _) => (alpha, alpha),
            (Amount::Auto, Open::Choose) => (1.0, 1.0),
            (Amount::Auto, Open::Together) => (1.0, ALPHA_OF_WORDS),
        }
    }

    fn choices(&self, open: Open) -> LayoutOptions<'_> {
        let (alpha, alpha_of_words) = self.pseudocounts(open);
        let variance_floor =
            VarianceFloor { absolute: self.variance_floor_constant, ..VarianceFloor::relative(self.variance_floor) };
        LayoutOptions {
            families: &self.family,
            alpha,
            alpha_of_words,
            p: 0.5,
            threshold: 0.0,
            categories: 0,
            bins: Count::Auto,
            bandwidth: 0.0,
            variance_floor,
            gaussian: GaussianPlan {
                shape: match self.covariance {
                    CovarianceType::Full => Shape::Full,
                    CovarianceType::Diagonal => Shape::Diagonal,
                    CovarianceType::Spherical => Shape::Spherical,
                },
                variance_floor,
                ..GaussianPlan::plain(Shape::Full, if self.shared { Shared::Pooled } else { Shared::No })
            },
            pca: 0,
            discriminant_axes: 0,
            tolerance: 0.0,
            open,
        }
    }

    fn em_options(&self) -> Options {
        Options { steps: self.steps, tolerance: self.tolerance, accelerate: self.accelerate }
    }

    /// Fits a mixture where there are no classes.
    fn find(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let weights = as_counts(examples.weights);
        let examples = &Examples { weights: weights.as_deref(), ..*examples };
        match self.k {
            Count::Auto => choose::choose(self, examples, run),
            Count::Fixed(k) => {
                self.check_k(k, examples.features.rows())?;
                let (state, trace) = self.best(k, examples, run)?;
                self.finish(state, trace, examples, run)
            }
        }
    }

    fn check_k(&self, k: usize, rows: usize) -> Result<()> {
        if (1..=rows).contains(&k) {
            return Ok(());
        }
        let problem = format!("cannot be {k} with {rows} {}", if rows == 1 { "row" } else { "rows" });
        Err(Error::setting("k", problem, format!("Use from 1 to {rows}, or auto.")))
    }

    /// Fits a mixture from given initial parameters, and keeps the order of its components.
    pub fn fit_from(
        &self,
        examples: &Examples<'_>,
        given: &InitialParameters,
        run: &Run,
    ) -> Result<(MixtureModel, Report)> {
        let examples = Checked::new(self, examples)?;
        if !matches!(examples.target.view(), TargetView::None(_)) {
            return Err(Error::data("a start is given for clusters, and so is a target", "Leave the target out."));
        }
        let Count::Fixed(k) = self.k else {
            let remedy = "Give the number of components.";
            return Err(Error::setting("k", "cannot be auto where a start is given", remedy));
        };
        self.check_k(k, examples.features.rows())?;
        let weights = as_counts(examples.weights);
        let examples = &Examples { weights: weights.as_deref(), ..*examples };
        let (features, weights) = (&examples.features, examples.weights);
        let codes = vec![0; features.rows()];
        let mut product = self.blocks(examples, &codes, (1, k), weights, Open::Together, run)?;
        start::settle(&mut product, features, weights, run)?;
        let mut state = match &given.responsibilities {
            Some(responsibilities) => start::from_responsibilities(product, features, weights, responsibilities, run)?,
            None => start::draw(self.start, 0, &product, features, weights, run)?,
        };
        state.take(given, run)?;
        let data = Data::new(features, weights, None, &state.product.blocks);
        let trace = state.run_em(&data, self.em_options(), run)?;
        self.finish(state, trace, examples, run)
    }

    /// Blocks for all columns, with these numbers of classes and components.
    fn blocks(
        &self,
        examples: &Examples<'_>,
        codes: &[u32],
        (classes, components): (usize, usize),
        weights: Option<&[f64]>,
        open: Open,
        run: &Run,
    ) -> Result<Product> {
        let features = &examples.features;
        let (feature_map, of_matrix) = examples.feature_map();
        let data = LayoutData {
            feature_map: &feature_map,
            of_matrix,
            features,
            codes,
            classes,
            components,
            priors: None,
            weights,
        };
        let Layout { blocks, .. } = layout(&data, &self.choices(open), run)?;
        if blocks.is_empty() && open == Open::Together {
            return Err(Error::data("no column carries information: all are constant", "Give columns that vary."));
        }
        Ok(Product::new(blocks, components, features))
    }

    /// Blocks of the components of classes, and whether folds must choose them anew.
    fn blocks_of_classes(&self, data: &LayoutData<'_>, run: &Run) -> Result<(Product, bool)> {
        let laid_out = layout(data, &self.choices(Open::Choose), run)?;
        let is_too_hopeful = laid_out.is_too_hopeful_of(data);
        Ok((Product::new(laid_out.blocks, data.components, data.features), is_too_hopeful))
    }

    /// The model of a state, and its report.
    fn finish(&self, state: State, trace: Trace, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let model = MixtureModel::new(state);
        let route = match trace.objectives.len() {
            0 => format!("statistics of {}", model.state.product.route()),
            1 => format!("1 step of EM for {}", model.state.product.route()),
            steps => format!("{steps} steps of EM for {}", model.state.product.route()),
        };
        let mut report = Report { route, stop: trace.stop, trace: trace.objectives.clone(), ..Report::default() };
        if trace.objectives.len() > 1 {
            let measure = "rise of the log likelihood of a row by the last step but one".to_string();
            let value = trace.rise.abs();
            report.certificate = Some(Certificate { measure, value, tolerance: self.tolerance });
        }
        report.fact("components", model.components() as f64);
        report.fact("parameters", model.free_parameters() as f64);
        if matches!(examples.target.view(), TargetView::None(_)) {
            let fit = run.finish(|| model.judge(&examples.features, examples.weights, run))?;
            let criterion = |criterion: Criterion| fit.criterion(criterion, model.free_parameters());
            let [bic, aic, icl] = [Criterion::Bic, Criterion::Aic, Criterion::Icl].map(criterion);
            let log_likelihood_of_a_row = fit.likelihood / fit.rows;
            report.outcome = Outcome::Mixture { log_likelihood_of_a_row, bic, aic, icl };
            report.fact("log likelihood", fit.likelihood);
            report.fact("log likelihood of a row", log_likelihood_of_a_row);
            report.fact("bic", bic);
            report.fact("aic", aic);
            report.fact("icl", icl);
        }
        if trace.revived > 0 {
            let times = if trace.revived == 1 { "once".into() } else { format!("{} times", trace.revived) };
            report.remarks.push(format!("a component had no rows left and was started again, {times}"));
        }
        report.remarks.extend(trace.remark());
        Ok((model, report))
    }
}
