//! Expectation maximisation (EM): E-step and M-step alternate, with one pass over the rows for each pair.
//!
//! A pass scores every row under every component, turns the scores into responsibilities, and adds the row, weighted by them,
//! to the sufficient statistics of all blocks; the next parameters follow from those. Rows are cut into parts that depend on
//! their number alone, and the statistics of the parts are added in order: the result has the same bits on any number of
//! threads.

mod accelerate;
mod expectation;

use self::accelerate::SquaredExtrapolation;
use crate::error::{Error, Result};
use crate::family::block::{Block, TILE, Tile};
use crate::family::product::Product;
use crate::learn::Target;
use crate::matrix::{Features, Matrix, Rows, WeightedRows};
use crate::passes::{Chunk, Source, accumulate};
use crate::run::{Run, StopReason};

/// The class of a row without a label, and of a component that belongs to no class.
pub(crate) const NO_CLASS: u32 = Target::UNKNOWN;

/// A component with less than this fraction of the total weight is dead.
const MIN_WEIGHT: f64 = 1e-10;

/// The rows to learn from, and what is known of them.
pub(crate) struct Data<'a> {
    pub(crate) features: &'a Features<'a>,
    pub(crate) weights: Option<&'a [f64]>,
    /// The class of each row, or [`NO_CLASS`].
    pub(crate) classes: Option<&'a [u32]>,
    /// The order in which rows are visited, if not their own.
    order: Option<Vec<u32>>,
}

/// A chunk of rows to learn from.
pub(crate) trait LabelledRows: WeightedRows {
    /// The class of each row, or [`NO_CLASS`]; `None` if no row has a class.
    fn classes(&self) -> Option<&[u32]>;

    /// The order in which rows are visited, if not their own (see [`visiting_order`]).
    fn order(&self) -> Option<&[u32]>;

    fn weight(&self, i: usize) -> f64 {
        self.weights().map_or(1.0, |weights| weights[i])
    }

    fn class(&self, i: usize) -> u32 {
        self.classes().map_or(NO_CLASS, |classes| classes[i])
    }

    /// The row at a place of the order.
    fn row(&self, place: usize) -> usize {
        self.order().map_or(place, |order| order[place] as usize)
    }
}

impl<C: LabelledRows> LabelledRows for &C {
    fn classes(&self) -> Option<&[u32]> {
        (**self).classes()
    }

    fn order(&self) -> Option<&[u32]> {
        (**self).order()
    }
}

impl Chunk for Data<'_> {
    fn count(&self) -> usize {
        self.features.rows()
    }
}

impl WeightedRows for Data<'_> {
    fn features(&self) -> Features<'_> {
        *self.features
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights
    }
}

impl LabelledRows for Data<'_> {
    fn classes(&self) -> Option<&[u32]> {
        self.classes
    }

    fn order(&self) -> Option<&[u32]> {
        self.order.as_deref()
    }
}

impl<'a> Data<'a> {
    /// Rows to run EM on with these blocks: those with the same missing values are visited together.
    pub(crate) fn new(
        features: &'a Features<'a>,
        weights: Option<&'a [f64]>,
        classes: Option<&'a [u32]>,
        blocks: &[Block],
    ) -> Data<'a> {
        Data { features, weights, classes, order: visiting_order(features, blocks) }
    }

    /// Whether a block has missing values that it imputes by their expectation.
    pub(crate) fn has_missing(&self) -> bool {
        self.order.is_some()
    }
}

/// The order in which EM visits rows with these blocks: those with the same missing values together. `None` if that is their own.
pub(crate) fn visiting_order(features: &Features<'_>, blocks: &[Block]) -> Option<Vec<u32>> {
    let expecting = blocks.iter().filter(|block| block.imputes_missing());
    let columns: Vec<usize> = expecting.flat_map(|block| block.family().columns()).copied().collect();
    by_missing_pattern(features, &columns)
}

/// What is known of rows before the first step.
struct Overview {
    /// The total weight.
    total: f64,
    /// What it costs to read a row, in multiplications.
    row_cost: usize,
}

