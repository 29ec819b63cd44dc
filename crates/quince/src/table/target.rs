//! Taking the target out of a table.

use super::{Column, ColumnData, Kind, Table};
use crate::error::{Error, Place, Result};
use crate::learn::{Classes, LabelType, Target, TargetView, Task};
use crate::matrix::Matrix;
use crate::numbers::has_leading_zeros;
use crate::numbers::number_text;

/// Rows with a known target, the target apart from them.
///
/// ```
/// use quince::Table;
/// let labelled = Table::from_csv("x,y\n1,a\n2,?\n3,b\n")?.labelled("y", None)?;
/// assert_eq!((labelled.name.as_str(), labelled.rows.as_slice(), labelled.left_out), ("y", &[0, 2][..], 1));
/// assert!(labelled.table.column("y").is_err());
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct Labelled {
    /// The rows, without the target's column.
    pub table: Table,
    /// What is to be learnt.
    pub target: Target,
    /// The target's column.
    pub name: String,
    /// Which rows of the original table these are.
    pub rows: Vec<usize>,
    /// The number of rows that had no target and were left out.
    pub left_out: usize,
}

impl Table {
    /// Takes target, weights and groups out of a table, and notes what was decided for the user. Rows without a class are kept
    /// for a method that can learn from them (`unlabelled`), and left out otherwise.
    pub fn supervised(
        &self,
        target: &str,
        task: Option<Task>,
        weight: Option<&str>,
        group: Option<&str>,
        unlabelled: bool,
    ) -> Result<TrainingSet> {
        if [weight, group].contains(&Some(target)) || (weight.is_some() && weight == group) {
            return Err(Error::data(
                "target, weights and groups must be different columns",
                "Name another column for one of them.",
            ));
        }
        let mut labelled = self.labelled(target, task)?;
        let without = labelled.left_out;
        if unlabelled && without > 0 && labelled.target.task() == Task::Classification {
            labelled = labelled.with_all_rows(self)?;
        }
        let weights = weight.map(|name| self.weights(name, &labelled.rows)).transpose()?;
        let groups = group.map(|name| self.groups(name, &labelled.rows)).transpose()?;
        let aside: Vec<&str> = weight.into_iter().chain(group).collect();
        labelled.table = labelled.table.without(&aside);
        let mut notes = Vec::new();
        if without > labelled.left_out {
            notes.push(match without {
                1 => format!("1 row has no '{target}'; what it is like is learnt from all the same"),
                count => format!("{count} rows have no '{target}'; what they are like is learnt from all the same"),
            });
        }
        if labelled.left_out > 0 {
            notes.push(match labelled.left_out {
                1 => format!("1 row has no '{target}' and is left out"),
                count => format!("{count} rows have no '{target}' and are left out"),
            });
        }
        if task.is_none()
            && self.column(target)?.kind() == Kind::Count
            && labelled.target.task() == Task::Classification
        {
            notes.push(format!("'{target}' has few different whole numbers and is learnt as classes, not as a number"));
        }
        if let (None, Some(values)) = (task, labelled.few_numbers()) {
            notes.push(format!(
                "'{target}' has only {values} different numbers and is learnt as a number; for classes ask for the task classification"
            ));
        }
        notes.extend(labelled.table.what_is_ignored());
        notes.extend(labelled.table.what_is_nearly_a_number());
        notes.extend(labelled.table.what_may_be_an_identifier());
        Ok(TrainingSet { labelled, weights, groups, notes })
    }

    /// All rows, with nothing to learn but groups; weights and the columns of `aside` are no features.
    ///
    /// ```
    /// use quince::Table;
    /// let table = Table::from_csv("name,x,w\nann,1.5,1\nbob,2.5,2\n")?;
    /// let rows = table.unsupervised(Some("w"), &["name"])?;
    /// assert_eq!(rows.weights.as_deref(), Some(&[1.0, 2.0][..]));
    /// assert_eq!(rows.labelled.table.columns().len(), 1);
    /// # quince::Result::Ok(())
    /// ```
    pub fn unsupervised(&self, weight: Option<&str>, aside: &[&str]) -> Result<TrainingSet> {
        let rows: Vec<usize> = (0..self.rows()).collect();
        if rows.is_empty() {
            let place = Place { file: self.source_name(), ..Place::default() };
            return Err(Error::table(place, "the table has no rows", "Give at least one row."));
        }
        for name in aside {
            self.column(name)?;
        }
        let weights = weight.map(|name| self.weights(name, &rows)).transpose()?;
        let aside: Vec<&str> = weight.into_iter().chain(aside.iter().copied()).collect();
        let table = self.without(&aside);
        let notes =
            [table.what_is_ignored(), table.what_is_nearly_a_number(), table.what_may_be_an_identifier()].concat();
        let target = Target::none(rows.len());
        let labelled = Labelled { table, target, name: "cluster".into(), rows, left_out: 0 };
        Ok(TrainingSet { labelled, weights, groups: None, notes })
    }

