//! The evidence for the component of one row: the log likelihood of each of its columns and words under every component.

use super::block::{Block, Scores, Tile};
use super::explain::{short, tenths};
use super::product::Product;
use crate::error::Result;
use crate::explain::{Cell, Explanation, Listing};
use crate::learn::{FeatureKind, FeatureMap, FeatureSource};
use crate::matrix::{Features, Matrix, Rows, Sparse};

/// How log likelihoods become scores and probabilities.
pub(crate) struct Weighing<'a> {
    /// The score of each component before anything is known of a row.
    pub(crate) log_priors: &'a [f64],
    /// What calibration adds to the score of each component, unless the row says nothing.
    pub(crate) biases: &'a [f64],
    /// It multiplies the log likelihoods.
    pub(crate) temperature: f64,
    /// The fraction of rows that are taken as outliers, and get the priors.
    pub(crate) contamination: f64,
}

/// How probable the class of a row is, and how probable it is before anything is known of the row.
pub(crate) struct Sure {
    pub(crate) probability: f64,
    pub(crate) prior: f64,
}

impl Product {
    /// The evidence for the component of a row: the log likelihood of each column under every component, sorted by how much
    /// they distinguish them. `sure` gives the probability of a component. The two most probable components are compared, unless
    /// a pair is given.
    pub(crate) fn explain_row(
        &self,
        row: &Features<'_>,
        encoder: &dyn FeatureSource,
        names: &[String],
        by: &Weighing<'_>,
        pair: Option<[usize; 2]>,
        sure: impl Fn(&Features<'_>, usize) -> Result<Sure>,
    ) -> Result<Explanation> {
        let classes = names;
        let row = if row.dense_columns() == self.dense { row.take(&[0]) } else { row.split_at(self.dense)?.take(&[0]) };
        let feature_map = encoder.feature_map();
        let mut found: Vec<(String, Vec<f64>)> = Vec::new();
        for block in &self.blocks {
            found.extend(self.parts_of(block, &row, &feature_map, encoder));
        }
        found.iter_mut().flat_map(|(_, scores)| scores).for_each(|score| *score *= by.temperature);
        let says_anything = found.iter().any(|(_, scores)| scores.iter().any(|score| *score != scores[0]));
        let bias = |k: usize| if says_anything { by.biases[k] } else { 0.0 };
        let said = |k: usize| found.iter().map(|(_, scores)| scores[k]).sum::<f64>();
        let sums: Vec<f64> = (0..classes.len()).map(|k| by.log_priors[k] + bias(k) + said(k)).collect();
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
        let Sure { probability, prior } = sure(&row.features(), first)?;
        let odds_of_row = short(odds(&sums));
        said.sentences.push(format!(
            "The row is classified as {a} ({}); the log odds against {b} are {odds_of_row}",
            tenths(probability)
        ));
        if by.contamination > 0.0 && says_anything {
            let alone = ((probability - by.contamination * prior) / (1.0 - by.contamination)).clamp(0.0, 1.0);
            said.sentences.push(format!(
                "The scores alone would make it {}: {} of rows are taken as outliers, which get the priors",
                tenths(alone),
                tenths(by.contamination)
            ));
        }
        let mut table = Listing::new(format!("Evidence for {a} (above 0) and for {b} (below 0)"), ["log odds"]);
        table.rows.push(("(prior)".into(), vec![Cell::from(odds(by.log_priors))]));
        if says_anything && odds(by.biases) != 0.0 {
            table.rows.push(("(calibration)".into(), vec![Cell::from(odds(by.biases))]));
        }
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
