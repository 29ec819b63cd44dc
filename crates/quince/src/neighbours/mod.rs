//! k nearest neighbours: prediction from the training rows most like a row.
//!
//! ```text
//! for classes   p(c | x) = fraction of the votes for c among the k rows nearest to x
//! for numbers   f(x)     = mean of the k rows nearest to x
//! ```
//!
//! Learning is keeping the rows; the work is in finding the nearest ones. An [`Index`] finds them in one of three ways,
//! chosen by shape: a kd-tree in few columns, a matrix product as a filter in many, direct (brute-force) distances where rows
//! have missing values, are sparse, or the metric needs it. All three give the same rows in the same order, ties by row number.

mod best;
mod choose;
mod data;
mod filter;
mod index;
mod measure;
mod missing;
mod model;
mod postings;
mod tree;
mod vote;

pub use choose::ChooseBy;
pub use index::{Index, Nearest, SearchMethod, SearchStructure};
pub use measure::{DistanceMetric, Measure};
pub use missing::MissingRule;
pub use model::KnnModel;

use crate::error::{Error, Result};
use crate::learn::{
    Amount, Capability, Checked, Count, Domain, Examples, FeatureSource, Learner, MethodInfo, Parser, Prediction,
    Settings, Target, TargetView,
};
use crate::matrix::Rows;
use crate::run::{Report, Run};
use choose::Loss;
use missing::MissingIndicators;
use vote::TrainingTargets;

crate::settings! {
    /// The k nearest rows vote, or take their mean.
    ///
    /// ```
    /// use quince::learn::Count;
    /// use quince::prelude::*;
    /// let model = Knn::new().k(Count::Fixed(1)).fit(&[[1.0], [2.0], [9.0]], &["a", "a", "b"])?;
    /// assert_eq!(model.labels::<String>(&[[8.0], [1.2]])?, ["b", "a"]);
    /// # quince::Result::Ok(())
    /// ```
    #[doc(alias = "nearest neighbors")]
    pub struct Knn {
        /// The number of neighbours; auto takes the number that is best in leave-one-out.
        k: Count = Count::Auto, in Domain::IntegerOrAuto(1);
        /// The distance metric; manhattan is also called city-block (L1).
        metric: DistanceMetric = DistanceMetric::Euclidean, in DistanceMetric::DOMAIN;
        /// The exponent of the metric minkowski; for more there is chebyshev.
        p: f64 = 3.0, in Domain::Number(1.0, MAX_P);
        /// Whether all neighbours count alike, or by one over their distance.
        votes: Votes = Votes::Uniform, in Votes::DOMAIN;
        /// How much features count: 1,0.5,2 or by column age=2,city=0.5; empty for all alike.
        feature_weights: String = String::new(), in Domain::Parsed(FEATURE_WEIGHTS);
        /// Votes divided evenly over all classes, so that no probability is zero; auto takes those that are best in leave-one-out.
        smoothing: Amount = Amount::Auto, in Domain::NumberOr(0.0, f64::MAX, &["auto"]);
        /// What a missing value does to a distance; auto takes the rule that is better in leave-one-out.
        missing: MissingRule = MissingRule::Auto, in MissingRule::DOMAIN;
        /// What k, smoothing and missing are chosen by, where they are auto; of numbers it is the squared error.
        choose_by: ChooseBy = ChooseBy::LogLoss, in ChooseBy::DOMAIN;
        /// How neighbours are searched; the answer is the same.
        search: SearchMethod = SearchMethod::Auto, in SearchMethod::DOMAIN;
    }
}

crate::choices! {
    /// The weights of neighbours.
    pub enum Votes {
        /// All alike.
        #[default]
        Uniform = "uniform",
        /// By one over their distance.
        Distance = "distance",
    }
}

/// Above this exponent powers vanish or overflow, and the distance is the largest difference in all but name.
const MAX_P: f64 = 50.0;

impl Learner for Knn {
    type Fitted = KnnModel;

    const INFO: MethodInfo = MethodInfo {
        name: "knn",
        title: "Nearest neighbours",
        summary: "The rows most alike vote, or take their mean; missing values are left out of distances, or count by themselves.",
        capabilities: &[
            Capability::Classify,
            Capability::Regress,
            Capability::SampleWeights,
            Capability::Sparse,
            Capability::MultiOutput,
            Capability::ExactLeaveOneOut,
            Capability::MissingValues,
        ],
        settings: Self::SETTINGS,
        python: &["KNeighborsClassifier", "KNeighborsRegressor"],
    };

