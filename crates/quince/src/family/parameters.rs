//! The parameters of blocks as arrays, for whoever reckons on with them.

use super::product::Product;
use crate::family::block::{Block, Coding, Place};
use crate::matrix::Matrix;

/// What one block has learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The family.
    pub family: &'static str,
    /// The dense features that it speaks for, in its order; empty if they are sparse.
    pub columns: Vec<usize>,
    /// Of sparse features the first, counted from the first sparse one, and how many.
    pub places: Option<(usize, usize)>,
    /// Arrays by name. Most have a row a class, or a component, and a column a feature:
    ///
    /// | family | arrays |
    /// |---|---|
    /// | normal | `count`, `mean`, `variance`, and `added` (one row): what is added to variances |
    /// | poisson | `count`, `sum`, `rate` |
    /// | bernoulli | `count` of yes, `log_no`, `log_yes` |
    /// | categorical | for each feature `count 0`, `log 0`, `count 1`, `log 1` ...: a column a category; of bins also `edges 0` ... |
    /// | multinomial | `count`, `log` |
    /// | gaussian | `mean`; `covariance 0`, `covariance 1` ... of each class, or one for all; `axes`, `centre` |
    /// | window | `width` |
    /// | chain | `count` |
    pub arrays: Vec<(String, Matrix)>,
}

impl Parameters {
    /// An array by its name.
    pub fn array(&self, name: &str) -> Option<&Matrix> {
        self.arrays.iter().find(|(other, _)| other == name).map(|(_, array)| array)
    }
}

/// So many columns are copied at a time.
const FEW: usize = 64;

impl Product {
    /// The parameters of every block.
    pub(crate) fn parameters(&self) -> Vec<Parameters> {
        let of_block = |(block, sums): (&Block, &Matrix)| Parameters {
            family: block.word(),
            columns: block.family().columns().to_vec(),
            places: block.sparse_places(),
            arrays: self.arrays(block, sums).into_iter().map(|(name, array)| (name.to_string(), array)).collect(),
        };
        self.blocks.iter().zip(&self.sums).map(of_block).collect()
    }

    fn arrays(&self, block: &Block, sums: &Matrix) -> Vec<(String, Matrix)> {
        let classes = self.components;
        let table = |width: usize, value: &dyn Fn(usize, usize) -> f64| {
            let mut table = Matrix::zeros(classes, width);
            // A few columns at a time: the classes of a word lie side by side where they come from.
            for first in (0..width).step_by(FEW) {
                for k in 0..classes {
                    let places = table.row_mut(k).iter_mut().enumerate().skip(first).take(FEW);
                    places.for_each(|(j, place)| *place = value(k, j));
                }
            }
            table
        };
        // Sums from a place on.
        let some = |first: usize, width: usize| table(width, &|k, j| sums[(k, first + j)]);
        let width = block.family().columns().len();
        let named = |name: &str, array: Matrix| (name.to_string(), array);
        match block {
            Block::Normal(block) => {
                let added = block.added();
                let added = Matrix::new(1, added.len(), added).expect("one for each column");
                vec![
                    named("count", some(0, width)),
                    named("mean", table(width, &|k, j| block.parameters(k)[j].mean)),
                    named("variance", table(width, &|k, j| block.parameters(k)[j].variance)),
                    named("added", added),
                ]
            }
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
                    arrays.push((format!("count {j}"), some(first, count)));
                    let logs: Vec<Vec<f64>> = (0..classes).map(|k| block.parameters(k, j)).collect();
                    arrays.push((format!("log {j}"), table(count, &|k, c| logs[k][c])));
                    if let Coding::Bins(edges) = coding {
                        let edges = Matrix::new(1, edges.len(), edges.clone()).expect("a row of edges");
                        arrays.push((format!("edges {j}"), edges));
                    }
                    first += count;
                }
                arrays
            }
            Block::Multinomial(block) => {
                let width = match block.place() {
                    Place::Dense(columns) => columns.len(),
                    Place::Sparse { width, .. } => *width,
                };
                vec![named("count", some(0, width)), named("log", table(width, &|k, j| block.log(k, j)))]
            }
            Block::Gaussian(block) => {
                let mut arrays = vec![named("mean", block.means().clone())];
                for k in 0..block.covariances() {
                    arrays.push((format!("covariance {k}"), block.covariance(k)));
                }
                if let Some(axes) = block.axes() {
                    arrays.push(named("axes", axes.vectors.clone()));
                    let centre = Matrix::new(1, axes.centre.len(), axes.centre.clone()).expect("one for each column");
                    arrays.push(named("centre", centre));
                }
                arrays
            }
            Block::Window(block) => vec![named("width", table(width, &|k, j| block.widths(j)[k]))],
            Block::Chain(_) => vec![named("count", sums.clone())],
        }
    }
}
