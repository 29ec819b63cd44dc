//! Fitted centres.

use super::bisect::BisectionTree;
use super::lloyd::nearest;
use super::minibatch::MiniBatchUpdates;
use super::points::{Centres, Frame, error_of, pass, sparse_square};
use crate::error::{Error, Result};
use crate::learn::{Examples, Fitted, Prediction, SavedParts, check_weights};
use crate::matrix::simd::{squared_distance, squared_norm};
use crate::matrix::{Features, Matrix};
use crate::passes::{InOrder, at_hand};
use crate::run::Run;
use std::sync::Arc;

/// Sparse rows of up to this many columns are measured as dense ones are.
const MAX_PACKED_COLUMNS: usize = 4096;

/// Centres of clusters.
///
/// ```
/// use quince::cluster::KMeansModel;
/// use quince::{Matrix, Run};
/// let model = KMeansModel::from_centres(Matrix::from_rows(&[[0.0, 0.0], [9.0, 9.0]]))?;
/// let rows = Matrix::from_rows(&[[1.0, 0.0], [9.0, 7.0]]);
/// // Squared distances of 1 and 4.
/// assert_eq!(model.assign(&rows.features(), None, &Run::new())?, (vec![0, 1], 5.0));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KMeansModel {
    pub(super) centres: Matrix,
    pub(super) sizes: Vec<f64>,
    pub(super) error: f64,
    /// The tree of bisections, if it was bisecting k-means.
    pub(super) tree: Option<BisectionTree>,
}

impl KMeansModel {
    /// A model of known centres, one per row.
    pub fn from_centres(centres: Matrix) -> Result<KMeansModel> {
        if centres.rows() == 0 || centres.columns() == 0 {
            return Err(Error::shape("there are no centres", "Give at least one centre with at least one column."));
        }
        centres.check_finite("centres")?;
        Ok(KMeansModel { sizes: vec![0.0; centres.rows()], centres, error: 0.0, tree: None })
    }

    /// The centres, one per row.
    pub fn centres(&self) -> &Matrix {
        &self.centres
    }

    /// The weight of the training rows of each cluster.
    pub fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// The within-cluster error E (sum of squares, inertia) of the training rows; after an update, of the rows that came last.
    #[doc(alias = "inertia")]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The cluster of every row, and the (weighted) within-cluster error.
    pub fn assign(&self, rows: &Features<'_>, weights: Option<&[f64]>, run: &Run) -> Result<(Vec<u32>, f64)> {
        rows.check_columns(self.centres.columns())?;
        if rows.rows() == 0 {
            return Ok((Vec::new(), 0.0));
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, rows.rows()))?;
        let frame = Frame::of_features(*rows, weights, run)?;
        let points = frame.points(*rows, weights, 0);
        let centres = Centres::new(frame.about_origin(self.centres.clone()), &frame);
        let Some(tree) = &self.tree else {
            return nearest(&points, &frame, &centres, run);
        };
        let sides = Centres::new(frame.about_origin(tree.centres.clone()), &frame);
        let work = frame.width() * (2 * self.centres.rows()).min(64);
        let InOrder(labels) = pass(work, run).gather(at_hand(&points), InOrder::new, |labels, points, rows| {
            let mut row = vec![0.0; points.columns()];
            for i in rows {
                points.load(i, &mut row);
                labels.0.push(tree.cluster(points, &sides, i, &row));
            }
        })?;
        let error = error_of(&points, &frame, |i| labels[i], &centres, run)?;
        Ok((labels, error))
    }

    /// The distance of every row from the centre of its cluster: what [`KMeansModel::distances`] has in the column of its label, without
    /// those from all other centres.
    pub fn own_distances(&self, rows: &Features<'_>, labels: &[u32], run: &Run) -> Result<Vec<f64>> {
        rows.check_columns(self.centres.columns())?;
        let k = self.centres.rows();
        if labels.len() != rows.rows() || labels.iter().any(|&label| label as usize >= k) {
            let problem = format!("{} labels of {k} clusters do not go with {} rows", labels.len(), rows.rows());
            return Err(Error::shape(problem, "Give the cluster of every row."));
        }
        let packed = rows.sparse_part().is_none() || rows.columns() <= MAX_PACKED_COLUMNS;
        let squares: Vec<f64> = (0..k).map(|c| squared_norm(self.centres.row(c))).collect();
        let mut distances = vec![0.0; rows.rows()];
        let mut pieces: Vec<&mut [f64]> = distances.chunks_mut(1024).collect();
        for (round, some) in pieces.chunks_mut(32).enumerate() {
            run.each(some, |piece, out| {
                let first = (round * 32 + piece) * 1024;
                let mut row = vec![0.0; if packed { rows.columns() } else { 0 }];
                for (i, out) in (first..).zip(out.iter_mut()) {
                    let (c, centre) = (labels[i] as usize, self.centres.row(labels[i] as usize));
                    *out = match packed {
                        true => {
                            rows.pack(std::iter::once(i), &mut row);
                            squared_distance(&row, centre).sqrt()
                        }
                        false => sparse_square(rows, i, centre, 1.0, squares[c]).sqrt(),
                    };
                }
            });
            run.check()?;
        }
        Ok(distances)
    }

    /// The distance of every row from every centre.
    pub fn distances(&self, rows: &Features<'_>, run: &Run) -> Result<Matrix> {
        rows.check_columns(self.centres.columns())?;
        let (k, columns) = (self.centres.rows(), rows.columns());
        let mut distances = Matrix::zeros(rows.rows(), k);
        let squares: Vec<f64> = (0..k).map(|c| squared_norm(self.centres.row(c))).collect();
        // So that a row has the same distances, to the last bit, whether it is stored dense or sparse.
        let packed = rows.sparse_part().is_none() || columns <= MAX_PACKED_COLUMNS;
        // Few enough rows at a time to check for cancellation often.
        let cost = if packed { columns } else { rows.row_cost() };
        let rows_at_once = (5_000_000 / (k * cost).max(1)).clamp(1, 1024);
        let mut pieces: Vec<&mut [f64]> = distances.values_mut().chunks_mut(rows_at_once * k).collect();
        for (round, some) in pieces.chunks_mut(32).enumerate() {
            run.each(some, |piece, out| {
                let first = (round * 32 + piece) * rows_at_once;
                let mut row = vec![0.0; if packed { columns } else { 0 }];
                for (i, out) in (first..).zip(out.chunks_mut(k)) {
                    if packed {
                        rows.pack(std::iter::once(i), &mut row);
                    }
                    for (c, out) in out.iter_mut().enumerate() {
                        let centre = self.centres.row(c);
                        *out = match packed {
                            true => squared_distance(&row, centre).sqrt(),
                            false => sparse_square(rows, i, centre, 1.0, squares[c]).sqrt(),
                        };
                    }
                }
            });
            run.check()?;
        }
        Ok(distances)
    }
}

