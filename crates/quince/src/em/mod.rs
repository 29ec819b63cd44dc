//! Expectation maximisation (EM): E-step and M-step alternate, with one pass over the rows for each pair.
//!
//! A pass scores every row under every component, turns the scores into responsibilities, and adds the row, weighted by them,
//! to the sufficient statistics of all blocks; the next parameters follow from those. Rows are cut into parts that depend on
//! their number alone, and the statistics of the parts are added in order: the result has the same bits on any number of
//! threads.

mod accelerate;

use self::accelerate::SquaredExtrapolation;
use crate::error::{Error, Result};
use crate::family::block::{Block, Gather, Scores, TILE, Tile};
use crate::family::product::Product;
use crate::learn::Target;
use crate::matrix::{Features, Matrix, by_parts, partials};
use crate::run::{Run, StopReason};

/// The class of a row without a label, and of a component that belongs to no class.
pub(crate) const NO_CLASS: u32 = Target::UNKNOWN;

/// The memory for statistics of parts, as far as two parts allow: large statistics take long to add up.
const STATISTICS_BUDGET_BYTES: usize = 64 << 20;

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

impl<'a> Data<'a> {
    /// Rows to run EM on with these blocks: those with the same missing values are visited together.
    pub(crate) fn new(
        features: &'a Features<'a>,
        weights: Option<&'a [f64]>,
        classes: Option<&'a [u32]>,
        blocks: &[Block],
    ) -> Data<'a> {
        let expecting = blocks.iter().filter(|block| block.imputes_missing());
        let columns: Vec<usize> = expecting.flat_map(|block| block.family().columns()).copied().collect();
        Data { features, weights, classes, order: by_missing_pattern(features, &columns) }
    }

    /// Whether a block has missing values that it imputes by their expectation.
    pub(crate) fn has_missing(&self) -> bool {
        self.order.is_some()
    }

    fn rows(&self) -> usize {
        self.features.rows()
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    fn class(&self, i: usize) -> u32 {
        self.classes.map_or(NO_CLASS, |classes| classes[i])
    }

    /// The row at a place of the order.
    fn row(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place] as usize)
    }

    pub(crate) fn total(&self) -> f64 {
        self.weights.map_or(self.rows() as f64, |weights| weights.iter().sum())
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

/// The result of a pass over all rows.
struct Pass {
    likelihood: f64,
    totals: Vec<f64>,
    statistics: Vec<Matrix>,
    /// The row without a class that fits worst, and its log density.
    worst: (f64, Option<usize>),
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
    pub(crate) fn run_em(&mut self, data: &Data<'_>, options: Options, run: &Run) -> Result<Trace> {
        let total = data.total();
        let mut trace = Trace { objectives: Vec::new(), stop: StopReason::StepLimit, rise: f64::INFINITY, revived: 0 };
        let mut extrapolation = SquaredExtrapolation::new(options.accelerate);
        for step in 0..options.steps {
            run.progress("steps", step, options.steps);
            extrapolation.follow(self);
            let pass = match self.pass(data, run) {
                Err(Error::OutOfTime { .. }) => {
                    trace.stop = StopReason::Budget;
                    run.finish(|| self.product.estimate(run))?;
                    break;
                }
                pass => pass?,
            };
            let objective = (pass.likelihood + self.product.log_prior()) / total;
            let before = trace.objectives.last().copied();
            let extrapolated = extrapolation.is_tentative();
            if extrapolated && before.is_some_and(|before| objective.is_nan() || objective < before) {
                extrapolation.revert(self, run)?;
                continue;
            }
            extrapolation.accept();
            trace.objectives.push(objective);
            let worst = pass.worst.1;
            (self.product.statistics, self.totals) = (pass.statistics, pass.totals);
            let revived = self.revive(data, worst, trace.revived);
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
    pub(crate) fn expected(&mut self, data: &Data<'_>, run: &Run) -> Result<(Vec<Matrix>, Vec<f64>)> {
        self.product.follow(&mut []);
        let pass = self.pass(data, run)?;
        Ok((pass.statistics, pass.totals))
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

    /// One pass: responsibilities, and the statistics that follow from them.
    fn pass(&self, data: &Data<'_>, run: &Run) -> Result<Pass> {
        let blocks = &self.product.blocks;
        let numbers: usize = self.product.statistics.iter().map(|statistics| statistics.values().len()).sum();
        // A number of parts that two or four threads share equally.
        let affordable =
            [8, 4, 2].into_iter().find(|parts| parts * 8 * numbers <= STATISTICS_BUDGET_BYTES).unwrap_or(2);
        let parts = affordable.min(partials(data.rows()));
        let part = || PartialPass {
            tile: Tile::new(data.features),
            lines: Scores::new(self.totals.len()),
            gathered: blocks.iter().map(|block| block.family().gather(self.totals.len())).collect(),
            likelihood: 0.0,
            totals: vec![0.0; self.totals.len()],
            worst: (f64::INFINITY, None),
            sound: true,
        };
        let mut parts: Vec<PartialPass<'_>> = (0..parts).map(|_| part()).collect();
        let cost = data.features.row_cost() * self.totals.len() + 2 * self.product.cost();
        let step = (20_000_000 / cost / TILE).clamp(1, 64) * TILE;
        by_parts(data.rows(), step, &mut parts, run, Run::check, |part, places| {
            for first in places.clone().step_by(TILE) {
                part.add(self, data, first..(first + TILE).min(places.end));
            }
        })?;
        if parts.iter().any(|part| !part.sound || !part.tile.is_finite()) {
            return Err(data.features.infinite());
        }
        let mut pass = Pass {
            likelihood: 0.0,
            totals: vec![0.0; self.totals.len()],
            statistics: Vec::new(),
            worst: (f64::INFINITY, None),
        };
        for part in parts {
            pass.likelihood += part.likelihood;
            pass.totals.iter_mut().zip(&part.totals).for_each(|(all, total)| *all += total);
            if part.worst.0 < pass.worst.0 {
                pass.worst = part.worst;
            }
            for (b, gathered) in part.gathered.into_iter().enumerate() {
                let statistics = gathered.statistics();
                match pass.statistics.get_mut(b) {
                    None => pass.statistics.push(statistics),
                    Some(all) => {
                        all.values_mut().iter_mut().zip(statistics.values()).for_each(|(all, sum)| *all += sum)
                    }
                }
            }
        }
        Ok(pass)
    }

    /// Starts dead components again, beside the heaviest of their class and towards the row without a class that fits worst.
    fn revive(&mut self, data: &Data<'_>, worst: Option<usize>, before: usize) -> usize {
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
            let mut tile = Tile::new(data.features);
            tile.fill(data.features, worst.into_iter());
            for (block, statistics) in self.product.blocks.iter_mut().zip(&mut self.product.statistics) {
                statistics.row_mut(h).iter_mut().for_each(|sum| *sum *= 0.5);
                let half = statistics.row(h).to_vec();
                statistics.row_mut(k).copy_from_slice(&half);
                block.family_mut().reorder(&order);
                block.family().add(k, statistics.row_mut(k), &tile, Some(&vec![0.1 * self.totals[k]; tile.rows()]));
            }
            revived += 1;
        }
        revived
    }
}

/// The result of a part of the rows.
struct PartialPass<'a> {
    tile: Tile<'a>,
    lines: Scores,
    gathered: Vec<Box<dyn Gather + 'a>>,
    likelihood: f64,
    totals: Vec<f64>,
    worst: (f64, Option<usize>),
    sound: bool,
}

impl<'a> PartialPass<'a> {
    fn add(&mut self, state: &State, data: &Data<'a>, places: std::ops::Range<usize>) {
        let first = places.start;
        self.tile.fill(data.features, places.map(|place| data.row(place)));
        let rows = self.tile.rows();
        self.lines.start(rows, &state.log_weights);
        self.gathered.iter_mut().for_each(|gathered| gathered.score(&self.tile, &mut self.lines));
        self.sound &= data.features.sparse_part().is_none() || !self.lines.has_nan();
        if data.classes.is_some() {
            self.lines.mask_classes((0..rows).map(|i| data.class(data.row(first + i))), &state.class_of);
        }
        // A row that is impossible under every component has no responsibilities.
        let (mut densities, mut weights, nothing) = ([0.0; TILE], [1.0; TILE], vec![0.0; state.totals.len()]);
        if data.weights.is_some() {
            weights
                .iter_mut()
                .take(rows)
                .enumerate()
                .for_each(|(i, weight)| *weight = data.weight(data.row(first + i)));
        }
        self.lines.make_responsibilities(&weights[..rows], &nothing, &mut densities[..rows]);
        for (i, density) in densities[..rows].iter().enumerate().filter(|(i, _)| weights[*i] > 0.0) {
            self.likelihood += if density.is_finite() { weights[i] * density } else { 0.0 };
            // A row with a class belongs to the components of that class alone.
            if *density < self.worst.0 && data.class(data.row(first + i)) == NO_CLASS {
                self.worst = (*density, Some(data.row(first + i)));
            }
        }
        for (k, total) in self.totals.iter_mut().enumerate() {
            *total += self.lines.of(k).iter().sum::<f64>();
        }
        self.gathered.iter_mut().for_each(|gathered| gathered.add(&self.tile, &self.lines));
    }
}
