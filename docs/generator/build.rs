//! Finds the pages of the guide that show Rust, and makes a module of each whose documentation is the page: rustdoc tests it.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut modules = String::new();
    for folder in ["", "methods"] {
        let mut pages: Vec<_> = fs::read_dir(docs.join(folder))?.collect::<io::Result<Vec<_>>>()?;
        pages.sort_by_key(|page| page.file_name());
        for path in pages.iter().map(|page| page.path()).filter(|path| path.extension().is_some_and(|end| end == "md"))
        {
            let page = path.strip_prefix(&docs).unwrap_or(&path).with_extension("");
            let name = page.to_string_lossy().replace(['/', '\\', '-'], "_");
            if fs::read_to_string(&path)?.contains("```rust") {
                modules += &format!("#[doc = include_str!({path:?})]\nmod {name} {{}}\n");
            }
        }
    }
    println!("cargo:rerun-if-changed={}", docs.display());
    fs::write(Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("rust_examples.rs"), modules)
}
