//! The index of rows for nearest-neighbour search, and the three search methods.

use super::MAX_P;
use super::best::Best;
use super::data::SearchRows;
use super::filter::{Batch, Filter};
use super::measure::{DistanceMetric, Measure, with_column_term};
use super::postings::Postings;
use super::tree::{KdTree, NO_ROW};
use crate::error::{Error, Result};
use crate::matrix::{Features, Rows};
use crate::passes::cuts;
use crate::run::{Pace, Run};

crate::choices! {
    /// How neighbours are searched. The answer is the same, bit for bit.
    pub enum SearchMethod {
        /// The one that is likely to be fastest for the shape of the rows.
        #[default]
        Auto = "auto",
        /// A kd-tree.
        Tree = "tree",
        /// A matrix product in single precision as a filter, then exact distances.
        Product = "product",
        /// Every distance, one by one (brute force).
        Direct = "direct",
    }
}

impl SearchMethod {
    /// An error if rows cannot be searched so by this metric, whatever the rows.
    pub(super) fn check_for(self, metric: DistanceMetric) -> Result<()> {
        if self.suits(metric) { Ok(()) } else { Err(self.unsuited("this metric")) }
    }

    fn suits(self, metric: DistanceMetric) -> bool {
        match self {
            SearchMethod::Tree => !matches!(metric, DistanceMetric::Hamming | DistanceMetric::Cosine),
            SearchMethod::Product => matches!(metric, DistanceMetric::Euclidean | DistanceMetric::Cosine),
            SearchMethod::Auto | SearchMethod::Direct => true,
        }
    }

    fn unsuited(self, why: &str) -> Error {
        Error::setting("search", format!("cannot be {} for {why}", self.name()), "Use auto.")
    }
}

/// The nearest rows of every query.
///
/// ```
/// use quince::neighbours::{Index, Measure, SearchMethod};
/// use quince::{Matrix, Run};
/// let rows = Matrix::from_rows(&[[0.0], [3.0], [7.0]]);
/// let index = Index::new(&rows.features(), Measure::default(), SearchMethod::Auto, &Run::new())?;
/// let nearest = index.nearest(&Matrix::from_rows(&[[4.0]]).features(), 2, &Run::new())?;
/// assert_eq!(nearest.of(0), (&[1, 2][..], &[1.0, 3.0][..]));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The number of neighbours of each query.
    pub k: usize,
    /// Row numbers, the nearest first, k for each query.
    pub rows: Vec<u32>,
    /// Their distances.
    pub distances: Vec<f64>,
}

impl Nearest {
    /// Row numbers and distances of query `q`.
    ///
    /// # Panics
    /// If there is no such query.
    pub fn of(&self, q: usize) -> (&[u32], &[f64]) {
        let range = q * self.k..(q + 1) * self.k;
        (&self.rows[range.clone()], &self.distances[range])
    }
}

/// An index of rows for nearest-neighbour search.
///
/// Equal distances are ordered by row number, whatever the search method.
///
/// ```
/// use quince::neighbours::{DistanceMetric, Index, Measure, SearchMethod};
/// use quince::{Matrix, Run};
/// let rows = Matrix::from_rows(&[[0.0], [3.0], [4.0]]);
/// let measure = Measure::of(DistanceMetric::Euclidean);
/// let index = Index::new(&rows.features(), measure, SearchMethod::Auto, &Run::new())?;
/// let nearest = index.nearest(&Matrix::from_rows(&[[3.2]]).features(), 2, &Run::new())?;
/// assert_eq!(nearest.of(0).0, [1, 2]);
/// # quince::Result::Ok(())
/// ```
pub struct Index {
    rows: Rows,
    structure: SearchStructure,
}

