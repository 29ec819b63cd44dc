//! Blocks of kernel rows.
//!
//! A [`Gallery`] holds many rows, laid out once. [`Probes`] are a few rows (those of a working set, or support vectors) that
//! are compared with all of them: their kernels are written out ([`Gallery::fill`]), or weighted and added up without being
//! written at all ([`Gallery::add`]). Dense rows lie in panels, sixteen side by side, and probes are multiplied with a panel
//! six at a time. Of sparse rows, thirty-two are laid side by side when they are wanted, column by column for the columns that
//! one of them has, so that every entry of a probe adds to thirty-two sums at once. Outputs are cut into pieces by the number of
//! rows alone, so threads change no bit.

use super::{Function, Kernel};
use crate::error::Result;
use crate::matrix::Features;
use crate::matrix::fused::{Multiply, Panels, Visit, WIDE};
use crate::matrix::simd::{Wide, on_wide_vectors};
use crate::run::Run;

/// Rows of a gallery that one task takes: a multiple of a panel.
const PIECE: usize = 32 * SIDE_BY_SIDE;
/// Sparse rows that are laid side by side.
const SIDE_BY_SIDE: usize = 2 * WIDE;
/// Probes that are weighted and added at a time.
const AT_A_TIME: usize = 240;

/// How rows are laid out for a kernel: galleries and probes of one space can be compared.
#[derive(Clone, Debug)]
pub(in crate::margin) struct Space {
    pub(in crate::margin) kernel: Kernel,
    columns: usize,
    sparse: bool,
    /// Taken off all rows where that changes no kernel, so that large means cost no digits.
    centre: Vec<f64>,
}

impl Space {
    /// A space for rows like these.
    pub(in crate::margin) fn of(rows: &Features<'_>, kernel: Kernel) -> Space {
        let columns = rows.columns();
        let stored = rows.sparse_part().map_or(0, |part| part.stored() / part.rows().max(1));
        // An entry of a sparse row costs about as much as two columns of a dense one.
        let sparse = kernel != Kernel::Precomputed
            && rows.sparse_part().is_some()
            && 2 * (stored + rows.dense_columns()) < columns;
        let centred = matches!(kernel, Kernel::Rbf { .. }) && !sparse;
        let centre = if centred { rows.near_means() } else { Vec::new() };
        Space { kernel, columns, sparse, centre }
    }

    /// Adds the weighted kernels of probes to the sum of every row, as [`Gallery::add`] does, for rows that are laid out once only.
    pub(in crate::margin) fn add_to(
        &self,
        sums: &mut [f64],
        rows: &Features<'_>,
        probes: &Probes<f64>,
        weights: &[f64],
        run: &Run,
    ) -> Result<()> {
        let mut pieces: Vec<&mut [f64]> = sums.chunks_mut(PIECE).collect();
        let at_a_time = pieces_at_a_time(pieces.len(), weights.len(), rows.row_cost());
        let mut first = 0;
        for some in pieces.chunks_mut(at_a_time) {
            run.each(some, |piece, sums| {
                let start = first + piece * PIECE;
                let of: Vec<usize> = (start..start + sums.len()).collect();
                let gallery: Gallery<'_, f64> = self.gallery(rows, &of);
                on_wide_vectors(&mut Add { gallery: &gallery, probes, weights, first: 0, sums });
            });
            first += some.len() * PIECE;
            run.check()?;
        }
        Ok(())
    }

    /// γ‖x‖² of a row, for kernels that need it.
    fn half(&self, squared_norm: f64) -> f64 {
        self.kernel.width() * squared_norm
    }

