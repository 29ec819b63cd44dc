//! Inner loops that run on the widest vectors of the machine at hand, which is asked at run time (by `pulp`), so that one
//! build serves every machine.
//!
//! A function inside [`vectorised!`] is compiled twice: once for any machine and once for x86 with AVX2 and fused
//! multiply-add. Its body is plain Rust over slices and small arrays, which the compiler turns into vector code; loops are
//! written out, because a closure may be compiled apart and then knows nothing of the vectors. Sums run over [`LANES`]
//! partial sums in an order that depends on the length alone.

use super::Real;
use std::ops::{Add, Mul, Sub};

/// The number of values the loops take at a time: a multiple of the length of every vector of doubles.
pub(crate) const LANES: usize = 8;

/// Compiles functions for the machine's vectors, and chooses when they are called.
macro_rules! vectorised {
    ($($(#[$attribute:meta])* $visible:vis fn $name:ident
        $(<$($kind:ident: $bound:path),+>)? ($($argument:ident: $type:ty),* $(,)?) $(-> $answer:ty)? $body:block)+) => {$(
        $(#[$attribute])*
        $visible fn $name $(<$($kind: $bound),+>)? ($($argument: $type),*) $(-> $answer)? {
            #[inline(always)]
            fn plain $(<$($kind: $bound),+>)? ($($argument: $type),*) $(-> $answer)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn wide $(<$($kind: $bound),+>)? ($($argument: $type),*) $(-> $answer)? {
                plain($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            if $crate::matrix::simd::has_wide_vectors() {
                // SAFETY: the machine was asked, and has these instructions.
                return unsafe { wide($($argument),*) };
            }
            plain($($argument),*)
        }
    )+};
}
pub(crate) use vectorised;

/// Whether every machine of this kind multiplies and adds in one step, without being asked.
pub(crate) const FUSED_ANYWHERE: bool = cfg!(target_arch = "aarch64");

/// Asks for numbers that will be wanted soon, where the machine can be asked.
#[inline(always)]
pub(crate) fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(64 / size_of::<T>()) {
        // SAFETY: a prefetch of memory that is borrowed changes nothing.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line.as_ptr().cast()) };
    }
}

/// Work whose loops are compiled for the machine's vectors.
pub(crate) trait Wide {
    /// Whether vectors of 512 bits make it faster, where the machine has them. They change no bit.
    const WIDEST: bool = false;

    /// Implementations are `#[inline(always)]`, and so is all that they call. `FUSED` says that products and sums are one step.
    fn run<const FUSED: bool>(&mut self);
}

/// Does work on the widest vectors of the machine at hand.
pub(crate) fn on_wide_vectors<W: Wide>(work: &mut W) {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn wide(work: &mut impl Wide) {
        work.run::<true>();
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f")]
    fn widest(work: &mut impl Wide) {
        work.run::<true>();
    }

    #[cfg(target_arch = "x86_64")]
    if W::WIDEST && has_widest_vectors() {
        // SAFETY: the machine was asked, and has these instructions.
        return unsafe { widest(work) };
    }
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: the machine was asked, and has these instructions.
        return unsafe { wide(work) };
    }
    work.run::<FUSED_ANYWHERE>();
}

/// Numbers that lanes of a vector hold.
pub(crate) trait Lane: Real + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    const ONE: Self;

    /// self · by + and; in one step where `FUSED` says that the code is compiled for a machine that can.
    fn times_plus<const FUSED: bool>(self, by: Self, and: Self) -> Self;

    /// 1 / self.
    fn inverse(self) -> Self;

    /// eˣ without a branch, to the last digit or two.
    fn exp<const FUSED: bool>(self) -> Self;

    /// eˣ for x ≤ 0, in fewer steps; what is below the normal numbers is zero.
    fn exp_of_negative<const FUSED: bool>(self) -> Self;
}

impl Lane for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn times_plus<const FUSED: bool>(self, by: f64, and: f64) -> f64 {
        if FUSED { self.mul_add(by, and) } else { self * by + and }
    }

    #[inline(always)]
    fn inverse(self) -> f64 {
        1.0 / self
    }

    #[inline(always)]
    fn exp<const FUSED: bool>(self) -> f64 {
        exp_of::<FUSED>(self)
    }

    #[inline(always)]
    fn exp_of_negative<const FUSED: bool>(self) -> f64 {
        let bounded = if self < -708.0 { -708.0 } else { self };
        let (series, n) = series_of::<FUSED>(bounded);
        let value = series * f64::from_bits(((n + 1023) << 52) as u64);
        if self < -708.0 { 0.0 } else { value }
    }
}

impl Lane for f32 {
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn times_plus<const FUSED: bool>(self, by: f32, and: f32) -> f32 {
        if FUSED { self.mul_add(by, and) } else { self * by + and }
    }

    #[inline(always)]
    fn inverse(self) -> f32 {
        1.0 / self
    }

    #[inline(always)]
    fn exp<const FUSED: bool>(self) -> f32 {
        let bounded = if self > 88.7 { 88.7 } else { self };
        // 2⁸⁸·⁷ˡᵒᵍ²ᵉ may be past the last exponent: the square of a half is not.
        let half = (if bounded > 0.0 { -0.5 * bounded } else { bounded }).exp_of_negative::<FUSED>();
        if bounded > 0.0 { (half * half).inverse() } else { half }
    }

    #[inline(always)]
    fn exp_of_negative<const FUSED: bool>(self) -> f32 {
        const ROUND: f32 = 12_582_912.0;
        const LN2_HIGH: f32 = 0.693_359_4;
        const LN2_LOW: f32 = -2.121_944_4e-4;
        // 1/7!, 1/6!, ... 1/0!
        const SERIES: [f32; 8] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
        let bounded = if self < -87.0 { -87.0 } else { self };
        let shifted = bounded.times_plus::<FUSED>(std::f32::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = n.times_plus::<FUSED>(-LN2_LOW, n.times_plus::<FUSED>(-LN2_HIGH, bounded));
        let mut series = SERIES[0];
        for coefficient in &SERIES[1..] {
            series = series.times_plus::<FUSED>(r, *coefficient);
        }
        let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
        let value = series * f32::from_bits(((n + 127) << 23) as u32);
        if self < -87.0 { 0.0 } else { value }
    }
}

/// Whether this machine has AVX2 and fused multiply-add.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_wide_vectors() -> bool {
    pulp::x86::V3::try_new().is_some()
}

/// Whether this machine has AVX-512, beside all of the above.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_widest_vectors() -> bool {
    has_wide_vectors() && std::arch::is_x86_feature_detected!("avx512f")
}

