//! Exact leave-one-out predictions from one fit.
//!
//! Let H be the hat matrix, which maps targets to fitted values. Leaving row i out and fitting again predicts for it
//!
//! ```text
//! y_i - (y_i - ŷ_i) / (1 - H_ii)
//! ```
//!
//! exactly, for least squares and ridge, weighted or not, with or without intercept. In the dual the same residual is
//! a_i / C_ii, with C the inverse of the bordered system (Cawley 2006). A row with H_ii = 1 alone decides the fit along
//! some direction, which the smallest coefficients without it lack.

use super::solve::{Problem, Solution, System, to_matrix};
use crate::error::Result;
use crate::matrix::{Cholesky, Matrix, Orientation, Tall};
use crate::passes::cuts;
use crate::run::Run;
use faer::{MatMut, MatRef};
use std::ops::Range;

/// Below this, 1 - H_ii (one minus the leverage of a row) is rounding error.
const MIN_ONE_MINUS_LEVERAGE: f64 = 1e-9;

/// The prediction for every row by the fit without that row; `None` for non-negative coefficients, which have no hat matrix.
pub(crate) fn leave_one_out(problem: &Problem<'_>, fit: &Solution, run: &Run) -> Result<Option<Matrix>> {
    if let System::Positive | System::Iterated = fit.system {
        return Ok(None);
    }
    let mut predictions = problem.features.multiply(&fit.coefficients, &fit.intercept, run)?;
    if let System::Rows { .. } = fit.system {
        return from_dual(problem, fit, predictions, run).map(Some);
    }
    let slack = slack_of_rows(problem, fit, run)?;
    let mut deciding = Vec::new();
    for i in (0..problem.features.rows()).filter(|&i| problem.weights.is_none_or(|w| w[i] > 0.0)) {
        let prediction = predictions.row_mut(i);
        if slack[i] > MIN_ONE_MINUS_LEVERAGE {
            let targets = problem.targets.row(i);
            prediction.iter_mut().zip(targets).for_each(|(fit, y)| *fit = y - (y - *fit) / slack[i]);
        } else if problem.alpha == 0.0 {
            deciding.push(i);
        } else {
            refit_without(problem, i, prediction, run)?;
        }
    }
    for batches in deciding.chunks(8 * 64) {
        let batches: Vec<&[usize]> = batches.chunks(64).collect();
        let lost = run.map(batches.len(), |batch| lost_parts(problem, fit, batches[batch]));
        for (&i, lost) in batches.into_iter().flatten().zip(lost.into_iter().flatten()) {
            predictions.row_mut(i).iter_mut().zip(lost).for_each(|(fit, lost)| *fit -= lost);
        }
        run.check()?;
    }
    Ok(Some(predictions))
}

/// What the predictions for rows that alone decide a direction lose without them.
///
/// Row i decides the coefficients along g = (X̃ᵀX̃)⁺x̃_i: every other row is orthogonal to it. Without row i the smallest
/// coefficients have nothing along g, the fit of all other rows stays the same, and the prediction for row i loses
/// gᵀB / gᵀg / √w_i. In the dual gᵀB is a_i and gᵀg is (X̃X̃ᵀ)⁺_ii.
fn lost_parts(problem: &Problem<'_>, fit: &Solution, rows: &[usize]) -> Vec<Vec<f64>> {
    let root = |i: usize| problem.weights.map_or(1.0, |w| w[i].sqrt());
    let from_dual = |dual: &Matrix, squared: Vec<f64>| {
        let lost = |(&i, squared): (&usize, f64)| dual.row(i).iter().map(|a| a / squared / root(i)).collect();
        rows.iter().zip(squared).map(lost).collect()
    };
    match &fit.system {
        System::Singular { vectors, values, dual: Some(dual), .. } => {
            let squared = |&i: &usize| (0..values.len()).map(|k| (vectors[(i, k)] / values[k]).powi(2)).sum();
            return from_dual(dual, rows.iter().map(squared).collect());
        }
        System::PivotedCholesky { factor, dual: Some(dual) } => return from_dual(dual, factor.pseudo_diagonal(rows)),
        _ => {}
    }
    let columns = problem.features.columns();
    let mut x = Matrix::zeros(columns, rows.len());
    for (k, &i) in rows.iter().enumerate() {
        (0..columns).for_each(|j| x[(j, k)] = -root(i) * fit.centred.means[j]);
        problem.features.for_row(i, |j, value| x[(j, k)] += root(i) * value);
    }
    let directions = match &fit.system {
        System::Columns(factor) => factor.solve(&x),
        System::PivotedCholesky { factor, .. } => factor.solve(&x),
        System::Singular { vectors, values, .. } => {
            let mut along = vectors.transpose() * x.view().faer();
            for (k, s) in values.iter().enumerate() {
                along.row_mut(k).iter_mut().for_each(|share| *share /= s * s);
            }
            to_matrix(&(vectors * along))
        }
        System::Rows { .. } | System::Positive | System::Iterated => x,
    };
    let mut lost = vec![vec![0.0; fit.intercept.len()]; rows.len()];
    let mut squared = vec![0.0; rows.len()];
    for j in 0..columns {
        for (k, g) in directions.row(j).iter().enumerate() {
            squared[k] += g * g;
            lost[k].iter_mut().zip(fit.coefficients.row(j)).for_each(|(sum, b)| *sum += g * b);
        }
    }
    for (k, &i) in rows.iter().enumerate() {
        lost[k].iter_mut().for_each(|part| *part /= squared[k] * root(i));
    }
    lost
}

