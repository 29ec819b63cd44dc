//! Views of other people's numbers: f32 or f64, in row order, column order or any other strides.

use crate::error::{Error, Result};

mod sealed {
    /// Kernels are written for f32 and f64: no other type can be added from outside.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The two kinds of number a view can hold: f32 and f64, and no others.
pub trait Real: sealed::Sealed + Copy + Into<f64> + Send + Sync + 'static {
    /// The nearest number of this kind.
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Real for f64 {
    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
}

/// A strided look at a matrix: element (i, j) is `values[i * row_stride + j * column_stride]`.
///
/// ```
/// use quince::matrix::View;
/// // Two rows and three columns, column after column.
/// let view = View::strided(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], (2, 3), (1, 2))?;
/// assert_eq!((view.get(0, 2), view.get(1, 0)), (3.0, 4.0));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, T: Real> View<'a, T> {
    /// One row after another, without gaps.
    ///
    /// # Panics
    /// If there are fewer values than rows times columns.
    pub fn row_major(values: &'a [T], rows: usize, columns: usize) -> View<'a, T> {
        assert!(
            rows.checked_mul(columns).is_some_and(|count| values.len() >= count),
            "a view needs rows times columns values"
        );
        View { values, rows, columns, row_stride: columns, column_stride: 1 }
    }

    /// Any strides, counted in elements.
    pub fn strided(
        values: &'a [T],
        (rows, columns): (usize, usize),
        (row_stride, column_stride): (usize, usize),
    ) -> Result<View<'a, T>> {
        let last = |count: usize, stride: usize| count.saturating_sub(1).checked_mul(stride);
        let reach = match (last(rows, row_stride), last(columns, column_stride)) {
            (Some(down), Some(across)) => down.checked_add(across),
            _ => None,
        };
        if rows > 0 && columns > 0 && reach.is_none_or(|reach| reach >= values.len()) {
            return Err(Error::data(
                format!("strides reach past the {} values of the array", values.len()),
                "Give strides that stay inside the array.",
            ));
        }
        Ok(View { values, rows, columns, row_stride, column_stride })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Element (i, j) as f64.
    ///
    /// # Panics
    /// If there is no such row or column.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.rows && j < self.columns, "({i}, {j}) of a view of {} x {}", self.rows, self.columns);
        self.at(i, j)
    }

    /// Element (i, j) as f64, for loops that stay inside.
    #[inline]
    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.row_stride + j * self.column_stride].into()
    }

    /// Whether memory holds one row after another rather than one column after another.
    pub(crate) fn by_rows(&self) -> bool {
        self.row_stride >= self.column_stride
    }

    /// Copies row `i` into `out`, each number changed by `change(column, number)`.
    #[inline]
    pub(crate) fn copy_row<U: Real>(&self, i: usize, out: &mut [U], change: impl Fn(usize, f64) -> f64) {
        out.iter_mut().enumerate().for_each(|(j, out)| *out = U::from_f64(change(j, self.at(i, j))));
    }

    /// Row `i`, if its numbers lie side by side.
    #[inline]
    pub(crate) fn whole_row(&self, i: usize) -> Option<&'a [T]> {
        let start = i * self.row_stride;
        (self.column_stride == 1 && self.columns > 0).then(|| &self.values[start..start + self.columns])
    }

    /// Calls `write` with (row, column, value) for a block, in the order of memory.
    #[inline]
    pub(crate) fn for_block(
        &self,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        mut write: impl FnMut(usize, usize, f64),
    ) {
        if columns.is_empty() {
            return;
        }
        if self.by_rows() {
            for i in rows {
                if self.column_stride == 1 {
                    let start = i * self.row_stride;
                    let row = &self.values[start + columns.start..start + columns.end];
                    row.iter().zip(columns.clone()).for_each(|(&value, j)| write(i, j, value.into()));
                } else {
                    columns.clone().for_each(|j| write(i, j, self.at(i, j)));
                }
            }
        } else {
            for j in columns {
                rows.clone().for_each(|i| write(i, j, self.at(i, j)));
            }
        }
    }
}

impl<'a> View<'a, f64> {
    /// The view as the linear algebra library sees it.
    pub(crate) fn faer(&self) -> faer::MatRef<'a, f64> {
        // SAFETY: every constructor checks that the strides stay inside `values`, and the lifetime is that of `values`.
        unsafe {
            faer::MatRef::from_raw_parts(
                self.values.as_ptr(),
                self.rows,
                self.columns,
                self.row_stride as isize,
                self.column_stride as isize,
            )
        }
    }
}

/// A dense view of either type.
#[derive(Clone, Copy, Debug)]
pub enum Dense<'a> {
    /// Single precision.
    F32(View<'a, f32>),
    /// Double precision.
    F64(View<'a, f64>),
}

impl<'a> From<View<'a, f32>> for Dense<'a> {
    fn from(view: View<'a, f32>) -> Dense<'a> {
        Dense::F32(view)
    }
}

impl<'a> From<View<'a, f64>> for Dense<'a> {
    fn from(view: View<'a, f64>) -> Dense<'a> {
        Dense::F64(view)
    }
}

/// Runs the same code on the view inside a [`Dense`], whichever type it has.
macro_rules! with_view {
    ($dense:expr, $view:ident => $body:expr) => {
        match $dense {
            $crate::matrix::Dense::F32($view) => $body,
            $crate::matrix::Dense::F64($view) => $body,
        }
    };
}
pub(crate) use with_view;

impl Dense<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        with_view!(self, view => view.rows())
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        with_view!(self, view => view.columns())
    }

    /// Element (i, j) as f64.
    ///
    /// # Panics
    /// If there is no such row or column.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        with_view!(self, view => view.get(i, j))
    }
}
