//! Empty: a package has build dependencies only if it has a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
