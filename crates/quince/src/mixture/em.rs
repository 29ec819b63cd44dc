//! The loop: expectation and maximisation by turns, in one pass over the rows each.
//!
//! In a pass every row is scored under every component, its shares follow, and with them it is added to the sums of all blocks;
//! the next parameters follow from those. Rows are cut into parts that depend on their number alone, and the sums of the parts
//! are added in order: the same bits come out on any number of threads.

use super::leap::Leaps;
use crate::error::{Error, Result};
use crate::family::block::{Block, Gather, Scores, TILE, Tile};
use crate::family::product::Product;
use crate::learn::Target;
use crate::matrix::{Features, Matrix, by_parts, partials};
use crate::run::{Run, Stop};

/// The class of a row, or of a component, that has none.
pub(crate) const NONE: u32 = Target::UNKNOWN;

/// So many bytes of sums are kept at a time, as far as two parts allow: what is large takes long to add up.
const ROOM: usize = 64 << 20;

/// A component with less than this share of all rows is dead.
const DEAD: f64 = 1e-10;

/// Rows, and what is known of them.
pub(crate) struct Seen<'a> {
    pub(crate) features: &'a Features<'a>,
    pub(crate) weights: Option<&'a [f64]>,
    /// The class of each row, or [`NONE`].
    pub(crate) classes: Option<&'a [u32]>,
    /// In which order to go over them, if not their own.
    order: Option<Vec<u32>>,
}

impl<'a> Seen<'a> {
    /// Rows that will be gone over for these blocks: those that have the same holes side by side.
    pub(crate) fn new(
        features: &'a Features<'a>,
        weights: Option<&'a [f64]>,
        classes: Option<&'a [u32]>,
        blocks: &[Block],
    ) -> Seen<'a> {
        let expecting = blocks.iter().filter(|block| block.expects_holes());
        let columns: Vec<usize> = expecting.flat_map(|block| block.family().columns()).copied().collect();
        Seen { features, weights, classes, order: by_holes(features, &columns) }
    }

    /// Whether a block has holes that it fills with what it expects.
    pub(crate) fn has_holes(&self) -> bool {
        self.order.is_some()
    }

    fn rows(&self) -> usize {
        self.features.rows()
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    fn class(&self, i: usize) -> u32 {
        self.classes.map_or(NONE, |classes| classes[i])
    }

    /// The row at a place of the order.
    fn row(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order[place] as usize)
    }

    pub(crate) fn total(&self) -> f64 {
        self.weights.map_or(self.rows() as f64, |weights| weights.iter().sum())
    }
}

/// Rows in the order of their holes in these columns; `None` if there are none.
fn by_holes(features: &Features<'_>, columns: &[usize]) -> Option<Vec<u32>> {
    let words = columns.len().div_ceil(64);
    let mut keys = vec![0u64; features.rows() * words];
    let (mut tile, mut any) = (Tile::new(features), false);
    for (t, keys) in keys.chunks_mut((TILE * words).max(1)).enumerate() {
        let first = t * TILE;
        tile.fill(features, first..first + keys.len() / words);
        for (j, &column) in columns.iter().enumerate().filter(|(_, column)| tile.has_holes(**column)) {
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

/// Components as they are at present.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) product: Product,
    /// How much the rows of each component count.
    pub(crate) totals: Vec<f64>,
    pub(crate) log_weights: Vec<f64>,
    /// The class of each component, or [`NONE`].
    pub(crate) class_of: Vec<u32>,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) steps: usize,
    /// Done when the objective of a row, on average, rises by no more.
    pub(crate) tolerance: f64,
    /// Whether to leap ahead.
    pub(crate) leaps: bool,
}

/// How it went.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The objective of a row, on average, before each step.
    pub(crate) trace: Vec<f64>,
    pub(crate) stop: Stop,
    /// By how much the last step but one had raised it.
    pub(crate) rise: f64,
    /// How often a component was dead and began anew.
    pub(crate) revived: usize,
}

impl Course {
    /// A sentence if it ended before its time.
    pub(crate) fn remark(&self) -> Option<String> {
        match self.stop {
            Stop::Budget => Some("the budget ran out: this is the best so far".into()),
            Stop::StepLimit => Some("the likelihood was still rising at the last step: allow more steps".into()),
            _ => None,
        }
    }

    /// The highest that is known.
    pub(super) fn reached(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Nothing had to be expected.
    pub(crate) fn none() -> Course {
        Course { trace: Vec::new(), stop: Stop::Computed, rise: 0.0, revived: 0 }
    }
}

/// What a pass over all rows finds.
struct Pass {
    likelihood: f64,
    totals: Vec<f64>,
    sums: Vec<Matrix>,
    /// The row without a class that fits worst, and how likely it is.
    worst: (f64, Option<usize>),
}

impl State {
    /// Components of these blocks, whose parameters are known, with weights in proportion to these totals.
    pub(crate) fn new(product: Product, totals: Vec<f64>, class_of: Vec<u32>) -> State {
        let mut state = State { product, totals, log_weights: Vec::new(), class_of };
        state.weigh();
        state
    }

