//! Which block speaks for which columns.

mod choose;
mod families;
mod look;
mod pca;

pub use choose::Choice;
pub(crate) use choose::equal_widths;
pub use families::Families;
pub(crate) use families::Name;

use choose::{Single, Values, choose, equal_shares, step};

use crate::encode::{Part, Scheme, What};
use crate::error::{Error, Result, did_you_mean};
use crate::family::block::{
    Bernoullis, Block, Categories, Chain, Coding, GaussianPlan, Gaussians, Least, MOST_CATEGORIES, Normals, Place,
    Poissons, Shape, Shared, Windows, Words, is_count,
};
use crate::learn::Count;
use crate::matrix::{Features, Triangle, afford, partials};
use crate::run::Run;
use look::{Look, extremes, look};

/// All that is to be known to lay out blocks.
pub(crate) struct Choices<'a> {
    pub(crate) families: &'a Families,
    pub(crate) alpha: f64,
    /// The share of yes that yes/no columns are drawn to.
    pub(crate) p: f64,
    pub(crate) threshold: f64,
    pub(crate) categories: usize,
    pub(crate) bins: Count,
    pub(crate) bandwidth: f64,
    pub(crate) least: Least,
    pub(crate) gaussian: GaussianPlan,
    pub(crate) pca: usize,
    /// What becomes of numbers whose family nobody gives.
    pub(crate) open: Open,
}

/// What becomes of numbers whose family nobody gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// Each has the family under which rows left out are likeliest, given their class.
    Choose,
    /// Together they are one Gaussian; counts that are small are Poisson, each for itself.
    Together,
}

/// Counts with a smaller mean are Poisson, where numbers are taken together.
const SMALL: f64 = 10.0;

/// Rows to lay out blocks for.
pub(crate) struct Data<'a> {
    pub(crate) scheme: &'a Scheme,
    /// The columns have no kinds: all are numbers.
    pub(crate) of_matrix: bool,
    pub(crate) features: &'a Features<'a>,
    pub(crate) codes: &'a [u32],
    pub(crate) classes: usize,
    /// How many components blocks have; in a classifier as many as classes.
    pub(crate) components: usize,
    pub(crate) weights: Option<&'a [f64]>,
}

/// Columns that a family has been found for.
enum Group<'a> {
    Single(&'a Part, Name),
    Together(Vec<&'a Part>, Name),
}

impl Group<'_> {
    /// Whether the values must be known to lay out the block.
    fn needs_a_look(&self, open: Open) -> bool {
        match self {
            Group::Single(part, name) => {
                let without = match open {
                    Open::Choose => matches!(name, Name::Auto | Name::Normal | Name::Bernoulli),
                    Open::Together => matches!(name, Name::Normal | Name::Bernoulli),
                };
                !part.what.is_sparse() && !without
            }
            Group::Together(..) => true,
        }
    }
}

