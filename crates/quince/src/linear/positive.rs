//! Least squares with coefficients that are not negative, by coordinate descent on the Gram matrix.

use crate::error::Result;
use crate::matrix::{Matrix, Triangle};
use crate::run::{Certificate, Report, Run, StopReason};

const TOLERANCE: f64 = 1e-10;
const MAX_SWEEPS: usize = 100_000;

/// Minimises ½ bᵀGb - cᵀb over b ≥ 0 for every column c of `cross`.
///
/// One coordinate after another is set to its best value; done when the projected gradient is within a tolerance of zero
/// relative to the largest |c|, which is the certificate.
pub(super) fn descend(mut gram: Triangle, cross: &Matrix, run: &Run) -> Result<(Matrix, Report)> {
    let size = gram.size();
    gram.mirror();
    let mut coefficients = Matrix::zeros(size, cross.columns());
    let mut report = Report::computed(format!("coordinate descent on the {size} x {size} Gram matrix, b ≥ 0"));
    report.stop = StopReason::Converged;
    let mut worst_of_all = 0.0f64;
    for output in 0..cross.columns() {
        let c = cross.column(output);
        let scale = c.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
        let mut b = vec![0.0; size];
        // gradient = G b - c, kept up to date
        let mut gradient: Vec<f64> = c.iter().map(|c| -c).collect();
        let mut worst = f64::INFINITY;
        for sweep in 0.. {
            worst = (0..size).map(|j| if b[j] > 0.0 { gradient[j].abs() } else { -gradient[j] }).fold(0.0, f64::max)
                / scale;
            if worst <= TOLERANCE {
                break;
            }
            if sweep == MAX_SWEEPS || run.out_of_time() {
                report.stop = if sweep == MAX_SWEEPS { StopReason::StepLimit } else { StopReason::Budget };
                break;
            }
            if sweep % 16 == 0 {
                run.check()?;
            }
            for j in 0..size {
                let curvature = gram.get(j, j);
                let best = if curvature > 0.0 { (b[j] - gradient[j] / curvature).max(0.0) } else { 0.0 };
                let step = best - b[j];
                if step != 0.0 {
                    b[j] = best;
                    (0..size).for_each(|i| gradient[i] += step * gram.get(i, j));
                }
            }
        }
        worst_of_all = worst_of_all.max(worst);
        (0..size).for_each(|j| coefficients[(j, output)] = b[j]);
    }
    if report.stop != StopReason::Converged {
        let why =
            if report.stop == StopReason::Budget { "the budget ran out" } else { "the limit of steps was reached" };
        report.remarks.push(format!("Not converged: {why}. This is the best answer so far; see its certificate."));
    }
    report.certificate = Some(Certificate {
        measure: "projected gradient of the objective, relative".into(),
        value: worst_of_all,
        tolerance: TOLERANCE,
    });
    Ok((coefficients, report))
}