impl Fitted for KMeansModel {
    fn predict_rows(&self, rows: &Features<'_>, run: &Run) -> Result<Prediction> {
        let (labels, _) = self.assign(rows, None, run)?;
        Ok(Prediction::Clusters { labels, distances: self.distances(rows, run)? })
    }

    fn groups(&self) -> usize {
        self.centres.rows()
    }

    fn clusters(&self, rows: &Features<'_>, run: &Run) -> Result<Option<(Vec<u32>, Vec<f64>)>> {
        let (labels, _) = self.assign(rows, None, run)?;
        let distances = self.own_distances(rows, &labels, run)?;
        Ok(Some((labels, distances)))
    }

    /// Every centre becomes the mean of the rows it stands for and of those new rows to which it is nearest.
    fn updated(&self, more: &Examples<'_>, run: &Run) -> Result<Option<Arc<dyn Fitted>>> {
        if self.tree.is_some() {
            return Ok(None); // centres that move would no longer lie on their sides of the bisections
        }
        let mut updates = MiniBatchUpdates::of_model(self);
        let (error, _) = updates.learn(more.features, more.weights, run)?;
        Ok(Some(Arc::new(updates.model(error)?)))
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_matrix("centres", &self.centres);
        parts.put_vector("sizes", &self.sizes);
        parts.put_number("error", self.error);
        if let Some(tree) = &self.tree {
            parts.put_matrix("bisections.centres", &tree.centres);
            parts.put_counts("bisections.sides", &tree.numbered_sides(self.centres.rows()));
        }
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<KMeansModel> {
        let centres = parts.take_matrix("centres", None)?;
        let k = centres.rows();
        if k == 0 || centres.columns() != parts.features() || centres.values().iter().any(|x| !x.is_finite()) {
            return Err(parts.wrong("the centres do not fit the features"));
        }
        let sizes = parts.take_vector("sizes", Some(k))?;
        let error = parts.take_number("error")?;
        let mut tree = None;
        if parts.has("bisections.sides") {
            let sides = parts.take_counts("bisections.sides", None)?;
            let bisections =
                BisectionTree::of_numbered_sides(parts.take_matrix("bisections.centres", None)?, &sides, k);
            if !bisections.is_sound(k) || bisections.centres.columns() != centres.columns() {
                return Err(parts.wrong("a bisection leads nowhere"));
            }
            tree = Some(bisections);
        }
        Ok(KMeansModel { centres, sizes, error, tree })
    }
}
