//! What blocks have learnt, in tables: the parameters of every column for every component, the telling words; and of one row, what
//! spoke for its component.

use super::block::{Block, Coding, Family, Gaussians, Place, Scores, Shape, Shared, Tile};
use super::product::Product;
use super::telling::telling;
use crate::encode::{Encoder, Part, Scheme, What};
use crate::error::Result;
use crate::explain::{Cell, Explanation, Listing};
use crate::matrix::{Features, Matrix, Rows, Sparse};
use crate::numbers::number_text;

/// So many telling words are shown for each component.
const WORDS: usize = 12;

/// Components by name, and what they are called together.
pub(crate) struct Names<'a> {
    pub(crate) names: &'a [String],
    /// `class` or `component`.
    pub(crate) what: &'a str,
}

impl Product {
    /// What features are columns of, as far as an encoder knows.
    pub(crate) fn scheme(&self, encoder: &Encoder) -> Scheme {
        let scheme = encoder.scheme();
        if scheme.parts.len() == self.dense || !encoder.is_identity() { scheme } else { self.sparse_scheme() }
    }

    /// Tables of the parameters of all blocks.
    pub(crate) fn tell(&self, encoder: &Encoder, components: &Names<'_>, said: &mut Explanation) {
        let scheme = self.scheme(encoder);
        for (block, sums) in self.blocks.iter().zip(&self.sums) {
            self.explain_block((block, sums), &scheme, encoder, components, said);
        }
    }

    /// Of a sparse matrix: numbers, and what is sparse as one vector.
    fn sparse_scheme(&self) -> Scheme {
        let number = |j: usize| Part { name: format!("x{j}"), what: What::Number, first: j, width: 1 };
        let mut parts: Vec<Part> = (0..self.dense).map(number).collect();
        parts.push(Part { name: "x".into(), what: What::Vector, first: 0, width: self.features - self.dense });
        Scheme { parts }
    }

