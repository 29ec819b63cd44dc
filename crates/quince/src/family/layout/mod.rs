//! The layout of a model: which block has which columns.

mod choose;
mod discriminant_axes;
mod families;
mod pca;
mod summary;

pub use choose::FamilyChoice;
pub(crate) use choose::equal_widths;
pub use families::Families;
pub(crate) use families::FamilyName;

use choose::{UnivariateFamily, Values, choose, equal_frequencies, step};

use crate::error::{Error, Result, did_you_mean};
use crate::family::block::{
    Bernoullis, Block, Categories, Coding, GaussianPlan, Gaussians, KernelDensities, MAX_CATEGORIES, MarkovChains,
    Multinomials, Normals, Place, Poissons, Shape, Shared, VarianceFloor, is_count,
};
use crate::learn::{Count, FeatureGroup, FeatureKind, FeatureMap};
use crate::matrix::{Features, Triangle, afford};
use crate::passes::partials;
use crate::run::Run;
use summary::{ColumnSummary, extremes, look};

/// The options by which blocks are laid out.
pub(crate) struct LayoutOptions<'a> {
    pub(crate) families: &'a Families,
    pub(crate) alpha: f64,
    /// The prior proportion of yes in yes/no columns.
    pub(crate) p: f64,
    pub(crate) threshold: f64,
    pub(crate) categories: usize,
    pub(crate) bins: Count,
    pub(crate) bandwidth: f64,
    pub(crate) variance_floor: VarianceFloor,
    pub(crate) gaussian: GaussianPlan,
    pub(crate) pca: usize,
    pub(crate) discriminant_axes: usize,
    /// How numbers without a given family are treated.
    pub(crate) open: Open,
}

/// How numbers without a given family are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// Each has the family with the largest leave-one-out likelihood, given the classes.
    Choose,
    /// Together they are one Gaussian; small counts are independently Poisson.
    Together,
}

/// Counts with a smaller mean are Poisson, where numbers are taken together.
const MAX_POISSON_MEAN: f64 = 10.0;

/// The rows to lay out blocks for.
pub(crate) struct LayoutData<'a> {
    pub(crate) feature_map: &'a FeatureMap,
    /// The columns have no kinds: all are numbers.
    pub(crate) of_matrix: bool,
    pub(crate) features: &'a Features<'a>,
    pub(crate) codes: &'a [u32],
    pub(crate) classes: usize,
    /// The number of components of blocks; in a classifier that of classes.
    pub(crate) components: usize,
    pub(crate) weights: Option<&'a [f64]>,
}

/// Columns with their family.
enum Group<'a> {
    Single(&'a FeatureGroup, FamilyName),
    Together(Vec<&'a FeatureGroup>, FamilyName),
}

impl Group<'_> {
    /// Whether the values must be summarised to lay out the block.
    fn needs_a_look(&self, open: Open) -> bool {
        match self {
            Group::Single(part, name) => {
                let without = match open {
                    Open::Choose => matches!(name, FamilyName::Auto | FamilyName::Normal | FamilyName::Bernoulli),
                    Open::Together => matches!(name, FamilyName::Normal | FamilyName::Bernoulli),
                };
                !part.kind.is_sparse() && !without
            }
            Group::Together(..) => true,
        }
    }
}

/// The blocks for all columns, and the families that were compared where one was chosen.
pub(crate) fn layout(
    data: &LayoutData<'_>,
    options: &LayoutOptions<'_>,
    run: &Run,
) -> Result<(Vec<Block>, Vec<FamilyChoice>)> {
    check_counts(options)?;
    let mut builder = Builder::new(data, options);
    let groups = groups(data, options.families)?;
    if groups.iter().any(|group| group.needs_a_look(options.open)) {
        builder.summaries = look(data.features, data.weights, run)?;
    }
    for group in groups {
        run.check()?;
        match group {
            Group::Single(part, name) => builder.single(part, name, run)?,
            Group::Together(parts, name) => builder.together(&parts, name, run)?,
        }
    }
    builder.finish(run)
}

/// Memory is needed for every bin and category, so their number is limited.
fn check_counts(options: &LayoutOptions<'_>) -> Result<()> {
    let bins = if let Count::Fixed(bins) = options.bins { bins } else { 0 };
    for (name, count) in [("bins", bins), ("categories", options.categories)] {
        if count > MAX_CATEGORIES {
            let remedy = format!("It takes at most {MAX_CATEGORIES}.");
            return Err(Error::setting(name, format!("cannot be {count}"), remedy));
        }
    }
    Ok(())
}