    pub(super) fn weigh(&mut self) {
        let total: f64 = self.totals.iter().sum();
        self.log_weights = self.totals.iter().map(|weight| (weight / total).ln()).collect();
    }

    /// Goes on until the objective rests.
    pub(crate) fn climb(&mut self, seen: &Seen<'_>, limits: Limits, run: &Run) -> Result<Course> {
        let total = seen.total();
        let mut course = Course { trace: Vec::new(), stop: Stop::StepLimit, rise: f64::INFINITY, revived: 0 };
        let mut leaps = Leaps::new(limits.leaps);
        for step in 0..limits.steps {
            run.progress("steps", step, limits.steps);
            leaps.follow(self);
            let pass = match self.pass(seen, run) {
                Err(Error::OutOfTime { .. }) => {
                    course.stop = Stop::Budget;
                    run.finish(|| self.product.estimate(run))?;
                    break;
                }
                pass => pass?,
            };
            let objective = (pass.likelihood + self.product.log_prior()) / total;
            let before = course.trace.last().copied();
            let leapt = leaps.in_the_air();
            if leapt && before.is_some_and(|before| objective.is_nan() || objective < before) {
                leaps.go_back(self, run)?;
                continue;
            }
            leaps.stay();
            course.trace.push(objective);
            let worst = pass.worst.1;
            (self.product.sums, self.totals) = (pass.sums, pass.totals);
            let revived = self.revive(seen, worst, course.revived);
            course.revived += revived;
            self.product.estimate(run).or_else(|error| match error {
                Error::OutOfTime { .. } => run.finish(|| self.product.estimate(run)),
                other => Err(other),
            })?;
            self.weigh();
            // What a leap has gained says nothing of what the next step will gain.
            if let Some(before) = before.filter(|_| !leapt) {
                course.rise = objective - before;
                if revived == 0 && course.rise.abs() <= limits.tolerance {
                    course.stop = Stop::Converged;
                    break;
                }
            }
            if revived > 0 {
                leaps.forget();
            } else {
                leaps.after_step(self, run)?;
            }
        }
        leaps.go_back(self, run)?;
        Ok(course)
    }

    /// The sums of rows by the present parameters, about the present means, and how much the rows of each component count.
    pub(crate) fn expected(&mut self, seen: &Seen<'_>, run: &Run) -> Result<(Vec<Matrix>, Vec<f64>)> {
        self.product.follow(&mut []);
        let pass = self.pass(seen, run)?;
        Ok((pass.sums, pass.totals))
    }

    /// Numbers components by their weight, the heaviest first.
    pub(crate) fn heaviest_first(&mut self, run: &Run) -> Result<()> {
        let mut order: Vec<usize> = (0..self.totals.len()).collect();
        order.sort_by(|&a, &b| self.totals[b].total_cmp(&self.totals[a]));
        self.totals = order.iter().map(|&k| self.totals[k]).collect();
        self.class_of = order.iter().map(|&k| self.class_of[k]).collect();
        self.product.reorder(&order, run)?;
        self.weigh();
        Ok(())
    }

    /// One pass: shares, and the sums that follow from them.
    fn pass(&self, seen: &Seen<'_>, run: &Run) -> Result<Pass> {
        let blocks = &self.product.blocks;
        let numbers: usize = self.product.sums.iter().map(|sums| sums.values().len()).sum();
        // A number that falls on two threads, or four, in equal shares.
        let affordable = [8, 4, 2].into_iter().find(|parts| parts * 8 * numbers <= ROOM).unwrap_or(2);
        let parts = affordable.min(partials(seen.rows()));
        let part = || Part {
            tile: Tile::new(seen.features),
            lines: Scores::new(self.totals.len()),
            gathered: blocks.iter().map(|block| block.family().gather(self.totals.len())).collect(),
            likelihood: 0.0,
            totals: vec![0.0; self.totals.len()],
            worst: (f64::INFINITY, None),
            sound: true,
        };
        let mut parts: Vec<Part<'_>> = (0..parts).map(|_| part()).collect();
        let cost = seen.features.row_cost() * self.totals.len() + 2 * self.product.cost();
        let step = (20_000_000 / cost / TILE).clamp(1, 64) * TILE;
        by_parts(seen.rows(), step, &mut parts, run, Run::check, |part, places| {
            for first in places.clone().step_by(TILE) {
                part.add(self, seen, first..(first + TILE).min(places.end));
            }
        })?;
        if parts.iter().any(|part| !part.sound || !part.tile.is_finite()) {
            return Err(seen.features.infinite());
        }
        let mut pass = Pass {
            likelihood: 0.0,
            totals: vec![0.0; self.totals.len()],
            sums: Vec::new(),
            worst: (f64::INFINITY, None),
        };
        for part in parts {
            pass.likelihood += part.likelihood;
            pass.totals.iter_mut().zip(&part.totals).for_each(|(all, total)| *all += total);
            if part.worst.0 < pass.worst.0 {
                pass.worst = part.worst;
            }
            for (b, gathered) in part.gathered.into_iter().enumerate() {
                let sums = gathered.sums();
                match pass.sums.get_mut(b) {
                    None => pass.sums.push(sums),
                    Some(all) => all.values_mut().iter_mut().zip(sums.values()).for_each(|(all, sum)| *all += sum),
                }
            }
        }
        Ok(pass)
    }

