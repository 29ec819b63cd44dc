//! Ridge for many sparse columns, by conjugate gradients (Hestenes and Stiefel 1952).
//!
//! Texts have more columns than a Gram matrix can have, but their rows hold few entries, so that (X̃ᵀX̃ + αI) P costs little
//! more than the entries of X. Every output has a search of its own, all of them share the products. The diagonal of the matrix
//! is the preconditioner, since frequent words have much larger columns than rare ones.

use super::solve::{Centred, Problem, Solution, System};
use crate::error::Result;
use crate::matrix::{Features, Matrix, Sparse};
use crate::run::{Certificate, Report, Run, StopReason};

/// Smaller systems are solved directly.
const MIN_ITERATIVE_COLUMNS: usize = 1000;
/// Gradients this small, relative to the gradient at zero, end the search.
const TOLERANCE: f64 = 1e-8;
const MAX_STEPS: usize = 2000;
/// The number of folds, each predicted by the fit to the others.
const FOLDS: usize = 3;

impl Problem<'_> {
    /// Whether conjugate gradients pay.
    pub(super) fn iterates(&self) -> bool {
        let small = self.features.rows().min(self.features.columns()) <= MIN_ITERATIVE_COLUMNS;
        self.features.sparse_part().is_some() && self.alpha > 0.0 && !self.positive && !small
    }

    pub(super) fn solve_by_iteration(
        &self,
        mut centred: Centred,
        start: Option<&Matrix>,
        run: &Run,
    ) -> Result<Solution> {
        let means = self.features.means(self.weights, run)?;
        if self.intercept {
            centred.means = means;
        }
        let transposed = self.features.sparse_part().map(|sparse| sparse.transposed(run)).transpose()?;
        let system = NormalEquations { problem: self, means: &centred.means, transposed };
        let right = system.gradient_at_zero(&centred, run)?;
        let (coefficients, report) = system.search(&right, start, run)?;
        Ok(self.solution(coefficients, report, centred, System::Iterated))
    }

    /// The prediction for every row by a fit to two thirds of the rows, without its own: what exact leave-one-out is to direct
    /// solutions, for calibration.
    pub(super) fn held_out(&self, fit: &Solution, run: &Run) -> Result<Matrix> {
        let rows = self.features.rows();
        let mut predictions = Matrix::zeros(rows, self.targets.columns());
        for part in 0..FOLDS {
            let weight = |i: usize| if i % FOLDS == part { 0.0 } else { self.weights.map_or(1.0, |w| w[i]) };
            let weights: Vec<f64> = (0..rows).map(weight).collect();
            if weights.iter().all(|w| *w == 0.0) {
                continue;
            }
            let problem = Problem { weights: Some(&weights), ..*self };
            let without = problem.solve_by_iteration(problem.centre()?, Some(&fit.coefficients), run)?;
            let found = self.features.multiply(&without.coefficients, &without.intercept, run)?;
            (part..rows).step_by(FOLDS).for_each(|i| predictions.row_mut(i).copy_from_slice(found.row(i)));
        }
        Ok(predictions)
    }
}

/// The matrix X̃ᵀX̃ + αI of the normal equations, which is never formed.
struct NormalEquations<'a> {
    problem: &'a Problem<'a>,
    means: &'a [f64],
    transposed: Option<Sparse>,
}

