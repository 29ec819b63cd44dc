//! The loop: its objective, its statistics, its acceleration, and where it may stop.

use super::*;
use crate::learn::{Fitted, SavedParts};
use crate::run::StopReason;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_objective_never_falls(
        seed: u64, missing in prop::sample::select(vec![0.0, 0.2]), weighted: bool, labelled: bool, accelerate: bool,
    ) {
        let example = example(seed, 120, missing, weighted);
        let mut stream = Stream::new(seed, 2);
        let classes: Vec<u32> =
            example.groups.iter().map(|&group| if stream.uniform() < 0.3 { group.min(1) } else { NO_CLASS }).collect();
        let class_of = if labelled { vec![0, 1, 1] } else { vec![NO_CLASS; K] };
        for names in ALL {
            let mut state = state(names, &example, class_of.clone(), seed);
            let features = example.rows.features();
            let data = Data::new(&features, example.weights.as_deref(), labelled.then_some(&classes[..]), &state.product.blocks);
            // Without a variance floor a component may collapse to a point, which is refused.
            let trace = match state.run_em(&data, Options { steps: 25, tolerance: 0.0, accelerate }, &Run::new()) {
                Err(error) if error.to_string().contains("singular") => continue,
                trace => trace.unwrap(),
            };
            prop_assert!(trace.objectives.len() > 1 && trace.revived == 0, "{names}");
            for pair in trace.objectives.windows(2) {
                prop_assert!(pair[1] >= pair[0] - 1e-10 * (1.0 + pair[0].abs()), "{names}: {} to {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn a_weight_is_a_row_again(seed: u64) {
        let mut example = example(seed, 60, 0.1, false);
        let repeats: Vec<usize> = (0..60).map(|i| 1 + i % 3).collect();
        let again: Vec<usize> = (0..60).flat_map(|i| vec![i; repeats[i]]).collect();
        let repeated = Example { rows: example.rows.take(&again), weights: None, groups: Vec::new() };
        example.weights = Some(repeats.iter().map(|&n| n as f64).collect());
        for names in ALL {
            let start = state(names, &example, vec![NO_CLASS; K], seed);
            let densities = |example: &Example, rows: &Example| {
                let (mut state, features) = (start.clone(), example.rows.features());
                let data = Data::new(&features, example.weights.as_deref(), None, &state.product.blocks);
                run_em(&mut state, &data, 4, &Run::new());
                MixtureModel::new(state).log_densities(&rows.rows.features(), &Run::new()).unwrap()
            };
            for (a, b) in densities(&example, &example).iter().zip(densities(&repeated, &example)) {
                prop_assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{names}: {a} and {b}");
            }
        }
    }

    #[test]
    fn a_saved_mixture_says_the_same(seed: u64) {
        let example = example(seed, 60, 0.1, false);
        let features = example.rows.features();
        for names in ALL {
            let mut state = state(names, &example, vec![NO_CLASS; K], seed);
            let data = Data::new(&features, None, None, &state.product.blocks);
            run_em(&mut state, &data, 3, &Run::new());
            let model = MixtureModel::new(state);
            let mut parts = SavedParts::for_tests(DENSE + SPARSE, 0);
            model.save(&mut parts);
            let again = MixtureModel::load(&mut parts).unwrap();
            prop_assert_eq!(model.predict(&features, &Run::new()).unwrap(), again.predict(&features, &Run::new()).unwrap());
        }
    }
}

#[test]
fn one_thread_or_many_the_bits_are_the_same() {
    let example = example(3, 5000, 0.1, true);
    let features = example.rows.features();
    for names in ALL {
        let with = |threads: usize| {
            let run = Run::new().threads_exactly(threads);
            let mut state = state(names, &example, vec![NO_CLASS; K], 5);
            let data = Data::new(&features, example.weights.as_deref(), None, &state.product.blocks);
            run_em(&mut state, &data, 3, &run);
            MixtureModel::new(state).predict(&features, &run).unwrap()
        };
        assert!(with(1) == with(2), "{names}");
    }
}

#[test]
fn a_dead_component_is_started_again() {
    // Two groups, and a component that is so far away that it is responsible for no row.
    let mut stream = Stream::new(3, 0);
    let rows: Vec<[f64; 1]> = (0..200).map(|i| [f64::from(i % 2) * 30.0 + stream.normal()]).collect();
    let rows = Matrix::from_rows(&rows);
    let features = rows.features();
    let plain = VarianceFloor::relative(1e-6);
    let block = Block::Normal(Normals::new(vec![0], 2, &[0.0], plain, vec![0.0]));
    let mut product = Product::new(vec![block], 2, &features);
    let members = Members::new(&vec![0; 200], 2, None);
    product.learn(&features, &members, &Run::new()).unwrap();
    // One component has all rows, the other none: its weight is zero.
    let mut state = State::new(product, members.totals(), vec![NO_CLASS; 2]);
    let data = Data::new(&features, None, None, &state.product.blocks);
    let trace = state.run_em(&data, Options { steps: 200, tolerance: 1e-9, accelerate: false }, &Run::new()).unwrap();
    assert!(trace.revived >= 1);
    let weights = MixtureModel::new(state).weights();
    assert!(weights.iter().all(|weight| (weight - 0.5).abs() < 0.01), "{weights:?}");
}

#[test]
fn acceleration_converges_to_the_same_point_in_half_the_passes() {
    // Groups that overlap, and three kinds of columns: EM is slow.
    for (seed, missing) in [(1, 0.0), (2, 0.1), (3, 0.0)] {
        let example = example(seed, 400, missing, false);
        let features = example.rows.features();
        let end = |steps: usize, accelerate: bool| {
            let mut state = state("full+words", &example, vec![NO_CLASS; K], seed);
            let data = Data::new(&features, None, None, &state.product.blocks);
            state.run_em(&data, Options { steps, tolerance: 1e-10, accelerate }, &Run::new()).unwrap()
        };
        let plain = end(5000, false);
        let fast = end(plain.objectives.len() / 2, true);
        assert_eq!(
            (plain.stop, fast.stop),
            (StopReason::Converged, StopReason::Converged),
            "{}",
            plain.objectives.len()
        );
        let [plain, fast] = [plain, fast].map(|trace| *trace.objectives.last().unwrap());
        assert!(fast > plain - 1e-6, "{plain} and {fast}");
    }
}

#[test]
fn wherever_it_stops_the_state_is_no_worse_than_the_last_that_was_judged() {
    for seed in 0..4 {
        let example = example(seed, 200, 0.1, false);
        let features = example.rows.features();
        for names in ["full", "tied+counts+bernoulli", "normal+poisson+categorical+presence"] {
            for steps in 1..16 {
                let mut state = state(names, &example, vec![NO_CLASS; K], seed);
                let data = Data::new(&features, None, None, &state.product.blocks);
                let trace =
                    state.run_em(&data, Options { steps, tolerance: 0.0, accelerate: true }, &Run::new()).unwrap();
                let again = run_em(&mut state, &data, 1, &Run::new());
                let (last, next) = (trace.reached(), again.objectives[0]);
                assert!(next >= last - 1e-10 * (1.0 + last.abs()), "{names}, {steps}: {last} and {next}");
            }
        }
    }
}

#[test]
fn a_budget_that_ends_at_an_extrapolation_falls_back() {
    let example = example(3, 300, 0.0, false);
    let features = example.rows.features();
    for micros in (50..6000).step_by(150) {
        let mut state = state("full", &example, vec![NO_CLASS; K], 3);
        let data = Data::new(&features, None, None, &state.product.blocks);
        let run = Run::new().budget(std::time::Duration::from_micros(micros));
        let trace = state.run_em(&data, Options { steps: 40, tolerance: 0.0, accelerate: true }, &run).unwrap();
        let again = run_em(&mut state, &data, 1, &Run::new());
        assert!(trace.objectives.is_empty() || again.objectives[0] >= trace.reached() - 1e-10, "{micros}");
    }
}
