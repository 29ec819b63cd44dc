//! The command on real tables: cells and labels stay as they are written, and limits are kept.

use crate::Bench;
use quince::Table;

/// The cells of a table without quotes, its names first.
fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

/// The text of a file of a bench.
fn text(bench: &Bench, name: &str) -> String {
    String::from_utf8(bench.read(name)).unwrap()
}

#[test]
fn the_animals_of_a_zoo_are_predicted_in_every_format() {
    let bench = Bench::new("zoo-formats");
    bench.example("zoo.csv");
    // Legs as codes, and labels that are numbers for some programs.
    let before = text(&bench, "zoo.csv");
    let spelled = |line: &[&str]| {
        let mut row: Vec<String> = line.iter().map(|cell| cell.to_string()).collect();
        row[13] = format!("00{}", row[13]);
        row[17] = format!("{}.0", ["mammal", "bird", "fish"].iter().position(|class| *class == row[17]).unwrap_or(9));
        row.join(",") + "\n"
    };
    let sheet = cells(&before);
    let rows: String = sheet[1..].iter().map(|row| spelled(row)).collect();
    bench.file("t.csv", format!("{}\n{rows}", sheet[0].join(",")));
    bench.ok("train t.csv -t type -m knn --set k=1 -o m.quince");
    bench.ok("predict m.quince t.csv -o p.csv");
    let predicted = text(&bench, "p.csv");
    for (row, written) in cells(&predicted)[1..].iter().zip(rows.lines()) {
        assert!(row.join(",").starts_with(written), "{row:?}");
        assert_eq!(row[18], row[17], "the label of the nearest row, which is this one");
    }
    let read = |name: &str| Table::read(bench.folder.join(name)).unwrap();
    let expected = read("p.csv");
    for name in ["p.parquet", "p.jsonl", "p.json", "p.tsv", "p.csv.gz", "p.json.gz"] {
        bench.ok(&format!("predict m.quince t.csv -o {name}"));
        let table = read(name);
        assert_eq!((table.rows(), table.columns().len()), (101, expected.columns().len()), "{name}");
        for (column, as_csv) in table.columns().iter().zip(expected.columns()) {
            assert_eq!(column.name(), as_csv.name(), "{name}");
            for i in 0..101 {
                if column.name() == "predicted_type" && name.contains("json") {
                    // A label is a text there, as it is spelled in the file.
                    assert_eq!(column.text(i).unwrap(), cells(&predicted)[1 + i][17], "{name}, row {i}");
                    continue;
                }
                assert_eq!(column.number(i), as_csv.number(i), "{name}, {} of row {i}", column.name());
                assert_eq!(column.text(i), as_csv.text(i), "{name}, {} of row {i}", column.name());
            }
        }
    }
    assert_eq!(bench.run("predict m.quince t.csv -o p.arff").code, Some(1));
}

#[test]
fn imputing_a_table_of_credits_changes_its_missing_cells_alone() {
    let bench = Bench::new("credit-impute");
    bench.example("credit.csv");
    let plain = text(&bench, "credit.csv");
    // The same with quotes that need not be there, semicolons and other line ends.
    let quoted: String = cells(&plain)
        .iter()
        .map(|row| {
            row.iter().map(|cell| if *cell == "?" { "?".into() } else { format!("\"{cell}\"") }).collect::<Vec<_>>()
        })
        .map(|row| row.join(";") + "\r\n")
        .collect();
    bench.file("quoted.csv", &quoted);
    for (name, before, delimiter) in [("credit.csv", &plain, ','), ("quoted.csv", &quoted, ';')] {
        bench.ok(&format!("impute {name} -o filled.csv"));
        let after = text(&bench, "filled.csv");
        let both = before.split('\n').zip(after.split('\n'));
        assert_eq!(before.matches('\n').count(), after.matches('\n').count());
        let (mut filled, mut missing) = (0, 0);
        for (old, new) in both {
            let (old, new): (Vec<&str>, Vec<&str>) = (old.split(delimiter).collect(), new.split(delimiter).collect());
            assert_eq!(old.len(), new.len());
            for (old, new) in old.iter().zip(&new) {
                missing += usize::from(old.trim() == "?");
                if old != new {
                    assert!(old.trim() == "?" && !new.trim().is_empty(), "{old} became {new}");
                    filled += 1;
                }
            }
        }
        assert_eq!((filled, missing), (67, 67), "{name}");
    }
}

