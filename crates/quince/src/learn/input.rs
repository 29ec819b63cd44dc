//! Rows and targets in the shapes that Rust programs have them in.

use super::target::{Classes, Target};
use crate::error::{Error, Result};
use crate::matrix::{Dense, Features, Matrix, Real, Rows, Sparse, View};

/// Rows of numbers: what every `fit` and `predict` takes.
///
/// A [`Matrix`], a [`Sparse`], a strided [`View`], [`Features`] and arrays of rows (`[[f64; C]]`, also in a vector) are used without a
/// copy. Vectors of rows (`Vec<Vec<f64>>`) are copied once, since their rows lie apart. With the feature `ndarray`, an array of
/// that crate is copied only if neither its rows nor its columns lie one after another.
///
/// ```
/// use quince::prelude::*;
/// let rows = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
/// let input = rows.to_features()?;
/// assert_eq!((input.features().rows(), input.features().columns()), (2, 2));
/// # quince::Result::Ok(())
/// ```
pub trait ToFeatures {
    /// The rows, borrowed where they can be.
    fn to_features(&self) -> Result<Input<'_>>;
}

/// Rows of numbers that are borrowed or owned.
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// Someone else's numbers.
    Borrowed(Features<'a>),
    /// Numbers that had to be copied.
    Owned(Rows),
}

impl Input<'_> {
    /// The rows, for a learner.
    pub fn features(&self) -> Features<'_> {
        match self {
            Input::Borrowed(features) => *features,
            Input::Owned(rows) => rows.features(),
        }
    }
}

impl ToFeatures for Features<'_> {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(*self))
    }
}

impl ToFeatures for Matrix {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(self.features()))
    }
}

impl ToFeatures for Sparse {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(self.features()))
    }
}

impl ToFeatures for Rows {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(self.features()))
    }
}

impl<T: Real> ToFeatures for View<'_, T>
where
    for<'a> Dense<'a>: From<View<'a, T>>,
{
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(Features::dense(Dense::from(*self))))
    }
}

impl ToFeatures for [Vec<f64>] {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Owned(Rows::from(Matrix::try_from(self)?)))
    }
}

impl ToFeatures for Vec<Vec<f64>> {
    fn to_features(&self) -> Result<Input<'_>> {
        self.as_slice().to_features()
    }
}

impl<const C: usize> ToFeatures for [[f64; C]] {
    fn to_features(&self) -> Result<Input<'_>> {
        Ok(Input::Borrowed(Features::dense(Dense::F64(View::row_major(self.as_flattened(), self.len(), C)))))
    }
}

impl<const C: usize> ToFeatures for Vec<[f64; C]> {
    fn to_features(&self) -> Result<Input<'_>> {
        self.as_slice().to_features()
    }
}

impl<const R: usize, const C: usize> ToFeatures for [[f64; C]; R] {
    fn to_features(&self) -> Result<Input<'_>> {
        self.as_slice().to_features()
    }
}

/// An array of `ndarray` is looked at where it is if its rows or its columns lie one after another; other arrays are copied.
#[cfg(feature = "ndarray")]
impl<T, S> ToFeatures for ndarray::ArrayBase<S, ndarray::Ix2>
where
    T: Real,
    S: ndarray::Data<Elem = T>,
    for<'a> Dense<'a>: From<View<'a, T>>,
{
    fn to_features(&self) -> Result<Input<'_>> {
        let (rows, columns) = self.dim();
        let view = match (self.as_slice(), self.t().to_slice()) {
            (Some(by_rows), _) => View::row_major(by_rows, rows, columns),
            (None, Some(by_columns)) => View::strided(by_columns, (rows, columns), (1, rows))?,
            (None, None) => {
                let values = self.iter().map(|&value| value.into()).collect();
                return Ok(Input::Owned(Rows::from(Matrix::new(rows, columns, values)?)));
            }
        };
        Ok(Input::Borrowed(Features::dense(Dense::from(view))))
    }
}

impl<T: ToFeatures + ?Sized> ToFeatures for &T {
    fn to_features(&self) -> Result<Input<'_>> {
        (**self).to_features()
    }
}

