//! Edges of bins: of equal width, or with equal numbers of values; and the grid on which values lie.

/// Values lie on a grid if at least this fraction of them does: some ages are given in months.
const MIN_ON_GRID: f64 = 0.95;

/// Equidistant points.
struct Grid {
    origin: f64,
    step: f64,
}

/// The grid on which nearly all values lie, such as whole numbers or numbers with one decimal; `None` if there is none.
fn grid(sorted: &[f64]) -> Option<Grid> {
    // Of values that repeat, above all zeros, each counts once: zero lies on every grid.
    let mut sorted = sorted.to_vec();
    sorted.dedup();
    let (low, high) = (sorted.first()?, sorted.last()?);
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0);
    let least = gaps.fold(f64::INFINITY, f64::min);
    let tens = (-6..=3).rev().map(|power| Grid { origin: 0.0, step: 10f64.powi(power) });
    let is_grid = |&Grid { origin, step }: &Grid| {
        let on_grid = |x: &&f64| {
            let steps = (**x - origin) / step;
            (steps - steps.round()).abs() < 1e-5
        };
        (high - low) / step < 1e6 && sorted.iter().filter(on_grid).count() as f64 >= MIN_ON_GRID * sorted.len() as f64
    };
    (low < high).then(|| tens.chain([Grid { origin: *low, step: least }]).find(is_grid)).flatten()
}

/// The step to which sorted values are rounded, or 0.
pub(super) fn step(sorted: &[f64]) -> f64 {
    grid(sorted).map_or(0.0, |grid| grid.step)
}

/// Edges of bins of equal width. Where values lie on a grid, edges lie between its points, so that no bin is empty by its
/// position.
pub(crate) fn equal_widths(sorted: &[f64], bins: usize) -> Vec<f64> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    if let Some(Grid { origin, step }) = grid(sorted) {
        let [first, last] = [low, high].map(|x| ((x - origin) / step).round());
        let points = last - first + 1.0;
        let width = (points / bins as f64).ceil().max(1.0);
        let count = (points / width).ceil() as usize;
        return rising((0..=count).map(|bin| origin + step * (first + width * bin as f64 - 0.5)).collect());
    }
    let step = (high - low) / bins as f64;
    rising((0..bins).map(|bin| low + step * bin as f64).chain([high]).collect())
}

/// Edges without those that rounding has made equal: every bin has a width.
fn rising(mut edges: Vec<f64>) -> Vec<f64> {
    edges.dedup_by(|next, before| *next <= *before);
    edges
}

/// Edges of bins with equal numbers of values (quantiles), as far as ties allow: an edge lies between two values.
pub(crate) fn equal_frequencies(sorted: &[f64], bins: usize) -> Vec<f64> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let half = grid(sorted).map_or(0.0, |grid| 0.5 * grid.step);
    let mut edges = vec![low - half];
    for bin in 1..bins {
        let at = sorted.len() * bin / bins;
        // The next larger value starts a bin of its own; its edge is half way.
        let below = sorted[at.saturating_sub(1)];
        let next = sorted[sorted.partition_point(|&x| x <= below)..].first();
        let Some(&next) = next else { continue };
        let edge = below + 0.5 * (next - below);
        if edges.last().is_some_and(|&last| edge > last) && edge < next {
            edges.push(edge);
        }
    }
    if edges.last().is_some_and(|&last| high + half > last) {
        edges.push(high + half);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_lie_between_the_points_of_a_grid() {
        assert_eq!(equal_widths(&[0.0, 1.0, 3.0], 4), [-0.5, 0.5, 1.5, 2.5, 3.5]);
        assert_eq!(equal_widths(&[10.0, 20.0, 29.0], 5), [9.5, 13.5, 17.5, 21.5, 25.5, 29.5]);
        let tenths: Vec<f64> = (0..40).map(|i| 13.1 + 0.1 * f64::from(i)).collect();
        let edges = equal_widths(&tenths, 128);
        assert_eq!(edges.len(), 41);
        assert!((edges[1] - 13.15).abs() < 1e-9);
        assert_eq!(
            equal_widths(&[0.0, 0.3, 1.0, std::f64::consts::PI], 2),
            [0.0, std::f64::consts::PI / 2.0, std::f64::consts::PI]
        );
        assert_eq!(equal_frequencies(&[0.0, 0.0, 0.0, 4.0, 8.0, 9.0], 2), [-0.5, 2.0, 9.5]);
        assert_eq!(equal_frequencies(&[7.0, 7.0], 4), [7.0]);
        // A few values between the points do not make another grid, and are in some bin all the same.
        let mut ages: Vec<f64> = (1..100).map(|age| f64::from(age % 50)).chain([0.42, 14.5]).collect();
        ages.sort_by(f64::total_cmp);
        let edges = equal_widths(&ages, 128);
        assert_eq!((edges.len(), edges[0], edges[50]), (51, -0.5, 49.5));
        // Zeros lie on every grid, and make none.
        let mut mostly_zero: Vec<f64> = (0..40).map(|i| 1.5 + (f64::from(i) * 0.618_034).fract()).collect();
        mostly_zero.extend([0.0; 1960]);
        mostly_zero.sort_by(f64::total_cmp);
        assert_eq!(step(&mostly_zero), 0.0);
        // What is too large to have a half beside it has bins all the same.
        assert!(equal_widths(&[1e17, 1e17 + 16.0, 1e17 + 32.0], 8).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
