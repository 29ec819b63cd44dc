//! B0, B7 and B8: the distributions themselves.

use crate::agrees;
use quince::Matrix;
use quince::family::{Beta, Distribution, Gaussian, Joint, Multinomial, Normal};

fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

#[test]
fn b0_within_one_two_and_three_standard_deviations_of_a_normal_mean() {
    let normal = Normal::new(4.0, 2.5).unwrap();
    for (deviations, percent) in [(1.0, 68.3), (2.0, 95.4), (3.0, 99.7)] {
        let within = normal.cumulative(4.0 + 2.5 * deviations) - normal.cumulative(4.0 - 2.5 * deviations);
        agrees(100.0 * within, percent, 1);
    }
}

#[test]
fn b0_an_urn_two_dice_and_two_cards() {
    let urn = Joint::from_conditional(&[0.75, 0.25], &[&[2.0 / 3.0, 1.0 / 3.0], &[1.0, 0.0]]).unwrap();
    near(urn.probability(0, 0), 0.5, 1e-15);
    near(urn.columns()[0], 0.75, 1e-15);
    // Bayes' rule: the first was red in two of three urns whose second was.
    near(urn.given_column(0).unwrap()[0], 2.0 / 3.0, 1e-15);
    let dice = Multinomial::new(&[1.0; 6]).unwrap();
    let chance = |faces: [usize; 2]| {
        let mut counts = [0.0; 6];
        faces.iter().for_each(|face| counts[face - 1] += 1.0);
        dice.log_probability(&counts).unwrap().exp()
    };
    near(chance([1, 1]), 1.0 / 36.0, 1e-15);
    near(chance([2, 5]), 1.0 / 18.0, 1e-15);
    // The suits of two cards that are drawn one after the other.
    let second: Vec<Vec<f64>> =
        (0..4).map(|a| (0..4).map(|b| if a == b { 12.0 / 51.0 } else { 13.0 / 51.0 }).collect()).collect();
    let second: Vec<&[f64]> = second.iter().map(Vec::as_slice).collect();
    let cards = Joint::from_conditional(&[0.25; 4], &second).unwrap();
    near(cards.probability(0, 3) + cards.probability(3, 0), 13.0 / 102.0, 1e-15);
    near(cards.probability(0, 0), 1.0 / 17.0, 1e-15);
}

#[test]
fn b0_four_points_without_correlation_are_not_independent() {
    // (-1, 0), (0, -1), (0, 1), (1, 0), each as likely; rows are x, columns y, both -1, 0, 1.
    let points = Joint::new(Matrix::from_rows(&[[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])).unwrap();
    let values = [-1.0, 0.0, 1.0];
    assert_eq!(points.correlation(&values, &values).unwrap(), Some(0.0));
    assert!(!points.is_independent(1e-9));
    assert_eq!(points.given_row(0).unwrap(), [0.0, 1.0, 0.0]);
    // A table of products is.
    let product = Joint::from_conditional(&[0.3, 0.7], &[&[0.2, 0.8], &[0.2, 0.8]]).unwrap();
    assert!(product.is_independent(1e-15));
}

#[test]
fn b7_a_prior_weighs_as_much_as_its_strength_in_observations() {
    // (N_ky + n'p) / (N_y + n') is the peak of what is known after N_ky of N_y.
    for (successes, tries, p, strength) in [(3.0, 4.0, 0.5, 0.0), (3.0, 4.0, 0.5, 2.0), (1.0, 9.0, 0.2, 5.0)] {
        let known = Beta::belief(p, strength).unwrap().after(successes, tries - successes).unwrap();
        near(known.mode().unwrap(), (successes + strength * p) / (tries + strength), 1e-15);
    }
    // n' = 2, p = 1/2 is Laplace's rule.
    near(Beta::belief(0.5, 2.0).unwrap().after(3.0, 1.0).unwrap().mode().unwrap(), 4.0 / 6.0, 1e-15);
}

#[test]
fn b8_gaussians_of_maximum_likelihood_and_unbiased() {
    let s = [10.0, 8.0, 10.0, 10.0, 11.0, 11.0];
    let t = [12.0, 9.0, 15.0, 10.0, 13.0, 13.0];
    for (values, mean, variance, unbiased) in [(s, 10.0, 1.0, 1.2), (t, 12.0, 4.0, 4.8)] {
        let fitted = Normal::fit(&values).unwrap();
        near(fitted.mean(), mean, 1e-12);
        near(fitted.variance(), variance, 1e-12);
        near(Normal::fit_unbiased(&values).unwrap().variance(), unbiased, 1e-12);
    }
    let rows = Matrix::from_rows(&[[5.0, 1.0], [5.0, 2.0], [7.0, 2.0], [7.0, 3.0]]);
    let fitted = Gaussian::fit(&rows).unwrap();
    assert_eq!((fitted.mean(), fitted.covariance().values()), (&[6.0, 2.0][..], &[1.0, 0.5, 0.5, 0.5][..]));
}
