//! LIBSVM files: a label and `place:number` pairs per line, places rising. They stay sparse.
//!
//! ```text
//! +1 3:1 17:0.5   # what follows a number sign is a remark
//! -1 qid:7 2:1
//! ```
//!
//! The table has a column `label`, a vector column `features`, and a column `qid` if the file has one. Whole labels are
//! categories while there are few of them; labels that are no numbers are words.

use super::cells::{Cells, Raw};
use super::kind::{self, Kind};
use super::spellings::Spellings;
use super::{Column, vector};
use crate::error::{Error, Place, Result};
use crate::learn::LabelType;
use crate::numbers::number_text;
use crate::run::Run;
use arrow_array::LargeStringArray;

/// The largest number of different whole numbers that are taken for classes.
const MAX_CLASSES: usize = 100;

/// One line: its label, its group, its pairs.
struct Line {
    number: u64,
    label: String,
    group: Option<String>,
    pairs: Vec<(u32, f64)>,
}

/// Whether a text looks like LIBSVM: its first lines are a label and pairs, and at least one has a pair.
pub(super) fn looks_like(text: &str) -> bool {
    let mut pairs = 0;
    let lines = text.lines().map(without_remark).filter(|line| !line.is_empty());
    for line in lines.take(5) {
        let mut words = line.split_ascii_whitespace();
        let label = words.next().is_some_and(|label| label.parse::<f64>().is_ok());
        let rest: Vec<&str> = words.collect();
        let pair = |word: &&str| {
            word.split_once(':').is_some_and(|(place, x)| {
                (place == "qid" || place.bytes().all(|byte| byte.is_ascii_digit())) && x.parse::<f64>().is_ok()
            })
        };
        if !label || !rest.iter().all(pair) {
            return false;
        }
        pairs += rest.len();
    }
    pairs > 0
}

pub(super) fn parse(text: &str, source: &str, run: &Run) -> Result<Cells> {
    let lines: Vec<(u64, &str)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| (number, without_remark(line)))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if lines.is_empty() {
        let place = Place { file: Some(source.into()), ..Place::default() };
        return Err(Error::table(place, "the file is empty", "Give lines such as: +1 3:1 17:0.5"));
    }
    let mut parsed = Vec::with_capacity(lines.len());
    for some in lines.chunks(1 << 18) {
        let parts: Vec<&[(u64, &str)]> = some.chunks(4096).collect();
        let found = run.map(parts.len(), |part| {
            parts[part].iter().map(|&(number, line)| parse_line(number, line, source)).collect::<Result<Vec<Line>>>()
        });
        for found in found {
            parsed.extend(found?);
        }
        run.check_cancelled()?;
    }
    let numbers: Vec<u64> = parsed.iter().map(|line| line.number).collect();
    let mut names = vec!["label".to_string()];
    let mut columns = vec![labels(&parsed)];
    if parsed.iter().any(|line| line.group.is_some()) {
        names.push("qid".into());
        let groups: LargeStringArray = parsed.iter().map(|line| line.group.as_deref()).collect();
        columns.push(Raw::Words(groups));
    }
    names.push("features".into());
    let data = vector::data(parsed.into_iter().map(|line| line.pairs).collect());
    columns.push(Raw::Typed(Column {
        name: "features".into(),
        kind: Kind::Vector,
        data,
        why: String::new(),
        label_type: None,
    }));
    Ok(Cells { source: source.into(), names, columns, rows: numbers.len(), lines: numbers, ..Cells::default() })
}

fn without_remark(line: &str) -> &str {
    line.split('#').next().unwrap_or("").trim()
}

fn parse_line(number: u64, line: &str, source: &str) -> Result<Line> {
    let refuse = |problem: String| {
        let place = Place { file: Some(source.into()), line: Some(number), ..Place::default() };
        Err(Error::table(place, problem, "A line is a label and pairs with rising places: +1 3:1 17:0.5".to_string()))
    };
    let (label, rest) = line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, ""));
    if label.contains(':') {
        return refuse(format!("the line begins with '{label}', which is no label"));
    }
    let rest = rest.trim_start();
    let (group, rest) = match rest.strip_prefix("qid:") {
        Some(behind) => {
            let (group, rest) = behind.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((behind, ""));
            (Some(group.to_string()), rest)
        }
        None => (None, rest),
    };
    match vector::pairs(rest) {
        Ok(pairs) => Ok(Line { number, label: label.to_string(), group, pairs }),
        Err(problem) => refuse(problem),
    }
}

