//! Blocks, collected column by column.

use super::bins::{equal_frequencies, equal_widths};
use super::choose::{UnivariateFamily, choose, step_of_column};
use super::moments::Numbers;
use super::summary::{ColumnSummary, extremes};
use super::{FamilyChoice, FamilyName, Layout, LayoutData, LayoutOptions, Open, discriminant_axes, pca};
use crate::error::{Error, Result};
use crate::family::block::{
    Bernoullis, Block, Categories, Coding, GaussianPlan, Gaussians, KernelDensities, MAX_CATEGORIES, MarkovChains,
    Multinomials, Normals, Place, Poissons, Shape, Shared, is_count,
};
use crate::learn::{Count, FeatureGroup, FeatureKind};
use crate::matrix::{Features, Triangle, afford};
use crate::passes::partials;
use crate::run::Run;

/// Counts with a smaller mean are Poisson, where numbers are taken together.
const MAX_POISSON_MEAN: f64 = 10.0;

/// Columns collected by family.
pub(super) struct Builder<'a> {
    data: &'a LayoutData<'a>,
    options: &'a LayoutOptions<'a>,
    origin: Vec<f64>,
    /// Of every dense column, if a family needs them.
    pub(super) summaries: Vec<ColumnSummary>,
    /// With the step to which values are rounded.
    normal: Vec<(usize, f64)>,
    poisson: Vec<usize>,
    bernoulli: Vec<usize>,
    categories: (Vec<usize>, Vec<Coding>),
    kernel_densities: (Vec<usize>, Vec<Vec<f64>>),
    /// Numbers whose family is to be chosen.
    open: Vec<&'a FeatureGroup>,
    others: Vec<Block>,
    is_of_rows: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(data: &'a LayoutData<'a>, options: &'a LayoutOptions<'a>) -> Builder<'a> {
        Builder {
            data,
            options,
            origin: origins(data.features),
            summaries: Vec::new(),
            normal: Vec::new(),
            poisson: Vec::new(),
            bernoulli: Vec::new(),
            categories: Default::default(),
            kernel_densities: Default::default(),
            open: Vec::new(),
            others: Vec::new(),
            is_of_rows: false,
        }
    }

    /// A column that has a family of its own.
    pub(super) fn single(&mut self, part: &'a FeatureGroup, name: FamilyName, run: &Run) -> Result<()> {
        match (name, &part.kind) {
            (FamilyName::Auto, FeatureKind::Words)
            | (FamilyName::Multinomial, FeatureKind::Words | FeatureKind::Vector) => self.words(part, run)?,
            (FamilyName::Auto, FeatureKind::Vector) => {
                let counted = self.check_sparse(part, run)?;
                if counted { self.words(part, run)? } else { self.sparse_answers(part)? }
            }
            (FamilyName::Bernoulli, FeatureKind::Words | FeatureKind::Vector) => self.sparse_answers(part)?,
            (FamilyName::Auto | FamilyName::Categorical | FamilyName::MarkovChain, FeatureKind::Category(names)) => {
                self.categorical(part, Coding::Codes(names.len()));
            }
            (FamilyName::Auto, FeatureKind::YesNo) | (FamilyName::Bernoulli, _) => self.bernoulli.push(part.first),
            (FamilyName::Auto, _) => self.open.push(part),
            (FamilyName::Normal, _) => self.normal.push((part.first, self.step(part.first))),
            (FamilyName::Poisson, _) => {
                self.check(part, ColumnSummary::counts, is_count, "a count", "poisson")?;
                self.poisson.push(part.first);
            }
            (FamilyName::Categorical | FamilyName::MarkovChain, _) => {
                let count = self.codes(part)?;
                let answers = part.kind == FeatureKind::YesNo;
                self.categorical(part, if answers { Coding::Codes(count) } else { Coding::Numbers(count) });
            }
            (FamilyName::Histogram, _) => self.binned(part, equal_widths),
            (FamilyName::Quantiles, _) => self.binned(part, equal_frequencies),
            (FamilyName::KernelDensity, _) => self.kernel_density(part),
            (FamilyName::Gaussian(..) | FamilyName::Multinomial, _) => self.together(&[part], name, run)?,
        }
        Ok(())
    }

    fn categorical(&mut self, part: &FeatureGroup, coding: Coding) {
        self.categories.0.push(part.first);
        self.categories.1.push(coding);
    }

    /// A histogram, with the edges of its bins by a rule.
    fn binned(&mut self, part: &FeatureGroup, edges: impl Fn(&[f64], usize) -> Vec<f64>) {
        self.is_of_rows = true;
        let column = self.data.features.dense_column(part.first);
        let mut sorted: Vec<f64> = column.into_iter().filter(|x| !x.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let edges = edges(&sorted, self.bins(&sorted));
        // A constant column has one bin, and carries no information.
        let half = |x: f64| (1e-9 * x.abs()).max(0.5);
        let constant = || sorted.first().map_or(vec![0.0, 1.0], |&x| vec![x - half(x), x + half(x)]);
        self.categorical(part, Coding::Bins(if edges.len() < 2 { constant() } else { edges }));
    }

    /// The number of bins by default: 2 n^(1/3) for n rows (Rice's rule).
    fn bins(&self, sorted: &[f64]) -> usize {
        match self.options.bins {
            Count::Fixed(bins) => bins,
            Count::Auto => (2.0 * (sorted.len() as f64).cbrt()).ceil().max(1.0) as usize,
        }
    }

    fn kernel_density(&mut self, part: &FeatureGroup) {
        self.is_of_rows |= self.options.bandwidth == 0.0;
        let column = self.data.features.dense_column(part.first);
        let mut values: Vec<f64> = column.into_iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        self.kernel_densities.0.push(part.first);
        self.kernel_densities.1.push(values);
    }

    /// Columns that are one block.
    pub(super) fn together(&mut self, parts: &[&'a FeatureGroup], name: FamilyName, run: &Run) -> Result<()> {
        let columns: Vec<usize> = parts.iter().map(|part| part.first).collect();
        match name {
            FamilyName::MarkovChain => {
                let mut counts = Vec::new();
                for part in parts {
                    counts.push(self.codes(part)?);
                }
                self.others.push(Block::MarkovChain(MarkovChains::new(columns, counts, self.options.alpha)));
            }
            FamilyName::Multinomial => {
                for part in parts {
                    let fine = |look: &ColumnSummary| look.known == 0 || look.least >= 0.0;
                    self.check(part, fine, |x| x >= 0.0, "a count", "multinomial")?;
                }
                let missing = columns.iter().any(|&column| self.summaries[column].missing);
                let words = Multinomials::new(Place::Dense(columns), self.options.alpha_of_words);
                self.others.push(Block::Multinomial(if missing { words.with_missing() } else { words }));
            }
            _ => {
                let (shape, shared) = match name {
                    FamilyName::Gaussian(shape, shared) => (shape, shared),
                    _ => (Shape::Full, Shared::No),
                };
                self.gaussian(parts, GaussianPlan { shape, shared, ..self.options.gaussian }, run)?;
            }
        }
        Ok(())
    }

    fn gaussian(&mut self, parts: &[&'a FeatureGroup], plan: GaussianPlan, run: &Run) -> Result<()> {
        let (mut columns, mut fill) = (Vec::new(), Vec::new());
        for part in parts {
            let look = self.summaries[part.first];
            // A constant column carries no information, and would make the covariance singular.
            if look.varies() || self.options.variance_floor.absolute > 0.0 || plan.pseudo_inverse {
                columns.push(part.first);
                fill.push(look.mean());
            }
        }
        if columns.is_empty() {
            return Ok(());
        }
        if plan.shape == Shape::Full || self.options.pca + self.options.discriminant_axes > 0 {
            Triangle::afford(columns.len())?;
        }
        let numbers = Numbers { columns: &columns, fill: &fill, origin: &self.origin };
        self.is_of_rows |= self.options.pca + self.options.discriminant_axes > 0;
        let axes = match (self.options.pca, self.options.discriminant_axes) {
            (0, 0) => None,
            (0, count) => Some(discriminant_axes::axes(self.data, &numbers, (count, self.options.tolerance), run)?),
            (count, _) => Some(pca::axes(self.data, &numbers, count, run)?),
        };
        let rounding: Vec<f64> = columns.iter().map(|&column| self.rounding(column)).collect();
        let is_rounded = rounding.iter().any(|rounding| *rounding > 0.0);
        let origin = (&self.origin[..], fill);
        let block = Gaussians::new(columns, self.data.components, origin, axes, &plan);
        let block = match self.data.priors {
            Some(priors) if plan.shared == Shared::Weighted => block.weighted(priors.to_vec()),
            _ => block,
        };
        self.others.push(Block::Gaussian(if is_rounded { block.rounded(rounding) } else { block }));
        Ok(())
    }

    /// The step to which a column is rounded, where its rounding error counts: in a mixture, of which a component would otherwise
    /// collapse to a value that many rows share. Whoever asks for a matrix without a fraction of variances as their floor wants its
    /// variances as they are.
    fn step(&self, column: usize) -> f64 {
        let is_plain = self.data.of_matrix && self.options.variance_floor.relative == 0.0;
        let is_mixture = self.options.open == Open::Together || self.data.components > self.data.classes;
        if is_mixture && !is_plain { step_of_column(&self.data.features.dense_column(column)) } else { 0.0 }
    }

    /// The variance of a column's rounding error.
    fn rounding(&self, column: usize) -> f64 {
        self.step(column).powi(2) / 12.0
    }

    /// The number of categories that the codes of a column stand for.
    fn codes(&mut self, part: &FeatureGroup) -> Result<usize> {
        if let FeatureKind::Category(names) = &part.kind {
            return Ok(names.len());
        }
        let most = (MAX_CATEGORIES - 1) as f64;
        let few = |look: &ColumnSummary| look.counts() && look.most <= most;
        self.check(part, few, |x| is_count(x) && x <= most, "the number of a category", "categorical")?;
        let seen = self.summaries[part.first].most.max(0.0) as usize + 1;
        self.is_of_rows |= seen > self.options.categories;
        Ok(seen.max(self.options.categories))
    }

    /// An error at the first value that the family cannot have, if the summary says that there is one.
    fn check(
        &self,
        part: &FeatureGroup,
        fine: impl Fn(&ColumnSummary) -> bool,
        value: impl Fn(f64) -> bool,
        what: &str,
        family: &str,
    ) -> Result<()> {
        if fine(&self.summaries[part.first]) {
            return Ok(());
        }
        check_values(part, &self.data.features.dense_column(part.first), value, what, family)
    }

    /// Sparse counts of words.
    fn words(&mut self, part: &FeatureGroup, run: &Run) -> Result<()> {
        self.check_sparse(part, run)?;
        let place = Place::Sparse { first: part.first, width: part.width };
        self.others.push(Block::Multinomial(Multinomials::new(place, self.options.alpha_of_words)));
        Ok(())
    }

    /// Sparse yes and no.
    fn sparse_answers(&mut self, part: &FeatureGroup) -> Result<()> {
        if self.options.threshold < 0.0 {
            let problem = format!("cannot be {} for '{}', which is sparse", self.options.threshold, part.name);
            return Err(Error::setting("threshold", problem, "What is not there is 0, and a no: take at least 0."));
        }
        let place = Place::Sparse { first: part.first, width: part.width };
        let prior = (2.0 * self.options.alpha, self.options.p);
        self.others.push(Block::Bernoulli(Bernoullis::new(place, self.options.threshold, prior)));
        Ok(())
    }

    /// Whether sparse values are counts of which some are more than one; negative values are refused.
    fn check_sparse(&self, part: &FeatureGroup, run: &Run) -> Result<bool> {
        let Some(sparse) = self.data.features.sparse_part() else { return Ok(true) };
        let (from, to) = (part.first, part.first + part.width);
        if part.width == sparse.columns() {
            let (least, most) = extremes(sparse.values(), run);
            if least >= 0.0 {
                return Ok(most > 1.0);
            }
        }
        let mut larger = false;
        for i in 0..sparse.rows() {
            for (j, x) in sparse.entries(i).filter(|(j, _)| (from..to).contains(j)) {
                larger |= x > 1.0;
                if x < 0.0 {
                    let problem = format!("{x} in row {}, place {} of '{}' is not a count", i + 1, j - from, part.name);
                    let remedy = format!("Give '{}' the family bernoulli, or leave it out.", part.name);
                    return Err(Error::data(problem, remedy));
                }
            }
        }
        Ok(larger)
    }

    /// All blocks, and what was chosen.
    pub(super) fn finish(mut self, run: &Run) -> Result<Layout> {
        let open = std::mem::take(&mut self.open);
        let choices = match self.options.open {
            Open::Choose => self.choose_families(&open, run)?,
            Open::Together => {
                self.take_together(open, run)?;
                Vec::new()
            }
        };
        let LayoutOptions { alpha, alpha_of_words, .. } = *self.options;
        // Rates are smoothed towards that of all rows; and what no row has is left out where nothing is smoothed.
        let is_smoothed = alpha > 0.0 && alpha_of_words > 0.0;
        let is_normal =
            |block: &Block| matches!(block, Block::Normal(_) | Block::Gaussian(_) | Block::KernelDensity(_));
        let depends = |block: &Block| match block {
            Block::Poisson(_) => alpha > 0.0,
            other => !is_smoothed && !is_normal(other),
        };
        let is_of_rows = self.is_of_rows || !choices.is_empty();
        let blocks = self.blocks()?;
        let is_of_rows = is_of_rows || blocks.iter().any(depends);
        Ok(Layout { blocks, choices, is_of_rows })
    }

    /// One Gaussian of all numbers; small counts are Poisson.
    fn take_together(&mut self, open: Vec<&'a FeatureGroup>, run: &Run) -> Result<()> {
        let is_small = |part: &&FeatureGroup| {
            part.kind == FeatureKind::Count && self.summaries[part.first].mean() < MAX_POISSON_MEAN
        };
        let (counts, numbers): (Vec<&FeatureGroup>, Vec<&FeatureGroup>) = open.into_iter().partition(is_small);
        self.poisson.extend(counts.iter().map(|part| part.first));
        self.gaussian(&numbers, self.options.gaussian, run)
    }

    /// The best family for each column.
    fn choose_families(&mut self, open: &[&'a FeatureGroup], run: &Run) -> Result<Vec<FamilyChoice>> {
        let LayoutData { features, codes, classes, weights, .. } = *self.data;
        let mut found = Vec::new();
        for some in open.chunks(8) {
            found.extend(run.map(some.len(), |at| {
                let column = features.dense_column(some[at].first);
                if column.iter().any(|x| x.is_infinite()) {
                    return Err(features.infinite());
                }
                // The columns of a matrix have no kinds: those that hold counts are known by their values.
                let counts = some[at].kind == FeatureKind::Count || self.data.of_matrix;
                choose(&some[at].name, &column, counts, (codes, classes), weights, self.options)
            }));
            run.check()?;
        }
        let mut choices = Vec::new();
        for (part, found) in open.iter().zip(found) {
            let (family, choice) = found?;
            match family {
                UnivariateFamily::Normal(step) => self.normal.push((part.first, step)),
                UnivariateFamily::Poisson => self.poisson.push(part.first),
                UnivariateFamily::Bins(mut edges) => {
                    // Bins that were chosen by some rows must cover all rows.
                    let column = features.dense_column(part.first);
                    let (first, last) = (0, edges.len() - 1);
                    for x in column.into_iter().filter(|x| !x.is_nan()) {
                        (edges[first], edges[last]) = (edges[first].min(x), edges[last].max(x));
                    }
                    self.categorical(part, Coding::Bins(edges));
                }
            }
            choices.push(choice);
        }
        Ok(choices)
    }

    /// The collected columns as blocks, as far as there is memory for their statistics.
    fn blocks(self) -> Result<Vec<Block>> {
        let LayoutOptions { alpha, variance_floor, threshold, p, bandwidth, .. } = *self.options;
        let LayoutData { features, components, .. } = *self.data;
        let mut blocks = Vec::new();
        if !self.normal.is_empty() {
            let (columns, steps) = self.normal.into_iter().unzip();
            blocks.push(Block::Normal(Normals::new(columns, components, &self.origin, variance_floor, steps)));
        }
        if !self.poisson.is_empty() {
            blocks.push(Block::Poisson(Poissons::new(self.poisson, alpha)));
        }
        if !self.bernoulli.is_empty() {
            let place = Place::Dense(self.bernoulli);
            blocks.push(Block::Bernoulli(Bernoullis::new(place, threshold, (2.0 * alpha, p))));
        }
        let (columns, coding) = self.categories;
        if !columns.is_empty() {
            blocks.push(Block::Categorical(Categories::new(columns, coding, alpha)));
        }
        let (columns, values) = self.kernel_densities;
        if !columns.is_empty() {
            blocks.push(Block::KernelDensity(KernelDensities::new(columns, values, bandwidth)));
        }
        blocks.extend(self.others);
        // For each class, and for each part of the rows; then the parameters.
        let numbers: f64 = blocks.iter().map(|block| block.family().statistic_count() as f64).sum();
        let sets = (3 * components + partials(features.rows())) as f64;
        afford(8.0 * numbers * sets, "the statistics of these columns together")?;
        Ok(blocks)
    }
}

/// An error at the first value that the family cannot have.
fn check_values(
    part: &FeatureGroup,
    column: &[f64],
    fine: impl Fn(f64) -> bool,
    what: &str,
    family: &str,
) -> Result<()> {
    match column.iter().position(|&x| !x.is_nan() && !fine(x)) {
        None => Ok(()),
        Some(i) => Err(Error::data(
            format!("{} in row {}, column '{}' is not {what}", column[i], i + 1, part.name),
            format!("Give '{}' another family than {family}.", part.name),
        )),
    }
}

/// A point near the means of the dense columns without missing values: the mean of a few rows taken evenly.
fn origins(features: &Features<'_>) -> Vec<f64> {
    const ROWS_FOR_ORIGIN: usize = 64;
    let Some(dense) = features.dense_part() else { return Vec::new() };
    let count = features.rows().min(ROWS_FOR_ORIGIN);
    let one = |j: usize| {
        let some = (0..count).map(|r| dense.get(features.rows() * r / count, j)).filter(|x| x.is_finite());
        let some: Vec<f64> = some.collect();
        match some.first() {
            // For a column that is the same in all of them exactly that value, so that a constant column leaves zeros.
            Some(first) if some.iter().all(|x| x == first) => *first,
            Some(_) => some.iter().map(|x| x / some.len() as f64).sum(),
            None => 0.0,
        }
    };
    (0..dense.columns()).map(one).collect()
}
