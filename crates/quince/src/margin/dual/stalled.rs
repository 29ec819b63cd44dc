//! When rounding leaves nothing to gain: blocks of steps that raise the dual objective no more, and rounds that no longer come
//! nearer to the tolerance.

use super::Solution;

/// The solver has stalled after this many blocks that gain nothing, up to rounding, while the KKT violation does not fall.
const MAX_BLOCKS_WITHOUT_GAIN: usize = 200;
/// The solver has stalled after this many rounds in double precision without improvement.
const MAX_ROUNDS_WITHOUT_IMPROVEMENT: usize = 3;

/// The precision of rounds, and how many of them have not helped.
pub(super) struct Rounds {
    /// Whether the next one is in single precision.
    single: bool,
    /// How many in double precision have not lowered the KKT violation.
    without_improvement: usize,
}

impl Rounds {
    pub(super) fn starting_in(single: bool) -> Rounds {
        Rounds { single, without_improvement: 0 }
    }

    pub(super) fn are_single(&self) -> bool {
        self.single
    }

    /// Notes the KKT violation after a round from a solution; whether no other round will help. If another one in single precision
    /// has not helped, double precision will; if several of that have not, nothing will.
    pub(super) fn are_stalled(&mut self, solution: &Solution, kkt_violation: f64) -> bool {
        self.without_improvement +=
            usize::from(!self.single && (solution.stalled || kkt_violation >= solution.kkt_violation));
        self.single &= kkt_violation < 0.5 * solution.kkt_violation && !solution.stalled;
        self.without_improvement >= MAX_ROUNDS_WITHOUT_IMPROVEMENT
    }
}

/// The smallest KKT violation so far, and the block that reached it.
pub(super) struct LowestViolation {
    kkt_violation: f64,
    block: usize,
}

impl LowestViolation {
    /// Before any block from this one on.
    pub(super) fn since(block: usize) -> LowestViolation {
        LowestViolation { kkt_violation: f64::INFINITY, block }
    }

    /// Notes the KKT violation before the last block; whether blocks have long gained nothing, up to rounding.
    pub(super) fn is_stalled(&mut self, kkt_violation: f64, trace: &[f64]) -> bool {
        let last = trace.len() - 1;
        if kkt_violation < 0.99 * self.kkt_violation {
            (self.kkt_violation, self.block) = (kkt_violation, last);
        }
        let (early, late) = (trace[self.block], trace[last]);
        trace.len() - self.block > MAX_BLOCKS_WITHOUT_GAIN && late - early <= 1e-14 * early.abs()
    }
}
