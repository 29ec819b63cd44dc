//! Missing values of a table, imputed by a model.

use super::Model;
use crate::encode::DenseField;
use crate::error::Result;
use crate::learn::{Imputed, Prediction, SampledRow, Target, largest};
use crate::matrix::Features;
use crate::numbers::number_text;
use crate::run::Run;
use crate::table::{Column, Table};
use serde::Serialize;
use std::collections::HashSet;

/// A missing value of a table, imputed.
///
/// ```
/// use quince::prelude::*;
/// let table = Table::from_csv("height,sex\n180,m\n170,m\n165,f\n?,m\n")?;
/// let model = Model::train(&table, "sex", &NaiveBayes::new().family("normal".parse::<quince::bayes::Families>()?))?;
/// let cells = model.impute(&table, &Run::new())?;
/// assert_eq!((cells[0].row, cells[0].column.as_str(), cells[0].number()), (3, "height", Some(175.0)));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImputedCell {
    /// The row, counted from 0.
    pub row: usize,
    /// The name of the column.
    pub column: String,
    /// What is expected there, as a cell.
    pub value: String,
    /// The standard deviation of a number; `None` of a category, or where it is not known.
    pub standard_deviation: Option<f64>,
    /// How probable the category is; `None` of a number.
    pub probability: Option<f64>,
}

impl ImputedCell {
    /// What is expected there, if that is a number.
    pub fn number(&self) -> Option<f64> {
        self.value.parse().ok().filter(|_| self.probability.is_none())
    }
}

impl Model {
    /// Imputes the missing values of a table, row after row; where a class is known, by that class alone, and where the class itself
    /// is missing, by the most probable one.
    pub fn impute(&self, table: &Table, run: &Run) -> Result<Vec<ImputedCell>> {
        let rows = self.encode(table, run)?;
        let classes = self.known_classes(table)?;
        let imputed = self.fitted.impute(&rows.features(), classes.as_deref(), run)?;
        let imputed = imputed.ok_or_else(|| self.cannot("impute missing values"))?;
        let before = rows.features();
        let targets = match &classes {
            Some(classes) if classes.contains(&Target::UNKNOWN) => Some(self.predict_features(&before, run)?),
            _ => None,
        };
        let columns = self.encoder.dense_fields();
        let steps: Vec<f64> =
            columns.iter().map(|field| table.column(&field.name).map_or(f64::NAN, decimal_step)).collect();
        let mut cells = Vec::new();
        for i in 0..table.rows() {
            let unknown = classes.is_some() && table.column(&self.target).is_ok_and(|column| column.is_missing(i));
            if let Some(Prediction::Classes { probabilities, .. }) = targets.as_ref().filter(|_| unknown) {
                let class = largest(probabilities.row(i)) as usize;
                let (column, value) = (self.target.clone(), self.class_names()[class].clone());
                let probability = Some(probabilities[(i, class)]);
                cells.push(ImputedCell { row: i, column, value, standard_deviation: None, probability });
            }
            self.impute_row(i, &before, &imputed, (&columns, &steps), &mut cells);
        }
        Ok(cells)
    }

    /// The imputed cells of row `i`; numbers are rounded by their standard deviations, and by the steps that their columns go in.
    fn impute_row(
        &self,
        i: usize,
        before: &Features<'_>,
        imputed: &Imputed,
        (columns, steps): (&[DenseField], &[f64]),
        cells: &mut Vec<ImputedCell>,
    ) {
        let dense = before.dense_part();
        let is_missing = |j: usize| dense.is_some_and(|dense| j < dense.columns() && dense.get(i, j).is_nan());
        let filled = |j: usize| is_missing(j) && !imputed.values[(i, j)].is_nan();
        if !(0..columns.len()).any(filled) {
            return;
        }
        let row = SampledRow { class: 0, dense: imputed.values.row(i).to_vec(), sequences: Vec::new() };
        let known_to = |(j, field): (usize, &DenseField)| {
            imputed.standard_deviations[(i, j)].min(100.0 * steps[j] / field.scale.unwrap_or(f64::NAN))
        };
        let known_to: Vec<f64> = columns.iter().enumerate().map(known_to).collect();
        let decoded = self.encoder.decode_within(&row, &known_to);
        for (j, DenseField { column, name, scale }) in columns.iter().enumerate().filter(|(j, _)| filled(*j)) {
            // What stands for all rare categories is no category that could be filled in.
            if decoded[*column].is_empty() {
                continue;
            }
            let known = |x: f64| Some(x).filter(|x| x.is_finite());
            let (standard_deviation, probability) = match scale {
                Some(scale) => (known(imputed.standard_deviations[(i, j)] * scale), None),
                None => (None, known(imputed.standard_deviations[(i, j)])),
            };
            cells.push(ImputedCell {
                row: i,
                column: name.clone(),
                value: decoded[*column].clone(),
                standard_deviation,
                probability,
            });
        }
    }

    /// As [`Model::impute`], for the table that the model was learnt from: a column that no method learns from because it is
    /// constant is imputed by that constant, if most of its values are known.
    ///
    /// ```
    /// use quince::prelude::*;
    /// let table = Table::from_csv("height,unit\n180,cm\n165,cm\n171,?\n?,cm\n")?;
    /// let all = table.unsupervised(None, &[])?.labelled;
    /// let model = Model::fit(&all, None, &Mixture::new(1), &Run::new())?;
    /// let cells = model.impute_all(&table, &Run::new())?;
    /// assert_eq!((cells[0].row, cells[0].value.as_str()), (2, "cm"));
    /// assert_eq!((cells[1].row, cells[1].number()), (3, Some(172.0)));
    /// # quince::Result::Ok(())
    /// ```
    pub fn impute_all(&self, table: &Table, run: &Run) -> Result<Vec<ImputedCell>> {
        let mut cells = self.impute(table, run)?;
        let covered: HashSet<String> = cells.iter().map(|cell| cell.column.clone()).collect();
        for column in table.columns().iter().filter(|column| !covered.contains(column.name())) {
            cells.extend(constant_cells(column));
        }
        cells.sort_by_key(|cell| cell.row);
        Ok(cells)
    }