    /// Lets dead components begin anew, beside the heaviest of their class and towards the row without a class that fits worst.
    fn revive(&mut self, seen: &Seen<'_>, worst: Option<usize>, before: usize) -> usize {
        let total: f64 = self.totals.iter().sum();
        let dead: Vec<usize> = (0..self.totals.len()).filter(|&k| self.totals[k] <= DEAD * total).collect();
        let mut revived = 0;
        for k in dead.into_iter().take((3 * self.totals.len()).saturating_sub(before)) {
            let same = |h: &usize| self.class_of[*h] == self.class_of[k] && *h != k;
            let heaviest =
                (0..self.totals.len()).filter(same).max_by(|&a, &b| self.totals[a].total_cmp(&self.totals[b]));
            let Some(h) = heaviest.filter(|&h| self.totals[h] > 2.0 * DEAD * total) else { continue };
            let mut order: Vec<usize> = (0..self.totals.len()).collect();
            order[k] = h;
            self.totals[h] *= 0.5;
            self.totals[k] = self.totals[h];
            let mut tile = Tile::new(seen.features);
            tile.fill(seen.features, worst.into_iter());
            for (block, sums) in self.product.blocks.iter_mut().zip(&mut self.product.sums) {
                sums.row_mut(h).iter_mut().for_each(|sum| *sum *= 0.5);
                let half = sums.row(h).to_vec();
                sums.row_mut(k).copy_from_slice(&half);
                block.family_mut().reorder(&order);
                block.family().add(k, sums.row_mut(k), &tile, Some(&vec![0.1 * self.totals[k]; tile.rows()]));
            }
            revived += 1;
        }
        revived
    }
}

/// What a part of the rows finds.
struct Part<'a> {
    tile: Tile<'a>,
    lines: Scores,
    gathered: Vec<Box<dyn Gather + 'a>>,
    likelihood: f64,
    totals: Vec<f64>,
    worst: (f64, Option<usize>),
    sound: bool,
}

impl<'a> Part<'a> {
    fn add(&mut self, state: &State, seen: &Seen<'a>, places: std::ops::Range<usize>) {
        let first = places.start;
        self.tile.fill(seen.features, places.map(|place| seen.row(place)));
        let rows = self.tile.rows();
        self.lines.start(rows, &state.log_weights);
        self.gathered.iter_mut().for_each(|gathered| gathered.score(&self.tile, &mut self.lines));
        self.sound &= seen.features.sparse_part().is_none() || !self.lines.has_nan();
        if seen.classes.is_some() {
            self.lines.leave_classes((0..rows).map(|i| seen.class(seen.row(first + i))), &state.class_of);
        }
        // A row that no component can have teaches none of them.
        let (mut densities, mut weights, nothing) = ([0.0; TILE], [1.0; TILE], vec![0.0; state.totals.len()]);
        if seen.weights.is_some() {
            weights
                .iter_mut()
                .take(rows)
                .enumerate()
                .for_each(|(i, weight)| *weight = seen.weight(seen.row(first + i)));
        }
        self.lines.make_shares(&weights[..rows], &nothing, &mut densities[..rows]);
        for (i, density) in densities[..rows].iter().enumerate().filter(|(i, _)| weights[*i] > 0.0) {
            self.likelihood += if density.is_finite() { weights[i] * density } else { 0.0 };
            // A row of a class belongs to the components of that class alone.
            if *density < self.worst.0 && seen.class(seen.row(first + i)) == NONE {
                self.worst = (*density, Some(seen.row(first + i)));
            }
        }
        for (k, total) in self.totals.iter_mut().enumerate() {
            *total += self.lines.of(k).iter().sum::<f64>();
        }
        self.gathered.iter_mut().for_each(|gathered| gathered.add(&self.tile, &self.lines));
    }
}
