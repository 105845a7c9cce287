//! `composer.json`: the package, what it needs, and under which directories its namespaces lie.

use knowing_model::facts::{Dependency, Manifest, PathAlias};
use serde_json::Value;

use super::Manifests;
use super::json::{parse_json, strings};

pub(crate) const COMPOSER: Manifests = Manifests { name: "composer", file_names: &["composer.json"], read };

fn read(text: &str) -> Result<Manifest, u32> {
    if text.trim().is_empty() {
        return Ok(Manifest::default());
    }
    let document = parse_json(text)?;
    let mut manifest = Manifest {
        package: document.get("name").and_then(Value::as_str).map(str::to_owned),
        ..Manifest::default()
    };
    for section in ["autoload", "autoload-dev"] {
        let roots = document.get(section).and_then(|it| it.get("psr-4")).and_then(Value::as_object);
        for (namespace, directories) in roots.into_iter().flatten() {
            let targets = match directories {
                Value::String(one) => vec![one.clone()],
                several => strings(Some(several)),
            };
            manifest.source_roots.extend(targets.iter().cloned());
            manifest.aliases.push(PathAlias { pattern: namespace.clone(), targets });
        }
    }
    for section in ["require", "require-dev"] {
        for (name, version) in document.get(section).and_then(Value::as_object).into_iter().flatten() {
            manifest.dependencies.push(Dependency {
                name: name.clone(),
                package: None,
                version: version.as_str().map(str::to_owned),
                path: None,
                from_workspace: false,
                for_workspace: false,
            });
        }
    }
    Ok(manifest)
}
