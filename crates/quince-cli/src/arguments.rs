//! The command line, described once.

use clap::{Args, Parser, Subcommand};
use quince::Kind;
use quince::learn::Task;
use quince::table::{Format, Pictures};
use std::path::PathBuf;
use std::time::Duration;

/// Classical machine learning for real tables: numbers, counts, categories, texts and missing values.
#[derive(Parser)]
#[command(name = "quince", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(after_help = "Start with:  quince compare TABLE --target COLUMN\n\
    Then:        quince train TABLE --target COLUMN --model METHOD --output FILE\n\
    And:         quince predict FILE OTHER_TABLE\n\n\
    Data goes to standard output, messages and progress to standard error.\n\
    Exit codes: 0 done, 1 data or settings are wrong, 2 the command line is wrong, 130 interrupted.")]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Args)]
pub struct Common {
    /// The seed: everything random follows from this number
    #[arg(long, global = true, default_value_t = 0, allow_negative_numbers = true, value_parser = parse_whole::<u64>, value_name = "NUMBER", help_heading = "Everywhere")]
    pub seed: u64,
    /// How many threads may work (0: all); results do not depend on it
    #[arg(long, global = true, default_value_t = 0, allow_negative_numbers = true, value_parser = parse_whole::<usize>, value_name = "NUMBER", help_heading = "Everywhere")]
    pub threads: usize,
    /// Stop after this time and keep the best answer so far, for example 500ms, 30s, 5m, 1h
    #[arg(long, global = true, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME", help_heading = "Everywhere")]
    pub budget: Option<Duration>,
    /// Print JSON instead of tables
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Say nothing but errors on standard error
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Cross-validate every method on a table and show a leaderboard
    Compare(Compare),
    /// Train one method and save the model
    Train(Train),
    /// Show how a method gets better with more rows (learning curve), or with a setting (validation curve)
    Curve(Curve),
    /// Predict for the rows of a table with a saved model
    Predict(Predict),
    /// Measure a saved model on a table whose target is known
    Evaluate(Evaluate),
    /// Show what a saved model has learnt, or the evidence for its prediction of a row
    Explain(Explain),
    /// Sample rows from a saved generative model
    Sample(Sample),
    /// Find clusters of similar rows, or novel rows that are unlike the others
    Cluster(Cluster),
    /// Impute the missing values of a table from the rest of their row
    Impute(Impute),
    /// Show the kinds, missing values and statistics of a table's columns
    Describe(Describe),
    /// List the methods, or show one and its settings
    Models(Models),
}

/// A table, and how it is read.
#[derive(Args)]
pub struct TableOptions {
    /// The table: CSV, TSV, JSON lines, ARFF, LIBSVM, Parquet or Arrow, also .gz, or - for standard input; or a folder of texts
    /// or pictures with one sub-folder per class
    #[arg(value_name = "TABLE")]
    pub table: PathBuf,
    #[command(flatten)]
    pub how: ReadingOptions,
}

/// How a table is read.
#[derive(Args, Clone)]
pub struct ReadingOptions {
    /// The character between cells (found if not given); \t is a tab
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter, help_heading = "Reading")]
    pub delimiter: Option<u8>,
    /// The first line is data; columns are called column1, column2 ...
    #[arg(long, help_heading = "Reading")]
    pub no_header: bool,
    /// The format of the file (found if not given): csv, jsonl, arff, libsvm, parquet or arrow
    #[arg(long, value_name = "NAME", value_parser = parse_format, help_heading = "Reading")]
    pub format: Option<Format>,
    /// Pictures: scale each to this many pixels (16x16, or as the model has learnt them, if not given)
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = parse_grid, help_heading = "Reading")]
    pub pixels: Option<(usize, usize)>,
    /// Pictures: pixels at least this bright (0 to 1) become 1, all others 0
    #[arg(long, value_name = "BRIGHTNESS", num_args = 0..=1, default_missing_value = "0.5", help_heading = "Reading")]
    pub binarise: Option<f64>,
    /// Pictures: every patch of this size is a row of its own, with all bands (such as red, green and blue)
    #[arg(long, value_name = "ROWSxCOLUMNS", value_parser = parse_grid, help_heading = "Reading")]
    pub patches: Option<(usize, usize)>,
}

