//! Initialisation of EM: a first assignment of some rows to components.
//!
//! Rows become points (numbers standardised, categories one-hot, counts of words scaled to unit length), which are clustered
//! by k-means, or assigned to the nearest of some rows far from each other (k-means++); or every row has random
//! responsibilities. A subsample of the rows is enough: the first pass of EM visits all.

use super::{InitialParameters, MixtureInit};
use crate::cluster::{Division, divide};
use crate::em::{NO_CLASS, State};
use crate::error::{Error, Result};
use crate::family::block::{Block, Coding, Scores, TILE, Tile};
use crate::family::product::Product;
use crate::family::statistics::Members;
use crate::matrix::{Features, Matrix, Rows, afford};
use crate::run::{Run, Stream};

/// The most rows to start from.
pub(super) const MAX_START_ROWS: usize = 20_000;

/// A column with more categories has no part in the points.
const MAX_ONE_HOT_CATEGORIES: usize = 256;

impl MixtureInit {
    /// The kind of start number `at`.
    fn of(self, at: usize) -> MixtureInit {
        match self {
            MixtureInit::Auto if at.is_multiple_of(2) => MixtureInit::Kmeans,
            MixtureInit::Auto => MixtureInit::Random,
            other => other,
        }
    }
}

/// Parameters of components for start number `at`; what follows from all rows together is fixed already. The first start is needed
/// for any answer at all: once time is up, its clusters get coarse.
pub(super) fn draw(
    start: MixtureInit,
    at: usize,
    product: &Product,
    features: &Features<'_>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<State> {
    let (start, stream) = (start.of(at), &mut run.stream(at as u64));
    let rows = some(0..features.rows(), weights, MAX_START_ROWS);
    let mut product = product.clone();
    let k = product.components;
    let how = if start == MixtureInit::Kmeans { Division::Means } else { Division::Nearest };
    let labels = match start {
        MixtureInit::Random => None,
        _ => Some(divided(&product, features, &rows, weights, (k, how), stream, run)?),
    };
    let estimated = || {
        let draw =
            |_: usize, responsibilities: &mut [f64]| responsibilities.iter_mut().for_each(|r| *r = stream.uniform());
        let totals = match labels {
            None => by_responsibilities(&mut product, features, &rows, weights, draw, run)?,
            Some(labels) => by_labels(&mut product, features, &rows, &labels, weights, run)?,
        };
        product.estimate(run)?;
        Ok(State::new(product, totals, vec![NO_CLASS; k]))
    };
    if at == 0 { run.finish(estimated) } else { estimated() }
}

/// Clusters some rows, as points, into k groups, however late it is.
pub(super) fn divided(
    product: &Product,
    features: &Features<'_>,
    rows: &[usize],
    weights: Option<&[f64]>,
    (k, how): (usize, Division),
    stream: &mut Stream,
    run: &Run,
) -> Result<Vec<u32>> {
    let own: Option<Vec<f64>> = weights.map(|weights| rows.iter().map(|&i| weights[i]).collect());
    divide(points(product, features, rows)?.features(), own.as_deref(), k, how, stream, run)
}

/// The parameters of components from given responsibilities.
pub(super) fn from_responsibilities(
    mut product: Product,
    features: &Features<'_>,
    weights: Option<&[f64]>,
    responsibilities: &Matrix,
    run: &Run,
) -> Result<State> {
    let (rows, k) = (features.rows(), product.components);
    let sound = responsibilities.values().iter().all(|r| r.is_finite() && *r >= 0.0);
    let full = (0..responsibilities.rows()).all(|i| responsibilities.row(i).iter().sum::<f64>() > 0.0);
    if (responsibilities.rows(), responsibilities.columns()) != (rows, k) || !sound || !full {
        let problem = format!(
            "{} x {} responsibilities do not fit {rows} rows and {k} components",
            responsibilities.rows(),
            responsibilities.columns()
        );
        return Err(Error::data(
            problem,
            "Give every row responsibilities of at least zero, one for each component, not all zero.",
        ));
    }
    let all: Vec<usize> = (0..rows).collect();
    let own = |i: usize, to: &mut [f64]| to.copy_from_slice(responsibilities.row(i));
    let totals = by_responsibilities(&mut product, features, &all, weights, own, run)?;
    product.estimate(run)?;
    Ok(State::new(product, totals, vec![NO_CLASS; k]))
}

