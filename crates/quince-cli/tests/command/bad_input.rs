//! Every kind of bad input gets a sentence with its place and a remedy, exit code 1, and touches no file.

use crate::Bench;

/// Runs compare and train on a table: both must refuse it with the same sentence, and leave everything as it was.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, options: &str, sentence: &str, remedy: &str) {
    let bench = Bench::new(&format!("bad_{name}"));
    bench.file("table.csv", content).file("old.quince", "the old model");
    let before = bench.names();
    for line in [
        format!("compare table.csv {options}"),
        format!("train table.csv --model ridge -o old.quince {options}"),
        format!("train table.csv --model ridge -o new.quince {options}"),
    ] {
        let answer = bench.run(&line);
        assert_eq!(answer.code, Some(1), "{line}\n{}{}", answer.out, answer.err);
        assert_eq!(answer.out, "", "nothing goes to standard output");
        assert!(answer.err.contains(&format!("error: {sentence}")), "{line}: {}", answer.err);
        assert!(answer.err.contains("\n  help: ") && answer.err.contains(remedy), "{line}: {}", answer.err);
    }
    assert_eq!(bench.names(), before);
    assert_eq!(bench.read("old.quince"), b"the old model");
}

const GOOD: &str = "x,z,y\n1,2,a\n2,1,b\n3,5,a\n4,0,b\n";

#[test]
fn ragged_rows() {
    let table = "x,y\n1,a\n2\n3,b\n";
    refused("ragged", table, "-t y", "table.csv, line 3: 1 cell where the header has 2", "as many as the header");
    let longer = "x,y\n1,a\n2,b,c\n";
    refused("longer", longer, "-t y", "table.csv, line 3: 3 cells where the header has 2", "quotes");
}

#[test]
fn a_target_that_is_not_there_names_the_nearest() {
    refused(
        "target",
        "sepal,species\n1,a\n2,b\n",
        "-t specis",
        "table.csv: there is no column called 'specis'",
        "Did you mean 'species'?",
    );
}

#[test]
fn one_class_only() {
    let table = "x,y\n1,a\n2,a\n3,a\n";
    refused("one_class", table, "-t y", "table.csv, column 'y': every row has the same label, 'a'", "two classes");
}

#[test]
fn a_class_of_one_row_cannot_be_compared() {
    let bench = Bench::new("bad_single");
    bench.file("table.csv", "x,y\n1,a\n2,a\n3,b\n4,a\n");
    let answer = bench.run("compare table.csv -t y");
    assert_eq!(answer.code, Some(1));
    assert!(answer.err.contains("error: table.csv, column 'y': the class 'b' has one row only"), "{}", answer.err);
}

#[test]
fn no_labels() {
    let table = "x,y\n1,\n2,?\n3,NA\n";
    refused("no_labels", table, "-t y", "table.csv, column 'y': the target has no label in any row", "label");
}

#[test]
fn no_usable_columns() {
    let table = "id,same,y\n1,k,a\n2,k,b\n3,k,a\n4,k,b\n";
    refused(
        "no_columns",
        table,
        "-t y",
        "table.csv: no usable column is left to learn from: 'id' (row numbers), 'same' (constant)",
        "--kind",
    );
}

#[test]
fn an_empty_file_and_a_header_alone() {
    refused("empty", "", "-t y", "table.csv: the file is empty", "header line");
    refused("blank", "\n \n\n", "-t y", "table.csv: the file is empty", "header line");
    refused("header", "x,y\n", "-t y", "table.csv: there is a header but no row below it", "Add rows");
}

#[test]
fn a_binary_file() {
    refused("binary", b"\x7fELF\x02\x01\0\0\0", "-t y", "table.csv: this is a binary file", "CSV or TSV");
    refused("zip", b"PK\x03\x04....", "-t y", "table.csv: this is a zip archive or a spreadsheet", "export");
    refused("utf16", b"\xff\xfex\0,\0y\0", "-t y", "table.csv: the text is UTF-16", "UTF-8");
}

