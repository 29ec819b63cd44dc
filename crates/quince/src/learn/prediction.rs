//! Predictions.

use crate::matrix::Matrix;

/// The prediction of a fitted model for rows.
///
/// ```
/// use quince::Matrix;
/// use quince::learn::Prediction;
/// let says = Matrix::from_rows(&[[0.2, 0.8], [0.5, 0.5]]);
/// let prediction = Prediction::Classes { scores: says.clone(), probabilities: says };
/// // On a tie the first class.
/// assert_eq!(prediction.labels(), [1, 0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// Scores and probabilities, one column per class.
    Classes {
        /// The method's own scores: the larger, the likelier. The label is the first class with the largest.
        scores: Matrix,
        /// Probabilities that sum to one in each row and agree with the scores on the label; no column where the method has none,
        /// because it was asked not to calibrate its scores.
        probabilities: Matrix,
    },
    /// Predicted numbers, one column per output.
    Numbers(Matrix),
    /// The cluster of each row, and its distance from the centre of each cluster.
    Clusters {
        /// The number of the nearest centre, on a tie the first.
        labels: Vec<u32>,
        /// Distances, one column per cluster.
        distances: Matrix,
    },
    /// How much of each row is of each component of a mixture, and how likely the row is.
    Responsibilities {
        /// They sum to one in each row; the label is the first component with the largest.
        responsibilities: Matrix,
        /// The logarithm of the density of each row under all components: the smaller, the more unusual the row.
        log_densities: Vec<f64>,
    },
    /// The novelty score of each row: below zero it is an outlier.
    Novelty {
        /// One number per row.
        scores: Vec<f64>,
    },
}

impl Prediction {
    /// The predicted classes (the largest score, on a tie the class that comes first) or groups; of novelty 1 for novel rows and 0
    /// for others. Empty for numbers.
    ///
    /// ```
    /// use quince::Matrix;
    /// use quince::learn::Prediction;
    /// let probabilities = Matrix::from_rows(&[[0.2, 0.8], [0.5, 0.5]]);
    /// let prediction = Prediction::Classes { scores: probabilities.clone(), probabilities };
    /// assert_eq!(prediction.labels(), [1, 0]);
    /// ```
    pub fn labels(&self) -> Vec<u32> {
        match self {
            Prediction::Classes { scores, .. } => (0..scores.rows()).map(|i| largest(scores.row(i))).collect(),
            Prediction::Numbers(_) => Vec::new(),
            Prediction::Clusters { labels, .. } => labels.clone(),
            Prediction::Responsibilities { responsibilities, .. } => {
                (0..responsibilities.rows()).map(|i| largest(responsibilities.row(i))).collect()
            }
            Prediction::Novelty { scores } => scores.iter().map(|score| u32::from(*score < 0.0)).collect(),
        }
    }

    /// The probabilities of classes, if the prediction has any.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let rows = [[1.0], [2.0], [8.0], [9.0]];
    /// let model = Ridge::new().probabilities(false).fit(&rows, &["a", "a", "b", "b"])?;
    /// assert_eq!(model.predict(&rows)?.probabilities(), None);
    /// # quince::Result::Ok(())
    /// ```
    pub fn probabilities(&self) -> Option<&Matrix> {
        match self {
            Prediction::Classes { probabilities, .. } => Some(probabilities).filter(|all| all.columns() > 0),
            _ => None,
        }
    }

    /// The same without probabilities, unless the method has some.
    pub(crate) fn with_probabilities_if(self, has_probabilities: bool) -> Prediction {
        match self {
            Prediction::Classes { scores, .. } if !has_probabilities => {
                let probabilities = Matrix::zeros(scores.rows(), 0);
                Prediction::Classes { scores, probabilities }
            }
            other => other,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Prediction::Classes { scores, .. } => scores.rows(),
            Prediction::Numbers(numbers) => numbers.rows(),
            Prediction::Clusters { labels, .. } => labels.len(),
            Prediction::Responsibilities { responsibilities, .. } => responsibilities.rows(),
            Prediction::Novelty { scores } => scores.len(),
        }
    }

    /// Whether every number in it is finite (the score of an impossible class is -∞): no other answer leaves the library.
    pub(crate) fn is_finite(&self) -> bool {
        let finite = |matrix: &Matrix| matrix.values().iter().all(|value| value.is_finite());
        match self {
            Prediction::Classes { scores, probabilities } => {
                scores.values().iter().all(|score| *score < f64::INFINITY) && finite(probabilities)
            }
            Prediction::Numbers(numbers) => finite(numbers),
            Prediction::Clusters { distances, .. } => finite(distances),
            Prediction::Responsibilities { responsibilities, log_densities } => {
                finite(responsibilities) && log_densities.iter().all(|density| *density < f64::INFINITY)
            }
            Prediction::Novelty { scores } => scores.iter().all(|score| score.is_finite()),
        }
    }
}

/// The place of the largest number, the first of several.
pub(crate) fn largest(values: &[f64]) -> u32 {
    let (mut best, mut most) = (0, values.first().copied().unwrap_or(0.0));
    for (k, &value) in values.iter().enumerate() {
        // Both are chosen without a branch, which would be guessed wrongly every other time.
        let larger = value > most;
        best = if larger { k as u32 } else { best };
        most = if larger { value } else { most };
    }
    best
}

/// A row that a model has sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledRow {
    /// Its class.
    pub class: usize,
    /// Its dense features; NaN where the model says nothing.
    pub dense: Vec<f64>,
    /// Of each sparse column its first place, and the places in the order in which they were drawn.
    pub sequences: Vec<(usize, Vec<usize>)>,
}
