//! Weights of classes, as methods have them in their setting `class_weights`.

use super::{Classes, Parser};
use crate::error::{Error, Result};

/// The weight of each class. Those of `balanced` give all classes the same total weight, beside those of rows.
pub(crate) fn class_weights(text: &str, classes: &Classes, codes: &[u32], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let mut of_classes = vec![1.0; classes.count()];
    match ClassWeights::read(text)? {
        ClassWeights::Alike => {}
        ClassWeights::Balanced => {
            let mut counts = vec![0.0; classes.count()];
            codes.iter().enumerate().for_each(|(i, &code)| counts[code as usize] += weights.map_or(1.0, |w| w[i]));
            let total: f64 = counts.iter().sum();
            for (weight, count) in of_classes.iter_mut().zip(&counts).filter(|(_, count)| **count > 0.0) {
                *weight = total / (classes.count() as f64 * count);
            }
        }
        ClassWeights::Given(given) => {
            for (label, weight) in given {
                let code = classes.code_of_spelling(label).ok_or_else(|| {
                    let remedy = format!("The classes are {}.", classes.names().join(", "));
                    Error::setting("class_weights", format!("names '{label}', which is no class"), remedy)
                })?;
                of_classes[code as usize] = weight;
            }
        }
    }
    Ok(of_classes)
}

/// The setting `class_weights`, as it is written.
pub(crate) enum ClassWeights<'a> {
    /// All classes count alike.
    Alike,
    /// All classes have the same total weight.
    Balanced,
    /// Labels and factors.
    Given(Vec<(&'a str, f64)>),
}

/// The parser of the setting `class_weights`.
pub(crate) const CLASS_WEIGHTS: Parser =
    Parser { takes: "none, balanced, or label=number for classes", check: |text| ClassWeights::read(text).map(drop) };

impl ClassWeights<'_> {
    /// Whether no class counts more than another.
    pub(crate) fn are_alike(&self) -> bool {
        matches!(self, ClassWeights::Alike)
    }

    pub(crate) fn read(text: &str) -> Result<ClassWeights<'_>> {
        let wrong = |problem: String, remedy: &str| Err(Error::setting("class_weights", problem, remedy));
        match text.trim() {
            "" | "none" => return Ok(ClassWeights::Alike),
            "balanced" => return Ok(ClassWeights::Balanced),
            _ => {}
        }
        let mut given: Vec<(&str, f64)> = Vec::new();
        for part in text.split(',') {
            let read = part.rsplit_once('=').and_then(|(label, weight)| {
                let weight = weight.trim().parse::<f64>().ok().filter(|w| w.is_finite() && *w > 0.0)?;
                Some((label.trim(), weight))
            });
            let Some((label, weight)) = read else {
                return wrong(
                    format!("cannot be read at '{}'", part.trim()),
                    "Write none, balanced, or label=number, separated by commas, with numbers above zero.",
                );
            };
            if given.iter().any(|(other, _)| *other == label) {
                return wrong(format!("names '{label}' twice"), "Give a class one number.");
            }
            given.push((label, weight));
        }
        Ok(ClassWeights::Given(given))
    }
}
