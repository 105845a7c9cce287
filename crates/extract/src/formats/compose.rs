//! Compose files: services, what they are built of, wait for and talk to.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    let name = sheet.path.rsplit('/').next().unwrap_or_default();
    name.starts_with("docker-compose") || name.starts_with("compose") || name.contains("compose.")
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.get(document, "services").is_some_and(|it| yaml.is_map(it))
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let Some(services) = yaml.get(document, "services") else { return };
    let named: Vec<(String, Id, Id)> =
        yaml.pairs(services).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    let mut decls = Vec::new();
    for (name, key, value) in &named {
        let image = yaml.text_at(*value, &["image"]).unwrap_or_default();
        let signature = format!("service {name} {image}");
        let last = yaml.last_line(*value);
        decls.push(sheet.declare(NodeKind::Service, name, yaml.position(*key), last, &signature));
    }
    let of = |name: &str| named.iter().position(|it| it.0 == name).and_then(|at| decls[at]);
    for (at, (_, _, value)) in named.iter().enumerate() {
        let Some(decl) = decls[at] else { continue };
        let own = LinkEnd::Decl(decl);
        if let Some(image) = yaml.get(*value, "image")
            && let Some(text) = yaml.text(image)
        {
            let to = sheet.outside(NodeKind::Image, "", text);
            sheet.link(own, EdgeKind::DependsOn, to, yaml.position(image));
        }
        if let Some(build) = yaml.get(*value, "build") {
            let context = yaml.text(build).or_else(|| yaml.text_at(build, &["context"])).unwrap_or(".");
            let file = yaml.text_at(build, &["dockerfile"]).unwrap_or("Dockerfile");
            if let Some(to) = sheet.path_end(&format!("{context}/{file}")) {
                sheet.link(own, EdgeKind::DependsOn, to, yaml.position(build));
            }
        }
        for key in ["depends_on", "links"] {
            let Some(list) = yaml.get(*value, key) else { continue };
            let kind = if key == "links" { EdgeKind::ConnectsTo } else { EdgeKind::DependsOn };
            let mut names: Vec<(String, _)> =
                yaml.texts(list).into_iter().map(|(it, at)| (it.to_owned(), at)).collect();
            names.extend(yaml.pairs(list).map(|(it, key, _)| (it.to_owned(), yaml.position(key))));
            for (name, position) in names {
                if let Some(target) = of(name.split(':').next().unwrap_or_default()) {
                    sheet.link(own, kind, LinkEnd::Decl(target), position);
                }
            }
        }
        for file in yaml.get(*value, "env_file").map(|it| yaml.texts(it)).unwrap_or_default() {
            if let Some(from) = sheet.path_end(file.0) {
                sheet.link(from, EdgeKind::Configures, own, file.1);
            }
        }
        if let Some(environment) = yaml.get(*value, "environment") {
            let mut names: Vec<(String, _, String)> = yaml
                .pairs(environment)
                .map(|(it, key, value)| {
                    (it.to_owned(), yaml.position(key), yaml.text(value).unwrap_or_default().to_owned())
                })
                .collect();
            names.extend(yaml.texts(environment).into_iter().map(|(it, at)| {
                let (name, value) = it.split_once('=').unwrap_or((it, ""));
                (name.to_owned(), at, value.to_owned())
            }));
            for (name, position, value) in names {
                let to = sheet.outside(NodeKind::EnvVar, "", &name);
                sheet.link(own, EdgeKind::Configures, to, position);
                // A value that is the address of another service: `postgres://db:5432/x`, `redis:6379`.
                for (other, _, _) in &named {
                    let is_host = [
                        format!("//{other}:"),
                        format!("@{other}:"),
                        format!("//{other}/"),
                        format!("@{other}/"),
                    ];
                    let is_it = is_host.iter().any(|it| value.contains(it.as_str()))
                        || value.strip_prefix(other.as_str()).is_some_and(|it| it.starts_with(':'));
                    if is_it && let Some(target) = of(other) {
                        sheet.link(own, EdgeKind::ConnectsTo, LinkEnd::Decl(target), position);
                    }
                }
            }
        }
        for port in yaml.get(*value, "ports").map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
            let text =
                yaml.text(port).or_else(|| yaml.text_at(port, &["published"])).unwrap_or_default().to_owned();
            if !text.is_empty() && !text.contains('$') {
                let host = text.split(':').rev().nth(1).unwrap_or(&text).to_owned();
                let from = sheet.outside(NodeKind::Endpoint, "", &format!("port/{host}"));
                sheet.link(from, EdgeKind::Exposes, own, yaml.position(port));
            }
        }
    }
}
