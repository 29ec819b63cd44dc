//! Known parameters of a family, as plain values: what a model is built from without any rows, and what it gives back.

use super::block::{
    Axes, Bernoullis, Block, Categories, Coding, Gaussians, KernelDensities, MIN_VARIANCE_RATIO, MarkovChains,
    Multinomials, Normals, Place, Poissons,
};
use super::block::{Shape, VarianceFloor};
use super::product::Product;
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::run::Run;

/// The parameters of all features under every class or component, one row each.
///
/// ```
/// use quince::Matrix;
/// use quince::family::FamilyParameters;
/// let parameters = FamilyParameters::Poisson { rates: Matrix::from_rows(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) };
/// assert_eq!((parameters.components(), parameters.features()), (2, 3));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FamilyParameters {
    /// A multivariate Gaussian.
    Gaussian {
        /// Means, one column per feature.
        means: Matrix,
        /// Covariances, or one row of variances each: one per class or component, or one for all.
        covariances: Vec<Matrix>,
    },
    /// A multivariate Gaussian along some axes: z = (x - centre) · axes has the covariance 1 in every class. These are the
    /// discriminant axes of linear discriminant analysis, or any others that whiten rows; what lies across them says nothing.
    Whitened {
        /// The centre, one number per feature.
        centre: Vec<f64>,
        /// The axes, one column each.
        axes: Matrix,
        /// Means of the features, not yet projected.
        means: Matrix,
    },
    /// Independent normal features.
    Normal {
        /// Means, one column per feature.
        means: Matrix,
        /// Variances.
        variances: Matrix,
    },
    /// Independent Poisson features.
    Poisson {
        /// Rates, one column per feature.
        rates: Matrix,
    },
    /// Independent Bernoulli features: yes or no.
    Bernoulli {
        /// The probability of yes, one column per feature.
        probabilities: Matrix,
        /// Numbers above this are yes.
        threshold: f64,
    },
    /// Independent categorical features with the categories 0, 1, ...
    Categorical {
        /// The probabilities of each feature's categories: one matrix per feature, one column per category.
        probabilities: Vec<Matrix>,
    },
    /// Features that are counts of words.
    Multinomial {
        /// The probability of each word, one column each.
        probabilities: Matrix,
    },
    /// Independent features that fall into bins.
    Histogram {
        /// The edges of each feature's bins, rising.
        edges: Vec<Vec<f64>>,
        /// The probabilities of each feature's bins: one matrix per feature, one column per bin.
        probabilities: Vec<Matrix>,
    },
    /// Independent features with a normal kernel about each of some values.
    KernelDensity {
        /// The values of each feature, rising: at least two.
        values: Vec<Vec<f64>>,
        /// Their weights, which add up to one: one matrix per feature, one column per value.
        weights: Vec<Matrix>,
        /// The standard deviation of every kernel.
        bandwidth: f64,
    },
    /// Features with the categories 0, 1, ..., each given the one before it.
    MarkovChain {
        /// The probabilities of each feature's categories where none is known before it: one matrix per feature, one column per category.
        starts: Vec<Matrix>,
        /// The probabilities of each feature but the first, given the one before it: for each class or component a matrix with one row
        /// per category before, and one column per category.
        transitions: Vec<Vec<Matrix>>,
    },
}

impl FamilyParameters {
    /// The number of classes or components.
    pub fn components(&self) -> usize {
        match self {
            FamilyParameters::Gaussian { means, .. }
            | FamilyParameters::Whitened { means, .. }
            | FamilyParameters::Normal { means, .. } => means.rows(),
            FamilyParameters::Poisson { rates } => rates.rows(),
            FamilyParameters::Bernoulli { probabilities, .. } | FamilyParameters::Multinomial { probabilities } => {
                probabilities.rows()
            }
            FamilyParameters::Categorical { probabilities: of_features }
            | FamilyParameters::Histogram { probabilities: of_features, .. }
            | FamilyParameters::KernelDensity { weights: of_features, .. }
            | FamilyParameters::MarkovChain { starts: of_features, .. } => of_features.first().map_or(0, Matrix::rows),
        }
    }