    /// Some rows, laid out.
    pub(in crate::margin) fn gallery<'a, T: Multiply>(&self, rows: &Features<'a>, of: &[usize]) -> Gallery<'a, T> {
        let count = of.len();
        let mut halves = vec![T::ZERO; count.next_multiple_of(SIDE_BY_SIDE)];
        let mut diagonal = vec![0.0; count];
        let mut set = |at: usize, squared_norm: f64| {
            halves[at] = T::from_f64(self.half(squared_norm));
            diagonal[at] = self.kernel.of_itself(squared_norm);
        };
        let shape = if self.kernel == Kernel::Precomputed {
            let mut row = vec![0.0; self.columns];
            for (at, &i) in of.iter().enumerate() {
                rows.pack(std::iter::once(i), &mut row);
                set(at, row.get(i).copied().unwrap_or(0.0));
            }
            Shape::Given(*rows, of.to_vec())
        } else if self.sparse {
            Shape::Sparse(self.lists(rows, of, &mut set))
        } else {
            let mut panels = Panels::zeros(count, self.columns);
            self.each_dense(rows, of, |at, row| {
                panels.set_row(at, row.iter().map(|x| T::from_f64(*x)));
                set(at, row.iter().map(|x| x * x).sum());
            });
            Shape::Dense(panels)
        };
        Gallery { function: Function::new(&self.kernel), shape, halves, diagonal, count }
    }

    /// Some rows, to be compared with those of a gallery.
    pub(in crate::margin) fn probes<T: Multiply>(&self, rows: &Features<'_>, of: &[usize]) -> Probes<T> {
        let mut halves = Vec::with_capacity(of.len());
        let shape = if self.kernel == Kernel::Precomputed {
            halves.resize(of.len(), T::ZERO);
            ProbeShape::Given(of.to_vec())
        } else if self.sparse {
            ProbeShape::Sparse(self.lists(rows, of, |_, norm| halves.push(T::from_f64(self.half(norm)))))
        } else {
            let mut packed = Vec::with_capacity(of.len() * self.columns);
            self.each_dense(rows, of, |_, row| {
                packed.extend(row.iter().map(|x| T::from_f64(*x)));
                halves.push(T::from_f64(self.half(row.iter().map(|x| x * x).sum())));
            });
            ProbeShape::Dense(packed)
        };
        Probes { shape, halves }
    }

    /// Some rows by their entries; `set` is told the squared norm of each.
    fn lists<T: Multiply>(&self, rows: &Features<'_>, of: &[usize], mut set: impl FnMut(usize, f64)) -> Lists<T> {
        let mut lists = Lists { width: self.columns, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for (at, &i) in of.iter().enumerate() {
            let mut norm = 0.0;
            rows.for_row(i, |j, value| {
                if value != 0.0 {
                    lists.columns.push(j as u32);
                    lists.values.push(T::from_f64(value));
                    norm += value * value;
                }
            });
            lists.starts.push(lists.values.len());
            set(at, norm);
        }
        lists
    }

    /// Calls `visit(place, row)` with every row, centred.
    fn each_dense(&self, rows: &Features<'_>, of: &[usize], mut visit: impl FnMut(usize, &[f64])) {
        let rows = if self.centre.is_empty() { *rows } else { rows.centred(&self.centre) };
        let mut row = vec![0.0; self.columns];
        for (at, &i) in of.iter().enumerate() {
            rows.pack(std::iter::once(i), &mut row);
            visit(at, &row);
        }
    }
}

/// Many rows, laid out so that a block of kernel rows is one product.
pub(in crate::margin) struct Gallery<'a, T> {
    function: Function<T>,
    shape: Shape<'a, T>,
    /// γ‖x‖², and zeros past the last row.
    halves: Vec<T>,
    diagonal: Vec<f64>,
    count: usize,
}

enum Shape<'a, T> {
    Dense(Panels<T>),
    Sparse(Lists<T>),
    /// Kernels are read, not computed: these rows of the features.
    Given(Features<'a>, Vec<usize>),
}

/// A few rows that are compared with all rows of a gallery.
pub(in crate::margin) struct Probes<T> {
    shape: ProbeShape<T>,
    halves: Vec<T>,
}

enum ProbeShape<T> {
    /// Row after row.
    Dense(Vec<T>),
    Sparse(Lists<T>),
    /// Which training rows.
    Given(Vec<usize>),
}

/// Sparse rows by their entries.
struct Lists<T> {
    width: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<T>,
}

impl<T: Multiply> Lists<T> {
    #[inline(always)]
    fn row(&self, i: usize) -> (&[u32], &[T]) {
        let row = self.starts[i]..self.starts[i + 1];
        (&self.columns[row.clone()], &self.values[row])
    }
}

