//! What a method is: settings that can be fitted, and a fitted model that can predict.
//!
//! A method's settings struct *is* the learner: `Ridge { alpha: 0.1, ..Ridge::default() }`. It implements [`Learner`];
//! what it learns implements [`Fitted`]. Settings and fitted models are different types, so nothing can predict before
//! it was fitted. [`DynLearner`] is the same as a trait object, for code that knows a method by its name only.
//!
//! This module is the vocabulary that tables, encoders, methods and models share, and stands below all of them.

mod class_weights;
mod dynamic;
mod examples;
mod feature_map;
mod imputed;
mod input;
mod learner;
mod method;
mod prediction;
mod saved_parts;
mod settings;
mod target;

pub use dynamic::{DynLearner, Method, configured};
pub use examples::Examples;
pub use feature_map::{FeatureGroup, FeatureKind, FeatureMap, FeatureSource};
pub use imputed::Imputed;
pub use input::{Input, Label, TargetValue, ToFeatures, ToTarget};
pub use learner::{Checked, Fitted, Learner};
pub use method::{Amount, Capability, Count, Domain, MethodInfo, Parser, PlainValue, Setting};
pub use prediction::{Prediction, SampledRow};
pub use saved_parts::SavedParts;
pub use settings::{IntoSetting, SettingValue, Settings};
pub use target::{Classes, LabelType, Target, TargetView, Task};

pub(crate) use class_weights::{CLASS_WEIGHTS, ClassWeights, class_weights};
pub(crate) use examples::{ExamplesDigest, check_weights};
pub(crate) use input::labels_of;
pub(crate) use learner::named;
pub(crate) use prediction::largest;
pub(crate) use saved_parts::{ElementType, SavedArray};
pub(crate) use settings::written_setting;
