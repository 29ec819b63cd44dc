//! Text tables as people write them.

use super::*;
use crate::Kind;
use crate::table::ReadOptions;
use proptest::prelude::*;

fn rows(text: &str) -> Vec<Vec<String>> {
    let (options, run) = (ReadOptions::default(), Run::new());
    let mut cells = Cells::parse(text.as_bytes().to_vec(), "t", &options, &run).unwrap();
    let table = cells.table(&options, &run).unwrap();
    let mut rows = Vec::new();
    cells.each_row(&table, |row| rows.push(row.iter().map(|cell| cell.to_string()).collect())).unwrap();
    assert_eq!(rows.len(), table.rows());
    rows
}

fn refusal(bytes: &[u8]) -> String {
    Cells::parse(bytes.to_vec(), "t.csv", &ReadOptions::default(), &Run::new()).unwrap_err().to_string()
}

#[test]
fn delimiters_are_found() {
    for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "a|b\n1|2\n"] {
        assert_eq!(rows(text), [["1", "2"]], "{text}");
    }
    assert_eq!(rows("a;b\n1,5;2,5\n3,5;4\n"), [["1,5", "2,5"], ["3,5", "4"]]);
    assert_eq!(rows("word\nhello\n"), [["hello"]]);
}

#[test]
fn a_delimiter_that_could_stand_inside_a_cell_is_refused() {
    let read = |delimiter: u8| {
        let options = ReadOptions { delimiter: Some(delimiter), ..ReadOptions::default() };
        Cells::parse("é b\n-1 2.5\n".as_bytes().to_vec(), "t.csv", &options, &Run::new())
    };
    // 0xc3 is the first half of é.
    for delimiter in [0xc3, b'-', b'.', b'+', b'2', b'e', b'"', b'\n', b'\r'] {
        assert_eq!(read(delimiter).unwrap_err().code(), "setting", "{delimiter}");
    }
    assert_eq!(read(b' ').unwrap().names(), ["é", "b"]);
}

#[test]
fn quotes_line_ends_marks_and_blank_lines_are_read() {
    assert_eq!(rows("\u{feff}a,b\r\n\"x, \"\"y\"\"\n z\" , 2\r\n\r\n3,4"), [["x, \"y\"\n z", " 2"], ["3", "4"]]);
    assert_eq!(rows("a,b\r1,2\r"), [["1", "2"]]);
    assert_eq!(rows("a,b\n\"\",5\" pipe\n"), [["", "5\" pipe"]]);
    assert_eq!(rows("a\tb\n\"Hi\" she said\t1\n\"all of it\"\t2\n"), [["\"Hi\" she said", "1"], ["all of it", "2"]]);
}

#[test]
fn a_comma_is_a_decimal_point_where_it_does_not_separate_cells() {
    let table = |text: &str| crate::Table::from_csv(text).unwrap();
    let european = table("x;name\n1,5;a, b\n-2;c\n3,25;d, e\n");
    assert_eq!(european.column("x").unwrap().number(2), Some(3.25));
    assert_eq!(european.column("name").unwrap().text(0).unwrap(), "a, b");
    // In a file of commas it is no number: 1,234 could be either.
    assert_ne!(table("x,y\n\"1,5\",1\n\"2,5\",2\n").column("x").unwrap().kind(), Kind::Number);
}

#[test]
fn a_blank_line_of_a_single_column_is_a_missing_value_unless_it_is_the_end() {
    assert_eq!(rows("x\n1\n\n3\n\"\"\n5\n\n\n"), [["1"], [""], ["3"], [""], ["5"]]);
}

#[test]
fn lines_are_counted_through_quoted_breaks() {
    let cells = Cells::parse(b"a,b\n\"1\n2\",3\n4,5\n".to_vec(), "t", &ReadOptions::default(), &Run::new()).unwrap();
    assert_eq!((cells.line(0), cells.line(1)), (Some(2), Some(4)));
}

