//! Nearest neighbours: a row is what the rows most like it are.
//!
//! ```text
//! for classes   p(c | x) = share of the votes for c among the k rows nearest to x
//! for numbers   f(x)     = mean of the k rows nearest to x
//! ```
//!
//! Learning is keeping the rows; the work is in finding the nearest ones. An [`Index`] finds them in one of three ways,
//! chosen by shape: a kd-tree in few columns, a matrix product as a filter in many, direct distances where rows have
//! holes, are sparse, or the metric asks for it. All three give the same rows in the same order, ties by row number.

mod best;
mod choose;
mod data;
mod filter;
mod index;
mod measure;
mod postings;
mod tree;
mod vote;

pub use index::{Index, Nearest, Prepared, Search};
pub use measure::{Measure, Metric};

use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::learn::{Count, Examples, Fitted, Learner, Prediction, Target};
use crate::matrix::simd::argmin;
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::model::Parts;
use crate::registry::{Ability, Allowed, Card, Setting};
use crate::run::{Report, Run};
use serde::{Deserialize, Serialize};
use vote::{Answers, mean, probability, weigh};

/// The k nearest rows vote, or take their mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Knn {
    /// How many neighbours; `Auto` takes the number with the least leave-one-out loss.
    pub k: Count,
    /// How distances are measured.
    pub metric: Metric,
    /// The exponent of the metric `p-norm`.
    pub p: f64,
    /// How much each neighbour counts.
    pub votes: Votes,
    /// How much each feature counts: one number a feature (`1,0.5,2`), or numbers by column (`age=2,city=0.5`, the others
    /// 1). Empty: all alike.
    pub feature_weights: String,
    /// Votes that are spread evenly over all classes, so that no probability is zero.
    pub smoothing: f64,
    /// How neighbours are searched; the answer is the same.
    pub search: Search,
}

/// How much each neighbour counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Votes {
    /// All alike.
    #[default]
    Uniform,
    /// By one over their distance.
    Distance,
}

/// Above this exponent powers vanish or overflow, and the p-norm is the largest difference in all but name.
const MOST_P: f64 = 50.0;

impl Default for Knn {
    fn default() -> Knn {
        Knn {
            k: Count::Auto,
            metric: Metric::Euclidean,
            p: 3.0,
            votes: Votes::Uniform,
            feature_weights: String::new(),
            smoothing: 1.0,
            search: Search::Auto,
        }
    }
}

impl Learner for Knn {
    type Fitted = KnnModel;

    const CARD: Card = Card {
        name: "knn",
        title: "Nearest neighbours",
        summary: "The rows most alike vote, or take their mean; holes are left out of distances.",
        abilities: &[
            Ability::Classify,
            Ability::Regress,
            Ability::Weights,
            Ability::Sparse,
            Ability::SeveralOutputs,
            Ability::ExactLeaveOneOut,
            Ability::Holes,
        ],
        settings: &[
            Setting {
                name: "k",
                allowed: Allowed::WholeOrAuto(1),
                help: "How many neighbours; auto takes the number with the least leave-one-out loss.",
            },
            Setting {
                name: "metric",
                allowed: Allowed::Choice(&["euclidean", "city-block", "p-norm", "chebyshev", "hamming", "cosine"]),
                help: "How distances are measured.",
            },
            Setting {
                name: "p",
                allowed: Allowed::Number(1.0, MOST_P),
                help: "The exponent of the metric p-norm; for more there is chebyshev.",
            },
            Setting {
                name: "votes",
                allowed: Allowed::Choice(&["uniform", "distance"]),
                help: "Whether all neighbours count alike, or by one over their distance.",
            },
            Setting {
                name: "feature_weights",
                allowed: Allowed::Text,
                help: "How much features count: 1,0.5,2 or by column age=2,city=0.5; empty for all alike.",
            },
            Setting {
                name: "smoothing",
                allowed: Allowed::Number(0.0, f64::MAX),
                help: "Votes spread evenly over all classes, so that no probability is zero.",
            },
            Setting {
                name: "search",
                allowed: Allowed::Choice(&["auto", "tree", "product", "direct"]),
                help: "How neighbours are searched; the answer is the same.",
            },
        ],
        python: &["KNeighborsClassifier", "KNeighborsRegressor"],
    };

