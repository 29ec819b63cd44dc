//! Support vector machines at their limits: columns of very different scale, huge weights, little time; and what a fit costs beside
//! its solve.

use crate::svm::{fact, noisy, plain};
use quince::learn::{Classes, Examples, Fitted, Learner, Prediction, Target, TargetView};
use quince::margin::{Cost, Gamma, KernelName, LeaveOneOut, LinearSvm, Loss, Solver, Svm};
use quince::run::{Observer, Report, StopReason, Stream, TickClock};
use quince::{Matrix, Run};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Two classes that differ in the first column, whose second column has another scale.
fn unscaled(count: usize, scale: f64) -> (Matrix, Target) {
    let mut stream = Stream::new(5, 0);
    let mut rows = Matrix::zeros(count, 3);
    for i in 0..count {
        let shift = if i % 2 == 0 { 0.0 } else { 0.7 };
        rows.row_mut(i).copy_from_slice(&[shift + stream.normal(), scale * stream.normal(), stream.normal()]);
    }
    let codes = (0..count as u32).map(|i| i % 2).collect();
    (rows, Target::classes(Classes::of(["a", "b"]), codes).unwrap())
}

#[test]
fn a_linear_kernel_of_unscaled_columns_has_the_optimum_of_a_linear_model() {
    for (count, scale) in [(24, 1e5), (300, 1e4)] {
        let (rows, classes) = unscaled(count, scale);
        let numbers = (0..count).map(|i| rows[(i, 0)] + rows[(i, 1)] / scale + rows[(i, 2)].sin()).collect();
        let numbers = Target::numbers(Matrix::column_vector(numbers)).unwrap();
        for target in [&classes, &numbers] {
            let examples = Examples::new(rows.features(), target, None).unwrap();
            let by_kernel = Svm { kernel: KernelName::Linear, ..plain() };
            let (model, report) = by_kernel.fit_examples(&examples, &Run::new()).unwrap();
            let directly =
                LinearSvm { solver: Solver::Interior, tolerance: 1e-6, probabilities: false, ..LinearSvm::default() };
            let (_, linear) = directly.fit_examples(&examples, &Run::new()).unwrap();
            let what = format!("{count} rows, {scale:e}: {report:?}, {linear:?}");
            assert_eq!(report.stop, StopReason::Converged, "{what}");
            assert!(report.holds(), "{what}");
            // The optimum lies between both objectives of either method; kernels of 1e10 leave the sixth digit to rounding.
            assert!(fact(&report, "primal") >= fact(&linear, "dual") * (1.0 - 1e-6), "{what}");
            assert!(fact(&report, "primal") <= fact(&linear, "primal") * (1.0 + 1e-4), "{what}");
            assert!(model.scores(&rows.features(), &Run::new()).unwrap().iter().all(|score| score.is_finite()));
        }
    }
}

