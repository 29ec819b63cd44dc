//! E: evaluation. Rows proven here: E1 (E4 for ridge: `integration/solver.rs`).

use super::agrees;
use quince::Matrix;
use quince::evaluate::{ConfusionMatrix, Evaluation, Roc, evaluate, log_loss};
use quince::learn::{Classes, Prediction, Target};

fn confusion(counts: [[f64; 3]; 3]) -> ConfusionMatrix {
    let counts = counts.iter().map(|row| row.to_vec()).collect();
    ConfusionMatrix::from_counts(&Classes::of(["A", "B", "C"]), counts).unwrap()
}

#[test]
fn e1_the_two_confusion_matrices() {
    let first = confusion([[77.0, 15.0, 8.0], [5.0, 88.0, 7.0], [9.0, 2.0, 89.0]]);
    agrees(first.accuracy(), 254.0 / 300.0, 12);
    agrees(first.error_rate(), 46.0 / 300.0, 12);
    for (k, (precision, recall, f1)) in
        [(0.8462, 0.77, 0.8063), (0.8381, 0.88, 0.8585), (0.8558, 0.89, 0.8725)].into_iter().enumerate()
    {
        agrees(first.precision(k), precision, 4);
        agrees(first.recall(k), recall, 4);
        agrees(first.f1(k), f1, 4);
        agrees(first.normalised_rows()[k][k], recall, 4);
    }
    let second = confusion([[80.0, 14.0, 6.0], [10.0, 90.0, 0.0], [8.0, 6.0, 86.0]]);
    agrees(second.accuracy(), 256.0 / 300.0, 12);
    for (k, (precision, f1)) in [(0.8163, 0.8081), (0.8182, 0.8571), (0.9348, 0.8958)].into_iter().enumerate() {
        agrees(second.precision(k), precision, 4);
        agrees(second.f1(k), f1, 4);
    }
}

#[test]
fn e1_the_matrices_follow_from_labels_too() {
    let counts = [[77, 15, 8], [5, 88, 7], [9, 2, 89]];
    let (mut truth, mut scores) = (Vec::new(), Vec::new());
    for (t, row) in counts.iter().enumerate() {
        for (p, &count) in row.iter().enumerate() {
            for _ in 0..count {
                truth.push(t as u32);
                scores.push([0, 1, 2].map(|k| if k == p { 0.8 } else { 0.1 }));
            }
        }
    }
    let scores = Matrix::from_rows(&scores);
    let target = Target::classes(Classes::of(["A", "B", "C"]), truth).unwrap();
    let prediction = Prediction::Classes { scores: scores.clone(), probabilities: scores };
    let Evaluation::Classification { accuracy, log_loss, confusion: found, .. } =
        evaluate(&target, &prediction, None).unwrap()
    else {
        panic!("classes were evaluated")
    };
    agrees(accuracy, 254.0 / 300.0, 12);
    agrees(log_loss.unwrap(), -(254.0 * 0.8f64.ln() + 46.0 * 0.1f64.ln()) / 300.0, 12);
    assert_eq!(found.counts(), [[77.0, 15.0, 8.0], [5.0, 88.0, 7.0], [9.0, 2.0, 89.0]]);
}

#[test]
fn e1_the_area_under_roc_is_the_fraction_of_pairs_in_order() {
    let scores = [0.9, 0.8, 0.7, 0.7, 0.6, 0.4, 0.4, 0.3];
    let positive = [true, true, false, true, false, true, false, false];
    let roc = Roc::of(&scores, &positive, None).unwrap();
    let mut pairs = Vec::new();
    for i in (0..8).filter(|&i| positive[i]) {
        for k in (0..8).filter(|&k| !positive[k]) {
            pairs.push(if scores[i] > scores[k] {
                1.0
            } else if scores[i] == scores[k] {
                0.5
            } else {
                0.0
            });
        }
    }
    agrees(roc.area.unwrap(), pairs.iter().sum::<f64>() / pairs.len() as f64, 12);
    assert_eq!(roc.thresholds[1..], [0.9, 0.8, 0.7, 0.6, 0.4, 0.3]);
    assert_eq!(roc.true_positives, [0.0, 0.25, 0.5, 0.75, 0.75, 1.0, 1.0]);
    assert_eq!(roc.false_positives, [0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(Roc::of(&[0.1, 0.2], &[true, true], None).unwrap().area, None);
}

#[test]
fn e1_log_loss_is_clipped_and_weighted() {
    let sure = Matrix::from_rows(&[[0.0, 1.0]]);
    agrees(log_loss(&sure, &[0], None).unwrap(), -(1e-15f64).ln(), 9);
    agrees(log_loss(&sure, &[1], None).unwrap(), 0.0, 12);
    let two = Matrix::from_rows(&[[0.5, 0.5], [0.25, 0.75]]);
    agrees(log_loss(&two, &[0, 0], Some(&[1.0, 3.0])).unwrap(), (2f64.ln() + 3.0 * 4f64.ln()) / 4.0, 12);
}
