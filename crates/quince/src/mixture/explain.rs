//! Descriptions of components: the columns in which each differs most from all rows together.

use super::model::MixtureModel;
use crate::em::NO_CLASS;
use crate::explain::{Explanation, Listing};
use crate::family::block::{Block, Coding};
use crate::family::discriminative::discriminative_words;
use crate::family::explain::{Names, category, short, tenths};
use crate::learn::{FeatureMap, FeatureSource};

/// The number of traits named for each component.
const MAX_TRAITS: usize = 5;

/// The smallest difference from all rows that is named: in standard deviations, or as the root of twice the relative entropy.
const MIN_STRENGTH: f64 = 0.25;

/// A difference between a component and all rows.
struct Trait {
    /// Its size.
    strength: f64,
    words: String,
}

impl MixtureModel {
    /// The names of components: numbers, and their class if they have one.
    pub(super) fn names(&self, classes: &[String]) -> Vec<String> {
        let of = &self.state.class_of;
        let name = |(k, &class): (usize, &u32)| match classes.get(class as usize).filter(|_| class != NO_CLASS) {
            None => (k + 1).to_string(),
            Some(class_name) if of.iter().filter(|other| **other == class).count() == 1 => class_name.clone(),
            Some(class_name) => format!("{class_name} {}", 1 + of[..k].iter().filter(|other| **other == class).count()),
        };
        of.iter().enumerate().map(name).collect()
    }

    pub(super) fn explanation(&self, encoder: &dyn FeatureSource, classes: &[String]) -> Explanation {
        let (names, weights) = (self.names(classes), self.weights());
        let feature_map = self.state.product.feature_map(encoder);
        let mut said = Explanation::default();
        for k in 0..self.components() {
            let mut traits: Vec<Trait> =
                self.state.product.blocks.iter().flat_map(|block| self.traits(block, k, &feature_map)).collect();
            traits.sort_by(|a, b| b.strength.total_cmp(&a.strength));
            let told: Vec<&str> = traits
                .iter()
                .filter(|t| t.strength > MIN_STRENGTH)
                .take(MAX_TRAITS)
                .map(|t| t.words.as_str())
                .collect();
            let mut told: Vec<String> = told.into_iter().map(str::to_string).collect();
            told.extend(self.words(k, &feature_map, encoder));
            let told = if told.is_empty() { "much like all rows".to_string() } else { told.join(", ") };
            let what = if self.has_classes() { "" } else { "Component " };
            said.sentences.push(format!("{what}{} ({} of rows): {told}", names[k], tenths(weights[k])));
        }
        if let Some(calibration) = &self.calibration {
            said.sentences.push(format!(
                "Calibrated on held-out rows: temperature {}, contamination {}",
                short(calibration.temperature),
                tenths(calibration.contamination)
            ));
        }
        let mut probabilities = Listing::new("Components", ["share"]);
        names.iter().zip(&weights).for_each(|(name, weight)| probabilities.numbers(name, [*weight]));
        said.tables.push(probabilities);
        self.state.product.explain(encoder, &Names { names: &names, what: "component" }, &mut said);
        said
    }

    /// The discriminative words of a component, for each block of words.
    fn words(&self, k: usize, feature_map: &FeatureMap, encoder: &dyn FeatureSource) -> Vec<String> {
        let product = &self.state.product;
        let mut told = Vec::new();
        for (block, statistics) in product.blocks.iter().zip(&product.statistics) {
            let (column, names) = match (block, block.sparse_places()) {
                (_, Some(places)) => product.words(places, feature_map, encoder),
                (Block::Multinomial(block), None) => {
                    let named = |column: &usize| feature_map.groups.iter().find(|part| part.first == *column);
                    let name = |column: &usize| named(column).map_or(format!("x{column}"), |part| part.name.clone());
                    ("counts".to_string(), block.place().columns().iter().map(name).collect())
                }
                _ => continue,
            };
            let rows = |k: usize| match block {
                Block::Multinomial(_) => statistics.row(k)[..names.len()].iter().sum(),
                _ => statistics[(k, names.len())],
            };
            let totals: Vec<f64> = (0..self.components()).map(rows).collect();
            let most = discriminative_words(statistics, &totals, names.len(), k)
                .into_iter()
                .take(MAX_TRAITS)
                .map(|j| names[j].as_str());
            let most: Vec<&str> = most.collect();
            if !most.is_empty() {
                told.push(format!("{column}: {}", most.join(", ")));
            }
        }
        told
    }