impl Index {
    /// Copies the rows. NaN is a missing value, which leaves its column out of the distances of its row.
    pub fn new(rows: &Features<'_>, measure: Measure, search: SearchMethod, run: &Run) -> Result<Index> {
        let all: Vec<usize> = (0..rows.rows()).collect();
        Index::over(rows.take(&all), measure, search, run)
    }

    pub(super) fn over(rows: Rows, measure: Measure, search: SearchMethod, run: &Run) -> Result<Index> {
        let structure = SearchStructure::new(&rows.features(), measure, search, run)?;
        Ok(Index { rows, structure })
    }

    /// The rows.
    pub fn features(&self) -> Features<'_> {
        self.rows.features()
    }

    pub(super) fn stored_rows(&self) -> &Rows {
        &self.rows
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.features().rows()
    }

    /// The search method in use.
    pub fn search(&self) -> SearchMethod {
        self.structure.search
    }

    /// The distance measure.
    pub fn measure(&self) -> &Measure {
        &self.structure.measure
    }

    /// The `k` nearest rows of every query.
    pub fn nearest(&self, queries: &Features<'_>, k: usize, run: &Run) -> Result<Nearest> {
        self.structure.nearest(&self.features(), queries, k, run)
    }

    /// The `k` nearest other rows of some of the rows themselves.
    pub fn nearest_others(&self, rows: &[usize], k: usize, run: &Run) -> Result<Nearest> {
        self.structure.nearest_others(&self.features(), rows, k, run)
    }
}

/// What is computed from rows before they are searched: a kd-tree, or the method to search without one. It holds no rows (but
/// for those in a tree), so that they need not be kept twice; every call brings them along.
pub struct SearchStructure {
    measure: Measure,
    search: SearchMethod,
    tree: Option<KdTree>,
    shape: (usize, usize),
    has_missing: bool,
}

impl SearchStructure {
    /// Chooses the search method for the rows, and builds the tree if it needs one.
    pub fn new(rows: &Features<'_>, measure: Measure, search: SearchMethod, run: &Run) -> Result<SearchStructure> {
        if rows.rows() == 0 {
            return Err(Error::data("there are no rows to search", "Give at least one row."));
        }
        if rows.rows() >= NO_ROW as usize {
            return Err(Error::data("there are more rows than can be numbered", "Use fewer than 4 billion rows."));
        }
        check_measure(&measure, rows.columns())?;
        let data = SearchRows::of(rows, &measure, run)?;
        let plain = !data.has_missing && rows.sparse_part().is_none() && rows.columns() > 0;
        let tree_can = plain && SearchMethod::Tree.suits(measure.metric);
        // Of sparse rows the entries that they share are multiplied.
        let whole = !data.has_missing && rows.columns() > 0;
        let product_can = whole && SearchMethod::Product.suits(measure.metric);
        let unable = |search: SearchMethod| {
            let why = match () {
                _ if data.has_missing => "rows with missing values",
                _ if search == SearchMethod::Tree && rows.sparse_part().is_some() => "sparse rows",
                _ => "rows without columns",
            };
            Err(search.unsuited(why))
        };
        search.check_for(measure.metric)?;
        let search = match search {
            SearchMethod::Tree if !tree_can => return unable(search),
            SearchMethod::Product if !product_can => return unable(search),
            SearchMethod::Auto if tree_can && tree_pays(rows.rows(), rows.columns(), product_can) => SearchMethod::Tree,
            SearchMethod::Auto if product_can => SearchMethod::Product,
            SearchMethod::Auto => SearchMethod::Direct,
            given => given,
        };
        let tree = if search == SearchMethod::Tree { Some(KdTree::build(&data, run)?) } else { None };
        Ok(SearchStructure {
            measure,
            search,
            tree,
            shape: (rows.rows(), rows.columns()),
            has_missing: data.has_missing,
        })
    }

    /// The search method in use.
    pub fn search(&self) -> SearchMethod {
        self.search
    }

