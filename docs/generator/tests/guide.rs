//! The real guide can be made, and the README and the Rust examples are as they should be.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_guide_can_be_made() {
    let out = tempfile::TempDir::new().unwrap();
    let made = quince_guide::build(&root().join("docs"), out.path()).unwrap_or_else(|problems| {
        let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("the guide cannot be made:\n{}", all.join("\n"));
    });
    assert!(made.pages > 5 && made.formulas > 10, "{made:?}");
}

#[test]
fn the_readme_lists_the_registrys_methods() {
    let path = root().join("README.md");
    if path.exists()
        && let Err(problem) = quince_guide::readme::check(&path)
    {
        panic!("{problem}");
    }
}

#[test]
fn every_page_with_rust_is_a_documentation_test() {
    let list = include_str!(concat!(env!("OUT_DIR"), "/rust_examples.rs"));
    for (name, file, text) in quince_guide::sources(&root().join("docs")).unwrap() {
        let listed = list.contains(&format!("/{name}.md\")]"));
        assert_eq!(listed, text.contains("```rust"), "{file}: docs/generator/build.rs has not found it");
    }
}
