//! What quince promises: the solver against slow references, the same bits on any number of threads, models that survive
//! anything, and no panic from any bytes.

mod allocations;
mod arrays;
mod arrow_files;
mod bad_input;
mod clock;
mod clusters;
mod curves;
mod discriminants;
mod encoder;
mod golden;
mod held_out;
mod killed;
mod kinds;
mod known_parameters;
mod layers;
mod layouts;
mod leaderboard;
mod linear_svm;
mod neighbours;
mod neighbours_choice;
mod neighbours_missing;
mod no_evidence;
mod optimism;
mod own_method;
mod probabilities;
mod promises;
mod random_bytes;
mod readers;
mod refused_settings;
mod same_bits;
mod saved;
mod sgd;
mod solver;
mod stopping;
mod svm;
mod svm_limits;
mod unsound_calls;

/// A small real table.
fn example(name: &str) -> quince::Table {
    quince::Table::read(example_path(name)).unwrap()
}

/// The rows of a table as a method learns them: with their target, or without any if it finds groups.
fn lesson(method: &quince::registry::Method, table: &quince::Table, target: &str) -> quince::table::Labelled {
    let groups = method.info.learns(quince::learn::Task::Clustering);
    if groups { table.unsupervised(None, &[target]).unwrap().labelled } else { table.labelled(target, None).unwrap() }
}

fn example_path(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// An empty folder of this test's own.
fn scratch(name: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