impl ReadingOptions {
    /// How pictures become numbers, where the user says something about it; what is left open is as usual.
    pub fn pictures(&self, usual: Pictures) -> Option<Pictures> {
        let said = self.pixels.is_some() || self.binarise.is_some() || self.patches.is_some();
        said.then(|| Pictures {
            pixels: self.pixels.unwrap_or(usual.pixels),
            binarise: self.binarise.or(usual.binarise),
            patches: self.patches.or(usual.patches),
        })
    }
}

/// What the columns of a table are.
#[derive(Args)]
pub struct KindOptions {
    /// Give a column another kind: number, count, yes/no, category, text, vector or ignored (may be repeated)
    #[arg(long, value_name = "COLUMN=KIND", value_parser = parse_kind, help_heading = "Reading")]
    pub kind: Vec<(String, Kind)>,
    /// Ignore a column (may be repeated)
    #[arg(long, value_name = "COLUMN", help_heading = "Reading")]
    pub drop: Vec<String>,
    /// How a column becomes features, for example age=log,fill=median or size=order=small:medium:large; * is every column
    /// that can (may be repeated)
    #[arg(long, value_name = "COLUMN=SETTING,...", value_parser = parse_encoding, help_heading = "Features")]
    pub encode: Vec<(String, String)>,
    /// A column is text, and how its words are counted, for example subject=counts,stem=english,stop=english,select=2000;
    /// * is every column of texts (may be repeated)
    #[arg(long, value_name = "COLUMN=SETTING,...", value_parser = parse_text, help_heading = "Features")]
    pub text: Vec<(String, String)>,
    /// Polynomial features: also products of up to this many columns of numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(1..=10), help_heading = "Features")]
    pub degree: u8,
}

/// What is learnt.
#[derive(Args)]
pub struct TargetOptions {
    /// The column to learn to predict
    #[arg(long, short, value_name = "COLUMN")]
    pub target: String,
    /// What the target is: classification for classes, regression for numbers (found from its kind if not given)
    #[arg(long, value_name = "TASK", value_parser = parse_task)]
    pub task: Option<Task>,
    /// A column that says how much each row counts; it is not learnt from
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
}

#[derive(Args)]
pub struct Compare {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    /// The methods to compare (all that can learn the target if not given); `quince models` lists them
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,...")]
    pub models: Vec<String>,
    /// How columns are distributed, for naive-bayes and mixture: age=normal,visits=poisson, height+weight=gaussian for several together,
    /// or just normal for all columns that can have it (may be repeated; found from the columns if not given)
    #[arg(long, value_name = "COLUMN=FAMILY,...")]
    pub family: Vec<String>,
    /// A setting of a method, for example ridge.alpha=0.1 (may be repeated); `quince models ridge` shows its settings
    #[arg(long, value_name = "METHOD.SETTING=VALUE")]
    pub set: Vec<String>,
    /// Number of folds, or loo for leave-one-out
    #[arg(long, default_value = "10", allow_negative_numbers = true, value_name = "NUMBER")]
    pub folds: String,
    /// Instead of folds, hold this share of the rows out and test on it once, for example 0.3
    #[arg(long, allow_negative_numbers = true, value_name = "SHARE", conflicts_with_all = ["folds", "group"])]
    pub hold_out: Option<f64>,
    /// A column of groups that are never split, such as a person or a place; it is not learnt from
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// The metric to rank by: log-loss (if not given), accuracy, f1 or area for classes; rmse (if not given) or r2 for numbers
    #[arg(long, value_name = "METRIC")]
    pub by: Option<String>,
}

#[derive(Args)]
pub struct Train {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    /// The method, which must be given but with --resume; `quince models` lists them, and `quince compare` ranks them on a table
    #[arg(long, alias = "method", short, value_name = "NAME", required_unless_present = "resume")]
    pub model: Option<String>,
    /// Go on from a model that was trained on the same table, with its method and settings, where a budget has cut it short
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["model", "drop", "encode", "text", "degree"])]
    pub resume: Option<PathBuf>,
    /// How columns are distributed, for naive-bayes and mixture: age=normal,visits=poisson, height+weight=gaussian for several together,
    /// or just normal for all columns that can have it (may be repeated; found from the columns if not given)
    #[arg(long, value_name = "COLUMN=FAMILY,...")]
    pub family: Vec<String>,
    /// A setting of the method, for example alpha=0.1 (may be repeated); `quince models NAME` shows them
    #[arg(long, value_name = "SETTING=VALUE")]
    pub set: Vec<String>,
    /// Where to save the model
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Also measure the method by exact leave-one-out: every row predicted by a model of all others (for methods that can; how columns are
    /// encoded is learnt once, from all rows)
    #[arg(long)]
    pub loo: bool,
}

