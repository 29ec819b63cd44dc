//! The linear system behind least squares and ridge.
//!
//! Minimise over B and b₀
//!
//! ```text
//! Σ_i w_i ‖y_i - b₀ - Bᵀx_i‖² + α ‖B‖²
//! ```
//!
//! With means subtracted (the intercept is not penalised), X̃ the centred rows times √w and Ỹ likewise:
//! - rows outnumber columns: (X̃ᵀX̃ + αI) B = X̃ᵀỸ, by Cholesky;
//! - many sparse columns with α > 0: the same by conjugate gradients (see `iterate.rs`);
//! - columns outnumber rows, the dual: (X̃X̃ᵀ + αI) A = Ỹ and B = X̃ᵀA, by Cholesky;
//! - the matrix is singular or nearly so: the triangular factor of X̃ (never squared) and its singular values, or, for more
//!   than 512 rows and columns, Cholesky with pivots; among all minimisers the one of least norm. The report says when this
//!   was needed.

use super::positive;
use crate::error::{Error, Result};
use crate::matrix::{
    About, Cholesky, Features, Matrix, Moments, Orientation, PivotedCholesky, Sparse, Triangle, WithTargets,
    centred_moments, moments, row_products, triangular_factor,
};
use crate::run::{Certificate, Outcome, Report, Run};
use faer::Mat;

/// The least fraction of a column that earlier columns may leave unexplained, for Cholesky to be trusted.
const MIN_PIVOT: f64 = 1e-8;

/// Up to this size a singular system is solved by singular values, above by Cholesky with pivots,
const MAX_SINGULAR_VALUE_SIZE: usize = 512;
/// unless another cutoff is asked for than that of the pivots, which is about this fraction of the largest.
const CUTOFF_OF_PIVOTS: std::ops::RangeInclusive<f64> = 1e-7..=1e-6;

/// With more sparse columns (and rows) than this, an answer without a penalty fits every row, says nothing and takes minutes.
const MAX_UNPENALISED_SPARSE: usize = 3000;

/// A penalised least-squares problem.
pub(crate) struct Problem<'a> {
    pub(crate) features: Features<'a>,
    pub(crate) targets: &'a Matrix,
    pub(crate) weights: Option<&'a [f64]>,
    pub(crate) alpha: f64,
    pub(crate) intercept: bool,
    pub(crate) positive: bool,
    /// Directions with a singular value below this fraction of the largest are left out; zero leaves out rounding only.
    pub(crate) cutoff: f64,
}

/// The minimiser, and what is needed to leave rows out of it.
pub(crate) struct Solution {
    /// One row per feature, one column per output.
    pub(crate) coefficients: Matrix,
    pub(crate) intercept: Vec<f64>,
    pub(crate) report: Report,
    pub(super) centred: Centred,
    pub(super) system: System,
}

/// Means and root weights of a problem.
pub(super) struct Centred {
    pub(super) means: Vec<f64>,
    pub(super) rows: usize,
    pub(super) target_means: Vec<f64>,
    pub(super) roots: Option<Vec<f64>>,
    pub(super) total: f64,
    pub(super) transposed: Option<Sparse>,
}

/// The factored system, by the route taken.
pub(super) enum System {
    /// Cholesky of X̃ᵀX̃ + αI.
    Columns(Cholesky),
    /// Cholesky of X̃X̃ᵀ + αI + c·uuᵀ, with u the unit vector of root weights, which X̃X̃ᵀ maps to zero. The dual
    /// answer is orthogonal to u, so the last term changes nothing but makes the matrix regular at α = 0.
    Rows { factor: Cholesky, dual: Matrix, bump: f64 },
    /// Singular vectors of X̃ (a column each) and singular values, those that count, and all of the latter: right vectors,
    /// or, in the dual, left ones and the dual answer.
    Singular { vectors: Mat<f64>, values: Vec<f64>, all: Vec<f64>, dual: Option<Matrix> },
    /// The same for large systems, by Cholesky with pivots of X̃ᵀX̃ + αI, or of X̃X̃ᵀ + αI and then with the dual answer.
    PivotedCholesky { factor: PivotedCholesky, dual: Option<Matrix> },
    /// Non-negative coefficients have no closed form.
    Positive,
    /// Conjugate gradients leave no factor behind.
    Iterated,
}

