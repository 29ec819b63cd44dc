//! Margins: classes kept as far apart as possible.
//!
//! A support vector machine scores a row by
//!
//! ```text
//! f(x) = Σ βᵢ K(xᵢ, x) + b        for a linear kernel f(x) = w·x + b
//! ```
//!
//! and chooses β and b so that ½‖w‖² plus C times the sum of losses is least: of classes the hinge loss max(0, 1 - y f(x)), of
//! numbers max(0, |y - f(x)| - ε). Rows that lose nothing and lie beyond the margin have β = 0; the others are the support
//! vectors, and they alone are kept. The width of the margin is 2/‖w‖.
//!
//! [`Svm`] solves the dual for any kernel (`dual/`), [`OneClass`] the same for rows without a class, and both prove how close they
//! are: the gap between the primal and the dual objective, in double precision (`proof.rs`). [`LinearSvm`] needs no kernels
//! (`linear/`), and has the same optimum as [`Svm`] with a linear one.

mod dual;
mod explain;
mod kernel;
mod leave_one_out;
mod linear;
mod machine;
mod one_class;
mod proof;
mod svm;
mod target;
#[cfg(test)]
mod tests;

pub use kernel::{Gamma, Kernel};
pub use linear::{Intercept, LinearMachine, LinearSvm, Loss, Schedule, Sgd, Solver, Walked};
pub use machine::{About, SvmModel};
pub use one_class::OneClass;
pub use proof::Middle;
pub use svm::{Cost, KernelName, Svm, Wanted};
