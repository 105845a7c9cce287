//! `serverless.yml`: functions, their routes and what wakes them.

use knowing_model::facts::LinkEnd;
use knowing_model::{EdgeKind, NodeKind};

use super::Sheet;
use super::yaml::{Id, Yaml};

pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    sheet.path.rsplit('/').next().is_some_and(|it| it.starts_with("serverless"))
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.get(document, "functions").is_some()
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    let Some(functions) = yaml.get(document, "functions") else { return };
    let named: Vec<(String, Id, Id)> =
        yaml.pairs(functions).map(|(name, key, value)| (name.to_owned(), key, value)).collect();
    for (name, key, value) in named {
        let handler = yaml.text_at(value, &["handler"]).unwrap_or_default().to_owned();
        let signature = format!("{name} {handler}");
        let Some(decl) =
            sheet.declare(NodeKind::Function, &name, yaml.position(key), yaml.last_line(value), &signature)
        else {
            continue;
        };
        let own = LinkEnd::Decl(decl);
        // `src/users.show`: a function of a module.
        if let Some((module, _)) = handler.rsplit_once('.') {
            for ending in ["js", "ts", "py", "rb"] {
                if let Some(to) = sheet.path_end(&format!("{module}.{ending}")) {
                    sheet.link(own, EdgeKind::References, to, yaml.position(value));
                }
            }
        }
        for event in yaml.get(value, "events").map(|it| yaml.list(it).to_vec()).unwrap_or_default() {
            let position = yaml.position(event);
            for (kind, _, what) in yaml.pairs(event).map(|(a, b, c)| (a.to_owned(), b, c)).collect::<Vec<_>>()
            {
                match kind.as_str() {
                    "http" | "httpApi" => {
                        let (method, path) = match yaml.text(what) {
                            Some(text) => match text.split_once(' ') {
                                Some((method, path)) => (method.to_owned(), path.to_owned()),
                                None => ("any".to_owned(), text.to_owned()),
                            },
                            None => (
                                yaml.text_at(what, &["method"]).unwrap_or("any").to_owned(),
                                yaml.text_at(what, &["path"]).unwrap_or_default().to_owned(),
                            ),
                        };
                        let path = if path.starts_with('/') { path } else { format!("/{path}") };
                        sheet.route_to(if method == "*" { "any" } else { &method }, &path, position, decl);
                    }
                    "sqs" | "sns" | "kafka" | "rabbitmq" | "eventBridge" => {
                        let text = yaml
                            .text(what)
                            .or_else(|| yaml.text_at(what, &["arn"]))
                            .or_else(|| yaml.text_at(what, &["topic"]));
                        let name = text.and_then(|it| it.rsplit([':', '/']).next()).unwrap_or("?");
                        let to = sheet.outside(NodeKind::Topic, "", name);
                        sheet.link(own, EdgeKind::Subscribes, to, position);
                    }
                    _ => {}
                }
            }
        }
    }
}