/// 1 - H_ii for every row.
fn slack_of_rows(problem: &Problem<'_>, fit: &Solution, run: &Run) -> Result<Vec<f64>> {
    let rows = problem.features.rows();
    let mut slack = Vec::with_capacity(rows);
    let ranges = cuts(rows, rows.div_ceil(1024));
    for round in ranges.chunks(16) {
        let leverages = run.map(round.len(), |part| leverages(problem, fit, round[part].clone()));
        slack.extend(leverages.into_iter().flatten().map(|leverage| 1.0 - leverage));
        run.check()?;
    }
    if problem.intercept {
        let weight = |i: usize| problem.weights.map_or(1.0, |w| w[i]);
        slack.iter_mut().enumerate().for_each(|(i, slack)| *slack -= weight(i) / fit.centred.total);
    }
    Ok(slack)
}

/// x̃ᵀ(X̃ᵀX̃ + αI)⁻¹x̃ for a range of rows.
fn leverages(problem: &Problem<'_>, fit: &Solution, range: Range<usize>) -> Vec<f64> {
    let shrink = |s: &f64| 1.0 / (s * s + problem.alpha);
    if let System::Singular { vectors, values, dual: Some(_), .. } = &fit.system {
        let share =
            |i: usize| values.iter().enumerate().map(|(k, s)| (vectors[(i, k)] * s).powi(2) * shrink(s)).sum::<f64>();
        return range.map(share).collect();
    }
    if let System::PivotedCholesky { factor, dual: Some(_) } = &fit.system {
        return factor.projected_diagonal(range);
    }
    let centred = &fit.centred;
    let features = problem.features.centred(&centred.means);
    let tall = Orientation::Rows { features, roots: centred.roots.as_deref(), beside: None, ones: false };
    let (count, width) = (range.len(), tall.width());
    let mut tile = vec![0.0; count * width];
    tall.pack(range, &mut tile);
    let mut sums = vec![0.0; count];
    let mut add_squares = |column: &[f64], factor: f64| {
        sums.iter_mut().zip(column).for_each(|(sum, value)| *sum += factor * value * value);
    };
    match &fit.system {
        System::PivotedCholesky { factor, .. } => {
            return factor.quadratic_forms(MatRef::from_column_major_slice(&tile, count, width));
        }
        System::Columns(factor) => {
            let columns = MatMut::from_column_major_slice_mut(&mut tile, count, width);
            factor.solve_lower(columns.transpose_mut());
            tile.chunks(count).for_each(|column| add_squares(column, 1.0));
        }
        System::Singular { vectors, values, .. } => {
            let along = MatRef::from_column_major_slice(&tile, count, width) * vectors;
            for (k, value) in values.iter().enumerate() {
                let column: Vec<f64> = along.col(k).iter().copied().collect();
                add_squares(&column, shrink(value));
            }
        }
        System::Rows { .. } | System::Positive | System::Iterated => {}
    }
    sums
}

/// Residuals a_i / C_ii. The bump along the unit vector u of root weights is subtracted from C again: it adds u_i² / (α + c).
fn from_dual(problem: &Problem<'_>, fit: &Solution, mut predictions: Matrix, run: &Run) -> Result<Matrix> {
    let System::Rows { factor, dual, bump } = &fit.system else {
        return Ok(predictions);
    };
    let rows = problem.features.rows();
    let inverse_diagonal = inverse_diagonal(factor, run)?;
    for i in 0..rows {
        let weight = problem.weights.map_or(1.0, |w| w[i]);
        if weight == 0.0 {
            continue;
        }
        let along_u = if *bump > 0.0 { weight / fit.centred.total / (problem.alpha + bump) } else { 0.0 };
        let slack = inverse_diagonal[i] - along_u;
        if slack > MIN_ONE_MINUS_LEVERAGE * inverse_diagonal[i] {
            let residuals = dual.row(i).iter().map(|a| a / slack / weight.sqrt());
            let targets = problem.targets.row(i);
            predictions.row_mut(i).iter_mut().zip(targets).zip(residuals).for_each(|((p, y), r)| *p = y - r);
        } else {
            refit_without(problem, i, predictions.row_mut(i), run)?;
        }
    }
    Ok(predictions)
}

/// The diagonal of A⁻¹ = L⁻ᵀL⁻¹: squared lengths of the columns of L⁻¹.
fn inverse_diagonal(factor: &Cholesky, run: &Run) -> Result<Vec<f64>> {
    let size = factor.lower().nrows();
    let ranges = cuts(size, size.div_ceil(64));
    let mut diagonal = Vec::with_capacity(size);
    for round in ranges.chunks(8) {
        let parts = run.map(round.len(), |part| {
            let range = round[part].clone();
            let mut units = vec![0.0; size * range.len()];
            range.clone().enumerate().for_each(|(column, i)| units[column * size + i] = 1.0);
            factor.solve_lower(MatMut::from_column_major_slice_mut(&mut units, size, range.len()));
            units.chunks(size).map(|column| column.iter().map(|v| v * v).sum()).collect::<Vec<f64>>()
        });
        diagonal.extend(parts.into_iter().flatten());
        run.check()?;
    }
    Ok(diagonal)
}

/// Fits without row `i` and predicts for it.
fn refit_without(problem: &Problem<'_>, i: usize, prediction: &mut [f64], run: &Run) -> Result<()> {
    let mut weights = problem.weights.map_or_else(|| vec![1.0; problem.features.rows()], <[f64]>::to_vec);
    weights[i] = 0.0;
    let fit = Problem { weights: Some(&weights), ..*problem }.solve(run)?;
    prediction.copy_from_slice(&fit.intercept);
    problem.features.for_row(i, |j, value| {
        prediction.iter_mut().zip(fit.coefficients.row(j)).for_each(|(sum, b)| *sum += value * b);
    });
    Ok(())
}
