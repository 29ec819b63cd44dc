//! Maximum-margin methods: support vector machines.
//!
//! A support vector machine scores a row by
//!
//! ```text
//! f(x) = Σ βᵢ K(xᵢ, x) + b        for a linear kernel f(x) = w·x + b
//! ```
//!
//! and chooses β and b to minimise ½‖w‖² plus C times the sum of losses: the hinge loss max(0, 1 - y f(x)) for classes, the
//! ε-insensitive loss max(0, |y - f(x)| - ε) for numbers. Rows beyond the margin have no loss and β = 0; the others are the
//! support vectors, and they alone are kept. The margin is 2/‖w‖ wide.
//!
//! [`Svm`] solves the dual for any kernel (`dual/`), [`OneClassSvm`] that of rows without a class, and both certify how
//! close they are to the optimum by the duality gap, in double precision (`certificate.rs`). [`LinearSvm`] needs no kernels
//! (`linear/`), and has the same optimum as [`Svm`] with a linear one.

mod calibrate;
mod certificate;
mod dual;
mod explain;
mod kernel;
mod leave_one_out;
mod linear;
mod model;
mod one_class;
mod svm;
mod target;
#[cfg(test)]
mod tests;

pub use certificate::BiasRule;
pub use kernel::{Gamma, Kernel};
pub use linear::{Intercept, LinearSvm, LinearSvmModel, Link, Loss, Penalty, Schedule, Solver, Update};
pub use model::{SvmModel, SvmSummary};
pub use one_class::{Edge, OneClassSvm};
pub use svm::{Cost, KernelName, LeaveOneOut, Svm};
