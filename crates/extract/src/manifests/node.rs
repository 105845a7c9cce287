//! `package.json`, `lerna.json`, `pnpm-workspace.yaml`.

use knowing_model::NodeKind;
use knowing_model::facts::{Dependency, LinkEnd, Manifest, ManifestTarget, PathAlias, TargetKind};
use serde_json::Value;

use super::json::{parse_json, strings};
use super::{Manifests, Sheet};

pub(crate) const PACKAGE: Manifests =
    Manifests { name: "package_json", file_names: &["package.json"], read: read_package };
pub(crate) const LERNA: Manifests =
    Manifests { name: "lerna", file_names: &["lerna.json"], read: read_lerna };
pub(crate) const PNPM: Manifests =
    Manifests { name: "pnpm_workspace", file_names: &["pnpm-workspace.yaml"], read: read_pnpm };

fn read_package(text: &str) -> Result<Manifest, u32> {
    if text.trim().is_empty() {
        return Ok(Manifest::default());
    }
    let document = parse_json(text)?;
    let workspaces = document.get("workspaces");
    let listed = workspaces.and_then(|it| it.get("packages")).or(workspaces);
    let mut manifest = Manifest {
        package: document.get("name").and_then(Value::as_str).map(str::to_owned),
        members: strings(listed),
        aliases: aliases(&document),
        targets: programs(&document),
        ..Manifest::default()
    };
    const KINDS: [&str; 4] = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
    for kind in KINDS {
        for (name, version) in document.get(kind).and_then(Value::as_object).into_iter().flatten() {
            let Some(version) = version.as_str() else { continue };
            if manifest.dependencies.iter().any(|it| it.name == *name) {
                continue;
            }
            manifest.dependencies.push(dependency(name, version));
        }
    }
    Ok(manifest)
}

/// `bin`: the path of the only program, which is called like the package, or paths by name.
fn programs(document: &Value) -> Vec<ManifestTarget> {
    let target = |name: &str, path: &str| ManifestTarget {
        kind: TargetKind::Binary,
        name: Some(name.to_owned()),
        path: Some(path.to_owned()),
    };
    match document.get("bin") {
        Some(Value::String(path)) => {
            let package = document.get("name").and_then(Value::as_str).unwrap_or_default();
            let name = package.rsplit('/').next().filter(|it| !it.is_empty());
            name.map(|it| target(it, path)).into_iter().collect()
        }
        Some(Value::Object(entries)) => {
            entries.iter().filter_map(|(name, path)| Some(target(name, path.as_str()?))).collect()
        }
        _ => Vec::new(),
    }
}

/// Scripts by name; those that run on installation say what they start.
pub(super) fn scripts(sheet: &mut Sheet<'_>, readable: &str) {
    let Ok(document) = parse_json(readable) else { return };
    let bytes = sheet.text.as_bytes();
    let begin = memchr::memmem::find(bytes, b"\"scripts\"").unwrap_or(0);
    for (name, command) in document.get("scripts").and_then(Value::as_object).into_iter().flatten() {
        let quoted = format!("\"{name}\"");
        let offset = memchr::memmem::find(&bytes[begin..], quoted.as_bytes()).map_or(0, |it| begin + it + 1);
        let position = sheet.position(offset);
        let Some(decl) =
            sheet.declare(NodeKind::Target, &format!("scripts.{name}"), position, position.line, name)
        else {
            return;
        };
        let command = command.as_str().unwrap_or_default().to_owned();
        if matches!(name.as_str(), "preinstall" | "install" | "postinstall" | "prepare") {
            sheet.processes(LinkEnd::Decl(decl), &command, position);
        }
    }
}

fn dependency(name: &str, version: &str) -> Dependency {
    let path = ["file:", "link:", "portal:"].iter().find_map(|it| version.strip_prefix(it));
    let renamed = version.strip_prefix("npm:");
    // `npm:name@1.0`, where the name may begin with an `@` itself.
    let package = renamed.map(|it| match it.rfind('@') {
        Some(at) if at > 0 => it[..at].to_owned(),
        _ => it.to_owned(),
    });
    Dependency {
        name: name.to_owned(),
        package,
        version: path.is_none().then(|| version.to_owned()),
        path: path.map(str::to_owned),
        from_workspace: version.starts_with("workspace:"),
        for_workspace: false,
    }
}

/// What the package offers: `.` and `./sub` of `exports`, `#name` of `imports`, else `main` and its like as `.`.
fn aliases(document: &Value) -> Vec<PathAlias> {
    let mut out = Vec::new();
    let mut add = |pattern: &str, value: &Value| {
        let mut targets = Vec::new();
        collect(value, &mut targets, 0);
        if !targets.is_empty() {
            out.push(PathAlias { pattern: pattern.to_owned(), targets });
        }
    };
    match document.get("exports") {
        Some(Value::Object(entries)) if entries.keys().all(|it| it.starts_with('.')) => {
            for (pattern, value) in entries {
                add(pattern, value);
            }
        }
        Some(value) => add(".", value),
        None => {}
    }
    for key in ["source", "types", "typings", "module", "main", "browser"] {
        if let Some(value) = document.get(key).filter(|it| it.is_string()) {
            add(".", value);
        }
    }
    for (pattern, value) in document.get("imports").and_then(Value::as_object).into_iter().flatten() {
        add(pattern, value);
    }
    out
}

/// All paths of an entry, whatever the conditions; those nearest to the sources first.
fn collect(value: &Value, out: &mut Vec<String>, depth: usize) {
    const FIRST: [&str; 4] = ["source", "development", "types", "import"];
    match value {
        Value::String(path) if !out.contains(path) => out.push(path.clone()),
        Value::Array(list) if depth < 8 => list.iter().for_each(|it| collect(it, out, depth + 1)),
        Value::Object(entries) if depth < 8 => {
            for key in FIRST {
                if let Some(value) = entries.get(key) {
                    collect(value, out, depth + 1);
                }
            }
            for (key, value) in entries {
                if !FIRST.contains(&key.as_str()) {
                    collect(value, out, depth + 1);
                }
            }
        }
        _ => {}
    }
}

fn read_lerna(text: &str) -> Result<Manifest, u32> {
    if text.trim().is_empty() {
        return Ok(Manifest::default());
    }
    let document = parse_json(text)?;
    Ok(Manifest { members: strings(document.get("packages")), ..Manifest::default() })
}

/// The list under `packages:`, which is all that matters here of a YAML file.
fn read_pnpm(text: &str) -> Result<Manifest, u32> {
    let mut members = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        let item = line.trim();
        if item.is_empty() || item.starts_with('#') {
            continue;
        }
        match item.strip_prefix('-') {
            Some(rest) if inside => {
                let rest = rest.split(" #").next().unwrap_or(rest);
                members.push(rest.trim().trim_matches(['"', '\'']).to_owned());
            }
            _ if !line.starts_with([' ', '\t']) => {
                inside = item.starts_with("packages:");
                if let Some((_, list)) = item.split_once('[').filter(|_| inside) {
                    let list = list.trim_end_matches(']').split(',');
                    members.extend(list.map(|it| it.trim().trim_matches(['"', '\'']).to_owned()));
                }
            }
            _ => {}
        }
    }
    members.retain(|it| !it.is_empty());
    Ok(Manifest { members, ..Manifest::default() })
}