    fn check_settings(&self) -> Result<()> {
        self.search.check_for(self.metric)
    }

    fn fit_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<(KnnModel, Report)> {
        examples.features.afford_columns()?;
        let mut report = Report::computed("");
        let Prepared { index, kept, missing, choice } = self.prepare(examples, run)?;
        let Choice { k, smoothing, loss } = choice;
        if let Some(loss) = loss {
            let (name, value) = self.judged(&kept.targets, loss);
            report.fact(name, value);
            if self.k == Count::Auto && k == choose::MAX_NEIGHBOURS {
                report.remarks.push(format!("{k} neighbours are the most that are tried: more may be better"));
            }
        }
        let way = match index.search() {
            SearchMethod::Tree => "kd-tree",
            SearchMethod::Product => "matrix product and exact choice",
            SearchMethod::Direct | SearchMethod::Auto => "direct distances",
        };
        report.route = format!("{k} nearest of {} rows by {way}", index.rows());
        report.fact("k", k as f64);
        if matches!(kept.targets, TrainingTargets::Classes { .. }) {
            report.fact("smoothing", smoothing);
        }
        report.remarks.push(format!("the model holds the {} rows it was trained on", index.rows()));
        if let Some(missing) = &missing {
            report.fact("indicators of missing values", missing.count() as f64);
            if self.missing == MissingRule::Auto {
                report.remarks.push(
                    "that a value is missing counts in distances: leave-one-out is better by it than by leaving it out"
                        .into(),
                );
            }
        }
        let model =
            KnnModel::fitted(index, kept.targets, kept.weights, k, (self.votes, smoothing)).with_indicators(missing);
        Ok((model, report))
    }

    /// Each row by its nearest others. With `k` chosen by the data, the number chosen from all rows is kept.
    fn leave_one_out_checked(&self, examples: &Checked<'_>, run: &Run) -> Result<Option<Prediction>> {
        // A row without weight is no neighbour, but is predicted all the same: that takes a fit.
        if examples.weights.is_some_and(|weights| weights.contains(&0.0)) {
            return Ok(None);
        }
        let (model, _) = self.fit_checked(examples, run)?;
        let rows: Vec<usize> = (0..model.index().rows()).collect();
        let nearest = model.index().nearest_others(&rows, model.k(), run)?;
        model.answer(&nearest, run).map(Some)
    }
}

impl Knn {
    fn measure(&self, examples: &Examples<'_>) -> Result<Measure> {
        let weights = feature_weights(&self.feature_weights, examples.features.columns(), examples.encoder)?;
        Ok(Measure { metric: self.metric, p: self.p, weights })
    }

    /// What was chosen by, in words, and its value.
    fn judged(&self, targets: &TrainingTargets, loss: Loss) -> (&'static str, f64) {
        match (targets, self.choose_by) {
            (TrainingTargets::Numbers(_), _) => ("leave-one-out squared error", loss.asked),
            (_, ChooseBy::LogLoss) => ("leave-one-out log loss", loss.asked),
            (_, ChooseBy::Accuracy) => ("leave-one-out accuracy", 1.0 - loss.asked),
            (_, ChooseBy::F1) => ("leave-one-out mean F1", 1.0 - loss.asked),
        }
    }

    /// Numbers have no labels to be right.
    fn check_choose_by(&self, targets: &TrainingTargets) -> Result<()> {
        if matches!(targets, TrainingTargets::Classes { .. }) || self.choose_by == ChooseBy::LogLoss {
            return Ok(());
        }
        let problem = format!("cannot be {} for a target of numbers", self.choose_by.name());
        Err(Error::setting("choose_by", problem, "Leave it out: for numbers it is the squared error."))
    }

    /// Rows to search, the rule for their missing values, and the number of neighbours and the smoothing by that rule.
    fn prepare(&self, examples: &Checked<'_>, run: &Run) -> Result<Prepared> {
        let (kept, measure) = (TrainingRows::of(examples)?, self.measure(examples)?);
        self.check_choose_by(&kept.targets)?;
        let of_table = examples.encoder.is_some_and(|encoder| !encoder.is_matrix());
        let several = of_table && kept.rows.features().rows() > 1;
        let rule = match self.missing {
            _ if !kept.rows.has_missing() => MissingRule::LeftOut,
            MissingRule::Auto if !several => MissingRule::LeftOut,
            rule => rule,
        };
        if rule != MissingRule::Auto {
            return self.prepare_by(rule, examples, kept, measure, false, run);
        }
        let left_out = self.prepare_by(MissingRule::LeftOut, examples, kept.clone(), measure.clone(), true, run)?;
        let indicator = self.prepare_by(MissingRule::Indicator, examples, kept, measure, true, run)?;
        let loss = |prepared: &Prepared| prepared.choice.loss.unwrap_or(Loss::NONE);
        Ok(if loss(&indicator) < loss(&left_out) { indicator } else { left_out })
    }

