//! Principal component analysis: the axes along which all rows together vary most.

use super::LayoutData;
use super::moments::{Numbers, moments};
use crate::error::{Error, Result};
use crate::family::axes::{PrincipalAxes, upright};
use crate::family::block::Axes;
use crate::run::Run;
use faer::MatRef;

/// Variances along axes below this fraction of the largest are rounding errors.
const MIN_VARIANCE_RATIO: f64 = 1e-12;

/// The first principal axes of these columns, by falling variance. The largest entry of an axis is positive.
pub(super) fn axes(data: &LayoutData<'_>, numbers: &Numbers<'_>, count: usize, run: &Run) -> Result<Axes> {
    let together = vec![0; data.features.rows()];
    let all = moments(data, numbers, (&together, 1), run)?.swap_remove(0);
    let width = numbers.columns.len();
    let scatter = all.scatter;
    let found = run.aside(width, move || PrincipalAxes::of(MatRef::from_column_major_slice(&scatter, width, width)))?;
    let found =
        found.ok_or_else(|| Error::data("the principal axes cannot be found", "Look for values out of range."))?;
    let rank = found.rank(MIN_VARIANCE_RATIO * found.variances[0]);
    let vectors = upright(&found.axes.subcols(0, rank.clamp(1, count.min(width))).to_owned());
    Ok(Axes { centre: all.mean, vectors, separation: None })
}
