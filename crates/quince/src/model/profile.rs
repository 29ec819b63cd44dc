//! Profiles: what the rows of each cluster are like.

use super::Members;
use crate::error::{Error, Result};
use crate::learn::{Prediction, check_weights};
use crate::table::{Column, Kind, Table};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is typical of a column in some rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Typical {
    /// The mean of numbers; of yes/no the fraction of yes.
    Mean(f64),
    /// The most frequent category, and the fraction of the rows that have it.
    MostFrequent {
        /// The category.
        #[serde(rename = "most_frequent")]
        category: String,
        /// Its share.
        share: f64,
    },
}

/// The profile of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// `all`, `cluster 1` and so on; of novelty `like the others` and `novel`.
    pub name: String,
    /// The number of its rows.
    pub rows: usize,
    /// Their total weight; as many as rows if all count alike.
    pub weight: f64,
    /// What is typical of each column, in the order of [`ClusterProfiles::columns`]; `None` if it has no value in these rows.
    pub typical: Vec<Option<Typical>>,
}

/// What the rows of each cluster are like: the mean of numbers, the share of yes, the most frequent category.
///
/// ```
/// use quince::model::{ClusterProfiles, Typical};
/// use quince::prelude::*;
/// let table = Table::from_csv("weight,sort\n80,lemon\n75,lemon\n170,orange\n160,orange\n")?;
/// let fruit = table.unsupervised(None, &[])?.labelled;
/// let model = Model::fit(&fruit, None, &KMeans::new(2), &Run::new())?;
/// let found = model.predict(&fruit.table)?;
/// let profiles = ClusterProfiles::of(&fruit.table, &found, None)?;
/// let cluster = &profiles.clusters[found.labels()[0] as usize];
/// assert_eq!((cluster.rows, &cluster.typical[0]), (2, &Some(Typical::Mean(77.5))));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterProfiles {
    /// Name and kind of the columns that are summarised: numbers, counts, yes/no and categories.
    pub columns: Vec<(String, Kind)>,
    /// The profile of all rows.
    pub all: Profile,
    /// The profile of each cluster.
    pub clusters: Vec<Profile>,
}

impl ClusterProfiles {
    /// The profiles of the clusters that are predicted for the rows of a table; rows may count by weights.
    pub fn of(table: &Table, prediction: &Prediction, weights: Option<&[f64]>) -> Result<ClusterProfiles> {
        if prediction.rows() != table.rows() {
            return Err(Error::shape(
                format!("the table has {} rows, the prediction {}", table.rows(), prediction.rows()),
                "Give the table that was predicted for.",
            ));
        }
        ClusterProfiles::of_members(table, &Members::of(prediction)?, weights)
    }

    /// The profiles of the groups of the rows of a table; rows may count by weights.
    pub fn of_members(table: &Table, members: &Members, weights: Option<&[f64]>) -> Result<ClusterProfiles> {
        if members.labels.len() != table.rows() {
            let (rows, labels) = (table.rows(), members.labels.len());
            return Err(Error::one_each((rows, "row"), (labels, "label")));
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, table.rows()))?;
        let names = group_names(members);
        let mut rows_of = vec![Vec::new(); names.len()];
        for (i, &label) in members.labels.iter().enumerate() {
            let rows = rows_of.get_mut(label as usize).ok_or_else(|| {
                Error::data("a row is of a cluster that there is not", "Give a prediction of one model.")
            })?;
            rows.push(i);
        }
        let columns: Vec<&Column> = table.columns().iter().filter(|column| is_summarised(column.kind())).collect();
        let profile = |name: String, members: &[usize]| {
            // The sum of nothing is -0.
            let weight = 0.0 + members.iter().map(|&i| weights.map_or(1.0, |weights| weights[i])).sum::<f64>();
            let typical = columns.iter().map(|column| typical(column, members, weights)).collect();
            Profile { name, rows: members.len(), weight, typical }
        };
        Ok(ClusterProfiles {
            columns: columns.iter().map(|column| (column.name().to_string(), column.kind())).collect(),
            all: profile("all".into(), &(0..table.rows()).collect::<Vec<_>>()),
            clusters: names.into_iter().zip(&rows_of).map(|(name, rows)| profile(name, rows)).collect(),
        })
    }
}

