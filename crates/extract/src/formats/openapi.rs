//! OpenAPI, Swagger and JSON Schema: what is promised, and of what shape.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options", "trace"];

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    ["openapi", "swagger", "json-schema.org"].iter().any(|it| sheet.has_word(it))
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.text_at(document, &["openapi"]).is_some()
        || yaml.text_at(document, &["swagger"]).is_some()
        || yaml.text_at(document, &["$schema"]).is_some_and(|it| it.contains("json-schema.org"))
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let base = yaml.text_at(document, &["basePath"]).unwrap_or_default().trim_end_matches('/').to_owned();
    let schemas = [&["components", "schemas"][..], &["definitions"][..], &["$defs"][..]];
    let mut decls = Vec::new();
    for group in schemas.iter().filter_map(|it| yaml.at(document, it)) {
        let named: Vec<(String, Id, Id)> =
            yaml.pairs(group).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
        for (name, key, value) in named {
            let signature = format!("{name} {}", yaml.text_at(value, &["type"]).unwrap_or_default());
            let decl =
                sheet.declare(NodeKind::Schema, &name, yaml.position(key), yaml.last_line(value), &signature);
            if let Some(decl) = decl {
                if let Some(text) = yaml.text_at(value, &["description"]) {
                    sheet.document(decl, text);
                }
                decls.push((name, decl, value));
            }
        }
    }
    if yaml.get(document, "$schema").is_some()
        && let Some(title) = yaml.get(document, "title")
    {
        let text = yaml.text(title).unwrap_or_default().to_owned();
        if let Some(decl) =
            sheet.declare(NodeKind::Schema, &text, yaml.position(title), yaml.last_line(document), &text)
        {
            decls.push((text, decl, document));
        }
    }
    for (_, decl, value) in &decls {
        references(sheet, yaml, *value, LinkEnd::Decl(*decl), &decls);
    }
    let paths: Vec<(String, Id)> = yaml
        .get(document, "paths")
        .map(|it| yaml.pairs(it).map(|(path, _, value)| (path.to_owned(), value)).collect())
        .unwrap_or_default();
    for (path, item) in paths {
        let operations: Vec<(String, Id, Id)> = yaml
            .pairs(item)
            .filter(|it| METHODS.contains(&it.0))
            .map(|(method, key, value)| (method.to_owned(), key, value))
            .collect();
        for (method, key, operation) in operations {
            sheet.route(&method, &format!("{base}{path}"), yaml.position(key));
            references(sheet, yaml, operation, LinkEnd::File, &decls);
        }
    }
}

fn references(
    sheet: &mut Sheet<'_>,
    yaml: &Yaml,
    below: Id,
    from: LinkEnd,
    decls: &[(String, knowing_model::facts::DeclId, Id)],
) {
    for node in yaml.all(below) {
        let Some(reference) = yaml.pairs(node).find(|it| it.0 == "$ref").map(|it| it.2) else { continue };
        let Some(text) = yaml.text(reference).map(str::to_owned) else { continue };
        let position = yaml.position(reference);
        let (file, name) = text.split_once('#').unwrap_or((&text, ""));
        if file.is_empty() {
            let name = name.rsplit('/').next().unwrap_or_default();
            if let Some((_, target, _)) = decls.iter().find(|it| it.0 == name) {
                sheet.link(from, EdgeKind::References, LinkEnd::Decl(*target), position);
            }
        } else if !file.contains("://")
            && let Some(to) = sheet.path_end(file)
        {
            sheet.link(from, EdgeKind::References, to, position);
        }
    }
}
