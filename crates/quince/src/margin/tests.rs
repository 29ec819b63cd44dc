//! The dual against an independent solver, and its KKT conditions.

use super::certificate::BiasRule;
use super::dual::{Dual, Solution, SolverOptions};
use super::kernel::{Kernel, KernelSpace};
use super::linear::GAP_PER_VIOLATION;
use super::target::target_scale;
use super::{Intercept, LinearSvm, Loss, Solver};
use crate::learn::{Classes, Examples, Learner, Target};
use crate::matrix::{Features, Matrix, Sparse};
use crate::run::{Run, StopReason, Stream};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT};
use proptest::prelude::*;

const EXACT: SolverOptions = SolverOptions { tolerance: 1e-9, cache: 1 << 20, steps: usize::MAX, shrinking: true };

/// Rows of two overlapping classes, or numbers.
struct Sample {
    rows: Matrix,
    target: Vec<f64>,
    /// What C is multiplied with.
    costs: Vec<f64>,
}

fn draw(count: usize, columns: usize, numbers: bool, seed: u64) -> Sample {
    let mut stream = Stream::new(seed, 0);
    let mut rows = Matrix::zeros(count, columns);
    let mut target = Vec::new();
    for i in 0..count {
        let class = if i % 2 == 0 { 1.0 } else { -1.0 };
        rows.row_mut(i).iter_mut().for_each(|x| *x = stream.normal() + 0.7 * class);
        target.push(if numbers { rows.row(i)[0].sin() + 0.3 * stream.normal() } else { class });
    }
    Sample { rows, target, costs: vec![1.0; count] }
}

/// Rows of whole numbers, many of which are the same, at different costs.
fn draw_whole(count: usize, columns: usize, numbers: bool, seed: u64) -> Sample {
    let mut drawn = draw(count, columns, numbers, seed);
    for i in 0..count {
        drawn.rows.row_mut(i).iter_mut().for_each(|x| *x = x.round());
        drawn.target[i] = if numbers { drawn.target[i].round() } else { drawn.target[i] };
        drawn.costs[i] = 0.3 * (1 + i % 3) as f64;
    }
    drawn
}

impl Sample {
    fn dual<'a>(&'a self, rows: Features<'a>, space: &'a KernelSpace, c: f64, epsilon: Option<f64>) -> Dual<'a> {
        let some = |wanted: &dyn Fn(f64) -> bool, c: f64| -> Vec<f64> {
            let bound = |(y, cost): (&f64, &f64)| if epsilon.is_some() || wanted(*y) { c * cost } else { 0.0 };
            self.target.iter().zip(&self.costs).map(bound).collect()
        };
        Dual {
            rows,
            space,
            indices: (0..self.target.len()).collect(),
            target: self.target.clone(),
            low: some(&|y| y < 0.0, -c),
            high: some(&|y| y > 0.0, c),
            epsilon: epsilon.unwrap_or(0.0),
            unit: epsilon.map_or(1.0, |_| target_scale(&self.target)),
        }
    }

    /// The kernel of every row with every row, by its definition.
    fn kernels(&self, kernel: &Kernel) -> Matrix {
        let count = self.rows.rows();
        let mut kernels = Matrix::zeros(count, count);
        for i in 0..count {
            for j in 0..count {
                kernels[(i, j)] = kernel.of(self.rows.row(i), self.rows.row(j));
            }
        }
        kernels
    }
}

/// tᵀβ - ε Σ|β| - ½ βᵀKβ
fn objective(kernels: &Matrix, dual: &Dual<'_>, beta: &[f64]) -> f64 {
    let quadratic: f64 = (0..beta.len())
        .map(|i| beta[i] * kernels.row(i).iter().zip(beta).map(|(kernel, beta)| kernel * beta).sum::<f64>())
        .sum();
    let linear: f64 = beta.iter().zip(&dual.target).map(|(beta, t)| beta * t - dual.epsilon * beta.abs()).sum();
    linear - 0.5 * quadratic
}