#[test]
fn what_is_no_table_is_refused_with_its_place() {
    assert_eq!(refusal(b""), "t.csv: the file is empty");
    assert_eq!(refusal(b"a,b\n"), "t.csv: there is a header but no row below it");
    assert_eq!(refusal(b"a,b\n1,2\n3\n"), "t.csv, line 3: 1 cell where the header has 2");
    assert_eq!(refusal(b"a,b\n1,\"2\n3,4\n"), "t.csv, line 2: a quote is opened here and never closed");
    assert_eq!(refusal(b"a,a\n1,2\n"), "t.csv, line 1: columns 1 and 2 are both called 'a'");
    assert_eq!(refusal(b"a,b\n1,\xe9\n"), "t.csv, line 2: byte 0xe9 at position 3 is not UTF-8");
    assert_eq!(refusal(b"\x89PNG\0\0"), "t.csv: this is a binary file, not a text table");
}

#[test]
fn a_column_that_turns_into_words_far_down_is_read_as_words_from_the_start() {
    // Some megabytes, so that there are several chunks; the last row alone has a word in it.
    let mut text = String::from("n,x,w\n");
    (0..300_000).for_each(|i| text += &format!("{:03},{}.5,a{}\n", i % 7, i, i % 5));
    text += "oops,1.5,a1\n";
    let table = crate::Table::from_csv(&text).unwrap();
    let kinds: Vec<Kind> = table.columns().iter().map(|column| column.kind()).collect();
    assert_eq!(kinds, [Kind::Category, Kind::Number, Kind::Category]);
    assert_eq!(table.columns()[0].text(1).unwrap(), "001");
    assert_eq!(table.columns()[0].text(300_000).unwrap(), "oops");
    assert_eq!((0..300_000).filter(|&i| table.columns()[1].number(i) != Some(i as f64 + 0.5)).count(), 0);
}

#[test]
fn a_wrong_line_far_down_is_named() {
    let mut text = String::from("a,b\r\n");
    (0..400_000).for_each(|i| text += &format!("{i},{}\r\n", i % 3));
    let message = refusal((text.clone() + "7\r\n").as_bytes());
    assert_eq!(message, "t.csv, line 400002: 1 cell where the header has 2");
    let quoted = text + "\"1\r\n2\",3\r\n4,5,6\r\n";
    assert_eq!(refusal(quoted.as_bytes()), "t.csv, line 400004: 3 cells where the header has 2");
}

proptest! {
    /// Cells as they may be, written by the book, come back as they were, wherever the chunks are cut.
    #[test]
    fn what_is_written_is_what_is_read(
        cells in prop::collection::vec(prop::collection::vec("[ab1.\", \n\r;?é-]{0,6}", 3), 1..20),
        delimiter in prop::sample::select(vec![',', ';', '|']),
    ) {
        let quote = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let line = |row: &Vec<String>| row.iter().map(quote).collect::<Vec<_>>().join(&delimiter.to_string());
        let text = format!("x{delimiter}y{delimiter}z\n{}\n", cells.iter().map(line).collect::<Vec<_>>().join("\n"));
        prop_assert_eq!(rows(&text), cells);
    }

    /// Numbers are what the standard library reads.
    #[test]
    fn numbers_are_read_to_the_last_bit(numbers in prop::collection::vec(prop::num::f64::NORMAL, 2..40)) {
        let text: String = numbers.iter().enumerate().map(|(i, x)| format!("{x:e},{x},{i}.25\n")).collect();
        let table = crate::Table::from_csv(&format!("a,b,c\n{text}")).unwrap();
        for (i, x) in numbers.iter().enumerate() {
            if table.columns()[0].kind() == Kind::Number {
                prop_assert_eq!(table.columns()[0].number(i), Some(*x));
                prop_assert_eq!(table.columns()[1].number(i), Some(*x));
            }
        }
    }
}
