//! Mixtures: rows come from one of several components, and nobody says from which.
//!
//! ```text
//! p(row) = Σ_k π_k p_k(row)
//! ```
//!
//! A component is what a class is to a Bayes classifier: a product of blocks ([`family`](crate::family)), each of which speaks for
//! some columns by a family of theirs, Gaussian, Poisson, categorical, multinomial and others. If it were known which component
//! every row is of, their parameters would follow from sums over rows, as in [`bayes`](crate::bayes). As it is not, EM goes by
//! turns:
//!
//! - **E**xpectation: the share of component k in row i is r_ik = π_k p_k(row i) / Σ_j π_j p_j(row i), by the present parameters;
//! - **M**aximisation: every row is added to the sums of every component as much as its share, and the parameters follow.
//!
//! Neither turn can lower the likelihood Π_i p(row i) (times the prior, where counts are smoothed). A little is added to variances
//! besides, so that no component shrinks to a point; that is the one thing that the likelihood pays for.
//!
//! **Labels are masks.** A component may belong to a class; a row whose class is known has shares in the components of that class
//! alone. Where all rows have a class, and every class one component, the shares are known from the beginning: that is the Bayes
//! classifier, in one step. Where none has, that is the mixture. In between, rows without a class help to say what each class is
//! like: semi-supervised learning. It is one loop (`em.rs`, with leaps ahead in `leap.rs`), and holes go through it too: they are left out of the likelihood, and
//! in a Gaussian block filled with what the rest of the row leads to expect, and its covariance.

mod choose;
mod classes;
pub(crate) mod em;
mod explain;
mod leap;
mod model;
mod start;
#[cfg(test)]
mod tests;

pub use choose::Trial;
pub use model::MixtureModel;

use crate::error::{Error, Result};
use crate::family::block::{GaussianPlan, Least, Shape, Shared, Shrink};
use crate::family::layout::{Choices, Data, Families, Name, Open, layout};
use crate::family::product::Product;
use crate::learn::{Count, Examples, Learner, Target};
use crate::matrix::Matrix;
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Certificate, Report, Run};
use em::{Course, Limits, Seen, State};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A mixture of components, found by EM.
///
/// ```
/// use quince::{Model, Run, Table, mixture::Mixture, learn::Count};
/// let table = Table::from_csv("height,weight\n20,4.1\n21,?\n19,3.8\n22,4.4\n60,28\n?,31\n64,33\n58,27\n")?;
/// let two = Mixture { k: Count::Fixed(2), ..Mixture::default() };
/// let model = Model::fit(&table.groupable(None, &[])?.labelled, None, &two, &Run::new())?;
/// let labels = model.predict(&table, &Run::new())?.labels();
/// assert!(labels[..4].iter().all(|&label| label == labels[0]) && labels[4..].iter().all(|&label| label != labels[0]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mixture {
    /// How many components; `Auto` takes the number from 1 to 10 that the criterion likes best. With classes, see `per_class`.
    pub k: Count,
    /// How many components every class has, where there are classes.
    pub per_class: usize,
    /// Which family which column has.
    pub family: Families,
    /// What the covariances of numbers may be, where no family is given.
    pub covariance: Covariance,
    /// Whether components have one covariance in common.
    pub shared: bool,
    /// What a number of components is judged by.
    pub criterion: Criterion,
    /// Where EM starts.
    pub start: Start,
    /// How often to start anew; the likeliest wins.
    pub restarts: usize,
    /// The most steps of EM.
    pub steps: usize,
    /// Done when the log likelihood of a row, on average, rises by no more than this.
    pub tolerance: f64,
    /// Whether to leap ahead where steps of EM go the same way, as long as the likelihood does not fall by it.
    pub accelerate: bool,
    /// This share of each column's variance over all rows is added to the variances of all components.
    pub epsilon: f64,
    /// What is added to all variances besides.
    pub added: f64,
    /// What is added to every count of a category, bin, word or answer.
    pub alpha: f64,
    /// How much a row without a class counts beside one that has a class.
    pub unlabelled: f64,
}

/// Where to start, as far as it is given; the rest is as the settings say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// The share of each row in each component.
    pub shares: Option<Matrix>,
    /// How frequent each component is.
    pub weights: Option<Vec<f64>>,
    /// The means of Gaussian components, a row a component.
    pub means: Option<Matrix>,
    /// Their covariances, or one for all; the variances of columns if they are no more than that.
    pub covariances: Option<Vec<Matrix>>,
}

/// What a covariance may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// Anything.
    #[default]
    Full,
    /// A variance for each column.
    Diagonal,
    /// One variance for all columns.
    Spherical,
}

/// What a number of components is judged by; the smallest wins. ℓ is the log likelihood, p the number of parameters, n that of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// p ln n - 2 ℓ.
    #[default]
    Bic,
    /// 2 p - 2 ℓ.
    Aic,
    /// As BIC, and twice the entropy of the shares: components that overlap cost more.
    Icl,
}

