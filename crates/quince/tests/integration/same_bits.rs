//! The same bits on one thread, two and eight: for every method in the registry, on tables and on larger matrices.

use crate::example;
use quince::learn::{Capability, Classes, Target, Task};
use quince::matrix::Sparse;
use quince::registry::METHODS;
use quince::run::Stream;
use quince::{Matrix, Model, Run};
use serde_json::json;

#[test]
fn every_method_gives_the_same_bytes_on_any_number_of_threads() {
    let mut stream = Stream::new(11, 0);
    let dense = Matrix::new(9000, 24, (0..9000 * 24).map(|_| stream.uniform()).collect()).unwrap();
    let numbers = Target::numbers(Matrix::column_vector((0..9000).map(|_| stream.uniform()).collect())).unwrap();
    let row = |_| (0..6).map(|k| (k * 50 + stream.below(50) as u32, 1.0)).collect();
    let sparse = Sparse::from_rows(300, (0..9000).map(row).collect::<Vec<_>>()).unwrap();
    let wide = Matrix::new(200, 900, (0..200 * 900).map(|_| stream.uniform()).collect()).unwrap();
    let few = numbers.take(&(0..200).collect::<Vec<_>>());
    let some = (0..2500).collect::<Vec<_>>();
    let (small_dense, small_sparse) = (dense.take_rows(&some), sparse.take_rows(&some));
    let small_numbers = numbers.take(&some);
    for method in METHODS {
        // A kernel has the square of the rows to go through, and a test of its own on many more.
        let (dense, sparse, numbers) = match method.info.name {
            "svm" | "one-class-svm" => (&small_dense, &small_sparse, &small_numbers),
            _ => (&dense, &sparse, &numbers),
        };
        let learner = method.configure(&json!({})).unwrap();
        let on = |threads: usize| {
            let run = Run::new().threads_exactly(threads);
            let mut bytes = Vec::new();
            for (features, target) in
                [(dense.features(), numbers), (sparse.features(), numbers), (wide.features(), &few)]
            {
                let nothing = Target::none(target.rows());
                let codes = (0..target.rows()).map(|i| (i * i % 3) as u32).collect();
                let classes = Target::classes(Classes::of(["0", "1", "2"]), codes).unwrap();
                let target = match () {
                    _ if method.info.learns(Task::Clustering) => &nothing,
                    _ if method.info.can(Capability::Regress) => target,
                    _ => &classes,
                };
                let model = Model::fit_features(&features, target, None, learner.as_ref(), &run).unwrap();
                bytes.push(model.to_bytes());
                bytes.push(format!("{:?}", model.predict_features(&features, &run).unwrap()).into_bytes());
            }
            let first = if method.info.can(Capability::TwoClasses) {
                ("wdbc.csv", "diagnosis")
            } else {
                ("iris.csv", "species")
            };
            for (table, target) in [first, ("film_reviews.csv.gz", "label")] {
                let table = example(table);
                let model = Model::fit(&crate::lesson(method, &table, target), None, learner.as_ref(), &run).unwrap();
                bytes.push(model.to_bytes());
                bytes.push(format!("{:?}", model.predict_with(&table, &run).unwrap()).into_bytes());
            }
            bytes
        };
        let one = on(1);
        assert!(one == on(2), "{} on two threads", method.info.name);
        assert!(one == on(8), "{} on eight threads", method.info.name);
    }
}
