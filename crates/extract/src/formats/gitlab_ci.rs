//! GitLab CI: jobs, their images, what they wait for and extend.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::github_actions::purpose;
use super::yaml::{Id, Yaml};

const WORDS: &[&str] = &[
    "stages",
    "variables",
    "default",
    "include",
    "image",
    "services",
    "before_script",
    "after_script",
    "cache",
    "workflow",
    "pages",
    "types",
];

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    let name = sheet.path.rsplit('/').next().unwrap_or_default();
    name.ends_with(".gitlab-ci.yml")
        || name.ends_with(".gitlab-ci.yaml")
        || sheet.path.contains(".gitlab/ci/")
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.is_map(document)
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let named: Vec<(String, Id, Id)> = yaml
        .pairs(document)
        .filter(|(name, _, value)| !WORDS[..WORDS.len() - 2].contains(name) && yaml.is_map(*value))
        .map(|(name, key, value)| (name.to_owned(), key, value))
        .collect();
    let mut decls = Vec::new();
    for (name, key, value) in &named {
        let stage = yaml.text_at(*value, &["stage"]).unwrap_or_default();
        let signature = format!("job {name} {stage}");
        let decl =
            sheet.declare(NodeKind::Job, name, yaml.position(*key), yaml.last_line(*value), &signature);
        if let Some(decl) = decl {
            sheet.offer("gitlab-job", name, decl);
        }
        decls.push(decl);
    }
    if let Some(include) = yaml.get(document, "include") {
        let mut paths =
            yaml.texts(include).into_iter().map(|(it, at)| (it.to_owned(), at)).collect::<Vec<_>>();
        for item in yaml.list(include).iter().chain([&include]) {
            if let Some(local) = yaml.get(*item, "local") {
                paths.extend(yaml.texts(local).into_iter().map(|(it, at)| (it.to_owned(), at)));
            }
        }
        for (path, position) in paths {
            let to = LinkEnd::Path(sheet.str(path.trim_start_matches('/')));
            sheet.link(LinkEnd::File, EdgeKind::Imports, to, position);
        }
    }
    for (at, (name, _, value)) in named.iter().enumerate() {
        let Some(decl) = decls[at] else { continue };
        let own = LinkEnd::Decl(decl);
        for (key, kind) in [
            ("needs", EdgeKind::DependsOn),
            ("dependencies", EdgeKind::DependsOn),
            ("extends", EdgeKind::Extends),
        ] {
            let Some(list) = yaml.get(*value, key) else { continue };
            let mut names: Vec<(String, _)> =
                yaml.texts(list).into_iter().map(|(it, at)| (it.to_owned(), at)).collect();
            names.extend(yaml.list(list).iter().filter_map(|it| {
                let job = yaml.get(*it, "job")?;
                Some((yaml.text(job)?.to_owned(), yaml.position(job)))
            }));
            for (name, position) in names {
                let to = sheet.offered("gitlab-job", &name);
                sheet.link(own, kind, to, position);
            }
        }
        if let Some(image) = yaml.get(*value, "image")
            && let Some(text) =
                yaml.text(image).or_else(|| yaml.text_at(image, &["name"])).filter(|it| !it.contains('$'))
        {
            let to = sheet.outside(NodeKind::Image, "", text);
            sheet.link(own, EdgeKind::DependsOn, to, yaml.position(image));
        }
        let mut run = String::new();
        for key in ["before_script", "script", "after_script"] {
            for (line, position) in yaml.get(*value, key).map(|it| yaml.texts(it)).unwrap_or_default() {
                sheet.processes(own, line, position);
                run.push_str(line);
                run.push('\n');
            }
        }
        purpose(sheet, own, name, &run, yaml.position(*value));
    }
}