vectorised! {
    /// Σ x y, over eight partial sums.
    pub(crate) fn product<T: Real>(x: &[f64], y: &[T]) -> f64 {
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let mut sums = [0.0; LANES];
        for (x, y) in x.iter().zip(y) {
            for l in 0..LANES {
                let y: f64 = y[l].into();
                sums[l] += x[l] * y;
            }
        }
        let mut sum = fold(sums);
        for (x, y) in x_rest.iter().zip(y_rest) {
            let y: f64 = (*y).into();
            sum += x * y;
        }
        sum
    }

    /// Adds `times` times y to x.
    pub(crate) fn add_times<T: Real>(x: &mut [f64], y: &[T], times: f64) {
        for (x, y) in x.iter_mut().zip(y) {
            let y: f64 = (*y).into();
            *x += times * y;
        }
    }

    /// Σ x (y - centre), over eight partial sums.
    pub(crate) fn product_about<T: Real>(x: &[f64], y: &[T], centre: &[f64]) -> f64 {
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let (centre, centre_rest) = centre.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for ((x, y), centre) in x.iter().zip(y).zip(centre) {
            for l in 0..LANES {
                let y: f64 = y[l].into();
                sums[l] += x[l] * (y - centre[l]);
            }
        }
        let mut sum = fold(sums);
        for ((x, y), centre) in x_rest.iter().zip(y_rest).zip(centre_rest) {
            let y: f64 = (*y).into();
            sum += x * (y - centre);
        }
        sum
    }

    /// Adds `times` times y - centre to x.
    pub(crate) fn add_times_about<T: Real>(x: &mut [f64], y: &[T], times: f64, centre: &[f64]) {
        for ((x, y), centre) in x.iter_mut().zip(y).zip(centre) {
            let y: f64 = (*y).into();
            *x += times * (y - centre);
        }
    }

    /// Σ x², over eight partial sums.
    pub(crate) fn squared_norm(values: &[f64]) -> f64 {
        let (blocks, rest) = values.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for block in blocks {
            for l in 0..LANES {
                sums[l] += block[l] * block[l];
            }
        }
        rest.iter().enumerate().for_each(|(l, x)| sums[l] += x * x);
        fold(sums)
    }

    /// Σ (x - y)², over eight partial sums.
    pub(crate) fn squared_distance(x: &[f64], y: &[f64]) -> f64 {
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        let mut sums = [0.0; LANES];
        for (x, y) in x.iter().zip(y) {
            for l in 0..LANES {
                sums[l] += (x[l] - y[l]) * (x[l] - y[l]);
            }
        }
        x_rest.iter().zip(y_rest).enumerate().for_each(|(l, (x, y))| sums[l] += (x - y) * (x - y));
        fold(sums)
    }

    /// Numbers of one precision in another.
    pub(crate) fn convert<T: Real, U: Real>(from: &[T], to: &mut [U]) {
        for (from, to) in from.iter().zip(to) {
            *to = U::from_f64((*from).into());
        }
    }

    /// Numbers less their centres, in another precision.
    pub(crate) fn centre_and_convert<T: Real, U: Real>(from: &[T], centre: &[f64], to: &mut [U]) {
        for ((from, centre), to) in from.iter().zip(centre).zip(to) {
            let from: f64 = (*from).into();
            *to = U::from_f64(from - centre);
        }
    }

    /// eˣ in place, to the last digit or two: x = n ln 2 + r, eʳ by its series, times 2ⁿ.
    pub(crate) fn exp(values: &mut [f64]) {
        for x in values {
            *x = exp_of::<false>(*x);
        }
    }

    /// ln Σ eˣ without overflow; -∞ for no numbers at all.
    pub(crate) fn log_sum_exp(values: &[f64]) -> f64 {
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return if values.iter().any(|x| x.is_nan()) { f64::NAN } else { largest };
        }
        let (blocks, rest) = values.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for block in blocks {
            for l in 0..LANES {
                sums[l] += exp_of::<false>(block[l] - largest);
            }
        }
        rest.iter().enumerate().for_each(|(l, x)| sums[l] += exp_of::<false>(x - largest));
        largest + fold(sums).ln()
    }
}

