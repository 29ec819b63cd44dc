//! EM and Bayes statistics over chunks that own their rows: they are those of rows in memory.

use super::*;
use crate::em::{LabelledRows, visiting_order};
use crate::family::statistics::{RowsByClass, statistics, statistics_of_chunks};
use crate::matrix::WeightedRows;
use crate::matrix::lazy::{LazyRows, OwnedRows, assert_close};
use crate::passes::{Chunk, Source, at_hand};
use proptest::prelude::*;

/// The rows of an example in chunks.
#[derive(Clone, Copy)]
struct LazyExample<'a> {
    rows: &'a LazyRows,
    groups: &'a [u32],
    classes: &'a [u32],
    blocks: &'a [Block],
}

impl Source for LazyExample<'_> {
    type Chunk = OwnedExample;

    fn chunks(&self) -> impl Iterator<Item = crate::error::Result<OwnedExample>> {
        let LazyExample { groups, classes, blocks, .. } = *self;
        self.rows.chunks().map(move |rows| {
            let rows = rows?;
            let own = rows.first()..rows.first() + rows.count();
            Ok(OwnedExample {
                order: visiting_order(&rows.features(), blocks),
                members: Members::new(&groups[own.clone()], K, rows.weights()).into_owned(),
                classes: classes[own].to_vec(),
                rows,
            })
        })
    }
}

/// A chunk that owns all it has.
struct OwnedExample {
    rows: OwnedRows,
    classes: Vec<u32>,
    order: Option<Vec<u32>>,
    members: Members<'static>,
}

impl Chunk for OwnedExample {
    fn count(&self) -> usize {
        self.rows.count()
    }

    fn first(&self) -> usize {
        self.rows.first()
    }
}

impl WeightedRows for OwnedExample {
    fn features(&self) -> Features<'_> {
        self.rows.features()
    }

    fn weights(&self) -> Option<&[f64]> {
        self.rows.weights()
    }
}

impl LabelledRows for OwnedExample {
    fn classes(&self) -> Option<&[u32]> {
        Some(&self.classes)
    }

    fn order(&self) -> Option<&[u32]> {
        self.order.as_deref()
    }
}

impl RowsByClass for OwnedExample {
    fn features(&self) -> Features<'_> {
        self.rows.features()
    }

    fn members(&self) -> &Members<'_> {
        &self.members
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn statistics_of_chunks_that_own_their_rows_are_those_of_all(seed: u64, missing in prop::sample::select(vec![0.0, 0.2])) {
        let whole = example(seed, 2500, missing, true);
        let lazy = LazyRows::without_targets(whole.rows.clone(), whole.weights.clone(), &[7, 2100, 0, 393]);
        let classes: Vec<u32> = (0..2500).map(|i| if i % 3 == 0 { whole.groups[i].min(1) } else { NO_CLASS }).collect();
        let features = whole.rows.features();
        let members = Members::new(&whole.groups, K, whole.weights.as_deref());
        for names in ALL {
            let state = state(names, &whole, vec![0, 1, 1], seed);
            let blocks: Vec<&Block> = state.product.blocks.iter().collect();
            let chunks = LazyExample { rows: &lazy, groups: &whole.groups, classes: &classes, blocks: &state.product.blocks };
            let several = |threads: usize| {
                let run = Run::new().threads_exactly(threads);
                let expected = state.expect(chunks.chunks(), 10, &run).unwrap();
                (expected, statistics_of_chunks(&blocks, chunks.chunks(), 10, K, &run).unwrap())
            };
            let (run, (expected, by_class)) = (Run::new().threads(2), several(2));
            let data = Data::new(&features, whole.weights.as_deref(), Some(&classes), &state.product.blocks);
            let one = state.expect(at_hand(&data), 10, &run).unwrap();
            let one_by_class = statistics(&blocks, &features, &members, &run).unwrap();
            let close = |found: &[f64], all: &[f64]| {
                let scale = all.iter().fold(1.0, |scale: f64, x| scale.max(x.abs()));
                assert_close(found, all, |_| scale);
            };
            close(&[expected.likelihood], &[one.likelihood]);
            close(&expected.totals, &one.totals);
            for (found, all) in expected.statistics.iter().zip(&one.statistics).chain(by_class.iter().zip(&one_by_class)) {
                close(found.values(), all.values());
            }
            let numbers = |row: Option<Rows>| row.map(|row| format!("{:?}", row));
            prop_assert_eq!(numbers(expected.worst.row), numbers(one.worst.row), "{}", names);
            for threads in [1, 3, 8] {
                let (again, by_class_again) = several(threads);
                prop_assert!(again.statistics == expected.statistics && by_class_again == by_class, "{names}");
                prop_assert!(again.likelihood == expected.likelihood && again.totals == expected.totals, "{names}");
            }
        }
        prop_assert!(lazy.made() > lazy.chunk_count());
    }

    #[test]
    fn em_goes_over_chunks_as_over_rows_in_memory(seed: u64, missing in prop::sample::select(vec![0.0, 0.2])) {
        let whole = example(seed, 600, missing, true);
        let lazy = LazyRows::without_targets(whole.rows.clone(), whole.weights.clone(), &[7, 300, 0, 293]);
        let classes = vec![NO_CLASS; 600];
        for names in ["diagonal+poisson", "full+words"] {
            let mut one = state(names, &whole, vec![NO_CLASS; K], seed);
            let mut several = one.clone();
            let features = whole.rows.features();
            let blocks = one.product.blocks.clone();
            let data = Data::new(&features, whole.weights.as_deref(), None, &blocks);
            let chunks = LazyExample { rows: &lazy, groups: &whole.groups, classes: &classes, blocks: &blocks };
            let options = Options { steps: 5, tolerance: 0.0, accelerate: false };
            let expected = one.run_em(&data, options, &Run::new()).unwrap();
            let found = several.run_em(chunks, options, &Run::new()).unwrap();
            // Steps magnify roundings.
            for (found, expected) in found.objectives.iter().zip(&expected.objectives) {
                prop_assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{names}: {found} and {expected}");
            }
        }
    }
}
