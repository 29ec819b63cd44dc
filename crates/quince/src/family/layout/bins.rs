//! Edges of bins: of equal width, or with equal numbers of values; and the grid on which values lie.

/// Values lie on a grid if at least this fraction of those that differ do: some ages are given in months.
const MIN_ON_GRID: f64 = 0.95;

/// Values this near to each other, as a fraction of their range, are one value with roundings of arithmetic.
const SAME_VALUE: f64 = 1e-9;

/// A value lies on a point that is no further away than this fraction of a step.
const MAX_OFF_GRID: f64 = 1e-5;

/// Of numbers in single precision, which lie as far from their points as their digits end, no more than this.
const MAX_OFF_GRID_IN_SINGLE: f64 = 0.05;

/// A grid has at most this many points between the smallest and the largest value.
const MAX_GRID_POINTS: f64 = 1e6;

/// Equidistant points.
struct Grid {
    origin: f64,
    step: f64,
}

impl Grid {
    /// Whether nearly all of these different values, which rise, lie on points, each on one of its own. Of many values within a
    /// small part of a step all would lie on the same point: a grid has steps smaller than the range of its values.
    fn holds(&self, different: &[f64]) -> bool {
        // 13.64 is 13.640000343 in single precision, and lies on hundredths all the same.
        let single = different.iter().all(|&x| f64::from(x as f32) == x);
        let off = |x: f64| if single { f64::from(f32::EPSILON) * x.abs() / self.step } else { 0.0 };
        let (mut points, mut last) = (0, f64::NAN);
        for &x in different {
            let steps = (x - self.origin) / self.step;
            let point = steps.round();
            let most = MAX_OFF_GRID.max(off(x).min(MAX_OFF_GRID_IN_SINGLE));
            if (steps - point).abs() < most && point != last {
                (points, last) = (points + 1, point);
            }
        }
        f64::from(points) >= MIN_ON_GRID * different.len() as f64
    }
}

/// The values that differ, each once.
fn different(sorted: &[f64]) -> Vec<f64> {
    let range = sorted.last().zip(sorted.first()).map_or(0.0, |(high, low)| high - low);
    let mut different = sorted.to_vec();
    different.dedup_by(|next, before| *next - *before <= SAME_VALUE * range);
    different
}

/// The grid on which nearly all values lie, such as whole numbers or numbers with one decimal; `None` if there is none.
fn grid(sorted: &[f64]) -> Option<Grid> {
    // Of values that repeat, above all zeros, each counts once: zero lies on every grid.
    let different = different(sorted);
    let (low, high) = (*different.first()?, *different.last()?);
    let least = different.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    let tens = (-6..=3).rev().map(|power| Grid { origin: 0.0, step: 10f64.powi(power) });
    let is_grid = |grid: &Grid| (high - low) / grid.step < MAX_GRID_POINTS && grid.holds(&different);
    (low < high).then(|| tens.chain([Grid { origin: low, step: least }]).find(is_grid)).flatten()
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
    fn numbers_in_single_precision_lie_on_the_same_grid() {
        let hundredths: Vec<f64> = (0..300).map(|i| f64::from(1073 + 2 * i) / 100.0).collect();
        let single: Vec<f64> = hundredths.iter().map(|&x| f64::from(x as f32)).collect();
        assert!((step(&single) - step(&hundredths)).abs() < 1e-12 && step(&single) == 0.01);
        assert_eq!(equal_widths(&single, 10), equal_widths(&hundredths, 10));
        // Numbers of many digits lie on none.
        let mut stream = crate::run::Stream::new(1, 0);
        let mut noise: Vec<f64> = (0..300).map(|_| f64::from((10.0 + stream.normal()) as f32)).collect();
        noise.sort_by(f64::total_cmp);
        assert_eq!(step(&noise), 0.0);
    }

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
        // Values far smaller than a step all lie on zero, and make no grid of 1,000 either.
        let mut small: Vec<f64> =
            (0..400).map(|i| 0.001 + 0.006 * (f64::from(i) * std::f64::consts::SQRT_2).fract()).collect();
        small.sort_by(f64::total_cmp);
        assert_eq!(step(&small), 0.0);
        // What arithmetic has rounded in two ways is one value.
        let mut tenths: Vec<f64> = (0..40).flat_map(|i| [0.1 * f64::from(i), f64::from(i) / 10.0]).collect();
        tenths.sort_by(f64::total_cmp);
        assert_eq!(step(&tenths), 0.1);
        // What is too large to have a half beside it has bins all the same.
        assert!(equal_widths(&[1e17, 1e17 + 16.0, 1e17 + 32.0], 8).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