#[test]
fn bytes_that_are_not_utf8() {
    let table = b"city,y\nOslo,a\nZ\xfcrich,b\n";
    refused("utf8", table, "-t y", "table.csv, line 3: byte 0xfc at position 2 is not UTF-8", "iconv");
}

#[test]
fn an_open_quote() {
    let table = "x,y\n1,a\n\"2,b\n3,a\n";
    refused("quote", table, "-t y", "table.csv, line 3: a quote is opened here and never closed", "Close the quote");
}

#[test]
fn duplicate_column_names() {
    let table = "x,y,x\n1,a,2\n2,b,3\n";
    refused("names", table, "-t y", "table.csv, line 1: columns 1 and 3 are both called 'x'", "name of its own");
}

#[test]
fn infinities() {
    for (name, cell) in [("inf", "inf"), ("minus", "-Infinity"), ("large", "1e999")] {
        let table = format!("x,y\n1,a\n2,b\n{cell},a\n4,b\n");
        let sentence = format!("table.csv, line 4, column 'x': '{cell}' is an infinite number");
        refused(&format!("infinity_{name}"), table, "-t y", &sentence, "finite");
    }
}

#[test]
fn cells_that_do_not_have_the_kind_asked_for() {
    let (table, place) = ("x,y\n1,a\nlow,b\n3,a\n", "table.csv, line 3, column 'x'");
    refused("kind", table, "-t y --kind x=number", &format!("{place}: 'low' is not a number"), "another kind");
    refused("kind2", GOOD, "-t y --kind q=number", "table.csv: there is no column called 'q'", "The columns are");
    let table = "x,y\n1,a\n2.5,b\n3,a\n";
    refused("kind3", table, "-t y --kind x=count", &format!("{place}: '2.5' is not a count"), "whole number");
}

#[test]
fn settings_out_of_range() {
    let bench = Bench::new("bad_settings");
    bench.file("table.csv", GOOD);
    for (line, sentence, remedy) in [
        ("train table.csv -t y -m ridge -o m --set alpha=-1", "setting 'alpha' cannot be -1", "at least 0"),
        ("train table.csv -t y -m ridge -o m --set alpha=much", "setting 'alpha' cannot be much", "a number"),
        ("train table.csv -t y -m ridge -o m --set alpha=inf", "setting 'alpha' cannot be inf", "a number"),
        ("train table.csv -t y -m ridge -o m --set alhpa=1", "'alhpa' is not a setting of 'ridge'", "'alpha'"),
        ("train table.csv -t y -m ridge -o m --set alpha", "setting 'alpha' has no value", "name=value"),
        ("train table.csv -t y -m rigde -o m", "there is no method called 'rigde'", "Did you mean 'ridge'?"),
        ("compare table.csv -t y --set alpha=1", "does not say which method", "ridge.alpha"),
        ("compare table.csv -t y --set rigde.alpha=1", "there is no method called 'rigde'", "'ridge'"),
        ("compare table.csv -t y --folds 1", "setting 'folds' cannot be 1", "at least 2"),
        ("compare table.csv -t y --hold-out 1.5", "setting 'hold-out' cannot be 1.5", "above zero"),
        ("train table.csv -t y -m ridge -o m --set positive=true --loo", "with these settings", "compare"),
        ("compare table.csv -t y --by rmse", "cannot be rmse for a target of classes", "log-loss"),
        ("compare table.csv -t y --by best", "there is no metric called 'best'", "accuracy"),
        (
            "train table.csv -t y -m baseline -o m --set strategy=mean",
            "cannot be mean for a target of classes",
            "prior",
        ),
        ("train table.csv -t y -m baseline -o m --loo", "no exact leave-one-out", "compare"),
        ("train table.csv -t y -m ridge -o no/such/folder/m", "no/such/folder: there is no such folder", ""),
        ("compare missing.csv -t y", "missing.csv: there is no such file", ""),
        ("compare . -t y", "this is a folder", ""),
        ("compare table.csv -t y --weight z --kind z=category --drop x", "no usable column", "--kind"),
    ] {
        let answer = bench.run(line);
        assert_eq!(answer.code, Some(1), "{line}\n{}", answer.err);
        assert!(answer.err.contains(sentence) && answer.err.contains(remedy), "{line}\n{}", answer.err);
        assert_eq!(bench.names(), ["table.csv"]);
    }
}

