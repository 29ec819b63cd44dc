//! The directives `<!-- registry: ... -->`: what the registries say, as Markdown, so that no page lists a method, a
//! setting, a metric or a kind by hand.

use quince::encode::{Encoder, MissingValues};
use quince::evaluate::{Metric, evaluate};
use quince::learn::{Capability, MethodInfo, Prediction, Setting, Target};
use quince::numbers::number_text;
use quince::registry::{METHODS, method};
use quince::{Kind, Matrix, Table};
use serde_json::Value;

/// The Markdown for a directive, or a sentence on what is wrong with it. `up` leads to the top of the guide.
pub(crate) fn markdown(directive: &str, up: &str) -> Result<String, String> {
    let words: Vec<&str> = directive.split_whitespace().collect();
    match words[..] {
        ["methods"] => Ok(methods(&format!("{up}methods/"))),
        ["info", name] => Ok(info(find(name)?)),
        ["settings", name] => settings(find(name)?),
        ["metrics"] => Ok(metrics()),
        ["kinds"] => kinds(),
        ["encoding"] => encoding(),
        ["python"] => Ok(python(&format!("{up}methods/"))),
        _ => Err(format!(
            "there is no directive 'registry: {directive}': use methods, info NAME, settings NAME, python, metrics, kinds or encoding."
        )),
    }
}

fn find(name: &str) -> Result<&'static MethodInfo, String> {
    method(name).map(|method| method.info).map_err(|error| format!("{error}. {}", error.remedy()))
}

/// All methods and what each can do; `folder` leads to their pages.
pub(crate) fn methods(folder: &str) -> String {
    let capabilities = shown_capabilities();
    let head: Vec<String> = capabilities.iter().map(|capability| capability.name().to_string()).collect();
    let mut table = table_head(&[&["method".to_string(), "what it does".into()], &head[..]].concat());
    for info in METHODS.iter().map(|method| method.info) {
        let marks = capabilities.iter().map(|&capability| if info.can(capability) { "yes" } else { "" }.to_string());
        let mut cells = vec![format!("[{}]({folder}{}.md)", info.title, info.name), cell(info.summary)];
        cells.extend(marks);
        table.push_str(&table_row(&cells));
    }
    table
}

/// Every capability that some method has: what it finds first, then the rest in the order in which methods name them.
fn shown_capabilities() -> Vec<Capability> {
    let mut capabilities = Vec::new();
    for capability in METHODS.iter().flat_map(|method| method.info.capabilities) {
        if !capabilities.contains(capability) {
            capabilities.push(*capability);
        }
    }
    let finds =
        [Capability::Classify, Capability::TwoClasses, Capability::Regress, Capability::Cluster, Capability::Novelty];
    capabilities.sort_by_key(|capability| finds.iter().position(|find| find == capability).unwrap_or(finds.len()));
    capabilities
}

fn info(info: &MethodInfo) -> String {
    let capabilities: Vec<&str> = info.capabilities.iter().map(|capability| capability.name()).collect();
    let python: Vec<String> = info.python.iter().map(|class| format!("`{class}`")).collect();
    let without_target = info.can(Capability::Cluster) || info.can(Capability::Novelty);
    let command = if without_target { "quince cluster --method" } else { "--model" };
    format!(
        "> {}\n>\n> On the command line: `{command} {}`. In Python: {}. It can do: {}.\n",
        info.summary,
        info.name,
        python.join(", "),
        capabilities.join(", ")
    )
}

/// The classes of the Python package and the methods they stand on.
fn python(folder: &str) -> String {
    let mut table = table_head(&["class", "stands on"].map(String::from));
    for info in METHODS.iter().map(|method| method.info) {
        for class in info.python {
            table.push_str(&table_row(&[format!("`{class}`"), format!("[{}]({folder}{}.md)", info.title, info.name)]));
        }
    }
    table
}

fn settings(info: &MethodInfo) -> Result<String, String> {
    let defaults = method(info.name).map_err(|error| error.to_string())?.defaults();
    let mut table = table_head(&["setting", "default", "values", "what it does"].map(String::from));
    for Setting { name, domain, help } in info.settings {
        let default = match &defaults[*name] {
            Value::String(text) if text.is_empty() => "empty".into(),
            Value::String(text) => format!("`{text}`"),
            Value::Number(number) => format!("`{}`", number_text(number.as_f64().unwrap_or(f64::NAN))),
            other => format!("`{other}`"),
        };
        table.push_str(&table_row(&[format!("`{name}`"), default, cell(&domain.to_string()), cell(help)]));
    }
    Ok(table)
}