/// The blocks for all columns, and what was found where a family was chosen.
pub(crate) fn layout(data: &Data<'_>, choices: &Choices<'_>, run: &Run) -> Result<(Vec<Block>, Vec<Choice>)> {
    check_counts(choices)?;
    let mut builder = Builder::new(data, choices);
    let groups = groups(data, choices.families)?;
    if groups.iter().any(|group| group.needs_a_look(choices.open)) {
        builder.looks = look(data.features, data.weights, run);
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

/// Room is made for every bin and category: there cannot be any number.
fn check_counts(choices: &Choices<'_>) -> Result<()> {
    let bins = if let Count::Fixed(bins) = choices.bins { bins } else { 0 };
    for (name, count) in [("bins", bins), ("categories", choices.categories)] {
        if count > MOST_CATEGORIES {
            let remedy = format!("It takes at most {MOST_CATEGORIES}.");
            return Err(Error::setting(name, format!("cannot be {count}"), remedy));
        }
    }
    Ok(())
}

/// Every column once: those that are named first, then all others by the usual family or by their kind.
fn groups<'a>(data: &Data<'a>, families: &Families) -> Result<Vec<Group<'a>>> {
    let parts = &data.scheme.parts;
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
            if !can_be(&part.what, *name) {
                let problem = format!("of '{column}' cannot be {name}: it is {}", part.what.name());
                return Err(Error::setting("family", problem, format!("It can be {}.", possible(&part.what))));
            }
            together.push(part);
        }
        match name {
            Name::Gaussian(..) | Name::Multinomial | Name::Chain if together.iter().all(|p| !p.what.is_sparse()) => {
                groups.push(Group::Together(together, *name));
            }
            _ => groups.extend(together.into_iter().map(|part| Group::Single(part, *name))),
        }
    }
    let rest = || parts.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(part, _)| part);
    let usual = families.usual;
    let fits =
        |part: &Part| usual != Name::Auto && can_be(&part.what, usual) && is_usual(&part.what, usual, data.of_matrix);
    let as_one = matches!(usual, Name::Gaussian(..) | Name::Multinomial | Name::Chain);
    let in_vain = !matches!(usual, Name::Auto | Name::Gaussian(..)) && !rest().any(fits);
    if let Some(part) = rest().find(|part| in_vain && !part.what.is_sparse()) {
        let problem = format!("'{usual}' is of no use here: no column is of a kind that has it by itself");
        let remedy = format!("Name the columns, for example {}={usual}.", part.name);
        return Err(Error::setting("family", problem, remedy));
    }
    let joins = |part: &&Part| as_one && fits(part) && !part.what.is_sparse();
    let together: Vec<&Part> = rest().filter(joins).collect();
    for part in rest().filter(|part| !joins(part)) {
        groups.push(Group::Single(part, if fits(part) { usual } else { Name::Auto }));
    }
    if !together.is_empty() {
        groups.push(Group::Together(together, usual));
    }
    Ok(groups)
}

/// Whether a column of this kind can have a family at all.
fn can_be(what: &What, name: Name) -> bool {
    match what {
        What::Words | What::Vector => matches!(name, Name::Auto | Name::Multinomial | Name::Bernoulli),
        What::Category(_) => matches!(name, Name::Auto | Name::Categorical | Name::Chain),
        _ => true,
    }
}

/// Whether a family that is meant for all columns is meant for one of this kind too.
fn is_usual(what: &What, name: Name, of_matrix: bool) -> bool {
    match what {
        What::YesNo => matches!(name, Name::Bernoulli | Name::Chain | Name::Categorical),
        What::Number if !of_matrix => {
            !matches!(name, Name::Poisson | Name::Bernoulli | Name::Chain | Name::Categorical | Name::Multinomial)
        }
        What::Count if !of_matrix => !matches!(name, Name::Bernoulli | Name::Chain | Name::Categorical),
        _ => true,
    }
}

fn possible(what: &What) -> &'static str {
    match what {
        What::Words | What::Vector => "multinomial or bernoulli",
        What::Category(_) => "categorical or part of a chain",
        _ => "any family",
    }
}

impl What {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            What::Number => "a number",
            What::Count => "a count",
            What::YesNo => "yes or no",
            What::Category(_) => "a category",
            What::Words => "a text",
            What::Vector => "a vector",
        }
    }
}

/// Columns gathered by family.
struct Builder<'a> {
    data: &'a Data<'a>,
    choices: &'a Choices<'a>,
    origin: Vec<f64>,
    looks: Vec<Look>,
    /// With the step to which values are rounded.
    normal: Vec<(usize, f64)>,
    poisson: Vec<usize>,
    bernoulli: Vec<usize>,
    categories: (Vec<usize>, Vec<Coding>),
    windows: (Vec<usize>, Vec<Vec<f64>>),
    /// Numbers whose family is to be chosen.
    open: Vec<&'a Part>,
    others: Vec<Block>,
}

