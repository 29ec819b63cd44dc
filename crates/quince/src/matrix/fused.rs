//! A fused matrix product, whose results are consumed while they are still in registers.
//!
//! Searches for the nearest of many rows need scores x·y for all pairs, and discard nearly all of them at once; kernels need a
//! function of them, not the scores. Here sixteen rows x lie side by side in a [`Panels`], six rows y at a time (three in double
//! precision) are multiplied with them, and the sums go to a [`Visit`] instead of to memory.

use super::simd::Lane;

/// The number of rows that a panel holds side by side.
pub(crate) const WIDE: usize = 16;
/// Columns that are multiplied at a time: a panel of these stays in the nearest cache.
const COLUMNS_AT_A_TIME: usize = 384;

/// A column of a panel: a value of each of its rows. No vector of it lies across two cache lines, which would take twice as long to
/// load.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct PanelColumn<T = f32>(pub(crate) [T; WIDE]);

impl PanelColumn {
    /// How many of these hold a row of this number of values, sixteen to a block: an even number, so that loops take two at a time.
    pub(crate) fn blocks(values: usize) -> usize {
        2 * values.div_ceil(2 * WIDE)
    }

    /// The values of some, one after another.
    pub(crate) fn values(blocks: &[PanelColumn]) -> &[f32] {
        // SAFETY: each is sixteen values in order, as large as its alignment, so that nothing lies between one and the next.
        unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), blocks.len() * WIDE) }
    }

    pub(crate) fn values_mut(blocks: &mut [PanelColumn]) -> &mut [f32] {
        // SAFETY: as in `values`; the slice that was lent is not used meanwhile.
        unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), blocks.len() * WIDE) }
    }
}

/// Rows packed side by side: for each panel its columns, sixteen values each; what is past the last row is zero.
pub(crate) struct Panels<T = f32> {
    columns: usize,
    values: Vec<PanelColumn<T>>,
}

impl<T: Lane> Panels<T> {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Panels<T> {
        Panels { columns, values: vec![PanelColumn([T::ZERO; WIDE]); rows.div_ceil(WIDE) * columns] }
    }

    /// Writes row `i`.
    pub(crate) fn set_row(&mut self, i: usize, row: impl Iterator<Item = T>) {
        let first = i / WIDE * self.columns;
        let panel = &mut self.values[first..first + self.columns];
        panel.iter_mut().zip(row).for_each(|(column, x)| column.0[i % WIDE] = x);
    }

    /// The length of rows.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The columns of a panel.
    pub(crate) fn panel(&self, p: usize) -> &[PanelColumn<T>] {
        &self.values[p * self.columns..(p + 1) * self.columns]
    }
}

/// A bound on the rounding error of the score of a row x with any row y: `constant` - `slope` · score.
///
/// A score s = x·y - ½‖y‖² is a sum of d + 1 products, taken in any order from numbers rounded to single precision. It is off
/// by at most γ ‖y‖ (‖x‖ + ‖y‖) with γ = (d + 8)·2⁻²⁴ (Higham 2002, chapter 3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct ErrorBound {
    constant: f64,
    slope: f64,
}

impl ErrorBound {
    /// Nothing is known.
    pub(crate) const UNKNOWN: ErrorBound = ErrorBound { constant: f64::INFINITY, slope: 0.0 };

    /// For an x of this norm and any y of at most the norm `largest`.
    pub(crate) fn within(columns: usize, norm: f64, largest: f64) -> ErrorBound {
        ErrorBound { constant: ErrorBound::gamma(columns) * largest * (norm + largest) + 1e-30, slope: 0.0 }
    }

    /// For an x of this norm and a y of any norm. A score says itself how long y can be: ‖y‖ ≤ ‖x‖ + δ with
    /// δ² = ‖x - y‖² = ‖x‖² - 2s, so that ‖y‖ (‖x‖ + ‖y‖) ≤ (‖x‖ + δ)(2‖x‖ + δ) ≤ 6‖x‖² - 5s. One y far out makes the scores
    /// of others no worse.
    pub(crate) fn anywhere(columns: usize, norm: f64) -> ErrorBound {
        let gamma = ErrorBound::gamma(columns);
        if gamma > 0.001 {
            return ErrorBound::UNKNOWN;
        }
        // The score at hand is itself off by what is to be bounded.
        let gamma = gamma / (1.0 - 5.0 * gamma);
        ErrorBound { constant: gamma * 6.0 * norm * norm + 1e-30, slope: 5.0 * gamma }
    }

