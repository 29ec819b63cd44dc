//! Whatever settings, codes, weights and shapes a method is given, settings checked beforehand or not: an answer or an error,
//! no panic.

use crate::clock::budget_of_looks;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use quince::learn::{Classes, Domain, Examples, MethodInfo, Target};
use quince::matrix::{Features, Sparse};
use quince::registry::{METHODS, Method};
use quince::{Matrix, Run};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Rows, some of which may be unsound.
#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    sparse: bool,
    labels: Labels,
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Labels {
    Codes(usize, Vec<u32>),
    Numbers(usize, Vec<f64>),
    None(usize),
}

/// A value that is sound, or one of those that break things.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => (-3.0..3.0f64).boxed(),
        2 => Just(0.0).boxed(),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, -f64::INFINITY, 1e308, -1e308, 1e-308, 1e160]).boxed(),
    ]
}

/// What is wrong with a case, if anything: one thing at a time, so that the rest is gone through.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    Features,
    Codes,
    Unknown,
    Numbers,
    Weights,
    Length,
}

fn case() -> impl Strategy<Value = Case> {
    let defects = vec![
        Defect::None,
        Defect::None,
        Defect::Features,
        Defect::Features,
        Defect::Codes,
        Defect::Unknown,
        Defect::Numbers,
        Defect::Weights,
        Defect::Length,
    ];
    (0..12usize, 0..4usize, any::<bool>(), 0..4usize, 0..5usize, prop::sample::select(defects)).prop_flat_map(
        |(rows, columns, sparse, classes, kind, defect)| {
            let sound = || (-3.0..3.0f64).boxed();
            let numbers = |wrong: Defect| if defect == wrong { value().boxed() } else { sound() };
            let length = if defect == Defect::Length { rows.saturating_sub(1) } else { rows };
            let top = if defect == Defect::Codes { classes + 2 } else { classes.max(1) } as u32;
            let code = if defect == Defect::Unknown {
                prop_oneof![0..top, Just(Target::UNKNOWN)].boxed()
            } else {
                (0..top).boxed()
            };
            let labels = match kind {
                0..=1 => prop::collection::vec(code, length).prop_map(move |c| Labels::Codes(classes, c)).boxed(),
                2..=3 => (1..3usize, prop::collection::vec(numbers(Defect::Numbers), 2 * length))
                    .prop_map(|(outputs, numbers)| Labels::Numbers(outputs, numbers))
                    .boxed(),
                _ => Just(Labels::None(length)).boxed(),
            };
            let weight = if defect == Defect::Weights { value().boxed() } else { (0.0..2.0f64).boxed() };
            let weights = prop::option::of(prop::collection::vec(weight, rows));
            (prop::collection::vec(numbers(Defect::Features), rows * columns), labels, weights)
                .prop_map(move |(values, labels, weights)| Case { rows, columns, values, sparse, labels, weights })
        },
    )
}

