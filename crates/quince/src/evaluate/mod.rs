//! How good is a model? Metrics, ways to split rows, and the leaderboard.

mod compare;
mod curve;
mod metrics;
mod resample;

pub use compare::{Comparison, Entrant, FoldStatistics, Folds, compare};
pub use curve::{Curve, CurveCandidate, CurvePoint, TRAINING_FRACTIONS, curve};
pub use metrics::{ClassScores, ConfusionMatrix, Evaluation, Metric, Roc, evaluate, log_loss, root_mean_square};
pub use resample::{Split, grouped_folds, hold_out, leave_one_out, stratified_folds, train_validation_test};