#[test]
fn a_wrong_command_line_is_exit_code_two() {
    let bench = Bench::new("bad_line");
    for line in [
        "",
        "compare",
        "compare t.csv",
        "comparre t.csv -t y",
        "compare t.csv -t y --kind x=colour",
        "compare t.csv -t y --budget soon",
        "compare t.csv -t y --delimiter ab",
        "train t.csv -t y -m ridge",
    ] {
        assert_eq!(bench.run(line).code, Some(2), "{line}");
    }
}

#[test]
fn models_that_are_none_are_refused() {
    let bench = Bench::new("bad_models");
    bench.file("table.csv", GOOD).file("m.quince", "hello");
    bench.ok("train table.csv -t y -m ridge -o good.quince");
    let cut = bench.read("good.quince");
    bench.file("cut.quince", &cut[..cut.len() - 1]);
    for (line, sentence) in [
        ("predict m.quince table.csv", "m.quince: this is not a quince model"),
        ("predict none.quince table.csv", "none.quince: there is no such file"),
        ("predict cut.quince table.csv", "cut.quince: the file is cut short or was changed"),
        ("evaluate table.csv good.quince", "table.csv: this is not a quince model"),
    ] {
        let answer = bench.run(line);
        assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{line}");
        assert!(answer.err.contains(sentence), "{line}: {}", answer.err);
    }
}

#[test]
fn predicting_for_a_table_that_does_not_fit_touches_no_file() {
    let bench = Bench::new("bad_predict");
    bench.file("table.csv", GOOD).file("less.csv", "x\n1\n").file("words.csv", "x,z\n1,many\n");
    bench.ok("train table.csv -t y -m ridge -o m.quince");
    bench.file("out.csv", "old");
    for (line, sentence) in [
        ("predict m.quince less.csv -o out.csv", "less.csv: the column 'z' that the model was trained on is missing"),
        ("predict m.quince words.csv -o out.csv", "words.csv, line 2, column 'z': 'many' is not a number"),
        ("evaluate m.quince less.csv", "less.csv: there is no column called 'y'"),
    ] {
        let answer = bench.run(line);
        assert_eq!(answer.code, Some(1), "{line}");
        assert!(answer.err.contains(sentence), "{line}: {}", answer.err);
        assert_eq!(bench.read("out.csv"), b"old");
    }
}

#[test]
fn a_target_that_is_no_number_is_named_with_its_own_line_though_rows_before_it_are_left_out() {
    let table = "x,y\n1,\n2,5\n3,abc\n4,7\n";
    let sentence = "table.csv, line 4, column 'y': 'abc' is not a number";
    refused("target_line", table, "-t y --task regression", sentence, "another kind");
}

