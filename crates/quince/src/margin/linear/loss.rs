//! The losses of a row, their derivatives, and the implicit steps of stochastic gradient descent.
//!
//! In an implicit step the gradient is taken where the step ends, not where it begins (proximal or implicit stochastic gradient descent:
//! Toulis and Airoldi 2017; Bianchi 2016).
//!
//! ```text
//! s⁺ = s - η ℓ'(s⁺) q,    q = ‖x‖² (+ 1 for b)
//! ```
//!
//! is one equation in one unknown, because a step moves w along x alone. No step goes past the optimum of its row, however large η
//! is, so descent cannot diverge, in whatever unit the columns are.

/// Newton's method for the logistic loss ends after this many steps at the latest...
const MAX_NEWTON_STEPS: usize = 60;
/// ... and once it moves by no more than this share.
const NEWTON_TOLERANCE: f64 = 1e-12;

crate::choices! {
    /// The loss of a row with the score s and the class y = ±1.
    pub enum Loss {
        /// Hinge loss, max(0, 1 - y s).
        #[default]
        Hinge = "hinge",
        /// Squared hinge loss, max(0, 1 - y s)².
        SquaredHinge = "squared-hinge",
        /// The perceptron's loss, max(0, -y s).
        Perceptron = "perceptron",
        /// Logistic loss, ln(1 + exp(-y s)).
        Log = "log",
        /// Modified Huber loss, max(0, 1 - y s)², but -4 y s where y s < -1.
        ModifiedHuber = "modified-huber",
    }
}

impl Loss {
    /// The loss.
    pub fn of(self, y: f64, score: f64) -> f64 {
        let margin = y * score;
        match self {
            Loss::Hinge => (1.0 - margin).max(0.0),
            Loss::SquaredHinge => (1.0 - margin).max(0.0).powi(2),
            Loss::Perceptron => (-margin).max(0.0),
            Loss::Log if margin > 0.0 => (-margin).exp().ln_1p(),
            Loss::Log => -margin + margin.exp().ln_1p(),
            Loss::ModifiedHuber if margin < -1.0 => -4.0 * margin,
            Loss::ModifiedHuber => (1.0 - margin).max(0.0).powi(2),
        }
    }

    /// Its derivative in the score.
    pub fn derivative(self, y: f64, score: f64) -> f64 {
        let margin = y * score;
        match self {
            Loss::Hinge if margin < 1.0 => -y,
            Loss::Perceptron if margin <= 0.0 => -y,
            Loss::Hinge | Loss::Perceptron => 0.0,
            Loss::SquaredHinge => -2.0 * y * (1.0 - margin).max(0.0),
            Loss::Log => -y / (1.0 + margin.exp()),
            Loss::ModifiedHuber if margin < -1.0 => -4.0 * y,
            Loss::ModifiedHuber => -2.0 * y * (1.0 - margin).max(0.0),
        }
    }

    /// How far the score of a row with the margin y s and the squared length q moves, divided by q: -y η ℓ'(y, s⁺), with s⁺ the
    /// score after the step. The perceptron's rule looks at the margin before it, as w = 0 has no loss after it.
    pub(super) fn implicit_step(self, margin: f64, eta: f64, squared_length: f64) -> f64 {
        // Derivative -2 (1 - m) of the squared hinge, with m = margin + step q.
        let of_square = || (1.0 - margin) / (0.5 / eta + squared_length);
        match self {
            _ if eta <= 0.0 => 0.0,
            Loss::Perceptron => {
                if margin <= 0.0 {
                    eta
                } else {
                    0.0
                }
            }
            Loss::Log => logistic_step(margin, eta, squared_length),
            _ if margin >= 1.0 => 0.0,
            Loss::Hinge => eta.min((1.0 - margin) / squared_length),
            Loss::ModifiedHuber if margin + 4.0 * eta * squared_length < -1.0 => 4.0 * eta,
            Loss::SquaredHinge | Loss::ModifiedHuber => of_square(),
        }
    }

    /// The largest second derivative. That of the hinge is none: it bends as the logistic loss does, but at one point.
    pub(super) fn curvature(self) -> f64 {
        match self {
            Loss::SquaredHinge | Loss::ModifiedHuber => 2.0,
            Loss::Hinge | Loss::Perceptron | Loss::Log => 0.25,
        }
    }
}

/// The step u with u = η / (1 + exp(margin + u q)), by Newton's method within a bracket.
fn logistic_step(margin: f64, eta: f64, squared_length: f64) -> f64 {
    // At a margin of ln(1 + η q) the right side is below the left one.
    let far = ((-margin).max(0.0) + (eta * squared_length).ln_1p()) / squared_length;
    let (mut low, mut high) = (0.0, far.min(eta / (1.0 + margin.exp())));
    let mut step = high;
    for _ in 0..MAX_NEWTON_STEPS {
        let share = 1.0 / (1.0 + (margin + step * squared_length).exp());
        let excess = step - eta * share;
        if excess > 0.0 {
            high = step;
        } else {
            low = step;
        }
        let newton = step - excess / (1.0 + eta * squared_length * share * (1.0 - share));
        let next = if newton > low && newton <= high { newton } else { 0.5 * (low + high) };
        if (next - step).abs() <= NEWTON_TOLERANCE * next {
            return next;
        }
        step = next;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::Loss;

    #[test]
    fn the_gradient_of_an_implicit_step_is_that_of_its_end() {
        let smooth = [Loss::SquaredHinge, Loss::Log, Loss::ModifiedHuber];
        for (loss, margin) in smooth.into_iter().flat_map(|loss| [-30.0, -1.5, -0.2, 0.7, 3.0].map(|m| (loss, m))) {
            for (eta, squared_length) in [(1e-3, 2.0), (0.5, 1.0), (10.0, 30.0), (1e6, 1e9)] {
                let step = loss.implicit_step(margin, eta, squared_length);
                let end = margin + step * squared_length;
                let by_gradient = -eta * loss.derivative(1.0, end);
                // What rounding of the end does to the derivative there.
                let rounding = 4e-15 * eta * loss.curvature() * (margin.abs() + end.abs() + 1.0);
                assert!(
                    (step - by_gradient).abs() <= 1e-9 * step + rounding,
                    "{loss:?} {margin} {eta}: {step} {by_gradient}"
                );
            }
        }
    }

    #[test]
    fn an_implicit_step_of_the_hinge_ends_at_the_margin() {
        assert_eq!(Loss::Hinge.implicit_step(-1.0, 0.1, 5.0), 0.1);
        assert_eq!(Loss::Hinge.implicit_step(-1.0, 1e300, 5.0), 0.4);
        assert_eq!(Loss::Hinge.implicit_step(1.0, 1e300, 5.0), 0.0);
        assert_eq!(Loss::SquaredHinge.implicit_step(-1.0, f64::INFINITY, 5.0), 0.4);
    }
}
