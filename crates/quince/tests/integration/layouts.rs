//! The same numbers in every layout that features can have.

use quince::Matrix;
use quince::matrix::{Dense, Features, Sparse, View};
use quince::run::Stream;

/// How the same numbers are handed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    Rows,
    Columns,
    EveryOther,
    SinglePrecision,
    Sparse,
    Beside,
}

pub const LAYOUTS: [Layout; 6] =
    [Layout::Rows, Layout::Columns, Layout::EveryOther, Layout::SinglePrecision, Layout::Sparse, Layout::Beside];

/// Calls `body` with the matrix as features in a layout.
pub fn with_layout<T>(x: &Matrix, layout: Layout, body: impl FnOnce(Features<'_>) -> T) -> T {
    let (rows, columns) = (x.rows(), x.columns());
    let sparse_of = |from: usize| {
        let row = |i: usize| (from..columns).map(|j| ((j - from) as u32, x[(i, j)])).filter(|e| e.1 != 0.0).collect();
        Sparse::from_rows(columns - from, (0..rows).map(row)).unwrap()
    };
    match layout {
        Layout::Rows => body(x.features()),
        Layout::Columns => {
            let turned: Vec<f64> = (0..columns).flat_map(|j| x.column(j)).collect();
            body(Features::dense(Dense::F64(View::strided(&turned, (rows, columns), (1, rows)).unwrap())))
        }
        Layout::EveryOther => {
            let mut wide = vec![f64::NAN; 2 * rows * columns];
            x.values().iter().enumerate().for_each(|(k, value)| wide[2 * k] = *value);
            body(Features::dense(Dense::F64(View::strided(&wide, (rows, columns), (2 * columns, 2)).unwrap())))
        }
        Layout::SinglePrecision => {
            let single: Vec<f32> = x.values().iter().map(|&value| value as f32).collect();
            body(Features::dense(Dense::F32(View::row_major(&single, rows, columns))))
        }
        Layout::Sparse => body(sparse_of(0).features()),
        Layout::Beside => {
            let half = columns / 2;
            let left: Vec<f64> = (0..rows).flat_map(|i| x.row(i)[..half].to_vec()).collect();
            let left = Matrix::new(rows, half, left).unwrap();
            let right = sparse_of(half);
            body(Features::both(Dense::F64(left.view()), &right).unwrap())
        }
    }
}

/// Random numbers that f32 holds exactly, a third of them zero.
pub fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
    let mut stream = Stream::new(seed, 7);
    let mut value = || {
        let drawn = (stream.uniform() * 64.0).round() / 16.0 - 2.0;
        if stream.below(3) == 0 { 0.0 } else { drawn }
    };
    Matrix::new(rows, columns, (0..rows * columns).map(|_| value()).collect()).unwrap()
}