/// The lanes of a sum, added in a fixed order.
#[inline(always)]
pub(super) fn fold(sums: [f64; LANES]) -> f64 {
    ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

/// eˣ without a branch.
#[inline(always)]
fn exp_of<const FUSED: bool>(x: f64) -> f64 {
    let bounded = if x > 710.0 { 710.0 } else { x };
    let bounded = if bounded < -746.0 { -746.0 } else { bounded };
    let (series, n) = series_of::<FUSED>(bounded);
    // 2ⁿ in two factors, because n may lie outside the exponents of normal numbers.
    let half = n >> 1;
    let power = |n: i64| f64::from_bits(((n + 1023) << 52) as u64);
    series * power(half) * power(n - half)
}

/// eʳ and n of eˣ = 2ⁿ eʳ.
#[inline(always)]
fn series_of<const FUSED: bool>(x: f64) -> (f64, i64) {
    // Adding 1.5·2⁵² rounds to a whole number, which then stands in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts, so that n ln 2 is subtracted without rounding (Cody and Waite).
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1/13!, 1/12!, ... 1/0!
    const SERIES: [f64; 14] = [
        1.605_904_383_682_161_3e-10,
        2.087_675_698_786_81e-9,
        2.505_210_838_544_172e-8,
        2.755_731_922_398_589e-7,
        2.755_731_922_398_589_3e-6,
        2.480_158_730_158_73e-5,
        1.984_126_984_126_984e-4,
        1.388_888_888_888_889e-3,
        8.333_333_333_333_333e-3,
        4.166_666_666_666_666_4e-2,
        1.666_666_666_666_666_6e-1,
        0.5,
        1.0,
        1.0,
    ];
    let shifted = x.times_plus::<FUSED>(std::f64::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.times_plus::<FUSED>(-LN2_LOW, n.times_plus::<FUSED>(-LN2_HIGH, x));
    let mut series = SERIES[0];
    for coefficient in &SERIES[1..] {
        series = series.times_plus::<FUSED>(r, *coefficient);
    }
    (series, shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-50.0f64..50.0, 0..70)
    }

    proptest! {
        #[test]
        fn exp_agrees_with_the_standard_library_to_two_units_in_the_last_place(x in -760.0f64..720.0) {
            let mut one = [x; 3];
            exp(&mut one);
            let expected = x.exp();
            let unit = expected.max(f64::MIN_POSITIVE) * f64::EPSILON;
            prop_assert!(one[1] == expected || (one[1] - expected).abs() <= 2.0 * unit, "{} {}", one[1], expected);
        }

        #[test]
        fn exp_of_negative_numbers_is_right_to_the_last_digits(x in -800.0f64..0.0) {
            let (single, exact) = (x as f32, f64::from(x as f32).exp());
            for value in [x.exp_of_negative::<false>(), x.exp_of_negative::<true>()] {
                prop_assert!((value - x.exp()).abs() <= 2.0 * f64::EPSILON * x.exp() + 1e-307, "{} {}", value, x.exp());
            }
            for value in [single.exp_of_negative::<false>(), single.exp_of_negative::<true>()] {
                prop_assert!((f64::from(value) - exact).abs() <= 2.5e-7 * exact + 2e-38, "{} {}", value, exact);
            }
        }

        #[test]
        fn exp_in_single_precision_is_right_to_a_few_units_in_the_last_place(x in -87.0f32..88.5) {
            let exact = f64::from(x).exp();
            for value in [Lane::exp::<false>(x), Lane::exp::<true>(x)] {
                prop_assert!((f64::from(value) - exact).abs() <= 5e-7 * exact, "{} {}", value, exact);
            }
        }

        #[test]
        fn sums_agree_with_plain_loops(x in numbers()) {
            let y: Vec<f64> = x.iter().rev().map(|v| v * 0.5 - 1.0).collect();
            let plain = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(&y).map(|(a, b)| f(*a, *b)).sum::<f64>();
            prop_assert!((squared_norm(&x) - plain(&|a, _| a * a)).abs() < 1e-9);
            prop_assert!((squared_distance(&x, &y) - plain(&|a, b| (a - b) * (a - b))).abs() < 1e-9);
        }

        #[test]
        fn log_sum_exp_is_the_logarithm_of_the_sum(x in numbers()) {
            let slow = x.iter().map(|v| v.exp()).sum::<f64>().ln();
            prop_assert!(log_sum_exp(&x) == slow || (log_sum_exp(&x) - slow).abs() < 1e-12 * (1.0 + slow.abs()));
        }
    }

    #[test]
    fn exp_at_the_ends() {
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::NAN, 1e300, -1e300, 709.78, -745.1];
        exp(&mut ends);
        assert_eq!(ends[..4], [f64::INFINITY, 0.0, 1.0, 1.0]);
        assert!(ends[4].is_nan());
        assert_eq!(ends[5..7], [f64::INFINITY, 0.0]);
        assert!((ends[7] / 709.78f64.exp() - 1.0).abs() < 1e-15 && ends[8] == (-745.1f64).exp());
        assert_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2f64.ln());
        assert_eq!(log_sum_exp(&[f64::NEG_INFINITY; 3]), f64::NEG_INFINITY);
    }
}
