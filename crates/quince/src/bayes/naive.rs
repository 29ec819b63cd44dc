//! Naive Bayes: every column speaks for itself.

use super::{BayesModel, Families, Priors, ShareOf, fit, leave_one_out};
use crate::error::Result;
use crate::family::block::{GaussianPlan, Least, Shape, Shared, Shrink};
use crate::family::layout::{Choices, Open};
use crate::learn::{Count, Examples, Learner, Prediction};
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};

/// Naive Bayes with a family for each column.
///
/// ```
/// use quince::{Model, Run, Table, bayes::NaiveBayes};
/// let table = Table::from_csv("height,sex\n181,m\n165,f\n?,m\n170,f\n178,m\n")?;
/// let model = Model::train(&table, "sex", &NaiveBayes::default(), &Run::new())?;
/// let new = Table::from_csv("height\n180\n168\n?\n")?;
/// assert_eq!(model.labels(&model.predict(&new, &Run::new())?), ["m", "f", "m"]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NaiveBayes {
    /// Which family which column has.
    pub family: Families,
    /// What is added to every count of a category, bin, word or answer: 1 is Laplace's rule, 0 adds nothing.
    pub alpha: f64,
    /// Yes/no columns are drawn to this share of yes.
    pub p: f64,
    /// Bernoulli families take numbers above this as yes.
    pub threshold: f64,
    /// A matrix whose columns are categories has at least so many in each.
    pub categories: usize,
    /// How many bins a histogram has.
    pub bins: Count,
    /// How wide smoothing windows are; 0 follows from the spread of the values.
    pub bandwidth: f64,
    /// This share of a variance over all rows is added to the variances of all classes.
    pub epsilon: f64,
    /// Of which variance.
    pub epsilon_of: ShareOf,
    /// How frequent classes are taken to be.
    pub priors: Priors,
    /// Likelihoods count by the share under which rows that are left out are likeliest to be of their class.
    pub calibrate: bool,
}

impl Default for NaiveBayes {
    fn default() -> NaiveBayes {
        NaiveBayes {
            family: Families::default(),
            alpha: 1.0,
            p: 0.5,
            threshold: 0.0,
            categories: 0,
            bins: Count::Auto,
            bandwidth: 0.0,
            epsilon: 1e-9,
            epsilon_of: ShareOf::Each,
            priors: Priors::Data,
            calibrate: true,
        }
    }
}

impl NaiveBayes {
    fn choices(&self) -> Choices<'_> {
        let least = Least { of_largest: self.epsilon_of == ShareOf::Largest, ..Least::share(self.epsilon) };
        Choices {
            families: &self.family,
            alpha: self.alpha,
            p: self.p,
            threshold: self.threshold,
            categories: self.categories,
            bins: self.bins,
            bandwidth: self.bandwidth,
            least,
            gaussian: GaussianPlan {
                shape: Shape::Full,
                shared: Shared::No,
                unbiased: false,
                least: Least::share(self.epsilon.max(1e-9)),
                shrink: Shrink { share: 0.0, to_one: false },
            },
            pca: 0,
            open: Open::Choose,
        }
    }
}

impl Learner for NaiveBayes {
    type Fitted = BayesModel;

    const CARD: Card = Card {
        name: "naive-bayes",
        title: "Naive Bayes",
        summary: "Every column speaks for itself, by a family of its own: normal, Poisson, categorical, words and others.",
        abilities: &[
            Ability::Classify,
            Ability::Weights,
            Ability::Sparse,
            Ability::ExactLeaveOneOut,
            Ability::Holes,
            Ability::AsTheyAre,
        ],
        settings: &[
            Setting {
                name: "family",
                allowed: Allowed::Written(Families::READING),
                help: "The family of columns, for example age=normal,visits=poisson; auto, normal, poisson, bernoulli, \
                       categorical, multinomial, histogram, quantiles, window, and for columns together gaussian, chain.",
            },
            Setting {
                name: "alpha",
                allowed: Allowed::Number(0.0, 1e12),
                help: "What is added to every count of a category, bin, word or answer; 1 is Laplace's rule.",
            },
            Setting {
                name: "p",
                allowed: Allowed::Number(0.0, 1.0),
                help: "The share of yes that yes/no columns are drawn to by 2 alpha rows.",
            },
            Setting {
                name: "threshold",
                allowed: Allowed::Number(f64::MIN, f64::MAX),
                help: "The family bernoulli takes numbers above this as yes.",
            },
            Setting {
                name: "categories",
                allowed: Allowed::Whole(0),
                help: "The family categorical has at least so many categories in columns that are numbers, from 0 on.",
            },
            Setting {
                name: "bins",
                allowed: Allowed::WholeOrAuto(1),
                help: "How many bins the families histogram and quantiles have.",
            },
            Setting {
                name: "bandwidth",
                allowed: Allowed::Number(0.0, f64::MAX),
                help: "How wide the windows of the family window are; 0 follows from the spread of the values.",
            },
            Setting {
                name: "epsilon",
                allowed: Allowed::Number(0.0, 1e9),
                help: "This share of a column's variance is added to the variance of each class.",
            },
            Setting {
                name: "epsilon_of",
                allowed: Allowed::Choice(&["each", "largest"]),
                help: "Whether epsilon is a share of each column's variance, or of the largest.",
            },
            Setting {
                name: "priors",
                allowed: Allowed::Written(Priors::READING),
                help: "How frequent classes are: data, equal, or a number for each, for example 0.2,0.8.",
            },
            Setting {
                name: "calibrate",
                allowed: Allowed::Switch,
                help: "Trust the columns as far as rows left out bear them out, so that probabilities are not too sure.",
            },
        ],
        python: &["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "PoissonNB", "MixedNB"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(BayesModel, Report)> {
        fit(examples, &self.choices(), (&self.priors, self.calibrate), run)
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        leave_one_out(examples, &self.choices(), (&self.priors, self.calibrate), run).map(Some)
    }
}