    fn prepare_by(
        &self,
        rule: MissingRule,
        examples: &Examples<'_>,
        mut kept: TrainingRows,
        mut measure: Measure,
        wants_loss: bool,
        run: &Run,
    ) -> Result<Prepared> {
        let missing = match rule {
            MissingRule::Indicator => Some(MissingIndicators::learn(&kept.rows, &examples.feature_map().0, run)?),
            _ => None,
        };
        let mut search = self.search;
        if let Some(missing) = &missing {
            kept.rows = missing.apply(&kept.rows.features(), run)?;
            measure.weights = missing.weights(&measure.weights);
        } else if kept.rows.has_missing() && self.missing == MissingRule::Auto {
            // A tree or a product that was asked for is there for the other rule.
            search = SearchMethod::Auto;
        }
        let (index, kept) = kept.index(measure, search, run)?;
        let choice = self.choose(&index, &kept, wants_loss, run)?;
        Ok(Prepared { index, kept, missing, choice })
    }

    /// The number of neighbours and the smoothing: those that are asked for, or the best of several by leave-one-out.
    fn choose(&self, index: &Index, kept: &TrainingRows, wants_loss: bool, run: &Run) -> Result<Choice> {
        let rows = index.rows();
        let classes = matches!(kept.targets, TrainingTargets::Classes { .. });
        let known = match self.k {
            Count::Fixed(k) if k == 0 || k > rows => {
                return Err(Error::setting(
                    "k",
                    format!("cannot be {k} with {rows} {} to learn from", if rows == 1 { "row" } else { "rows" }),
                    format!("Use from 1 to {rows}, or auto."),
                ));
            }
            Count::Fixed(k) => Some(k),
            Count::Auto if rows == 1 => Some(1),
            Count::Auto => None,
        };
        let given = match (known, self.smoothing) {
            (Some(k), Amount::Fixed(smoothing)) => Some((k, smoothing)),
            (Some(k), Amount::Auto) if !classes || rows == 1 => Some((k, choose::ONE_VOTE)),
            _ => None,
        };
        if let Some((k, smoothing)) = given.filter(|_| !wants_loss) {
            return Ok(Choice { k, smoothing, loss: None });
        }
        let range = known.map_or(1..=choose::MAX_NEIGHBOURS.min(rows - 1), |k| k.min(rows - 1)..=k.min(rows - 1));
        let losses = choose::losses(self, index, kept, range, run)?;
        let best = losses.best();
        let (k, smoothing) = given.unwrap_or((known.unwrap_or(best.k), best.smoothing));
        Ok(Choice { k, smoothing, loss: Some(best.loss) })
    }

    /// The mean leave-one-out loss for 1, 2, 3 ... (at most 50) neighbours, all from one search. It is what `choose_by` says: for classes
    /// the log loss, with the best smoothing if that is auto, one less the accuracy, or one less the mean F1; for numbers the squared
    /// error. Of more than 4000 rows, 4000 are sampled and left out.
    pub fn losses_by_k(&self, examples: &Examples<'_>, run: &Run) -> Result<Vec<f64>> {
        let examples = Checked::new(self, examples)?;
        let Prepared { index, kept, .. } = self.prepare(&examples, run)?;
        let most = choose::MAX_NEIGHBOURS.min(index.rows() - 1);
        Ok(choose::losses(self, &index, &kept, 1..=most, run)?.by_k())
    }
}

