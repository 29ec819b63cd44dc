//! Explanations: tables of the parameters of every column for every component, discriminative words; and for one row, the
//! evidence for its component.

use super::block::{Block, Coding, Family, Gaussians, Place, Scores, Shape, Shared, Tile};
use super::discriminative::discriminative_words;
use super::product::Product;
use crate::error::Result;
use crate::explain::{Cell, Explanation, Listing};
use crate::learn::{FeatureGroup, FeatureKind, FeatureMap, FeatureSource};
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::numbers::number_text;

/// The number of discriminative words shown for each component.
const MAX_WORDS: usize = 12;

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
            self.sparse_feature_map()
        }
    }

    /// Tables of the parameters of all blocks.
    pub(crate) fn explain(&self, encoder: &dyn FeatureSource, components: &Names<'_>, said: &mut Explanation) {
        let feature_map = self.feature_map(encoder);
        for (block, statistics) in self.blocks.iter().zip(&self.statistics) {
            self.explain_block((block, statistics), &feature_map, encoder, components, said);
        }
    }

    /// The feature map of a sparse matrix: numbers, and the sparse part as one vector.
    fn sparse_feature_map(&self) -> FeatureMap {
        let number = |j: usize| FeatureGroup { name: format!("x{j}"), kind: FeatureKind::Number, first: j, width: 1 };
        let mut groups: Vec<FeatureGroup> = (0..self.dense).map(number).collect();
        groups.push(FeatureGroup {
            name: "x".into(),
            kind: FeatureKind::Vector,
            first: 0,
            width: self.features - self.dense,
        });
        FeatureMap { groups }
    }

    fn explain_block(
        &self,
        (block, statistics): (&Block, &Matrix),
        feature_map: &FeatureMap,
        encoder: &dyn FeatureSource,
        components: &Names<'_>,
        said: &mut Explanation,
    ) {
        let classes = components.names;
        let part =
            |column: usize| feature_map.groups.iter().find(|part| !part.kind.is_sparse() && part.first == column);
        let name = |column: usize| part(column).map_or_else(|| format!("x{column}"), |part| part.name.clone());
        let ks = || 0..self.components;
        match block {
            Block::Normal(block) => {
                let mut table = Listing::new("Normal: mean ± standard deviation", classes);
                for (j, &column) in block_columns(block).iter().enumerate() {
                    let of = |k: usize| block.parameters(k)[j];
                    table.words(
                        name(column),
                        ks().map(|k| format!("{} ± {}", short(of(k).mean), short(of(k).variance.sqrt()))),
                    );
                }
                said.tables.push(table);
            }
            Block::Poisson(block) => {
                let mut table = Listing::new("Poisson: mean", classes);
                for (j, &column) in block_columns(block).iter().enumerate() {
                    table.numbers(name(column), ks().map(|k| block.parameters(k)[j]));
                }
                said.tables.push(table);
            }
            Block::Bernoulli(block) => match block.place() {
                Place::Dense(columns) => {
                    let mut table = Listing::new("Bernoulli: probability of yes", classes);
                    for (j, &column) in columns.iter().enumerate() {
                        table.numbers(name(column), ks().map(|k| block.parameters(k, j)[1].exp()));
                    }
                    said.tables.push(table);
                }
                Place::Sparse { first, width } => {
                    let rows: Vec<f64> = ks().map(|k| statistics[(k, *width)]).collect();
                    let words = self.words((*first, *width), feature_map, encoder);
                    let probability = |k: usize, j: usize| block.parameters(k, j)[1].exp();
                    said.tables.push(discriminative_listing(
                        &words,
                        (statistics, &rows),
                        probability,
                        classes,
                        "probability of a row with the word",
                    ));
                }
            },
            Block::Categorical(block) => {
                for (j, (coding, &column)) in block.coding().iter().zip(block_columns(block)).enumerate() {
                    let title = if matches!(coding, Coding::Bins(_)) {
                        "probabilities of bins"
                    } else {
                        "probabilities of categories"
                    };
                    let mut table = Listing::new(format!("{}: {title}", name(column)), classes);
                    let logs: Vec<Vec<f64>> = ks().map(|k| block.parameters(k, j)).collect();
                    for code in 0..coding.count() {
                        let probabilities = logs.iter().map(|logs| logs[code].exp());
                        table.numbers(category(coding, code, part(column)), probabilities);
                    }
                    said.tables.push(table);
                }
            }
            Block::KernelDensity(block) => {
                let mut table = Listing::new("Kernel density: bandwidth", classes);
                for (j, &column) in block_columns(block).iter().enumerate() {
                    table.numbers(name(column), block.widths(j).iter().copied());
                }
                said.tables.push(table);
            }
            Block::MarkovChain(block) => {
                let names: Vec<String> = block_columns(block).iter().map(|&column| name(column)).collect();
                said.sentences
                    .push(format!("Markov chain, each column given the one before it: {}", names.join(", then ")));
            }
            Block::Multinomial(block) => match block.place() {
                Place::Dense(columns) => {
                    let mut table = Listing::new("Multinomial: probability of each count", classes);
                    for (j, &column) in columns.iter().enumerate() {
                        table.numbers(name(column), ks().map(|k| block.log(k, j).exp()));
                    }
                    said.tables.push(table);
                }
                Place::Sparse { first, width } => {
                    let all: Vec<f64> = ks().map(|k| statistics.row(k)[..*width].iter().sum()).collect();
                    let words = self.words((*first, *width), feature_map, encoder);
                    let probability = |k: usize, j: usize| block.log(k, j).exp();
                    said.tables.push(discriminative_listing(
                        &words,
                        (statistics, &all),
                        probability,
                        classes,
                        "probability of the word",
                    ));
                }
            },
            Block::Gaussian(gaussian) => explain_gaussian(gaussian, &name, components, said),
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

    /// The evidence for the component of a row: the log likelihood of each column under every component, sorted by how much
    /// they distinguish them. `starts` are the scores before anything is known of the row, `temperature` multiplies the log
    /// likelihoods, and `sure` gives the probability of a component. The two most probable components are compared, unless a
    /// pair is given.
    pub(crate) fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        names: &[String],
        (starts, temperature): (&[f64], f64),
        pair: Option<[usize; 2]>,
        sure: impl Fn(&Features<'_>, usize) -> Result<f64>,
    ) -> Result<Explanation> {
        let classes = names;
        let row = if row.dense_columns() == self.dense { row.take(&[0]) } else { row.split_at(self.dense)?.take(&[0]) };
        let feature_map = encoder.feature_map();
        let mut found: Vec<(String, Vec<f64>)> = Vec::new();
        for block in &self.blocks {
            found.extend(self.parts_of(block, &row, &feature_map, encoder));
        }
        found.iter_mut().flat_map(|(_, scores)| scores).for_each(|score| *score *= temperature);
        let sums: Vec<f64> =
            (0..classes.len()).map(|k| starts[k] + found.iter().map(|(_, scores)| scores[k]).sum::<f64>()).collect();
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
        let mut said = Explanation::default();
        // A single class has no other to be compared with.
        let [first, second, ..] = pair.as_ref().map_or(&order[..], |pair| &pair[..])[..] else { return Ok(said) };
        // What is impossible under both classes does not distinguish them.
        let odds = |scores: &[f64]| match (scores[first], scores[second]) {
            (f64::NEG_INFINITY, f64::NEG_INFINITY) => 0.0,
            (first, second) => first - second,
        };
        found.retain(|(_, scores)| scores.iter().any(|score| *score != scores[0]));
        found.sort_by(|a, b| odds(&b.1).abs().total_cmp(&odds(&a.1).abs()));
        let (a, b) = (&classes[first], &classes[second]);
        let sure = sure(&row.features(), first)?;
        let odds_of_row = short(odds(&sums));
        said.sentences.push(format!(
            "The row is classified as {a} ({}); the log odds against {b} are {odds_of_row}",
            tenths(sure)
        ));
        let mut table = Listing::new(format!("Evidence for {a} (above 0) and for {b} (below 0)"), ["log odds"]);
        table.rows.push(("(prior)".into(), vec![Cell::from(odds(starts))]));
        for (name, scores) in &found {
            table.numbers(name, [odds(scores)]);
        }
        said.tables.push(table);
        Ok(said)
    }

    /// The log likelihood of each part of a row by itself, with everything else missing.
    fn parts_of(
        &self,
        block: &Block,
        row: &Rows,
        feature_map: &FeatureMap,
        encoder: &dyn FeatureSource,
    ) -> Vec<(String, Vec<f64>)> {
        let dense = row.dense();
        let score = |dense: Matrix, sparse: Option<Sparse>| {
            let rows = Rows::of(dense, sparse);
            let features = rows.features();
            let (mut tile, mut scores) = (Tile::new(&features), Scores::new(self.components));
            tile.fill(&features, std::iter::once(0));
            scores.start(1, &vec![0.0; self.components]);
            block.family().score(&tile, &mut scores);
            (0..self.components).map(|k| scores.of(k)[0]).collect::<Vec<f64>>()
        };
        let only = |columns: &[usize]| {
            let mut some = Matrix::zeros(1, dense.columns());
            some.values_mut().fill(f64::NAN);
            columns.iter().for_each(|&column| some[(0, column)] = dense[(0, column)]);
            some
        };
        let said = |column: usize| {
            let part = feature_map.groups.iter().find(|part| !part.kind.is_sparse() && part.first == column);
            let x = dense[(0, column)];
            let value = match part.map(|part| &part.kind) {
                _ if x.is_nan() => "?".to_string(),
                Some(FeatureKind::Category(names)) => names.get(x as usize).cloned().unwrap_or_else(|| "?".into()),
                Some(FeatureKind::YesNo) => if x > 0.0 { "yes" } else { "no" }.to_string(),
                _ => short(x),
            };
            format!("{} = {value}", part.map_or_else(|| format!("x{column}"), |part| part.name.clone()))
        };
        let columns = block.family().columns();
        match block {
            Block::Multinomial(_) | Block::Bernoulli(_) if columns.is_empty() => {
                self.words_of(block, row, encoder, score)
            }
            Block::Gaussian(_) | Block::MarkovChain(_) | Block::Multinomial(_) => {
                let name = columns.iter().map(|&column| said(column)).collect::<Vec<_>>().join(", ");
                vec![(name, score(only(columns), None))]
            }
            _ => columns.iter().map(|&column| (said(column), score(only(&[column]), None))).collect(),
        }
    }

    /// The evidence of each word of a row, and of the words that it does not have.
    fn words_of(
        &self,
        block: &Block,
        row: &Rows,
        encoder: &dyn FeatureSource,
        score: impl Fn(Matrix, Option<Sparse>) -> Vec<f64>,
    ) -> Vec<(String, Vec<f64>)> {
        let features = row.features();
        let (Some(sparse), Some((first, width))) = (features.sparse_part(), block.sparse_places()) else {
            return Vec::new();
        };
        let of = |entries: Vec<(u32, f64)>| {
            let rows = Sparse::from_rows(sparse.columns(), [entries]).ok();
            score(Matrix::zeros(1, self.dense), rows)
        };
        let entries: Vec<(usize, f64)> =
            sparse.entries(0).filter(|(place, x)| (first..first + width).contains(place) && !x.is_nan()).collect();
        let names: Vec<String> = encoder.feature_names().skip(self.dense).collect();
        let none = of(Vec::new());
        let mut found: Vec<(String, Vec<f64>)> = entries
            .iter()
            .map(|&(place, x)| {
                let name = names.get(place).cloned().unwrap_or_else(|| format!("x{place}"));
                let often = if x == 1.0 { String::new() } else { format!(" ({} times)", short(x)) };
                let scores = of(vec![(place as u32, x)]);
                (format!("{name}{often}"), scores.iter().zip(&none).map(|(with, none)| with - none).collect())
            })
            .collect();
        if none.iter().any(|score| *score != 0.0) {
            found.push(("(all other words are not there)".into(), none));
        }
        found
    }
}

/// The variables of a Gaussian: columns, or the axes onto which they are projected.
pub(crate) fn gaussian_names(block: &Gaussians, name: &dyn Fn(usize) -> String) -> Vec<String> {
    match block.axes() {
        None => block_columns(block).iter().map(|&column| name(column)).collect(),
        Some(axes) => (1..=axes.vectors.columns()).map(|axis| format!("axis {axis}")).collect(),
    }
}

fn explain_gaussian(block: &Gaussians, name: &dyn Fn(usize) -> String, components: &Names<'_>, said: &mut Explanation) {
    let (classes, what) = (components.names, components.what);
    let names = gaussian_names(block, name);
    let shape = match block.shape {
        Shape::Full => "full covariance",
        Shape::Diagonal => "a variance for each column",
        Shape::Spherical => "one variance for all columns",
    };
    let shared = match block.shared {
        Shared::No => format!("each {what}'s own"),
        Shared::Mean => format!("common: the mean of {what} covariances"),
        Shared::Pooled => format!("common: of all rows about the mean of their {what}"),
    };
    let mut means = Listing::new(format!("Gaussian: means ({shape}, {shared})"), classes);
    for (j, name) in names.iter().enumerate() {
        means.numbers(name, (0..classes.len()).map(|k| block.means()[(k, j)]));
    }
    said.tables.push(means);
    let each: Vec<usize> = if block.shared == Shared::No { (0..classes.len()).collect() } else { vec![0] };
    for k in each.into_iter().filter(|_| names.len() <= 12) {
        let of = if block.shared == Shared::No { format!(" of {}", classes[k]) } else { String::new() };
        let mut table = Listing::new(format!("Covariance{of}"), &names);
        let covariance = block.covariance(k);
        names.iter().enumerate().for_each(|(j, name)| table.numbers(name, covariance.row(j).iter().copied()));
        said.tables.push(table);
    }
}

/// The discriminative words of each component, with their probabilities.
fn discriminative_listing(
    (column, words): &(String, Vec<String>),
    (counts, totals): (&Matrix, &[f64]),
    probability: impl Fn(usize, usize) -> f64,
    classes: &[String],
    what: &str,
) -> Listing {
    let mut table = Listing::new(format!("{column}: discriminative words ({what})"), ["words"]);
    for (k, class) in classes.iter().enumerate() {
        let found = discriminative_words(counts, totals, words.len(), k).into_iter().take(MAX_WORDS);
        let shown = found.map(|j| format!("{} {}", words[j], percent(probability(k, j))));
        table.words(class, [shown.collect::<Vec<_>>().join(", ")]);
    }
    table
}

fn block_columns(block: &dyn Family) -> &[usize] {
    block.columns()
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