impl<'a> Builder<'a> {
    fn new(data: &'a Data<'a>, choices: &'a Choices<'a>) -> Builder<'a> {
        Builder {
            data,
            choices,
            origin: origins(data.features),
            looks: Vec::new(),
            normal: Vec::new(),
            poisson: Vec::new(),
            bernoulli: Vec::new(),
            categories: Default::default(),
            windows: Default::default(),
            open: Vec::new(),
            others: Vec::new(),
        }
    }

    fn single(&mut self, part: &'a Part, name: Name, run: &Run) -> Result<()> {
        let column = || self.data.features.dense_column(part.first);
        match (name, &part.what) {
            (Name::Auto, What::Words) | (Name::Multinomial, What::Words | What::Vector) => self.words(part, run)?,
            (Name::Auto, What::Vector) => {
                let counted = self.check_sparse(part, run)?;
                if counted { self.words(part, run)? } else { self.sparse_answers(part)? }
            }
            (Name::Bernoulli, What::Words | What::Vector) => self.sparse_answers(part)?,
            (Name::Auto | Name::Categorical | Name::Chain, What::Category(names)) => {
                self.categories.0.push(part.first);
                self.categories.1.push(Coding::Codes(names.len()));
            }
            (Name::Auto, What::YesNo) | (Name::Bernoulli, _) => self.bernoulli.push(part.first),
            (Name::Auto, _) => self.open.push(part),
            (Name::Normal, _) => self.normal.push((part.first, 0.0)),
            (Name::Poisson, _) => {
                self.check(part, Look::counts, is_count, "a count", "poisson")?;
                self.poisson.push(part.first);
            }
            (Name::Categorical | Name::Chain, _) => {
                let count = self.codes(part)?;
                self.categories.0.push(part.first);
                let answers = part.what == What::YesNo;
                self.categories.1.push(if answers { Coding::Codes(count) } else { Coding::Numbers(count) });
            }
            (Name::Histogram | Name::Quantiles, _) => {
                let mut sorted: Vec<f64> = column().into_iter().filter(|x| !x.is_nan()).collect();
                sorted.sort_unstable_by(f64::total_cmp);
                let edges = if name == Name::Histogram { equal_widths } else { equal_shares };
                let edges = edges(&sorted, self.bins(&sorted));
                // A column that is constant has one bin, and says nothing.
                let half = |x: f64| (1e-9 * x.abs()).max(0.5);
                let constant = || sorted.first().map_or(vec![0.0, 1.0], |&x| vec![x - half(x), x + half(x)]);
                self.categories.0.push(part.first);
                self.categories.1.push(Coding::Bins(if edges.len() < 2 { constant() } else { edges }));
            }
            (Name::Window, _) => {
                let mut values: Vec<f64> = column().into_iter().filter(|x| !x.is_nan()).map(|x| x + 0.0).collect();
                values.sort_unstable_by(f64::total_cmp);
                values.dedup();
                self.windows.0.push(part.first);
                self.windows.1.push(values);
            }
            (Name::Gaussian(..) | Name::Multinomial, _) => self.together(&[part], name, run)?,
        }
        Ok(())
    }

    /// How many bins, if nobody says: as many as n rows can fill, 2 n^(1/3) (Rice's rule).
    fn bins(&self, sorted: &[f64]) -> usize {
        match self.choices.bins {
            Count::Fixed(bins) => bins,
            Count::Auto => (2.0 * (sorted.len() as f64).cbrt()).ceil().max(1.0) as usize,
        }
    }

    fn together(&mut self, parts: &[&'a Part], name: Name, run: &Run) -> Result<()> {
        let columns: Vec<usize> = parts.iter().map(|part| part.first).collect();
        match name {
            Name::Chain => {
                let counts = parts.iter().map(|part| self.codes(part)).collect::<Result<_>>()?;
                self.others.push(Block::Chain(Chain::new(columns, counts, self.choices.alpha)));
            }
            Name::Multinomial => {
                for part in parts {
                    self.check(
                        part,
                        |look| look.known == 0 || look.least >= 0.0,
                        |x| x >= 0.0,
                        "a count",
                        "multinomial",
                    )?;
                }
                let holes = columns.iter().any(|&column| self.looks[column].holes);
                let words = Words::new(Place::Dense(columns), self.choices.alpha);
                self.others.push(Block::Multinomial(if holes { words.with_holes() } else { words }));
            }
            _ => {
                let (shape, shared) = match name {
                    Name::Gaussian(shape, shared) => (shape, shared),
                    _ => (Shape::Full, Shared::No),
                };
                self.gaussian(parts, GaussianPlan { shape, shared, ..self.choices.gaussian }, run)?;
            }
        }
        Ok(())
    }

    fn gaussian(&mut self, parts: &[&'a Part], plan: GaussianPlan, run: &Run) -> Result<()> {
        let (mut columns, mut fill) = (Vec::new(), Vec::new());
        for part in parts {
            let look = self.looks[part.first];
            // A column that is constant says nothing, and would make the covariance singular.
            if look.varies() || self.choices.least.added > 0.0 {
                columns.push(part.first);
                fill.push(look.mean());
            }
        }
        if columns.is_empty() {
            return Ok(());
        }
        if plan.shape == Shape::Full || self.choices.pca > 0 {
            Triangle::afford(columns.len())?;
        }
        let axes = match self.choices.pca {
            0 => None,
            pca => Some(pca::axes(self.data, (&columns, &fill), &self.origin, pca, run)?),
        };
        let rounding: Vec<f64> = columns.iter().map(|&column| self.rounding(column)).collect();
        let is_rounded = rounding.iter().any(|rounding| *rounding > 0.0);
        let origin = (&self.origin[..], fill);
        let block = Gaussians::new(columns, self.data.components, origin, axes, &plan);
        self.others.push(Block::Gaussian(if is_rounded { block.rounded(rounding) } else { block }));
        Ok(())
    }

    /// By what a column of a table varies for being rounded alone.
    fn rounding(&self, column: usize) -> f64 {
        if self.data.of_matrix || self.choices.open == Open::Choose {
            return 0.0;
        }
        let step = step(&self.data.features.dense_column(column));
        step * step / 12.0
    }

    /// How many categories the codes of a column stand for.
    fn codes(&self, part: &Part) -> Result<usize> {
        if let What::Category(names) = &part.what {
            return Ok(names.len());
        }
        let most = (MOST_CATEGORIES - 1) as f64;
        let few = |look: &Look| look.counts() && look.most <= most;
        self.check(part, few, |x| is_count(x) && x <= most, "the number of a category", "categorical")?;
        Ok((self.looks[part.first].most.max(0.0) as usize + 1).max(self.choices.categories))
    }

    /// An error at the first value that the family cannot have, if a look says that there is one.
    fn check(
        &self,
        part: &Part,
        fine: impl Fn(&Look) -> bool,
        value: impl Fn(f64) -> bool,
        what: &str,
        family: &str,
    ) -> Result<()> {
        if fine(&self.looks[part.first]) {
            return Ok(());
        }
        check_values(part, &self.data.features.dense_column(part.first), value, what, family)
    }

    fn words(&mut self, part: &Part, run: &Run) -> Result<()> {
        self.check_sparse(part, run)?;
        let place = Place::Sparse { first: part.first, width: part.width };
        self.others.push(Block::Multinomial(Words::new(place, self.choices.alpha)));
        Ok(())
    }

    fn sparse_answers(&mut self, part: &Part) -> Result<()> {
        if self.choices.threshold < 0.0 {
            let problem = format!("cannot be {} for '{}', which is sparse", self.choices.threshold, part.name);
            return Err(Error::setting("threshold", problem, "What is not there is 0, and a no: take at least 0."));
        }
        let place = Place::Sparse { first: part.first, width: part.width };
        let prior = (2.0 * self.choices.alpha, self.choices.p);
        self.others.push(Block::Bernoulli(Bernoullis::new(place, self.choices.threshold, prior)));
        Ok(())
    }

    /// Whether sparse values are counts of which some are more than one; below zero they are none.
    fn check_sparse(&self, part: &Part, run: &Run) -> Result<bool> {
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

    fn finish(mut self, run: &Run) -> Result<(Vec<Block>, Vec<Choice>)> {
        let mut open = std::mem::take(&mut self.open);
        let Data { features, codes, classes, components, weights, .. } = *self.data;
        if self.choices.open == Open::Together {
            let small = |part: &Part| part.what == What::Count && self.looks[part.first].mean() < SMALL;
            let (counts, numbers): (Vec<&Part>, Vec<&Part>) = open.drain(..).partition(|part| small(part));
            self.poisson.extend(counts.iter().map(|part| part.first));
            self.gaussian(&numbers, self.choices.gaussian, run)?;
        }
        let mut found = Vec::new();
        for some in open.chunks(8) {
            found.extend(run.map(some.len(), |at| {
                let column = features.dense_column(some[at].first);
                if column.iter().any(|x| x.is_infinite()) {
                    return Err(features.infinite());
                }
                let counts = some[at].what == What::Count;
                choose(&some[at].name, &column, counts, (codes, classes), weights, self.choices)
            }));
            run.check()?;
        }
        let mut chosen = Vec::new();
        for (part, found) in open.iter().zip(found) {
            let (single, choice) = found?;
            match single {
                Single::Normal(step) => self.normal.push((part.first, step)),
                Single::Poisson => self.poisson.push(part.first),
                Single::Bins(edges) => {
                    // What was chosen by some rows must have room for all.
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
        let Choices { alpha, least, threshold, p, bandwidth, .. } = *self.choices;
        let mut blocks = Vec::new();
        if !self.normal.is_empty() {
            let (columns, steps) = self.normal.into_iter().unzip();
            blocks.push(Block::Normal(Normals::new(columns, components, &self.origin, least, steps)));
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
        if !self.windows.0.is_empty() {
            blocks.push(Block::Window(Windows::new(self.windows.0, self.windows.1, bandwidth)));
        }
        blocks.extend(self.others);
        // Of each class, and of each part of the rows; then what follows from them.
        let numbers: f64 = blocks.iter().map(|block| block.family().sums() as f64).sum();
        let sets = (3 * components + partials(features.rows())) as f64;
        afford(8.0 * numbers * sets, "what is learnt of these columns together")?;
        Ok((blocks, chosen))
    }
}

/// An error at the first value that the family cannot have.
fn check_values(part: &Part, column: &[f64], fine: impl Fn(f64) -> bool, what: &str, family: &str) -> Result<()> {
    match column.iter().position(|&x| !x.is_nan() && !fine(x)) {
        None => Ok(()),
        Some(i) => Err(Error::data(
            format!("{} in row {}, column '{}' is not {what}", column[i], i + 1, part.name),
            format!("Give '{}' another family than {family}.", part.name),
        )),
    }
}

/// A point near the means of the dense columns, holes left out: the mean of a few rows from all over.
fn origins(features: &Features<'_>) -> Vec<f64> {
    const FEW: usize = 64;
    let Some(dense) = features.dense_part() else { return Vec::new() };
    let count = features.rows().min(FEW);
    let one = |j: usize| {
        let some = (0..count).map(|r| dense.get(features.rows() * r / count, j)).filter(|x| x.is_finite());
        let some: Vec<f64> = some.collect();
        match some.first() {
            // Of a column that is the same in all of them just that value, so that a constant column leaves zeros.
            Some(first) if some.iter().all(|x| x == first) => *first,
            Some(_) => some.iter().map(|x| x / some.len() as f64).sum(),
            None => 0.0,
        }
    };
    (0..dense.columns()).map(one).collect()
}