    /// The `k` nearest of the rows, which must be those it was made for, to every query.
    pub fn nearest(&self, rows: &Features<'_>, queries: &Features<'_>, k: usize, run: &Run) -> Result<Nearest> {
        queries.check_columns(rows.columns())?;
        check_k(k, rows.rows())?;
        if queries.dense_columns() != rows.dense_columns() {
            // Sparse rows asked with dense queries, or the other way round.
            let alike = queries.split_at(rows.dense_columns())?;
            return self.nearest(rows, &alike.features(), k, run);
        }
        let questions =
            QuerySet { rows: self.data(rows)?, queries: SearchRows::of(queries, &self.measure, run)?, own: None, k };
        self.ask(&questions, run)
    }

    /// The `k` nearest other rows of some of the rows themselves.
    pub fn nearest_others(&self, rows: &Features<'_>, own: &[usize], k: usize, run: &Run) -> Result<Nearest> {
        check_k(k, rows.rows().saturating_sub(1))?;
        if let Some(row) = own.iter().find(|&&row| row >= rows.rows()) {
            let problem = format!("there is no row {row} among {} rows", rows.rows());
            return Err(Error::data(problem, "Rows are counted from 0."));
        }
        let data = self.data(rows)?;
        if own.len() == rows.rows() && own.iter().enumerate().all(|(place, &row)| place == row) {
            return self.ask(&QuerySet { rows: data, queries: data, own: Some(own), k }, run);
        }
        let taken = rows.take(own);
        let queries = SearchRows { features: taken.features(), has_missing: self.has_missing };
        self.ask(&QuerySet { rows: data, queries, own: Some(own), k }, run)
    }