/// Where EM starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// From the clusters of k-means and from shares at random, by turns.
    #[default]
    Auto,
    /// From the clusters of k-means.
    Kmeans,
    /// From rows far from each other (k-means++) and what is nearest to them.
    PlusPlus,
    /// From shares at random.
    Random,
}

impl Default for Mixture {
    fn default() -> Mixture {
        Mixture {
            k: Count::Auto,
            per_class: 1,
            family: Families::default(),
            covariance: Covariance::Full,
            shared: false,
            criterion: Criterion::Bic,
            start: Start::Auto,
            restarts: 4,
            steps: 500,
            tolerance: 1e-6,
            accelerate: true,
            epsilon: 1e-3,
            added: 0.0,
            alpha: 1.0,
            unlabelled: 1.0,
        }
    }
}

impl Learner for Mixture {
    type Fitted = MixtureModel;

    const CARD: Card = Card {
        name: "mixture",
        title: "Mixture",
        summary: "Components of any families, found by EM: clusters with shares and densities, and classes from few labels.",
        abilities: &[
            Ability::Classify,
            Ability::Cluster,
            Ability::Weights,
            Ability::Sparse,
            Ability::Holes,
            Ability::Unlabelled,
            Ability::AsTheyAre,
        ],
        settings: &[
            Setting {
                name: "k",
                allowed: Allowed::WholeOrAuto(1),
                help: "How many components; auto takes the number from 1 to 10 that the criterion likes best.",
            },
            Setting {
                name: "per_class",
                allowed: Allowed::Whole(1),
                help: "How many components every class has, where there are classes; k, criterion, start, restarts, covariance and shared say nothing then.",
            },
            Setting {
                name: "family",
                allowed: Allowed::Written(Families::READING),
                help: "The family of columns, for example age=normal,visits=poisson; auto, normal, poisson, bernoulli, \
                       categorical, multinomial, histogram, quantiles, and for columns together gaussian.",
            },
            Setting {
                name: "covariance",
                allowed: Allowed::Choice(&["full", "diagonal", "spherical"]),
                help: "What the covariances of numbers may be, where no family is given.",
            },
            Setting {
                name: "shared",
                allowed: Allowed::Switch,
                help: "Whether components have one covariance in common.",
            },
            Setting {
                name: "criterion",
                allowed: Allowed::Choice(&["bic", "aic", "icl"]),
                help: "What a number of components is judged by: the likelihood against the number of parameters.",
            },
            Setting {
                name: "start",
                allowed: Allowed::Choice(&["auto", "kmeans", "plus-plus", "random"]),
                help: "Start from the clusters of k-means, from rows far from each other, or from shares at random; auto takes \
                       the first and the last by turns.",
            },
            Setting {
                name: "restarts",
                allowed: Allowed::Whole(1),
                help: "How often to start anew; the likeliest wins.",
            },
            Setting { name: "steps", allowed: Allowed::Whole(0), help: "The most steps of EM." },
            Setting {
                name: "tolerance",
                allowed: Allowed::Number(0.0, f64::MAX),
                help: "Done when the log likelihood of a row, on average, rises by no more than this.",
            },
            Setting {
                name: "accelerate",
                allowed: Allowed::Switch,
                help: "Whether to leap ahead where steps of EM go the same way, as long as the likelihood does not fall by it.",
            },
            Setting {
                name: "epsilon",
                allowed: Allowed::Number(0.0, 1e9),
                help: "This share of each column's variance over all rows is added to the variances of all components.",
            },
            Setting {
                name: "added",
                allowed: Allowed::Number(0.0, f64::MAX),
                help: "What is added to all variances besides.",
            },
            Setting {
                name: "alpha",
                allowed: Allowed::Number(0.0, 1e12),
                help: "What is added to every count of a category, bin, word or answer; 1 is Laplace's rule.",
            },
            Setting {
                name: "unlabelled",
                allowed: Allowed::Number(0.0, 1e9),
                help: "How much a row without a class counts beside one that has a class.",
            },
        ],
        python: &["GaussianMixture", "MultinomialMixture", "MixedMixture", "SemiSupervisedNB"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        match examples.target {
            Target::Nothing(_) => self.find(examples, run),
            Target::Classes { .. } => self.classify(examples, run),
            Target::Numbers(_) => Err(Target::missing()),
        }
    }
}

/// Weights as how often rows were seen. If they are less than one on average they cannot mean that: they are shares, of as many
/// rows as count.
fn as_counts(weights: Option<&[f64]>) -> Option<Cow<'_, [f64]>> {
    let weights = weights?;
    let counted = weights.iter().filter(|weight| **weight > 0.0).count() as f64;
    let times = counted / weights.iter().sum::<f64>();
    // Ones that were added up may miss one by a little.
    let shares = times > 1.0 + 1e-9 && times.is_finite();
    Some(if shares { weights.iter().map(|weight| times * weight).collect() } else { Cow::Borrowed(weights) })
}

