//! Which methods are compared where none is named, and why others are not.

use crate::error::Result;
use crate::learn::{DynLearner, Target};
use crate::registry::{Method, Registry};
use serde::Serialize;
use serde_json::Value;

/// A method that learns such a target and is not compared where none is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub method: String,
    /// Why: the rest of a sentence that begins with the name.
    pub reason: String,
}

/// The methods that are compared where none is named: all that learn the target, but for those that say why not.
///
/// ```
/// use quince::evaluate::{Contestants, Folds, compare};
/// use quince::prelude::*;
/// let table = Table::from_csv("x,y\n1,a\n2,a\n3,a\n6,b\n7,b\n8,b\n")?.labelled("y", None)?;
/// let contestants = Contestants::of(&Registry::standard(), &table.target);
/// let board = compare(&table, &contestants.learners()?, &Folds::K(3), None, None, &Run::new())?;
/// assert_eq!(board.entrants.len(), contestants.methods.len());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct Contestants {
    /// Those that are compared, in the order of the registry.
    pub methods: Vec<Method>,
    /// Those that are not, though they learn such a target.
    pub left_out: Vec<LeftOut>,
}

impl Contestants {
    /// The methods of a registry for this target.
    pub fn of(registry: &Registry, target: &Target) -> Contestants {
        let able = || registry.methods().iter().filter(|method| method.info.learns(target.task()));
        let left_out = |method: &Method| {
            let reason = method.info.why_not_compared(target)?;
            Some(LeftOut { method: method.info.name.to_string(), reason })
        };
        Contestants {
            methods: able().filter(|method| method.info.is_compared(target)).copied().collect(),
            left_out: able().filter_map(left_out).collect(),
        }
    }

    /// The methods with their default settings.
    pub fn learners(&self) -> Result<Vec<Box<dyn DynLearner>>> {
        self.methods.iter().map(|method| method.configure(&Value::Null)).collect()
    }
}