#[derive(Args)]
#[command(after_help = "Without --vary, a learning curve: from 2 % of the rows to all.\n\
    With --vary alpha=0.1,1,10, a validation curve over a setting of the method,\n\
    with --vary review:words=100,1000,10000 over one of how a column is encoded,\n\
    and with --vary degree=1,2,3 over the products of numbers.")]
pub struct Curve {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    /// The method; `quince models` lists them
    #[arg(long, alias = "method", short, value_name = "NAME")]
    pub model: String,
    /// How columns are distributed, for naive-bayes and mixture: age=normal,visits=poisson, height+weight=gaussian for several together,
    /// or just normal for all columns that can have it (may be repeated; found from the columns if not given)
    #[arg(long, value_name = "COLUMN=FAMILY,...")]
    pub family: Vec<String>,
    /// A setting of the method, for example alpha=0.1 (may be repeated); `quince models NAME` shows them
    #[arg(long, value_name = "SETTING=VALUE")]
    pub set: Vec<String>,
    /// A setting and the values it takes
    #[arg(long, value_name = "SETTING=VALUE,...")]
    pub vary: Option<String>,
    /// Number of folds
    #[arg(long, default_value = "5", allow_negative_numbers = true, value_name = "NUMBER")]
    pub folds: String,
    /// A column of groups that are never split, such as a person or a place; it is not learnt from
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// What is measured: log-loss (if not given), accuracy, f1 or area for classes; rmse (if not given) or r2 for numbers
    #[arg(long, value_name = "METRIC")]
    pub by: Option<String>,
}

#[derive(Args)]
pub struct Predict {
    /// The saved model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableOptions,
    /// Write the table here instead of to standard output, which is also -
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Leave out the columns of probabilities
    #[arg(long)]
    pub no_probabilities: bool,
}

#[derive(Args)]
pub struct Evaluate {
    /// The saved model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    #[command(flatten)]
    pub table: TableOptions,
    /// A column that says how much each row counts
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Also give the points of each class's ROC curve
    #[arg(long)]
    pub roc: bool,
}

#[derive(Args)]
pub struct Explain {
    /// The saved model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// A table, one row of which is to be explained
    #[arg(value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// The row, counted from 1
    #[arg(long, allow_negative_numbers = true, value_name = "NUMBER", value_parser = parse_row)]
    pub row: Option<usize>,
    #[command(flatten)]
    pub how: ReadingOptions,
}

fn parse_whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "give a whole number of at least zero".into())
}

fn parse_row(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&row| row >= 1).ok_or_else(|| "rows are counted from 1".into())
}

