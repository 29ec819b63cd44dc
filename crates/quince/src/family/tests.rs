use super::*;
use crate::matrix::Matrix;
use crate::numbers::mean_and_standard_deviation;
use proptest::prelude::*;

/// One of each kind of distribution of a single number, and whether it is of counts.
fn one(which: usize, a: f64, b: f64) -> (Box<dyn Distribution>, bool) {
    match which {
        0 => (Box::new(Normal::new(10.0 * (a - 0.5), 0.1 + 3.0 * b).unwrap()), false),
        // Smooth enough at both ends to be added up; Python's tests hold other shapes against scipy's.
        1 => (Box::new(Beta::new(4.0 + 4.0 * a, 4.0 + 4.0 * b).unwrap()), false),
        2 => (Box::new(Poisson::new(40.0 * a).unwrap()), true),
        _ => (Box::new(Binomial::new((1.0 + 60.0 * a).floor(), b).unwrap()), true),
    }
}

/// The probability of x or less, by adding densities up.
fn added_up(of: &dyn Distribution, x: f64, counts: bool) -> f64 {
    if counts {
        return (0..=x.max(0.0) as u32).map(|k| of.density(f64::from(k))).sum();
    }
    // Simpson's rule from far below.
    let from =
        (of.mean() - 12.0 * of.variance().sqrt()).max(if of.density(-1e-9) == 0.0 { 0.0 } else { f64::NEG_INFINITY });
    let (steps, width) = (20_000, (x - from) / 20_000.0);
    let at = |k: usize| {
        of.density(from + k as f64 * width)
            * if k == 0 || k == steps {
                1.0
            } else if k % 2 == 1 {
                4.0
            } else {
                2.0
            }
    };
    (0..=steps).map(at).sum::<f64>() * width / 3.0
}

proptest! {
    #[test]
    fn the_cumulative_probability_is_what_densities_add_up_to(which in 0..4usize, a in 0.01..0.99f64, b in 0.01..0.99f64, place in -2.0..2.0f64) {
        let (of, counts) = one(which, a, b);
        let x = of.mean() + place * of.variance().sqrt();
        let x = if counts { x.round().max(0.0) } else if which == 1 { x.clamp(0.001, 0.999) } else { x };
        let (told, added) = (of.cumulative(x), added_up(of.as_ref(), x, counts));
        prop_assert!((told - added).abs() < 1e-6, "{which}: {told} and {added} at {x}");
    }

    #[test]
    fn draws_have_the_mean_and_the_variance(which in 0..4usize, a in 0.05..0.95f64, b in 0.05..0.95f64, seed in 0..9u64) {
        let (of, _) = one(which, a, b);
        let mut stream = Stream::new(seed, 0);
        let draws: Vec<f64> = (0..4000).map(|_| of.sample(&mut stream)).collect();
        let (mean, standard_deviation) = mean_and_standard_deviation(&draws);
        let error = (of.variance() / 4000.0).sqrt();
        prop_assert!((mean - of.mean()).abs() < 5.0 * error + 1e-12, "{which}: mean {mean}, not {}", of.mean());
        // The fourth moment of all of these is below ten times the squared variance, or the variance is small.
        let tolerance = (of.variance() * of.variance() * 9.0 / 4000.0 + of.variance() / 4000.0).sqrt();
        prop_assert!((standard_deviation * standard_deviation - of.variance()).abs() < 5.0 * tolerance + 1e-12, "{which}: {} and {}", standard_deviation * standard_deviation, of.variance());
    }

    #[test]
    fn no_other_parameters_make_the_values_likelier(values in prop::collection::vec(0..20u32, 2..12), nudge in -0.3..0.3f64, other in -0.3..0.3f64) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let likelihood = |of: &dyn Distribution| values.iter().map(|&x| of.log_density(x)).sum::<f64>();
        if let Ok(best) = Normal::fit(&values) {
            let near = Normal::new(best.mean() + nudge, best.standard_deviation() * (1.0 + other)).unwrap();
            prop_assert!(likelihood(&near) <= likelihood(&best) + 1e-9);
        }
        let best = Poisson::fit(&values).unwrap();
        prop_assert!(likelihood(&Poisson::new((best.mean() + nudge).abs()).unwrap()) <= likelihood(&best) + 1e-9);
        let best = Binomial::fit(20.0, &values).unwrap();
        let near = Binomial::new(20.0, (best.probability() + nudge).clamp(0.0, 1.0)).unwrap();
        prop_assert!(likelihood(&near) <= likelihood(&best) + 1e-9);
    }

    #[test]
    fn a_gaussian_of_columns_on_their_own_is_a_product_of_normals(means in prop::collection::vec(-5.0..5.0f64, 3), standard_deviations in prop::collection::vec(0.1..4.0f64, 3), x in prop::collection::vec(-9.0..9.0f64, 3)) {
        let mut covariance = Matrix::zeros(3, 3);
        (0..3).for_each(|j| covariance[(j, j)] = standard_deviations[j] * standard_deviations[j]);
        let product: f64 = (0..3).map(|j| Normal::new(means[j], standard_deviations[j]).unwrap().log_density(x[j])).sum();
        let found = Gaussian::new(means, covariance).unwrap().log_density(&x);
        prop_assert!((found - product).abs() < 1e-9 * product.abs().max(1.0), "{found} and {product}");
    }
}