    fn data<'a>(&self, rows: &Features<'a>) -> Result<SearchRows<'a>> {
        if (rows.rows(), rows.columns()) != self.shape {
            let (made, columns) = self.shape;
            return Err(Error::shape(
                format!("{} x {} numbers are searched as {made} x {columns}", rows.rows(), rows.columns()),
                "Give the rows that the search was prepared for.",
            ));
        }
        Ok(SearchRows { features: *rows, has_missing: self.has_missing })
    }

    fn ask(&self, questions: &QuerySet<'_>, run: &Run) -> Result<Nearest> {
        let (count, k) = (questions.queries.rows(), questions.k);
        let mut nearest = Nearest { k, rows: vec![0; count * k], distances: vec![0.0; count * k] };
        let missing = questions.queries.has_missing;
        match (&self.tree, self.search) {
            (Some(tree), _) if !missing => self.ask_tree(tree, questions, &mut nearest, run)?,
            (_, SearchMethod::Product) if !missing && questions.rows.features.sparse_part().is_some() => {
                self.ask_postings(questions, &mut nearest, run)?;
            }
            (_, SearchMethod::Product) if !missing && count > 8 => self.ask_product(questions, &mut nearest, run)?,
            _ => self.ask_directly(questions, &mut nearest, run)?,
        }
        let columns = self.shape.1;
        nearest.distances.iter_mut().for_each(|rank| *rank = self.measure.distance_of(*rank, columns));
        Ok(nearest)
    }

    fn ask_tree(&self, tree: &KdTree, questions: &QuerySet<'_>, nearest: &mut Nearest, run: &Run) -> Result<()> {
        let (count, k, columns) = (questions.queries.rows(), questions.k, self.shape.1);
        let chunk = 4096;
        // Queries are asked in the order of the leaves they fall into, so that what they need is in the cache.
        let leaves = run.map(count.div_ceil(chunk), |part| {
            let some = part * chunk..((part + 1) * chunk).min(count);
            let mut space = vec![0.0; columns];
            some.map(|q| (tree.leaf_near(questions.queries.dense_row(q, &mut space)), q as u32)).collect::<Vec<_>>()
        });
        let mut order: Vec<(u32, u32)> = leaves.into_iter().flatten().collect();
        order.sort_unstable();
        run.check()?;
        let (mut done, mut pace) = (0, Pace::new(8));
        while done < count {
            run.progress("neighbours", done, count);
            let some = &order[done..(done + pace.next()).min(count)];
            let parts: Vec<&[(u32, u32)]> = some.chunks(some.len().div_ceil(32).max(8)).collect();
            let found = run.map(parts.len(), |part| {
                let mut found = Vec::with_capacity(parts[part].len() * k);
                with_column_term!(self.measure, column => tree.search(column, questions, parts[part], |best| {
                    found.extend_from_slice(best);
                }));
                found
            });
            for (&(_, q), best) in some.iter().zip(found.iter().flat_map(|part| part.chunks(k))) {
                write(best, q as usize, nearest);
            }
            done += some.len();
            run.check()?;
        }
        Ok(())
    }

    fn ask_directly(&self, questions: &QuerySet<'_>, nearest: &mut Nearest, run: &Run) -> Result<()> {
        let (count, k, (rows, columns)) = (questions.queries.rows(), questions.k, self.shape);
        // So few queries together that their neighbours fit into a cache. Few queries and many rows: the rows are divided.
        let group = (65_536 / k).clamp(1, 256);
        for first in (0..count).step_by(group) {
            run.progress("neighbours", first, count);
            let queries = first..(first + group).min(count);
            let stripes = 32usize.div_ceil(queries.len());
            let mut tasks: Vec<(usize, usize, Best)> =
                queries.clone().flat_map(|q| (0..stripes).map(move |stripe| (q, stripe, Best::new(k)))).collect();
            let (mut done, mut pace) = (0, Pace::new(64));
            while done < rows {
                let some = done..(done + pace.next()).min(rows);
                let stripes = cuts(some.len(), stripes);
                run.each(&mut tasks, |_, (q, stripe, best)| {
                    let Some(stripe) = stripes.get(*stripe) else { return };
                    let (mut of_query, mut of_row) = (vec![0.0; columns], vec![0.0; columns]);
                    let (query, own) = (questions.queries.row(*q, &mut of_query), questions.own(*q));
                    for i in stripe.clone().map(|i| (some.start + i) as u32).filter(|&i| i != own) {
                        let row = questions.rows.row(i as usize, &mut of_row);
                        best.offer(self.measure.rank_up_to(best.worst(), query, row, columns), i);
                    }
                });
                done = some.end;
                run.check()?;
            }
            for (q, stripes) in queries.zip(tasks.chunks_mut(stripes)) {
                let [(_, _, best), others @ ..] = stripes else { continue };
                others.iter().flat_map(|(_, _, other)| other.found()).for_each(|&(rank, row)| best.offer(rank, row));
                write(best.found(), q, nearest);
            }
        }
        Ok(())
    }

    fn ask_postings(&self, questions: &QuerySet<'_>, nearest: &mut Nearest, run: &Run) -> Result<()> {
        let Some(sparse) = questions.rows.features.sparse_part() else { return Ok(()) };
        let postings = Postings::new(questions.rows, sparse, &self.measure, run)?;
        run.check()?;
        let (count, k) = (questions.queries.rows(), questions.k);
        let (mut done, mut pace) = (0, Pace::new(16));
        while done < count {
            run.progress("neighbours", done, count);
            let some = done..(done + pace.next()).min(count);
            let parts = cuts(some.len(), 16);
            let found = run.map(parts.len(), |part| {
                let (mut scratch, mut found) = (postings.scratch(k), Vec::with_capacity(parts[part].len() * k));
                for q in parts[part].clone() {
                    found.extend_from_slice(postings.nearest(questions, some.start + q, &mut scratch));
                }
                found
            });
            for (q, best) in some.clone().zip(found.iter().flat_map(|part| part.chunks(k))) {
                write(best, q, nearest);
            }
            done = some.end;
            run.check()?;
        }
        Ok(())
    }

    fn ask_product(&self, questions: &QuerySet<'_>, nearest: &mut Nearest, run: &Run) -> Result<()> {
        let filter = Filter::new(questions.rows, &self.measure, run)?;
        let (count, k, (rows, columns)) = (questions.queries.rows(), questions.k, self.shape);
        // Enough batches for many threads at a time; few enough training rows per step to check for cancellation often, and to keep
        // the packed rows small.
        let group = (4_000_000 / k).clamp(16, 768).min(count);
        let batch = group.div_ceil(8).next_multiple_of(16);
        let step = (400_000_000 / (group * (columns + 1))).min(100_000 / (columns + 1)).max(64);
        let mut batches: Vec<Batch> = (0..group.div_ceil(batch)).map(|_| Batch::new(batch, columns, k)).collect();
        let mut tile = Vec::new();
        for start in (0..count).step_by(group) {
            run.progress("neighbours", start, count);
            let end = (start + group).min(count);
            run.each(&mut batches, |b, queries| {
                let first = start + b * batch;
                filter.begin(queries, questions, first.min(end)..(first + batch).min(end));
            });
            for first in (0..rows).step_by(step) {
                filter.pack(first..(first + step).min(rows), &mut tile, run);
                run.each(&mut batches, |_, batch| filter.pass(batch, questions, first, &tile));
                run.check()?;
            }
            run.each(&mut batches, |_, batch| filter.finish(batch, questions));
            for batch in &batches {
                batch.found().for_each(|(q, best)| write(best, q, nearest));
            }
        }
        Ok(())
    }
}

