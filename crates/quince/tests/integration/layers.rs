//! The layers of ARCHITECTURE.md are those of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Modules and what they stand on.
type Layers = BTreeMap<String, BTreeSet<String>>;

/// What each module of the library imports, by the paths that begin with `crate::`; tests and comments do not count.
fn imported(src: &Path) -> Layers {
    let mut layers = Layers::new();
    for entry in std::fs::read_dir(src).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_string();
        if module != "lib" {
            let names = layers.entry(module.clone()).or_default();
            add_imports(&path, names);
            names.remove(&module);
        }
    }
    layers
}

fn add_imports(path: &Path, names: &mut BTreeSet<String>) {
    if path.file_stem().is_some_and(|name| name == "tests") {
        return;
    }
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            add_imports(&entry.unwrap().path(), names);
        }
        return;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        for (start, prefix) in line.match_indices("crate::") {
            // What a macro writes is imported where it is used.
            if line[..start].ends_with('$') {
                continue;
            }
            let name = line[start + prefix.len()..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap();
            // A macro is at the root of the crate, wherever it is written.
            if line[start + prefix.len() + name.len()..].starts_with('!') {
                continue;
            }
            assert!(!name.is_empty(), "{}: write one `use crate::module` a line: {line}", path.display());
            // What the crate shows at its root comes from a module: name that.
            assert!(name.starts_with(char::is_lowercase), "{}: crate::{name} has no module", path.display());
            names.insert(name.to_string());
        }
    }
}

/// The rows of the table of modules: those whose first cell is a module of the library.
fn documented(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let (_, section) = text.split_once("## The layers").expect("ARCHITECTURE.md has a section on the layers");
    let section = section.split("\n## ").next().unwrap_or_default();
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let module = cells[0].strip_prefix('`')?.strip_suffix('`')?;
        let names = cells.last()?.split(", ").filter(|name| *name != "nothing");
        Some((module.to_string(), names.map(|name| name.trim_matches('`').to_string()).collect()))
    };
    section.lines().filter(|line| line.starts_with("| `")).filter_map(row).collect()
}

#[test]
fn modules_import_what_architecture_says_and_only_from_the_layers_below() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A packaged crate (cargo keeps its manifest as Cargo.toml.orig) has no ARCHITECTURE.md.
    if root.join("Cargo.toml.orig").exists() {
        return;
    }
    let text = std::fs::read_to_string(root.join("../../ARCHITECTURE.md")).expect("ARCHITECTURE.md of the workspace");
    let documented = documented(&text);
    let mut below = BTreeSet::new();
    for (module, names) in &documented {
        let above: Vec<&String> = names.difference(&below).collect();
        assert!(
            above.is_empty(),
            "ARCHITECTURE.md: `{module}` stands on {above:?}, which is not above it in the table"
        );
        below.insert(module.clone());
    }
    let documented: Layers = documented.into_iter().collect();
    let imported = imported(&root.join("src"));
    assert!(imported.len() > 10, "{imported:?}");
    for (module, names) in &imported {
        let said = documented.get(module).unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{module}`"));
        assert_eq!(names, said, "what `{module}` imports (left), and what ARCHITECTURE.md says (right)");
    }
    let gone: Vec<&String> = documented.keys().filter(|module| !imported.contains_key(*module)).collect();
    assert!(gone.is_empty(), "ARCHITECTURE.md has rows for {gone:?}, which are no modules");
}

/// The names of all files in a folder and the folders below it: `/src/lib.rs`.
fn files_below(folder: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, root, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            found.push(format!("/{name}"));
        }
    }
}

#[test]
fn files_that_architecture_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(root.join("../../ARCHITECTURE.md")) else { return };
    let mut files = Vec::new();
    files_below(root, root, &mut files);
    let named: Vec<&str> = text.split('`').filter(|name| name.ends_with(".rs") && !name.contains(' ')).collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        let end = format!("/{name}");
        assert!(files.iter().any(|file| file.ends_with(&end)), "ARCHITECTURE.md names {name}, which is nowhere");
    }
}

#[test]
fn the_prelude_has_every_method_of_the_registry() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read = |name: &str| std::fs::read_to_string(src.join(name)).unwrap();
    let (registry, prelude) = (read("registry.rs"), read("prelude.rs"));
    let words: BTreeSet<&str> = prelude.split(|c: char| !c.is_alphanumeric()).collect();
    let methods: Vec<&str> =
        registry.lines().filter_map(|line| line.trim().strip_prefix("Method::of::<")?.strip_suffix(">(),")).collect();
    assert_eq!(methods.len(), quince::registry::METHODS.len());
    for method in methods {
        assert!(words.contains(method), "{method} is not in prelude.rs");
    }
}