    /// One sentence for each reason to ignore columns, naming the first few.
    fn what_is_ignored(&self) -> Vec<String> {
        let unasked = |c: &&Column| c.kind() == Kind::Ignored && c.why_ignored() != "as asked";
        let ignored: Vec<&Column> = self.columns().iter().filter(unasked).collect();
        let mut reasons: Vec<&str> = ignored.iter().map(|column| column.why_ignored()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let sentence = |reason: &str| {
            let names: Vec<String> =
                ignored.iter().filter(|c| c.why_ignored() == reason).map(|c| format!("'{}'", c.name())).collect();
            let shown = names[..names.len().min(5)].join(", ");
            let more = if names.len() > 5 { format!(" and {} more", names.len() - 5) } else { String::new() };
            let verb = if names.len() == 1 { "is" } else { "are" };
            format!("{shown}{more} {verb} ignored: {reason}")
        };
        reasons.into_iter().map(sentence).collect()
    }

    /// A sentence for each column of so many rare categories that it may name the rows rather than say something of them.
    fn what_may_be_an_identifier(&self) -> Vec<String> {
        let sentence = |column: &Column| {
            let count = column.rare_categories()?;
            Some(format!(
                "'{}' has {count} categories in {} rows, most of them in hardly any; leave the column out if it is an identifier",
                column.name(),
                column.rows() - column.missing_count()
            ))
        };
        self.columns().iter().filter_map(sentence).collect()
    }

    /// A sentence for each column in which a few cells are the reason that it is not one of numbers.
    fn what_is_nearly_a_number(&self) -> Vec<String> {
        let sentence = |column: &Column| {
            let reason = self.why_no_number(column)?;
            Some(format!("'{}' is read as {}: {reason}", column.name(), column.kind()))
        };
        let unasked = |column: &&Column| !matches!(column.why_ignored(), "as asked" | "constant" | "row numbers");
        self.columns().iter().filter(unasked).filter_map(sentence).collect()
    }

    /// Why a column is not one of numbers, if only a few cells, or how they are written, are the reason.
    pub(super) fn why_no_number(&self, column: &Column) -> Option<String> {
        if let Some(row) = column.first_code() {
            let code = column.text(row).unwrap_or_default();
            let reason = match has_leading_zeros(&code) {
                true => "begins with a zero, as keys and codes do",
                false => "has more digits than a number keeps, as keys and codes have",
            };
            return Some(format!("'{code}' {reason}; its kind may be set to number"));
        }
        if column.has_numbers_as_strings() {
            let reason = "its cells are strings, though all of them look like numbers; its kind may be set to number";
            return Some(reason.to_string());
        }
        let (count, row) = column.nearly_numbers()?;
        let place = self.place(row, column.name());
        let line = place.line.map_or_else(|| format!("row {}", row + 1), |line| format!("line {line}"));
        let filled = column.rows() - column.missing_count();
        let other = column.text(row).unwrap_or_default();
        Some(format!("{count} of {filled} cells are numbers, but '{other}' in {line} is not"))
    }

    /// An error if one of these rows is not in the table.
    pub(crate) fn check_rows(&self, rows: &[usize]) -> Result<()> {
        match rows.iter().find(|&&row| row >= self.rows()) {
            None => Ok(()),
            Some(row) => Err(Error::data(
                format!("there is no row {row} in a table of {} rows", self.rows()),
                "Rows are counted from 0.",
            )),
        }
    }

    /// The numbers of a weight column for these rows.
    pub fn weights(&self, name: &str, rows: &[usize]) -> Result<Vec<f64>> {
        self.check_rows(rows)?;
        let column = self.column(name)?.as_kind(Kind::Number, self)?;
        let weight = |&i: &usize| match column.number(i) {
            Some(weight) if weight >= 0.0 => Ok(weight),
            weight => {
                let problem = match weight {
                    Some(weight) => format!("{} is no weight: weights are at least zero", number_text(weight)),
                    None => "there is no weight".to_string(),
                };
                Err(Error::table(self.place(i, name), problem, "Give every row a weight: zero, or a number above."))
            }
        };
        rows.iter().map(weight).collect()
    }

    /// The group of each of these rows, numbered in the order in which groups appear.
    pub fn groups(&self, name: &str, rows: &[usize]) -> Result<Vec<u32>> {
        self.check_rows(rows)?;
        let column = self.column(name)?;
        let mut numbers = std::collections::HashMap::new();
        let group = |&i: &usize| {
            let label = column
                .text(i)
                .ok_or_else(|| Error::table(self.place(i, name), "there is no group", "Give every row a group."))?;
            let next = numbers.len() as u32;
            Ok(*numbers.entry(label).or_insert(next))
        };
        rows.iter().map(group).collect()
    }
}

impl Labelled {
    /// How many different numbers the target has, if they are as few as those of a target that is learnt as classes.
    fn few_numbers(&self) -> Option<usize> {
        let TargetView::Numbers(numbers) = self.target.view() else { return None };
        let values = (0..numbers.rows()).flat_map(|i| numbers.row(i)).copied().collect();
        few_different(values)
    }

