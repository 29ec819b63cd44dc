//! A kernel as a function of inner products, for vector lanes.

use super::Kernel;
use crate::matrix::simd::Lane;

/// A kernel as a function of inner products, for vector lanes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function<T> {
    Linear,
    Polynomial {
        gamma: T,
        constant: T,
        degree: u32,
    },
    /// exp(2γ x·y - γ‖x‖² - γ‖y‖²)
    Rbf {
        twice_gamma: T,
    },
    Sigmoid {
        gamma: T,
        constant: T,
    },
}

impl<T: Lane> Function<T> {
    /// For rows that are multiplied by `scale`.
    pub(super) fn new(kernel: &Kernel, scale: f64) -> Function<T> {
        match *kernel {
            Kernel::Linear | Kernel::Precomputed => Function::Linear,
            Kernel::Polynomial { gamma, constant, degree } => {
                Function::Polynomial { gamma: T::from_f64(gamma), constant: T::from_f64(constant), degree }
            }
            Kernel::Rbf { gamma } => Function::Rbf { twice_gamma: T::from_f64(2.0 * (gamma / scale / scale)) },
            Kernel::Sigmoid { gamma, constant } => {
                Function::Sigmoid { gamma: T::from_f64(gamma / scale / scale), constant: T::from_f64(constant) }
            }
        }
    }

    /// Kernels from the inner products of one row with others; `own` and `others` are γ‖x‖².
    #[inline(always)]
    pub(super) fn apply<const N: usize, const FUSED: bool>(
        &self,
        products: &[T; N],
        own: T,
        others: &[T; N],
    ) -> [T; N] {
        let mut kernels = *products;
        match *self {
            Function::Linear => {}
            Function::Polynomial { gamma, constant, degree } => {
                let mut base = [T::ZERO; N];
                for l in 0..N {
                    base[l] = gamma.times_plus::<FUSED>(products[l], constant);
                }
                kernels = [T::ONE; N];
                // By squaring: the bits of the degree say which squares are factors.
                let mut left = degree;
                while left > 0 {
                    if left % 2 == 1 {
                        for l in 0..N {
                            kernels[l] = kernels[l] * base[l];
                        }
                    }
                    for l in 0..N {
                        base[l] = base[l] * base[l];
                    }
                    left /= 2;
                }
            }
            Function::Rbf { twice_gamma } => {
                for l in 0..N {
                    let power = twice_gamma.times_plus::<FUSED>(products[l], T::ZERO - own - others[l]);
                    let power = if power > T::ZERO { T::ZERO } else { power };
                    kernels[l] = power.exp_of_negative::<FUSED>();
                }
            }
            Function::Sigmoid { gamma, constant } => {
                // tanh z = 1 - 2 / (e^2z + 1)
                let two = T::ONE + T::ONE;
                for l in 0..N {
                    let twice = two * gamma.times_plus::<FUSED>(products[l], constant);
                    kernels[l] = T::ONE - two * (twice.exp::<FUSED>() + T::ONE).inverse();
                }
            }
        }
        kernels
    }
}
