//! Where EM starts: a first division of some rows among components.
//!
//! Rows become points (numbers in deviations, categories as corners, words as directions), and points are divided by k-means, or
//! by what is nearest to rows far from each other; or every row has a share in each component at random. Of many rows, some are
//! enough: the first pass of EM looks at all.

use super::em::State;
use super::{Given, Start};
use crate::cluster::{Division, divide};
use crate::error::{Error, Result};
use crate::family::block::{Block, Coding, Scores, TILE, Tile};
use crate::family::product::Product;
use crate::family::sums::Members;
use crate::matrix::{Features, Matrix, Rows, afford};
use crate::run::{Run, Stream};

/// So many rows are enough to start from.
pub(super) const ENOUGH: usize = 20_000;

/// A column with more categories takes no part in the points.
const MOST_CORNERS: usize = 256;

impl Start {
    /// The start that is the so-many-th.
    fn of(self, at: usize) -> Start {
        match self {
            Start::Auto if at.is_multiple_of(2) => Start::Kmeans,
            Start::Auto => Start::Random,
            other => other,
        }
    }
}

/// The parameters of components from a division of rows, the so-many-th; what all rows say together is settled already.
pub(super) fn draw(
    start: Start,
    at: usize,
    product: &Product,
    features: &Features<'_>,
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<State> {
    let (start, stream) = (start.of(at), &mut run.stream(at as u64));
    let rows = some(0..features.rows(), weights, ENOUGH);
    let mut product = product.clone();
    let k = product.components;
    let totals = if start == Start::Random {
        let draw = |_: usize, shares: &mut [f64]| shares.iter_mut().for_each(|share| *share = stream.uniform());
        by_shares(&mut product, features, &rows, weights, draw, run)?
    } else {
        let how = if start == Start::Kmeans { Division::Means } else { Division::Nearest };
        let labels = divided(&product, features, &rows, weights, (k, how), stream, run)?;
        by_labels(&mut product, features, &rows, &labels, weights, run)?
    };
    product.estimate(run)?;
    Ok(State::new(product, totals, vec![super::em::NONE; k]))
}

/// Divides some rows, as points, into so many groups.
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

/// The parameters of components from the share of every row in each.
pub(super) fn from_shares(
    mut product: Product,
    features: &Features<'_>,
    weights: Option<&[f64]>,
    shares: &Matrix,
    run: &Run,
) -> Result<State> {
    let (rows, k) = (features.rows(), product.components);
    let sound = shares.values().iter().all(|share| share.is_finite() && *share >= 0.0);
    let full = (0..shares.rows()).all(|i| shares.row(i).iter().sum::<f64>() > 0.0);
    if (shares.rows(), shares.columns()) != (rows, k) || !sound || !full {
        let problem =
            format!("{} x {} shares do not fit {rows} rows and {k} components", shares.rows(), shares.columns());
        return Err(Error::data(problem, "Give every row a share of at least zero in each component, not all zero."));
    }
    let all: Vec<usize> = (0..rows).collect();
    let own = |i: usize, to: &mut [f64]| to.copy_from_slice(shares.row(i));
    let totals = by_shares(&mut product, features, &all, weights, own, run)?;
    product.estimate(run)?;
    Ok(State::new(product, totals, vec![super::em::NONE; k]))
}

impl State {
    /// Puts what is given in place of what was found.
    pub(super) fn take(&mut self, given: &Given, run: &Run) -> Result<()> {
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
                self.product.sums[0] = block.sums_for(&self.totals);
                self.product.estimate(run)
            }
            _ => Err(Error::data(
                "means and covariances are of one Gaussian over all columns, which this mixture is not",
                "Give shares instead.",
            )),
        }
    }
}

/// At most so many of the rows that count, from all over.
pub(super) fn some(rows: impl Iterator<Item = usize>, weights: Option<&[f64]>, most: usize) -> Vec<usize> {
    let counted: Vec<usize> = rows.filter(|&i| weights.is_none_or(|weights| weights[i] > 0.0)).collect();
    let count = counted.len().min(most);
    (0..count).map(|r| counted[counted.len() * r / count]).collect()
}

/// Sums of rows that are of one component each; how much the rows of each count.
pub(super) fn by_labels(
    product: &mut Product,
    features: &Features<'_>,
    rows: &[usize],
    labels: &[u32],
    weights: Option<&[f64]>,
    run: &Run,
) -> Result<Vec<f64>> {
    let members = Members::of_rows(rows, labels, product.components, weights);
    product.take_sums(features, &members, run)?;
    Ok(members.totals())
}

