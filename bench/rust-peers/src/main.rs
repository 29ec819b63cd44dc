//! One contestant of the benchmark: `rust-peers JOB DTYPE GIVEN ANSWERS`.
//!
//! Speaks the protocol of `bench/worker.py`: it reads the arrays of folder GIVEN, says `{"ready": true}`, then runs the
//! job once for each line `run` on stdin and answers with a line of JSON. The first run also measures memory and writes
//! the answer as .npy files into folder ANSWERS.

mod kmeans;
mod knn;
mod memory;
mod ridge;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use ndarray::{Array1, Array2};
use ndarray_npy::{ReadableElement, WritableElement, read_npy, write_npy};
use serde_json::{Value, json};

/// f32 or f64, as both libraries and the files want them.
pub trait Real: linfa::Float + ReadableElement + WritableElement + smartcore::numbers::realnum::RealNumber {}
impl Real for f32 {}
impl Real for f64 {}

/// A job with its arrays, ready to be timed.
pub type Job<F> = Box<dyn FnMut() -> Result<Answer<F>, String>>;

/// What is compared with the other contestants' answers.
pub enum Answer<F> {
    Neighbours { distances: Array2<F>, indices: Array2<i64> },
    Centres(Array2<F>),
    Line { coefficients: Array1<F>, intercept: F },
}

/// The arrays of a task, read when asked for.
pub struct Given(PathBuf);

impl Given {
    pub fn rows<F: Real>(&self, name: &str) -> Result<Array2<F>, String> {
        self.read(name)
    }

    pub fn column<F: Real>(&self, name: &str) -> Result<Array1<F>, String> {
        self.read(name)
    }

    fn read<T: ndarray_npy::ReadNpyExt>(&self, name: &str) -> Result<T, String> {
        let path = self.0.join(format!("{name}.npy"));
        read_npy(&path).map_err(|error| format!("{}: {error}", path.display()))
    }
}

fn prepare<F: Real>(job: &str, given: &Given) -> Result<Job<F>, String> {
    match job {
        "knn-linfa-kd-tree" => knn::linfa(linfa_nn::CommonNearestNeighbour::KdTree, given),
        "knn-linfa-linear" => knn::linfa(linfa_nn::CommonNearestNeighbour::LinearSearch, given),
        "knn-smartcore-cover-tree" => knn::smartcore_cover_tree(given),
        "knn-smartcore-linear" => knn::smartcore_linear(given),
        "kmeans-linfa" => kmeans::linfa(given),
        "ridge-linfa" => ridge::linfa(given),
        "ridge-smartcore" => ridge::smartcore(given),
        _ => Err(format!("no job is called {job:?}")),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [job, dtype, given, answers] = arguments.as_slice() else {
        eprintln!("usage: rust-peers JOB DTYPE GIVEN ANSWERS");
        std::process::exit(2);
    };
    let given = Given(given.into());
    let outcome = match dtype.as_str() {
        "float32" => prepare::<f32>(job, &given).and_then(|job| serve(job, answers.as_ref())),
        "float64" => prepare::<f64>(job, &given).and_then(|job| serve(job, answers.as_ref())),
        _ => Err(format!("no dtype is called {dtype:?}")),
    };
    if let Err(error) = outcome {
        say(json!({ "error": error }));
    }
}

fn serve<F: Real>(mut job: Job<F>, answers: &Path) -> Result<(), String> {
    say(json!({ "ready": true }));
    let mut first = true;
    for line in std::io::stdin().lock().lines() {
        if line.map_err(|error| error.to_string())? != "run" {
            break;
        }
        let before = if first { memory::reset() } else { None };
        let started = Instant::now();
        let answer = job()?;
        let seconds = started.elapsed().as_secs_f64();
        let memory = before.and_then(memory::growth);
        if first {
            write(&answer, answers)?;
        }
        first = false;
        say(json!({ "seconds": seconds, "memory": memory }));
    }
    Ok(())
}

fn write<F: Real>(answer: &Answer<F>, folder: &Path) -> Result<(), String> {
    let path = |name: &str| folder.join(format!("{name}.npy"));
    match answer {
        Answer::Neighbours { distances, indices } => {
            write_npy(path("distances"), distances).and_then(|()| write_npy(path("indices"), indices))
        }
        Answer::Centres(centres) => write_npy(path("centres"), centres),
        Answer::Line { coefficients, intercept } => write_npy(path("coefficients"), coefficients)
            .and_then(|()| write_npy(path("intercept"), &ndarray::arr0(*intercept))),
    }
    .map_err(|error| error.to_string())
}

fn say(message: Value) {
    println!("{message}");
    std::io::stdout().flush().expect("the parent listens");
}