    /// The same with the rows of the table that have no class.
    fn with_all_rows(self, table: &Table) -> Result<Labelled> {
        let TargetView::Classes { classes, codes } = self.target.view() else { return Ok(self) };
        let mut all = vec![Target::UNKNOWN; table.rows()];
        self.rows.iter().zip(codes).for_each(|(&row, &code)| all[row] = code);
        Ok(Labelled {
            table: table.without(&[&self.name]),
            target: Target::classes(classes.clone(), all)?,
            rows: (0..table.rows()).collect(),
            left_out: 0,
            name: self.name,
        })
    }

    /// An error unless table, target and row numbers speak of the same rows.
    pub(crate) fn check(&self) -> Result<()> {
        let (rows, targets, numbers) = (self.table.rows(), self.target.rows(), self.rows.len());
        if rows == targets && rows == numbers {
            return Ok(());
        }
        Err(Error::shape(
            format!("the table has {rows} rows, the target {targets}, and {numbers} are numbered"),
            "Give all three the same rows.",
        ))
    }

    /// The rows with these numbers, in this order.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn take(&self, rows: &[usize]) -> Labelled {
        Labelled {
            table: self.table.take(rows),
            target: self.target.take(rows),
            name: self.name.clone(),
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            left_out: 0,
        }
    }
}

/// Rows to learn from, with what else the user named: weights and groups are no features.
///
/// ```
/// use quince::Table;
/// let table = Table::from_csv("x,y,w\n1,a,2\n2,b,1\n3,?,1\n")?;
/// let training = table.supervised("y", None, Some("w"), None, false)?;
/// assert_eq!((training.labelled.rows, training.weights), (vec![0, 1], Some(vec![2.0, 1.0])));
/// # quince::Result::Ok(())
/// ```
#[derive(Clone, Debug)]
pub struct TrainingSet {
    /// Rows with a known target.
    pub labelled: Labelled,
    /// How much each row counts.
    pub weights: Option<Vec<f64>>,
    /// The group of each row.
    pub groups: Option<Vec<u32>>,
    /// What was decided for the user: rows left out, columns ignored, numbers learnt as classes.
    pub notes: Vec<String>,
}

/// A whole-number target with at most this many values is a class unless the user says otherwise.
const MAX_NUMBER_CLASSES: usize = 20;

