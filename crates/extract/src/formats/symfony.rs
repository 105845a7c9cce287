//! Symfony's `config/routes.yaml`: what stands before the routes that attributes of controllers say.

use knowing_model::facts::{Mount, Router};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn is_it(sheet: &Sheet<'_>, _: &Yaml, _: Id) -> bool {
    let is_file = |it: &str| sheet.path == it || sheet.path.ends_with(&format!("/{it}"));
    ["config/routes.yaml", "config/routes/annotations.yaml", "config/routes/attributes.yaml"]
        .iter()
        .any(|it| is_file(it))
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    for (_, _, entry) in yaml.pairs(document) {
        let Some(resource) = yaml.get(entry, "resource") else { continue };
        let path = yaml.text(resource).or_else(|| yaml.text_at(resource, &["path"])).unwrap_or_default();
        // The controllers as a whole; one of them, or a bundle, is not the application.
        if path != "routing.controllers" && !path.trim_end_matches('/').ends_with("src/Controller") {
            continue;
        }
        let Some(prefix) = yaml.text_at(entry, &["prefix"]) else { continue };
        let prefix = sheet.str(&crate::passes::routes::normalised(prefix));
        let child = Router::Application(sheet.str("symfony:"));
        let parent = Some(Router::Root);
        let mount = Mount { decl: None, child, parent, prefix, replaces: false, except: Vec::new() };
        sheet.facts.mounts.push(mount);
    }
}