/// Every column once: first those that are named, then all others by the default family or by their kind.
fn groups<'a>(data: &LayoutData<'a>, families: &Families) -> Result<Vec<Group<'a>>> {
    let parts = &data.feature_map.groups;
    let (mut groups, mut taken) = (Vec::new(), vec![false; parts.len()]);
    for (columns, name) in &families.columns {
        let mut together = Vec::new();
        for column in columns {
            let place = parts.iter().position(|part| part.name == *column).ok_or_else(|| {
                let problem = format!("names '{column}', which is no column that is learnt from");
                Error::setting(
                    "family",
                    problem,
                    did_you_mean(column, "columns", parts.iter().map(|p| p.name.as_str())),
                )
            })?;
            if std::mem::replace(&mut taken[place], true) {
                return Err(Error::setting("family", format!("names '{column}' twice"), "Give a column one family."));
            }
            let part = &parts[place];
            if !can_be(&part.kind, *name) {
                let problem = format!("of '{column}' cannot be {name}: it is {}", part.kind.name());
                return Err(Error::setting("family", problem, format!("It can be {}.", possible(&part.kind))));
            }
            together.push(part);
        }
        match name {
            FamilyName::Gaussian(..) | FamilyName::Multinomial | FamilyName::MarkovChain
                if together.iter().all(|p| !p.kind.is_sparse()) =>
            {
                groups.push(Group::Together(together, *name));
            }
            _ => groups.extend(together.into_iter().map(|part| Group::Single(part, *name))),
        }
    }
    let rest = || parts.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(part, _)| part);
    let usual = families.usual;
    let fits = |part: &FeatureGroup| {
        usual != FamilyName::Auto && can_be(&part.kind, usual) && is_usual(&part.kind, usual, data.of_matrix)
    };
    let as_one = matches!(usual, FamilyName::Gaussian(..) | FamilyName::Multinomial | FamilyName::MarkovChain);
    let in_vain = !matches!(usual, FamilyName::Auto | FamilyName::Gaussian(..)) && !rest().any(fits);
    if let Some(part) = rest().find(|part| in_vain && !part.kind.is_sparse()) {
        let problem = format!("'{usual}' is of no use here: no column is of a kind that has it by itself");
        let remedy = format!("Name the columns, for example {}={usual}.", part.name);
        return Err(Error::setting("family", problem, remedy));
    }
    let joins = |part: &&FeatureGroup| as_one && fits(part) && !part.kind.is_sparse();
    let together: Vec<&FeatureGroup> = rest().filter(joins).collect();
    for part in rest().filter(|part| !joins(part)) {
        groups.push(Group::Single(part, if fits(part) { usual } else { FamilyName::Auto }));
    }
    if !together.is_empty() {
        groups.push(Group::Together(together, usual));
    }
    Ok(groups)
}

/// Whether a column of this kind can have a family at all.
fn can_be(kind: &FeatureKind, name: FamilyName) -> bool {
    match kind {
        FeatureKind::Words | FeatureKind::Vector => {
            matches!(name, FamilyName::Auto | FamilyName::Multinomial | FamilyName::Bernoulli)
        }
        FeatureKind::Category(_) => {
            matches!(name, FamilyName::Auto | FamilyName::Categorical | FamilyName::MarkovChain)
        }
        _ => true,
    }
}

/// Whether a default family applies to a column of this kind.
fn is_usual(kind: &FeatureKind, name: FamilyName, of_matrix: bool) -> bool {
    match kind {
        FeatureKind::YesNo => matches!(name, FamilyName::Bernoulli | FamilyName::MarkovChain | FamilyName::Categorical),
        FeatureKind::Number if !of_matrix => !matches!(
            name,
            FamilyName::Poisson
                | FamilyName::Bernoulli
                | FamilyName::MarkovChain
                | FamilyName::Categorical
                | FamilyName::Multinomial
        ),
        FeatureKind::Count if !of_matrix => {
            !matches!(name, FamilyName::Bernoulli | FamilyName::MarkovChain | FamilyName::Categorical)
        }
        _ => true,
    }
}

fn possible(kind: &FeatureKind) -> &'static str {
    match kind {
        FeatureKind::Words | FeatureKind::Vector => "multinomial or bernoulli",
        FeatureKind::Category(_) => "categorical or part of a chain",
        _ => "any family",
    }
}

impl FeatureKind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            FeatureKind::Number => "a number",
            FeatureKind::Count => "a count",
            FeatureKind::YesNo => "yes or no",
            FeatureKind::Category(_) => "a category",
            FeatureKind::Words => "a text",
            FeatureKind::Vector => "a vector",
        }
    }
}

/// Columns collected by family.
struct Builder<'a> {
    data: &'a LayoutData<'a>,
    options: &'a LayoutOptions<'a>,
    origin: Vec<f64>,
    summaries: Vec<ColumnSummary>,
    /// With the step to which values are rounded.
    normal: Vec<(usize, f64)>,
    poisson: Vec<usize>,
    bernoulli: Vec<usize>,
    categories: (Vec<usize>, Vec<Coding>),
    kernel_densities: (Vec<usize>, Vec<Vec<f64>>),
    /// Numbers whose family is to be chosen.
    open: Vec<&'a FeatureGroup>,
    others: Vec<Block>,
}