    fn gamma(columns: usize) -> f64 {
        1.001 * (columns + 8) as f64 / (1 << 24) as f64
    }

    /// With a little more, whatever the score.
    pub(crate) fn and(self, more: f64) -> ErrorBound {
        ErrorBound { constant: self.constant + more, ..self }
    }

    /// The one that says more about this score.
    pub(crate) fn or(self, other: ErrorBound, score: f64) -> ErrorBound {
        if other.at(score) < self.at(score) { other } else { self }
    }

    /// Bound on the error of this score.
    #[inline(always)]
    pub(crate) fn at(self, score: f64) -> f64 {
        self.constant - self.slope * score
    }

    /// The least computed score of a y whose true score is at least this.
    pub(crate) fn least(self, score: f64) -> f64 {
        (score - self.constant) / (1.0 - self.slope)
    }

    /// Below ‖x‖² - 2s, the squared distance, as a line over computed scores: its height at zero and its slope.
    pub(crate) fn line_below(self, squared_norm: f64) -> (f64, f64) {
        (squared_norm - 2.0 * self.constant, 2.0 - 2.0 * self.slope)
    }
}

/// Looks at the scores of one row with the sixteen rows of a panel.
pub(crate) trait Visit<T = f32> {
    /// Implementations are `#[inline(always)]`, so that scores stay where they are.
    fn scores(&mut self, row: usize, scores: &[T; WIDE]);
}

/// Numbers that can be multiplied so: how many rows at a time depends on how many fit into the registers.
pub(crate) trait Multiply: Lane {
    fn product<V: Visit<Self>, const FUSED: bool>(
        panel: &[PanelColumn<Self>],
        rows: &[Self],
        sums: &mut Vec<[Self; WIDE]>,
        visit: &mut V,
    );
}

impl Multiply for f32 {
    #[inline(always)]
    fn product<V: Visit, const FUSED: bool>(
        panel: &[PanelColumn],
        rows: &[f32],
        sums: &mut Vec<[f32; WIDE]>,
        visit: &mut V,
    ) {
        product::<f32, V, 6, FUSED>(panel, rows, sums, visit);
    }
}

impl Multiply for f64 {
    #[inline(always)]
    fn product<V: Visit<f64>, const FUSED: bool>(
        panel: &[PanelColumn<f64>],
        rows: &[f64],
        sums: &mut Vec<[f64; WIDE]>,
        visit: &mut V,
    ) {
        product::<f64, V, 2, FUSED>(panel, rows, sums, visit);
    }
}