impl Table {
    /// Splits off the column to be learnt. Rows without a target are left out.
    ///
    /// Unless `task` says, words and yes/no are classes, and so are whole numbers with at most 20 different values, of
    /// which each occurs twice on average; all other numbers are numbers.
    ///
    /// ```
    /// use quince::Table;
    /// use quince::learn::Task;
    /// let table = Table::from_csv("x,y\n1,a\n2,b\n3,?\n4,b\n")?;
    /// let labelled = table.labelled("y", None)?;
    /// assert_eq!((labelled.target.task(), labelled.table.rows(), labelled.left_out), (Task::Classification, 3, 1));
    /// # quince::Result::Ok(())
    /// ```
    pub fn labelled(&self, name: &str, task: Option<Task>) -> Result<Labelled> {
        let column = self.column(name)?;
        if column.why_ignored() == "as asked" {
            return Err(Error::data(
                format!("the target '{name}' is dropped"),
                "Keep the column, or learn another one.",
            ));
        }
        let place = || Place { file: self.source_name(), line: None, row: None, column: Some(name.into()) };
        let refuse = |problem: String, remedy: &str| Err(Error::table(place(), problem, remedy.to_string()));
        let has_label = |&i: &usize| !column.is_missing(i) && !column.is_blank(i);
        let rows: Vec<usize> = (0..self.rows()).filter(has_label).collect();
        if rows.is_empty() {
            return refuse("the target has no label in any row".into(), "Give at least some rows a label.");
        }
        let column = column.take(&rows);
        let target = match task.unwrap_or_else(|| column.natural_task()) {
            Task::Clustering => return refuse("a target is not for clustering".into(), "Leave the target out."),
            Task::Classification => {
                let labels: Vec<String> =
                    (0..rows.len()).map(|i| column.label(i).unwrap_or_default().into_owned()).collect();
                let classes = column.classes(&labels);
                if classes.count() < 2 {
                    let label = &classes.names()[0];
                    let remedy = "A classifier needs rows of at least two classes.";
                    return match self.rows() - rows.len() {
                        0 => refuse(format!("every row has the same label, '{label}'"), remedy),
                        without => refuse(
                            format!("every row has the same label, '{label}', or none ({without} rows)"),
                            &format!(
                                "{remedy} An empty cell, NA, N/A, NaN, null and ? are missing values: a label of that name must be \
                                 spelled differently, for example N.A."
                            ),
                        ),
                    };
                }
                if classes.count() > rows.len() / 2 && classes.count() > MAX_NUMBER_CLASSES {
                    return refuse(
                        format!("{} rows have {} different labels", rows.len(), classes.count()),
                        "A class needs several rows: choose another target, or the task regression for numbers.",
                    );
                }
                let code: std::collections::HashMap<&str, u32> =
                    classes.names().iter().enumerate().map(|(k, name)| (name.as_str(), k as u32)).collect();
                let codes = labels.iter().map(|label| code[label.as_str()]).collect();
                Target::classes(classes, codes)?
            }
            Task::Regression => {
                let column = self.column(name)?.as_kind(Kind::Number, self)?.take(&rows);
                let values: Vec<f64> = (0..rows.len()).filter_map(|i| column.number(i)).collect();
                if values.windows(2).all(|pair| pair[0] == pair[1]) {
                    return refuse("the target has the same value in every row".into(), "There is nothing to learn.");
                }
                Target::numbers(Matrix::column_vector(values))?
            }
        };
        let table = self.without(&[name]);
        let left_out = self.rows() - rows.len();
        let table = if left_out == 0 { table } else { table.take(&rows) };
        Ok(Labelled { table, target, name: name.to_string(), rows, left_out })
    }
}

impl Column {
    /// The cell in row `i` as a label: a number as it was written, where that is known, and in one way only.
    fn label(&self, i: usize) -> Option<std::borrow::Cow<'_, str>> {
        let ColumnData::Numbers { spellings, .. } = &self.data else { return self.text(i) };
        // Minus zero is the same label.
        let number = self.number(i)? + 0.0;
        let spelled = spellings.as_ref().and_then(|spellings| spellings.get(number));
        Some(spelled.map_or_else(|| number_text(number).into(), Into::into))
    }

    /// The classes of these labels of the column.
    fn classes(&self, labels: &[String]) -> Classes {
        let classes = Classes::of(labels.iter().map(String::as_str));
        let numbers = matches!(self.data, ColumnData::Numbers { .. } | ColumnData::YesNo { .. });
        let found = || numbers.then(|| LabelType::of_numbers(classes.names())).flatten();
        match self.label_type.or_else(found) {
            Some(found) => classes.with_label_type(found),
            None => classes,
        }
    }

    /// What a target of this column most likely asks for.
    fn natural_task(&self) -> Task {
        match self.kind() {
            Kind::Number => Task::Regression,
            Kind::Count => match few_different((0..self.rows()).filter_map(|i| self.number(i)).collect()) {
                Some(_) => Task::Classification,
                None => Task::Regression,
            },
            Kind::Ignored if (0..self.rows()).all(|i| self.text(i).is_none_or(|t| t.parse::<f64>().is_ok())) => {
                Task::Regression
            }
            _ => Task::Classification,
        }
    }
}

/// How many of these numbers are different, if few are, and each occurs twice on average.
fn few_different(mut numbers: Vec<f64>) -> Option<usize> {
    let all = numbers.len();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup();
    Some(numbers.len()).filter(|&different| different <= MAX_NUMBER_CLASSES && 2 * different <= all)
}