/// Every metric, linked to the heading of its name on the same page, so that none stays unexplained.
fn metrics() -> String {
    let mut table = table_head(&["metric", "for `--by`", "target", "better is"].map(String::from));
    for metric in Metric::ALL {
        let anchor = crate::page::slug(metric.title());
        let target = if learns_classes(metric) { "classes" } else { "numbers" };
        let better = if metric.larger_is_better() { "larger" } else { "smaller" };
        table.push_str(&table_row(&[
            format!("[{}](#{anchor})", metric.title()),
            format!("`{}`", metric.name()),
            target.into(),
            better.into(),
        ]));
    }
    table
}

/// Whether the evaluation of a class prediction has this metric: found by making one.
fn learns_classes(metric: Metric) -> bool {
    let truth = Target::labels(&["a", "b"]);
    let half = Matrix::from_rows(&[[0.5, 0.5], [0.5, 0.5]]);
    let prediction = Prediction::Classes { scores: half.clone(), probabilities: half };
    evaluate(&truth, &prediction, None).is_ok_and(|evaluation| evaluation.metric(metric).is_some())
}

/// What a kind holds, and cells of a column that the rule finds to be of it.
fn example(kind: Kind) -> (&'static str, &'static [&'static str]) {
    match kind {
        Kind::Number => ("A measurement: any number.", &["1.5", "-2", "0.25", "1e3"]),
        Kind::Count => ("How many: whole numbers from zero up.", &["3", "0", "12", "3"]),
        Kind::YesNo => ("One of two answers.", &["yes", "no", "no", "yes"]),
        Kind::Category => ("One of a few words.", &["Oslo", "Rome", "Rome", "Oslo"]),
        Kind::Text => ("Words in a row.", &["a good film", "too long by half", "not for me", "a film to see twice"]),
        Kind::Vector => {
            ("Many numbers, most of them zero, each with its place: LIBSVM files.", &["3:1 17:0.5", "2:1", "17:2", ""])
        }
        Kind::Ignored => {
            ("Not used: row numbers, keys, constants, empty columns, or dropped by you.", &["x", "x", "x", "x"])
        }
    }
}

fn kinds() -> Result<String, String> {
    let mut table = table_head(&["kind", "what it holds", "for example"].map(String::from));
    for kind in Kind::ALL {
        let (what, cells) = example(kind);
        let found = Table::from_csv(&format!("column\n{}\n", cells.join("\n")))
            .and_then(|table| Ok(table.column("column")?.kind()));
        // The rule never finds a vector: a file or a user says so.
        if found != Ok(kind) && kind != Kind::Vector {
            return Err(format!("the example of the kind '{kind}' is read as {found:?}: mend it in the generator."));
        }
        let shown: Vec<String> = cells.iter().filter(|cell| !cell.is_empty()).map(|cell| format!("`{cell}`")).collect();
        table.push_str(&table_row(&[format!("`{kind}`"), what.into(), shown.join(" ")]));
    }
    Ok(table)
}

/// A small table and the features that the encoder makes of it.
const SMALL: &str = "height,smoker,city,remark\n\
    181,no,Oslo,very good\n\
    165,yes,Rome,good value\n\
    ,no,Rome,very late\n\
    174,,Oslo,\n";

fn encoding() -> Result<String, String> {
    let sentence = |error: quince::Error| error.to_string();
    let table = Table::from_csv(SMALL).map_err(sentence)?;
    let mut shown = table_head(
        &table.columns().iter().map(|column| format!("{} ({})", column.name(), column.kind())).collect::<Vec<_>>(),
    );
    for i in 0..table.rows() {
        let cells: Vec<String> =
            table.columns().iter().map(|column| column.text(i).map_or("?".into(), |text| cell(&text))).collect();
        shown.push_str(&table_row(&cells));
    }
    let encoder = Encoder::learn(&table, &quince::Run::new()).map_err(sentence)?;
    let rows = encoder.encode(&table, MissingValues::Imputed, &quince::Run::new()).map_err(sentence)?;
    let features = rows.features();
    let names: Vec<String> = encoder.feature_names().collect();
    let heads: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    shown.push_str("\nbecomes\n\n");
    shown.push_str(&table_head(&heads));
    for i in 0..features.rows() {
        let mut values = vec![0.0; names.len()];
        if let Some(dense) = features.dense_part() {
            (0..dense.columns()).for_each(|j| values[j] = dense.get(i, j));
        }
        if let Some(sparse) = features.sparse_part() {
            let (columns, stored) = sparse.row(i);
            for (j, value) in columns.iter().zip(stored) {
                values[features.dense_columns() + *j as usize] = *value;
            }
        }
        let cells: Vec<String> = values.into_iter().map(rounded).collect();
        shown.push_str(&table_row(&cells));
    }
    Ok(shown)
}

/// A number with two decimals at most.
fn rounded(value: f64) -> String {
    number_text((value * 100.0).round() / 100.0 + 0.0).replace('-', "\u{2212}")
}

fn table_head(cells: &[String]) -> String {
    table_row(cells) + &table_row(&vec!["---".to_string(); cells.len()])
}

fn table_row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// Text that may stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
