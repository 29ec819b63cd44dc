//! What a model predicts, as columns: the one form of answers, whether they go into a file, to the screen or to a service.

use super::{Members, Model};
use crate::error::Result;
use crate::learn::Prediction;
use crate::numbers::number_text;
use crate::table::{OutputColumn, OutputValues};
use serde_json::{Map, Value, json};

/// A column of answers, a value for each row.
///
/// ```
/// use quince::model::AnswerColumn;
/// use quince::prelude::*;
/// let table = Table::from_csv("weight,sort\n80,lemon\n75,lemon\n170,orange\n160,orange\n")?;
/// let model = Model::train(&table, "sort", &NaiveBayes::default())?;
/// let columns = model.answers(&model.predict(&table)?, true, &[])?;
/// let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
/// assert_eq!(names, ["predicted_sort", "probability_lemon", "probability_orange"]);
/// assert_eq!(AnswerColumn::objects(&columns)[0]["predicted_sort"], "lemon");
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerColumn {
    /// The name: `predicted_sort`, `probability_lemon`, `cluster`, `novel`.
    pub name: String,
    /// The values.
    pub values: AnswerValues,
}

/// The values of a column of answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerValues {
    /// Labels.
    Labels(Vec<String>),
    /// Clusters, counted from 1.
    Clusters(Vec<u32>),
    /// Numbers.
    Numbers(Vec<f64>),
}

impl AnswerValues {
    /// The value of a row, as text.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn text(&self, row: usize) -> String {
        match self {
            AnswerValues::Labels(labels) => labels[row].clone(),
            AnswerValues::Clusters(clusters) => clusters[row].to_string(),
            AnswerValues::Numbers(numbers) => number_text(numbers[row]),
        }
    }

    /// The value of a row, as JSON.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn json(&self, row: usize) -> Value {
        match self {
            AnswerValues::Labels(labels) => json!(labels[row]),
            AnswerValues::Clusters(clusters) => json!(clusters[row]),
            AnswerValues::Numbers(numbers) => json!(numbers[row]),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            AnswerValues::Labels(labels) => labels.len(),
            AnswerValues::Clusters(clusters) => clusters.len(),
            AnswerValues::Numbers(numbers) => numbers.len(),
        }
    }
}

impl AnswerColumn {
    fn new(name: impl Into<String>, values: AnswerValues) -> AnswerColumn {
        AnswerColumn { name: name.into(), values }
    }

    /// The group of each row and how well it fits there: its cluster and its distance from the centre, or its component with the responsibility
    /// and the log density of the row; of novelty yes or no and the score.
    pub fn of_members(members: Members) -> Vec<AnswerColumn> {
        let Members { labels, novelty, fit, .. } = members;
        let group = if novelty {
            let novel = labels.iter().map(|label| if *label == 1 { "yes" } else { "no" }.to_string()).collect();
            AnswerColumn::new("novel", AnswerValues::Labels(novel))
        } else {
            let counted = labels.iter().map(|label| label + 1).collect();
            AnswerColumn::new("cluster", AnswerValues::Clusters(counted))
        };
        let fit = fit.into_iter().map(|(name, numbers)| AnswerColumn::new(name, AnswerValues::Numbers(numbers)));
        std::iter::once(group).chain(fit).collect()
    }

    /// Under a name that none of these is: with underscores if need be.
    #[must_use]
    pub fn beside(mut self, taken: &[String]) -> AnswerColumn {
        while taken.contains(&self.name) {
            self.name.push('_');
        }
        self
    }

    /// One object per row, a field for each column.
    pub fn objects(columns: &[AnswerColumn]) -> Vec<Value> {
        let rows = columns.first().map_or(0, |column| column.values.rows());
        let field = |column: &AnswerColumn, i: usize| (column.name.clone(), column.values.json(i));
        let row = |i: usize| columns.iter().map(|column| field(column, i)).collect::<Map<String, Value>>().into();
        (0..rows).map(row).collect()
    }
}

/// A column of a file.
impl From<AnswerColumn> for OutputColumn {
    fn from(column: AnswerColumn) -> OutputColumn {
        let values = match column.values {
            AnswerValues::Labels(labels) => OutputValues::Texts(labels.into_iter().map(Some).collect()),
            AnswerValues::Clusters(clusters) => OutputValues::Numbers(clusters.into_iter().map(f64::from).collect()),
            AnswerValues::Numbers(numbers) => OutputValues::Numbers(numbers),
        };
        OutputColumn { name: column.name, values }
    }
}

impl Model {
    /// What was predicted, as columns: the label and the probability of each class (if those are wanted), the number or numbers, the
    /// cluster with its distance or responsibility, or the novelty. A name that is taken already gets an underscore.
    pub fn answers(&self, prediction: &Prediction, probabilities: bool, taken: &[String]) -> Result<Vec<AnswerColumn>> {
        let name = format!("predicted_{}", self.target());
        let columns = match prediction {
            Prediction::Classes { probabilities: each, .. } => {
                let labels = self.label_names(prediction)?.into_iter().map(str::to_string).collect();
                let mut columns = vec![AnswerColumn::new(name, AnswerValues::Labels(labels))];
                // Scores that are not calibrated have no probabilities.
                let shown = if probabilities { each.columns() } else { 0 };
                for (k, class) in self.class_names().iter().enumerate().take(shown) {
                    let values = AnswerValues::Numbers(each.column(k));
                    columns.push(AnswerColumn::new(format!("probability_{class}"), values));
                }
                columns
            }
            Prediction::Numbers(numbers) if numbers.columns() == 1 => {
                vec![AnswerColumn::new(name, AnswerValues::Numbers(numbers.column(0)))]
            }
            Prediction::Numbers(numbers) => (0..numbers.columns())
                .map(|k| AnswerColumn::new(format!("{name}_{}", k + 1), AnswerValues::Numbers(numbers.column(k))))
                .collect(),
            Prediction::Clusters { .. } | Prediction::Responsibilities { .. } | Prediction::Novelty { .. } => {
                AnswerColumn::of_members(Members::of(prediction)?)
            }
        };
        let mut taken = taken.to_vec();
        let named = columns.into_iter().map(|column| {
            let column = column.beside(&taken);
            taken.push(column.name.clone());
            column
        });
        Ok(named.collect())
    }
}
