//! The five nearest neighbours. Both libraries answer one query at a time on one thread; the queries are split between
//! two threads here, as a user of theirs would do.

use linfa_nn::distance::{Distance, L2Dist};
use linfa_nn::{CommonNearestNeighbour, NearestNeighbour};
use ndarray::{Array2, ArrayView1};
use smartcore::algorithm::neighbour::{cover_tree::CoverTree, linear_search::LinearKNNSearch};
use smartcore::metrics::distance::euclidian::Euclidian;

use crate::{Answer, Given, Job, Real};

const NEIGHBOURS: usize = 5;
const THREADS: usize = 2;

pub fn linfa<F: Real>(algorithm: CommonNearestNeighbour, given: &Given) -> Result<Job<F>, String> {
    let (train, query) = (given.rows::<F>("train")?, given.rows::<F>("query")?);
    Ok(Box::new(move || {
        let index = algorithm.from_batch(&train, L2Dist).map_err(|error| error.to_string())?;
        nearest(&query, |point| {
            let found = index.k_nearest(point, NEIGHBOURS).map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(|(row, position)| (position, L2Dist.distance(point, row))).collect())
        })
    }))
}

pub fn smartcore_cover_tree<F: Real>(given: &Given) -> Result<Job<F>, String> {
    let (train, query) = (vectors(given.rows::<F>("train")?), given.rows::<F>("query")?);
    Ok(Box::new(move || {
        let tree = CoverTree::new(train.clone(), Euclidian::new()).map_err(|error| error.to_string())?;
        nearest(&query, |point| {
            let found = tree.find(&point.to_vec(), NEIGHBOURS).map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(|(position, distance, _)| (position, F::cast(distance))).collect())
        })
    }))
}

pub fn smartcore_linear<F: Real>(given: &Given) -> Result<Job<F>, String> {
    let (train, query) = (vectors(given.rows::<F>("train")?), given.rows::<F>("query")?);
    Ok(Box::new(move || {
        let search = LinearKNNSearch::new(train.clone(), Euclidian::new()).map_err(|error| error.to_string())?;
        nearest(&query, |point| {
            let found = search.find(&point.to_vec(), NEIGHBOURS).map_err(|error| error.to_string())?;
            Ok(found.into_iter().map(|(position, distance, _)| (position, F::cast(distance))).collect())
        })
    }))
}

/// The neighbours of every query, nearest first.
fn nearest<F: Real>(
    query: &Array2<F>,
    find: impl Fn(ArrayView1<F>) -> Result<Vec<(usize, F)>, String> + Sync,
) -> Result<Answer<F>, String> {
    let mut distances = Array2::zeros((query.nrows(), NEIGHBOURS));
    let mut indices = Array2::zeros((query.nrows(), NEIGHBOURS));
    let share = query.nrows().div_ceil(THREADS);
    std::thread::scope(|scope| {
        let shares = query.axis_chunks_iter(ndarray::Axis(0), share);
        let outputs = distances
            .axis_chunks_iter_mut(ndarray::Axis(0), share)
            .zip(indices.axis_chunks_iter_mut(ndarray::Axis(0), share));
        let workers: Vec<_> = shares
            .zip(outputs)
            .map(|(points, (mut distances, mut indices))| {
                let find = &find;
                scope.spawn(move || -> Result<(), String> {
                    for (row, point) in points.rows().into_iter().enumerate() {
                        let mut found = find(point)?;
                        found.sort_by(|a, b| a.1.partial_cmp(&b.1).expect("no distance is NaN"));
                        for (column, (position, distance)) in found.into_iter().take(NEIGHBOURS).enumerate() {
                            distances[(row, column)] = distance;
                            indices[(row, column)] = position as i64;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread panicked")?)
    })?;
    Ok(Answer::Neighbours { distances, indices })
}

fn vectors<F: Real>(rows: Array2<F>) -> Vec<Vec<F>> {
    rows.rows().into_iter().map(|row| row.to_vec()).collect()
}