/// Queries and the rows to search.
pub(super) struct QuerySet<'a> {
    pub(super) rows: SearchRows<'a>,
    pub(super) queries: SearchRows<'a>,
    /// The row that each query is, and must not find.
    own: Option<&'a [usize]>,
    pub(super) k: usize,
}

impl QuerySet<'_> {
    /// The row that query `q` must not find.
    pub(super) fn own(&self, q: usize) -> u32 {
        self.own.map_or(NO_ROW, |own| own[q] as u32)
    }
}

fn write(found: &[(f64, u32)], q: usize, nearest: &mut Nearest) {
    for (place, &(rank, row)) in found.iter().enumerate() {
        nearest.rows[q * nearest.k + place] = row;
        nearest.distances[q * nearest.k + place] = rank;
    }
}

/// Whether a tree is likely to beat the alternative: boxes prune little in many columns, and need many rows.
fn tree_pays(rows: usize, columns: usize, product_can: bool) -> bool {
    let limit = if product_can { 12 } else { 20 };
    columns <= limit && rows >= 64
}

fn check_k(k: usize, rows: usize) -> Result<()> {
    if k == 0 || k > rows {
        let problem = format!("cannot be {k} with {rows} {} to choose from", if rows == 1 { "row" } else { "rows" });
        return Err(Error::setting("k", problem, format!("Use from 1 to {rows}.")));
    }
    Ok(())
}

fn check_measure(measure: &Measure, columns: usize) -> Result<()> {
    let weights = &measure.weights;
    if !weights.is_empty() && weights.len() != columns {
        return Err(Error::one_each((columns, "column"), (weights.len(), "feature weight")));
    }
    let sound = weights.iter().all(|w| w.is_finite() && *w >= 0.0);
    if !sound || (!weights.is_empty() && weights.iter().all(|w| *w == 0.0)) {
        return Err(Error::data(
            "a feature weight is negative or not a number, or all are zero",
            "Give weights of at least zero, one of them above.",
        ));
    }
    if measure.metric == DistanceMetric::Minkowski && !(1.0..=MAX_P).contains(&measure.p) {
        let remedy = format!("It takes a number from 1 to {MAX_P}; beyond that use the metric chebyshev.");
        return Err(Error::setting("p", format!("cannot be {}", measure.p), remedy));
    }
    Ok(())
}