/// What is to be learnt of each row: labels are classes, floating-point numbers are numbers.
///
/// ```
/// use quince::learn::{Task, ToTarget};
/// assert_eq!(["ham", "spam"].to_target()?.task(), Task::Classification);
/// assert_eq!([1, 0].to_target()?.task(), Task::Classification);
/// assert_eq!([1.5, 0.5].to_target()?.task(), Task::Regression);
/// # quince::Result::Ok(())
/// ```
pub trait ToTarget {
    /// The target, checked.
    fn to_target(&self) -> Result<Target>;
}

/// One entry of a target: words, whole numbers and Booleans are labels of classes, floating-point numbers are numbers.
pub trait TargetValue: Sized {
    /// All entries as a target.
    fn target_of(values: &[Self]) -> Result<Target>;
}

/// A label of a class, as a program writes it: what [`Model::labels`](crate::Model::labels) gives back.
pub trait Label: Sized {
    /// The label with this name; `None` if the name means something else.
    fn from_name(name: &str) -> Option<Self>;
}

macro_rules! label {
    ($($type:ty),*) => {$(
        impl TargetValue for $type {
            fn target_of(values: &[$type]) -> Result<Target> {
                Ok(Target::labels(&values.iter().map(|value| value.to_string()).collect::<Vec<_>>()))
            }
        }

        impl Label for $type {
            fn from_name(name: &str) -> Option<$type> {
                name.parse().ok()
            }
        }
    )*};
}

label!(String, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Booleans are spelled as data frames spell them.
impl TargetValue for bool {
    fn target_of(values: &[bool]) -> Result<Target> {
        let name = |value: &bool| if *value { "True" } else { "False" };
        Ok(Target::labels(&values.iter().map(name).collect::<Vec<_>>()))
    }
}

impl Label for bool {
    fn from_name(name: &str) -> Option<bool> {
        name.to_ascii_lowercase().parse().ok()
    }
}

impl TargetValue for &str {
    fn target_of(values: &[&str]) -> Result<Target> {
        Ok(Target::labels(values))
    }
}

impl TargetValue for f64 {
    fn target_of(values: &[f64]) -> Result<Target> {
        Target::numbers(Matrix::column_vector(values.to_vec()))
    }
}

impl TargetValue for f32 {
    fn target_of(values: &[f32]) -> Result<Target> {
        Target::numbers(Matrix::column_vector(values.iter().map(|&value| value.into()).collect()))
    }
}

impl<T: TargetValue> ToTarget for [T] {
    fn to_target(&self) -> Result<Target> {
        T::target_of(self)
    }
}

impl<T: TargetValue> ToTarget for Vec<T> {
    fn to_target(&self) -> Result<Target> {
        T::target_of(self)
    }
}

impl<T: TargetValue, const N: usize> ToTarget for [T; N] {
    fn to_target(&self) -> Result<Target> {
        T::target_of(self)
    }
}

#[cfg(feature = "ndarray")]
impl<T: TargetValue + Clone, S: ndarray::Data<Elem = T>> ToTarget for ndarray::ArrayBase<S, ndarray::Ix1> {
    fn to_target(&self) -> Result<Target> {
        match self.as_slice() {
            Some(values) => T::target_of(values),
            None => T::target_of(&self.to_vec()),
        }
    }
}

/// Several numbers for each row, one column per output.
impl ToTarget for Matrix {
    fn to_target(&self) -> Result<Target> {
        Target::numbers(self.clone())
    }
}

impl ToTarget for Target {
    fn to_target(&self) -> Result<Target> {
        Ok(self.clone())
    }
}

impl<T: ToTarget + ?Sized> ToTarget for &T {
    fn to_target(&self) -> Result<Target> {
        (**self).to_target()
    }
}

/// The labels of classes as a program writes them.
pub(crate) fn labels_of<L: Label>(classes: &Classes) -> Result<Vec<L>> {
    let label = |name: &String| {
        L::from_name(name).ok_or_else(|| {
            let problem = format!("the label '{name}' is not a {}", std::any::type_name::<L>());
            Error::data(problem, "Ask for labels as String.")
        })
    };
    classes.names().iter().map(label).collect()
}
