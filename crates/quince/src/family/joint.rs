//! A joint distribution of two discrete variables: the probability of every pair of values.
//!
//! P(a) = Σ_b P(a, b) is a marginal, P(b | a) = P(a, b) / P(a) a conditional distribution. Bayes' rule inverts it:
//! P(a | b) = P(b | a) P(a) / P(b).

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// Probabilities of pairs: one row for every a, one column for every b.
///
/// ```
/// use quince::family::Joint;
/// // Three red balls and a blue one; two are drawn. First red: two of three are left.
/// let urn = Joint::from_conditional(&[0.75, 0.25], &[&[2.0 / 3.0, 1.0 / 3.0], &[1.0, 0.0]])?;
/// assert!((urn.probability(0, 0) - 0.5).abs() < 1e-15);
/// assert!((urn.columns()[0] - 0.75).abs() < 1e-15);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    table: Matrix,
}

impl Joint {
    /// From probabilities, counts, or anything in proportion to them.
    pub fn new(table: Matrix) -> Result<Joint> {
        let total: f64 = table.values().iter().sum();
        if table.values().iter().any(|&x| !(x >= 0.0 && x.is_finite())) || !total.is_finite() || total <= 0.0 {
            let remedy = "Give numbers of at least zero that are not all zero.";
            return Err(Error::data("a joint table holds probabilities, and these are none", remedy));
        }
        let mut table = table;
        table.values_mut().iter_mut().for_each(|x| *x /= total);
        Ok(Joint { table })
    }

    /// From P(a) and, for every a, P(b | a).
    pub fn from_conditional(prior: &[f64], conditional: &[&[f64]]) -> Result<Joint> {
        let width = conditional.first().map_or(0, |row| row.len());
        if prior.len() != conditional.len() || conditional.iter().any(|row| row.len() != width) {
            let problem = format!("{} probabilities do not go with {} rows", prior.len(), conditional.len());
            return Err(Error::data(problem, "Give every probability a row, and all rows the same length."));
        }
        let values = prior.iter().zip(conditional).flat_map(|(p, row)| row.iter().map(move |q| p * q)).collect();
        Joint::new(Matrix::new(prior.len(), width, values)?)
    }

    /// The joint probabilities.
    pub fn table(&self) -> &Matrix {
        &self.table
    }

    /// P(a, b).
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn probability(&self, a: usize, b: usize) -> f64 {
        self.table[(a, b)]
    }

    /// The marginal P(a), for every a.
    pub fn rows(&self) -> Vec<f64> {
        (0..self.table.rows()).map(|a| self.table.row(a).iter().sum()).collect()
    }

    /// The marginal P(b), for every b.
    pub fn columns(&self) -> Vec<f64> {
        (0..self.table.columns()).map(|b| self.table.column(b).iter().sum()).collect()
    }

    /// P(b | a), for every b; `None` if a never happens, or there is no such row.
    pub fn given_row(&self, a: usize) -> Option<Vec<f64>> {
        if a < self.table.rows() { normalised(self.table.row(a).to_vec()) } else { None }
    }

    /// P(a | b), for every a: Bayes' rule. `None` if b never happens, or there is no such column.
    ///
    /// ```
    /// use quince::family::Joint;
    /// // A test finds 9 of 10 ill, and 1 of 10 healthy; 1 of 100 is ill.
    /// let joint = Joint::from_conditional(&[0.01, 0.99], &[&[0.9, 0.1], &[0.1, 0.9]])?;
    /// let ill = joint.given_column(0).unwrap()[0];
    /// assert!((ill - 0.009 / (0.009 + 0.099)).abs() < 1e-12);
    /// # quince::Result::Ok(())
    /// ```
    pub fn given_column(&self, b: usize) -> Option<Vec<f64>> {
        if b < self.table.columns() { normalised(self.table.column(b)) } else { None }
    }

    /// Whether a and b are independent: P(a, b) = P(a) P(b), up to this difference.
    pub fn is_independent(&self, tolerance: f64) -> bool {
        let (rows, columns) = (self.rows(), self.columns());
        let differs = |(a, p): (usize, &f64)| {
            columns.iter().enumerate().any(|(b, q)| (self.table[(a, b)] - p * q).abs() > tolerance)
        };
        !rows.iter().enumerate().any(differs)
    }

    /// The correlation of numbers that stand for every a and every b; `None` if one of them is constant.
    pub fn correlation(&self, of_rows: &[f64], of_columns: &[f64]) -> Result<Option<f64>> {
        if (of_rows.len(), of_columns.len()) != (self.table.rows(), self.table.columns()) {
            let shape = format!("{} rows and {} columns", self.table.rows(), self.table.columns());
            return Err(Error::data(
                format!("{} and {} numbers do not go with {shape}", of_rows.len(), of_columns.len()),
                "Give a number for every row and one for every column.",
            ));
        }
        let moments = |margin: &[f64], values: &[f64]| {
            let mean: f64 = margin.iter().zip(values).map(|(p, x)| p * x).sum();
            let variance: f64 = margin.iter().zip(values).map(|(p, x)| p * (x - mean).powi(2)).sum();
            (mean, variance.sqrt())
        };
        let ((x, sx), (y, sy)) = (moments(&self.rows(), of_rows), moments(&self.columns(), of_columns));
        let pairs = (0..of_rows.len()).flat_map(|a| (0..of_columns.len()).map(move |b| (a, b)));
        let together: f64 = pairs.map(|(a, b)| self.table[(a, b)] * (of_rows[a] - x) * (of_columns[b] - y)).sum();
        Ok((sx > 0.0 && sy > 0.0).then(|| together / (sx * sy)))
    }
}

/// Numbers as fractions of their sum.
fn normalised(numbers: Vec<f64>) -> Option<Vec<f64>> {
    let total: f64 = numbers.iter().sum();
    (total > 0.0).then(|| numbers.iter().map(|x| x / total).collect())
}