#[test]
fn labels_that_are_numbers_are_spelled_as_in_their_file_whatever_its_format() {
    let bench = Bench::new("glass-labels");
    bench.example("glass.csv");
    let plain = text(&bench, "glass.csv");
    let sheet = cells(&plain);
    for spelling in [|cell: &str| format!("{cell}.0"), |cell: &str| format!("900719925474099300{cell}")] {
        let labels: Vec<String> = sheet[1..].iter().map(|row| spelling(row[9])).collect();
        let object = |(row, label): (&Vec<&str>, &String)| {
            let fields = row[..9].iter().zip(&sheet[0]).map(|(cell, name)| format!("\"{name}\":{cell}"));
            format!("{{{},\"Type\":{label}}}\n", fields.collect::<Vec<_>>().join(","))
        };
        bench.file("t.jsonl", sheet[1..].iter().zip(&labels).map(object).collect::<String>());
        bench.ok("train t.jsonl -t Type -m knn --set k=1 -o m.quince");
        let said = bench.ok("predict m.quince t.jsonl --no-probabilities").out;
        for (row, label) in cells(&said)[1..].iter().zip(&labels) {
            assert_eq!(row[10], label);
        }
        assert_eq!(bench.ok("evaluate m.quince t.jsonl --json").json()["accuracy"], 1.0);
    }
}

#[test]
fn labels_of_a_parquet_file_are_numbers_as_they_were() {
    let bench = Bench::new("glass-parquet");
    bench.example("glass.csv");
    // A Parquet file like those of others: the class is a number.
    bench.ok("train glass.csv -t Type -m knn --set k=1 -o m.quince");
    bench.ok("predict m.quince glass.csv --no-probabilities -o t.parquet");
    let before = Table::read(bench.folder.join("t.parquet")).unwrap();
    bench.ok("train t.parquet -t Type --drop predicted_Type -m knn --set k=1 -o p.quince");
    bench.ok("predict p.quince t.parquet --no-probabilities -o again.parquet");
    let again = Table::read(bench.folder.join("again.parquet")).unwrap();
    assert_eq!(again.columns().last().unwrap().name(), "predicted_Type_");
    for i in 0..214 {
        let class = before.column("Type").unwrap().number(i);
        assert!(class.is_some() && before.column("predicted_Type").unwrap().number(i) == class, "row {i}");
        assert_eq!(again.columns().last().unwrap().number(i), class, "row {i}");
    }
}

#[test]
fn methods_that_are_not_compared_are_named_and_small_classes_warned_of() {
    let bench = Bench::new("zoo-compare");
    bench.example("zoo.csv");
    let answer = bench.ok("compare zoo.csv -t type --json");
    let board = answer.json();
    let left_out: Vec<&str> =
        board["left_out"].as_array().unwrap().iter().map(|one| one["method"].as_str().unwrap()).collect();
    assert_eq!(left_out, ["nearest-centroid", "svm", "linear-svm"]);
    for name in left_out {
        assert!(answer.err.contains(&format!("note: {name} ")), "{}", answer.err);
    }
    let entrants = board["entrants"].as_array().unwrap();
    assert!(entrants.iter().any(|entrant| entrant["method"] == "mixture"));
    for entrant in entrants {
        assert_eq!((&entrant["folds"], &entrant["problem"]), (&10.into(), &serde_json::Value::Null), "{entrant}");
    }
    assert!(answer.err.contains("the class 'amphibian' has 4 rows, and is tested in 4 of 10 folds"), "{}", answer.err);
}

/// Whether a shell may mount a folder over the control groups: a name space of its own is not allowed everywhere.
#[cfg(target_os = "linux")]
fn in_group(bench: &Bench, command: &[&str]) -> Option<std::process::Output> {
    // The process keeps its number, so that what it reads of itself is what is mounted here.
    let script = "mount --bind self /proc/$$/cgroup && mount --bind groups /sys/fs/cgroup && exec \"$@\"";
    let mut shell = std::process::Command::new("unshare");
    shell.args(["-rm", "sh", "-c", script, "sh"]).args(command).current_dir(&bench.folder);
    shell.output().ok()
}

#[cfg(target_os = "linux")]
#[test]
fn no_more_threads_start_than_a_control_group_has_cores() {
    let bench = Bench::new("control-group");
    bench.example("zoo.csv").file("self", "0::/quince\n");
    std::fs::create_dir_all(bench.folder.join("groups/quince")).unwrap();
    bench.file("groups/quince/cpu.max", "100000 100000\n").file("groups/quince/cgroup.controllers", "cpu\n");
    let probe = in_group(&bench, &["cat", "/proc/self/cgroup", "/sys/fs/cgroup/quince/cpu.max"]);
    if probe.is_none_or(|probe| probe.stdout != b"0::/quince\n100000 100000\n") {
        println!("skipped: no name space of our own");
        return;
    }
    let train = "train zoo.csv -t type -m naive-bayes -o m.quince --threads 99999";
    let command: Vec<&str> = std::iter::once(env!("CARGO_BIN_EXE_quince")).chain(train.split(' ')).collect();
    // One core, and half of one.
    for quota in ["100000 100000", "50000 100000"] {
        bench.file("groups/quince/cpu.max", format!("{quota}\n"));
        let said = in_group(&bench, &command).unwrap();
        let said = String::from_utf8(said.stderr).unwrap();
        assert!(said.contains("99999 threads were asked for, and this process may use one core: 1 work"), "{said}");
    }
}