impl State {
    /// Replaces parameters by those that are given.
    pub(super) fn take(&mut self, given: &InitialParameters, run: &Run) -> Result<()> {
        let k = self.totals.len();
        if let Some(weights) = &given.weights {
            let sound =
                weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0) && weights.iter().sum::<f64>() > 0.0;
            if weights.len() != k || !sound {
                let problem = format!("{} weights do not fit {k} components", weights.len());
                return Err(Error::data(problem, "Give every component a weight of at least zero."));
            }
            let total: f64 = self.totals.iter().sum();
            let all: f64 = weights.iter().sum();
            self.totals = weights.iter().map(|weight| total * weight / all).collect();
            self.weigh();
        }
        if given.means.is_none() && given.covariances.is_none() {
            return Ok(());
        }
        match &mut self.product.blocks[..] {
            [Block::Gaussian(block)] => {
                block.set(given.means.as_ref(), given.covariances.as_deref(), run)?;
                self.product.statistics[0] = block.statistics_for(&self.totals);
                self.product.estimate(run)
            }
            _ => Err(Error::data(
                "means and covariances are of one Gaussian over all columns, which this mixture is not",
                "Give responsibilities instead.",
            )),
        }
    }
}

/// At most `most` rows with positive weight, taken evenly.
pub(super) fn some(rows: impl Iterator<Item = usize>, weights: Option<&[f64]>, most: usize) -> Vec<usize> {
    let counted: Vec<usize> = rows.filter(|&i| weights.is_none_or(|weights| weights[i] > 0.0)).collect();
    let count = counted.len().min(most);
    (0..count).map(|r| counted[counted.len() * r / count]).collect()
}