    fn fit(&self, examples: &Examples<'_>, run: &Run) -> Result<(KnnModel, Report)> {
        examples.features.afford_columns()?;
        let kept = Kept::of(examples)?;
        let measure = self.measure(examples)?;
        let (index, kept) = kept.index(measure, self.search, run)?;
        let mut report = Report::computed("");
        let k = self.choose_k(&index, &kept, &mut report, run)?;
        let way = match index.search() {
            Search::Tree => "kd-tree",
            Search::Product => "matrix product and exact choice",
            Search::Direct | Search::Auto => "direct distances",
        };
        report.route = format!("{k} nearest of {} rows by {way}", index.rows());
        report.fact("k", k as f64);
        report.remarks.push(format!("the model holds the {} rows it was trained on", index.rows()));
        let model = KnnModel {
            index,
            answers: kept.answers,
            weights: kept.weights,
            k,
            votes: self.votes,
            smoothing: self.smoothing,
        };
        Ok((model, report))
    }

    /// Each row by its nearest others. With `k` chosen by the data, the number chosen from all rows is kept.
    fn leave_one_out(&self, examples: &Examples<'_>, run: &Run) -> Result<Option<Prediction>> {
        // A row without weight is no neighbour, but is predicted all the same: that takes a fit.
        if examples.weights.is_some_and(|weights| weights.contains(&0.0)) {
            return Ok(None);
        }
        let (model, _) = self.fit(examples, run)?;
        let rows: Vec<usize> = (0..model.index.rows()).collect();
        let nearest = model.index.nearest_others(&rows, model.k, run)?;
        Ok(Some(model.answer(&nearest)))
    }
}

impl Knn {
    fn measure(&self, examples: &Examples<'_>) -> Result<Measure> {
        let weights = feature_weights(&self.feature_weights, examples.features.columns(), examples.encoder)?;
        Ok(Measure { metric: self.metric, p: self.p, weights })
    }

    fn choose_k(&self, index: &Index, kept: &Kept, report: &mut Report, run: &Run) -> Result<usize> {
        let rows = index.rows();
        match self.k {
            Count::Fixed(k) if k == 0 || k > rows => Err(Error::setting(
                "k",
                format!("cannot be {k} with {rows} {} to learn from", if rows == 1 { "row" } else { "rows" }),
                format!("Use from 1 to {rows}, or auto."),
            )),
            Count::Fixed(k) => Ok(k),
            Count::Auto if rows == 1 => Ok(1),
            Count::Auto => {
                let losses = choose::losses(self, index, &kept.answers, &kept.target, &kept.weights, run)?;
                // Of equal losses the smallest number.
                let best = argmin(&losses).unwrap_or(0);
                report.fact("leave-one-out loss", losses[best]);
                if best + 1 == choose::MOST {
                    report
                        .remarks
                        .push(format!("{} neighbours are the most that are tried: more may be better", best + 1));
                }
                Ok(best + 1)
            }
        }
    }

    /// The mean leave-one-out loss for 1, 2, 3 ... (at most 50) neighbours, all from one search: log loss for classes,
    /// squared error for numbers. Of more than 4000 rows, so many are drawn and left out.
    pub fn losses_by_k(&self, examples: &Examples<'_>, run: &Run) -> Result<Vec<f64>> {
        let (index, kept) = Kept::of(examples)?.index(self.measure(examples)?, self.search, run)?;
        choose::losses(self, &index, &kept.answers, &kept.target, &kept.weights, run)
    }
}