/// Sparse rows side by side: a line for every column that one of them has, and for all other columns line 0, of zeros.
struct SideBySide<T> {
    line_of: Vec<u32>,
    used: Vec<u32>,
    lines: Vec<[T; SIDE_BY_SIDE]>,
}

impl<T: Multiply> SideBySide<T> {
    fn new(columns: usize) -> SideBySide<T> {
        SideBySide { line_of: vec![0; columns], used: Vec::new(), lines: vec![[T::ZERO; SIDE_BY_SIDE]] }
    }

    /// Lays out `count` rows from `first` on.
    #[inline(always)]
    fn lay_out(&mut self, rows: &Lists<T>, first: usize, count: usize) {
        self.used.drain(..).for_each(|column| self.line_of[column as usize] = 0);
        self.lines.truncate(1);
        for l in 0..count {
            let (columns, values) = rows.row(first + l);
            for (&column, &value) in columns.iter().zip(values) {
                let line = &mut self.line_of[column as usize];
                if *line == 0 {
                    *line = self.lines.len() as u32;
                    self.used.push(column);
                    self.lines.push([T::ZERO; SIDE_BY_SIDE]);
                }
                self.lines[*line as usize][l] = value;
            }
        }
    }

    /// The products of a probe with all of them.
    #[inline(always)]
    fn products<const FUSED: bool>(&self, (columns, values): (&[u32], &[T])) -> [T; SIDE_BY_SIDE] {
        // Arrays of sixteen, which the compiler keeps in registers.
        let (mut left, mut right) = ([T::ZERO; WIDE], [T::ZERO; WIDE]);
        for (&column, value) in columns.iter().zip(values) {
            let line = &self.lines[self.line_of[column as usize] as usize];
            for l in 0..WIDE {
                left[l] = value.times_plus::<FUSED>(line[l], left[l]);
            }
            for l in 0..WIDE {
                right[l] = value.times_plus::<FUSED>(line[WIDE + l], right[l]);
            }
        }
        let mut sums = [T::ZERO; SIDE_BY_SIDE];
        sums[..WIDE].copy_from_slice(&left);
        sums[WIDE..].copy_from_slice(&right);
        sums
    }
}

impl<T: Multiply> Gallery<'_, T> {
    /// The kernel of each row with itself.
    pub(in crate::margin) fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Writes the kernels of every probe with all rows into its place in `out`.
    pub(in crate::margin) fn fill(&self, probes: &Probes<T>, out: Vec<&mut [T]>, run: &Run) -> Result<()> {
        let some = self.pieces_at_a_time(out.len());
        let mut pieces: Vec<Fill<'_, '_, T>> = (0..self.count.div_ceil(PIECE))
            .map(|piece| Fill { gallery: self, probes, first: piece * PIECE, out: Vec::with_capacity(out.len()) })
            .collect();
        for row in out {
            row.chunks_mut(PIECE).zip(&mut pieces).for_each(|(part, piece)| piece.out.push(part));
        }
        for some in pieces.chunks_mut(some) {
            run.each(some, |_, piece| on_wide_vectors(piece));
            run.check_cancelled()?;
        }
        Ok(())
    }

    /// Adds the weighted kernels of all probes to the sum of every row.
    pub(in crate::margin) fn add(&self, probes: &Probes<T>, weights: &[T], sums: &mut [f64], run: &Run) -> Result<()> {
        let mut pieces: Vec<Add<'_, T>> = sums
            .chunks_mut(PIECE)
            .enumerate()
            .map(|(piece, sums)| Add { gallery: self, probes, weights, first: piece * PIECE, sums })
            .collect();
        for some in pieces.chunks_mut(self.pieces_at_a_time(weights.len())) {
            run.each(some, |_, piece| on_wide_vectors(piece));
            run.check()?;
        }
        Ok(())
    }

    /// How many pieces are done between two looks at the clock: about half a thousand million products.
    fn pieces_at_a_time(&self, probes: usize) -> usize {
        let columns = 32
            + match &self.shape {
                Shape::Dense(panels) => panels.columns(),
                Shape::Sparse(lists) => 2 * lists.values.len() / self.count.max(1),
                Shape::Given(..) => 0,
            };
        pieces_at_a_time(self.count.div_ceil(PIECE), probes, columns)
    }
}

