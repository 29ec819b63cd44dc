//! A Gaussian mixture with missing values, row after row: what EM is compared with.

use super::*;

/// Every row's own mean and covariance are made of the columns that it knows.
struct Slow {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Matrix>,
}

/// What a component expects of a row.
struct ExpectedRow {
    /// The log density of what is known, times the component's weight.
    log_density: f64,
    /// The row with its missing values imputed, and their covariance.
    row: Vec<f64>,
    covariance: Matrix,
}

/// The inverse of a positive definite matrix, and ln of its determinant.
fn inverse(a: &Matrix) -> (Matrix, f64) {
    use faer::linalg::solvers::{DenseSolveCore, Llt};
    let llt = Llt::new(a.view().faer(), faer::Side::Lower).unwrap();
    let log_determinant = 2.0 * (0..a.rows()).map(|i| llt.L()[(i, i)].ln()).sum::<f64>();
    let inverse = llt.inverse();
    let mut whole = Matrix::zeros(a.rows(), a.rows());
    for i in 0..a.rows() {
        for j in 0..a.rows() {
            whole[(i, j)] = inverse[(i, j)];
        }
    }
    (whole, log_determinant)
}

impl Slow {
    fn expect(&self, c: usize, row: &[f64]) -> ExpectedRow {
        let d = row.len();
        let known: Vec<usize> = (0..d).filter(|&j| !row[j].is_nan()).collect();
        let missing: Vec<usize> = (0..d).filter(|&j| row[j].is_nan()).collect();
        let s = &self.covariances[c];
        let pick = |a: &[usize], b: &[usize]| {
            let mut part = Matrix::zeros(a.len(), b.len());
            for (x, &i) in a.iter().enumerate() {
                b.iter().enumerate().for_each(|(y, &j)| part[(x, y)] = s[(i, j)]);
            }
            part
        };
        let (own, log_determinant) =
            if known.is_empty() { (Matrix::zeros(0, 0), 0.0) } else { inverse(&pick(&known, &known)) };
        let d_known: Vec<f64> = known.iter().map(|&j| row[j] - self.means[c][j]).collect();
        let solved: Vec<f64> =
            (0..known.len()).map(|a| (0..known.len()).map(|b| own[(a, b)] * d_known[b]).sum()).collect();
        let square: f64 = d_known.iter().zip(&solved).map(|(a, b)| a * b).sum();
        let constant = known.len() as f64 * std::f64::consts::TAU.ln() + log_determinant;
        let cross = pick(&missing, &known);
        let (mut x, mut covariance) = (row.to_vec(), Matrix::zeros(d, d));
        for (a, &column) in missing.iter().enumerate() {
            x[column] = self.means[c][column] + (0..known.len()).map(|b| cross[(a, b)] * solved[b]).sum::<f64>();
            for (e, &other) in missing.iter().enumerate() {
                let mut taken = 0.0;
                for b in 0..known.len() {
                    for f in 0..known.len() {
                        taken += cross[(a, b)] * own[(b, f)] * cross[(e, f)];
                    }
                }
                covariance[(column, other)] = s[(column, other)] - taken;
            }
        }
        ExpectedRow { log_density: self.weights[c].ln() - 0.5 * (constant + square), row: x, covariance }
    }

    /// The next parameters, and the log likelihood of these.
    fn step(&self, rows: &Matrix) -> (Slow, f64) {
        let (k, d) = (self.weights.len(), rows.columns());
        let (mut totals, mut means, mut products) = (vec![0.0; k], vec![vec![0.0; d]; k], vec![Matrix::zeros(d, d); k]);
        let mut likelihood = 0.0;
        for i in 0..rows.rows() {
            let expected: Vec<ExpectedRow> = (0..k).map(|c| self.expect(c, rows.row(i))).collect();
            let all = expected.iter().map(|of| of.log_density.exp()).sum::<f64>().ln();
            likelihood += all;
            for (c, ExpectedRow { log_density, row: x, covariance }) in expected.iter().enumerate() {
                let r = (log_density - all).exp();
                totals[c] += r;
                for a in 0..d {
                    means[c][a] += r * x[a];
                    for b in 0..d {
                        // About the old mean, which costs no digits.
                        let product = (x[a] - self.means[c][a]) * (x[b] - self.means[c][b]);
                        products[c][(a, b)] += r * (product + covariance[(a, b)]);
                    }
                }
            }
        }
        let mut covariances = Vec::new();
        for c in 0..k {
            means[c].iter_mut().for_each(|sum| *sum /= totals[c]);
            let mut covariance = Matrix::zeros(d, d);
            for a in 0..d {
                for b in 0..d {
                    let moved = (means[c][a] - self.means[c][a]) * (means[c][b] - self.means[c][b]);
                    covariance[(a, b)] = products[c][(a, b)] / totals[c] - moved;
                }
            }
            covariances.push(covariance);
        }
        let n = rows.rows() as f64;
        (Slow { weights: totals.iter().map(|total| total / n).collect(), means, covariances }, likelihood)
    }
}

#[test]
fn gaussians_with_missing_values_are_those_of_a_slow_loop_over_rows() {
    for (seed, missing) in [(1, 0.0), (2, 0.15), (3, 0.4)] {
        let example = example(seed, 150, missing, false);
        let features = example.rows.features();
        let mut state = state("full", &example, vec![NO_CLASS; K], seed);
        let Block::Gaussian(block) = &state.product.blocks[0] else { panic!() };
        let mut slow = Slow {
            weights: state.log_weights.iter().map(|log| log.exp()).collect(),
            means: (0..K).map(|k| block.means().row(k).to_vec()).collect(),
            covariances: (0..K).map(|k| block.covariance(k)).collect(),
        };
        let mut rows = Matrix::zeros(150, 3);
        (0..3).for_each(|j| features.dense_column(j).iter().enumerate().for_each(|(i, x)| rows[(i, j)] = *x));
        let data = Data::new(&features, None, None, &state.product.blocks);
        let trace = run_em(&mut state, &data, 8, &Run::new());
        for step in 0..8 {
            let (next, likelihood) = slow.step(&rows);
            assert!(
                (trace.objectives[step] - likelihood / 150.0).abs() < 1e-10,
                "{} {likelihood}",
                trace.objectives[step]
            );
            slow = next;
        }
        let Block::Gaussian(block) = &state.product.blocks[0] else { panic!() };
        for k in 0..K {
            assert!((state.log_weights[k].exp() - slow.weights[k]).abs() < 1e-10);
            let covariance = block.covariance(k);
            for i in 0..3 {
                assert!((block.means()[(k, i)] - slow.means[k][i]).abs() < 1e-9);
                (0..3).for_each(|j| assert!((covariance[(i, j)] - slow.covariances[k][(i, j)]).abs() < 1e-9));
            }
        }
    }
}
