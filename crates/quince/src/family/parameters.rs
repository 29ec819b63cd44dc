//! The parameters of blocks as arrays, for further computation.

use super::product::Product;
use crate::family::block::{Block, Coding};
use crate::matrix::Matrix;

/// What one block has learnt.
///
/// ```
/// use quince::bayes::BayesModel;
/// use quince::prelude::*;
/// let model = NaiveBayes::new().family("normal".parse::<quince::bayes::Families>()?);
/// let model = model.fit(&[[1.0], [3.0], [7.0], [8.0]], &["a", "a", "b", "b"])?;
/// let parameters = &model.fitted::<BayesModel>().unwrap().parameters()[0];
/// assert_eq!((parameters.family, parameters.array("mean").unwrap().values()), ("normal", &[2.0, 7.5][..]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The family.
    pub family: &'static str,
    /// The dense features of the block, in its order; empty if they are sparse.
    pub columns: Vec<usize>,
    /// Of sparse features the first, counted from the first sparse one, and their number.
    pub places: Option<(usize, usize)>,
    /// Arrays by name. Most have one row per class or component, and one column per feature:
    ///
    /// | family | arrays |
    /// |---|---|
    /// | normal | `count`, `mean`, `variance`, and `variance_floor` (one row), which is added to variances |
    /// | poisson | `count`, `sum`, `rate` |
    /// | bernoulli | `count` of yes, `log_no`, `log_yes` |
    /// | categorical | for each feature `count 0`, `log 0`, `count 1`, `log 1` ...: one column per category; of bins also `edges 0` ... |
    /// | multinomial | `count`, `log` |
    /// | gaussian | `mean`; `covariance 0`, `covariance 1` ... of each class, or one for all; `axes`, `centre` |
    /// | kernel-density | `width`: the bandwidths |
    /// | markov-chain | `count` |
    pub arrays: Vec<(String, Matrix)>,
}

impl Parameters {
    /// An array by its name.
    pub fn array(&self, name: &str) -> Option<&Matrix> {
        self.arrays.iter().find(|(other, _)| other == name).map(|(_, array)| array)
    }
}

/// The number of columns copied at a time.
const COLUMNS_AT_A_TIME: usize = 64;

impl Product {
    /// The parameters of every block.
    pub(crate) fn parameters(&self) -> Vec<Parameters> {
        let of_block = |(block, statistics): (&Block, &Matrix)| Parameters {
            family: block.word(),
            columns: block.family().columns().to_vec(),
            places: block.sparse_places(),
            arrays: self.arrays(block, statistics).into_iter().map(|(name, array)| (name.to_string(), array)).collect(),
        };
        self.blocks.iter().zip(&self.statistics).map(of_block).collect()
    }

    fn arrays(&self, block: &Block, statistics: &Matrix) -> Vec<(String, Matrix)> {
        let table = |width: usize, value: &dyn Fn(usize, usize) -> f64| table(self.components, width, value);
        // Statistics from an index on.
        let some = |first: usize, width: usize| table(width, &|k, j| statistics[(k, first + j)]);
        let width = block.family().columns().len();
        let named = |name: &str, array: Matrix| (name.to_string(), array);
        match block {
            Block::Normal(block) => vec![
                named("count", some(0, width)),
                named("mean", table(width, &|k, j| block.parameters(k)[j].mean)),
                named("variance", table(width, &|k, j| block.parameters(k)[j].variance)),
                named("variance_floor", row(&block.variance_floors())),
            ],
            Block::Poisson(block) => vec![
                named("count", some(0, width)),
                named("sum", some(width, width)),
                named("rate", table(width, &|k, j| block.parameters(k)[j])),
            ],
            Block::Bernoulli(block) => {
                let width = block.place().width();
                vec![
                    named("count", some(0, width)),
                    named("log_no", table(width, &|k, j| block.parameters(k, j)[0])),
                    named("log_yes", table(width, &|k, j| block.parameters(k, j)[1])),
                ]
            }
            Block::Categorical(block) => {
                let (mut arrays, mut first) = (Vec::new(), 0);
                for (j, coding) in block.coding().iter().enumerate() {
                    let count = coding.count();
                    let logs: Vec<Vec<f64>> = (0..self.components).map(|k| block.parameters(k, j)).collect();
                    arrays.push((format!("count {j}"), some(first, count)));
                    arrays.push((format!("log {j}"), table(count, &|k, c| logs[k][c])));
                    if let Coding::Bins(edges) = coding {
                        arrays.push((format!("edges {j}"), row(edges)));
                    }
                    first += count;
                }
                arrays
            }
            Block::Multinomial(block) => {
                let width = block.place().width();
                vec![named("count", some(0, width)), named("log", table(width, &|k, j| block.log(k, j)))]
            }
            Block::Gaussian(block) => {
                let mut arrays = vec![named("mean", block.means().clone())];
                arrays.extend((0..block.covariances()).map(|k| (format!("covariance {k}"), block.covariance(k))));
                if let Some(axes) = block.axes() {
                    arrays.push(named("axes", axes.vectors.clone()));
                    arrays.push(named("centre", row(&axes.centre)));
                }
                arrays
            }
            Block::KernelDensity(block) => vec![named("width", table(width, &|k, j| block.widths(j)[k]))],
            Block::MarkovChain(_) => vec![named("count", statistics.clone())],
        }
    }
}

/// One row per component, one column per feature.
fn table(components: usize, width: usize, value: &dyn Fn(usize, usize) -> f64) -> Matrix {
    let mut table = Matrix::zeros(components, width);
    // A few columns at a time: the components of a word are contiguous in the source.
    for first in (0..width).step_by(COLUMNS_AT_A_TIME) {
        for k in 0..components {
            let places = table.row_mut(k).iter_mut().enumerate().skip(first).take(COLUMNS_AT_A_TIME);
            places.for_each(|(j, place)| *place = value(k, j));
        }
    }
    table
}

/// A matrix of one row.
fn row(values: &[f64]) -> Matrix {
    Matrix::new(1, values.len(), values.to_vec()).expect("one row")
}