/// The setting `feature_weights`, as it is written.
enum FeatureWeights<'a> {
    Alike,
    /// One number per feature.
    InOrder(Vec<f64>),
    /// Columns and their weights; all others count one.
    ByColumn(Vec<(&'a str, f64)>),
}

/// The parser of the setting `feature_weights`.
const FEATURE_WEIGHTS: Parser = Parser {
    takes: "a number for each feature, or column=number, or nothing",
    check: |text| FeatureWeights::read(text).map(drop),
};

fn wrong_weights<T>(problem: impl Into<String>, remedy: &str) -> Result<T> {
    Err(Error::setting("feature_weights", problem, remedy))
}

impl FeatureWeights<'_> {
    fn read(text: &str) -> Result<FeatureWeights<'_>> {
        if text.trim().is_empty() {
            return Ok(FeatureWeights::Alike);
        }
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0);
        let unreadable = |part: &str| {
            wrong_weights(
                format!("cannot be read at '{}'", part.trim()),
                "Write numbers, or column=number, separated by commas, with numbers of at least zero.",
            )
        };
        if !text.contains('=') {
            let mut numbers = Vec::new();
            for part in text.split(',') {
                let Some(number) = number(part) else { return unreadable(part) };
                numbers.push(number);
            }
            if numbers.iter().all(|number| *number == 0.0) {
                return wrong_weights("are all zero", "Give one of them a number above zero.");
            }
            return Ok(FeatureWeights::InOrder(numbers));
        }
        let mut by_column = Vec::new();
        for part in text.split(',') {
            let Some((column, weight)) = part.rsplit_once('=').and_then(|(c, w)| Some((c.trim(), number(w)?))) else {
                return unreadable(part);
            };
            by_column.push((column, weight));
        }
        Ok(FeatureWeights::ByColumn(by_column))
    }
}

/// One weight per feature from what the user wrote; empty if all count alike.
fn feature_weights(text: &str, columns: usize, encoder: Option<&dyn FeatureSource>) -> Result<Vec<f64>> {
    let by_column = match FeatureWeights::read(text)? {
        FeatureWeights::Alike => return Ok(Vec::new()),
        FeatureWeights::InOrder(numbers) if numbers.len() == columns => return Ok(numbers),
        FeatureWeights::InOrder(numbers) => {
            return wrong_weights(
                format!("has {} numbers for {columns} features", numbers.len()),
                "Give one number per feature, or write column=number.",
            );
        }
        FeatureWeights::ByColumn(by_column) => by_column,
    };
    let names: Vec<String> = encoder.map_or_else(Vec::new, |encoder| encoder.feature_names().collect());
    let mut weights = vec![1.0; columns];
    for (column, weight) in by_column {
        let belongs = |name: &String| {
            name.strip_prefix(column)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || rest.starts_with(": "))
        };
        let found: Vec<usize> = (0..names.len()).filter(|&j| belongs(&names[j])).collect();
        if found.is_empty() {
            return wrong_weights(
                format!("names '{column}', which is no column"),
                "Use the names of the columns that are learnt from.",
            );
        }
        found.into_iter().for_each(|j| weights[j] = weight);
    }
    Ok(weights)
}

/// What a fit has found before it makes a model of it.
struct Prepared {
    index: Index,
    kept: TrainingRows,
    missing: Option<MissingIndicators>,
    choice: Choice,
}

/// The number of neighbours and the smoothing, and their leave-one-out loss if it was computed.
struct Choice {
    k: usize,
    smoothing: f64,
    loss: Option<Loss>,
}

/// The training rows that count: those with a weight above zero.
#[derive(Clone)]
struct TrainingRows {
    rows: Rows,
    targets: TrainingTargets,
    /// Empty if all rows count alike.
    weights: Vec<f64>,
}

impl TrainingRows {
    fn of(examples: &Examples<'_>) -> Result<TrainingRows> {
        let weights = examples.weights.unwrap_or(&[]);
        let counts = |i: &usize| weights.get(*i).is_none_or(|weight| *weight > 0.0);
        let kept: Vec<usize> = (0..examples.features.rows()).filter(counts).collect();
        let (rows, target) = (examples.features.take(&kept), examples.target.take(&kept));
        let weights = if weights.is_empty() { Vec::new() } else { kept.iter().map(|&i| weights[i]).collect() };
        let targets = match target.view() {
            TargetView::Classes { codes, classes } => {
                TrainingTargets::Classes { codes: codes.to_vec(), classes: classes.count() }
            }
            TargetView::Numbers(numbers) => TrainingTargets::Numbers(numbers.clone()),
            TargetView::None(_) => return Err(Target::missing()),
        };
        Ok(TrainingRows { rows, targets, weights })
    }

    /// Moves the rows into an index, and returns the rest.
    fn index(mut self, measure: Measure, search: SearchMethod, run: &Run) -> Result<(Index, TrainingRows)> {
        let rows = std::mem::take(&mut self.rows);
        Ok((Index::over(rows, measure, search, run)?, self))
    }
}
