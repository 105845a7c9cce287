//! `Cargo.toml`.

use knowing_model::facts::{Dependency, Manifest, ManifestTarget, Patch, TargetKind};
use toml::{Table, Value};

use super::{Manifests, parse_toml, strings};

pub(crate) const CARGO: Manifests = Manifests { name: "cargo", file_names: &["Cargo.toml"], read };

fn read(text: &str) -> Result<Manifest, u32> {
    let document = parse_toml(text)?;
    let package = table(&document, "package").or_else(|| table(&document, "project"));
    let mut manifest = Manifest {
        package: package.and_then(|it| text_of(it, "name")),
        members: members(&document),
        targets: targets(&document, package),
        patches: patches(&document),
        ..Manifest::default()
    };
    const KINDS: [&str; 5] =
        ["dependencies", "dev-dependencies", "dev_dependencies", "build-dependencies", "build_dependencies"];
    for kind in KINDS {
        dependencies(table(&document, kind), Place::Package, &mut manifest.dependencies);
    }
    for (_, target) in table(&document, "target").into_iter().flatten() {
        let Some(target) = target.as_table() else { continue };
        for kind in KINDS {
            dependencies(table(target, kind), Place::Package, &mut manifest.dependencies);
        }
    }
    let workspace = table(&document, "workspace").and_then(|it| table(it, "dependencies"));
    dependencies(workspace, Place::Workspace, &mut manifest.dependencies);
    Ok(manifest)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Package,
    Workspace,
}

fn table<'a>(of: &'a Table, key: &str) -> Option<&'a Table> {
    of.get(key)?.as_table()
}

fn text_of(of: &Table, key: &str) -> Option<String> {
    of.get(key)?.as_str().map(str::to_owned)
}

fn members(document: &Table) -> Vec<String> {
    let Some(workspace) = table(document, "workspace") else { return Vec::new() };
    let left_out = strings(workspace.get("exclude")).into_iter().map(|it| format!("!{it}"));
    strings(workspace.get("members")).into_iter().chain(left_out).collect()
}

fn dependencies(listed: Option<&Table>, place: Place, out: &mut Vec<Dependency>) {
    for (key, value) in listed.into_iter().flatten() {
        let details = value.as_table();
        let text = |key: &str| details.and_then(|it| text_of(it, key));
        let flag = |key: &str| details.and_then(|it| it.get(key)).and_then(Value::as_bool) == Some(true);
        let name = key.replace('-', "_");
        let package = text("package").or_else(|| (*key != name).then(|| key.clone()));
        out.push(Dependency {
            name,
            package,
            version: value.as_str().map(str::to_owned).or_else(|| text("version")),
            path: text("path"),
            from_workspace: flag("workspace"),
            for_workspace: place == Place::Workspace,
        });
    }
}

/// `[patch.crates-io]` puts a directory in the place of what a registry has.
fn patches(document: &Table) -> Vec<Patch> {
    let registries = table(document, "patch").into_iter().flatten();
    let listed = registries.filter_map(|(_, it)| it.as_table()).flatten();
    let patch = |(key, details): (&String, &Value)| {
        let details = details.as_table()?;
        let package = text_of(details, "package").unwrap_or_else(|| key.clone());
        Some(Patch { package, path: text_of(details, "path")? })
    };
    listed.filter_map(patch).collect()
}

fn targets(document: &Table, package: Option<&Table>) -> Vec<ManifestTarget> {
    let mut out = Vec::new();
    if let Some(library) = table(document, "lib") {
        out.push(target(TargetKind::Library, library));
    }
    let lists = [
        ("bin", TargetKind::Binary),
        ("test", TargetKind::Test),
        ("example", TargetKind::Example),
        ("bench", TargetKind::Bench),
    ];
    for (key, kind) in lists {
        let listed = document.get(key).and_then(Value::as_array);
        out.extend(listed.into_iter().flatten().filter_map(Value::as_table).map(|it| target(kind, it)));
    }
    if let Some(path) = package.and_then(|it| text_of(it, "build")) {
        out.push(ManifestTarget { kind: TargetKind::BuildScript, name: None, path: Some(path) });
    }
    out
}

fn target(kind: TargetKind, stated: &Table) -> ManifestTarget {
    ManifestTarget { kind, name: text_of(stated, "name"), path: text_of(stated, "path") }
}