/// Collects statistics of rows that belong to one component each; returns the total weights.
pub(super) fn by_labels(
    product: &mut Product,
    features: &Features<'_>,
    rows: &[usize],
    labels: &[u32],
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Vec<f64>> {
    let members = Members::of_rows(rows, labels, product.components, weights);
    product.collect_statistics(features, &members, run)?;
    Ok(members.totals())
}

/// Collects statistics of rows by their responsibilities; returns the total weights.
pub(super) fn by_responsibilities(
    product: &mut Product,
    features: &Features<'_>,
    rows: &[usize],
    weights: Option<&[f64]>,
    mut responsibilities_of: impl FnMut(usize, &mut [f64]),
    run: &Run,
) -> Result<Vec<f64>> {
    let k = product.components;
    let (mut tile, mut responsibilities, mut totals) = (Tile::new(features), Scores::new(k), vec![0.0; k]);
    let mut own = vec![0.0; k];
    product.statistics.iter_mut().for_each(|statistics| statistics.values_mut().fill(0.0));
    for some in rows.chunks(TILE) {
        run.check()?;
        tile.fill(features, some.iter().copied());
        responsibilities.start(some.len(), &vec![0.0; k]);
        for (i, &row) in some.iter().enumerate() {
            responsibilities_of(row, &mut own);
            let times = weights.map_or(1.0, |weights| weights[row]) / own.iter().sum::<f64>();
            responsibilities.add(i, own.iter().map(|r| times * r));
        }
        for (c, total) in totals.iter_mut().enumerate() {
            *total += responsibilities.of(c).iter().sum::<f64>();
            for (block, statistics) in product.blocks.iter().zip(&mut product.statistics) {
                block.family().add(c, statistics.row_mut(c), &tile, Some(responsibilities.of(c)));
            }
        }
    }
    Ok(totals)
}

/// Rows as points whose squared distances add up over columns: each column of numbers or of categories has unit variance.
fn points(product: &Product, features: &Features<'_>, rows: &[usize]) -> Result<Rows> {
    let width: usize = product
        .blocks
        .iter()
        .map(|block| match block {
            Block::Categorical(block) => block.coding().iter().map(one_hot_width).sum(),
            block => block.family().columns().len(),
        })
        .sum();
    // They are stored by columns and then by rows.
    afford(
        2.0 * 8.0 * rows.len() as f64 * width as f64,
        &format!("{} points of {width} numbers to start from", rows.len()),
    )?;
    let taken = features.take(rows);
    let taken_features = taken.features();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for block in &product.blocks {
        let places = block.family().columns();
        match block {
            Block::Categorical(block) => {
                for (coding, &column) in block.coding().iter().zip(places) {
                    let values = taken_features.dense_column(column);
                    match (coding, one_hot_width(coding)) {
                        (Coding::Codes(_), count) => columns.extend(one_hot(&values, count)),
                        _ => columns.push(standardised(values)),
                    }
                }
            }
            Block::Multinomial(_) if !places.is_empty() => {
                columns.extend(directions(places.iter().map(|&column| taken_features.dense_column(column)).collect()));
            }
            _ => columns.extend(places.iter().map(|&column| standardised(taken_features.dense_column(column)))),
        }
    }
    let mut dense = Matrix::zeros(rows.len(), columns.len());
    for (j, column) in columns.iter().enumerate() {
        column.iter().enumerate().for_each(|(i, &x)| dense[(i, j)] = x);
    }
    let sparse = taken_features.sparse_part().map(|sparse| {
        let mut sparse = sparse.without_missing();
        sparse.scale_rows_to_one();
        sparse
    });
    Ok(Rows::of(dense, sparse))
}

/// The number of coordinates that a column of categories becomes.
fn one_hot_width(coding: &Coding) -> usize {
    match coding {
        Coding::Codes(count) if *count > MAX_ONE_HOT_CATEGORIES => 0,
        Coding::Codes(count) => *count,
        Coding::Bins(_) | Coding::Numbers(_) => 1,
    }
}

/// Standardised; a missing value is at the mean.
fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    let count = known.len().max(1) as f64;
    let mean = known.iter().map(|x| x / count).sum::<f64>();
    let variance = known.iter().map(|x| (x - mean) * (x - mean) / count).sum::<f64>();
    let times = if variance > 0.0 && variance.is_finite() { 1.0 / variance.sqrt() } else { 0.0 };
    values.iter_mut().for_each(|x| *x = if x.is_finite() { (*x - mean) * times } else { 0.0 });
    values
}

/// One-hot encoding, one column per category; a missing value is at the mean of all.
fn one_hot(codes: &[f64], count: usize) -> Vec<Vec<f64>> {
    let is = |x: f64, code: usize| x == code as f64;
    let known = codes.iter().filter(|x| !x.is_nan()).count().max(1) as f64;
    let frequencies: Vec<f64> =
        (0..count).map(|code| codes.iter().filter(|x| is(**x, code)).count() as f64 / known).collect();
    let variance = 1.0 - frequencies.iter().map(|frequency| frequency * frequency).sum::<f64>();
    let times = if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 };
    let column = |code: usize| {
        let value =
            |&x: &f64| if x.is_nan() { 0.0 } else { times * (f64::from(u8::from(is(x, code))) - frequencies[code]) };
        codes.iter().map(value).collect()
    };
    (0..count).map(column).collect()
}

/// Rows of counts scaled to unit length.
fn directions(mut columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    columns.iter_mut().flatten().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
    for i in 0..columns.first().map_or(0, Vec::len) {
        let length = columns.iter().map(|column| column[i] * column[i]).sum::<f64>().sqrt();
        columns.iter_mut().for_each(|column| column[i] /= if length > 0.0 { length } else { 1.0 });
    }
    columns
}

/// Fixes what follows from all rows together, whatever their component.
pub(super) fn settle(product: &mut Product, features: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<()> {
    let all: Vec<usize> = (0..features.rows()).collect();
    let members = Members::of_rows(&all, &vec![0; all.len()], product.components, weights);
    product.collect_statistics(features, &members, run)?;
    product.settle();
    Ok(())
}
