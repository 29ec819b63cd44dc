//! Explanations of a Bayes classifier: the parameters of every column for every class, discriminant functions and boundaries;
//! and for one row, the evidence for its class.

use super::model::BayesModel;
use crate::calibration::Calibration;
use crate::error::Result;
use crate::explain::{Explanation, Listing};
use crate::family::block::{Block, Gaussians, Shared};
use crate::family::evidence::{Sure, Weighing};
use crate::family::explain::{Names, gaussian_names, short, tenths};
use crate::learn::FeatureSource;
use crate::matrix::Features;
use crate::run::Run;

impl BayesModel {
    /// Parameters of all columns, for classes of these names.
    pub(super) fn explanation(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Explanation {
        let mut said = Explanation::default();
        let mut priors = Listing::new("Classes", ["share", "prior"]);
        let total: f64 = self.totals.iter().sum();
        for ((name, weight), log) in classes.iter().zip(&self.totals).zip(&self.log_priors) {
            priors.numbers(name, [weight / total, log.exp()]);
        }
        said.tables.push(priors);
        self.product.explain(encoder, &Names { names: classes, what: "class" }, &mut said);
        self.explain_discriminants(encoder, classes, &mut said);
        if self.calibration != Calibration::none(classes.len()) {
            said.sentences.push(format!(
                "Calibrated on rows left out: temperature {}, contamination {}",
                short(self.temperature()),
                tenths(self.contamination())
            ));
        }
        for choice in &self.choices {
            let others: Vec<String> =
                choice.families.iter().skip(1).take(3).map(|(f, l)| format!("{f} {l:.4}")).collect();
            if let Some((best, likelihood)) = choice.families.first() {
                said.sentences.push(format!(
                    "'{}' is {best}: leave-one-out log likelihood of a row {likelihood:.4}; {}",
                    choice.column,
                    if others.is_empty() { "nothing else fits".to_string() } else { others.join(", ") }
                ));
            }
        }
        if let Some(found) = self.boundaries() {
            let at: Vec<String> = found.at.iter().map(|x| short(*x)).collect();
            let names: Vec<&str> = found.classes.iter().map(|&k| classes[k].as_str()).collect();
            said.sentences.push(match at.is_empty() {
                true => format!(
                    "Every value is classified as {}; the expected error is {:.2} %",
                    names[0],
                    100.0 * found.error
                ),
                false => format!(
                    "The class changes at {}: {}; the expected error is {:.2} %",
                    at.join(" and "),
                    names.join(", then "),
                    100.0 * found.error
                ),
            });
        }
        said
    }

    /// The discriminant functions of the classes.
    fn explain_discriminants(&self, encoder: &dyn FeatureSource, classes: &[String], said: &mut Explanation) {
        let feature_map = self.product.feature_map(encoder);
        let part =
            |column: usize| feature_map.groups.iter().find(|part| !part.kind.is_sparse() && part.first == column);
        let name = |column: usize| part(column).map_or_else(|| format!("x{column}"), |part| part.name.clone());
        for whole in &self.product.blocks {
            if let Block::Gaussian(block) = whole {
                self.explain_discriminant((whole, block), &gaussian_names(block, &name), classes, said);
            }
        }
    }

    fn explain_discriminant(
        &self,
        (whole, block): (&Block, &Gaussians),
        names: &[String],
        classes: &[String],
        said: &mut Explanation,
    ) {
        let Some(discriminants) = self.discriminants_of(whole) else { return };
        if block.shared != Shared::No {
            let mut table = Listing::new("Discriminants w·x + w0: the largest wins", classes);
            for (j, name) in names.iter().enumerate() {
                table.numbers(format!("w of {name}"), discriminants.iter().map(|d| d.linear[j]));
            }
            table.numbers("w0", discriminants.iter().map(|d| d.constant));
            said.tables.push(table);
            for b in 1..if self.product.blocks.len() == 1 { classes.len().min(4) } else { 0 } {
                for a in 0..b {
                    let odds = discriminants[a].against(&discriminants[b]);
                    said.sentences.push(format!(
                        "{} against {}: log odds w·x + w0 with w0 = {}, boundary at distance |w0| / ‖w‖ = {} from the origin",
                        classes[a],
                        classes[b],
                        short(odds.constant),
                        short(odds.distance())
                    ));
                }
            }
        } else if names.len() <= 3 {
            let mut table = Listing::new("Discriminants xᵀAx + w·x + w0: the largest wins", classes);
            for (i, first) in names.iter().enumerate() {
                for (j, second) in names.iter().enumerate().skip(i) {
                    let twice = if i == j { 1.0 } else { 2.0 };
                    let of = |d: &super::Discriminant| d.quadratic.as_ref().map_or(0.0, |a| twice * a[i][j]);
                    table.numbers(format!("{first} · {second}"), discriminants.iter().map(of));
                }
            }
            for (j, name) in names.iter().enumerate() {
                table.numbers(name, discriminants.iter().map(|d| d.linear[j]));
            }
            table.numbers("w0", discriminants.iter().map(|d| d.constant));
            said.tables.push(table);
        }
    }

    /// The evidence for the class of a row.
    pub(super) fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        classes: &[String],
    ) -> Result<Explanation> {
        let Calibration { temperature, biases, contamination } = &self.calibration;
        let by =
            Weighing { log_priors: &self.log_priors, biases, temperature: *temperature, contamination: *contamination };
        let sure = |row: &Features<'_>, class: usize| {
            Ok(Sure {
                probability: self.probabilities(row, &Run::new())?[(0, class)],
                prior: self.log_priors[class].exp(),
            })
        };
        self.product.explain_row(row, encoder, classes, &by, None, sure)
    }
}
