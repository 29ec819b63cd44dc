//! Saved models: they come back as they were, and anything else is refused with a sentence.

use crate::clock::budget_of_looks;
use crate::{allocations, example, scratch};
use quince::baseline::Baseline;
use quince::learn::{Capability, Classes, Count, Examples, Learner, Target};
use quince::linear::{LeastSquares, Ridge};
use quince::margin::LinearSvm;
use quince::matrix::{Features, Sparse};
use quince::neighbours::{Knn, KnnModel};
use quince::prelude::Fit as _;
use quince::registry::METHODS;
use quince::run::{Certificate, Report, Stream};
use quince::table::{Cells, Format, ReadOptions};
use quince::{Error, Matrix, Model, Run};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::Arc;

fn iris_model() -> Model {
    Model::train_with(&example("iris.csv"), "species", &Ridge::default(), &Run::new().seed(5)).unwrap()
}

#[test]
fn every_method_comes_back_from_its_file_as_it_was() {
    let folder = scratch("every_method");
    for method in METHODS {
        let two = method.info.can(Capability::TwoClasses);
        let first = if two { ("wdbc.csv", "diagnosis") } else { ("iris.csv", "species") };
        for (table, target) in [first, ("film_reviews.csv.gz", "label"), ("wine.csv", "alcohol")] {
            let table = example(table);
            let learner = method.configure(&json!({})).unwrap();
            let lesson = crate::lesson(method, &table, target);
            if !method.info.learns(lesson.target.task()) {
                continue;
            }
            let model = Model::fit(&lesson, None, learner.as_ref(), &Run::new().seed(3)).unwrap();
            let path = folder.join("m.quince");
            model.save(&path).unwrap();
            let again = Model::load(&path).unwrap();
            let run = Run::new();
            assert_eq!(model.predict_with(&table, &run).unwrap(), again.predict_with(&table, &run).unwrap());
            assert_eq!(model.to_bytes(), again.to_bytes());
            assert_eq!((again.seed(), again.rows(), again.target()), (3, table.rows(), lesson.name.as_str()));
            assert_eq!((again.settings(), again.report()), (model.settings(), model.report()));
            assert!(again.fields().eq(model.fields()));
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn the_file_is_plain_safetensors() {
    let bytes = iris_model().to_bytes();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("coefficients").unwrap().shape(), [4, 3]);
}

#[test]
fn a_cut_file_is_refused_wherever_it_is_cut() {
    let bytes = iris_model().to_bytes();
    for length in 0..bytes.len() {
        let error = Model::from_bytes(&bytes[..length]).err().unwrap();
        assert_eq!(error.code(), "model", "cut at {length}: {error}");
    }
}

#[test]
fn a_changed_byte_is_noticed_wherever_it_is() {
    let bytes = iris_model().to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert_eq!(Model::from_bytes(&changed).err().unwrap().code(), "model", "byte {at}");
    }
}

/// The file with other JSON and a checksum that is right again: what a careful liar would write.
fn forge(change: impl FnOnce(String) -> String) -> Vec<u8> {
    forge_of(&iris_model(), change)
}

fn forge_of(model: &Model, change: impl FnOnce(String) -> String) -> Vec<u8> {
    let bytes = model.to_bytes();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let json = change(String::from_utf8(bytes[8..8 + length].to_vec()).unwrap());
    let mut forged = (json.len() as u64).to_le_bytes().to_vec();
    forged.extend_from_slice(json.as_bytes());
    forged.extend_from_slice(&bytes[8 + length..]);
    sign(forged)
}

pub fn sign(mut file: Vec<u8>) -> Vec<u8> {
    let at = 8 + r#"{"__metadata__":{"checksum":""#.len();
    if file.len() < at + 64 {
        return file;
    }
    file[at..at + 64].fill(b'0');
    let digest: String = Sha256::digest(&file).iter().map(|byte| format!("{byte:02x}")).collect();
    file[at..at + 64].copy_from_slice(digest.as_bytes());
    file
}

#[test]
fn lies_in_the_header_are_refused_without_a_large_allocation() {
    assert!(Model::from_bytes(&forge(|json| json)).is_ok(), "the forger's tools work");
    let lies: Vec<(&str, Vec<u8>)> = vec![
        ("offsets", forge(|json| json.replace("\"data_offsets\":[0,96]", "\"data_offsets\":[0,99999999999]"))),
        ("shape", forge(|json| json.replace("\"shape\":[4,3]", "\"shape\":[4611686018427387904,3]"))),
        ("another shape", forge(|json| json.replace("\"shape\":[4,3]", "\"shape\":[3,4]"))),
        ("type", forge(|json| json.replace("\"dtype\":\"F64\"", "\"dtype\":\"F32\""))),
        ("method", forge(|json| json.replace(r#"\"method\":\"ridge\""#, r#"\"method\":\"magic\""#))),
        ("classes", forge(|json| json.replace(r#"[\"setosa\","#, "["))),
        (
            "width",
            forge(|json| {
                json.replace(
                    r#"\"encoder\":{\"columns\""#,
                    r#"\"encoder\":{\"matrix\":{\"count\":18446744073709551615},\"columns\""#,
                )
            }),
        ),
        ("unknown", forge(|json| json.replace(r#"\"seed\":5"#, r#"\"seed\":5,\"extra\":1"#))),
        ("newer", forge(|json| json.replace(r#"{\"format\":1,"#, r#"{\"format\":2,"#))),
    ];
    for (name, file) in lies {
        let (result, largest) = allocations::largest_during(|| Model::from_bytes(&file));
        let error = result.err().unwrap_or_else(|| panic!("the lie about {name} was believed"));
        assert_eq!(error.code(), "model", "{name}");
        assert!(largest < 1 << 20, "{name}: an allocation of {largest} bytes");
    }
    let mut long = iris_model().to_bytes();
    long[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    let long = sign(long);
    let (result, largest) = allocations::largest_during(|| Model::from_bytes(&long));
    assert!(result.is_err() && largest < 1 << 20);
}

#[test]
fn a_newer_format_says_that_a_newer_quince_wrote_it() {
    let newer = forge(|json| json.replace(r#"{\"format\":1,"#, r#"{\"format\":2,"#));
    let error = Model::from_bytes(&newer).err().unwrap();
    assert!(error.to_string().contains("a newer quince wrote it"));
    assert_eq!(error.remedy(), "Update quince.");
}

#[test]
fn a_setting_of_another_release_does_not_make_probabilities_of_scores() {
    let scores = LinearSvm::new().probabilities(false);
    let model = scores.fit(&[[0.0], [1.0], [5.0], [6.0]], &["a", "a", "b", "b"]).unwrap();
    assert!(!model.has_probabilities());
    let with = |new: &str| {
        let forged = forge_of(&model, |json| json.replace(r#"\"settings\":{"#, &format!(r#"\"settings\":{{{new},"#)));
        assert!(forged.len() > model.to_bytes().len());
        Model::from_bytes(&forged)
    };
    let foreign = with(r#"\"of_a_later_release\":3"#).unwrap();
    assert!(!foreign.has_probabilities());
    assert_eq!(foreign.settings()["of_a_later_release"], 3);
}

#[test]
fn a_foreign_file_and_a_missing_one_get_a_sentence() {
    let folder = scratch("foreign");
    let refusal = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        Model::load(&path).err().unwrap().to_string()
    };
    assert!(refusal("a.txt", b"hello").ends_with("a.txt: this is not a quince model"));
    assert!(refusal("a.pickle", b"\x80\x04\x95").ends_with("this is not a quince model"));
    let missing = Model::load(folder.join("none.quince")).err().unwrap();
    assert!(missing.to_string().ends_with("none.quince: there is no such file"), "{missing}");
    assert_eq!(Model::load(&folder).err().unwrap().code(), "file");
}

#[test]
fn a_save_that_fails_leaves_the_old_model_and_no_litter() {
    let folder = scratch("failing_save");
    let model = iris_model();
    assert!(model.save(folder.join("no such folder/m.quince")).is_err());
    assert!(matches!(model.save(&folder), Err(Error::File { .. })));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_report_with_numbers_that_are_not_finite_is_saved_and_opened_again() {
    let report = Report {
        route: "diverged".into(),
        certificate: Some(Certificate { measure: "gap".into(), value: f64::NAN, tolerance: f64::INFINITY }),
        trace: vec![1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0],
        facts: vec![("worst".into(), f64::NEG_INFINITY), ("best".into(), 0.1 + 0.2)],
        ..Report::default()
    };
    let x = Matrix::from_rows(&[[1.0], [2.0]]);
    let target = Target::numbers(Matrix::column_vector(vec![1.0, 2.0])).unwrap();
    let learner = LeastSquares::default();
    let examples = Examples::new(x.features(), &target, None).unwrap();
    let (fitted, _) = learner.fit_examples(&examples, &Run::new()).unwrap();
    let model =
        Model::from_fitted(&learner, (&x.features(), &target), Arc::new(fitted), report.clone(), &Run::new()).unwrap();
    let path = scratch("not_finite").join("m.quince");
    model.save(&path).unwrap();
    let again = Model::load(&path).unwrap();
    let bits = |report: &Report| {
        let certificate = report.certificate.as_ref().unwrap();
        let facts = report.facts.iter().map(|(_, value)| *value);
        let all = report.trace.iter().copied().chain(facts).chain([certificate.value, certificate.tolerance]);
        all.map(|number| if number.is_nan() { None } else { Some(number.to_bits()) }).collect::<Vec<_>>()
    };
    assert_eq!(bits(again.report()), bits(&report));
    assert_eq!(again.to_bytes(), model.to_bytes());
}

#[test]
fn a_model_of_a_matrix_takes_tables_with_its_column_names() {
    let x = Matrix::from_rows(&[[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]);
    let y = quince::learn::Target::numbers(Matrix::column_vector(vec![1.0, 2.0, 3.5])).unwrap();
    let model = Model::fit_features(&x.features(), &y, None, &LeastSquares::default(), &Run::new()).unwrap();
    let table = quince::Table::from_csv("x1,x0\n2,1\n1,2\n5,3\n").unwrap();
    let by_table = model.predict(&table).unwrap();
    assert_eq!(by_table, model.predict_features(&x.features(), &Run::new()).unwrap());
}

#[test]
fn a_small_model_of_very_many_columns_costs_little() {
    let all = u32::MAX as usize;
    let wide = Sparse::from_rows(all, vec![vec![(0, 1.0)], vec![(u32::MAX - 1, 2.0)]]).unwrap();
    let (features, target) = (Features::sparse(&wide), Target::numbers(Matrix::column_vector(vec![1.0, 2.0])).unwrap());
    let table = quince::Table::from_csv("x0,x1\n1,2\n").unwrap();
    let ((), largest) = allocations::largest_during(|| {
        let model = Model::fit_features(&features, &target, None, &Baseline::default(), &Run::new()).unwrap();
        let bytes = model.to_bytes();
        assert!(bytes.len() < 2000);
        let model = Model::from_bytes(&bytes).unwrap();
        assert_eq!((model.encoder().width(), model.encoder().columns()), (all, all));
        assert_eq!(model.fields().nth(70).unwrap().name, "x70");
        assert_eq!(model.encoder().feature_names().nth(70).unwrap(), "x70");
        let error = model.predict(&table).unwrap_err().to_string();
        assert_eq!(error, "text: the table has 2 columns, the model takes 4294967295");
        // The places of a file of two lines.
        let options = ReadOptions { format: Some(Format::LibSvm), ..ReadOptions::default() };
        let text = b"1 1:1 4294967294:1\n2 3:1\n".to_vec();
        let table = Cells::parse(text, "t", &options, &Run::new()).unwrap().table(&options, &Run::new()).unwrap();
        let model = Model::train(&table, "label", &Baseline::default()).unwrap();
        let names: Vec<String> = model.encoder().feature_names().take(2).collect();
        assert_eq!(names, ["features: 1", "features: 2"]);
    });
    assert!(largest < 1 << 20, "an allocation of {largest} bytes");
}

/// A file with zeros in these arrays, of name, type and shape, and a right checksum.
fn with_arrays(header: &str, arrays: &[(&str, &str, Vec<usize>)]) -> Vec<u8> {
    let (mut entries, mut end) = (String::new(), 0);
    for (name, element, shape) in arrays {
        let start = end;
        end += shape.iter().product::<usize>() * if *element == "U32" { 4 } else { 8 };
        entries += &format!(r#","{name}":{{"dtype":"{element}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#);
    }
    let text = serde_json::to_string(header).unwrap();
    let mut json = format!(r#"{{"__metadata__":{{"checksum":"{}","quince":{text}}}{entries}}}"#, "0".repeat(64));
    json += &" ".repeat((8 - json.len() % 8) % 8);
    let mut file = (json.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(json.as_bytes());
    file.resize(file.len() + end, 0);
    sign(file)
}

#[test]
fn models_without_outputs_or_with_one_class_are_refused() {
    let header = |method: &str, task: &str, classes: &str| {
        format!(
            r#"{{"format":1,"version":"0","method":"{method}","settings":{{}},"task":"{task}","target":"y","classes":{classes},"encoder":{{"columns":[],"matrix":{{"count":1}}}},"report":{{"route":"","stop":"computed","certificate":null,"trace":[],"facts":[],"remarks":[]}},"seed":0,"rows":3,"notes":null}}"#
        )
    };
    let linear = |outputs: usize| {
        vec![
            ("coefficients", "F64", vec![1, outputs]),
            ("intercept", "F64", vec![outputs]),
            ("temperature", "F64", vec![1]),
        ]
    };
    let load = |header: &str, arrays: &[(&str, &str, Vec<usize>)]| Model::from_bytes(&with_arrays(header, arrays));
    assert!(load(&header("ridge", "regression", "null"), &linear(1)).is_ok(), "the forger's tools work");
    assert!(load(&header("ridge", "classification", r#"["a"]"#), &linear(1)).is_err());
    assert!(load(&header("ridge", "regression", "null"), &linear(0)).is_err());
    let values = |count: usize| [("values", "F64", vec![count])];
    assert!(load(&header("baseline", "regression", "null"), &values(0)).is_err());
    assert!(load(&header("baseline", "regression", "null"), &values(1)).is_ok());
    let wide = header("baseline", "regression", "null").replace("\"count\":1", "\"count\":4294967296");
    assert!(load(&wide, &values(1)).is_err());
    // A number among counts, and an array that no baseline has.
    let refusal = |arrays: &[(&str, &str, Vec<usize>)]| {
        load(&header("baseline", "regression", "null"), arrays).err().unwrap().to_string()
    };
    assert_eq!(refusal(&[("values", "U64", vec![1])]), "bytes: the array 'values' has the wrong type");
    let more = refusal(&[("values", "F64", vec![1]), ("factors", "F64", vec![1])]);
    assert_eq!(more, "bytes: the array 'factors' is unknown: a newer quince may have written it");
    // More rows than can be counted one further, none of them with a number in it.
    let (dense, shape) = (("rows", "F64", vec![usize::MAX, 0]), ("rows.shape", "U64", vec![2]));
    let (starts, indices) = (("rows.starts", "U64", vec![1]), ("rows.indices", "U32", vec![0]));
    let endless = [dense, shape, starts, indices, ("rows.values", "F64", vec![0])];
    let error = load(&header("knn", "regression", "null"), &endless).err().unwrap().to_string();
    assert_eq!(error, "bytes: the dense and the sparse part of 'rows' differ in their number of rows");
}

#[test]
fn a_large_model_is_held_once_beside_its_file() {
    let mut stream = Stream::new(5, 0);
    let rows = Matrix::new(200_000, 20, (0..4_000_000).map(|_| stream.uniform()).collect()).unwrap();
    let codes = (0..200_000).map(|i| i % 2).collect();
    let target = Target::classes(Classes::of(["a", "b"]), codes).unwrap();
    let knn = Knn::new().k(Count::Fixed(1));
    let model = Model::fit_features(&rows.features(), &target, None, &knn, &Run::new()).unwrap();
    let path = scratch("large").join("m.quince");
    let (saved, saving) = allocations::peak_during(|| model.save(&path));
    saved.unwrap();
    let size = std::fs::metadata(&path).unwrap().len() as f64;
    assert!(size > 32e6 && size < 33e6, "a file of {size} bytes");
    let (loaded, loading) = allocations::peak_during(|| Model::load(&path));
    assert_eq!(loaded.unwrap().fitted::<KnnModel>().unwrap().codes(), model.fitted::<KnnModel>().unwrap().codes());
    // The bytes of the file, and for loading the model as well.
    assert!(saving as f64 <= 1.1 * size, "saving {size} bytes took {saving}");
    assert!(loading as f64 <= 2.2 * size, "loading {size} bytes took {loading}");
}

#[cfg(unix)]
#[test]
fn a_save_keeps_permissions_and_links_and_does_not_replace_what_is_no_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = scratch("unix_save");
    let (model, path) = (iris_model(), folder.join("m.quince"));
    model.save(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("m.quince", folder.join("link.quince")).unwrap();
    model.save(folder.join("link.quince")).unwrap();
    assert!(std::fs::symlink_metadata(folder.join("link.quince")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let pipe = folder.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    model.save(&pipe).unwrap();
    assert_eq!(reader.join().unwrap(), model.to_bytes());
    assert!(!std::fs::metadata(&pipe).unwrap().is_file(), "a pipe stays a pipe");
    model.save(folder.join(format!("{}.quince", "n".repeat(240)))).unwrap();
}

#[test]
fn many_threads_may_save_to_the_same_place() {
    let path = scratch("threads_save").join("m.quince");
    let model = iris_model();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..20).for_each(|_| model.save(&path).unwrap()));
        }
    });
    assert_eq!(Model::load(&path).unwrap().to_bytes(), model.to_bytes());
}

#[test]
fn a_model_goes_through_any_writer_and_reader() {
    let model = Model::train(&example("iris.csv"), "species", &Ridge::default()).unwrap();
    let mut buffer = Vec::new();
    model.save_to(&mut buffer).unwrap();
    assert_eq!(Model::load_from(&buffer[..]).unwrap().to_bytes(), buffer);
    assert!(Model::load_from(&buffer[..100]).is_err());
}

/// A fit that does not get anywhere with such numbers ends after this many looks at the clock.
const LOOKS: u32 = 2000;

/// Numbers so large or small that sums, squares or differences of them are infinite, zero or NaN.
const EXTREME: [f64; 6] = [1e308, -1e308, 1e160, 1e-308, f64::MAX, 1e-160];

/// Whether a file of the model reads back as the model; an error that saving gives otherwise, with the file before it unchanged.
#[track_caller]
fn reads_back_or_is_refused(model: &Model, path: &std::path::Path, what: &str) -> Option<Error> {
    iris_model().save(path).unwrap();
    let good = std::fs::read(path).unwrap();
    let saved = model.save(path);
    let loaded = Model::load(path).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut buffer = Vec::new();
    assert_eq!(model.save_to(&mut buffer).is_ok(), saved.is_ok(), "{what}");
    match saved {
        Ok(()) => assert_eq!(loaded.to_bytes(), model.to_bytes(), "{what}"),
        Err(_) => {
            assert!(std::fs::read(path).unwrap() == good && buffer.is_empty(), "{what}: the good file has changed")
        }
    }
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "{what}: litter");
    saved.err()
}

#[test]
fn whatever_a_method_learns_of_extreme_numbers_reads_back_or_is_refused_before_the_file_is_touched() {
    let path = scratch("extreme").join("m.quince");
    let mut fitted = 0;
    for method in METHODS {
        let learner = method.configure(&json!({})).unwrap();
        for (e, &extreme) in EXTREME.iter().enumerate() {
            let mut stream = Stream::new(e as u64, 0);
            let mut values: Vec<f64> = (0..24).map(|_| stream.normal()).collect();
            values[5] = extreme;
            let entries: Vec<Vec<(u32, f64)>> =
                (0..12).map(|i| if i == 3 { vec![(1, extreme)] } else { vec![] }).collect();
            let sparse = Sparse::from_rows(2, entries).unwrap();
            let dense = Matrix::new(12, 2, values).unwrap();
            let mut numbers: Vec<f64> = (0..12).map(f64::from).collect();
            let classes = Target::classes(Classes::of(["a", "b"]), (0..12).map(|i| i % 2).collect()).unwrap();
            let plain = Target::numbers(Matrix::column_vector(numbers.clone())).unwrap();
            numbers[2] = extreme;
            let extremes = Target::numbers(Matrix::column_vector(numbers)).unwrap();
            for target in [&classes, &plain, &extremes, &Target::none(12)] {
                if !method.info.learns(target.task()) {
                    continue;
                }
                for (kind, features) in [("dense", dense.features()), ("sparse", sparse.features())] {
                    let what = format!("{} of {extreme} {kind} {:?}", method.info.name, target.task());
                    let run = budget_of_looks(LOOKS);
                    let Ok(model) = Model::fit_features(&features, target, None, learner.as_ref(), &run) else {
                        continue;
                    };
                    fitted += 1;
                    reads_back_or_is_refused(&model, &path, &what);
                }
            }
        }
    }
    assert!(fitted > 40, "{fitted}");
}

#[test]
fn tables_of_extreme_numbers_give_models_that_read_back_or_are_refused() {
    let path = scratch("extreme_tables").join("m.quince");
    let mut fitted = 0;
    for method in METHODS {
        let learner = method.configure(&json!({})).unwrap();
        for extreme in ["1e308", "-1e308", "1e160", "1e-308"] {
            let row = |i: usize| {
                format!(
                    "{},{},{},{}\n",
                    if i == 4 { extreme.into() } else { format!("{}.5", i % 5) },
                    i % 3,
                    ["u", "v"][i % 2],
                    (i * i) % 7
                )
            };
            let csv: String = (0..14).map(row).collect();
            let table = quince::Table::from_csv(&format!("x,n,y,z\n{csv}")).unwrap();
            for target in ["y", "z", "x"] {
                let Ok(lesson) = (if method.info.learns(quince::learn::Task::Clustering) {
                    table.unsupervised(None, &[target]).map(|found| found.labelled)
                } else {
                    table.labelled(target, None)
                }) else {
                    continue;
                };
                if !method.info.learns(lesson.target.task()) {
                    continue;
                }
                let what = format!("{} of a table with {extreme}, {target}", method.info.name);
                let run = budget_of_looks(LOOKS);
                let Ok(model) = Model::fit(&lesson, None, learner.as_ref(), &run) else { continue };
                fitted += 1;
                reads_back_or_is_refused(&model, &path, &what);
            }
        }
    }
    assert!(fitted > 20, "{fitted}");
}

#[test]
fn the_three_models_that_once_overwrote_a_good_file_with_one_that_did_not_open() {
    use quince::bayes::NaiveBayes;
    use quince::mixture::Mixture;
    use quince::prelude::Fit;
    let path = scratch("three_models").join("m.quince");
    let one = Sparse::from_rows(3, vec![vec![], vec![(1, 2.0)], vec![], vec![]]).unwrap();
    let mixture = Model::fit_features(&one.features(), &Target::none(4), None, &Mixture::new(1), &Run::new());
    if let Ok(model) = mixture {
        assert_eq!(reads_back_or_is_refused(&model, &path, "a mixture of one entry"), None);
    }
    let rows = [[1e160], [1.0], [2.0], [3.0]];
    let family = "kernel-density".parse::<quince::bayes::Families>().unwrap();
    if let Ok(model) = NaiveBayes::new().family(family).fit(&rows, &["a", "b", "a", "b"]) {
        reads_back_or_is_refused(&model, &path, "kernel density");
    }
    let table = quince::Table::from_csv("x,y\n1e308,a\n1,b\n-1e308,a\n2,b\n").unwrap();
    if let Ok(model) = Model::train(&table, "y", &Knn::new().k(Count::Fixed(1))) {
        reads_back_or_is_refused(&model, &path, "k-NN");
    }
}