/// How many of these pieces are done between two looks at the clock, with products of so many columns.
fn pieces_at_a_time(pieces: usize, probes: usize, columns: usize) -> usize {
    let most = (500_000_000 / (probes * PIECE * columns).max(1)).max(2);
    // Rounds of the same length, so that no thread waits for the last piece.
    let pieces = pieces.max(1);
    pieces.div_ceil(pieces.div_ceil(most))
}

/// A piece of [`Gallery::fill`].
struct Fill<'g, 'o, T> {
    gallery: &'g Gallery<'g, T>,
    probes: &'g Probes<T>,
    /// The first row of the piece.
    first: usize,
    /// A part of the output of every probe.
    out: Vec<&'o mut [T]>,
}

impl<T: Multiply> Wide for Fill<'_, '_, T> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let length = self.out.first().map_or(0, |row| row.len());
        let gallery = self.gallery;
        match (&gallery.shape, &self.probes.shape) {
            (Shape::Dense(panels), ProbeShape::Dense(packed)) => {
                let mut sums = Vec::new();
                for at in (0..length).step_by(WIDE) {
                    let panel = (self.first + at) / WIDE;
                    let mut write = Write::<T, FUSED> {
                        function: gallery.function,
                        own: &self.probes.halves,
                        others: chunk(&gallery.halves, panel * WIDE),
                        at,
                        count: WIDE.min(length - at),
                        out: &mut self.out,
                    };
                    T::product::<_, FUSED>(panels.panel(panel), packed, &mut sums, &mut write);
                }
            }
            (Shape::Sparse(rows), ProbeShape::Sparse(probes)) => {
                let mut side_by_side = SideBySide::new(rows.width);
                for at in (0..length).step_by(SIDE_BY_SIDE) {
                    let (first, count) = (self.first + at, SIDE_BY_SIDE.min(length - at));
                    side_by_side.lay_out(rows, first, count);
                    let others = chunk::<T, SIDE_BY_SIDE>(&gallery.halves, first);
                    for (p, out) in self.out.iter_mut().enumerate() {
                        let products = side_by_side.products::<FUSED>(probes.row(p));
                        let kernels =
                            gallery.function.apply::<SIDE_BY_SIDE, FUSED>(&products, self.probes.halves[p], others);
                        put(&mut out[at..at + count], &kernels);
                    }
                }
            }
            (Shape::Given(rows, of), ProbeShape::Given(wanted)) => {
                let mut whole = vec![T::ZERO; rows.columns()];
                for (out, &probe) in self.out.iter_mut().zip(wanted) {
                    rows.pack(std::iter::once(probe), &mut whole);
                    out.iter_mut().zip(&of[self.first..]).for_each(|(out, &i)| *out = whole[i]);
                }
            }
            _ => unreachable!("probes and gallery are of one space"),
        }
    }
}

/// Writes the kernels of each probe with sixteen rows.
struct Write<'w, 'o, T, const FUSED: bool> {
    function: Function<T>,
    own: &'w [T],
    others: &'w [T; WIDE],
    at: usize,
    count: usize,
    out: &'w mut [&'o mut [T]],
}

impl<T: Multiply, const FUSED: bool> Visit<T> for Write<'_, '_, T, FUSED> {
    #[inline(always)]
    fn scores(&mut self, row: usize, products: &[T; WIDE]) {
        let kernels = self.function.apply::<WIDE, FUSED>(products, self.own[row], self.others);
        put(&mut self.out[row][self.at..self.at + self.count], &kernels);
    }
}

/// So many numbers from this place on.
#[inline(always)]
fn chunk<T, const N: usize>(values: &[T], first: usize) -> &[T; N] {
    values[first..].first_chunk().expect("halves reach past the last row")
}

/// Writes numbers, or as many as there is room for.
#[inline(always)]
fn put<T: Copy, const N: usize>(out: &mut [T], values: &[T; N]) {
    match out.split_first_chunk_mut::<N>() {
        Some((whole, _)) => *whole = *values,
        None => out.iter_mut().zip(values).for_each(|(out, value)| *out = *value),
    }
}

