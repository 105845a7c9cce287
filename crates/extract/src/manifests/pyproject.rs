//! `pyproject.toml`: the standard tables, and what setuptools, Poetry, Hatch, PDM, Flit and uv add.

use knowing_model::facts::{Dependency, Manifest, ManifestTarget, TargetKind};
use toml::{Table, Value};

use super::{Manifests, parse_toml, strings};

pub(crate) const PYPROJECT: Manifests =
    Manifests { name: "pyproject", file_names: &["pyproject.toml"], read };

fn read(text: &str) -> Result<Manifest, u32> {
    let document = parse_toml(text)?;
    let at = |path: &[&str]| value_at(&document, path);
    let name = at(&["project", "name"]).or_else(|| at(&["tool", "poetry", "name"]));
    let mut manifest = Manifest {
        package: name.and_then(Value::as_str).map(str::to_owned),
        members: members(&document),
        source_roots: source_roots(&document),
        targets: programs(&document),
        ..Manifest::default()
    };
    let out = &mut manifest.dependencies;
    out.extend(strings(at(&["project", "dependencies"])).iter().filter_map(|it| requirement(it)));
    for path in [&["project", "optional-dependencies"][..], &["dependency-groups"][..]] {
        for (_, group) in at(path).and_then(Value::as_table).into_iter().flatten() {
            out.extend(strings(Some(group)).iter().filter_map(|it| requirement(it)));
        }
    }
    poetry(&document, out);
    let mut seen = std::collections::BTreeSet::new();
    out.retain(|it| seen.insert(it.name.clone()));
    Ok(manifest)
}

/// Programs by name, each with the function that is called: `tool = "package.module:main"`.
fn programs(document: &Table) -> Vec<ManifestTarget> {
    let places =
        [&["project", "scripts"][..], &["project", "gui-scripts"][..], &["tool", "poetry", "scripts"][..]];
    let stated = places.iter().filter_map(|it| value_at(document, it)?.as_table()).flatten();
    let targets = stated.filter_map(|(name, value)| {
        let details = value.as_table();
        let reference = || details?.get("reference").or_else(|| details?.get("callable"))?.as_str();
        Some(program(name, value.as_str().or_else(reference)?))
    });
    targets.collect()
}

/// A program and the function that it calls, as `package.module:function`.
pub(crate) fn program(name: &str, function: &str) -> ManifestTarget {
    let function = function.split('[').next().unwrap_or_default().replace(' ', "");
    ManifestTarget { kind: TargetKind::Binary, name: Some(name.trim().to_owned()), path: Some(function) }
}

fn value_at<'a>(document: &'a Table, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(document.get(*first)?, |value, key| value.as_table()?.get(*key))
}

fn members(document: &Table) -> Vec<String> {
    let stated = |key| strings(value_at(document, &["tool", "uv", "workspace", key]));
    stated("members").into_iter().chain(stated("exclude").into_iter().map(|it| format!("!{it}"))).collect()
}

/// Where a tool says that packages lie; nothing when none does.
fn source_roots(document: &Table) -> Vec<String> {
    let mut out = strings(value_at(document, &["tool", "setuptools", "packages", "find", "where"]));
    let directories = value_at(document, &["tool", "setuptools", "package-dir"]).and_then(Value::as_table);
    out.extend(directories.and_then(|it| it.get("")).and_then(Value::as_str).map(str::to_owned));
    let poetry = value_at(document, &["tool", "poetry", "packages"]).and_then(Value::as_array);
    let from = poetry.into_iter().flatten().filter_map(|it| it.as_table()?.get("from")?.as_str());
    out.extend(from.map(str::to_owned));
    for path in [
        &["tool", "hatch", "build", "targets", "wheel", "packages"][..],
        &["tool", "hatch", "build", "sources"][..],
    ] {
        out.extend(strings(value_at(document, path)).iter().map(|it| parent(it)));
    }
    let pdm = value_at(document, &["tool", "pdm", "build", "package-dir"]).and_then(Value::as_str);
    let uv = value_at(document, &["tool", "uv", "build-backend", "module-root"]).and_then(Value::as_str);
    out.extend(pdm.into_iter().chain(uv).map(str::to_owned));
    // Flit looks below `src` without being told.
    for root in &mut out {
        *root = root.trim_start_matches("./").trim_end_matches('/').to_owned();
        if root.is_empty() {
            ".".clone_into(root);
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    out.retain(|it| seen.insert(it.clone()));
    out
}

/// `src/app` is found below `src`.
fn parent(package: &str) -> String {
    package.trim_end_matches('/').rsplit_once('/').map_or(".", |(before, _)| before).to_owned()
}

fn poetry(document: &Table, out: &mut Vec<Dependency>) {
    let Some(poetry) = value_at(document, &["tool", "poetry"]).and_then(Value::as_table) else { return };
    let groups = poetry.get("group").and_then(Value::as_table).into_iter().flatten();
    let grouped = groups.filter_map(|(_, group)| group.as_table());
    let tables = std::iter::once(poetry).chain(grouped).flat_map(|it| {
        ["dependencies", "dev-dependencies"].into_iter().filter_map(move |key| it.get(key)?.as_table())
    });
    for (name, value) in tables.flatten() {
        if name == "python" {
            continue;
        }
        let details = value.as_table();
        let text = |key: &str| details.and_then(|it| it.get(key)).and_then(Value::as_str).map(str::to_owned);
        let version = value.as_str().map(str::to_owned).or_else(|| text("version"));
        out.push(dependency(name, version, text("path")));
    }
}

/// `requests[socks]>=2,<3; python_version > "3"`.
pub(crate) fn requirement(text: &str) -> Option<Dependency> {
    let text = text.split([';', '#']).next()?.trim();
    let end = text.find(|it: char| !(it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    if name.is_empty() {
        return None;
    }
    let rest = rest.trim_start();
    let rest = if rest.starts_with('[') { rest.split_once(']').map_or("", |(_, after)| after) } else { rest };
    let rest = rest.trim();
    let version = (!rest.is_empty() && !rest.starts_with('@')).then(|| rest.to_owned());
    Some(dependency(name, version, None))
}

fn dependency(name: &str, version: Option<String>, path: Option<String>) -> Dependency {
    let import_name = name.to_ascii_lowercase().replace(['-', '.'], "_");
    let package = (import_name != name).then(|| name.to_owned());
    Dependency { name: import_name, package, version, path, from_workspace: false, for_workspace: false }
}