    /// The number of features.
    pub fn features(&self) -> usize {
        match self {
            FamilyParameters::Gaussian { means, .. }
            | FamilyParameters::Whitened { means, .. }
            | FamilyParameters::Normal { means, .. } => means.columns(),
            FamilyParameters::Poisson { rates } => rates.columns(),
            FamilyParameters::Bernoulli { probabilities, .. } | FamilyParameters::Multinomial { probabilities } => {
                probabilities.columns()
            }
            FamilyParameters::Categorical { probabilities: of_features }
            | FamilyParameters::Histogram { probabilities: of_features, .. }
            | FamilyParameters::KernelDensity { weights: of_features, .. }
            | FamilyParameters::MarkovChain { starts: of_features, .. } => of_features.len(),
        }
    }

    /// A block with these parameters, and statistics of rows with these total weights that lead to them.
    fn block(&self, totals: &[f64], run: &Run) -> Result<(Block, Matrix)> {
        let columns: Vec<usize> = (0..self.features()).collect();
        let times = |part: &Matrix| times(part, totals);
        let weights = |width: usize| columns_of(totals, width);
        Ok(match self {
            FamilyParameters::Gaussian { means, covariances } => {
                let (block, statistics) = Gaussians::known(means, covariances, None, totals, run)?;
                (Block::Gaussian(block), statistics)
            }
            FamilyParameters::Whitened { centre, axes, means } => {
                if axes.rows() != centre.len() || means.columns() != centre.len() {
                    let problem = format!("{} features have {} rows of axes", centre.len(), axes.rows());
                    return Err(Error::shape(problem, "Give one row of axes, one mean and one centre per feature."));
                }
                let axes = Axes { centre: centre.clone(), vectors: axes.clone(), separation: None };
                whitened(axes, means, totals, run)?
            }
            FamilyParameters::Normal { means, variances } => {
                means.check_finite("means")?;
                same_shape(means, variances, "variances")?;
                within(variances, f64::MIN_POSITIVE..=f64::MAX, "a variance", "Give numbers above 0.")?;
                wide_enough(means, variances, totals)?;
                let block = Normals::known(columns, means);
                (Block::Normal(block), side_by_side(&[&weights(means.columns()), &zeros(means), &times(variances)]))
            }
            FamilyParameters::Poisson { rates } => {
                within(rates, 0.0..=f64::MAX, "a rate", "Give numbers of at least 0.")?;
                (Block::Poisson(Poissons::new(columns, 0.0)), side_by_side(&[&weights(rates.columns()), &times(rates)]))
            }
            FamilyParameters::Bernoulli { probabilities, threshold } => {
                within(probabilities, 0.0..=1.0, "a probability", "Give numbers from 0 to 1.")?;
                if !threshold.is_finite() {
                    return Err(Error::data("the threshold is not finite", "Give a number."));
                }
                let block = Bernoullis::new(Place::Dense(columns), *threshold, (0.0, 0.5));
                (Block::Bernoulli(block), side_by_side(&[&times(probabilities), &weights(probabilities.columns())]))
            }
            FamilyParameters::Categorical { probabilities } => {
                let coding = probabilities.iter().map(|of_feature| Coding::Codes(of_feature.columns())).collect();
                (Block::Categorical(Categories::new(columns, coding, 0.0)), shares(probabilities, totals)?)
            }
            FamilyParameters::Multinomial { probabilities } => {
                distributions(probabilities)?;
                let block = Multinomials::new(Place::Dense(columns), 0.0);
                (Block::Multinomial(block), side_by_side(&[&times(probabilities), &weights(1)]))
            }
            FamilyParameters::Histogram { edges, probabilities } => {
                let bins = |edges: &Vec<f64>| edges.len().saturating_sub(1);
                places(edges, probabilities, &bins, "edges", "bins")?;
                let coding = edges.iter().cloned().map(Coding::Bins).collect();
                (Block::Categorical(Categories::new(columns, coding, 0.0)), shares(probabilities, totals)?)
            }
            FamilyParameters::KernelDensity { values, weights, bandwidth } => {
                places(values, weights, &Vec::len, "values", "weights")?;
                if !(*bandwidth > 0.0 && bandwidth.is_finite()) {
                    return Err(Error::data(format!("the bandwidth is {bandwidth}"), "Give a number above 0."));
                }
                let block = KernelDensities::new(columns, values.clone(), *bandwidth);
                (Block::KernelDensity(block), shares(weights, totals)?)
            }
            FamilyParameters::MarkovChain { starts, transitions } => {
                let counts: Vec<usize> = starts.iter().map(Matrix::columns).collect();
                let statistics = side_by_side(&[&shares(starts, totals)?, &links(&counts, transitions, totals)?]);
                (Block::MarkovChain(MarkovChains::new(columns, counts, 0.0)), statistics)
            }
        })
    }
}