    fn explain_block(
        &self,
        (block, sums): (&Block, &Matrix),
        scheme: &Scheme,
        encoder: &Encoder,
        components: &Names<'_>,
        said: &mut Explanation,
    ) {
        let classes = components.names;
        let part = |column: usize| scheme.parts.iter().find(|part| !part.what.is_sparse() && part.first == column);
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
                let mut table = Listing::new("Poisson: how many on average", classes);
                for (j, &column) in block_columns(block).iter().enumerate() {
                    table.numbers(name(column), ks().map(|k| block.parameters(k)[j]));
                }
                said.tables.push(table);
            }
            Block::Bernoulli(block) => match block.place() {
                Place::Dense(columns) => {
                    let mut table = Listing::new("Yes or no: share of yes", classes);
                    for (j, &column) in columns.iter().enumerate() {
                        table.numbers(name(column), ks().map(|k| block.parameters(k, j)[1].exp()));
                    }
                    said.tables.push(table);
                }
                Place::Sparse { first, width } => {
                    let rows: Vec<f64> = ks().map(|k| sums[(k, *width)]).collect();
                    let words = self.words((*first, *width), scheme, encoder);
                    let share = |k: usize, j: usize| block.parameters(k, j)[1].exp();
                    said.tables.push(telling_words(&words, (sums, &rows), share, classes, "rows with the word"));
                }
            },
            Block::Categorical(block) => {
                for (j, (coding, &column)) in block.coding().iter().zip(block_columns(block)).enumerate() {
                    let title =
                        if matches!(coding, Coding::Bins(_)) { "shares of bins" } else { "shares of categories" };
                    let mut table = Listing::new(format!("{}: {title}", name(column)), classes);
                    let logs: Vec<Vec<f64>> = ks().map(|k| block.parameters(k, j)).collect();
                    for code in 0..coding.count() {
                        let shares = logs.iter().map(|logs| logs[code].exp());
                        table.numbers(category(coding, code, part(column)), shares);
                    }
                    said.tables.push(table);
                }
            }
            Block::Window(block) => {
                let mut table = Listing::new("Smoothing windows: width", classes);
                for (j, &column) in block_columns(block).iter().enumerate() {
                    table.numbers(name(column), block.widths(j).iter().copied());
                }
                said.tables.push(table);
            }
            Block::Chain(block) => {
                let names: Vec<String> = block_columns(block).iter().map(|&column| name(column)).collect();
                said.sentences.push(format!("A chain, each column given the one before it: {}", names.join(", then ")));
            }
            Block::Multinomial(block) => match block.place() {
                Place::Dense(columns) => {
                    let mut table = Listing::new("Counts together: share of each", classes);
                    for (j, &column) in columns.iter().enumerate() {
                        table.numbers(name(column), ks().map(|k| block.log(k, j).exp()));
                    }
                    said.tables.push(table);
                }
                Place::Sparse { first, width } => {
                    let all: Vec<f64> = ks().map(|k| sums.row(k)[..*width].iter().sum()).collect();
                    let words = self.words((*first, *width), scheme, encoder);
                    let share = |k: usize, j: usize| block.log(k, j).exp();
                    said.tables.push(telling_words(&words, (sums, &all), share, classes, "share of all words"));
                }
            },
            Block::Gaussian(gaussian) => explain_gaussian(gaussian, &name, components, said),
        }
    }

    /// The names of sparse places, and of the column they belong to.
    pub(crate) fn words(
        &self,
        (first, width): (usize, usize),
        scheme: &Scheme,
        encoder: &Encoder,
    ) -> (String, Vec<String>) {
        let column = scheme.parts.iter().find(|part| part.what.is_sparse() && part.first == first);
        let column = column.map_or("x", |part| part.name.as_str());
        let prefix = format!("{column}: ");
        let mut words: Vec<String> = encoder.feature_names().skip(self.dense + first).take(width).collect();
        words.iter_mut().filter(|word| word.starts_with(&prefix)).for_each(|word| *word = word.split_off(prefix.len()));
        (words.len()..width).for_each(|j| words.push(format!("{column}{j}")));
        (column.to_string(), words)
    }

    /// What spoke for the component of a row: of each column the log likelihood under every component, those first that tell them
    /// apart most. `starts` are the scores before anything is known of the row, what columns say counts by `trust`, and `sure` says
    /// how sure it is that the row is of a component. Of all components the two likeliest are compared, unless a pair is given.
    pub(crate) fn tell_row(
        &self,
        row: &Features<'_>,
        encoder: &Encoder,
        names: &[String],
        (starts, trust): (&[f64], f64),
        pair: Option<[usize; 2]>,
        sure: impl Fn(&Features<'_>, usize) -> Result<f64>,
    ) -> Result<Explanation> {
        let classes = names;
        let row = if row.dense_columns() == self.dense { row.take(&[0]) } else { row.split_at(self.dense)?.take(&[0]) };
        let scheme = encoder.scheme();
        let mut found: Vec<(String, Vec<f64>)> = Vec::new();
        for block in &self.blocks {
            found.extend(self.parts_of(block, &row, &scheme, encoder));
        }
        found.iter_mut().flat_map(|(_, scores)| scores).for_each(|score| *score *= trust);
        let sums: Vec<f64> =
            (0..classes.len()).map(|k| starts[k] + found.iter().map(|(_, scores)| scores[k]).sum::<f64>()).collect();
        let mut order: Vec<usize> = (0..classes.len()).collect();
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
        let mut said = Explanation::default();
        // A single class has nothing to be told apart from.
        let [first, second, ..] = pair.as_ref().map_or(&order[..], |pair| &pair[..])[..] else { return Ok(said) };
        // What neither class can have does not tell them apart.
        let odds = |scores: &[f64]| match (scores[first], scores[second]) {
            (f64::NEG_INFINITY, f64::NEG_INFINITY) => 0.0,
            (first, second) => first - second,
        };
        found.retain(|(_, scores)| scores.iter().any(|score| *score != scores[0]));
        found.sort_by(|a, b| odds(&b.1).abs().total_cmp(&odds(&a.1).abs()));
        let (a, b) = (&classes[first], &classes[second]);
        let sure = sure(&row.features(), first)?;
        let odds_of_row = short(odds(&sums));
        said.sentences
            .push(format!("The row is taken as {a} ({}); the log odds against {b} are {odds_of_row}", tenths(sure)));
        let mut table = Listing::new(format!("What spoke for {a} (above 0) and for {b} (below 0)"), ["log odds"]);
        table.rows.push(("(prior)".into(), vec![Cell::from(odds(starts))]));
        for (name, scores) in &found {
            table.numbers(name, [odds(scores)]);
        }
        said.tables.push(table);
        Ok(said)
    }

    /// The log likelihood of the parts of a row by themselves: everything else is a hole.
    fn parts_of(&self, block: &Block, row: &Rows, scheme: &Scheme, encoder: &Encoder) -> Vec<(String, Vec<f64>)> {
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
            let part = scheme.parts.iter().find(|part| !part.what.is_sparse() && part.first == column);
            let x = dense[(0, column)];
            let value = match part.map(|part| &part.what) {
                _ if x.is_nan() => "?".to_string(),
                Some(What::Category(names)) => names.get(x as usize).cloned().unwrap_or_else(|| "?".into()),
                Some(What::YesNo) => if x > 0.0 { "yes" } else { "no" }.to_string(),
                _ => short(x),
            };
            format!("{} = {value}", part.map_or_else(|| format!("x{column}"), |part| part.name.clone()))
        };
        let columns = block.family().columns();
        match block {
            Block::Multinomial(_) | Block::Bernoulli(_) if columns.is_empty() => {
                self.words_of(block, row, encoder, score)
            }
            Block::Gaussian(_) | Block::Chain(_) | Block::Multinomial(_) => {
                let name = columns.iter().map(|&column| said(column)).collect::<Vec<_>>().join(", ");
                vec![(name, score(only(columns), None))]
            }
            _ => columns.iter().map(|&column| (said(column), score(only(&[column]), None))).collect(),
        }
    }

    /// What each word of a row says, and what the words say that it has not.
    fn words_of(
        &self,
        block: &Block,
        row: &Rows,
        encoder: &Encoder,
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

/// The names of what a Gaussian is of: columns, or axes that they are laid along.
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

/// The telling words of each component, with their shares.
fn telling_words(
    (column, words): &(String, Vec<String>),
    (counts, totals): (&Matrix, &[f64]),
    share: impl Fn(usize, usize) -> f64,
    classes: &[String],
    what: &str,
) -> Listing {
    let mut table = Listing::new(format!("{column}: telling words ({what})"), ["words"]);
    for (k, class) in classes.iter().enumerate() {
        let found = telling(counts, totals, words.len(), k).into_iter().take(WORDS);
        let shown = found.map(|j| format!("{} {}", words[j], percent(share(k, j))));
        table.words(class, [shown.collect::<Vec<_>>().join(", ")]);
    }
    table
}

fn block_columns(block: &dyn Family) -> &[usize] {
    block.columns()
}

/// A category in words: its name, its bin, or its number.
pub(crate) fn category(coding: &Coding, code: usize, part: Option<&Part>) -> String {
    match (coding, part.map(|part| &part.what)) {
        (Coding::Bins(edges), _) => {
            let whole = edges.iter().all(|edge| (edge + 0.5).fract() == 0.0);
            let (from, to) = (edges[code], edges[code + 1]);
            match whole {
                true if to - from == 1.0 => number_text(from + 0.5),
                true => format!("{} to {}", number_text(from + 0.5), number_text(to - 0.5)),
                false => format!("{} to {}", short(from), short(to)),
            }
        }
        (Coding::Codes(_), Some(What::Category(names))) => names.get(code).cloned().unwrap_or_else(|| code.to_string()),
        _ => code.to_string(),
    }
}

/// A number with five digits that count.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return number_text(x);
    }
    let digits = (4 - x.abs().log10().floor() as i32).clamp(0, 12);
    let rounded: f64 = format!("{x:.*}", digits as usize).parse().unwrap_or(x);
    if rounded == 0.0 { format!("{x:.3e}") } else { number_text(rounded) }
}

/// A share in tenths of a percent.
pub(crate) fn tenths(share: f64) -> String {
    format!("{} %", number_text((1000.0 * share).round() / 10.0))
}

fn percent(share: f64) -> String {
    format!("{} %", short((100.0 * share * 1000.0).round() / 1000.0))
}