#[test]
fn what_is_said_in_vain_is_refused() {
    let bench = Bench::new("bad_vain");
    bench.file("t.csv", "x,size,note,y\n1,s,a b,u\n2,m,b c,v\n3,l,c d,u\n4,s,d e,v\n5,m,e f,u\n6,l,f g,v\n");
    bench.file("t.arff", "@relation t\n@attribute x numeric\n@attribute y {a,b}\n@data\n1,a\n2,b\n");
    bench.file("p.png", "no picture");
    std::fs::create_dir_all(bench.folder.join("texts/a")).unwrap();
    bench.file("texts/a/1.txt", "good").file("t.libsvm", "+1 1:1\n-1 4000000000:2\n+1 3:1\n-1 2:1\n");
    bench.file("far.libsvm", "+1 1:1\n-1 4294967290:2\n+1 3:1\n-1 2:1\n");
    for (line, sentence, remedy) in [
        ("describe t.csv --pixels 4x4", "t.csv: a table in CSV has no pictures", "Leave that option out"),
        ("describe t.arff --delimiter ;", "t.arff: a table in ARFF has no delimiter", "Leave"),
        ("describe t.arff --no-header", "t.arff: a table in ARFF has no header", "Leave"),
        ("describe texts --format csv", "texts: a folder of texts has no format", "Leave"),
        ("describe p.png", "p.png: this is a single picture", "Give the folder it lies in"),
        ("describe texts --binarise 0.5", "texts: a folder of texts has no pictures", "Leave"),
        (
            "describe t.csv --encode size=order=s:m",
            "'order' does not name 'l', which 2 rows have (column 'size')",
            "every",
        ),
        ("describe t.csv --encode size=rare=2,hash=8", "'rare' joins categories of a list", "Leave one of them out"),
        ("describe t.csv --encode x=log=5", "'log' takes no value (column 'x')", "Write log alone."),
        ("describe t.csv --encode x=order=1:2", "'order' is not a setting of numbers", "--kind NAME=category"),
        ("describe t.csv --text note=letters,stem=english", "'stem' is for words", "Leave one"),
        ("describe t.csv --drop x --encode x=log", "'x': a column of kind ignored has no settings", "another kind"),
        ("describe t.csv --target x", "'x' is a column of numbers", "--kind x=category"),
        ("train t.csv -t y -m ridge -o m --encode y=one-hot", "'y' is the target", "Leave its --encode"),
        ("compare t.csv -t y --weight x --encode x=log", "'x' is the weight", "Leave its --encode"),
        ("curve t.csv -t y -m ridge --vary alpha=", "'alpha' has no values", "alpha=0.1,1,10"),
        ("curve t.csv -t y -m ridge --vary degree=0", "'degree' cannot be 0", "from 1 to 10"),
        ("train t.libsvm -t label -m ridge -o m", "learning from 4000000000 features needs about 96 GB", "Use fewer"),
        ("cluster far.libsvm --drop label -k 2", "learning from 4294967290 features needs about 103 GB", "Use fewer"),
        (
            "cluster far.libsvm --drop label -m mixture -k 2",
            "the statistics of these columns together needs about",
            "Use fewer",
        ),
    ] {
        let answer = bench.run(line);
        assert_eq!((answer.code, answer.out.as_str()), (Some(1), ""), "{line}\n{}", answer.err);
        assert!(answer.err.contains(sentence) && answer.err.contains(remedy), "{line}\n{}", answer.err);
    }
    let unknown = bench.run("describe t.csv --format xml");
    assert!(unknown.code == Some(2) && unknown.err.contains("The formats are csv, jsonl"), "{}", unknown.err);
    // No two rows share a word: the column says nothing, and that is said.
    let told = "'note' says nothing: no word of it is left (words in few rows are left out: min-df=1 keeps them)";
    bench.file("alone.csv", "x,note,y\n1,a b,u\n2,c d,v\n3,e f,u\n4,g h,v\n5,i j,u\n6,k l,v\n");
    for line in ["compare alone.csv -t y --folds 3", "train alone.csv -t y -m ridge -o m.quince"] {
        assert!(bench.ok(line).err.contains(told), "{line}");
    }
    // Every column of texts at once, and products of numbers one degree after another.
    bench.ok("train t.csv -t y -m ridge -o m.quince --text *=counts,min-df=1");
    let curve = bench.ok("curve t.csv -t y -m ridge --vary degree=1,2 --folds 2 --drop note --drop size --json").json();
    assert_eq!((curve["over"].as_str(), curve["points"].as_array().map(Vec::len)), (Some("degree"), Some(2)));
}