/// An error unless each feature has places that rise, at least two, and as many shares as those make.
fn places(
    places: &[Vec<f64>],
    shares: &[Matrix],
    count: &dyn Fn(&Vec<f64>) -> usize,
    what: &str,
    shared: &str,
) -> Result<()> {
    if places.len() != shares.len() || places.iter().zip(shares).any(|(of, shares)| count(of) != shares.columns()) {
        let problem = format!("there are not as many {shared} as the {what} make");
        return Err(Error::shape(
            problem,
            format!("Give the {what} of every feature, and one column of {shared} for each."),
        ));
    }
    let rise = |of: &Vec<f64>| of.iter().all(|x| x.is_finite()) && of.windows(2).all(|pair| pair[0] < pair[1]);
    if places.iter().all(|of| of.len() >= 2 && rise(of)) {
        return Ok(());
    }
    Err(Error::data(
        format!("{what} do not rise"),
        format!("Give every feature at least two finite {what}, the smallest first."),
    ))
}

/// Statistics of features that share out the total of each class by these probabilities.
fn shares(probabilities: &[Matrix], totals: &[f64]) -> Result<Matrix> {
    for of_feature in probabilities {
        if of_feature.rows() != totals.len() {
            let problem = format!("{} classes have {} rows", totals.len(), of_feature.rows());
            return Err(Error::shape(problem, "Give one row per class for every feature."));
        }
        distributions(of_feature)?;
    }
    let sums: Vec<Matrix> = probabilities.iter().map(|of_feature| times(of_feature, totals)).collect();
    Ok(side_by_side(&sums.iter().collect::<Vec<_>>()))
}

/// Statistics of pairs of features, one after another, that lead to these transitions: every category before was seen as often.
fn links(counts: &[usize], transitions: &[Vec<Matrix>], totals: &[f64]) -> Result<Matrix> {
    let pairs = counts.windows(2).map(|pair| (pair[0], pair[1]));
    let fits = |(of_feature, (before, after)): (&Vec<Matrix>, (usize, usize))| {
        of_feature.len() == totals.len()
            && of_feature.iter().all(|of_class| (of_class.rows(), of_class.columns()) == (before, after))
    };
    if transitions.len() + 1 != counts.len() || !transitions.iter().zip(pairs).all(fits) {
        return Err(Error::shape(
            "the transitions do not fit the categories",
            "Give every feature but the first a matrix for each class: one row per category before, one column per category.",
        ));
    }
    transitions.iter().flatten().try_for_each(distributions)?;
    let of_class =
        |k: usize| transitions.iter().flat_map(move |of_feature| of_feature[k].values()).map(move |p| p * totals[k]);
    let width = counts.windows(2).map(|pair| pair[0] * pair[1]).sum();
    Matrix::new(totals.len(), width, (0..totals.len()).flat_map(of_class).collect())
}

/// A block along axes that whiten rows, with these means of the features. Without any axis there is one along which all is zero.
fn whitened(mut axes: Axes, means: &Matrix, totals: &[f64], run: &Run) -> Result<(Block, Matrix)> {
    axes.vectors.check_finite("axes")?;
    means.check_finite("means")?;
    Matrix::column_vector(axes.centre.clone()).check_finite("centres")?;
    if axes.vectors.columns() == 0 {
        axes.vectors = Matrix::zeros(axes.centre.len(), 1);
    }
    let mut projected = Matrix::zeros(means.rows(), axes.vectors.columns());
    for k in 0..means.rows() {
        for (j, (mean, centre)) in means.row(k).iter().zip(&axes.centre).enumerate() {
            let along = projected.row_mut(k).iter_mut().zip(axes.vectors.row(j));
            along.for_each(|(sum, axis)| *sum += (mean - centre) * axis);
        }
    }
    let ones = Matrix::new(1, projected.columns(), vec![1.0; projected.columns()])?;
    let (block, statistics) = Gaussians::known(&projected, &[ones], Some(axes), totals, run)?;
    Ok((Block::Gaussian(block), statistics))
}