#[derive(Args)]
pub struct Sample {
    /// The saved model
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,
    /// How many rows
    #[arg(long, short = 'n', default_value_t = 10, allow_negative_numbers = true, value_parser = parse_whole::<usize>, value_name = "NUMBER")]
    pub rows: usize,
    /// Only rows of this class, or of the component with this number
    #[arg(long, value_name = "NAME")]
    pub class: Option<String>,
    /// Write the rows here instead of to standard output, which is also -
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    after_help = "Clusters are numbered from 1, the largest first. A saved model finds the cluster of new rows:\n  \
    quince cluster TABLE -k 3 --save m.quince\n  quince predict m.quince NEW"
)]
pub struct Cluster {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    /// The method
    #[arg(long, alias = "model", short, default_value = "kmeans", value_name = "NAME")]
    pub method: String,
    /// How many clusters, or auto (the default)
    #[arg(short, long = "clusters", value_name = "NUMBER", allow_negative_numbers = true)]
    pub k: Option<String>,
    /// How columns are distributed, for mixture: age=normal,visits=poisson, height+weight=gaussian for several together, or just normal for
    /// all columns that can have it (may be repeated)
    #[arg(long, value_name = "COLUMN=FAMILY,...")]
    pub family: Vec<String>,
    /// There is no target; whoever asks for one is told so
    #[arg(long, short, hide = true, value_name = "COLUMN")]
    pub target: Option<String>,
    /// A setting of the method, for example restarts=20 (may be repeated); `quince models NAME` shows them
    #[arg(long, value_name = "SETTING=VALUE")]
    pub set: Vec<String>,
    /// A column that names the rows; it is not clustered by (row numbers if not given)
    #[arg(long, value_name = "COLUMN")]
    pub key: Option<String>,
    /// A column that says how much each row counts; it is not clustered by
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Write the cluster of each row here as CSV; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Save the model here, to find the clusters of new rows with `quince predict`
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    after_help = "A mixture is learnt from the table itself, missing values and all, unless --model gives one. Numbers are filled\n\
    with their mean given the rest of the row, categories with the most probable one; --filled lists how sure each is."
)]
pub struct Impute {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    /// A saved generative model: mixture, naive-bayes or gaussian
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["k", "family", "set", "weight"])]
    pub model: Option<PathBuf>,
    /// How many components the mixture has, or auto (the default)
    #[arg(short, long = "components", value_name = "NUMBER", allow_negative_numbers = true)]
    pub k: Option<String>,
    /// How columns are distributed: age=normal,visits=poisson, height+weight=gaussian for several together, or just normal for all columns
    /// that can have it (may be repeated)
    #[arg(long, value_name = "COLUMN=FAMILY,...")]
    pub family: Vec<String>,
    /// A setting of the mixture, for example covariance=diagonal (may be repeated); `quince models mixture` shows them
    #[arg(long, value_name = "SETTING=VALUE")]
    pub set: Vec<String>,
    /// A column that says how much each row counts; it is not learnt from
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// List every filled value here as CSV: its row and column, the value, its standard deviation or probability
    #[arg(long, value_name = "FILE")]
    pub filled: Option<PathBuf>,
    /// Write the table here instead of to standard output, which is also -
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Describe {
    #[command(flatten)]
    pub table: TableOptions,
    #[command(flatten)]
    pub kinds: KindOptions,
    /// A column of classes: shows the words that are typical of each class
    #[arg(long, short, value_name = "COLUMN")]
    pub target: Option<String>,
}

#[derive(Args)]
pub struct Models {
    /// The method to show
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::from_name(text).map_err(|error| format!("{error}. {}", error.remedy()))
}

/// Rows and columns; the library says which are too many.
fn parse_grid(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| text.trim().parse::<usize>().ok();
    let sides = text.split_once('x').and_then(|(rows, columns)| Some((side(rows)?, side(columns)?)));
    sides.ok_or_else(|| format!("'{text}' is no grid: write rows x columns, from 1x1 to 100x100, for example 16x16"))
}

fn parse_encoding(text: &str) -> Result<(String, String), String> {
    let (name, settings) = text.split_once('=').ok_or("write COLUMN=SETTING, for example age=log")?;
    Ok((name.to_string(), settings.to_string()))
}

/// As above, but the settings may be left out.
fn parse_text(text: &str) -> Result<(String, String), String> {
    let (name, settings) = text.split_once('=').unwrap_or((text, ""));
    Ok((name.to_string(), settings.to_string()))
}

fn parse_kind(text: &str) -> Result<(String, Kind), String> {
    let (name, kind) = text.rsplit_once('=').ok_or("write COLUMN=KIND, for example age=category")?;
    let kind = Kind::from_name(kind).map_err(|error| format!("{error}. {}", error.remedy()))?;
    Ok((name.to_string(), kind))
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" | b"tab" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("give one character such as , ; | or \\t".into()),
    }
}

fn parse_task(text: &str) -> Result<Task, String> {
    match text {
        "classification" | "classes" => Ok(Task::Classification),
        "regression" | "numbers" => Ok(Task::Regression),
        _ => Err("give classification or regression".into()),
    }
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().map_err(|_| "give a time such as 500ms, 30s, 5m or 1h")?;
    let unit = match &text[digits.len()..] {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        other => return Err(format!("'{other}' is no unit of time: give ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| "give a time of zero or more, and not for ever".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("7"), Ok(Duration::from_secs(7)));
        assert!(
            parse_duration("soon").is_err() && parse_duration("-1s").is_err() && parse_duration("3 weeks").is_err()
        );
    }
}
