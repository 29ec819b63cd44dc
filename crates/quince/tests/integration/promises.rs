//! What the crate promises to programs that use it: which enums are complete, and that a run goes where it is sent.

use crate::example;
use quince::Run;
use quince::evaluate::{Folds, compare};
use quince::learn::DynLearner;
use quince::linear::LeastSquares;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The names of public enums in a file that may not get another variant.
fn complete_enums(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let complete = |at: usize| {
        // What `choices!` writes is indented, and open.
        let name = lines[at].strip_prefix("pub enum ")?.split(|c: char| !c.is_alphanumeric()).next()?;
        let mut attributes = lines[..at].iter().rev().take_while(|line| line.starts_with(['#', '/']));
        let open = attributes.any(|line| line.contains("non_exhaustive"));
        (!open).then_some(name)
    };
    (0..lines.len()).filter_map(complete).collect()
}

fn check_folder(folder: &Path, promised: &str, found: &mut usize) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_folder(&path, promised, found);
            continue;
        }
        // Where there are no texts, their encoder is an enum without variants.
        if path.ends_with("no_text.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for name in complete_enums(&text) {
            *found += 1;
            let there = promised.contains(&format!("`{name}`"));
            assert!(
                there,
                "{}: {name} is neither #[non_exhaustive] nor named as complete in docs/rust.md",
                path.display()
            );
        }
    }
}

#[test]
fn an_enum_may_grow_or_the_guide_says_that_it_is_complete() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(guide) = std::fs::read_to_string(root.join("../../docs/rust.md")) else { return };
    let (_, promised) = guide.split_once("## What may change").unwrap();
    let mut found = 0;
    check_folder(&root.join("src"), promised, &mut found);
    assert!(found >= 10, "{found}");
}

#[test]
fn a_run_may_be_sent_to_another_thread_and_tells_a_closure_numbers() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let there = heard.clone();
    let run = Run::new().on_progress(move |progress| there.lock().unwrap().push((progress.done, progress.total)));
    let worker = std::thread::spawn(move || {
        let wine = example("wine.csv").labelled("alcohol", None).unwrap();
        let methods: Vec<Box<dyn DynLearner>> = vec![Box::new(LeastSquares::default())];
        compare(&wine, &methods, &Folds::K(3), None, None, &run).unwrap().folds
    });
    assert_eq!(worker.join().unwrap(), 3);
    let heard = heard.lock().unwrap();
    let mut folds: Vec<u64> = heard.iter().filter(|(_, total)| *total == 3).map(|(done, _)| *done).collect();
    folds.dedup();
    assert_eq!(folds, [0, 1, 2, 3], "{heard:?}");
}