impl Problem<'_> {
    pub(crate) fn solve(&self, run: &Run) -> Result<Solution> {
        if self.iterates() {
            return self.solve_by_iteration(self.centre()?, None, run);
        }
        self.solve_directly(run)
    }

    /// By a factor, from which rows can be left out exactly.
    pub(crate) fn solve_directly(&self, run: &Run) -> Result<Solution> {
        let (rows, columns) = (self.features.rows(), self.features.columns());
        if self.alpha == 0.0 && self.features.sparse_part().is_some() && rows.min(columns) > MAX_UNPENALISED_SPARSE {
            return Err(Error::data(
                format!("{columns} sparse columns are too many for least squares without a penalty"),
                "Use ridge, or fewer columns: of a text, for example with words=2000.",
            ));
        }
        Triangle::afford(if self.positive { columns } else { rows.min(columns) })?;
        let centred = self.centre()?;
        if self.positive {
            return self.solve_positive(centred, run);
        }
        if columns <= rows { self.solve_by_columns(centred, run) } else { self.solve_by_rows(centred, run) }
    }

    /// The means of the targets, and zeros for the means of the features, which are found later.
    pub(super) fn centre(&self) -> Result<Centred> {
        self.features.afford_columns()?;
        let rows = self.features.rows();
        let weight = |i: usize| self.weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..rows).map(weight).sum();
        if rows == 0 || total <= 0.0 {
            return Err(Error::data("no row has any weight", "Give at least one row a positive weight."));
        }
        let mut target_means = vec![0.0; self.targets.columns()];
        for i in 0..rows {
            let row = self.targets.row(i);
            target_means.iter_mut().zip(row).for_each(|(mean, y)| *mean += weight(i) * y / total);
        }
        if target_means.iter().any(|mean| !mean.is_finite()) {
            return Err(Error::data(
                "the target contains NaN, infinity or values too large to add up",
                "Remove those rows or rescale the target.",
            ));
        }
        if !self.intercept {
            target_means.fill(0.0);
        }
        let roots = self.weights.map(|w| w.iter().map(|w| w.sqrt()).collect());
        let means = vec![0.0; self.features.columns()];
        Ok(Centred { means, rows, target_means, roots, total, transposed: None })
    }

    pub(super) fn targets_about<'b>(&'b self, means: &'b [f64]) -> About<'b> {
        About::new(self.targets, means)
    }

    /// Ỹ: the targets about their means, rows weighted.
    fn scaled_targets(&self, centred: &Centred) -> Matrix {
        let mut scaled = self.targets.clone();
        let about = self.targets_about(&centred.target_means);
        for i in 0..scaled.rows() {
            let root = centred.roots.as_ref().map_or(1.0, |roots| roots[i]);
            scaled.row_mut(i).iter_mut().zip(about.row(i)).for_each(|(out, y)| *out = root * y);
        }
        scaled
    }

    /// X̃ᵀX̃ and X̃ᵀỸ; fills in the means.
    fn moments(&self, centred: &mut Centred, run: &Run) -> Result<Moments> {
        let rows = WithTargets::new(self.features, self.targets, centred.roots.as_deref());
        let (shape, target_means) = (self.features.shape(), &centred.target_means);
        if !self.intercept {
            self.features.means(None, run)?; // which refuses what is not finite
            return moments(&rows, shape, &centred.means, target_means, run);
        }
        let (means, found) = centred_moments(&rows, shape, target_means, run)?;
        centred.means = means;
        Ok(found)
    }

    fn solve_by_columns(&self, mut centred: Centred, run: &Run) -> Result<Solution> {
        let columns = self.features.columns();
        let moments = self.moments(&mut centred, run)?;
        let mut system = moments.gram;
        system.add_to_diagonal(self.alpha);
        run.check()?;
        let Some(factor) = self.trusted(&system, run)? else {
            if columns > MAX_SINGULAR_VALUE_SIZE
                && self.pivots_will_do()
                && let Some(factor) = PivotedCholesky::of(system.clone(), run)?
            {
                let coefficients = refined(&system, |right| factor.solve(right), &moments.cross);
                return self.dependent(centred, coefficients, factor, None, run);
            }
            return self.solve_by_singular_values(centred, run);
        };
        let coefficients = refined(&system, |right| factor.solve(right), &moments.cross);
        let route = format!("Cholesky of the {columns} x {columns} Gram matrix");
        let mut report = Report::computed(route);
        note_rank(&mut report, columns);
        report.certificate = Some(residual(&system, &coefficients, &moments.cross));
        Ok(self.solution(coefficients, report, centred, System::Columns(factor)))
    }

    fn solve_by_rows(&self, mut centred: Centred, run: &Run) -> Result<Solution> {
        let rows = self.features.rows();
        let means = self.features.means(self.weights, run)?;
        if self.intercept {
            centred.means = means;
        }
        centred.transposed = self.features.sparse_part().map(|sparse| sparse.transposed(run)).transpose()?;
        let roots = centred.roots.as_deref();
        let mut system = row_products(self.features.centred(&centred.means), roots, centred.transposed.as_ref(), run)?;
        let size = system.diagonal().iter().sum::<f64>() / rows as f64;
        system.add_to_diagonal(self.alpha);
        let scaled_targets = self.scaled_targets(&centred);
        let bump = if self.intercept { size + self.alpha } else { 0.0 };
        if self.intercept {
            add_along(&mut system, bump / centred.total, roots);
        }
        run.check()?;
        let Some(factor) = self.trusted(&system, run)? else {
            if rows > MAX_SINGULAR_VALUE_SIZE && self.pivots_will_do() {
                add_along(&mut system, -bump / centred.total, roots);
                if let Some(factor) = PivotedCholesky::of(system.clone(), run)? {
                    let dual = refined(&system, |right| factor.solve(right), &scaled_targets);
                    let coefficients = self.primal(&centred, &dual, run)?;
                    return self.dependent(centred, coefficients, factor, Some(dual), run);
                }
            }
            return self.solve_by_singular_values(centred, run);
        };
        let dual = refined(&system, |right| factor.solve(right), &scaled_targets);
        let coefficients = self.primal(&centred, &dual, run)?;
        let mut report = Report::computed(format!("Cholesky of the {rows} x {rows} matrix of row products (dual)"));
        note_rank(&mut report, rows - usize::from(self.intercept));
        report.certificate = Some(residual(&system, &dual, &scaled_targets));
        Ok(self.solution(coefficients, report, centred, System::Rows { factor, dual, bump }))
    }

    /// Cholesky's factor, unless columns nearly depend on each other or a direction may be below the cutoff.
    fn trusted(&self, system: &Triangle, run: &Run) -> Result<Option<Cholesky>> {
        let Some(factor) = Cholesky::of(system.clone(), run)?.filter(|f| f.least_pivot >= MIN_PIVOT) else {
            return Ok(None);
        };
        let clear = self.cutoff == 0.0 || factor.reciprocal_condition(run)? > 10.0 * self.cutoff;
        Ok(clear.then_some(factor))
    }

    fn pivots_will_do(&self) -> bool {
        self.cutoff == 0.0 || CUTOFF_OF_PIVOTS.contains(&self.cutoff)
    }

    /// B = X̃ᵀA.
    fn primal(&self, centred: &Centred, dual: &Matrix, run: &Run) -> Result<Matrix> {
        let scaled = scale_rows(dual, centred.roots.as_deref());
        self.features.centred(&centred.means).transposed_multiply(&scaled, run)
    }

    /// From the triangular factor R of [X̃ Ỹ] or of X̃ᵀ and the singular values of R.
    fn solve_by_singular_values(&self, centred: Centred, run: &Run) -> Result<Solution> {
        let (rows, columns, outputs) = (self.features.rows(), self.features.columns(), self.targets.columns());
        let of_rows = columns > rows;
        let size = columns.min(rows);
        let (features, roots) = (self.features.centred(&centred.means), centred.roots.as_deref());
        let tall = if of_rows {
            Orientation::Columns { features, roots, transposed: centred.transposed.as_ref() }
        } else {
            Orientation::Rows { features, roots, beside: Some(self.targets_about(&centred.target_means)), ones: false }
        };
        let triangle = triangular_factor(&tall, run)?;
        let square = triangle.as_ref().submatrix(0, 0, size, size).to_owned();
        let svd = run.aside(size, move || square.svd())?.map_err(|_| {
            Error::data("the singular values did not converge", "Look for columns of extreme size and rescale them.")
        })?;
        let all: Vec<f64> = (0..size).map(|k| svd.S()[k]).collect();
        let largest = all.first().copied().unwrap_or(0.0);
        let cutoff = largest * self.cutoff.max(f64::EPSILON * rows.max(columns) as f64);
        let rank = all.iter().filter(|&&value| value > cutoff).count();
        let values = all[..rank].to_vec();
        let vectors = svd.V().subcols(0, rank).to_owned();
        let shrink = |s: f64, power: i32| s.powi(power) / (s * s + self.alpha);

        let (coefficients, dual) = if of_rows {
            let onto = |right: &Matrix| {
                let mut along = vectors.transpose() * right.view().faer();
                for k in 0..rank {
                    (0..outputs).for_each(|o| along[(k, o)] *= shrink(values[k], 0));
                }
                to_matrix(&(&vectors * along))
            };
            let y = self.scaled_targets(&centred);
            let mut dual = onto(&y);
            let mut coefficients = self.primal(&centred, &dual, run)?;
            // The dual answer is divided by squared singular values and B = X̃ᵀA multiplies it again: a refinement or two
            // win back the digits that get lost on that way.
            for _ in 0..2 {
                let mut rest = scale_rows(&self.misfit(&centred, &coefficients, run)?, roots);
                rest.values_mut().iter_mut().zip(dual.values()).for_each(|(r, a)| *r = -*r - self.alpha * a);
                let step = onto(&rest);
                add_to(&mut coefficients, &self.primal(&centred, &step, run)?);
                add_to(&mut dual, &step);
            }
            (coefficients, Some(dual))
        } else {
            let right = triangle.as_ref().submatrix(0, columns, columns, outputs);
            let mut along = svd.U().subcols(0, rank).transpose() * right;
            for k in 0..rank {
                (0..outputs).for_each(|o| along[(k, o)] *= shrink(values[k], 1));
            }
            (to_matrix(&(&vectors * along)), None)
        };
        let mut report = Report::computed(format!("singular values of the {size} x {size} triangular factor"));
        note_rank(&mut report, rank);
        if rank < columns || self.cutoff == 0.0 {
            remark_on_rank(&mut report, rank, columns);
        }
        report.certificate = Some(self.gradient(&centred, &coefficients, run)?);
        Ok(self.solution(coefficients, report, centred, System::Singular { vectors, values, all, dual }))
    }

    fn dependent(
        &self,
        centred: Centred,
        coefficients: Matrix,
        factor: PivotedCholesky,
        dual: Option<Matrix>,
        run: &Run,
    ) -> Result<Solution> {
        let size = self.features.rows().min(self.features.columns());
        let mut report = Report::computed(format!("Cholesky with pivots of a {size} x {size} matrix"));
        note_rank(&mut report, factor.rank());
        remark_on_rank(&mut report, factor.rank(), self.features.columns());
        report.certificate = Some(self.gradient(&centred, &coefficients, run)?);
        Ok(self.solution(coefficients, report, centred, System::PivotedCholesky { factor, dual }))
    }

    fn solve_positive(&self, mut centred: Centred, run: &Run) -> Result<Solution> {
        let moments = self.moments(&mut centred, run)?;
        let mut gram = moments.gram;
        gram.add_to_diagonal(self.alpha);
        let (coefficients, report) = positive::descend(gram, &moments.cross, run)?;
        Ok(self.solution(coefficients, report, centred, System::Positive))
    }

    /// X̃B - Ỹ, rows not weighted.
    fn misfit(&self, centred: &Centred, coefficients: &Matrix, run: &Run) -> Result<Matrix> {
        let nothing = vec![0.0; coefficients.columns()];
        let mut residual = self.features.centred(&centred.means).multiply(coefficients, &nothing, run)?;
        let about = self.targets_about(&centred.target_means);
        for i in 0..residual.rows() {
            residual.row_mut(i).iter_mut().zip(about.row(i)).for_each(|(fit, y)| *fit -= y);
        }
        Ok(residual)
    }

    /// The gradient X̃ᵀ(X̃B - Ỹ) + αB at B, relative to its parts.
    fn gradient(&self, centred: &Centred, coefficients: &Matrix, run: &Run) -> Result<Certificate> {
        let residual = self.misfit(centred, coefficients, run)?;
        let scaled = scale_rows(&residual, centred.roots.as_deref());
        let gradient = self.primal(centred, &scaled, run)?;
        let size = self.primal(centred, &self.scaled_targets(centred), run)?;
        let worst = gradient
            .values()
            .iter()
            .zip(coefficients.values())
            .map(|(g, b)| (g + self.alpha * b).abs())
            .fold(0.0, f64::max);
        Ok(certificate(worst, size.values()))
    }

    pub(super) fn solution(&self, coefficients: Matrix, report: Report, centred: Centred, system: System) -> Solution {
        let intercept = (0..coefficients.columns())
            .map(|o| {
                if !self.intercept {
                    return 0.0;
                }
                centred.target_means[o]
                    - (0..coefficients.rows()).map(|j| centred.means[j] * coefficients[(j, o)]).sum::<f64>()
            })
            .collect();
        Solution { coefficients, intercept, report, centred, system }
    }
}

