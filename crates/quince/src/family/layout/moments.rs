//! The moments of numbers from which axes are found, before there is a block.

use super::LayoutData;
use crate::error::Result;
use crate::family::block::{Block, GaussianPlan, Gaussians, Moments, Shape, Shared};
use crate::family::statistics::{Members, centred_statistics};
use crate::run::Run;

/// Dense columns, what fills their missing values, and a point near the means of all dense columns.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a> {
    pub(super) columns: &'a [usize],
    pub(super) fill: &'a [f64],
    pub(super) origin: &'a [f64],
}

/// Weight, mean and scatter of each component, to which rows belong as `codes` say.
pub(super) fn moments(
    data: &LayoutData<'_>,
    numbers: &Numbers<'_>,
    (codes, components): (&[u32], usize),
    run: &Run,
) -> Result<Vec<Moments>> {
    let about = (numbers.origin, numbers.fill.to_vec());
    let plan = GaussianPlan::plain(Shape::Full, Shared::No);
    let mut blocks = [Block::Gaussian(Gaussians::new(numbers.columns.to_vec(), components, about, None, &plan))];
    let members = Members::new(codes, components, data.weights);
    let statistics = centred_statistics(&mut blocks, data.features, &members, run)?.swap_remove(0);
    let [Block::Gaussian(gaussian)] = &blocks else { unreachable!("it was made as one") };
    Ok(gaussian.all_moments(&statistics))
}