fn labels(lines: &[Line]) -> Raw {
    let parsed: Option<Vec<f64>> = lines
        .iter()
        .map(|line| if kind::is_missing(&line.label) { Some(f64::NAN) } else { line.label.parse().ok() })
        .collect();
    let Some(numbers) = parsed else {
        return Raw::Words(lines.iter().map(|line| (!kind::is_missing(&line.label)).then_some(&line.label)).collect());
    };
    let whole = numbers.iter().all(|x| x.is_nan() || x.fract() == 0.0);
    let mut distinct: Vec<u64> = numbers.iter().filter(|x| !x.is_nan()).map(|x| x.to_bits()).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if !whole || distinct.len() > MAX_CLASSES || 2 * distinct.len() > numbers.len() {
        return Raw::Numbers(numbers);
    }
    let spellings = Spellings::of_cells(&numbers, |row| &lines[row].label);
    let spelled = |x: f64| spellings.as_ref().and_then(|spellings| spellings.get(x)).map(str::to_string);
    let word = |&x: &f64| (!x.is_nan()).then(|| spelled(x).unwrap_or_else(|| number_text(x + 0.0)));
    let words: Vec<Option<String>> = numbers.iter().map(word).collect();
    let label_type = LabelType::of_numbers(words.iter().flatten());
    let data = kind::categories(&words.into_iter().collect());
    Raw::Typed(Column { name: "label".to_string(), kind: Kind::Category, data, why: String::new(), label_type })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;

    fn read(text: &str) -> Result<crate::Table> {
        parse(text, "f.libsvm", &Run::new())?.table(&ReadOptions::default(), &Run::new())
    }

    #[test]
    fn labels_and_places_are_read_and_stay_sparse() {
        let table = read("+1 3:1 17:0.5 # first\n\n-1 2:1e2\n+1\n-1 70000:3\n").unwrap();
        assert_eq!([0, 1].map(|i| table.column("label").unwrap().text(i).unwrap().into_owned()), ["+1", "-1"]);
        assert_eq!(table.column("label").unwrap().kind(), Kind::Category);
        let rows = table.column("features").unwrap().vectors().unwrap();
        assert_eq!((rows.rows(), rows.columns(), rows.stored()), (4, 70_001, 4));
        assert_eq!(rows.row(0), (&[3, 17][..], &[1.0, 0.5][..]));
        assert_eq!(table.column("features").unwrap().text(0).unwrap(), "3:1 17:0.5");
        let ranked = read("1.5 qid:3 1:2\n0.25 qid:3 1:1\n").unwrap();
        assert_eq!(ranked.column("label").unwrap().number(0), Some(1.5));
        assert_eq!(ranked.column("qid").unwrap().text(1).unwrap(), "3");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(problem("1 1:1\n1 5:1 3:1\n"), "f.libsvm, line 2: place 3 stands behind place 5");
        assert_eq!(problem("1 3:1 3:2\n"), "f.libsvm, line 1: place 3 stands behind place 3");
        assert_eq!(problem("1 x:1\n"), "f.libsvm, line 1: 'x' is no place: it must be a whole number");
        assert_eq!(
            problem("1 4294967295:1\n"),
            "f.libsvm, line 1: '4294967295' is no place: it must be a whole number"
        );
        assert_eq!(problem("1 3:inf\n"), "f.libsvm, line 1: '3:inf' has no finite number behind its colon");
        assert_eq!(problem("1 3\n"), "f.libsvm, line 1: '3' has no colon");
        assert_eq!(problem("3:1 4:1\n"), "f.libsvm, line 1: the line begins with '3:1', which is no label");
        assert_eq!(problem("# nothing\n"), "f.libsvm: the file is empty");
    }

    #[test]
    fn a_csv_file_does_not_look_like_it() {
        assert!(looks_like("+1 3:1\n-1 2:5\n") && looks_like("# r\n1 qid:2 1:1\n"));
        assert!(!looks_like("time,12:30\n1,2\n") && !looks_like("1\n2\n3\n") && !looks_like("1 2 3\n"));
    }
}
