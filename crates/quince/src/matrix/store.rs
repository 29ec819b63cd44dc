//! Numbers that a matrix owns, or that another library keeps for it.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;

/// Values in a row: owned, or another library's (numpy's), which is kept alive.
#[derive(Clone)]
pub(crate) enum Store<T: 'static> {
    Owned(Vec<T>),
    Kept { values: &'static [T], _keeper: Arc<dyn Any + Send + Sync> },
}

impl<T> Deref for Store<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Store::Owned(values) => values,
            Store::Kept { values, .. } => values,
        }
    }
}

impl<T: Clone> Store<T> {
    /// The values, to be changed: a copy of them if they are kept elsewhere.
    pub(crate) fn to_mut(&mut self) -> &mut Vec<T> {
        if let Store::Kept { values, .. } = self {
            *self = Store::Owned(values.to_vec());
        }
        match self {
            Store::Owned(values) => values,
            Store::Kept { .. } => unreachable!("what was kept has just been copied"),
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
