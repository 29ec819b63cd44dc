//! Discriminant functions as formulas; and, for a single number, the decision boundaries and their error.

use super::model::BayesModel;
use crate::family::block::{Block, Family, Shared};
use crate::family::{Distribution, Normal};
use crate::matrix::Matrix;
use serde::Serialize;

/// A discriminant function g(x) = xᵀ A x + wᵀ x + w₀; the class with the largest wins. A is the same for all classes, and
/// left out, if they share a covariance. Calibration multiplies all but ln P(class) by the temperature
/// ([`BayesModel::temperature`]), and adds the biases ([`BayesModel::class_biases`]).
///
/// ```
/// use quince::Matrix;
/// use quince::bayes::BayesModel;
/// use quince::family::FamilyParameters;
/// let means = Matrix::from_rows(&[[0.0, 0.0], [3.0, 4.0]]);
/// let covariances = vec![Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]])];
/// let model = BayesModel::known(&FamilyParameters::Gaussian { means, covariances }, &[0.5, 0.5])?;
/// let [first, second] = &model.discriminants().unwrap()[..] else { panic!() };
/// // The boundary is half way between means that are 5 apart.
/// assert!((second.against(first).distance() - 2.5).abs() < 1e-9);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discriminant {
    /// The quadratic coefficients A = -½ Σ⁻¹.
    pub quadratic: Option<Vec<Vec<f64>>>,
    /// The linear coefficients w = Σ⁻¹ μ.
    pub linear: Vec<f64>,
    /// The constant w₀ = -½ μᵀ Σ⁻¹ μ + ln P(class), and -½ ln |Σ| if each class has its own covariance.
    pub constant: f64,
}

impl Discriminant {
    /// The difference of two linear discriminants: wᵀ x + w₀ is the log odds of the first class against the second.
    pub fn against(&self, other: &Discriminant) -> Discriminant {
        let linear = self.linear.iter().zip(&other.linear).map(|(a, b)| a - b).collect();
        Discriminant { quadratic: None, linear, constant: self.constant - other.constant }
    }

    /// The distance of the boundary wᵀ x + w₀ = 0 from the origin: |w₀| / ‖w‖.
    pub fn distance(&self) -> f64 {
        self.constant.abs() / self.linear.iter().map(|w| w * w).sum::<f64>().sqrt()
    }
}

/// The linear discriminants of all classes as functions of the features: the class with the largest w·x + w₀ wins.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearDiscriminants {
    /// The coefficients w, one row per class and one column per feature.
    pub coefficients: Matrix,
    /// The constants w₀.
    pub intercepts: Vec<f64>,
}

/// Decision boundaries along a single number.
///
/// ```
/// use quince::Matrix;
/// use quince::bayes::BayesModel;
/// use quince::family::FamilyParameters;
/// let (means, variances) = (Matrix::from_rows(&[[0.0], [4.0]]), Matrix::from_rows(&[[1.0], [1.0]]));
/// let model = BayesModel::known(&FamilyParameters::Normal { means, variances }, &[0.5, 0.5])?;
/// let found = model.boundaries().unwrap();
/// assert!((found.at[0] - 2.0).abs() < 1e-9 && found.classes == [0, 1]);
/// // Two standard deviations from either mean.
/// assert!((found.error - 0.022750131948179).abs() < 1e-9);
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Boundaries {
    /// The values at which the class changes, rising.
    pub at: Vec<f64>,
    /// The class below the first, between each two, and above the last.
    pub classes: Vec<usize>,
    /// The expected error rate, if rows are distributed as the model says.
    pub error: f64,
}

impl BayesModel {
    /// The discriminant of each class, if the only features are numbers with normal or Gaussian families in one block. With
    /// principal axes they are functions of the projections.
    pub fn discriminants(&self) -> Option<Vec<Discriminant>> {
        let [block] = &self.product.blocks[..] else { return None };
        self.discriminants_of(block)
    }