impl Overview {
    fn of(rows: impl Source<Chunk: LabelledRows>) -> Result<Overview> {
        accumulate(rows.chunks(), Overview { total: 0.0, row_cost: 1 }, |all, chunk| {
            all.total += chunk.total_weight();
            all.row_cost = all.row_cost.max(chunk.features().row_cost());
            Ok(())
        })
    }
}

/// Rows sorted by their missing values in these columns; `None` if nothing is missing.
fn by_missing_pattern(features: &Features<'_>, columns: &[usize]) -> Option<Vec<u32>> {
    let words = columns.len().div_ceil(64);
    let mut keys = vec![0u64; features.rows() * words];
    let (mut tile, mut any) = (Tile::new(features), false);
    for (t, keys) in keys.chunks_mut((TILE * words).max(1)).enumerate() {
        let first = t * TILE;
        tile.fill(features, first..first + keys.len() / words);
        for (j, &column) in columns.iter().enumerate().filter(|(_, column)| tile.has_missing(**column)) {
            any = true;
            for (key, x) in keys.iter_mut().skip(j / 64).step_by(words).zip(tile.column(column)) {
                *key |= u64::from(x.is_nan()) << (j % 64);
            }
        }
    }
    if !any {
        return None;
    }
    let key = |i: u32| &keys[i as usize * words..][..words];
    let mut order: Vec<u32> = (0..features.rows() as u32).collect();
    match words {
        1 => order.sort_unstable_by_key(|&i| (keys[i as usize], i)),
        _ => order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b))),
    }
    Some(order)
}

/// The components at present.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) product: Product,
    /// The total responsibility of each component.
    pub(crate) totals: Vec<f64>,
    pub(crate) log_weights: Vec<f64>,
    /// The class of each component, or [`NO_CLASS`].
    pub(crate) class_of: Vec<u32>,
}

/// When to stop, and whether to accelerate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) steps: usize,
    /// Converged when the mean objective per row rises by no more than this.
    pub(crate) tolerance: f64,
    /// Whether to accelerate by squared extrapolation.
    pub(crate) accelerate: bool,
}

/// How EM went.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The mean objective per row before each step.
    pub(crate) objectives: Vec<f64>,
    pub(crate) stop: StopReason,
    /// The rise of the objective by the last step but one.
    pub(crate) rise: f64,
    /// How often a dead component was started again.
    pub(crate) revived: usize,
}

impl Trace {
    /// A remark if EM ended early.
    pub(crate) fn remark(&self) -> Option<String> {
        match self.stop {
            StopReason::Budget => Some("the budget ran out: this is the best so far".into()),
            StopReason::StepLimit => Some("the likelihood was still rising at the last step: allow more steps".into()),
            _ => None,
        }
    }

    /// The highest objective that is known.
    pub(crate) fn reached(&self) -> f64 {
        self.objectives.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Nothing had to be iterated.
    pub(crate) fn none() -> Trace {
        Trace { objectives: Vec::new(), stop: StopReason::Computed, rise: 0.0, revived: 0 }
    }
}

impl State {
    /// Components of these blocks, whose parameters are known, with weights in proportion to these totals.
    pub(crate) fn new(product: Product, totals: Vec<f64>, class_of: Vec<u32>) -> State {
        let mut state = State { product, totals, log_weights: Vec::new(), class_of };
        state.weigh();
        state
    }

    pub(crate) fn weigh(&mut self) {
        let total: f64 = self.totals.iter().sum();
        self.log_weights = self.totals.iter().map(|weight| (weight / total).ln()).collect();
    }