    /// The differences between a component and all rows in the columns of a block.
    fn traits(&self, block: &Block, k: usize, feature_map: &FeatureMap) -> Vec<Trait> {
        let part =
            |column: usize| feature_map.groups.iter().find(|part| !part.kind.is_sparse() && part.first == column);
        let name = |column: usize| part(column).map_or_else(|| format!("x{column}"), |part| part.name.clone());
        let number = |column: usize, moments: &dyn Fn(usize) -> (f64, f64)| self.number(k, &name(column), moments);
        let columns = block.family().columns();
        match block {
            Block::Normal(block) => {
                let of = |j: usize| move |c: usize| (block.parameters(c)[j].mean, block.parameters(c)[j].variance);
                columns.iter().enumerate().map(|(j, &column)| number(column, &of(j))).collect()
            }
            Block::Gaussian(block) if block.axes().is_none() => {
                let of = |j: usize| move |c: usize| (block.means()[(c, j)], block.variance(c, j));
                columns.iter().enumerate().map(|(j, &column)| number(column, &of(j))).collect()
            }
            Block::Poisson(block) => {
                let of = |j: usize| move |c: usize| (block.parameters(c)[j], block.parameters(c)[j]);
                columns.iter().enumerate().map(|(j, &column)| number(column, &of(j))).collect()
            }
            Block::Bernoulli(block) if !columns.is_empty() => {
                let yes = |c: usize, j: usize| block.parameters(c, j)[1].exp();
                let told = |(j, &column): (usize, &usize)| {
                    let probabilities = |c: usize| vec![1.0 - yes(c, j), yes(c, j)];
                    self.category(k, &name(column), &probabilities, |code| ["no", "yes"][code].to_string())
                };
                columns.iter().enumerate().map(told).collect()
            }
            Block::Categorical(block) => {
                let told = |(j, (coding, &column)): (usize, (&Coding, &usize))| {
                    let probabilities =
                        |c: usize| block.parameters(c, j).iter().map(|log| log.exp()).collect::<Vec<f64>>();
                    self.category(k, &name(column), &probabilities, |code| category(coding, code, part(column)))
                };
                block.coding().iter().zip(columns).enumerate().map(told).collect()
            }
            _ => Vec::new(),
        }
    }

    fn number(&self, k: usize, name: &str, moments: &dyn Fn(usize) -> (f64, f64)) -> Trait {
        let weights = self.weights();
        let all: f64 = weights.iter().enumerate().map(|(c, weight)| weight * moments(c).0).sum();
        let squares = |(c, weight): (usize, &f64)| weight * (moments(c).1 + (moments(c).0 - all).powi(2));
        let standard_deviation = weights.iter().enumerate().map(squares).sum::<f64>().sqrt();
        let (mean, _) = moments(k);
        let strength = if standard_deviation > 0.0 { (mean - all).abs() / standard_deviation } else { 0.0 };
        Trait {
            strength,
            words: format!(
                "{name} {} (in all {})",
                rounded(mean, standard_deviation),
                rounded(all, standard_deviation)
            ),
        }
    }

    fn category(
        &self,
        k: usize,
        name: &str,
        probabilities: &dyn Fn(usize) -> Vec<f64>,
        word: impl Fn(usize) -> String,
    ) -> Trait {
        let (own, mut all) = (probabilities(k), vec![0.0; probabilities(k).len()]);
        for (c, weight) in self.weights().iter().enumerate() {
            all.iter_mut().zip(probabilities(c)).for_each(|(all, share)| *all += weight * share);
        }
        // The root of twice the relative entropy is about the distance of two normal distributions in standard deviations.
        let part = |(own, all): (&f64, &f64)| if *own > 0.0 && *all > 0.0 { own * (own / all).ln() } else { 0.0 };
        let information: f64 = own.iter().zip(&all).map(part).sum();
        let gain = |code: &usize| part((&own[*code], &all[*code]));
        let code = (0..own.len()).max_by(|a, b| gain(a).total_cmp(&gain(b))).unwrap_or(0);
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let words = format!("{name} {} {} (in all {})", word(code), percent(own[code]), percent(all[code]));
        Trait { strength: (2.0 * information.max(0.0)).sqrt(), words }
    }
}

/// A number rounded to about a hundredth of a standard deviation.
fn rounded(x: f64, standard_deviation: f64) -> String {
    if standard_deviation <= 0.0 || !standard_deviation.is_finite() {
        return short(x);
    }
    let step = 10f64.powf((standard_deviation / 30.0).log10().floor());
    short((x / step).round() * step)
}
