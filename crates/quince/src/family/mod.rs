//! Families of distributions, as plain values: to fit, and to ask for probabilities.

mod multinomial;

pub use multinomial::Multinomial;