fn note_rank(report: &mut Report, rank: usize) {
    report.outcome = Outcome::LeastSquares { rank };
    report.fact("rank", rank as f64);
}

fn remark_on_rank(report: &mut Report, rank: usize, columns: usize) {
    report.remarks.push(format!(
        "Some columns follow from others, as categories beside a constant always do (rank {rank} of {columns}): \
         of all equally good answers this is the one with the smallest coefficients."
    ));
}

/// Adds `factor` times rrᵀ, with r the root weights.
fn add_along(system: &mut Triangle, factor: f64, roots: Option<&[f64]>) {
    let root = |i: usize| roots.map_or(1.0, |roots| roots[i]);
    for k in 0..system.size() {
        (k..system.size()).for_each(|i| system.add(i, k, factor * root(i) * root(k)));
    }
}

/// Solves and takes one step of iterative refinement, which wins back the digits that the factor rounds away.
fn refined(system: &Triangle, solve: impl Fn(&Matrix) -> Matrix, right: &Matrix) -> Matrix {
    let mut answer = solve(right);
    let mut rest = system.multiply(&answer);
    rest.values_mut().iter_mut().zip(right.values()).for_each(|(product, r)| *product = r - *product);
    let correction = solve(&rest);
    add_to(&mut answer, &correction);
    answer
}