impl<'a> Builder<'a> {
    fn new(data: &'a LayoutData<'a>, options: &'a LayoutOptions<'a>) -> Builder<'a> {
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
        }
    }

    fn single(&mut self, part: &'a FeatureGroup, name: FamilyName, run: &Run) -> Result<()> {
        let column = || self.data.features.dense_column(part.first);
        match (name, &part.kind) {
            (FamilyName::Auto, FeatureKind::Words)
            | (FamilyName::Multinomial, FeatureKind::Words | FeatureKind::Vector) => self.words(part, run)?,
            (FamilyName::Auto, FeatureKind::Vector) => {
                let counted = self.check_sparse(part, run)?;
                if counted { self.words(part, run)? } else { self.sparse_answers(part)? }
            }
            (FamilyName::Bernoulli, FeatureKind::Words | FeatureKind::Vector) => self.sparse_answers(part)?,
            (FamilyName::Auto | FamilyName::Categorical | FamilyName::MarkovChain, FeatureKind::Category(names)) => {
                self.categories.0.push(part.first);
                self.categories.1.push(Coding::Codes(names.len()));
            }
            (FamilyName::Auto, FeatureKind::YesNo) | (FamilyName::Bernoulli, _) => self.bernoulli.push(part.first),
            (FamilyName::Auto, _) => self.open.push(part),
            (FamilyName::Normal, _) => self.normal.push((part.first, 0.0)),
            (FamilyName::Poisson, _) => {
                self.check(part, ColumnSummary::counts, is_count, "a count", "poisson")?;
                self.poisson.push(part.first);
            }
            (FamilyName::Categorical | FamilyName::MarkovChain, _) => {
                let count = self.codes(part)?;
                self.categories.0.push(part.first);
                let answers = part.kind == FeatureKind::YesNo;
                self.categories.1.push(if answers { Coding::Codes(count) } else { Coding::Numbers(count) });
            }
            (FamilyName::Histogram | FamilyName::Quantiles, _) => {
                let mut sorted: Vec<f64> = column().into_iter().filter(|x| !x.is_nan()).collect();
                sorted.sort_unstable_by(f64::total_cmp);
                let edges = if name == FamilyName::Histogram { equal_widths } else { equal_frequencies };
                let edges = edges(&sorted, self.bins(&sorted));
                // A constant column has one bin, and carries no information.
                let half = |x: f64| (1e-9 * x.abs()).max(0.5);
                let constant = || sorted.first().map_or(vec![0.0, 1.0], |&x| vec![x - half(x), x + half(x)]);
                self.categories.0.push(part.first);
                self.categories.1.push(Coding::Bins(if edges.len() < 2 { constant() } else { edges }));
            }
            (FamilyName::KernelDensity, _) => {
                let mut values: Vec<f64> = column().into_iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
                values.sort_unstable_by(f64::total_cmp);
                values.dedup();
                self.kernel_densities.0.push(part.first);
                self.kernel_densities.1.push(values);
            }
            (FamilyName::Gaussian(..) | FamilyName::Multinomial, _) => self.together(&[part], name, run)?,
        }
        Ok(())
    }

    /// The number of bins by default: 2 n^(1/3) for n rows (Rice's rule).
    fn bins(&self, sorted: &[f64]) -> usize {
        match self.options.bins {
            Count::Fixed(bins) => bins,
            Count::Auto => (2.0 * (sorted.len() as f64).cbrt()).ceil().max(1.0) as usize,
        }
    }

    fn together(&mut self, parts: &[&'a FeatureGroup], name: FamilyName, run: &Run) -> Result<()> {
        let columns: Vec<usize> = parts.iter().map(|part| part.first).collect();
        match name {
            FamilyName::MarkovChain => {
                let counts = parts.iter().map(|part| self.codes(part)).collect::<Result<_>>()?;
                self.others.push(Block::MarkovChain(MarkovChains::new(columns, counts, self.options.alpha)));
            }
            FamilyName::Multinomial => {
                for part in parts {
                    self.check(
                        part,
                        |look| look.known == 0 || look.least >= 0.0,
                        |x| x >= 0.0,
                        "a count",
                        "multinomial",
                    )?;
                }
                let missing = columns.iter().any(|&column| self.summaries[column].missing);
                let words = Multinomials::new(Place::Dense(columns), self.options.alpha);
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
            if look.varies() || self.options.variance_floor.absolute > 0.0 {
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
        let (of, origin) = ((&columns[..], &fill[..]), &self.origin[..]);
        let axes = match (self.options.pca, self.options.discriminant_axes) {
            (0, 0) => None,
            (0, count) => Some(discriminant_axes::axes(self.data, of, origin, count, run)?),
            (count, _) => Some(pca::axes(self.data, of, origin, count, run)?),
        };
        let rounding: Vec<f64> = columns.iter().map(|&column| self.rounding(column)).collect();
        let is_rounded = rounding.iter().any(|rounding| *rounding > 0.0);
        let origin = (&self.origin[..], fill);
        let block = Gaussians::new(columns, self.data.components, origin, axes, &plan);
        self.others.push(Block::Gaussian(if is_rounded { block.rounded(rounding) } else { block }));
        Ok(())
    }

    /// The variance of a table column's rounding error.
    fn rounding(&self, column: usize) -> f64 {
        if self.data.of_matrix || self.options.open == Open::Choose {
            return 0.0;
        }
        let step = step(&self.data.features.dense_column(column));
        step * step / 12.0
    }

    /// The number of categories that the codes of a column stand for.
    fn codes(&self, part: &FeatureGroup) -> Result<usize> {
        if let FeatureKind::Category(names) = &part.kind {
            return Ok(names.len());
        }
        let most = (MAX_CATEGORIES - 1) as f64;
        let few = |look: &ColumnSummary| look.counts() && look.most <= most;
        self.check(part, few, |x| is_count(x) && x <= most, "the number of a category", "categorical")?;
        Ok((self.summaries[part.first].most.max(0.0) as usize + 1).max(self.options.categories))
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

    fn words(&mut self, part: &FeatureGroup, run: &Run) -> Result<()> {
        self.check_sparse(part, run)?;
        let place = Place::Sparse { first: part.first, width: part.width };
        self.others.push(Block::Multinomial(Multinomials::new(place, self.options.alpha)));
        Ok(())
    }

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

    fn finish(mut self, run: &Run) -> Result<(Vec<Block>, Vec<FamilyChoice>)> {
        let mut open = std::mem::take(&mut self.open);
        let LayoutData { features, codes, classes, components, weights, .. } = *self.data;
        if self.options.open == Open::Together {
            let small = |part: &FeatureGroup| {
                part.kind == FeatureKind::Count && self.summaries[part.first].mean() < MAX_POISSON_MEAN
            };
            let (counts, numbers): (Vec<&FeatureGroup>, Vec<&FeatureGroup>) =
                open.drain(..).partition(|part| small(part));
            self.poisson.extend(counts.iter().map(|part| part.first));
            self.gaussian(&numbers, self.options.gaussian, run)?;
        }
        let mut found = Vec::new();
        for some in open.chunks(8) {
            found.extend(run.map(some.len(), |at| {
                let column = features.dense_column(some[at].first);
                if column.iter().any(|x| x.is_infinite()) {
                    return Err(features.infinite());
                }
                let counts = some[at].kind == FeatureKind::Count;
                choose(&some[at].name, &column, counts, (codes, classes), weights, self.options)
            }));
            run.check()?;
        }
        let mut chosen = Vec::new();
        for (part, found) in open.iter().zip(found) {
            let (single, choice) = found?;
            match single {
                UnivariateFamily::Normal(step) => self.normal.push((part.first, step)),
                UnivariateFamily::Poisson => self.poisson.push(part.first),
                UnivariateFamily::Bins(edges) => {
                    // Bins that were chosen by some rows must cover all rows.
                    let column = features.dense_column(part.first);
                    let all = Values::of(&column, codes, None, usize::MAX);
                    let (low, high) =
                        all.x.iter().fold((edges[0], edges[edges.len() - 1]), |(l, h), &x| (l.min(x), h.max(x)));
                    let mut edges = edges;
                    let last = edges.len() - 1;
                    (edges[0], edges[last]) = (low, high);
                    self.categories.0.push(part.first);
                    self.categories.1.push(Coding::Bins(edges));
                }
            }
            chosen.push(choice);
        }
        let LayoutOptions { alpha, variance_floor, threshold, p, bandwidth, .. } = *self.options;
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
        if !self.categories.0.is_empty() {
            blocks.push(Block::Categorical(Categories::new(self.categories.0, self.categories.1, alpha)));
        }
        if !self.kernel_densities.0.is_empty() {
            blocks.push(Block::KernelDensity(KernelDensities::new(
                self.kernel_densities.0,
                self.kernel_densities.1,
                bandwidth,
            )));
        }
        blocks.extend(self.others);
        // For each class, and for each part of the rows; then the parameters.
        let numbers: f64 = blocks.iter().map(|block| block.family().statistic_count() as f64).sum();
        let sets = (3 * components + partials(features.rows())) as f64;
        afford(8.0 * numbers * sets, "the statistics of these columns together")?;
        Ok((blocks, chosen))
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
    const FEW: usize = 64;
    let Some(dense) = features.dense_part() else { return Vec::new() };
    let count = features.rows().min(FEW);
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