/// Multiplies a panel with `rows` (each as long as the panel is deep, one after another) and shows the scores of every row,
/// in order. `sums` is scratch space.
pub(crate) fn each_score<T: Multiply, V: Visit<T>>(
    panel: &[PanelColumn<T>],
    rows: &[T],
    sums: &mut Vec<[T; WIDE]>,
    visit: &mut V,
) {
    #[cfg(target_arch = "x86_64")]
    if super::simd::has_wide_vectors() {
        // SAFETY: the machine was asked, and has these instructions.
        return unsafe { wide(panel, rows, sums, visit) };
    }
    T::product::<V, { super::simd::FUSED_ANYWHERE }>(panel, rows, sums, visit);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide<T: Multiply, V: Visit<T>>(panel: &[PanelColumn<T>], rows: &[T], sums: &mut Vec<[T; WIDE]>, visit: &mut V) {
    T::product::<V, true>(panel, rows, sums, visit);
}

#[inline(always)]
fn product<T: Lane, V: Visit<T>, const TALL: usize, const FUSED: bool>(
    panel: &[PanelColumn<T>],
    rows: &[T],
    sums: &mut Vec<[T; WIDE]>,
    visit: &mut V,
) {
    let columns = panel.len();
    if columns == 0 {
        return;
    }
    let count = rows.len() / columns;
    let deep = columns > COLUMNS_AT_A_TIME;
    if deep {
        sums.clear();
        sums.resize(count.next_multiple_of(TALL), [T::ZERO; WIDE]);
    }
    let mut from = 0;
    while from < columns {
        let to = (from + COLUMNS_AT_A_TIME).min(columns);
        let part = &panel[from..to];
        let mut first = 0;
        while first < count {
            let mut block = [[T::ZERO; WIDE]; TALL];
            if deep && from > 0 {
                block.copy_from_slice(&sums[first..first + TALL]);
            }
            // Past the last row the last one is multiplied again, and the result ignored.
            let mut some = [&rows[..0]; TALL];
            for r in 0..TALL {
                let start = (first + r).min(count - 1) * columns;
                some[r] = &rows[start + from..start + to];
            }
            let block = add_products::<T, TALL, FUSED>(part, some, block);
            if to == columns {
                let last = TALL.min(count - first);
                for r in 0..TALL {
                    if r < last {
                        visit.scores(first + r, &block[r]);
                    }
                }
            } else {
                sums[first..first + TALL].copy_from_slice(&block);
            }
            first += TALL;
        }
        from = to;
    }
}

#[inline(always)]
fn add_products<T: Lane, const TALL: usize, const FUSED: bool>(
    panel: &[PanelColumn<T>],
    rows: [&[T]; TALL],
    mut block: [[T; WIDE]; TALL],
) -> [[T; WIDE]; TALL] {
    let columns = panel.len();
    for row in rows {
        assert_eq!(row.len(), columns);
    }
    for j in 0..columns {
        let lanes = panel[j].0;
        for r in 0..TALL {
            let x = rows[r][j];
            for l in 0..WIDE {
                block[r][l] = x.times_plus::<FUSED>(lanes[l], block[r][l]);
            }
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;
    use proptest::prelude::*;

    struct Collect(Vec<[f32; WIDE]>);

    impl Visit for Collect {
        #[inline(always)]
        fn scores(&mut self, row: usize, scores: &[f32; WIDE]) {
            assert_eq!(row, self.0.len());
            self.0.push(*scores);
        }
    }

    proptest! {
        #[test]
        fn scores_are_the_products_of_plain_loops(left in 1usize..40, right in 1usize..20, columns in 1usize..900, seed in 0u64..99) {
            let mut stream = Stream::new(seed, 0);
            let mut numbers = |count: usize| (0..count).map(|_| stream.below(9) as f32 - 4.0).collect::<Vec<f32>>();
            let (x, y) = (numbers(left * columns), numbers(right * columns));
            let mut panels = Panels::zeros(left, columns);
            (0..left).for_each(|i| panels.set_row(i, x[i * columns..(i + 1) * columns].iter().copied()));
            let mut sums = Vec::new();
            for p in 0..left.div_ceil(WIDE) {
                let mut seen = Collect(Vec::new());
                each_score(panels.panel(p), &y, &mut sums, &mut seen);
                prop_assert_eq!(seen.0.len(), right);
                for i in p * WIDE..((p + 1) * WIDE).min(left) {
                    for k in 0..right {
                        // Whole numbers this small add up without rounding.
                        let slow: f32 = (0..columns).map(|j| x[i * columns + j] * y[k * columns + j]).sum();
                        prop_assert_eq!(seen.0[k][i % WIDE], slow);
                    }
                }
            }
        }

        #[test]
        fn a_score_is_never_further_off_than_its_error_bound(columns in 1usize..300, far in -4i32..9, near in -4i32..9, seed in 0u64..999) {
            let mut stream = Stream::new(seed, 0);
            let mut row = |size: i32| (0..columns).map(|_| ((stream.uniform() - 0.5) * 10f64.powi(size)) as f32).collect::<Vec<f32>>();
            let (x, y) = (row(near), row(far));
            let norm = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let (of_x, of_y) = (norm(&x), norm(&y));
            let exact = x.iter().zip(&y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>() - 0.5 * of_y * of_y;
            let mut panels = Panels::zeros(1, columns + 1);
            panels.set_row(0, x.iter().copied().chain([1.0]));
            let packed: Vec<f32> = y.iter().copied().chain([(-0.5 * of_y * of_y) as f32]).collect();
            let mut seen = Collect(Vec::new());
            each_score(panels.panel(0), &packed, &mut Vec::new(), &mut seen);
            let score = f64::from(seen.0[0][0]);
            for error_bound in [ErrorBound::within(columns, of_x, of_y), ErrorBound::anywhere(columns, of_x)] {
                prop_assert!((score - exact).abs() <= error_bound.at(score), "{score} {exact} {error_bound:?}");
                prop_assert!(score >= error_bound.least(exact), "{score} {exact} {error_bound:?}");
                let (height, slope) = error_bound.line_below(of_x * of_x);
                prop_assert!(height - slope * score <= of_x * of_x - 2.0 * exact);
            }
        }
    }
}
