//! How good is a model? Metrics, ways to split rows, and the leaderboard.

#[cfg(feature = "tables")]
mod compare;
#[cfg(feature = "tables")]
mod contestants;
#[cfg(feature = "tables")]
mod curve;
#[cfg(feature = "tables")]
mod encoders;
#[cfg(feature = "tables")]
mod folds;
#[cfg(feature = "tables")]
mod leave_one_out;
mod metrics;
mod resample;
#[cfg(feature = "tables")]
mod vary;

#[cfg(feature = "tables")]
pub use compare::{Comparison, Entrant, FoldStatistics, compare};
#[cfg(feature = "tables")]
pub use contestants::{Contestants, LeftOut};
#[cfg(feature = "tables")]
pub use curve::{Curve, CurveCandidate, CurvePoint, curve};
#[cfg(feature = "tables")]
pub use folds::Folds;
#[cfg(feature = "tables")]
pub use leave_one_out::exact_leave_one_out;
pub use metrics::{ClassScores, ConfusionMatrix, Evaluation, Metric, Roc, evaluate, log_loss, root_mean_square};
pub use resample::{Split, grouped_folds, hold_out, leave_one_out, stratified_folds, train_validation_test};
#[cfg(feature = "tables")]
pub use vary::{TRAINING_FRACTIONS, Varied};