fn residual(system: &Triangle, answer: &Matrix, right: &Matrix) -> Certificate {
    let product = system.multiply(answer);
    let worst = product.values().iter().zip(right.values()).map(|(p, r)| (p - r).abs()).fold(0.0, f64::max);
    certificate(worst, right.values())
}

fn certificate(worst: f64, parts: &[f64]) -> Certificate {
    let size = parts.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let value = if worst == 0.0 { 0.0 } else { worst / size.max(f64::MIN_POSITIVE) };
    Certificate { measure: "gradient of the objective, relative".into(), value, tolerance: 1e-6 }
}

fn add_to(sum: &mut Matrix, step: &Matrix) {
    sum.values_mut().iter_mut().zip(step.values()).for_each(|(sum, step)| *sum += step);
}

pub(super) fn scale_rows(matrix: &Matrix, roots: Option<&[f64]>) -> Matrix {
    let mut scaled = matrix.clone();
    if let Some(roots) = roots {
        for (i, root) in roots.iter().enumerate() {
            scaled.row_mut(i).iter_mut().for_each(|value| *value *= root);
        }
    }
    scaled
}

pub(super) fn to_matrix(mat: &Mat<f64>) -> Matrix {
    let mut matrix = Matrix::zeros(mat.nrows(), mat.ncols());
    for i in 0..mat.nrows() {
        (0..mat.ncols()).for_each(|j| matrix[(i, j)] = mat[(i, j)]);
    }
    matrix
}