    /// Runs EM until the objective converges.
    pub(crate) fn run_em(
        &mut self,
        rows: impl Source<Chunk: LabelledRows>,
        options: Options,
        run: &Run,
    ) -> Result<Trace> {
        let Overview { total, row_cost } = Overview::of(rows)?;
        let mut trace = Trace { objectives: Vec::new(), stop: StopReason::StepLimit, rise: f64::INFINITY, revived: 0 };
        let mut extrapolation = SquaredExtrapolation::new(options.accelerate);
        for step in 0..options.steps {
            run.progress("steps", step, options.steps);
            extrapolation.follow(self);
            let expected = match self.expect(rows.chunks(), row_cost, run) {
                Err(Error::OutOfTime { .. }) => {
                    trace.stop = StopReason::Budget;
                    run.finish(|| self.product.estimate(run))?;
                    break;
                }
                expected => expected?,
            };
            let objective = (expected.likelihood + self.product.log_prior()) / total;
            let before = trace.objectives.last().copied();
            let extrapolated = extrapolation.is_tentative();
            if extrapolated && before.is_some_and(|before| objective.is_nan() || objective < before) {
                extrapolation.revert(self, run)?;
                continue;
            }
            extrapolation.accept();
            trace.objectives.push(objective);
            let worst = expected.worst.row;
            (self.product.statistics, self.totals) = (expected.statistics, expected.totals);
            let revived = self.revive(worst.as_ref(), trace.revived);
            trace.revived += revived;
            self.product.estimate(run).or_else(|error| match error {
                Error::OutOfTime { .. } => run.finish(|| self.product.estimate(run)),
                other => Err(other),
            })?;
            self.weigh();
            // The gain of an extrapolation says nothing about that of the next step.
            if let Some(before) = before.filter(|_| !extrapolated) {
                trace.rise = objective - before;
                if revived == 0 && trace.rise.abs() <= options.tolerance {
                    trace.stop = StopReason::Converged;
                    break;
                }
            }
            if revived > 0 {
                extrapolation.forget();
            } else {
                extrapolation.after_step(self, run)?;
            }
        }
        extrapolation.revert(self, run)?;
        Ok(trace)
    }

    /// The expected statistics of rows under the present parameters, about the present means, and the total responsibilities.
    pub(crate) fn expected(
        &mut self,
        rows: impl Source<Chunk: LabelledRows>,
        run: &Run,
    ) -> Result<(Vec<Matrix>, Vec<f64>)> {
        self.product.follow(&mut []);
        let expected = self.expect(rows.chunks(), Overview::of(rows)?.row_cost, run)?;
        Ok((expected.statistics, expected.totals))
    }

    /// Sorts components by weight, the heaviest first.
    pub(crate) fn heaviest_first(&mut self, run: &Run) -> Result<()> {
        let mut order: Vec<usize> = (0..self.totals.len()).collect();
        order.sort_by(|&a, &b| self.totals[b].total_cmp(&self.totals[a]));
        self.totals = order.iter().map(|&k| self.totals[k]).collect();
        self.class_of = order.iter().map(|&k| self.class_of[k]).collect();
        self.product.reorder(&order, run)?;
        self.weigh();
        Ok(())
    }

    /// Starts dead components again, beside the heaviest of their class and towards the row without a class that fits worst.
    fn revive(&mut self, worst: Option<&Rows>, before: usize) -> usize {
        let total: f64 = self.totals.iter().sum();
        let dead: Vec<usize> = (0..self.totals.len()).filter(|&k| self.totals[k] <= MIN_WEIGHT * total).collect();
        let mut revived = 0;
        for k in dead.into_iter().take((3 * self.totals.len()).saturating_sub(before)) {
            let same = |h: &usize| self.class_of[*h] == self.class_of[k] && *h != k;
            let heaviest =
                (0..self.totals.len()).filter(same).max_by(|&a, &b| self.totals[a].total_cmp(&self.totals[b]));
            let Some(h) = heaviest.filter(|&h| self.totals[h] > 2.0 * MIN_WEIGHT * total) else { continue };
            let mut order: Vec<usize> = (0..self.totals.len()).collect();
            order[k] = h;
            self.totals[h] *= 0.5;
            self.totals[k] = self.totals[h];
            for (block, statistics) in self.product.blocks.iter_mut().zip(&mut self.product.statistics) {
                statistics.row_mut(h).iter_mut().for_each(|sum| *sum *= 0.5);
                let half = statistics.row(h).to_vec();
                statistics.row_mut(k).copy_from_slice(&half);
                block.family_mut().reorder(&order);
                if let Some(worst) = worst {
                    let row = worst.features();
                    let mut tile = Tile::new(&row);
                    tile.fill(&row, 0..row.rows());
                    block.family().add(k, statistics.row_mut(k), &tile, Some(&[0.1 * self.totals[k]]));
                }
            }
            revived += 1;
        }
        revived
    }
}
