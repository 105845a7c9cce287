//! `tsconfig.json` and its like: where modules are looked for.

use knowing_model::facts::{Manifest, PathAlias};
use serde_json::Value;

use super::Manifests;
use super::json::{parse_json, strings};

/// Any name is possible; these are what others extend.
pub(crate) const TSCONFIG: Manifests = Manifests {
    name: "tsconfig",
    file_names: &[
        "jsconfig.json",
        "tsconfig.app.json",
        "tsconfig.base.json",
        "tsconfig.build.json",
        "tsconfig.common.json",
        "tsconfig.json",
        "tsconfig.lib.json",
        "tsconfig.node.json",
        "tsconfig.options.json",
        "tsconfig.paths.json",
        "tsconfig.settings.json",
        "tsconfig.shared.json",
        "tsconfig.test.json",
        "tsconfig.web.json",
    ],
    read,
};

fn read(text: &str) -> Result<Manifest, u32> {
    if text.trim().is_empty() {
        return Ok(Manifest::default());
    }
    let document = parse_json(text)?;
    let options = document.get("compilerOptions");
    let option = |key: &str| options.and_then(|it| it.get(key));
    let extends = match document.get("extends") {
        Some(Value::String(one)) => vec![one.clone()],
        other => strings(other),
    };
    let references = document.get("references").and_then(Value::as_array).into_iter().flatten();
    let references = references.filter_map(|it| it.get("path")?.as_str()).map(str::to_owned);
    let mut aliases = Vec::new();
    for (pattern, targets) in option("paths").and_then(Value::as_object).into_iter().flatten() {
        let targets = strings(Some(targets));
        if !targets.is_empty() {
            aliases.push(PathAlias { pattern: pattern.clone(), targets });
        }
    }
    Ok(Manifest {
        members: references.collect(),
        source_roots: option("baseUrl").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
        aliases,
        extends,
        ..Manifest::default()
    })
}