fn same_shape(one: &Matrix, other: &Matrix, what: &str) -> Result<()> {
    if (one.rows(), one.columns()) == (other.rows(), other.columns()) {
        return Ok(());
    }
    let problem = format!("{} x {} {what} do not fit", other.rows(), other.columns());
    Err(Error::shape(problem, format!("Give {} rows of {} numbers.", one.rows(), one.columns())))
}

fn within(numbers: &Matrix, range: std::ops::RangeInclusive<f64>, what: &str, remedy: &str) -> Result<()> {
    match numbers.values().iter().find(|number| !range.contains(number)) {
        None => Ok(()),
        Some(number) => Err(Error::data(format!("{what} is {number}"), remedy)),
    }
}

/// No variance is so small beside the distance of the means that it would be taken for rounding.
fn wide_enough(means: &Matrix, variances: &Matrix, totals: &[f64]) -> Result<()> {
    let all: f64 = totals.iter().sum();
    for j in 0..means.columns() {
        let mean: f64 = totals.iter().enumerate().map(|(k, total)| total / all * means[(k, j)]).sum();
        let about = |k: usize| variances[(k, j)] + (means[(k, j)] - mean) * (means[(k, j)] - mean);
        let overall: f64 = totals.iter().enumerate().map(|(k, total)| total / all * about(k)).sum();
        if let Some(k) = (0..means.rows()).find(|&k| variances[(k, j)] < MIN_VARIANCE_RATIO * overall) {
            let problem = format!("the variance {} is too small for means that are so far apart", variances[(k, j)]);
            return Err(Error::data(problem, "Give variances of at least 1e-12 of that of all classes together."));
        }
    }
    Ok(())
}

/// Every row sums to one.
fn distributions(probabilities: &Matrix) -> Result<()> {
    within(probabilities, 0.0..=1.0, "a probability", "Give numbers from 0 to 1.")?;
    let total = |k: usize| probabilities.row(k).iter().sum::<f64>();
    match (0..probabilities.rows()).map(total).find(|total| (total - 1.0).abs() > 1e-6) {
        None => Ok(()),
        Some(total) => Err(Error::data(format!("probabilities add up to {total}"), "Give rows that add up to 1.")),
    }
}

/// Every row times its total.
fn times(part: &Matrix, totals: &[f64]) -> Matrix {
    let mut sums = part.clone();
    totals.iter().enumerate().for_each(|(k, total)| sums.row_mut(k).iter_mut().for_each(|x| *x *= total));
    sums
}

/// The totals, in each of some columns.
fn columns_of(totals: &[f64], width: usize) -> Matrix {
    let mut columns = Matrix::zeros(totals.len(), width);
    totals.iter().enumerate().for_each(|(k, total)| columns.row_mut(k).fill(*total));
    columns
}

fn zeros(like: &Matrix) -> Matrix {
    Matrix::zeros(like.rows(), like.columns())
}

/// Matrices with as many rows, one to the right of the other.
fn side_by_side(parts: &[&Matrix]) -> Matrix {
    let (rows, columns) = (parts[0].rows(), parts.iter().map(|part| part.columns()).sum());
    let values = (0..rows).flat_map(|k| parts.iter().flat_map(move |part| part.row(k))).copied().collect();
    Matrix::new(rows, columns, values).expect("all parts have as many rows")
}

impl Product {
    /// A product of one block with known parameters, of components with these total weights.
    pub(crate) fn known(parameters: &FamilyParameters, totals: &[f64], run: &Run) -> Result<Product> {
        let (components, features) = (parameters.components(), parameters.features());
        if components == 0 || features == 0 || components != totals.len() {
            let problem = format!("parameters of {components} classes do not fit {}", totals.len());
            return Err(Error::shape(problem, "Give one row of parameters for each."));
        }
        Product::of_block(parameters.block(totals, run)?, components, features, run)
    }

