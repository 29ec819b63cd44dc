//! Labels as masks: classes from rows that have one, and rows that have none.

use super::em::{Course, NONE, Seen, State};
use super::{Mixture, MixtureModel, start};
use crate::cluster::{Division, divide};
use crate::error::{Error, Result};
use crate::family::layout::Open;
use crate::family::product::Product;
use crate::learn::{Count, Examples, Target};
use crate::matrix::Features;
use crate::run::{Report, Run};

/// A note is due where rows without a class outweigh the others so much.
const MANY: f64 = 2.0;

/// How much rows without a class count, where one with a class counts one.
fn outweighed(codes: &[u32], weights: Option<&[f64]>) -> f64 {
    let (mut with, mut without) = (0.0, 0.0);
    for (i, code) in codes.iter().enumerate() {
        *(if *code == NONE { &mut without } else { &mut with }) += weights.map_or(1.0, |weights| weights[i]);
    }
    without / with
}

impl Mixture {
    /// Learns classes, from rows that have one and rows that have none.
    pub(super) fn classify(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let Target::Classes { classes, codes } = examples.target else { return Err(Target::missing()) };
        let (features, count) = (&examples.features, classes.count());
        let known: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] != NONE).collect();
        // What is chosen by classes is chosen by the rows that have one.
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let labelled: Vec<f64> = (0..codes.len()).map(|i| if codes[i] == NONE { 0.0 } else { weight(i) }).collect();
        let all = known.len() == codes.len();
        let chosen_by = if all { examples.weights } else { Some(&labelled[..]) };
        let shown: Vec<u32> = codes.iter().map(|&code| if code == NONE { 0 } else { code }).collect();
        let components = count.saturating_mul(self.per_class);
        if self.per_class > 1 && components > codes.len() {
            let problem = format!("cannot be {} for {count} classes and {} rows", self.per_class, codes.len());
            return Err(Error::setting("per_class", problem, "There must be a row for every component."));
        }
        let mut product = self.blocks(examples, &shown, (count, components), chosen_by, Open::Choose, run)?;
        let class_of: Vec<u32> = (0..components).map(|c| (c / self.per_class) as u32).collect();
        let counted: Option<Vec<f64>> = (!all || examples.weights.is_some()).then(|| {
            (0..codes.len()).map(|i| weight(i) * if codes[i] == NONE { self.unlabelled } else { 1.0 }).collect()
        });
        if !all {
            start::settle(&mut product, features, counted.as_deref(), run)?;
        }
        // Where classes are divided by k-means, some rows are enough to start from.
        let thin = if self.per_class > 1 { known.len().div_ceil(start::ENOUGH) } else { 1 };
        let known: Vec<usize> = known.into_iter().step_by(thin).collect();
        let labels = self.divided_classes(&product, features, &known, &shown, chosen_by, run)?;
        let totals = start::by_labels(&mut product, features, &known, &labels, chosen_by, run)?;
        if totals.iter().sum::<f64>() <= 0.0 {
            return Err(Error::data(
                "no row that counts has a class",
                "Give some rows a class, or find clusters instead.",
            ));
        }
        if all {
            product.settle();
        }
        product.estimate(run)?;
        let mut state = State::new(product, totals, class_of);
        let seen = Seen::new(features, counted.as_deref(), Some(codes), &state.product.blocks);
        // Where every share is known there is nothing to expect.
        let certain = all && self.per_class == 1 && !seen.has_holes();
        let course = if certain { Course::none() } else { state.climb(&seen, self.limits(), run)? };
        let outweighed = outweighed(codes, counted.as_deref());
        let (model, mut report) = self.finish(state, course, examples, run)?;
        if outweighed >= MANY {
            report.remarks.push(format!(
                "rows without a class outweigh the others {outweighed:.0} to 1; where families are not quite right this can do harm: \
                 see whether a smaller unlabelled (0.1), or a larger per_class (2), is better"
            ));
        }
        if self.k != Count::Auto {
            report
                .remarks
                .push("k says nothing where there are classes; per_class says how many components each has".into());
        }
        Ok((model, report))
    }

    /// The first component of every row that has a class: the only one, or one of those of its class by k-means.
    fn divided_classes(
        &self,
        product: &Product,
        features: &Features<'_>,
        known: &[usize],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<Vec<u32>> {
        let mut labels: Vec<u32> = known.iter().map(|&i| codes[i] * self.per_class as u32).collect();
        if self.per_class == 1 {
            return Ok(labels);
        }
        for class in 0..(product.components / self.per_class) as u32 {
            let places: Vec<usize> = (0..known.len()).filter(|&r| codes[known[r]] == class).collect();
            let rows: Vec<usize> = places.iter().map(|&r| known[r]).collect();
            if rows.is_empty() {
                continue;
            }
            let points = start::points(product, features, &rows)?;
            let own: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
            let how = Division::Means;
            let stream = &mut run.stream(u64::from(class));
            let parts = divide(points.features(), own.as_deref(), self.per_class.min(rows.len()), how, stream, run)?;
            places.iter().zip(parts).for_each(|(&r, part)| labels[r] += part);
        }
        Ok(labels)
    }
}
