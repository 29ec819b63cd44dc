//! Explanations of blocks: tables of the parameters of every column for every component, and discriminative words.

use super::block::{
    Bernoullis, Block, Categories, Coding, Family, Gaussians, Multinomials, Normals, Place, Shape, Shared,
};
use super::discriminative::discriminative_words;
use super::product::Product;
use crate::explain::{Explanation, Listing};
use crate::learn::{FeatureGroup, FeatureKind, FeatureMap, FeatureSource};
use crate::matrix::Matrix;
use crate::numbers::number_text;

/// The number of discriminative words shown for each component.
const MAX_WORDS: usize = 12;

/// Covariances of more columns are not shown.
const MAX_COVARIANCE_COLUMNS: usize = 12;

/// Components by name, and their common noun.
pub(crate) struct Names<'a> {
    pub(crate) names: &'a [String],
    /// `class` or `component`.
    pub(crate) what: &'a str,
}

impl Product {
    /// The feature map, as far as an encoder knows it.
    pub(crate) fn feature_map(&self, encoder: &dyn FeatureSource) -> FeatureMap {
        let feature_map = encoder.feature_map();
        if feature_map.groups.len() == self.dense || !encoder.is_matrix() {
            feature_map
        } else {
            FeatureMap::of_columns(self.dense, Some(self.features - self.dense), &[])
        }
    }

    /// Tables of the parameters of all blocks.
    pub(crate) fn explain(&self, encoder: &dyn FeatureSource, components: &Names<'_>, said: &mut Explanation) {
        let tables = Tables { product: self, feature_map: self.feature_map(encoder), encoder, components };
        for (block, statistics) in self.blocks.iter().zip(&self.statistics) {
            tables.explain(block, statistics, said);
        }
    }

    /// The names of sparse places, and of the column they belong to.
    pub(crate) fn words(
        &self,
        (first, width): (usize, usize),
        feature_map: &FeatureMap,
        encoder: &dyn FeatureSource,
    ) -> (String, Vec<String>) {
        let column = feature_map.groups.iter().find(|part| part.kind.is_sparse() && part.first == first);
        let column = column.map_or("x", |part| part.name.as_str());
        let prefix = format!("{column}: ");
        let mut words: Vec<String> = encoder.feature_names().skip(self.dense + first).take(width).collect();
        words.iter_mut().filter(|word| word.starts_with(&prefix)).for_each(|word| *word = word.split_off(prefix.len()));
        (words.len()..width).for_each(|j| words.push(format!("{column}{j}")));
        (column.to_string(), words)
    }
}

/// What the tables of blocks are made with.
struct Tables<'a> {
    product: &'a Product,
    feature_map: FeatureMap,
    encoder: &'a dyn FeatureSource,
    components: &'a Names<'a>,
}