    /// A product of one block along axes that whiten rows, with these means of the features.
    pub(crate) fn along(axes: Axes, means: &Matrix, totals: &[f64], run: &Run) -> Result<Product> {
        let features = means.columns();
        Product::of_block(whitened(axes, means, totals, run)?, totals.len(), features, run)
    }

    fn of_block(
        (block, statistics): (Block, Matrix),
        components: usize,
        features: usize,
        run: &Run,
    ) -> Result<Product> {
        let (blocks, statistics) = (vec![block], vec![statistics]);
        let mut product = Product { components, blocks, statistics, features, dense: features };
        product.settle();
        product.estimate(run)?;
        Ok(product)
    }

    /// The parameters, if there is one block over all features, in their order, and it is dense.
    pub(crate) fn family_parameters(&self) -> Option<FamilyParameters> {
        let [block] = &self.blocks[..] else { return None };
        let columns = block.family().columns();
        if columns.len() != self.features || columns.iter().enumerate().any(|(j, &column)| j != column) {
            return None;
        }
        let table = |value: &dyn Fn(usize, usize) -> f64| {
            let values = (0..self.components).flat_map(|k| (0..self.features).map(move |j| value(k, j))).collect();
            Matrix::new(self.components, self.features, values).expect("one number per component and feature")
        };
        Some(match block {
            Block::Gaussian(block) => match block.axes() {
                None => FamilyParameters::Gaussian {
                    means: block.means().clone(),
                    covariances: (0..block.covariances()).map(|k| shaped(block, k)).collect(),
                },
                Some(_) => return None,
            },
            Block::Normal(block) => FamilyParameters::Normal {
                means: table(&|k, j| block.parameters(k)[j].mean),
                variances: table(&|k, j| block.parameters(k)[j].variance),
            },
            Block::Poisson(block) => FamilyParameters::Poisson { rates: table(&|k, j| block.parameters(k)[j]) },
            Block::Bernoulli(block) => FamilyParameters::Bernoulli {
                probabilities: table(&|k, j| block.parameters(k, j)[1].exp()),
                threshold: block.threshold(),
            },
            Block::Categorical(block) => {
                let of_feature = |j: usize| {
                    let rows = (0..self.components).flat_map(|k| block.parameters(k, j)).map(f64::exp).collect();
                    Matrix::new(self.components, block.coding()[j].count(), rows).expect("one number per category")
                };
                let probabilities: Vec<Matrix> = (0..self.features).map(of_feature).collect();
                let edges = |coding: &Coding| if let Coding::Bins(edges) = coding { Some(edges.clone()) } else { None };
                let edges: Vec<Vec<f64>> = block.coding().iter().filter_map(edges).collect();
                match edges.len() {
                    0 => FamilyParameters::Categorical { probabilities },
                    all if all == self.features => FamilyParameters::Histogram { edges, probabilities },
                    _ => return None,
                }
            }
            Block::Multinomial(block) => {
                FamilyParameters::Multinomial { probabilities: table(&|k, j| block.log(k, j).exp()) }
            }
            Block::KernelDensity(block) => {
                let (values, weights, bandwidth) = block.known()?;
                FamilyParameters::KernelDensity { values, weights, bandwidth }
            }
            Block::MarkovChain(block) => {
                let (starts, transitions) = block.known();
                FamilyParameters::MarkovChain { starts, transitions }
            }
        })
    }
}

/// A covariance, or a row of variances.
fn shaped(block: &Gaussians, k: usize) -> Matrix {
    match block.shape {
        Shape::Full => block.covariance(k),
        Shape::Diagonal | Shape::Spherical => {
            let variances = (0..block.width()).map(|j| block.variance(k, j)).collect();
            Matrix::new(1, block.width(), variances).expect("a row of variances")
        }
    }
}

impl Normals {
    /// Independent columns whose statistics are about these means.
    fn known(columns: Vec<usize>, means: &Matrix) -> Normals {
        let steps = vec![0.0; columns.len()];
        Normals::new(columns, means.rows(), &vec![0.0; means.columns()], VarianceFloor::relative(0.0), steps)
            .about(means.clone())
    }
}