    /// The class of each row, as far as it is known; `None` if the table has no such column, or the model no classes.
    fn known_classes(&self, table: &Table) -> Result<Option<Vec<u32>>> {
        let Ok(column) = table.column(&self.target) else { return Ok(None) };
        if self.classes.is_none() {
            return Ok(None);
        }
        let column = column.as_kind(self.target_kind(), table)?;
        let code = |i: usize| column.text(i).and_then(|label| self.class_of(&label)).unwrap_or(Target::UNKNOWN);
        Ok(Some((0..table.rows()).map(code).collect()))
    }
}

/// The step from one number of a column to the next that is written with as many decimals, if it is one of at most six decimals.
fn decimal_step(column: &Column) -> f64 {
    const ROWS: usize = 1000;
    const MOST: usize = 6;
    let known = (0..column.rows()).filter_map(|i| column.number(i)).take(ROWS);
    let decimals = known.map(|x| number_text(x).split_once('.').map_or(0, |(_, decimals)| decimals.len())).max();
    decimals.filter(|&decimals| decimals <= MOST).map_or(f64::NAN, |decimals| 0.1f64.powi(decimals as i32))
}

/// The missing values of a column whose known values are all the same and more than the missing ones; none of other columns, and
/// of those that the user has dropped.
fn constant_cells(column: &Column) -> Vec<ImputedCell> {
    let missing = column.missing_count();
    if missing == 0 || 2 * missing >= column.rows() || column.why_ignored() == "as asked" {
        return Vec::new();
    }
    let mut known = (0..column.rows()).filter_map(|i| column.text(i));
    let Some(value) = known.next().filter(|value| known.all(|other| other == *value)) else { return Vec::new() };
    let cell = |row: usize| ImputedCell {
        row,
        column: column.name().to_string(),
        value: value.to_string(),
        standard_deviation: None,
        probability: None,
    };
    (0..column.rows()).filter(|&i| column.is_missing(i)).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_imputed_is_as_fine_as_its_standard_deviation_and_its_column() {
        use crate::mixture::Mixture;
        // y = 5412000 + 3 x, x a whole number of hundredths: a filled y is known far better than to six digits.
        let x = |i: usize| ((i * 7919) % 2003) as f64 / 100.0;
        let y = |i: usize| format!("{:.2}", 5_412_000.0 + 3.0 * x(i));
        let large = |i: usize| 5e12 + 1000.0 * x(i) + 0.5;
        let row = |i: usize| match i % 10 {
            0 => format!("{},?,{}\n", x(i), large(i)),
            5 => format!("{},{},?\n", x(i), y(i)),
            _ => format!("{},{},{}\n", x(i), y(i), large(i)),
        };
        let table = format!("x,y,large\n{}", (0..400).map(row).collect::<String>());
        let table = Table::from_csv(&table).unwrap();
        let all = table.unsupervised(None, &[]).unwrap().labelled;
        let model = Model::fit(&all, None, &Mixture::new(1), &Run::new()).unwrap();
        let cells = model.impute(&table, &Run::new()).unwrap();
        assert_eq!(cells.len(), 80);
        for cell in cells {
            let truth = if cell.column == "y" { y(cell.row).parse().unwrap() } else { large(cell.row) };
            let off = (cell.number().unwrap() - truth).abs() / cell.standard_deviation.unwrap();
            assert!(off < 0.1, "{cell:?} is {off} standard deviations off {truth}");
        }
        // So is what is sampled: in six digits all numbers of this column would be the same.
        let drawn = model.sample(200, None, &Run::new()).unwrap();
        let j = drawn.names.iter().position(|name| name == "large").unwrap();
        let different: HashSet<&String> = drawn.rows.iter().map(|row| &row[j]).collect();
        assert!(different.len() > 100, "{} of 200", different.len());
    }

    #[test]
    fn steps_are_those_of_the_decimals() {
        let table = Table::from_csv("a,b,c\n1.5,1.25,0.123456789\n2.0,?,7.25\n3.5,4.5,1.0\n").unwrap();
        let steps = |name: &str| decimal_step(table.column(name).unwrap());
        assert!((steps("a") - 0.1).abs() < 1e-15 && (steps("b") - 0.01).abs() < 1e-15 && steps("c").is_nan());
    }

    #[test]
    fn a_constant_column_is_imputed_by_its_constant_if_most_of_it_is_known() {
        let table = Table::from_csv("a,b,c,d\n1,x,u,5\n2,x,v,5\n3,?,u,?\n4,x,u,?\n").unwrap();
        let cells = |name: &str| constant_cells(table.column(name).unwrap());
        let found: Vec<(usize, String)> = cells("b").into_iter().map(|cell| (cell.row, cell.value)).collect();
        assert_eq!(found, [(2, "x".to_string())]);
        // Nothing is missing; values differ; half of the values are missing.
        assert!(cells("a").is_empty() && cells("c").is_empty() && cells("d").is_empty());
    }
}
