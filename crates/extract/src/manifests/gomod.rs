//! `go.mod` and `go.work`: the module's path, what it requires, and what is replaced by a directory.

use knowing_model::facts::{Dependency, Manifest};

use super::Manifests;

pub(crate) const GO_MOD: Manifests = Manifests { name: "gomod", file_names: &["go.mod"], read };

pub(crate) const GO_WORK: Manifests = Manifests { name: "gowork", file_names: &["go.work"], read };

/// Both are lists of directives: a verb and its arguments, or a verb and a list of such lines in brackets.
fn read(text: &str) -> Result<Manifest, u32> {
    let mut manifest = Manifest::default();
    let mut replaced: Vec<Dependency> = Vec::new();
    let mut verb: Option<&str> = None;
    for (row, line) in text.lines().enumerate() {
        let words = words(line);
        let (directive, arguments) = match (verb, words.as_slice()) {
            (_, []) => continue,
            (Some(_), [")"]) => {
                verb = None;
                continue;
            }
            (Some(open), arguments) => (open, arguments),
            (None, [name, "("]) => {
                verb = Some(name);
                continue;
            }
            (None, [name, arguments @ ..]) => (*name, arguments),
        };
        match (directive, arguments) {
            ("module", [path, ..]) => manifest.package = Some((*path).to_owned()),
            ("use", [directory, ..]) => manifest.members.push((*directory).to_owned()),
            ("require", [path, version, ..]) => manifest.dependencies.push(required(path, version)),
            ("replace", arguments) => replaced.extend(replacement(arguments)),
            ("module" | "require", _) => {
                return Err(u32::try_from(row + 1).unwrap_or(u32::MAX));
            }
            _ => {}
        }
    }
    for it in replaced {
        match manifest.dependencies.iter_mut().find(|known| known.name == it.name) {
            Some(known) => {
                known.package = it.package;
                known.path = it.path;
                known.version = it.version.or(known.version.take());
            }
            None => manifest.dependencies.push(it),
        }
    }
    Ok(manifest)
}

fn words(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    // A path may be quoted; one with `//` in it is no module path.
    code.split_whitespace().map(|it| it.trim_matches(['"', '`'])).collect()
}

fn required(path: &str, version: &str) -> Dependency {
    Dependency {
        name: path.to_owned(),
        package: None,
        version: Some(version.to_owned()),
        path: None,
        from_workspace: false,
        for_workspace: false,
    }
}

/// `old [version] => new [version]`, where `new` may be a directory.
fn replacement(arguments: &[&str]) -> Option<Dependency> {
    let arrow = arguments.iter().position(|it| *it == "=>")?;
    let (old, new) = (arguments.first()?, arguments.get(arrow + 1)?);
    let is_directory = new.starts_with('.') || new.starts_with('/');
    Some(Dependency {
        name: (*old).to_owned(),
        package: (!is_directory).then(|| (*new).to_owned()),
        version: arguments.get(arrow + 2).map(|it| (*it).to_owned()),
        path: is_directory.then(|| (*new).to_owned()),
        from_workspace: false,
        for_workspace: false,
    })
}