    /// The discriminants of classes that share a covariance as functions of the features, also where the model projects them onto
    /// axes: w = V Σ⁻¹ m, with m the mean of the class along the axes V.
    pub fn linear_discriminants(&self) -> Option<LinearDiscriminants> {
        let [whole @ Block::Gaussian(block)] = &self.product.blocks[..] else { return None };
        if block.shared == Shared::No {
            return None;
        }
        let discriminants = self.discriminants_of(whole)?;
        let mut coefficients = Matrix::zeros(discriminants.len(), self.product.features);
        let mut intercepts = Vec::with_capacity(discriminants.len());
        for (k, discriminant) in discriminants.iter().enumerate() {
            let mut constant = discriminant.constant;
            for (j, &column) in block.columns().iter().enumerate() {
                let Some(axes) = block.axes() else {
                    coefficients[(k, column)] = discriminant.linear[j];
                    continue;
                };
                let along = axes.vectors.row(j).iter().zip(&discriminant.linear);
                coefficients[(k, column)] = along.map(|(axis, w)| axis * w).sum();
                constant -= axes.centre[j] * coefficients[(k, column)];
            }
            intercepts.push(constant);
        }
        Some(LinearDiscriminants { coefficients, intercepts })
    }

    /// The discriminants of one block, with the priors.
    pub(super) fn discriminants_of(&self, block: &Block) -> Option<Vec<Discriminant>> {
        let one = |k: usize| {
            let (mean, precision, log_determinant, own) = match block {
                Block::Gaussian(block) => {
                    let own = block.shared == Shared::No;
                    (block.means().row(k).to_vec(), block.precision(k), block.log_determinant(k), own)
                }
                Block::Normal(block) => {
                    let normals = block.parameters(k);
                    let mut precision = Matrix::zeros(normals.len(), normals.len());
                    // A constant column carries no information.
                    let each = |variance: f64| if variance > 0.0 { 1.0 / variance } else { 0.0 };
                    (0..normals.len()).for_each(|j| precision[(j, j)] = each(normals[j].variance));
                    let varying = normals.iter().filter(|normal| normal.variance > 0.0);
                    let log_determinant = varying.map(|normal| normal.variance.ln()).sum();
                    (normals.iter().map(|normal| normal.mean).collect(), precision, log_determinant, true)
                }
                _ => return None,
            };
            let linear: Vec<f64> =
                (0..mean.len()).map(|i| precision.row(i).iter().zip(&mean).map(|(p, m)| p * m).sum()).collect();
            let square: f64 = linear.iter().zip(&mean).map(|(w, m)| w * m).sum();
            let halves = |row: &[f64]| row.iter().map(|p| -0.5 * self.temperature() * p).collect();
            let constant = -0.5 * square - if own { 0.5 * log_determinant } else { 0.0 };
            Some(Discriminant {
                quadratic: own.then(|| (0..mean.len()).map(|i| halves(precision.row(i))).collect()),
                linear: linear.into_iter().map(|w| self.temperature() * w).collect(),
                constant: self.temperature() * constant + self.start(k),
            })
        };
        (0..self.totals.len()).map(one).collect()
    }

    /// The decision boundaries, if the only feature is one number with a normal or Gaussian family.
    pub fn boundaries(&self) -> Option<Boundaries> {
        let line = Line::of(self)?;
        let (at, classes) = line.changes()?;
        let error = 1.0 - line.accuracy(&at, &classes)?;
        Some(Boundaries {
            at: at.into_iter().map(|x| line.middle + line.unit * x).collect(),
            classes: classes.into_iter().map(|c| line.classes[c]).collect(),
            error,
        })
    }
}

/// The classes along a single number.
struct Line<'a> {
    model: &'a BayesModel,
    /// The classes whose prior is above zero.
    classes: Vec<usize>,
    /// Their means and variances, about the mean of the means, in units of the largest standard deviation, so that neither
    /// costs digits.
    normals: Vec<(f64, f64)>,
    middle: f64,
    unit: f64,
}