/// One weight a feature from what the user wrote; empty if all count alike.
fn feature_weights(text: &str, columns: usize, encoder: Option<&Encoder>) -> Result<Vec<f64>> {
    let wrong = |problem: String, remedy: &str| Err(Error::setting("feature_weights", problem, remedy));
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w >= 0.0);
    let parts: Vec<&str> = text.split(',').collect();
    if parts.iter().all(|part| number(part).is_some()) {
        if parts.len() != columns {
            return wrong(
                format!("has {} numbers for {columns} features", parts.len()),
                "Give one number a feature, or write column=number.",
            );
        }
        return Ok(parts.into_iter().filter_map(number).collect());
    }
    let names: Vec<String> = encoder.map_or_else(Vec::new, |encoder| encoder.feature_names().collect());
    let mut weights = vec![1.0; columns];
    for part in parts {
        let Some((column, weight)) = part.rsplit_once('=').and_then(|(c, w)| Some((c.trim(), number(w)?))) else {
            return wrong(
                format!("cannot be read at '{part}'"),
                "Write column=number, separated by commas, with numbers of at least zero.",
            );
        };
        let belongs = |name: &String| {
            name.strip_prefix(column)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || rest.starts_with(": "))
        };
        let found: Vec<usize> = (0..names.len()).filter(|&j| belongs(&names[j])).collect();
        if found.is_empty() {
            return wrong(
                format!("names '{column}', which is no column"),
                "Use the names of the columns that are learnt from.",
            );
        }
        found.into_iter().for_each(|j| weights[j] = weight);
    }
    Ok(weights)
}

/// The training rows that count: those with a weight above zero.
struct Kept {
    rows: Rows,
    answers: Answers,
    target: Target,
    /// Empty if all rows count alike.
    weights: Vec<f64>,
}

impl Kept {
    fn of(examples: &Examples<'_>) -> Result<Kept> {
        let weights = examples.weights.unwrap_or(&[]);
        let counts = |i: &usize| weights.get(*i).is_none_or(|weight| *weight > 0.0);
        let kept: Vec<usize> = (0..examples.features.rows()).filter(counts).collect();
        let (rows, target) = (examples.features.take(&kept), examples.target.take(&kept));
        let weights = if weights.is_empty() { Vec::new() } else { kept.iter().map(|&i| weights[i]).collect() };
        let answers = match &target {
            Target::Classes { codes, classes } => Answers::Classes { codes: codes.clone(), classes: classes.count() },
            Target::Numbers(numbers) => Answers::Numbers(numbers.clone()),
            Target::Nothing(_) => return Err(Target::missing()),
        };
        if let Answers::Numbers(numbers) = &answers
            && numbers.values().iter().any(|y| !y.is_finite())
        {
            return Err(Error::data("the target contains NaN or infinity", "Remove those rows."));
        }
        Ok(Kept { rows, answers, target, weights })
    }

    /// Makes the rows searchable, and leaves the rest.
    fn index(mut self, measure: Measure, search: Search, run: &Run) -> Result<(Index, Kept)> {
        let rows = std::mem::take(&mut self.rows);
        Ok((Index::over(rows, measure, search, run)?, self))
    }
}

/// The rows, and what each of them says.
pub struct KnnModel {
    index: Index,
    answers: Answers,
    weights: Vec<f64>,
    k: usize,
    votes: Votes,
    smoothing: f64,
}

impl KnnModel {
    /// How many neighbours are asked.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The rows, to be asked for neighbours.
    pub fn index(&self) -> &Index {
        &self.index
    }

    fn answer(&self, nearest: &Nearest) -> Prediction {
        let count = nearest.rows.len() / nearest.k;
        let mut says = Matrix::zeros(count, self.answers.width());
        let mut counted = Vec::new();
        for q in 0..count {
            let (rows, distances) = nearest.of(q);
            weigh(self.votes, rows, distances, &self.weights, &mut counted);
            mean(&self.answers, rows, &counted, says.row_mut(q));
        }
        match self.answers {
            Answers::Numbers(_) => Prediction::Numbers(says),
            Answers::Classes { classes, .. } => {
                let mut probabilities = says.clone();
                let smooth = |share: f64| probability(share, nearest.k, self.smoothing, classes);
                probabilities.values_mut().iter_mut().for_each(|p| *p = smooth(*p));
                Prediction::Classes { scores: says, probabilities }
            }
        }
    }
}

