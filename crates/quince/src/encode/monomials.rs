//! Monomials of columns up to a degree.
//!
//! Of d columns there are C(d + p, p) monomials of degree at most p, the constant included.

use crate::error::{Error, Result};

/// Which columns are multiplied: for every monomial the numbers of its columns, rising, one as often as its power.
///
/// They come by degree, and within a degree in the order of their columns: for a and b up to degree 2 these are
/// 1, a, b, a², ab, b². With `interaction_only` no column is multiplied with itself.
///
/// ```
/// let terms = quince::encode::monomials(2, 0..=2, false)?;
/// assert_eq!(terms, [vec![], vec![0], vec![1], vec![0, 0], vec![0, 1], vec![1, 1]]);
/// # quince::Result::Ok(())
/// ```
pub fn monomials(
    columns: usize,
    degrees: std::ops::RangeInclusive<usize>,
    interaction_only: bool,
) -> Result<Vec<Vec<u32>>> {
    if *degrees.end() > MAX_DEGREE {
        return Err(Error::setting(
            "degree",
            format!("cannot be {}", degrees.end()),
            format!("Use a degree of at most {MAX_DEGREE}."),
        ));
    }
    let (mut count, mut factors) = (0u128, 0u128);
    for degree in degrees.clone() {
        let more = count_of_degree(columns, degree, interaction_only);
        count = count.saturating_add(more);
        factors = factors.saturating_add(more.saturating_mul(degree as u128));
        if count > MAX_FEATURES || factors > MAX_FACTORS {
            return Err(Error::setting(
                "degree",
                format!("cannot be {} with {columns} columns: there would be {count} features and more", degrees.end()),
                "Use a lower degree, or fewer columns.",
            ));
        }
    }
    let mut all = Vec::new();
    for degree in degrees {
        let mut term = Vec::with_capacity(degree);
        extend(columns as u32, degree, interaction_only, &mut term, &mut all);
    }
    Ok(all)
}

/// Monomials are made by recursion, as deep as their degree.
pub(super) const MAX_DEGREE: usize = 1000;
/// More features than this are refused.
const MAX_FEATURES: u128 = 1_000_000;
/// Features of more factors in all are refused.
const MAX_FACTORS: u128 = 100_000_000;

fn extend(columns: u32, left: usize, interaction_only: bool, term: &mut Vec<u32>, all: &mut Vec<Vec<u32>>) {
    if left == 0 {
        all.push(term.clone());
        return;
    }
    let first = term.last().map_or(0, |&last| last + u32::from(interaction_only));
    for column in first..columns {
        term.push(column);
        extend(columns, left - 1, interaction_only, term, all);
        term.pop();
    }
}

/// The number of monomials of exactly this degree.
pub(super) fn count_of_degree(columns: usize, degree: usize, interaction_only: bool) -> u128 {
    let from = if interaction_only { columns } else { (columns + degree).saturating_sub(1) };
    if degree > from || (columns == 0 && degree > 0) {
        return 0;
    }
    // One factor and one divisor at a time, so that every quotient is whole; as many are chosen as are left over.
    (0..degree.min(from - degree))
        .try_fold(1u128, |sum, i| Some(sum.checked_mul((from - i) as u128)? / (i as u128 + 1)))
        .unwrap_or(u128::MAX)
}

/// The value of a monomial in a row.
pub(crate) fn product(row: &[f64], term: &[u32]) -> f64 {
    term.iter().map(|&j| row[j as usize]).product()
}

/// How a monomial is written: `a^2 b`.
pub(crate) fn name(term: &[u32], names: &[String]) -> String {
    let powers: Vec<String> = term
        .chunk_by(|a, b| a == b)
        .map(|same| match same.len() {
            1 => names[same[0] as usize].clone(),
            power => format!("{}^{power}", names[same[0] as usize]),
        })
        .collect();
    if powers.is_empty() { "1".into() } else { powers.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t7_the_number_of_monomials() {
        let counts = |d: usize| [2, 3, 4, 5].map(|p| monomials(d, 0..=p, false).unwrap().len());
        assert_eq!(counts(2), [6, 10, 15, 21]);
        assert_eq!(counts(3), [10, 20, 35, 56]);
        assert_eq!(monomials(3, 0..=3, true).unwrap().len(), 8);
        assert_eq!(monomials(0, 1..=3, false).unwrap().len(), 0);
        assert!(monomials(1000, 0..=4, false).is_err());
    }

    #[test]
    fn products_and_their_names() {
        let names = ["a", "b", "c"].map(String::from);
        assert_eq!(product(&[2.0, 3.0, 5.0], &[0, 0, 2]), 20.0);
        assert_eq!(name(&[0, 0, 2], &names), "a^2 c");
    }
}
