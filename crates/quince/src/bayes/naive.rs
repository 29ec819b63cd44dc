//! Naive Bayes: columns are independent given the class.

use super::{BayesModel, Families, Priors, VarianceOf, fit, leave_one_out};
use crate::error::{Error, Result};
use crate::family::block::{GaussianPlan, MAX_CATEGORIES, Shape, Shared, VarianceFloor};
use crate::family::layout::{LayoutOptions, Open};
use crate::learn::{Capability, Checked, Count, Domain, Learner, MethodInfo, Prediction, Settings};
use crate::run::{Report, Run};

crate::settings! {
    /// Naive Bayes with a family for each column.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let missing = f64::NAN;
    /// let heights = [[181.0], [165.0], [missing], [170.0], [178.0]];
    /// let model = NaiveBayes::default().fit(&heights, &["m", "f", "m", "f", "m"])?;
    /// assert_eq!(model.labels::<String>(&[[180.0], [168.0], [missing]])?, ["m", "f", "m"]);
    /// # quince::Result::Ok(())
    /// ```
    pub struct NaiveBayes {
        /// The family of columns, for example age=normal,visits=poisson; auto, normal, poisson, bernoulli, categorical,
        /// multinomial, histogram, quantiles, kernel-density, and for columns together gaussian, markov-chain.
        family: Families = Families::default(), in Domain::Parsed(Families::PARSER);
        /// Additive smoothing: the pseudocount of every category, bin, word and answer; 1 is Laplace's rule.
        alpha: f64 = 1.0, in Domain::Number(0.0, 1e12);
        /// The prior proportion of yes in yes/no columns, with the weight of 2 alpha rows.
        p: f64 = 0.5, in Domain::Number(0.0, 1.0);
        /// The family bernoulli takes numbers above this as yes.
        threshold: f64 = 0.0, in Domain::Number(f64::MIN, f64::MAX);
        /// The least number of categories of the family categorical in columns of numbers, from 0 on.
        categories: usize = 0, in Domain::Integer(0);
        /// The number of bins of the families histogram and quantiles.
        bins: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// The bandwidth of the family kernel-density; 0 takes Silverman's rule.
        bandwidth: f64 = 0.0, in Domain::Number(0.0, f64::MAX);
        /// Variance floor: this fraction of a column's variance is added to the variance of each class.
        variance_floor: f64 = 1e-9, in Domain::Number(0.0, 1e9);
        /// Whether variance_floor is a fraction of each column's variance, or of the largest.
        variance_floor_of: VarianceOf = VarianceOf::Each, in VarianceOf::DOMAIN;
        /// Class priors: data, equal, or a number for each, for example 0.2,0.8.
        priors: Priors = Priors::Data, in Domain::Parsed(Priors::PARSER);
        /// Calibrate probabilities on rows that were left out, so that they are not overconfident.
        calibrate: bool = true, in Domain::Boolean;
    }
}

impl NaiveBayes {
    fn choices(&self) -> LayoutOptions<'_> {
        let variance_floor = VarianceFloor {
            of_largest: self.variance_floor_of == VarianceOf::Largest,
            ..VarianceFloor::relative(self.variance_floor)
        };
        LayoutOptions {
            families: &self.family,
            alpha: self.alpha,
            alpha_of_words: self.alpha,
            p: self.p,
            threshold: self.threshold,
            categories: self.categories,
            bins: self.bins,
            bandwidth: self.bandwidth,
            variance_floor,
            gaussian: GaussianPlan {
                variance_floor: VarianceFloor::relative(self.variance_floor.max(1e-9)),
                ..GaussianPlan::plain(Shape::Full, Shared::No)
            },
            pca: 0,
            discriminant_axes: 0,
            tolerance: 0.0,
            open: Open::Choose,
        }
    }
}

impl Learner for NaiveBayes {
    type Fitted = BayesModel;

    const INFO: MethodInfo = MethodInfo {
        name: "naive-bayes",
        title: "Naive Bayes",
        summary: "Columns are independent given the class, each with its own family: normal, Poisson, categorical, multinomial and others.",
        capabilities: &[
            Capability::Classify,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::ExactLeaveOneOut,
            Capability::MissingValues,
            Capability::NativeColumns,
        ],
        settings: Self::SETTINGS,
        python: &["GaussianNB", "MultinomialNB", "BernoulliNB", "CategoricalNB", "PoissonNB", "MixedNB"],
    };

    /// Memory is needed for every bin and category, so their number is limited.
    fn check_settings(&self) -> Result<()> {
        let bins = if let Count::Fixed(bins) = self.bins { bins } else { 0 };
        for (name, count) in [("bins", bins), ("categories", self.categories)] {
            if count > MAX_CATEGORIES {
                let remedy = format!("It takes at most {MAX_CATEGORIES}.");
                return Err(Error::setting(name, format!("cannot be {count}"), remedy));
            }
        }
        Ok(())
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(BayesModel, Report)> {
        fit(examples, &self.choices(), (&self.priors, self.calibrate), run)
    }

    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        leave_one_out(examples, &self.choices(), (&self.priors, self.calibrate), run)
    }
}
