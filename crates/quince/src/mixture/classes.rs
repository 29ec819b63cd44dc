//! Labels as masks: classes from rows that have one, and rows that have none.

use super::em::{Course, NONE, Seen, State};
use super::{Mixture, MixtureModel, start};
use crate::cluster::Division;
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
        let settles_at_once = !all || self.per_class > 1;
        if settles_at_once {
            start::settle(&mut product, features, counted.as_deref(), run)?;
        }
        let (rows, labels) = self.divided_classes(&product, features, &known, &shown, chosen_by, run)?;
        let totals = start::by_labels(&mut product, features, &rows, &labels, chosen_by, run)?;
        if totals.iter().sum::<f64>() <= 0.0 {
            return Err(Error::data(
                "no row that counts has a class",
                "Give some rows a class, or find clusters instead.",
            ));
        }
        if !settles_at_once {
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

    /// Rows that have a class, and their first component: the only one of their class or, of some rows, one by k-means.
    fn divided_classes(
        &self,
        product: &Product,
        features: &Features<'_>,
        known: &[usize],
        codes: &[u32],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<(Vec<usize>, Vec<u32>)> {
        if self.per_class == 1 {
            return Ok((known.to_vec(), known.iter().map(|&i| codes[i]).collect()));
        }
        let (mut all, mut labels) = (Vec::new(), Vec::new());
        let classes = product.components / self.per_class;
        for class in 0..classes as u32 {
            let own = known.iter().copied().filter(|&i| codes[i] == class);
            let rows = start::some(own, weights, start::ENOUGH.div_ceil(classes));
            if rows.is_empty() {
                continue;
            }
            let (k, stream) = (self.per_class.min(rows.len()), &mut run.stream(u64::from(class)));
            let parts = start::divided(product, features, &rows, weights, (k, Division::Means), stream, run)?;
            labels.extend(parts.into_iter().map(|part| class * self.per_class as u32 + part));
            all.extend(rows);
        }
        Ok((all, labels))
    }
}
