//! Fitted centres.

use super::bisect::Halvings;
use super::lloyd::nearest;
use super::points::Points;
use crate::error::{Error, Result};
use crate::learn::{Fitted, Prediction, check_weights};
use crate::matrix::{Features, Matrix};
use crate::model::Parts;
use crate::run::Run;

/// Centres of clusters.
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansModel {
    pub(super) centres: Matrix,
    pub(super) sizes: Vec<f64>,
    pub(super) error: f64,
    /// The tree, if they were found by halving.
    pub(super) halvings: Option<Halvings>,
}

impl KMeansModel {
    /// The centres, one a row.
    pub fn centres(&self) -> &Matrix {
        &self.centres
    }

    /// The weight of the training rows of each cluster.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// The within-cluster error E of the training rows.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The cluster of every row, and the (weighted) error of putting the centres in their places.
    pub fn assign(&self, rows: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<(Vec<u32>, f64)> {
        if rows.columns() != self.centres.columns() {
            return Err(Error::data(
                format!("the rows have {} columns, the centres have {}", rows.columns(), self.centres.columns()),
                "Give the same columns as in training.",
            ));
        }
        if rows.rows() == 0 {
            return Ok((Vec::new(), 0.0));
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, rows.rows()))?;
        let points = Points::new(*rows, weights, run)?;
        let mut about = self.centres.clone();
        (0..about.rows()).for_each(|c| about.row_mut(c).iter_mut().zip(&points.origin).for_each(|(x, o)| *x -= o));
        let Some(halvings) = &self.halvings else {
            return nearest(&points, about, run);
        };
        let (mut labels, mut error, mut row) = (Vec::with_capacity(rows.rows()), 0.0, vec![0.0; rows.columns()]);
        for i in 0..rows.rows() {
            rows.pack(std::iter::once(i), &mut row);
            let label = halvings.cluster(&row);
            error += points.weight(i) * crate::matrix::simd::squared_distance(&row, self.centres.row(label as usize));
            labels.push(label);
            if i % 1024 == 0 {
                run.check()?;
            }
        }
        Ok((labels, error))
    }

    /// The distance of every row from every centre.
    pub fn distances(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        let mut distances = Matrix::zeros(rows.rows(), self.centres.rows());
        let (k, chunk) = (self.centres.rows(), 1024);
        let mut pieces: Vec<&mut [f64]> = distances.values_mut().chunks_mut(chunk * k).collect();
        for (round, some) in pieces.chunks_mut(32).enumerate() {
            run.each(some, |piece, out| {
                let first = (round * 32 + piece) * chunk;
                let mut row = vec![0.0; rows.columns()];
                for (r, out) in out.chunks_mut(k).enumerate() {
                    rows.pack(std::iter::once(first + r), &mut row);
                    for (c, out) in out.iter_mut().enumerate() {
                        *out = crate::matrix::simd::squared_distance(&row, self.centres.row(c)).sqrt();
                    }
                }
            });
            run.check()?;
        }
        Ok(distances)
    }
}

impl Fitted for KMeansModel {
    fn predict(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let (labels, _) = self.assign(rows, None, run)?;
        Ok(Prediction::Clusters { labels, distances: self.distances(rows, run)? })
    }

    fn save(&self, parts: &mut Parts) {
        parts.put_matrix("centres", &self.centres);
        parts.put_vector("sizes", &self.sizes);
        parts.put_vector("error", &[self.error]);
        if let Some(halvings) = &self.halvings {
            parts.put_matrix("halvings.centres", &halvings.centres);
            parts.put_vector("halvings.sides", &halvings.sides.iter().map(|&side| side as f64).collect::<Vec<_>>());
        }
    }

    fn load(parts: &Parts) -> Result<KMeansModel> {
        let centres = parts.matrix("centres", None)?;
        let k = centres.rows();
        if k == 0 || centres.columns() != parts.features() || centres.values().iter().any(|x| !x.is_finite()) {
            return Err(parts.wrong("the centres do not fit the features"));
        }
        let sizes = parts.vector("sizes", Some(k))?;
        let error = parts.vector("error", Some(1))?[0];
        let halvings = match parts.has("halvings.sides") {
            false => None,
            true => {
                let sides = parts.vector("halvings.sides", None)?;
                if sides.iter().any(|side| side.fract() != 0.0 || side.abs() > 1e9) {
                    return Err(parts.wrong("a halving leads nowhere"));
                }
                let sides = sides.into_iter().map(|side| side as i64).collect();
                let halvings = Halvings { centres: parts.matrix("halvings.centres", None)?, sides };
                if !halvings.is_sound(k) || halvings.centres.columns() != centres.columns() {
                    return Err(parts.wrong("a halving leads nowhere"));
                }
                Some(halvings)
            }
        };
        Ok(KMeansModel { centres, sizes, error, halvings })
    }
}
