//! The Gaussian classifier (quadratic and linear discriminant analysis): one multivariate Gaussian per class.

use super::{BayesModel, Families, Priors, fit, leave_one_out};
use crate::error::{Error, Result};
use crate::family::block::{GaussianPlan, Shape, Shared, Shrinkage, VarianceFloor};
use crate::family::layout::FamilyName;
use crate::family::layout::{LayoutOptions, Open};
use crate::learn::{
    Capability, Checked, Count, Domain, IntoSetting, Learner, MethodInfo, PlainValue, Prediction, SettingValue,
    Settings,
};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};
use serde_json::Value;

crate::settings! {
    /// A Gaussian for each class over all columns of numbers; columns of other kinds are independent given the class, as in naive
    /// Bayes.
    ///
    /// ```
    /// use quince::bayes::SharedCovariance;
    /// use quince::prelude::*;
    /// let rows = [[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0], [1.0, 3.0], [2.0, 3.0], [3.0, 5.0], [4.0, 4.0]];
    /// let linear = GaussianClassifier { shared: SharedCovariance::Pooled, ..GaussianClassifier::default() };
    /// let model = linear.fit(&rows, &["s", "s", "s", "s", "t", "t", "t", "t"])?;
    /// assert_eq!(model.labels::<String>(&[[6.0, 2.0], [2.0, 4.0]])?, ["s", "t"]);
    /// # quince::Result::Ok(())
    /// ```
    #[doc(alias = "lda")]
    #[doc(alias = "qda")]
    pub struct GaussianClassifier {
        /// The shape of covariances; nearest-mean is one variance for all classes, with equal priors.
        covariance: ClassCovariance = ClassCovariance::Full, in ClassCovariance::DOMAIN;
        /// Whether classes share a covariance: the mean of theirs, the mean weighted by the priors, or the pooled one
        /// of all rows about their class's mean.
        shared: SharedCovariance = SharedCovariance::No, in SharedCovariance::DOMAIN;
        /// Divide by the number of rows less one (of a pooled covariance, less one for each class).
        unbiased: bool = false, in Domain::Boolean;
        /// Variance floor: this fraction of each column's variance over all rows is added to the variances of all
        /// classes.
        variance_floor: f64 = 1e-6, in Domain::Number(0.0, 1e9);
        /// Shrink covariances by this amount, from 0 to 1, towards a diagonal; auto finds the amount for each class by Ledoit
        /// and Wolf's rule, in units of the columns' standard deviations.
        shrinkage: ShrinkageAmount = ShrinkageAmount::Fixed(0.0), in Domain::NumberOr(0.0, 1.0, &["auto"]);
        /// That diagonal: the variances of the columns over all rows times the mean ratio of the class's to them, so that
        /// units do not matter; or for all columns the mean of the class's variances, or one.
        shrink_to: ShrinkTo = ShrinkTo::Diagonal, in ShrinkTo::DOMAIN;
        /// What becomes of a full covariance without full rank: refuse it, or take its pseudo-inverse, which leaves out the
        /// directions in which rows do not vary.
        singular: SingularCovariance = SingularCovariance::Refuse, in SingularCovariance::DOMAIN;
        /// Project numbers onto this many principal axes first; 0 for none.
        pca: usize = 0, in Domain::Integer(0);
        /// Project numbers onto this many discriminant axes first, those that separate the classes best; 0 for none.
        discriminant_axes: usize = 0, in Domain::Integer(0);
        /// Discriminant axes leave out directions in which standardised columns have no more standard deviation within
        /// classes than this, and those along which class means vary by no more than this fraction of the most.
        tolerance: f64 = 1e-4, in Domain::Number(0.0, 1e9);
        /// Additive smoothing: the pseudocount of every category, word and answer, for columns that are not numbers.
        alpha: f64 = 1.0, in Domain::Number(0.0, 1e12);
        /// Class priors: data, equal, or a number for each, for example 0.2,0.8.
        priors: Priors = Priors::Data, in Domain::Parsed(Priors::PARSER);
        /// Calibrate probabilities on rows that were left out, so that they are not overconfident.
        calibrate: bool = true, in Domain::Boolean;
    }
}