impl Fitted for KnnModel {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        Ok(self.answer(&self.index.nearest(rows, self.k, run)?))
    }

    fn save(&self, parts: &mut Parts) {
        let (features, measure) = (self.index.features(), self.index.measure());
        let mut dense = Matrix::zeros(features.rows(), features.dense_columns());
        features.dense_alone().pack(0..features.rows(), dense.values_mut());
        parts.put_matrix("rows", &dense);
        if let Some(sparse) = features.sparse_part() {
            parts.put_sparse("sparse", sparse);
        }
        match &self.answers {
            Answers::Classes { codes, .. } => {
                parts.put_vector("codes", &codes.iter().map(|&code| f64::from(code)).collect::<Vec<_>>());
            }
            Answers::Numbers(numbers) => parts.put_matrix("numbers", numbers),
        }
        parts.put_vector("weights", &self.weights);
        parts.put_vector("feature_weights", &measure.weights);
        let votes = f64::from(u8::from(self.votes == Votes::Distance));
        let metric = METRICS.iter().position(|&metric| metric == measure.metric).unwrap_or(0) as f64;
        parts.put_vector("how", &[self.k as f64, metric, measure.p, votes, self.smoothing]);
    }

    fn load(parts: &Parts) -> Result<KnnModel> {
        let wrong = |problem: &str| parts.wrong(problem);
        let dense = parts.matrix("rows", None)?;
        let rows = dense.rows();
        let sparse: Option<Sparse> = parts.sparse("sparse", rows)?;
        let columns = dense.columns() + sparse.as_ref().map_or(0, Sparse::columns);
        if rows == 0 || columns != parts.features() {
            return Err(wrong("the rows do not have the columns of the model"));
        }
        let classes = parts.classes();
        let answers = if classes > 0 {
            let codes = parts.vector("codes", Some(rows))?;
            if codes.iter().any(|code| !(code.fract() == 0.0 && (0.0..classes as f64).contains(code))) {
                return Err(wrong("a row has no class"));
            }
            Answers::Classes { codes: codes.into_iter().map(|code| code as u32).collect(), classes }
        } else {
            let numbers = parts.matrix("numbers", Some(rows))?;
            if numbers.columns() == 0 || numbers.values().iter().any(|y| !y.is_finite()) {
                return Err(wrong("a row has no number"));
            }
            Answers::Numbers(numbers)
        };
        let weights = parts.vector("weights", None)?;
        let sound = weights.iter().all(|w| w.is_finite() && *w > 0.0);
        if !(sound && (weights.is_empty() || weights.len() == rows)) {
            return Err(wrong("the row weights do not fit"));
        }
        let how = parts.vector("how", Some(5))?;
        let metric = METRICS.get(how[1] as usize).copied().filter(|_| how[1].fract() == 0.0 && how[1] >= 0.0);
        let (Some(metric), true) = (metric, how[0].fract() == 0.0 && (1.0..=rows as f64).contains(&how[0])) else {
            return Err(wrong("the number of neighbours or the metric is not known"));
        };
        if !(how[4] >= 0.0 && how[4].is_finite()) {
            return Err(wrong("the smoothing is not a number of at least zero"));
        }
        let measure = Measure { metric, p: how[2], weights: parts.vector("feature_weights", None)? };
        let votes = if how[3] == 0.0 { Votes::Uniform } else { Votes::Distance };
        let kept = Rows::of(dense, sparse);
        let index = Index::over(kept, measure, Search::Auto, &Run::new()).map_err(|e| wrong(&e.to_string()))?;
        Ok(KnnModel { index, answers, weights, k: how[0] as usize, votes, smoothing: how[4] })
    }
}

/// The metrics in the order of their numbers in a saved model: only ever add at the end.
const METRICS: [Metric; 6] =
    [Metric::Euclidean, Metric::CityBlock, Metric::PNorm, Metric::Chebyshev, Metric::Hamming, Metric::Cosine];