impl Mixture {
    fn choices(&self, open: Open) -> Choices<'_> {
        let least = Least { added: self.added, ..Least::share(self.epsilon) };
        Choices {
            families: &self.family,
            alpha: self.alpha,
            p: 0.5,
            threshold: 0.0,
            categories: 0,
            bins: Count::Auto,
            bandwidth: 0.0,
            least,
            gaussian: GaussianPlan {
                shape: match self.covariance {
                    Covariance::Full => Shape::Full,
                    Covariance::Diagonal => Shape::Diagonal,
                    Covariance::Spherical => Shape::Spherical,
                },
                shared: if self.shared { Shared::Pooled } else { Shared::No },
                unbiased: false,
                least,
                shrink: Shrink { share: 0.0, to_one: false },
            },
            pca: 0,
            open,
        }
    }

    fn limits(&self) -> Limits {
        Limits { steps: self.steps, tolerance: self.tolerance, leaps: self.accelerate }
    }

    /// Finds components where there are no classes.
    fn find(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let weights = as_counts(examples.weights);
        let examples = &Examples { weights: weights.as_deref(), ..*examples };
        match self.k {
            Count::Auto => choose::choose(self, examples, run),
            Count::Fixed(k) => {
                self.check_k(k, examples.features.rows())?;
                let (state, course) = self.best(k, examples, run)?;
                self.finish(state, course, examples, run)
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

    /// Finds components from a given start, and leaves them in their order.
    pub fn fit_from(&self, examples: &Examples<'_>, given: &Given, run: &Run) -> Result<(MixtureModel, Report)> {
        Self::CARD.check(&crate::learn::Learn::settings(self))?;
        let Count::Fixed(k) = self.k else {
            let remedy = "Say how many components are given.";
            return Err(Error::setting("k", "cannot be auto where a start is given", remedy));
        };
        self.check_k(k, examples.features.rows())?;
        let weights = as_counts(examples.weights);
        let examples = &Examples { weights: weights.as_deref(), ..*examples };
        let (features, weights) = (&examples.features, examples.weights);
        let codes = vec![0; features.rows()];
        let mut product = self.blocks(examples, &codes, (1, k), weights, Open::Together, run)?;
        start::settle(&mut product, features, weights, run)?;
        let mut state = match &given.shares {
            Some(shares) => start::from_shares(product, features, weights, shares, run)?,
            None => start::draw(self.start, 0, &product, features, weights, run)?,
        };
        state.take(given, run)?;
        let seen = Seen::new(features, weights, None, &state.product.blocks);
        let course = state.climb(&seen, self.limits(), run)?;
        self.finish(state, course, examples, run)
    }

    /// Blocks for all columns, with so many classes and components.
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
        for name in self.family.names() {
            if matches!(name, Name::Window | Name::Chain) {
                let problem = format!("cannot be {name} in a mixture");
                return Err(Error::setting("family", problem, "Take another one, or naive-bayes with classes."));
            }
        }
        let (scheme, of_matrix) = examples.scheme();
        let data = Data { scheme: &scheme, of_matrix, features, codes, classes, components, weights };
        let (blocks, _) = layout(&data, &self.choices(open), run)?;
        if blocks.is_empty() && open == Open::Together {
            return Err(Error::data("no column says anything: all are constant", "Give columns that vary."));
        }
        Ok(Product::new(blocks, components, features))
    }

    /// The model of a state, and its report.
    fn finish(
        &self,
        state: State,
        course: Course,
        examples: &Examples<'_>,
        run: &Run,
    ) -> Result<(MixtureModel, Report)> {
        let model = MixtureModel::new(state);
        let route = match course.trace.len() {
            0 => format!("sums of {}", model.state.product.route()),
            1 => format!("1 step of EM for {}", model.state.product.route()),
            steps => format!("{steps} steps of EM for {}", model.state.product.route()),
        };
        let mut report = Report { route, stop: course.stop, trace: course.trace.clone(), ..Report::default() };
        if course.trace.len() > 1 {
            let measure = "what the last step but one added to the log likelihood of a row".to_string();
            let value = course.rise.abs();
            report.certificate = Some(Certificate { measure, value, tolerance: self.tolerance });
        }
        report.fact("components", model.components() as f64);
        report.fact("parameters", model.free_parameters() as f64);
        if matches!(examples.target, Target::Nothing(_)) {
            let fit = run.finish(|| model.judge(&examples.features, examples.weights, run))?;
            report.fact("log likelihood", fit.likelihood);
            report.fact("log likelihood of a row", fit.likelihood / fit.rows);
            report.fact("bic", fit.criterion(Criterion::Bic, model.free_parameters()));
            report.fact("aic", fit.criterion(Criterion::Aic, model.free_parameters()));
            report.fact("icl", fit.criterion(Criterion::Icl, model.free_parameters()));
        }
        if course.revived > 0 {
            let times = if course.revived == 1 { "once".into() } else { format!("{} times", course.revived) };
            report.remarks.push(format!("a component had no rows left and began anew, {times}"));
        }
        report.remarks.extend(course.remark());
        Ok((model, report))
    }
}