#[test]
fn counts_too_large_to_go_through_one_by_one_have_the_moments_of_their_distribution() {
    // Skewness: of a Poisson λ^-½, of a binomial (1 - 2p) / sd.
    let cases: [(Box<dyn Distribution>, f64); 3] = [
        (Box::new(Poisson::new(2e8).unwrap()), 2e8f64.powf(-0.5)),
        (Box::new(Poisson::new(1e15).unwrap()), 1e15f64.powf(-0.5)),
        (Box::new(Binomial::new(1e12, 0.001).unwrap()), 0.998 / 0.999e9f64.sqrt()),
    ];
    // Beyond 2⁵³ numbers lie further apart than draws.
    assert_eq!(Poisson::new(1e308).unwrap().sample(&mut Stream::new(3, 0)), 1e308);
    for (of, skewness) in cases {
        let mut stream = Stream::new(3, 0);
        let count = 40_000.0f64;
        let z: Vec<f64> = (0..40_000).map(|_| (of.sample(&mut stream) - of.mean()) / of.variance().sqrt()).collect();
        let moment = |power: i32| z.iter().map(|z| z.powi(power)).sum::<f64>() / count;
        // Standard errors of the first three moments of a normal: 1, √2 and √15 over √n.
        assert!(moment(1).abs() < 5.0 / count.sqrt(), "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 5.0 * (2.0 / count).sqrt(), "{}", moment(2));
        assert!((moment(3) - skewness).abs() < 5.0 * (15.0 / count).sqrt(), "{}", moment(3));
    }
}

#[test]
fn draws_of_a_gaussian_have_its_mean_and_covariance() {
    let covariance = Matrix::from_rows(&[[4.0, 1.8], [1.8, 1.0]]);
    let of = Gaussian::new(vec![3.0, -1.0], covariance.clone()).unwrap();
    let mut stream = Stream::new(4, 0);
    let draws: Vec<f64> = (0..20_000).flat_map(|_| of.sample(&mut stream)).collect();
    let again = Gaussian::fit_unbiased(&Matrix::new(20_000, 2, draws).unwrap()).unwrap();
    // Standard errors are at most 4 √(2 / 20,000).
    assert!(again.mean().iter().zip(of.mean()).all(|(a, b)| (a - b).abs() < 0.07));
    assert!(again.covariance().values().iter().zip(covariance.values()).all(|(a, b)| (a - b).abs() < 0.2));
}

#[test]
fn what_is_no_distribution_is_refused() {
    let refused = [
        Normal::new(0.0, 0.0).err(),
        Normal::new(f64::NAN, 1.0).err(),
        Normal::fit(&[2.0, 2.0]).err(),
        Normal::fit(&[]).err(),
        Poisson::new(-1.0).err(),
        Poisson::fit(&[0.5]).err(),
        Binomial::new(2.5, 0.5).err(),
        Binomial::new(2.0, 1.5).err(),
        Binomial::fit(2.0, &[3.0]).err(),
        Beta::new(0.0, 1.0).err(),
        Gaussian::new(vec![0.0, 0.0], Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]])).err(),
        Gaussian::new(vec![0.0], Matrix::zeros(2, 2)).err(),
        Joint::new(Matrix::zeros(2, 2)).err(),
        Joint::from_conditional(&[1.0], &[]).err(),
    ];
    for (place, error) in refused.into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("number {place} is taken for a distribution"));
        assert!(!error.remedy().is_empty());
    }
    let far = Normal::fit(&[1e200, 3e200]).unwrap();
    assert!((far.mean() / 2e200 - 1.0).abs() < 1e-12 && (far.standard_deviation() / 1e200 - 1.0).abs() < 1e-12);
    let certain = Binomial::bernoulli(1.0).unwrap();
    assert_eq!((certain.log_density(1.0), certain.log_density(0.0)), (0.0, f64::NEG_INFINITY));
    assert_eq!(Poisson::new(0.0).unwrap().density(0.0), 1.0);
}
