//! Builds `steps.c` with the headers of the very tree-sitter that is linked.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=src/engine/steps.c");
    let include = std::env::var("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter says where its headers are");
    let include = Path::new(&include);
    cc::Build::new()
        .std("c11")
        .include(include)
        .include(include.join("../src"))
        .warnings(false)
        .file("src/engine/steps.c")
        .compile("knowing-steps");
}
