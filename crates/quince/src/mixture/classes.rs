//! Semi-supervised learning: labels mask components, and rows without a label help to estimate them.

use super::{Mixture, MixtureModel, start};
use crate::cluster::Division;
use crate::em::{Data, NO_CLASS, State, Trace};
use crate::error::{Error, Result};
use crate::family::layout::Open;
use crate::family::product::Product;
use crate::learn::{Count, Examples, Target, TargetView};
use crate::matrix::Features;
use crate::run::{Report, Run};

/// From this ratio of unlabelled to labelled weight on, the report has a remark.
const OUTWEIGHED_NOTE_FROM: f64 = 2.0;

/// The ratio of unlabelled to labelled weight.
fn outweighed(codes: &[u32], weights: Option<&[f64]>) -> f64 {
    let (mut with, mut without) = (0.0, 0.0);
    for (i, code) in codes.iter().enumerate() {
        *(if *code == NO_CLASS { &mut without } else { &mut with }) += weights.map_or(1.0, |weights| weights[i]);
    }
    without / with
}

impl Mixture {
    /// Learns classes from rows with and without a label.
    pub(super) fn classify(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let TargetView::Classes { classes, codes } = examples.target.view() else { return Err(Target::missing()) };
        let (features, count) = (&examples.features, classes.count());
        let known: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] != NO_CLASS).collect();
        // Families are chosen by the labelled rows.
        let weight = |i: usize| examples.weights.map_or(1.0, |weights| weights[i]);
        let labelled: Vec<f64> = (0..codes.len()).map(|i| if codes[i] == NO_CLASS { 0.0 } else { weight(i) }).collect();
        let all = known.len() == codes.len();
        let chosen_by = if all { examples.weights } else { Some(&labelled[..]) };
        let shown: Vec<u32> = codes.iter().map(|&code| if code == NO_CLASS { 0 } else { code }).collect();
        let components = count.saturating_mul(self.per_class);
        if self.per_class > 1 && components > codes.len() {
            let problem = format!("cannot be {} for {count} classes and {} rows", self.per_class, codes.len());
            return Err(Error::setting("per_class", problem, "There must be a row for every component."));
        }
        let mut product = self.blocks(examples, &shown, (count, components), chosen_by, Open::Choose, run)?;
        let class_of: Vec<u32> = (0..components).map(|c| (c / self.per_class) as u32).collect();
        let counted: Option<Vec<f64>> = (!all || examples.weights.is_some()).then(|| {
            (0..codes.len()).map(|i| weight(i) * if codes[i] == NO_CLASS { self.unlabelled } else { 1.0 }).collect()
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
        let data = Data::new(features, counted.as_deref(), Some(codes), &state.product.blocks);
        // Where every responsibility is known, there is nothing to iterate.
        let certain = all && self.per_class == 1 && !data.has_missing();
        let trace = if certain { Trace::none() } else { state.run_em(&data, self.em_options(), run)? };
        let outweighed = outweighed(codes, counted.as_deref());
        let (model, mut report) = self.finish(state, trace, examples, run)?;
        if outweighed >= OUTWEIGHED_NOTE_FROM {
            report.remarks.push(format!(
                "rows without a class outweigh the others {outweighed:.0} to 1; where families do not fit well this can do harm: \
                 see whether a smaller unlabelled (0.1), or a larger per_class (2), is better"
            ));
        }
        if self.k != Count::Auto {
            report
                .remarks
                .push("k is not used where there are classes; per_class is the number of components of each".into());
        }
        Ok((model, report))
    }

    /// Labelled rows, and their initial component: the only one of their class or, for some rows, one by k-means.
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
            let rows = start::some(own, weights, start::MAX_START_ROWS.div_ceil(classes));
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