crate::choices! {
    /// The shape of the classes' covariances.
    pub enum ClassCovariance {
        /// Any symmetric positive definite matrix.
        #[default]
        Full = "full",
        /// One variance per column.
        Diagonal = "diagonal",
        /// One variance for all columns.
        Spherical = "spherical",
        /// One variance for all columns and all classes, and equal priors: the nearest mean wins.
        NearestMean = "nearest-mean",
    }
}

crate::choices! {
    /// Whether classes share a covariance.
    pub enum SharedCovariance {
        /// Each class has its own.
        #[default]
        No = "no",
        /// The mean of the classes' covariances.
        Mean = "mean",
        /// The mean of the classes' covariances, weighted by the priors.
        Weighted = "weighted",
        /// The pooled covariance of all rows about the mean of their class.
        Pooled = "pooled",
    }
}

crate::choices! {
    /// The variance that a variance floor is a fraction of.
    pub enum VarianceOf {
        /// Each column's variance.
        #[default]
        Each = "each",
        /// The largest variance of all columns.
        Largest = "largest",
    }
}

crate::choices! {
    /// The diagonal that covariances are shrunk towards.
    pub enum ShrinkTo {
        /// The variances of the columns over all rows, times the mean ratio of a covariance's variances to them: units do not
        /// matter.
        #[default]
        Diagonal = "diagonal",
        /// The identity times the mean of the variances: for columns in the same unit.
        Variance = "variance",
        /// The identity.
        One = "one",
    }
}

crate::choices! {
    /// What becomes of a covariance without full rank.
    pub enum SingularCovariance {
        /// The rows are refused.
        #[default]
        Refuse = "refuse",
        /// The Moore-Penrose pseudo-inverse takes the place of the inverse. Constant columns are not left out, missing values are
        /// filled with the mean of their column.
        PseudoInverse = "pseudo-inverse",
    }
}

/// By how much covariances are shrunk.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub enum ShrinkageAmount {
    /// By what Ledoit and Wolf's rule finds (`auto`), which the first rows decide.
    Auto,
    /// By this amount, from 0 to 1.
    Fixed(f64),
}

impl SettingValue for ShrinkageAmount {
    fn plain(&self) -> PlainValue<'_> {
        match self {
            ShrinkageAmount::Auto => PlainValue::Text("auto".into()),
            ShrinkageAmount::Fixed(amount) => amount.plain(),
        }
    }
}

impl IntoSetting<ShrinkageAmount> for ShrinkageAmount {
    fn into_setting(self) -> ShrinkageAmount {
        self
    }
}

impl IntoSetting<ShrinkageAmount> for f64 {
    fn into_setting(self) -> ShrinkageAmount {
        ShrinkageAmount::Fixed(self)
    }
}

impl TryFrom<Value> for ShrinkageAmount {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<ShrinkageAmount, String> {
        match value.as_f64() {
            Some(amount) => Ok(ShrinkageAmount::Fixed(amount)),
            None if value == "auto" => Ok(ShrinkageAmount::Auto),
            None => Err(format!("{value} is neither a number nor auto")),
        }
    }
}

impl From<ShrinkageAmount> for Value {
    fn from(amount: ShrinkageAmount) -> Value {
        match amount {
            ShrinkageAmount::Auto => Value::from("auto"),
            ShrinkageAmount::Fixed(amount) => Value::from(amount),
        }
    }
}