/// What groups are called.
fn group_names(members: &Members) -> Vec<String> {
    if members.novelty {
        return vec!["like the others".into(), "novel".into()];
    }
    (1..=members.groups).map(|c| format!("cluster {c}")).collect()
}

fn is_summarised(kind: Kind) -> bool {
    matches!(kind, Kind::Number | Kind::Count | Kind::YesNo | Kind::Category)
}

/// The mean of the numbers of some rows, or their most frequent category, on a tie the first by name. Missing values and rows
/// without weight do not count.
fn typical(column: &Column, members: &[usize], weights: Option<&[f64]>) -> Option<Typical> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let rows = members.iter().copied().filter(|&i| !column.is_missing(i) && weight(i) > 0.0);
    if column.kind() != Kind::Category {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, number) in rows.filter_map(|i| Some((i, column.number(i)?))) {
            sum += weight(i) * number;
            total += weight(i);
        }
        return (total > 0.0).then(|| Typical::Mean(sum / total));
    }
    let mut categories: BTreeMap<String, f64> = BTreeMap::new();
    for (i, name) in rows.filter_map(|i| Some((i, column.text(i)?))) {
        *categories.entry(name.into_owned()).or_default() += weight(i);
    }
    let total: f64 = categories.values().sum();
    let (category, most) = categories.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Typical::MostFrequent { category, share: most / total })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    fn table() -> Table {
        let csv = "size,sold,colour,note\n1,yes,red,a\n3,no,blue,b\n?,no,red,c\n10,no,blue,d\n";
        Table::from_csv(csv).unwrap()
    }

    fn found(labels: [u32; 4]) -> Prediction {
        Prediction::Clusters { labels: labels.to_vec(), distances: Matrix::zeros(4, 2) }
    }

    fn most_frequent(category: &str, share: f64) -> Option<Typical> {
        Some(Typical::MostFrequent { category: category.into(), share })
    }

    #[test]
    fn a_profile_has_means_shares_and_the_most_frequent_category() {
        let profiles = ClusterProfiles::of(&table(), &found([0, 0, 0, 1]), None).unwrap();
        let place = |name: &str| profiles.columns.iter().position(|(column, _)| column == name).unwrap();
        let typical = |profile: &Profile, name: &str| profile.typical[place(name)].clone();
        let [first, second] = &profiles.clusters[..] else { panic!() };
        assert_eq!((first.name.as_str(), first.rows, first.weight), ("cluster 1", 3, 3.0));
        // A missing value does not count: (1 + 3) / 2.
        assert_eq!(typical(first, "size"), Some(Typical::Mean(2.0)));
        assert_eq!(typical(first, "sold"), Some(Typical::Mean(1.0 / 3.0)));
        assert_eq!(typical(first, "colour"), most_frequent("red", 2.0 / 3.0));
        assert_eq!(typical(second, "size"), Some(Typical::Mean(10.0)));
        // On a tie the first by name.
        assert_eq!(typical(&profiles.all, "colour"), most_frequent("blue", 0.5));
    }

    #[test]
    fn rows_count_by_their_weights_and_an_empty_cluster_has_nothing_typical() {
        let weights = [1.0, 3.0, 2.0, 0.0];
        let profiles = ClusterProfiles::of(&table(), &found([0; 4]), Some(&weights)).unwrap();
        let [first, second] = &profiles.clusters[..] else { panic!() };
        assert_eq!((first.rows, first.weight), (4, 6.0));
        // (1 · 1 + 3 · 3) / 4; the row of weight 0 does not count.
        assert_eq!(first.typical[0], Some(Typical::Mean(2.5)));
        assert_eq!((second.rows, second.weight.to_bits()), (0, 0));
        assert!(second.typical.iter().all(Option::is_none));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let short = Prediction::Clusters { labels: vec![0], distances: Matrix::zeros(1, 2) };
        assert!(ClusterProfiles::of(&table(), &short, None).is_err());
        assert!(ClusterProfiles::of(&table(), &found([0, 0, 0, 2]), None).is_err());
        assert!(ClusterProfiles::of(&table(), &found([0; 4]), Some(&[1.0])).is_err());
        assert!(ClusterProfiles::of(&table(), &Prediction::Numbers(Matrix::zeros(4, 1)), None).is_err());
    }
}
