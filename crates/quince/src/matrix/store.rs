//! Numbers that a matrix owns, or that a view of it borrows.

use std::ops::Deref;

/// Values side by side: owned, or borrowed by the [`super::SparseView`] that this is a part of.
///
/// A copy always owns its values, so nothing that is cloned from behind a view outlives the memory that the view borrows.
pub(crate) enum Store<T: 'static> {
    Owned(Vec<T>),
    /// Made by [`Store::borrowed`] only, whose caller answers for the lifetime.
    Borrowed(&'static [T]),
}

impl<T> Store<T> {
    /// Values that somebody else owns.
    ///
    /// # Safety
    /// The store must not outlive the borrow of `values`, nor be moved to where it could.
    pub(super) unsafe fn borrowed(values: &[T]) -> Store<T> {
        // SAFETY: pointer and length are those of a slice; the caller drops the store while that slice is borrowed.
        Store::Borrowed(unsafe { std::slice::from_raw_parts(values.as_ptr(), values.len()) })
    }
}

impl<T> Deref for Store<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Store::Owned(values) => values,
            Store::Borrowed(values) => values,
        }
    }
}

impl<T: Clone> Clone for Store<T> {
    fn clone(&self) -> Store<T> {
        Store::Owned(self.to_vec())
    }
}

impl<T: Clone> Store<T> {
    /// The values, to be changed: a copy of them if they are borrowed.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Store::Borrowed(values) = self {
            *self = Store::Owned(values.to_vec());
        }
        match self {
            Store::Owned(values) => values,
            Store::Borrowed(_) => unreachable!("what was borrowed has just been copied"),
        }
    }
}

impl<T> From<Vec<T>> for Store<T> {
    fn from(values: Vec<T>) -> Store<T> {
        Store::Owned(values)
    }
}

impl<T: PartialEq> PartialEq for Store<T> {
    fn eq(&self, other: &Store<T>) -> bool {
        **self == **other
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Store<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (**self).fmt(f)
    }
}