/// A piece of [`Gallery::add`].
struct Add<'g, T> {
    gallery: &'g Gallery<'g, T>,
    probes: &'g Probes<T>,
    weights: &'g [T],
    first: usize,
    sums: &'g mut [f64],
}

impl<T: Multiply> Wide for Add<'_, T> {
    const WIDEST: bool = true;

    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let length = self.sums.len();
        let gallery = self.gallery;
        match (&gallery.shape, &self.probes.shape) {
            (Shape::Dense(panels), ProbeShape::Dense(packed)) => {
                let columns = panels.columns().max(1);
                let mut space = Vec::new();
                // So many probes at a time stay in the nearer caches.
                for some in (0..self.weights.len()).step_by(AT_A_TIME) {
                    let end = (some + AT_A_TIME).min(self.weights.len());
                    for at in (0..length).step_by(WIDE) {
                        let panel = (self.first + at) / WIDE;
                        let mut weigh = Weigh::<T, FUSED> {
                            function: gallery.function,
                            own: &self.probes.halves[some..end],
                            others: chunk(&gallery.halves, panel * WIDE),
                            weights: &self.weights[some..end],
                            sums: [T::ZERO; WIDE],
                        };
                        let rows = &packed[some * columns..end * columns];
                        T::product::<_, FUSED>(panels.panel(panel), rows, &mut space, &mut weigh);
                        self.sums[at..].iter_mut().zip(weigh.sums).for_each(|(sum, more)| *sum += more.into());
                    }
                }
            }
            (Shape::Sparse(rows), ProbeShape::Sparse(probes)) => {
                let mut side_by_side = SideBySide::new(rows.width);
                for at in (0..length).step_by(SIDE_BY_SIDE) {
                    let (first, count) = (self.first + at, SIDE_BY_SIDE.min(length - at));
                    side_by_side.lay_out(rows, first, count);
                    let others = chunk::<T, SIDE_BY_SIDE>(&gallery.halves, first);
                    // So many at a time, because sums in single precision must not get long.
                    for some in (0..self.weights.len()).step_by(AT_A_TIME) {
                        let mut sums = [T::ZERO; SIDE_BY_SIDE];
                        for p in some..(some + AT_A_TIME).min(self.weights.len()) {
                            let (weight, own) = (self.weights[p], self.probes.halves[p]);
                            let products = side_by_side.products::<FUSED>(probes.row(p));
                            let kernels = gallery.function.apply::<SIDE_BY_SIDE, FUSED>(&products, own, others);
                            for l in 0..SIDE_BY_SIDE {
                                sums[l] = weight.times_plus::<FUSED>(kernels[l], sums[l]);
                            }
                        }
                        self.sums[at..at + count].iter_mut().zip(sums).for_each(|(sum, more)| *sum += more.into());
                    }
                }
            }
            (Shape::Given(rows, of), ProbeShape::Given(probes)) => {
                let mut whole = vec![0.0; rows.columns()];
                for (sum, &i) in self.sums.iter_mut().zip(&of[self.first..]) {
                    rows.pack(std::iter::once(i), &mut whole);
                    let weighted = probes.iter().zip(self.weights);
                    *sum += weighted.map(|(&probe, &weight)| whole[probe] * Into::<f64>::into(weight)).sum::<f64>();
                }
            }
            _ => unreachable!("probes and gallery are of one space"),
        }
    }
}

/// Adds up the weighted kernels of probes with sixteen rows.
struct Weigh<'w, T, const FUSED: bool> {
    function: Function<T>,
    own: &'w [T],
    others: &'w [T; WIDE],
    weights: &'w [T],
    sums: [T; WIDE],
}

impl<T: Multiply, const FUSED: bool> Visit<T> for Weigh<'_, T, FUSED> {
    #[inline(always)]
    fn scores(&mut self, row: usize, products: &[T; WIDE]) {
        let kernels = self.function.apply::<WIDE, FUSED>(products, self.own[row], self.others);
        let weight = self.weights[row];
        for l in 0..WIDE {
            self.sums[l] = weight.times_plus::<FUSED>(kernels[l], self.sums[l]);
        }
    }
}
