//! Semi-supervised learning: labels mask components, and rows without a label help to estimate them.

use super::calibrate::{Chosen, FoldBlocks};
use super::{Mixture, MixtureModel, start};
use crate::cluster::Division;
use crate::em::{Data, NO_CLASS, Options, State, Trace};
use crate::error::{Error, Result};
use crate::family::layout::LayoutData;
use crate::family::product::Product;
use crate::learn::{Amount, Count, Examples, Target, TargetView};
use crate::matrix::Features;
use crate::run::{Report, Run, StopReason};

/// From this ratio of unlabelled to labelled weight on, the report has a remark.
const OUTWEIGHED_NOTE_FROM: f64 = 2.0;

/// Rows of which some have a class.
#[derive(Clone, Copy)]
pub(super) struct LabelledRows<'a> {
    pub(super) features: &'a Features<'a>,
    /// The class of each row, or [`NO_CLASS`].
    pub(super) codes: &'a [u32],
    pub(super) weights: Option<&'a [f64]>,
    pub(super) classes: usize,
}

impl LabelledRows<'_> {
    pub(super) fn all_have_a_class(&self) -> bool {
        !self.codes.contains(&NO_CLASS)
    }

    pub(super) fn has_a_class(&self) -> bool {
        self.codes.iter().any(|code| *code != NO_CLASS)
    }

    /// The logarithm of the share of each class in what has one.
    pub(super) fn log_frequencies(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.classes];
        for (i, &code) in self.codes.iter().enumerate().filter(|(_, code)| **code != NO_CLASS) {
            totals[code as usize] += self.weight(i);
        }
        let all: f64 = totals.iter().sum();
        totals.into_iter().map(|total| (total / all).ln()).collect()
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The weights of rows where one without a class counts `unlabelled` times; `None` if all rows count alike.
    fn weights_with(&self, unlabelled: f64) -> Option<Vec<f64>> {
        let times = |i: usize| if self.codes[i] == NO_CLASS { unlabelled } else { 1.0 };
        let counted = || (0..self.codes.len()).map(|i| self.weight(i) * times(i)).collect();
        (!self.all_have_a_class() || self.weights.is_some()).then(counted)
    }

    /// The ratio of unlabelled to labelled weight.
    fn outweighed(&self, unlabelled: f64) -> f64 {
        let (mut with, mut without) = (0.0, 0.0);
        for (i, code) in self.codes.iter().enumerate() {
            *(if *code == NO_CLASS { &mut without } else { &mut with }) += self.weight(i);
        }
        unlabelled * without / with
    }
}

impl Mixture {
    /// Learns classes from rows with and without a label.
    pub(super) fn classify(&self, examples: &Examples<'_>, run: &Run) -> Result<(MixtureModel, Report)> {
        let TargetView::Classes { classes, codes } = examples.target.view() else { return Err(Target::missing()) };
        let (features, weights) = (&examples.features, examples.weights);
        let rows = LabelledRows { features, codes, weights, classes: classes.count() };
        let components = rows.classes.saturating_mul(self.per_class);
        if self.per_class > 1 && components > codes.len() {
            let problem = format!("cannot be {} for {} classes and {} rows", self.per_class, rows.classes, codes.len());
            return Err(Error::setting("per_class", problem, "There must be a row for every component."));
        }
        // Families are chosen by the labelled rows.
        let shown: Vec<u32> = codes.iter().map(|&code| if code == NO_CLASS { 0 } else { code }).collect();
        let labelled = if rows.all_have_a_class() { weights.map(<[f64]>::to_vec) } else { rows.weights_with(0.0) };
        let (feature_map, of_matrix) = examples.feature_map();
        let data = LayoutData {
            feature_map: &feature_map,
            of_matrix,
            features,
            codes: &shown,
            classes: rows.classes,
            components,
            priors: None,
            weights: labelled.as_deref(),
        };
        let (product, is_too_hopeful) = self.blocks_of_classes(&data, run)?;
        let of_folds = if is_too_hopeful { FoldBlocks::Chosen(&data) } else { FoldBlocks::Same(&product) };
        let Chosen { unlabelled, held_out, remark } = self.choose_by_folds(&of_folds, &rows, run)?;
        let late = run.out_of_time();
        // There is no model without a first step.
        let options = if late { Options { steps: 1, ..self.em_options() } } else { self.em_options() };
        let fit = || self.fit_classes(product, &rows, unlabelled, options, run);
        let (state, mut trace) = if late { run.finish(fit)? } else { fit()? };
        if late {
            trace.stop = StopReason::Budget;
        }
        let (mut model, mut report) = self.finish(state, trace, examples, run)?;
        if let Some(held_out) = held_out {
            let calibrated = || held_out.calibration(&model.log_priors(), codes, weights, run);
            let (calibration, _) = run.finish(calibrated)?;
            report.fact("temperature", calibration.temperature);
            report.fact("contamination", calibration.contamination);
            model = model.calibrated(calibration);
        }
        report.remarks.extend(remark);
        report.remarks.extend(self.remarks_on_classes(&rows, unlabelled));
        Ok((model, report))
    }

    fn remarks_on_classes(&self, rows: &LabelledRows<'_>, unlabelled: f64) -> Vec<String> {
        let (mut remarks, outweighed) = (Vec::new(), rows.outweighed(unlabelled));
        if outweighed >= OUTWEIGHED_NOTE_FROM && self.unlabelled != Amount::Auto {
            remarks.push(format!(
                "rows without a class outweigh the others {outweighed:.0} to 1; where families do not fit well this can do harm: \
                 see whether a smaller unlabelled (0.1), or a larger per_class (2), is better"
            ));
        }
        if self.k != Count::Auto {
            remarks.push("k is not used where there are classes; per_class is the number of components of each".into());
        }
        remarks
    }

    /// Components of classes, where a row without a class counts `unlabelled` times; `product` has seen nothing yet.
    pub(super) fn fit_classes(
        &self,
        mut product: Product,
        rows: &LabelledRows<'_>,
        unlabelled: f64,
        options: Options,
        run: &Run,
    ) -> Result<(State, Trace)> {
        let LabelledRows { features, codes, weights, .. } = *rows;
        let known: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] != NO_CLASS).collect();
        let class_of: Vec<u32> = (0..product.components).map(|c| (c / self.per_class) as u32).collect();
        let all = rows.all_have_a_class();
        let counted = rows.weights_with(unlabelled);
        let settles_at_once = !all || self.per_class > 1;
        if settles_at_once {
            start::settle(&mut product, features, counted.as_deref(), run)?;
        }
        let (some, labels) = self.divided_classes(&product, rows, &known, run)?;
        let totals = start::by_labels(&mut product, features, &some, &labels, weights, run)?;
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
        let trace = if certain { Trace::none() } else { state.run_em(&data, options, run)? };
        Ok((state, trace))
    }

    /// Labelled rows, and their initial component: the only one of their class or, for some rows, one by k-means.
    fn divided_classes(
        &self,
        product: &Product,
        rows: &LabelledRows<'_>,
        known: &[usize],
        run: &Run,
    ) -> Result<(Vec<usize>, Vec<u32>)> {
        let LabelledRows { features, codes, weights, classes } = *rows;
        if self.per_class == 1 {
            return Ok((known.to_vec(), known.iter().map(|&i| codes[i]).collect()));
        }
        let (mut all, mut labels) = (Vec::new(), Vec::new());
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