impl Tables<'_> {
    fn explain(&self, block: &Block, statistics: &Matrix, said: &mut Explanation) {
        match block {
            Block::Normal(block) => said.tables.push(self.normal(block)),
            Block::Gaussian(block) => said.tables.extend(self.gaussian(block)),
            Block::Poisson(block) => {
                said.tables.push(self.numbers("Poisson: mean", block.columns(), |k, j| block.parameters(k)[j]));
            }
            Block::Bernoulli(block) => said.tables.push(self.bernoulli(block, statistics)),
            Block::Categorical(block) => {
                said.tables.extend((0..block.columns().len()).map(|j| self.categorical(block, j)));
            }
            Block::Multinomial(block) => said.tables.push(self.multinomial(block, statistics)),
            Block::KernelDensity(block) => {
                let title = "Kernel density: bandwidth";
                said.tables.push(self.numbers(title, block.columns(), |k, j| block.widths(j)[k]));
            }
            Block::MarkovChain(block) => {
                let names: Vec<String> = block.columns().iter().map(|&column| self.name(column)).collect();
                let chain = names.join(", then ");
                said.sentences.push(format!("Markov chain, each column given the one before it: {chain}"));
            }
        }
    }

    /// The group of a dense column.
    fn part(&self, column: usize) -> Option<&FeatureGroup> {
        self.feature_map.groups.iter().find(|part| !part.kind.is_sparse() && part.first == column)
    }

    fn name(&self, column: usize) -> String {
        self.part(column).map_or_else(|| format!("x{column}"), |part| part.name.clone())
    }

    /// One number per column and component.
    fn numbers(&self, title: &str, columns: &[usize], number: impl Fn(usize, usize) -> f64) -> Listing {
        let mut table = Listing::new(title, self.components.names);
        for (j, &column) in columns.iter().enumerate() {
            table.numbers(self.name(column), (0..self.product.components).map(|k| number(k, j)));
        }
        table
    }

    fn normal(&self, block: &Normals) -> Listing {
        let mut table = Listing::new("Normal: mean ± standard deviation", self.components.names);
        for (j, &column) in block.columns().iter().enumerate() {
            let of = |k: usize| block.parameters(k)[j];
            let shown = |k: usize| format!("{} ± {}", short(of(k).mean), short(of(k).variance.sqrt()));
            table.words(self.name(column), (0..self.product.components).map(shown));
        }
        table
    }

    /// Means, and covariances unless they are too large to be read.
    fn gaussian(&self, block: &Gaussians) -> Vec<Listing> {
        let Names { names: classes, what } = *self.components;
        let names = gaussian_names(block, &|column| self.name(column));
        let shape = match block.shape {
            Shape::Full => "full covariance",
            Shape::Diagonal => "a variance for each column",
            Shape::Spherical => "one variance for all columns",
        };
        let shared = match block.shared {
            Shared::No => format!("each {what}'s own"),
            Shared::Mean => format!("common: the mean of {what} covariances"),
            Shared::Pooled => format!("common: of all rows about the mean of their {what}"),
            Shared::Weighted => format!("common: the mean of {what} covariances by their priors"),
        };
        let mut means = Listing::new(format!("Gaussian: means ({shape}, {shared})"), classes);
        for (j, name) in names.iter().enumerate() {
            means.numbers(name, (0..classes.len()).map(|k| block.means()[(k, j)]));
        }
        let mut tables = vec![means];
        let each: Vec<usize> = if block.shared == Shared::No { (0..classes.len()).collect() } else { vec![0] };
        for k in each.into_iter().filter(|_| names.len() <= MAX_COVARIANCE_COLUMNS) {
            let of = if block.shared == Shared::No { format!(" of {}", classes[k]) } else { String::new() };
            let mut table = Listing::new(format!("Covariance{of}"), &names);
            let covariance = block.covariance(k);
            names.iter().enumerate().for_each(|(j, name)| table.numbers(name, covariance.row(j).iter().copied()));
            tables.push(table);
        }
        tables
    }

    fn bernoulli(&self, block: &Bernoullis, statistics: &Matrix) -> Listing {
        let probability = |k: usize, j: usize| block.parameters(k, j)[1].exp();
        match *block.place() {
            Place::Dense(ref columns) => self.numbers("Bernoulli: probability of yes", columns, probability),
            Place::Sparse { first, width } => {
                let rows: Vec<f64> = (0..self.product.components).map(|k| statistics[(k, width)]).collect();
                let what = "probability of a row with the word";
                self.words((first, width), (statistics, &rows), probability, what)
            }
        }
    }

    fn categorical(&self, block: &Categories, j: usize) -> Listing {
        let (coding, column) = (&block.coding()[j], block.columns()[j]);
        let what = if matches!(coding, Coding::Bins(_)) { "bins" } else { "categories" };
        let title = format!("{}: probabilities of {what}", self.name(column));
        let mut table = Listing::new(title, self.components.names);
        let logs: Vec<Vec<f64>> = (0..self.product.components).map(|k| block.parameters(k, j)).collect();
        for code in 0..coding.count() {
            let probabilities = logs.iter().map(|logs| logs[code].exp());
            table.numbers(category(coding, code, self.part(column)), probabilities);
        }
        table
    }

    fn multinomial(&self, block: &Multinomials, statistics: &Matrix) -> Listing {
        let probability = |k: usize, j: usize| block.log(k, j).exp();
        match *block.place() {
            Place::Dense(ref columns) => self.numbers("Multinomial: probability of each count", columns, probability),
            Place::Sparse { first, width } => {
                let counts = |k: usize| statistics.row(k)[..width].iter().sum();
                let all: Vec<f64> = (0..self.product.components).map(counts).collect();
                self.words((first, width), (statistics, &all), probability, "probability of the word")
            }
        }
    }

    /// The discriminative words of each component, with their probabilities.
    fn words(
        &self,
        place: (usize, usize),
        (counts, totals): (&Matrix, &[f64]),
        probability: impl Fn(usize, usize) -> f64,
        what: &str,
    ) -> Listing {
        let (column, words) = self.product.words(place, &self.feature_map, self.encoder);
        let mut table = Listing::new(format!("{column}: discriminative words ({what})"), ["words"]);
        for (k, class) in self.components.names.iter().enumerate() {
            let found = discriminative_words(counts, totals, words.len(), k).into_iter().take(MAX_WORDS);
            let shown = found.map(|j| format!("{} {}", words[j], percent(probability(k, j))));
            table.words(class, [shown.collect::<Vec<_>>().join(", ")]);
        }
        table
    }
}

/// The variables of a Gaussian: columns, or the axes onto which they are projected.
pub(crate) fn gaussian_names(block: &Gaussians, name: &dyn Fn(usize) -> String) -> Vec<String> {
    match block.axes() {
        None => block.columns().iter().map(|&column| name(column)).collect(),
        Some(axes) => (1..=axes.vectors.columns()).map(|axis| format!("axis {axis}")).collect(),
    }
}

/// A category in words: its name, its bin, or its number.
pub(crate) fn category(coding: &Coding, code: usize, part: Option<&FeatureGroup>) -> String {
    match (coding, part.map(|part| &part.kind)) {
        (Coding::Bins(edges), _) => {
            let whole = edges.iter().all(|edge| (edge + 0.5).fract() == 0.0);
            let (from, to) = (edges[code], edges[code + 1]);
            match whole {
                true if to - from == 1.0 => number_text(from + 0.5),
                true => format!("{} to {}", number_text(from + 0.5), number_text(to - 0.5)),
                false => format!("{} to {}", short(from), short(to)),
            }
        }
        (Coding::Codes(_), Some(FeatureKind::Category(names))) => {
            names.get(code).cloned().unwrap_or_else(|| code.to_string())
        }
        _ => code.to_string(),
    }
}

/// A number with five significant digits.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return number_text(x);
    }
    let digits = (4 - x.abs().log10().floor() as i32).clamp(0, 12);
    let rounded: f64 = format!("{x:.*}", digits as usize).parse().unwrap_or(x);
    if rounded == 0.0 { format!("{x:.3e}") } else { number_text(rounded) }
}

/// A fraction in tenths of a percent.
pub(crate) fn tenths(share: f64) -> String {
    format!("{} %", number_text((1000.0 * share).round() / 10.0))
}

fn percent(share: f64) -> String {
    format!("{} %", short((100.0 * share * 1000.0).round() / 1000.0))
}
