//! The Gaussian classifier: all numbers together.

use super::{BayesModel, Families, Priors, fit, leave_one_out};
use crate::error::Result;
use crate::family::block::{GaussianPlan, Least, Shape, Shared, Shrink};
use crate::family::layout::Name;
use crate::family::layout::{Choices, Open};
use crate::learn::{Count, Examples, Learner, Prediction};
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};

/// A Gaussian for each class over all columns of numbers; columns of other kinds speak for themselves, as in naive Bayes.
///
/// ```
/// use quince::{Model, Run, Table, bayes::{Gaussian, SharedCovariance}};
/// let table = Table::from_csv("a,b,y\n5,1,s\n5,2,s\n7,2,s\n7,3,s\n1,3,t\n2,3,t\n3,5,t\n4,4,t\n")?;
/// let linear = Gaussian { shared: SharedCovariance::Pooled, ..Gaussian::default() };
/// let model = Model::train(&table, "y", &linear, &Run::new())?;
/// assert_eq!(model.labels(&model.predict(&table, &Run::new())?), ["s", "s", "s", "s", "t", "t", "t", "t"]);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gaussian {
    /// What covariances may be.
    pub covariance: Covariance,
    /// Whether classes have one covariance in common.
    pub shared: SharedCovariance,
    /// Variances are divided by the number of rows less one rather than by their number.
    pub unbiased: bool,
    /// This share of each column's variance over all rows is added to the variances of all classes.
    pub epsilon: f64,
    /// Covariances are drawn by this share towards a multiple of the identity.
    pub shrinkage: f64,
    /// Towards which.
    pub shrink_to: ShrinkTo,
    /// Numbers are first laid along so many principal axes; 0 leaves them as they are.
    pub pca: usize,
    /// What is added to every count of a category, word or answer, where columns are no numbers.
    pub alpha: f64,
    /// How frequent classes are taken to be.
    pub priors: Priors,
    /// Likelihoods count by the share under which rows that are left out are likeliest to be of their class.
    pub calibrate: bool,
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
    /// One variance for all columns and all classes, and classes alike: the nearest mean wins.
    NearestMean,
}

/// Whether classes have one covariance in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharedCovariance {
    /// Each class has its own.
    #[default]
    No,
    /// The mean of the classes' covariances.
    Mean,
    /// That of all rows about the mean of their class.
    Pooled,
}

/// What a share is taken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShareOf {
    /// Each column's variance.
    #[default]
    Each,
    /// The largest variance of all columns.
    Largest,
}

/// Which multiple of the identity covariances are drawn to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShrinkTo {
    /// The mean of their variances.
    #[default]
    Variance,
    /// One.
    One,
}

impl Default for Gaussian {
    fn default() -> Gaussian {
        Gaussian {
            covariance: Covariance::Full,
            shared: SharedCovariance::No,
            unbiased: false,
            epsilon: 1e-6,
            shrinkage: 0.0,
            shrink_to: ShrinkTo::Variance,
            pca: 0,
            alpha: 1.0,
            priors: Priors::Data,
            calibrate: true,
        }
    }
}

impl Gaussian {
    fn families(&self) -> Families {
        let shape = match self.covariance {
            Covariance::Full => Shape::Full,
            Covariance::Diagonal => Shape::Diagonal,
            Covariance::Spherical | Covariance::NearestMean => Shape::Spherical,
        };
        let shared = match self.shared {
            _ if self.covariance == Covariance::NearestMean => Shared::Pooled,
            SharedCovariance::No => Shared::No,
            SharedCovariance::Mean => Shared::Mean,
            SharedCovariance::Pooled => Shared::Pooled,
        };
        Families { usual: Name::Gaussian(shape, shared), columns: Vec::new() }
    }

    fn choices<'a>(&self, families: &'a Families) -> Choices<'a> {
        let least = Least::share(self.epsilon);
        Choices {
            families,
            alpha: self.alpha,
            p: 0.5,
            threshold: 0.0,
            categories: 0,
            bins: Count::Auto,
            bandwidth: 0.0,
            least,
            gaussian: GaussianPlan {
                shape: Shape::Full,
                shared: Shared::No,
                unbiased: self.unbiased,
                least,
                shrink: Shrink { share: self.shrinkage, to_one: self.shrink_to == ShrinkTo::One },
            },
            pca: self.pca,
            open: Open::Choose,
        }
    }

    fn priors(&self) -> &Priors {
        if self.covariance == Covariance::NearestMean { &Priors::Equal } else { &self.priors }
    }
}

impl Learner for Gaussian {
    type Fitted = BayesModel;

    const CARD: Card = Card {
        name: "gaussian",
        title: "Gaussian classifier",
        summary: "A Gaussian for each class over all numbers: quadratic and linear discriminants, nearest mean.",
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
                name: "covariance",
                allowed: Allowed::Choice(&["full", "diagonal", "spherical", "nearest-mean"]),
                help: "What covariances may be; nearest-mean is one variance for all classes, and classes alike.",
            },
            Setting {
                name: "shared",
                allowed: Allowed::Choice(&["no", "mean", "pooled"]),
                help: "Whether classes have one covariance: the mean of theirs, or that of all rows about their class's mean.",
            },
            Setting {
                name: "unbiased",
                allowed: Allowed::Switch,
                help: "Divide by the number of rows less one (of a pooled covariance, less one for each class).",
            },
            Setting {
                name: "epsilon",
                allowed: Allowed::Number(0.0, 1e9),
                help: "This share of each column's variance over all rows is added to the variances of all classes.",
            },
            Setting {
                name: "shrinkage",
                allowed: Allowed::Number(0.0, 1.0),
                help: "Draw covariances by this share towards a multiple of the identity.",
            },
            Setting {
                name: "shrink_to",
                allowed: Allowed::Choice(&["variance", "one"]),
                help: "That multiple: the mean of the variances, or one.",
            },
            Setting {
                name: "pca",
                allowed: Allowed::Whole(0),
                help: "Lay numbers along so many principal axes first; 0 leaves them as they are.",
            },
            Setting {
                name: "alpha",
                allowed: Allowed::Number(0.0, 1e12),
                help: "What is added to every count of a category, word or answer, where columns are no numbers.",
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
        python: &[
            "GaussianClassifier",
            "LinearDiscriminantAnalysis",
            "QuadraticDiscriminantAnalysis",
            "NearestCentroid",
        ],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(BayesModel, Report)> {
        fit(examples, &self.choices(&self.families()), (self.priors(), self.calibrate), run)
    }

    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        leave_one_out(examples, &self.choices(&self.families()), (self.priors(), self.calibrate), run).map(Some)
    }
}
