//! Ten thousand random byte strings through the reader of tables and the loader of models: refused or read, never a panic.

use crate::{allocations, example, saved};
use quince::cluster::{Algorithm, KMeans};
use quince::learn::Count;
use quince::linear::Ridge;
use quince::margin::{KernelName, LinearSvm, Svm};
use quince::neighbours::Knn;
use quince::run::Stream;
use quince::table::{Cells, ReadOptions};
use quince::{Model, Run};

const COUNT: usize = 10_000;

/// Noise, or a real file with bytes changed, cut out, repeated or exchanged.
fn mangle(original: &[u8], stream: &mut Stream) -> Vec<u8> {
    if stream.below(4) == 0 {
        return (0..stream.below(300)).map(|_| stream.bits() as u8).collect();
    }
    let mut bytes = original.to_vec();
    for _ in 0..1 + stream.below(8) {
        if bytes.is_empty() {
            break;
        }
        let (at, to) = (stream.below(bytes.len()), stream.below(bytes.len()));
        let (at, to) = (at.min(to), at.max(to));
        match stream.below(5) {
            0 => bytes[at] = stream.bits() as u8,
            1 => bytes[at] = b"\",\n\r;\t0?-.e\0{}[]:"[stream.below(17)],
            2 => drop(bytes.drain(at..to)),
            3 => {
                let copy = bytes[at..to].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => bytes.truncate(to),
        }
    }
    bytes
}

#[test]
fn no_bytes_make_the_reader_of_tables_panic() {
    let mut stream = Stream::new(2024, 1);
    let originals: [&[u8]; 4] = [
        b"age,city,note\n31,Oslo,\"a, \"\"b\"\"\"\n?,Rome,x\n45,Oslo,y y\n22,Rome,\"line\nbreak\"\n",
        b"a;b\r\n1,5;2\r\n3;4\r\n",
        "\u{feff}naïve\tcafé\n1\t2\n3\tNaN\n".as_bytes(),
        b"id,x\n1,0\n2,1\n3,1e999\n",
    ];
    let mut read = 0;
    for k in 0..COUNT {
        let bytes = mangle(originals[k % originals.len()], &mut stream);
        let options = ReadOptions::default();
        if let Ok(mut cells) = Cells::parse(bytes, "random", &options, &Run::new())
            && let Ok(table) = cells.table(&options, &Run::new())
        {
            read += 1;
            assert_eq!(table.rows(), cells.rows());
            table.describe();
            for column in table.columns() {
                let _ = table.labelled(column.name(), None);
            }
        }
    }
    assert!(read > COUNT / 20, "only {read} were tables: the test should reach past the first check");
}

#[test]
fn no_bytes_make_the_loader_of_models_panic_or_allocate_wildly() {
    let mut stream = Stream::new(2024, 2);
    let clusters = |algorithm| {
        let lesson = example("iris.csv").unsupervised(None, &["species"]).unwrap().labelled;
        let settings = KMeans { algorithm, k: Count::Fixed(4), ..KMeans::default() };
        Model::fit(&lesson, None, &settings, &Run::new()).unwrap().to_bytes()
    };
    let small = quince::Table::from_csv("x,c,y\n1,u,2.5\n2,v,3.5\n4,u,1.5\n3,v,0.5\n").unwrap();
    let originals = [
        Model::train(&small, "y", &Ridge::default()).unwrap().to_bytes(),
        Model::train(&example("iris.csv"), "species", &Ridge::default()).unwrap().to_bytes(),
        Model::train(&small, "y", &Knn::default()).unwrap().to_bytes(),
        Model::train(&example("weather.csv"), "play", &Knn::default()).unwrap().to_bytes(),
        clusters(Algorithm::Lloyd),
        clusters(Algorithm::Bisecting),
        Model::train(&example("weather.csv"), "play", &Svm::default()).unwrap().to_bytes(),
        Model::train(&small, "y", &Svm { kernel: KernelName::Linear, ..Svm::default() }).unwrap().to_bytes(),
        Model::train(&small, "y", &LinearSvm { epochs: 1, ..LinearSvm::default() }).unwrap().to_bytes(),
    ];
    for k in 0..COUNT {
        let mut bytes = mangle(&originals[k % originals.len()], &mut stream);
        if k % 2 == 0 {
            // With its checksum put right, the file gets past the first check.
            bytes = saved::sign(bytes);
        }
        let (result, largest) = allocations::largest_during(|| Model::from_bytes(&bytes));
        assert!(largest < (1 << 20) + 16 * bytes.len(), "an allocation of {largest} bytes");
        if let Ok(model) = result {
            let _ = model.predict(&small);
        }
    }
}