/// The optimum of an interior point solver that knows nothing of support vectors: β = u - v with u, v ≥ 0. `None` if it gives up,
/// as it does now and then where kernels are large.
fn optimum(kernels: &Matrix, dual: &Dual<'_>, total: f64) -> Option<f64> {
    let n = dual.target.len();
    let side = |k: usize| if k < n { (k, 1.0) } else { (k - n, -1.0) };
    let (mut starts, mut places, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..2 * n {
        for row in 0..=column {
            let ((i, a), (j, b)) = (side(row), side(column));
            places.push(row);
            values.push(a * b * kernels[(i, j)]);
        }
        starts.push(values.len());
    }
    let quadratic = CscMatrix::new(2 * n, 2 * n, starts, places, values);
    let linear: Vec<f64> = (0..2 * n).map(|k| dual.epsilon - side(k).1 * dual.target[side(k).0]).collect();
    // Σu - Σv = total; u ≤ high, v ≤ -low; -u ≤ 0, -v ≤ 0.
    let (mut starts, mut places, mut values, mut limits) = (vec![0], Vec::new(), Vec::new(), vec![total]);
    for k in 0..2 * n {
        let (i, sign) = side(k);
        places.extend([0, 1 + k, 1 + 2 * n + k]);
        values.extend([sign, 1.0, -1.0]);
        starts.push(values.len());
        limits.push(if sign > 0.0 { dual.high[i].max(0.0) } else { (-dual.low[i]).max(0.0) });
    }
    limits.extend(vec![0.0; 2 * n]);
    let constraints = CscMatrix::new(1 + 4 * n, 2 * n, starts, places, values);
    let cones = [ZeroConeT(1), NonnegativeConeT(4 * n)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&quadratic, &linear, &constraints, &limits, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.status == SolverStatus::Solved).then(|| -solver.solution.obj_val)
}

/// The largest KKT violation, from kernels by their definition.
fn kkt_violation(kernels: &Matrix, dual: &Dual<'_>, beta: &[f64]) -> f64 {
    let gradient = |i: usize| dual.target[i] - kernels.row(i).iter().zip(beta).map(|(k, b)| k * b).sum::<f64>();
    let (mut max_up, mut min_down) = (f64::NEG_INFINITY, f64::INFINITY);
    for i in 0..beta.len() {
        if beta[i] < dual.high[i] {
            max_up = max_up.max(gradient(i) - if beta[i] >= 0.0 { dual.epsilon } else { -dual.epsilon });
        }
        if beta[i] > dual.low[i] {
            min_down = min_down.min(gradient(i) - if beta[i] > 0.0 { dual.epsilon } else { -dual.epsilon });
        }
    }
    max_up - min_down
}

const KERNELS: [Kernel; 4] = [
    Kernel::Linear,
    Kernel::Polynomial { gamma: 0.4, constant: 1.0, degree: 3 },
    Kernel::Rbf { gamma: 0.5 },
    Kernel::Precomputed,
];

/// Solves the same problem with dense and with sparse rows, and with kernels that are given.
fn solve(drawn: &Sample, kernel: Kernel, c: f64, epsilon: Option<f64>, check: impl Fn(&Dual<'_>, &Solution, &Matrix)) {
    let run = Run::new().threads(2);
    if kernel == Kernel::Precomputed {
        let given = drawn.kernels(&Kernel::Rbf { gamma: 0.3 });
        let space = KernelSpace::of(&given.features(), kernel);
        let dual = drawn.dual(given.features(), &space, c, epsilon);
        return check(&dual, &dual.solve(None, &EXACT, &run).unwrap(), &given);
    }
    let kernels = drawn.kernels(&kernel);
    let space = KernelSpace::of(&drawn.rows.features(), kernel);
    let dual = drawn.dual(drawn.rows.features(), &space, c, epsilon);
    check(&dual, &dual.solve(None, &EXACT, &run).unwrap(), &kernels);
    let entries = (0..drawn.rows.rows()).map(|i| (0u32..).zip(drawn.rows.row(i).iter().copied()).collect::<Vec<_>>());
    // Empty columns make the rows sparse enough to be laid out as such.
    let sparse = Sparse::from_rows(5 * drawn.rows.columns(), entries).unwrap();
    let space = KernelSpace::of(&sparse.features(), kernel);
    let dual = drawn.dual(sparse.features(), &space, c, epsilon);
    check(&dual, &dual.solve(None, &EXACT, &run).unwrap(), &kernels);
}

fn solver(interior: bool) -> Solver {
    if interior { Solver::Interior } else { Solver::Dual }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn classes_have_the_optimum_of_an_interior_point_solver(
        which in 0usize..4, count in 4usize..60, columns in 1usize..5, power in -2i32..3, whole in any::<bool>(), seed in 0u64..999,
    ) {
        let drawn = if whole { draw_whole } else { draw }(count, columns, false, seed);
        solve(&drawn, KERNELS[which], 10f64.powi(power), None, |dual, solution, kernels| {
            let Some(theirs) = optimum(kernels, dual, 0.0) else { return };
            let ours = objective(kernels, dual, &solution.beta);
            assert!((ours - theirs).abs() <= 1e-6 * theirs.abs().max(1e-6), "{ours} {theirs}");
            assert!(solution.stop == StopReason::Converged && solution.kkt_violation <= EXACT.tolerance);
        });
    }

    #[test]
    fn numbers_have_the_optimum_of_an_interior_point_solver(
        which in 0usize..4, count in 4usize..50, columns in 1usize..4, power in -2i32..3, epsilon in 0.0f64..0.5,
        whole in any::<bool>(), seed in 0u64..999,
    ) {
        let drawn = if whole { draw_whole } else { draw }(count, columns, true, seed);
        solve(&drawn, KERNELS[which], 10f64.powi(power), Some(epsilon), |dual, solution, kernels| {
            let Some(theirs) = optimum(kernels, dual, 0.0) else { return };
            let ours = objective(kernels, dual, &solution.beta);
            assert!((ours - theirs).abs() <= 1e-6 * theirs.abs().max(1e-3), "{ours} {theirs}");
        });
    }

    #[test]
    fn every_solution_keeps_its_bounds_its_sum_and_the_kkt_conditions(
        which in 0usize..5, count in 4usize..200, power in -2i32..3, numbers in any::<bool>(),
        whole in any::<bool>(), seed in 0u64..999,
    ) {
        let kernel = KERNELS.get(which).copied().unwrap_or(Kernel::Sigmoid { gamma: 0.1, constant: -0.5 });
        let drawn = if whole { draw_whole } else { draw }(count, 3, numbers, seed);
        solve(&drawn, kernel, 10f64.powi(power), numbers.then_some(0.1), |dual, solution, kernels| {
            for i in 0..count {
                assert!((dual.low[i]..=dual.high[i]).contains(&solution.beta[i]));
            }
            let size: f64 = solution.beta.iter().map(|beta| beta.abs()).sum();
            assert!(solution.beta.iter().sum::<f64>().abs() <= 1e-12 * (1.0 + size));
            if let Some(gap) = solution.relative_gap {
                // A linear kernel may end by its duality gap instead.
                assert!(kernel == Kernel::Linear && gap <= GAP_PER_VIOLATION * EXACT.tolerance / dual.unit);
                return;
            }
            // What is computed in another order differs in the last digits of the largest kernels.
            let rounding = 1e-13 * size * (0..count).map(|i| kernels[(i, i)].abs()).fold(1.0, f64::max);
            assert!(kkt_violation(kernels, dual, &solution.beta) <= EXACT.tolerance + rounding);
        });
    }

    #[test]
    fn the_gap_holds_the_optimum_wherever_a_solve_stops(count in 20usize..200, steps in 1usize..60, numbers in any::<bool>(), seed in 0u64..999) {
        let drawn = draw(count, 2, numbers, seed);
        let kernel = Kernel::Rbf { gamma: 0.5 };
        let space = KernelSpace::of(&drawn.rows.features(), kernel);
        let dual = drawn.dual(drawn.rows.features(), &space, 1.0, numbers.then_some(0.05));
        let run = Run::new();
        let best = dual.solve(None, &EXACT, &run).unwrap();
        let best = dual.certify(&best, BiasRule::Mean, true);
        prop_assert!(best.primal - best.dual <= 1e-7 * best.primal.abs().max(1.0), "{best:?}");
        let early = dual.solve(None, &SolverOptions { steps, ..EXACT }, &run).unwrap();
        let early = dual.certify(&early, BiasRule::Mean, false);
        prop_assert!(early.dual <= best.primal + 1e-9 && best.dual <= early.primal + 1e-9, "{early:?} {best:?}");
        prop_assert!(early.primal >= early.dual);
    }
}

/// Fits a linear model to drawn rows; its primal and dual objective, and its weights with b.
fn linear(drawn: &Sample, settings: &LinearSvm, numbers: bool) -> (f64, f64, Vec<f64>) {
    let target = match numbers {
        true => Target::numbers(Matrix::column_vector(drawn.target.clone())).unwrap(),
        false => Target::classes(Classes::of(["a", "b"]), drawn.target.iter().map(|y| u32::from(*y > 0.0)).collect())
            .unwrap(),
    };
    let examples = Examples::new(drawn.rows.features(), &target, None).unwrap();
    let (model, report) = Learner::fit_examples(settings, &examples, &Run::new()).unwrap();
    let fact = |name: &str| report.facts.iter().find(|fact| fact.0 == name).unwrap().1;
    let weights = model.weights().iter().copied().chain([model.bias()]).collect();
    (fact("primal"), fact("dual"), weights)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn linear_models_have_the_optimum_of_the_kernel_model(
        count in 10usize..80, columns in 1usize..5, power in -2i32..2, numbers in any::<bool>(), interior in any::<bool>(), seed in 0u64..999,
    ) {
        let (drawn, c) = (draw(count, columns, numbers, seed), 10f64.powi(power));
        let space = KernelSpace::of(&drawn.rows.features(), Kernel::Linear);
        let dual = drawn.dual(drawn.rows.features(), &space, c, numbers.then_some(0.1));
        let solution = dual.solve(None, &EXACT, &Run::new()).unwrap();
        let best = dual.certify(&solution, BiasRule::Mean, true);
        let settings = LinearSvm { c, standardise: false, solver: solver(interior), tolerance: 1e-8, epochs: 1_000_000, probabilities: false, ..LinearSvm::default() };
        let (primal, lower, _) = linear(&drawn, &settings, numbers);
        prop_assert!((lower - best.dual).abs() <= 1e-6 * best.dual.abs().max(1e-3), "{lower} {}", best.dual);
        prop_assert!(primal >= lower - 1e-12 && primal - lower <= 1e-5 * primal.max(1e-3), "{primal} {lower}");
    }

    #[test]
    fn the_squared_hinge_has_the_optimum_of_an_interior_point_solver(
        count in 10usize..50, columns in 1usize..5, power in -2i32..2, numbers in any::<bool>(), which in 0usize..3, seed in 0u64..999,
    ) {
        let (drawn, c) = (draw(count, columns, numbers, seed), 10f64.powi(power));
        // The dual of the squared hinge is that of the hinge without bounds and with 1/(2C) more on the diagonal.
        let mut kernels = drawn.kernels(&Kernel::Linear);
        (0..count).for_each(|i| kernels[(i, i)] += 0.5 / c);
        let space = KernelSpace::of(&drawn.rows.features(), Kernel::Linear);
        let dual = drawn.dual(drawn.rows.features(), &space, 1e6, numbers.then_some(0.1));
        let Some(best) = optimum(&kernels, &dual, 0.0) else { return Ok(()) };
        let settings = LinearSvm {
            c, loss: Loss::SquaredHinge, standardise: false, solver: [Solver::Dual, Solver::Interior, Solver::Newton][which], tolerance: 1e-9, epochs: 1_000_000, probabilities: false, ..LinearSvm::default()
        };
        let (primal, lower, _) = linear(&drawn, &settings, numbers);
        prop_assert!((lower - best).abs() <= 1e-6 * best.abs().max(1e-3), "{lower} {best}");
        prop_assert!(primal - lower <= 1e-5 * primal.max(1e-3), "{primal} {lower}");
    }

    #[test]
    fn a_penalised_intercept_is_the_weight_of_a_column(count in 10usize..60, scale in 0.5f64..3.0, interior in any::<bool>(), seed in 0u64..999) {
        let drawn = draw(count, 2, false, seed);
        let settings = LinearSvm { solver: solver(interior), tolerance: 1e-9, epochs: 1_000_000, probabilities: false, ..LinearSvm::default() };
        let penalised = LinearSvm { intercept: Intercept::Penalised, intercept_scale: scale, ..settings.clone() };
        let (primal, _, with) = linear(&drawn, &penalised, false);
        let mut rows = Matrix::zeros(count, 3);
        (0..count).for_each(|i| rows.row_mut(i).copy_from_slice(&[drawn.rows[(i, 0)], drawn.rows[(i, 1)], scale]));
        let widened = Sample { rows, target: drawn.target.clone(), costs: drawn.costs.clone() };
        let (other, _, column) = linear(&widened, &LinearSvm { intercept: Intercept::None, ..settings }, false);
        prop_assert!((primal - other).abs() <= 1e-6 * primal);
        prop_assert!((with[2] - scale * column[2]).abs() <= 1e-3 * (1.0 + with[2].abs()), "{with:?} {column:?}");
    }
}

#[test]
fn stochastic_gradient_descent_comes_near_the_same_optimum() {
    for (loss, seed) in [(Loss::Hinge, 1), (Loss::SquaredHinge, 2)] {
        let drawn = draw(400, 3, false, seed);
        let exact = LinearSvm {
            loss,
            c: 0.1,
            tolerance: 1e-8,
            epochs: 1_000_000,
            probabilities: false,
            ..LinearSvm::default()
        };
        let (best, _, _) = linear(&drawn, &exact, false);
        let sgd = LinearSvm { solver: Solver::Sgd, tolerance: 0.0, epochs: 500, ..exact };
        let (primal, dual, _) = linear(&drawn, &sgd, false);
        assert!(primal >= best * (1.0 - 1e-9) && primal <= best * 1.001, "{primal} {best}");
        assert!(dual <= best);
    }
}
