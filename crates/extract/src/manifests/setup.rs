//! `setup.cfg`: sections of `key = value`, values go on over indented lines.

use std::collections::BTreeMap;

use knowing_model::facts::Manifest;

use super::Manifests;
use super::pyproject::{program, requirement};

pub(crate) const SETUP_CFG: Manifests = Manifests { name: "setup_cfg", file_names: &["setup.cfg"], read };

fn read(text: &str) -> Result<Manifest, u32> {
    let values = values(text);
    let lines = |section: &str, key: &str| {
        let value = values.get(&(section.to_owned(), key.to_owned()));
        value.into_iter().flatten().map(String::as_str)
    };
    let mut source_roots: Vec<String> =
        lines("options.packages.find", "where").map(|it| it.trim_end_matches('/').to_owned()).collect();
    for line in lines("options", "package_dir") {
        if let Some((package, directory)) = line.split_once('=')
            && package.trim().is_empty()
        {
            source_roots.push(directory.trim().trim_end_matches('/').to_owned());
        }
    }
    source_roots.dedup();
    let mut dependencies: Vec<_> = lines("options", "install_requires").filter_map(requirement).collect();
    for ((section, _), extras) in &values {
        if section == "options.extras_require" {
            dependencies.extend(extras.iter().filter_map(|it| requirement(it)));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    dependencies.retain(|it| seen.insert(it.name.clone()));
    let targets = lines("options.entry_points", "console_scripts")
        .filter_map(|it| it.split_once('='))
        .map(|(name, function)| program(name, function))
        .collect();
    Ok(Manifest {
        package: lines("metadata", "name").next().map(str::to_owned),
        dependencies,
        source_roots,
        targets,
        ..Manifest::default()
    })
}

/// Lines of each value by section and key; blank ones and comments are left out.
fn values(text: &str) -> BTreeMap<(String, String), Vec<String>> {
    let mut out: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    let mut key: Option<String> = None;
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = content.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
            key = None;
            continue;
        }
        let value = if line.starts_with([' ', '\t']) && key.is_some() {
            content
        } else {
            let Some((name, value)) = content.split_once(['=', ':']) else { continue };
            key = Some(name.trim().to_ascii_lowercase());
            value.trim()
        };
        if let Some(key) = &key
            && !value.is_empty()
        {
            out.entry((section.clone(), key.clone())).or_default().push(value.to_owned());
        }
    }
    out
}