/// Sums of rows that have a share in every component; how much the rows of each count.
pub(super) fn by_shares(
    product: &mut Product,
    features: &Features<'_>,
    rows: &[usize],
    weights: Option<&[f64]>,
    mut shares_of: impl FnMut(usize, &mut [f64]),
    run: &Run,
) -> Result<Vec<f64>> {
    let k = product.components;
    let (mut tile, mut shares, mut totals) = (Tile::new(features), Scores::new(k), vec![0.0; k]);
    let mut own = vec![0.0; k];
    product.sums.iter_mut().for_each(|sums| sums.values_mut().fill(0.0));
    for some in rows.chunks(TILE) {
        run.check()?;
        tile.fill(features, some.iter().copied());
        shares.start(some.len(), &vec![0.0; k]);
        for (i, &row) in some.iter().enumerate() {
            shares_of(row, &mut own);
            let times = weights.map_or(1.0, |weights| weights[row]) / own.iter().sum::<f64>();
            shares.add(i, own.iter().map(|share| times * share));
        }
        for (c, total) in totals.iter_mut().enumerate() {
            *total += shares.of(c).iter().sum::<f64>();
            for (block, sums) in product.blocks.iter().zip(&mut product.sums) {
                block.family().add(c, sums.row_mut(c), &tile, Some(shares.of(c)));
            }
        }
    }
    Ok(totals)
}

/// Rows as points whose squared distances add up over columns: a column of numbers, or of categories, varies by one.
fn points(product: &Product, features: &Features<'_>, rows: &[usize]) -> Result<Rows> {
    let width: usize = product
        .blocks
        .iter()
        .map(|block| match block {
            Block::Categorical(block) => block.coding().iter().map(corners_of).sum(),
            block => block.family().columns().len(),
        })
        .sum();
    // They are laid out by columns and then by rows.
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
                    match (coding, corners_of(coding)) {
                        (Coding::Codes(_), count) => columns.extend(corners(&values, count)),
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
        let mut sparse = sparse.without_holes();
        sparse.scale_rows_to_one();
        sparse
    });
    Ok(Rows::of(dense, sparse))
}

/// How many numbers of a point a column of categories becomes.
fn corners_of(coding: &Coding) -> usize {
    match coding {
        Coding::Codes(count) if *count > MOST_CORNERS => 0,
        Coding::Codes(count) => *count,
        Coding::Bins(_) | Coding::Numbers(_) => 1,
    }
}

/// In deviations from the mean; a hole is at the mean.
fn standardised(mut values: Vec<f64>) -> Vec<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    let count = known.len().max(1) as f64;
    let mean = known.iter().map(|x| x / count).sum::<f64>();
    let variance = known.iter().map(|x| (x - mean) * (x - mean) / count).sum::<f64>();
    let times = if variance > 0.0 && variance.is_finite() { 1.0 / variance.sqrt() } else { 0.0 };
    values.iter_mut().for_each(|x| *x = if x.is_finite() { (*x - mean) * times } else { 0.0 });
    values
}

/// A column for each category; a hole is at the mean of all.
fn corners(codes: &[f64], count: usize) -> Vec<Vec<f64>> {
    let is = |x: f64, code: usize| x == code as f64;
    let known = codes.iter().filter(|x| !x.is_nan()).count().max(1) as f64;
    let shares: Vec<f64> =
        (0..count).map(|code| codes.iter().filter(|x| is(**x, code)).count() as f64 / known).collect();
    let variance = 1.0 - shares.iter().map(|share| share * share).sum::<f64>();
    let times = if variance > 1e-12 { 1.0 / variance.sqrt() } else { 0.0 };
    let column = |code: usize| {
        let value = |&x: &f64| if x.is_nan() { 0.0 } else { times * (f64::from(u8::from(is(x, code))) - shares[code]) };
        codes.iter().map(value).collect()
    };
    (0..count).map(column).collect()
}

/// Rows of counts as directions.
fn directions(mut columns: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    columns.iter_mut().flatten().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
    for i in 0..columns.first().map_or(0, Vec::len) {
        let length = columns.iter().map(|column| column[i] * column[i]).sum::<f64>().sqrt();
        columns.iter_mut().for_each(|column| column[i] /= if length > 0.0 { length } else { 1.0 });
    }
    columns
}

/// Fixes what all rows say together, whatever component they are of.
pub(super) fn settle(product: &mut Product, features: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<()> {
    let all: Vec<usize> = (0..features.rows()).collect();
    let members = Members::of_rows(&all, &vec![0; all.len()], product.components, weights);
    product.take_sums(features, &members, run)?;
    product.settle();
    Ok(())
}
