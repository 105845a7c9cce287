//! Runs every `spec.md`, and what holds for all languages: limits, broken input, the registry.

use std::path::Path;

use crate::notation::lines;
use crate::{extract, languages};

/// `folder` is below `languages/` or a single file beside the project formats.
#[track_caller]
fn check(spec: &str, text: &str, default_path: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(spec);
    knowing_testkit::spec::check_spec(text, &path, |case| {
        let path = case.path.as_deref().unwrap_or(default_path);
        lines(&extract(path, case.source.as_bytes()), &case.source)
    });
}

#[test]
fn x1_python() {
    check("languages/python/spec.md", include_str!("languages/python/spec.md"), "a.py");
}