impl GaussianClassifier {
    fn families(&self) -> Families {
        let shape = match self.covariance {
            ClassCovariance::Full => Shape::Full,
            ClassCovariance::Diagonal => Shape::Diagonal,
            ClassCovariance::Spherical | ClassCovariance::NearestMean => Shape::Spherical,
        };
        let shared = match self.shared {
            _ if self.covariance == ClassCovariance::NearestMean => Shared::Pooled,
            SharedCovariance::No => Shared::No,
            SharedCovariance::Mean => Shared::Mean,
            SharedCovariance::Weighted => Shared::Weighted,
            SharedCovariance::Pooled => Shared::Pooled,
        };
        Families { usual: FamilyName::Gaussian(shape, shared), columns: Vec::new() }
    }

    fn choices<'a>(&self, families: &'a Families) -> LayoutOptions<'a> {
        let variance_floor = VarianceFloor::relative(self.variance_floor);
        let amount = if let ShrinkageAmount::Fixed(amount) = self.shrinkage { amount } else { 0.0 };
        LayoutOptions {
            families,
            alpha: self.alpha,
            alpha_of_words: self.alpha,
            p: 0.5,
            threshold: 0.0,
            categories: 0,
            bins: Count::Auto,
            bandwidth: 0.0,
            variance_floor,
            gaussian: GaussianPlan {
                unbiased: self.unbiased,
                variance_floor,
                shrinkage: Shrinkage {
                    amount,
                    to_one: self.shrink_to == ShrinkTo::One,
                    in_units_of_columns: self.shrink_to == ShrinkTo::Diagonal,
                },
                ledoit_wolf: self.shrinkage == ShrinkageAmount::Auto,
                pseudo_inverse: self.singular == SingularCovariance::PseudoInverse,
                ..GaussianPlan::plain(Shape::Full, Shared::No)
            },
            pca: self.pca,
            discriminant_axes: self.discriminant_axes,
            tolerance: self.tolerance,
            open: Open::Choose,
        }
    }

    fn effective_priors(&self) -> &Priors {
        if self.covariance == ClassCovariance::NearestMean { &Priors::Equal } else { &self.priors }
    }
}

impl Learner for GaussianClassifier {
    type Fitted = BayesModel;

    const INFO: MethodInfo = MethodInfo {
        name: "gaussian",
        title: "Gaussian classifier",
        summary: "A Gaussian for each class over all numbers: quadratic and linear discriminant analysis, nearest mean.",
        capabilities: &[
            Capability::Classify,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::ExactLeaveOneOut,
            Capability::MissingValues,
            Capability::NativeColumns,
        ],
        settings: Self::SETTINGS,
        python: &["GaussianClassifier", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"],
    };

    fn check_settings(&self) -> Result<()> {
        if self.pca > 0 && self.discriminant_axes > 0 {
            let problem = "cannot be combined with principal axes";
            return Err(Error::setting("discriminant_axes", problem, "Give pca=0, or discriminant_axes=0."));
        }
        let full = self.covariance == ClassCovariance::Full;
        if self.shrinkage == ShrinkageAmount::Auto && !full {
            let problem = "cannot be auto for a covariance that is not full";
            return Err(Error::setting("shrinkage", problem, "Give covariance=full, or a number."));
        }
        if self.shrinkage == ShrinkageAmount::Auto && self.shrink_to == ShrinkTo::One {
            let problem = "cannot be one with shrinkage=auto, whose target are the variances";
            return Err(Error::setting("shrink_to", problem, "Give shrink_to=diagonal, or a number for shrinkage."));
        }
        if self.singular == SingularCovariance::PseudoInverse && !full {
            let problem = "cannot be pseudo-inverse for a covariance that is not full";
            return Err(Error::setting("singular", problem, "Give covariance=full, or singular=refuse."));
        }
        Ok(())
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(BayesModel, Report)> {
        fit(examples, &self.choices(&self.families()), (self.effective_priors(), self.calibrate), run)
    }

    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        leave_one_out(examples, &self.choices(&self.families()), (self.effective_priors(), self.calibrate), run)
    }
}
