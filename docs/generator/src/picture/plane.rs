//! Two columns of a table as a plane: points as drawn, and as learners see them.

use quince::numbers::mean_and_standard_deviation;
use quince::{Matrix, Result, Table};

/// Rows as points. Learners see them as the encoder makes them: centred at the means, in standard deviations.
pub(super) struct Plane {
    pub(super) points: Vec<(f64, f64)>,
    means: [f64; 2],
    deviations: [f64; 2],
}

impl Plane {
    pub(super) fn of(table: &Table, x: &str, y: &str) -> Result<Plane> {
        let numbers = |name: &str| -> Result<Vec<f64>> {
            let column = table.column(name)?;
            Ok((0..column.rows()).filter_map(|i| column.number(i)).collect())
        };
        let (x, y) = (numbers(x)?, numbers(y)?);
        let ((mean_x, deviation_x), (mean_y, deviation_y)) =
            (mean_and_standard_deviation(&x), mean_and_standard_deviation(&y));
        let points = x.into_iter().zip(y).collect();
        Ok(Plane { points, means: [mean_x, mean_y], deviations: [deviation_x, deviation_y] })
    }

    /// Points that learners see unscaled.
    pub(super) fn plain(points: Vec<(f64, f64)>) -> Plane {
        Plane { points, means: [0.0; 2], deviations: [1.0; 2] }
    }

    /// A point as learners see it.
    pub(super) fn standard(&self, (x, y): (f64, f64)) -> [f64; 2] {
        [(x - self.means[0]) / self.deviations[0], (y - self.means[1]) / self.deviations[1]]
    }

    /// And back.
    pub(super) fn original(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        (self.means[0] + x * self.deviations[0], self.means[1] + y * self.deviations[1])
    }

    /// Points as features, a row each.
    pub(super) fn features(&self, points: &[(f64, f64)]) -> Matrix {
        let rows: Vec<[f64; 2]> = points.iter().map(|&point| self.standard(point)).collect();
        Matrix::from_rows(&rows)
    }
}

/// Voronoi cells: for each site the part of a convex polygon that is nearer to it than to any other. Of equal sites the
/// first gets the cell, the others none.
pub(super) fn cells(sites: &[[f64; 2]], window: &[[f64; 2]]) -> Vec<Vec<[f64; 2]>> {
    let cell = |i: usize| {
        if sites[..i].contains(&sites[i]) {
            return Vec::new();
        }
        let others = sites.iter().filter(|other| **other != sites[i]);
        others.fold(window.to_vec(), |cell, other| nearer(&cell, sites[i], *other))
    };
    (0..sites.len()).map(cell).collect()
}

/// The part of a convex polygon that is nearer to `here` than to `there`.
fn nearer(polygon: &[[f64; 2]], here: [f64; 2], there: [f64; 2]) -> Vec<[f64; 2]> {
    let square = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    // Linear in the corner: zero on the line halfway between the two.
    let side = |corner: [f64; 2]| square(corner, there) - square(corner, here);
    let mut kept = Vec::new();
    for (i, &corner) in polygon.iter().enumerate() {
        let next = polygon[(i + 1) % polygon.len()];
        let (from, to) = (side(corner), side(next));
        if from >= 0.0 {
            kept.push(corner);
        }
        if (from > 0.0 && to < 0.0) || (from < 0.0 && to > 0.0) {
            let along = from / (from - to);
            kept.push([0, 1].map(|j| corner[j] + along * (next[j] - corner[j])));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_cover_the_window_and_a_repeated_site_has_none() {
        let window = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]];
        let sites = [[1.0, 1.0], [3.0, 1.0], [1.0, 1.0], [3.5, 1.9]];
        let cells = cells(&sites, &window);
        let area = |cell: &Vec<[f64; 2]>| -> f64 {
            let next = |i: usize| cell[(i + 1) % cell.len()];
            (0..cell.len()).map(|i| 0.5 * (cell[i][0] * next(i)[1] - next(i)[0] * cell[i][1])).sum()
        };
        assert!((cells.iter().map(area).sum::<f64>() - 8.0).abs() < 1e-12);
        assert!(cells[2].is_empty() && area(&cells[0]) > area(&cells[1]));
        assert!(cells[0].iter().all(|corner| corner[0] <= 2.0 + 1e-12));
    }
}