impl Case {
    /// Calls `learn` with the case as examples, if it can be made into some.
    fn with<T>(&self, learn: impl FnOnce(&Examples<'_>) -> quince::Result<T>) -> quince::Result<T> {
        let matrix = Matrix::new(self.rows, self.columns, self.values.clone())?;
        let target = match &self.labels {
            Labels::Codes(classes, codes) => {
                let names = (0..*classes).map(|k| format!("class {k}")).collect();
                Target::classes(Classes::in_order(names)?, codes.clone())?
            }
            Labels::Numbers(outputs, numbers) => {
                let rows = numbers.len() / 2;
                Target::numbers(Matrix::new(rows, *outputs, numbers[..rows * outputs].to_vec())?)?
            }
            Labels::None(rows) => Target::none(*rows),
        };
        let entries = |i: usize| {
            let row = matrix.row(i).iter().enumerate();
            row.filter(|(_, value)| **value != 0.0).map(|(j, value)| (j as u32, *value)).collect::<Vec<_>>()
        };
        let sparse = Sparse::from_rows(self.columns, (0..self.rows).map(entries))?;
        let features: Features<'_> = if self.sparse { sparse.features() } else { matrix.features() };
        learn(&Examples::new(features, &target, self.weights.as_deref())?)
    }
}

fn run() -> Run {
    budget_of_looks(2000).threads(1)
}

/// Fits with settings that only the fit itself checks, then asks everything a fitted model can be asked; the number of fits.
fn unchecked(method: &Method, settings: &Value, case: &Case) -> Result<usize, String> {
    let Ok(learner) = method.unchecked(settings) else { return Ok(0) };
    let refused = method.info.settings.iter().any(|setting| !fits(&setting.domain, &settings[setting.name]));
    let outcome = case.with(|examples| {
        let (fitted, report) = learner.fit_dyn(examples, &run())?;
        let _ = learner.leave_one_out_dyn(examples, &run());
        let _ = learner.resume_dyn(fitted.as_ref(), examples, &run());
        let prediction = fitted.predict(examples.features(), &run());
        let _ = fitted.predict(&Matrix::zeros(2, 7).features(), &run());
        let _ = fitted.predict(&Matrix::new(1, 2, vec![f64::NAN, 0.0])?.features(), &run());
        if let Ok(prediction) = &prediction {
            let _ = quince::evaluate::evaluate(examples.target(), prediction, examples.weights());
        }
        let _ = fitted.sample(3, Some(99), &run());
        let classes = vec![77; examples.rows()];
        let _ = fitted.impute(examples.features(), Some(&classes), &run());
        let _ = fitted.impute(examples.features(), Some(&[0]), &run());
        Ok(report)
    });
    match outcome {
        Ok(_) if refused => Err(format!("{} took the settings {settings}", method.info.name)),
        outcome => Ok(usize::from(outcome.is_ok())),
    }
}

/// Whether a setting's domain has a value, as far as ranges of numbers say.
fn fits(domain: &Domain, value: &Value) -> bool {
    match (domain, value.as_f64()) {
        (Domain::Number(low, high), number) => number.is_some_and(|number| *low <= number && number <= *high),
        (Domain::Integer(least), number) => number.is_some_and(|number| number >= *least as f64),
        _ => true,
    }
}

fn named(method: &Method, settings: &Value, case: &Case) -> Result<(), String> {
    let Ok(learner) = method.configure(settings) else { return Ok(()) };
    let _ = case.with(|examples| {
        let model = quince::Model::fit_features(
            examples.features(),
            examples.target(),
            examples.weights(),
            learner.as_ref(),
            &run(),
        )?;
        let _ = learner.leave_one_out_dyn(examples, &run());
        let prediction = model.predict_features(examples.features(), &run())?;
        let _ = model.label_names(&prediction);
        Ok(())
    });
    Ok(())
}

/// Some settings of a method, most of them unsound.
fn settings(info: &'static MethodInfo) -> impl Strategy<Value = Value> {
    let odd = prop::sample::select(vec![
        json!(-1.0),
        json!(0.0),
        json!(0),
        json!(1),
        json!(3),
        json!(-1),
        json!(1e308),
        json!(u64::MAX),
        json!(null),
        json!("auto"),
        json!(""),
        json!("none"),
        json!("x"),
        json!("a=1,b=-2"),
        json!(true),
        json!(2.5),
    ]);
    prop::collection::vec((prop::sample::select(info.settings.to_vec()), odd), 0..3)
        .prop_map(|given| Value::Object(given.into_iter().map(|(s, value)| (s.name.to_string(), value)).collect()))
}

/// What was wrong with a piece of work, a panic included.
fn panics<T>(work: impl FnOnce() -> Result<T, String>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => outcome.err(),
        Err(panic) => Some(
            panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()))
                .unwrap_or_else(|| "a panic without words".into()),
        ),
    }
}

#[test]
fn nothing_that_is_given_makes_a_method_panic() {
    let fitted: Vec<AtomicUsize> = METHODS.iter().map(|_| AtomicUsize::new(0)).collect();
    let config = ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let all = METHODS.iter().map(|method| settings(method.info)).collect::<Vec<_>>();
    let outcome = TestRunner::new(config).run(&(case(), all), |(case, given)| {
        for (m, (method, given)) in METHODS.iter().zip(given).enumerate() {
            let mut odd = method.defaults();
            if let (Value::Object(odd), Value::Object(given)) = (&mut odd, given) {
                odd.extend(given);
            }
            let name = method.info.name;
            for settings in [method.defaults(), odd] {
                let said =
                    panics(|| unchecked(method, &settings, &case).map(|fits| fitted[m].fetch_add(fits, Relaxed)));
                prop_assert!(said.is_none(), "{name} with {settings}: {}", said.unwrap_or_default());
                let said = panics(|| named(method, &settings, &case));
                prop_assert!(said.is_none(), "{name} by name with {settings}: {}", said.unwrap_or_default());
            }
        }
        Ok(())
    });
    if let Err(problem) = outcome {
        panic!("{problem}");
    }
    // Cases that are all refused would prove nothing.
    for (method, fitted) in METHODS.iter().zip(fitted) {
        let fitted = fitted.into_inner();
        assert!(fitted >= 50, "{} was fitted {fitted} times only", method.info.name);
    }
}