impl NormalEquations<'_> {
    fn centred(&self) -> Features<'_> {
        self.problem.features.centred(self.means)
    }

    /// (X - 1mᵀ)ᵀ R.
    fn transposed_product(&self, right: &Matrix, run: &Run) -> Result<Matrix> {
        let features = self.problem.features;
        let Some(transposed) = &self.transposed else {
            return self.centred().transposed_multiply(right, run);
        };
        let (dense, outputs) = (features.dense_columns(), right.columns());
        let nothing = vec![0.0; outputs];
        let mut product = Matrix::zeros(features.columns(), outputs);
        let (upper, lower) = product.values_mut().split_at_mut(dense * outputs);
        if dense > 0 {
            upper.copy_from_slice(features.dense_alone().transposed_multiply(right, run)?.values());
        }
        lower.copy_from_slice(transposed.features().multiply(right, &nothing, run)?.values());
        let mut totals = nothing;
        (0..right.rows()).for_each(|i| totals.iter_mut().zip(right.row(i)).for_each(|(total, r)| *total += r));
        for (j, mean) in self.means.iter().enumerate().filter(|(_, mean)| **mean != 0.0) {
            product.row_mut(j).iter_mut().zip(&totals).for_each(|(x, total)| *x -= mean * total);
        }
        Ok(product)
    }

    /// Rows times their weights.
    fn weighed(&self, mut rows: Matrix) -> Matrix {
        if let Some(weights) = self.problem.weights {
            for (i, weight) in weights.iter().enumerate() {
                rows.row_mut(i).iter_mut().for_each(|x| *x *= weight);
            }
        }
        rows
    }

    fn gradient_at_zero(&self, centred: &Centred, run: &Run) -> Result<Matrix> {
        let about = self.problem.targets_about(&centred.target_means);
        let mut targets = Matrix::zeros(centred.rows, about.columns());
        (0..centred.rows).for_each(|i| targets.row_mut(i).iter_mut().zip(about.row(i)).for_each(|(out, y)| *out = y));
        self.transposed_product(&self.weighed(targets), run)
    }

    fn times(&self, direction: &Matrix, run: &Run) -> Result<Matrix> {
        let nothing = vec![0.0; direction.columns()];
        let rows = self.weighed(self.centred().multiply(direction, &nothing, run)?);
        let mut product = self.transposed_product(&rows, run)?;
        let alpha = self.problem.alpha;
        product.values_mut().iter_mut().zip(direction.values()).for_each(|(x, p)| *x += alpha * p);
        Ok(product)
    }

    /// Σ w (x - m)² + α of every column.
    fn diagonal(&self, run: &Run) -> Result<Vec<f64>> {
        let features = self.problem.features;
        let weight = |i: usize| self.problem.weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..features.rows()).map(weight).sum();
        let mut sums = vec![0.0; features.columns()];
        for i in 0..features.rows() {
            features.for_row(i, |j, x| sums[j] += weight(i) * x * x);
        }
        run.check()?;
        let about = sums.iter().zip(self.means).map(|(sum, mean)| (sum - total * mean * mean).max(0.0));
        Ok(about.map(|square| square + self.problem.alpha).collect())
    }

    fn search(&self, right: &Matrix, start: Option<&Matrix>, run: &Run) -> Result<(Matrix, Report)> {
        let diagonal = self.diagonal(run)?;
        let mut report = Report::computed(format!("conjugate gradients in {} columns", right.rows()));
        report.stop = StopReason::Converged;
        let scale = right.values().iter().fold(0.0f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        let mut descent = Descent::from(right, start.map(|start| Ok((start, self.times(start, run)?))).transpose()?);
        let mut worst;
        for step in 0.. {
            worst = descent.rest.values().iter().fold(0.0f64, |m, x| m.max(x.abs())) / scale;
            report.trace.push(worst);
            run.progress("conjugate gradients", step, MAX_STEPS);
            if worst <= TOLERANCE {
                break;
            }
            if step == MAX_STEPS || run.out_of_time() {
                report.stop = if step == MAX_STEPS { StopReason::StepLimit } else { StopReason::Budget };
                let why = if step == MAX_STEPS { "the limit of steps was reached" } else { "the budget ran out" };
                report
                    .remarks
                    .push(format!("Not converged: {why}. This is the best answer so far; see its certificate."));
                break;
            }
            run.check_cancelled()?;
            descent.turn(&diagonal);
            let product = self.times(&descent.direction, run)?;
            descent.advance(&product);
        }
        // What was carried along may have drifted: the certificate is of the answer itself.
        let product = run.finish(|| self.times(&descent.answer, run))?;
        let gap = product.values().iter().zip(right.values()).map(|(p, r)| (p - r).abs()).fold(0.0, f64::max);
        let measure = "gradient of the objective, relative".into();
        report.certificate = Some(Certificate { measure, value: gap / scale, tolerance: 1e-6 });
        Ok((descent.answer, report))
    }
}

/// One search for each output, all with the same matrix.
struct Descent {
    answer: Matrix,
    /// What the answer leaves of the right-hand sides: the gradient at the answer, downhill.
    rest: Matrix,
    direction: Matrix,
    /// The squared length of each preconditioned gradient.
    sizes: Vec<f64>,
}

impl Descent {
    /// From zero, or from an answer that comes with the product of the matrix and it.
    fn from(right: &Matrix, start: Option<(&Matrix, Matrix)>) -> Descent {
        let nothing = Matrix::zeros(right.rows(), right.columns());
        let (mut answer, mut rest) = (nothing.clone(), right.clone());
        if let Some((start, product)) = start {
            answer.clone_from(start);
            rest.values_mut().iter_mut().zip(product.values()).for_each(|(r, p)| *r -= p);
        }
        Descent { answer, rest, direction: nothing, sizes: vec![0.0; right.columns()] }
    }

    /// The next direction: the preconditioned gradient, made conjugate to the last direction.
    fn turn(&mut self, diagonal: &[f64]) {
        let mut sizes = vec![0.0; self.sizes.len()];
        for (j, diagonal) in diagonal.iter().enumerate() {
            let pairs = self.rest.row(j).iter().zip(&mut sizes);
            pairs.for_each(|(r, size)| *size += r * r / diagonal);
        }
        let carried = sizes.iter().zip(&self.sizes).map(|(new, old)| if *old > 0.0 { new / old } else { 0.0 });
        let carried: Vec<f64> = carried.collect();
        for (j, diagonal) in diagonal.iter().enumerate() {
            for (o, p) in self.direction.row_mut(j).iter_mut().enumerate() {
                *p = self.rest[(j, o)] / diagonal + carried[o] * *p;
            }
        }
        self.sizes = sizes;
    }

    /// Goes to the minimum along the direction; `product` is the matrix times it.
    fn advance(&mut self, product: &Matrix) {
        let mut curvature = vec![0.0; self.sizes.len()];
        for j in 0..product.rows() {
            let pairs = self.direction.row(j).iter().zip(product.row(j)).zip(&mut curvature);
            pairs.for_each(|((p, q), sum)| *sum += p * q);
        }
        let lengths = self.sizes.iter().zip(&curvature).map(|(size, c)| if *c > 0.0 { size / c } else { 0.0 });
        let lengths: Vec<f64> = lengths.collect();
        for j in 0..product.rows() {
            for (o, length) in lengths.iter().enumerate() {
                self.answer[(j, o)] += length * self.direction[(j, o)];
                self.rest[(j, o)] -= length * product[(j, o)];
            }
        }
    }
}