impl Line<'_> {
    fn of(model: &BayesModel) -> Option<Line<'_>> {
        let [block] = &model.product.blocks[..] else { return None };
        let of_class = |k: usize| match block {
            Block::Gaussian(block) if block.width() == 1 && block.axes().is_none() => {
                Some((block.means()[(k, 0)], block.covariance(k)[(0, 0)]))
            }
            Block::Normal(block) if block.parameters(k).len() == 1 => {
                block.parameters(k).first().map(|normal| (normal.mean, normal.variance))
            }
            _ => None,
        };
        let possible = |&k: &usize| model.log_priors[k] > f64::NEG_INFINITY;
        let classes: Vec<usize> = (0..model.totals.len()).filter(possible).collect();
        let normals: Vec<(f64, f64)> = classes.iter().map(|&k| of_class(k)).collect::<Option<_>>()?;
        if normals.iter().any(|(_, variance)| *variance <= 0.0) {
            return None;
        }
        let middle = normals.iter().map(|(mean, _)| mean / normals.len() as f64).sum::<f64>();
        let unit = normals.iter().map(|(_, variance)| variance.sqrt()).fold(0.0, f64::max);
        let normals =
            normals.into_iter().map(|(mean, variance)| ((mean - middle) / unit, variance / unit / unit)).collect();
        Some(Line { model, classes, normals, middle, unit })
    }

    fn score(&self, c: usize, x: f64) -> f64 {
        let (mean, variance) = self.normals[c];
        self.model.start(self.classes[c])
            - 0.5 * self.model.temperature() * (variance.ln() + (x - mean).powi(2) / variance)
    }

    /// The first class with the largest score.
    fn best(&self, x: f64) -> Option<usize> {
        (0..self.normals.len()).reduce(|best, c| if self.score(c, x) > self.score(best, x) { c } else { best })
    }

    /// Where two scores are equal, rising: roots of quadratic equations.
    fn roots(&self) -> Vec<f64> {
        let temperature = self.model.temperature();
        let mut roots = Vec::new();
        for a in 0..self.normals.len() {
            for b in a + 1..self.normals.len() {
                let ((mean_a, var_a), (mean_b, var_b)) = (self.normals[a], self.normals[b]);
                let square = 0.5 * temperature * (1.0 / var_b - 1.0 / var_a);
                let linear = temperature * (mean_a / var_a - mean_b / var_b);
                let constant = self.score(a, 0.0) - self.score(b, 0.0);
                roots.extend(quadratic_roots(square, linear, constant));
            }
        }
        roots.sort_by(f64::total_cmp);
        roots.dedup();
        roots
    }

    /// Where the class changes, and the class below the first change, between each two, and above the last.
    fn changes(&self) -> Option<(Vec<f64>, Vec<usize>)> {
        // The class changes only at roots: it is asked for between each two.
        let roots = self.roots();
        let mut places: Vec<f64> = roots.windows(2).map(|pair| 0.5 * (pair[0] + pair[1])).collect();
        places.insert(0, roots.first().map_or(0.0, |first| first - 1.0 - first.abs()));
        if let Some(last) = roots.last() {
            places.push(last + 1.0 + last.abs());
        }
        let winners: Vec<usize> = places.into_iter().map(|x| self.best(x)).collect::<Option<_>>()?;
        let (mut at, mut classes) = (Vec::new(), vec![winners[0]]);
        for (root, winner) in roots.iter().zip(&winners[1..]) {
            if classes.last() != Some(winner) {
                at.push(*root);
                classes.push(*winner);
            }
        }
        Some((at, classes))
    }

    /// The expected accuracy, if rows are distributed as the model says.
    fn accuracy(&self, at: &[f64], classes: &[usize]) -> Option<f64> {
        let mut right = 0.0;
        for (part, &c) in classes.iter().enumerate() {
            let (mean, variance) = self.normals[c];
            let normal = Normal::new(mean, variance.sqrt()).ok()?;
            let from = if part == 0 { 0.0 } else { normal.cumulative(at[part - 1]) };
            let to = at.get(part).map_or(1.0, |&x| normal.cumulative(x));
            right += self.model.log_priors[self.classes[c]].exp() * (to - from);
        }
        Some(right)
    }
}

/// The roots of a x² + b x + c.
fn quadratic_roots(a: f64, b: f64, c: f64) -> Vec<f64> {
    if a.abs() <= 1e-14 * b.abs() {
        return if b == 0.0 { Vec::new() } else { vec![-c / b] };
    }
    let square = b * b - 4.0 * a * c;
    if square < 0.0 {
        return Vec::new();
    }
    // The root without cancellation, and the other from their product.
    let q = -0.5 * (b + if b < 0.0 { -1.0 } else { 1.0 } * square.sqrt());
    if q == 0.0 { vec![0.0] } else { vec![q / a, c / q] }
}