#[test]
fn a_column_for_which_coefficients_have_too_few_digits_comes_to_an_end_and_says_so() {
    let (rows, _) = unscaled(24, 1e8);
    let numbers = (0..24).map(|i| rows[(i, 0)] + rows[(i, 1)] / 1e8 + rows[(i, 2)].sin()).collect();
    let target = Target::numbers(Matrix::column_vector(numbers)).unwrap();
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let settings = Svm { kernel: KernelName::Linear, ..plain() };
    let (_, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
    assert!(report.stop == StopReason::Stalled && !report.holds(), "{report:?}");
    assert!(report.remarks.iter().any(|remark| remark.contains("scale the columns")), "{:?}", report.remarks);
    // The gap that is left is known.
    assert!(fact(&report, "primal") >= fact(&report, "dual"), "{report:?}");
}

#[test]
fn weights_of_any_size_come_to_an_end() {
    let (rows, target) = noisy(40, 3);
    let weights = vec![1e300; 40];
    let examples = Examples::new(rows.features(), &target, Some(&weights)).unwrap();
    for kernel in [KernelName::Linear, KernelName::Rbf] {
        let (model, report) = Svm { kernel, ..plain() }.fit_examples(&examples, &Run::new()).unwrap();
        assert!(model.bias().is_finite(), "{report:?}");
        // What is not as exact as asked says so.
        assert!(report.stop == StopReason::Converged || !report.holds(), "{report:?}");
    }
}

#[test]
fn features_near_the_largest_of_single_precision_are_as_good_as_small_ones() {
    let (rows, target) = noisy(200, 3);
    let scaled = |by: f64| Matrix::new(200, 3, rows.values().iter().map(|x| by * x).collect()).unwrap();
    let fit = |rows: &Matrix, gamma: Gamma| {
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let (model, report) = Svm { gamma, ..plain() }.fit_examples(&examples, &Run::new()).unwrap();
        assert_eq!(report.stop, StopReason::Converged);
        model.scores(&rows.features(), &Run::new()).unwrap()
    };
    // A power of two changes no digit, so γ = 1 / (variance) changes no score.
    let plain = fit(&rows, Gamma::Scale);
    for by in [2f64.powi(125), 2f64.powi(-125)] {
        assert_eq!(fit(&scaled(by), Gamma::Scale), plain);
    }
    // Where γ is one, no row of these is like another, and their distances are beyond single precision.
    assert!(fit(&scaled(1e38), Gamma::Fixed(1.0)).iter().all(|score| score.abs() < 1.1));
}

#[test]
fn rows_too_large_for_a_kernel_are_refused_by_their_column() {
    let (rows, target) = unscaled(24, 1e200);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    for kernel in [KernelName::Linear, KernelName::Rbf, KernelName::Polynomial] {
        let error = Svm { kernel, ..plain() }.fit_examples(&examples, &Run::new()).err().unwrap();
        let said = format!("{error} {}", error.remedy());
        assert!(said.contains("column 2") && said.contains("Scale the columns"), "{said}");
    }
}

/// Notes the stages of a run, and how often it is asked whether to go on.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<(Vec<String>, usize)>>);

impl Observer for Heard {
    fn progress(&mut self, stage: &str, _: u64, _: u64) {
        self.0.lock().unwrap().0.push(stage.to_string());
    }

    fn poll(&mut self) -> bool {
        self.0.lock().unwrap().1 += 1;
        false
    }
}

impl Heard {
    /// A run that is asked at every look.
    fn run(&self) -> Run {
        Run::new().threads(1).clock(TickClock::new(Duration::from_millis(50))).observe(self.clone())
    }

    fn looks(&self) -> usize {
        self.0.lock().unwrap().1
    }

    fn leaves_out(&self) -> bool {
        self.0.lock().unwrap().0.iter().any(|stage| stage == "leaving rows out")
    }
}

/// The mean log loss, and how often the label is not the class of the larger probability.
fn judged(prediction: &Prediction, target: &Target) -> (f64, usize) {
    let TargetView::Classes { codes, .. } = target.view() else { panic!() };
    let Prediction::Classes { probabilities, .. } = prediction else { panic!() };
    let loss: f64 = codes.iter().enumerate().map(|(i, &code)| -probabilities[(i, code as usize)].ln()).sum();
    let labels = prediction.labels();
    let contradicted = (0..codes.len()).filter(|&i| {
        let label = labels[i] as usize;
        probabilities[(i, label)] < probabilities[(i, 1 - label)]
    });
    (loss / codes.len() as f64, contradicted.count())
}

#[test]
fn rows_are_left_out_one_by_one_only_when_that_is_asked_for() {
    let (rows, target) = noisy(1_200, 3);
    let (learnt, held) = ((0..400).collect::<Vec<_>>(), (400..1_200).collect::<Vec<_>>());
    let (rows, new) = (rows.take_rows(&learnt), rows.take_rows(&held));
    let (target, truth) = (target.take(&learnt), target.take(&held));
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let fit = |leave_one_out: LeaveOneOut| {
        let heard = Heard::default();
        let settings = Svm { leave_one_out, ..Svm::default() };
        let (model, _) = settings.fit_examples(&examples, &heard.run()).unwrap();
        let (loss, contradicted) = judged(&model.predict(&new.features(), &Run::new()).unwrap(), &truth);
        assert_eq!(contradicted, 0);
        (heard, loss)
    };
    let (asked, by_all) = fit(LeaveOneOut::Always);
    let (usual, by_thirds) = fit(LeaveOneOut::Auto);
    assert!(asked.leaves_out() && !usual.leaves_out());
    // What three refits know of probabilities is as good on new rows.
    assert!(by_thirds < by_all + 0.01, "{by_thirds} {by_all}");
    assert!(usual.looks() * 5 < asked.looks(), "{} {}", usual.looks(), asked.looks());
}

#[test]
fn a_resumed_model_that_has_converged_is_not_calibrated_again() {
    let (rows, target) = noisy(1_500, 4);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let (first, second) = (Heard::default(), Heard::default());
    let (model, _) = Svm::default().fit_examples(&examples, &first.run()).unwrap();
    let (again, report) = Learner::resume(&Svm::default(), &model, &examples, &second.run()).unwrap().unwrap();
    assert_eq!((again.summary().steps, report.stop), (0, StopReason::Converged));
    assert_eq!(again.temperature(), model.temperature());
    assert!(second.looks() * 4 < first.looks(), "{} {}", second.looks(), first.looks());
    // Probabilities that were not wanted at first are calibrated.
    let (bare, _) = plain().fit_examples(&examples, &Run::new()).unwrap();
    let (again, _) = Learner::resume(&Svm::default(), &bare, &examples, &Run::new()).unwrap().unwrap();
    assert!((again.temperature() - model.temperature()).abs() < 1e-9 * model.temperature());
    // With class weights that differ there is an offset, too.
    let equal = Svm { class_weights: "a=1,b=1".into(), ..Svm::default() };
    assert_eq!(equal.fit_examples(&examples, &Run::new()).unwrap().0.temperature(), model.temperature());
    let weighted = Svm { class_weights: "a=3".into(), ..Svm::default() };
    let (again, _) = Learner::resume(&weighted, &model, &examples, &Run::new()).unwrap().unwrap();
    assert!(again.offset() != 0.0 && model.offset() == 0.0);
}

#[test]
fn a_fit_without_time_to_calibrate_says_so_and_is_calibrated_when_resumed() {
    let (rows, target) = noisy(3_000, 6);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let says = |report: &Report| report.remarks.iter().any(|remark| remark.contains("no time to calibrate"));
    let (model, report) = Svm::default().fit_examples(&examples, &crate::clock::budget_of_looks(6)).unwrap();
    assert!(model.temperature().is_finite());
    assert!(report.stop == StopReason::Budget && says(&report), "{report:?}");
    let (whole, report) = Learner::resume(&Svm::default(), &model, &examples, &Run::new()).unwrap().unwrap();
    assert!(report.stop == StopReason::Converged && !says(&report));
    let (fresh, _) = Svm::default().fit_examples(&examples, &Run::new()).unwrap();
    assert!((whole.temperature() / fresh.temperature() - 1.0).abs() < 0.02);
}

/// The remarks that tell of probabilities by rows that were learnt.
fn too_sure(report: &Report) -> Vec<String> {
    report.remarks.iter().filter(|remark| remark.contains("are too sure")).cloned().collect()
}

#[test]
fn probabilities_by_rows_that_were_learnt_are_told_where_a_class_has_too_few() {
    let (rows, target) = noisy(40, 3);
    let TargetView::Classes { classes, codes } = target.view() else { panic!() };
    // Two rows of 'b', or three, and all of 'a'.
    let with = |count: usize| -> Vec<usize> {
        let of_b = (0..40).filter(|&i| codes[i] == 1).take(count);
        (0..40).filter(|&i| codes[i] == 0).chain(of_b).collect()
    };
    assert_eq!(classes.names(), ["a", "b"]);
    for count in [2, 3] {
        let (rows, target) = (rows.take_rows(&with(count)), target.take(&with(count)));
        let examples = Examples::new(rows.features(), &target, None).unwrap();
        let kernel = Svm { leave_one_out: LeaveOneOut::Never, ..Svm::default() };
        let (model, of_kernel) = kernel.fit_examples(&examples, &Run::new()).unwrap();
        let mut said = vec![too_sure(&of_kernel)];
        let (_, resumed) = Learner::resume(&kernel, &model, &examples, &Run::new()).unwrap().unwrap();
        said.push(too_sure(&resumed));
        for solver in [Solver::Dual, Solver::Interior, Solver::Sgd] {
            let linear = LinearSvm { solver, ..LinearSvm::default() };
            said.push(too_sure(&linear.fit_examples(&examples, &Run::new()).unwrap().1));
            let without = LinearSvm { probabilities: false, ..linear };
            assert!(too_sure(&without.fit_examples(&examples, &Run::new()).unwrap().1).is_empty());
        }
        for said in said {
            assert_eq!(said.len(), usize::from(count < 3), "{said:?}");
            assert!(said.iter().all(|one| one.contains("class 'b' has only 2 rows")), "{said:?}");
        }
    }
}

#[test]
fn probabilities_of_a_fit_that_has_not_converged_are_told_to_be_too_sure() {
    let (rows, target) = noisy(300, 3);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let whole = Svm { leave_one_out: LeaveOneOut::Never, ..Svm::default() };
    let (model, finished) = whole.fit_examples(&examples, &Run::new()).unwrap();
    assert!(too_sure(&finished).is_empty(), "{finished:?}");
    let short = Svm { steps: model.summary().steps / 2, ..whole.clone() };
    let (model, unfinished) = short.fit_examples(&examples, &Run::new()).unwrap();
    assert_eq!(unfinished.stop, StopReason::StepLimit);
    let said = too_sure(&unfinished);
    assert!(said.len() == 1 && said[0].contains("has not converged") && said[0].contains("more steps"), "{said:?}");
    // One that goes on to its end is calibrated on rows held out.
    let (_, resumed) = Learner::resume(&whole, &model, &examples, &Run::new()).unwrap().unwrap();
    assert!(resumed.stop == StopReason::Converged && too_sure(&resumed).is_empty(), "{resumed:?}");
}

/// Checks the probabilities of a fit to two normal classes, one in five rows of the rarer, whose rows cost more by the settings.
fn is_better_than_any_temperature<L: Learner>(settings: &L, offset: impl Fn(&L::Fitted) -> f64) {
    let mut stream = Stream::new(11, 0);
    let count = 3_000;
    let codes: Vec<u32> = (0..count as u32).map(|i| u32::from(i % 5 == 0)).collect();
    let mut rows = Matrix::zeros(count, 2);
    for (i, code) in codes.iter().enumerate() {
        rows.row_mut(i).copy_from_slice(&[stream.normal() + 1.5 * f64::from(*code), stream.normal()]);
    }
    let target = Target::classes(Classes::of(["often", "rare"]), codes.clone()).unwrap();
    let (learnt, held) = ((0..1_000).collect::<Vec<_>>(), (1_000..count).collect::<Vec<_>>());
    let (some, new) = (rows.take_rows(&learnt), rows.take_rows(&held));
    let (known, truth) = (target.take(&learnt), target.take(&held));
    let examples = Examples::new(some.features(), &known, None).unwrap();
    let (model, report) = settings.fit_examples(&examples, &Run::new()).unwrap();
    let prediction = model.predict(&new.features(), &Run::new()).unwrap();
    let (loss, contradicted) = judged(&prediction, &truth);
    assert_eq!(contradicted, 0);
    assert_eq!(fact(&report, "offset"), offset(&model));
    // The best temperature there is for the new rows, without an offset.
    let Prediction::Classes { scores, .. } = &prediction else { panic!() };
    let of_temperature = |t: f64| -> f64 {
        let of_row = |k: usize| {
            let sign = if codes[1_000 + k] == 1 { 1.0 } else { -1.0 };
            (1.0 + (-2.0 * t * sign * scores[(k, 1)]).exp()).ln()
        };
        (0..scores.rows()).map(of_row).sum::<f64>() / scores.rows() as f64
    };
    let best = (0..2_000).map(|k| of_temperature(0.005 * f64::from(k))).fold(f64::INFINITY, f64::min);
    println!("with an offset {loss:.4}, by the best temperature {best:.4}");
    assert!(loss < best - 0.02, "{loss} {best}");
    // What is saved gives the same.
    let bytes = quince::Model::fit_features(&some.features(), &known, None, settings, &Run::new()).unwrap().to_bytes();
    let saved = quince::Model::from_bytes(&bytes).unwrap();
    assert_eq!(saved.predict(&new).unwrap(), prediction);
}

#[test]
fn probabilities_with_class_weights_are_better_than_any_temperature_and_agree_with_the_label() {
    let settings = Svm { class_weights: "rare=10".into(), c: Cost::Finite(1.0), ..Svm::default() };
    is_better_than_any_temperature(&settings, |model| model.offset());
}

#[test]
fn linear_probabilities_with_class_weights_are_better_than_any_temperature_and_agree_with_the_label() {
    for (solver, loss) in [
        (Solver::Auto, Loss::Hinge),
        (Solver::Auto, Loss::SquaredHinge),
        (Solver::Dual, Loss::Hinge),
        (Solver::Sgd, Loss::Log),
        (Solver::Sgd, Loss::ModifiedHuber),
    ] {
        let settings = LinearSvm { class_weights: "rare=10".into(), solver, loss, ..LinearSvm::default() };
        is_better_than_any_temperature(&settings, |model| model.offset());
    }
}

#[test]
fn a_linear_model_has_an_offset_only_where_class_weights_differ() {
    let (rows, target) = noisy(300, 3);
    let examples = Examples::new(rows.features(), &target, None).unwrap();
    let fit = |class_weights: &str| {
        let settings = LinearSvm { class_weights: class_weights.into(), ..LinearSvm::default() };
        settings.fit_examples(&examples, &Run::new()).unwrap().0
    };
    assert!(fit("a=1,b=1") == fit("none") && fit("none").offset() == 0.0);
    assert!(fit("a=3").offset() != 0.0);
}
