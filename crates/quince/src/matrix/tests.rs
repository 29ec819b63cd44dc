//! Every kernel against a slow reference: over shapes, layouts, types, centres, scales and numbers of threads.

use super::{Dense, Features, Matrix, Sparse, View, WithTargets, moments, row_products};
use crate::run::{Run, Stream};
use proptest::prelude::*;

/// Small whole numbers, a third of them zero: f32 holds them, and sums are exact.
fn random(rows: usize, columns: usize, seed: u64) -> Matrix {
    let mut stream = Stream::new(seed, 0);
    let mut value = || if stream.below(3) == 0 { 0.0 } else { stream.below(9) as f64 - 4.0 };
    Matrix::new(rows, columns, (0..rows * columns).map(|_| value()).collect()).unwrap()
}

/// Calls `body` with the same numbers by rows, by columns, with gaps, in single precision, sparse, and half sparse.
fn in_every_layout(x: &Matrix, mut body: impl FnMut(&str, Features<'_>)) {
    let (rows, columns) = (x.rows(), x.columns());
    let sparse_from = |from: usize| {
        let row = |i: usize| (from..columns).map(|j| ((j - from) as u32, x[(i, j)])).filter(|e| e.1 != 0.0).collect();
        Sparse::from_rows(columns - from, (0..rows).map(row)).unwrap()
    };
    body("rows", x.features());
    let turned: Vec<f64> = (0..columns).flat_map(|j| x.column(j)).collect();
    body("columns", Features::dense(Dense::F64(View::strided(&turned, (rows, columns), (1, rows)).unwrap())));
    let mut gaps = vec![f64::NAN; 3 * rows * columns];
    x.values().iter().enumerate().for_each(|(k, value)| gaps[3 * k] = *value);
    body("gaps", Features::dense(Dense::F64(View::strided(&gaps, (rows, columns), (3 * columns, 3)).unwrap())));
    let single: Vec<f32> = x.values().iter().map(|&value| value as f32).collect();
    body("single", Features::dense(Dense::F32(View::row_major(&single, rows, columns))));
    let turned: Vec<f32> = turned.iter().map(|&value| value as f32).collect();
    body("single columns", Features::dense(Dense::F32(View::strided(&turned, (rows, columns), (1, rows)).unwrap())));
    let sparse = sparse_from(0);
    body("sparse", sparse.features());
    let half = columns / 2;
    let left = Matrix::new(rows, half, (0..rows).flat_map(|i| x.row(i)[..half].to_vec()).collect()).unwrap();
    let right = sparse_from(half);
    body("beside", Features::both(Dense::F64(left.view()), &right).unwrap());
}

fn close(found: &[f64], slow: &[f64]) {
    assert_eq!(found.len(), slow.len());
    found.iter().zip(slow).for_each(|(a, b)| assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{a} {b}"));
}

fn sum(count: usize, term: &dyn Fn(usize) -> f64) -> f64 {
    (0..count).map(term).sum()
}

/// All values, row after row.
fn grid(rows: usize, columns: usize, value: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..rows).flat_map(|a| (0..columns).map(move |b| (a, b))).map(|(a, b)| value(a, b)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn products_norms_and_tiles_are_what_plain_loops_give(
        rows in 1usize..90, columns in 1usize..20, outputs in 1usize..7, seed in 0u64..1000, centred: bool, scaled: bool,
        tall: bool,
    ) {
        // More than a thousand rows make partial sums.
        let rows = if tall { rows + 2100 } else { rows };
        let x = random(rows, columns, seed);
        let (right, left) = (random(columns, outputs, seed + 1), random(rows, outputs, seed + 2));
        let centre: Vec<f64> = (0..columns).map(|j| if centred { j as f64 - 1.5 } else { 0.0 }).collect();
        let scale: Vec<f64> = (0..columns).map(|j| if scaled { 0.25 * (1 + j % 5) as f64 } else { 1.0 }).collect();
        let offset: Vec<f64> = (0..outputs).map(|k| k as f64).collect();
        // The references work on a copy that is centred and scaled.
        let at = |i: usize, j: usize| (x[(i, j)] - centre[j]) * scale[j];
        let product = grid(rows, outputs, &|i, k| offset[k] + sum(columns, &|j| at(i, j) * right[(j, k)]));
        let turned = grid(columns, outputs, &|j, k| sum(rows, &|i| at(i, j) * left[(i, k)]));
        let norms: Vec<f64> = (0..rows).map(|i| sum(columns, &|j| at(i, j) * at(i, j))).collect();
        let packed = grid(rows, columns, &at);
        in_every_layout(&x, |layout, features| {
            let features = if centred { features.centred(&centre) } else { features };
            let features = if scaled { features.scaled(&scale) } else { features };
            let mut bits: Option<Vec<u64>> = None;
            for threads in [1, 2, 8] {
                let run = Run::new().threads_exactly(threads);
                let found = features.multiply(&right, &offset, &run).unwrap();
                close(found.values(), &product);
                let found_turned = features.transposed_multiply(&left, &run).unwrap();
                close(found_turned.values(), &turned);
                let found_norms = features.row_norms(&run).unwrap();
                close(&found_norms, &norms);
                let mut tile = vec![0.0; rows * columns];
                features.pack(0..rows, &mut tile);
                close(&tile, &packed);
                let mut single = vec![0.0f32; rows * columns];
                features.pack(0..rows, &mut single);
                single.iter().zip(&packed).for_each(|(a, b)| assert_eq!(*a, *b as f32));
                let all = found.values().iter().chain(found_turned.values()).chain(&found_norms);
                let now: Vec<u64> = all.map(|x| x.to_bits()).collect();
                assert!(bits.get_or_insert_with(|| now.clone()) == &now, "{layout} on {threads} threads");
            }
        });
    }

    #[test]
    fn second_moments_are_about_the_means_as_linear_models_take_them(
        rows in 1usize..90, columns in 1usize..20, outputs in 1usize..7, seed in 0u64..1000, tall: bool,
    ) {
        let rows = if tall { rows + 2100 } else { rows };
        let (x, y) = (random(rows, columns, seed), random(rows, outputs, seed + 2));
        let roots: Vec<f64> = (0..rows).map(|i| [1.0, 0.5, 2.0][i % 3]).collect();
        let total = sum(rows, &|i| roots[i] * roots[i]);
        let means: Vec<f64> = (0..columns).map(|j| sum(rows, &|i| roots[i] * roots[i] * x[(i, j)]) / total).collect();
        let mean_of_y: Vec<f64> = (0..outputs).map(|k| sum(rows, &|i| roots[i] * roots[i] * y[(i, k)]) / total).collect();
        let about = |i: usize, j: usize| x[(i, j)] - means[j];
        let gram = grid(columns, columns, &|a, b| sum(rows, &|i| roots[i] * roots[i] * about(i, a) * about(i, b)));
        let cross = grid(columns, outputs, &|j, k| sum(rows, &|i| roots[i] * roots[i] * about(i, j) * (y[(i, k)] - mean_of_y[k])));
        in_every_layout(&x, |_, features| {
            let both = WithTargets::new(features, &y, Some(&roots));
            let found = moments(&both, features.shape(), &means, &mean_of_y, &Run::new()).unwrap();
            let lower = |n: usize, value: &dyn Fn(usize, usize) -> f64| {
                grid(n, n, &|a, b| value(a.max(b), a.min(b)))
            };
            close(&lower(columns, &|a, b| found.gram.get(a, b)), &gram);
            close(found.cross.values(), &cross);
            if rows < 90 {
                let transposed = features.sparse_part().map(|sparse| sparse.transposed(&Run::new()).unwrap());
                let found = row_products(features.centred(&means), Some(&roots), transposed.as_ref(), &Run::new()).unwrap();
                let slow = grid(rows, rows, &|a, b| roots[a] * roots[b] * sum(columns, &|j| about(a, j) * about(b, j)));
                close(&lower(rows, &|a, b| found.get(a, b)), &slow);
            }
        });
    }
}

/// Enough entries that they are not transposed at once, in rows of which some are empty.
#[test]
fn a_sparse_matrix_is_transposed_in_parts() {
    let (rows, columns) = (6000, 1000);
    let mut stream = Stream::new(3, 0);
    let mut row = |i: usize| -> Vec<(u32, f64)> {
        let from = if i.is_multiple_of(7) { columns } else { stream.below(200) };
        (from..columns).map(|j| (j as u32, (i * columns + j) as f64)).collect()
    };
    let sparse = Sparse::from_rows(columns, (0..rows).map(&mut row)).unwrap();
    assert!(sparse.stored() > 4_400_000);
    let one = sparse.transposed(&Run::new().threads(1)).unwrap();
    let two = sparse.transposed(&Run::new().threads(2)).unwrap();
    assert_eq!((one.rows(), one.columns(), one.stored()), (columns, rows, sparse.stored()));
    assert!(one == two && one.transposed(&Run::new()).unwrap() == sparse);
    for j in 0..columns {
        assert!(one.row(j).0.is_sorted() && one.entries(j).all(|(i, value)| value == (i * columns + j) as f64));
    }
}
