//! Routes of Symfony in YAML: what is served by which controller, which file stands below which prefix, and what stands
//! before the routes that attributes of controllers say.

use knowing_model::Position;
use knowing_model::facts::{Expr, ExprId, Handler, Mount, Route, Router, Type, TypeId};

use super::Sheet;
use super::yaml::{Id, Yaml};
use crate::passes::routes::{joined, normalised};

/// `config/routes.yaml`, `config/routes/*.yaml`, and of older ones and of bundles `config/routing.yml`,
/// `Resources/config/routing/*.yml`.
pub(super) fn may_be(sheet: &Sheet<'_>) -> bool {
    let (directory, name) = sheet.path.rsplit_once('/').unwrap_or(("", sheet.path));
    let mut below = directory.split('/').skip_while(|it| *it != "config").skip(1);
    match below.next() {
        Some(first) => matches!(first, "routes" | "routing"),
        None => directory.ends_with("config") && (name.starts_with("routes") || name.starts_with("routing")),
    }
}

pub(super) fn is_it(_: &Sheet<'_>, yaml: &Yaml, document: Id) -> bool {
    yaml.is_map(document)
}

pub(super) fn read(sheet: &mut Sheet<'_>, yaml: &Yaml, document: Id) {
    for (name, key, entry) in yaml.pairs(document) {
        if name.starts_with("when@") {
            read(sheet, yaml, entry);
        } else if let Some(resource) = yaml.get(entry, "resource") {
            let path = yaml.text(resource).or_else(|| yaml.text_at(resource, &["path"])).unwrap_or_default();
            let kind = yaml.text_at(entry, &["type"]).unwrap_or_default();
            import(sheet, path, kind, &texts(yaml, entry, "prefix"));
        } else {
            let paths = texts(yaml, entry, "path");
            let paths = if paths.is_empty() { texts(yaml, entry, "pattern") } else { paths };
            let controller = yaml.text_at(entry, &["controller"]);
            let controller = controller.or_else(|| yaml.text_at(entry, &["defaults", "_controller"]));
            let methods = methods(yaml, entry);
            for path in paths {
                for method in &methods {
                    route(sheet, method, &path, controller, yaml.position(key));
                }
            }
        }
    }
}

/// The text of a key, or one for each language.
fn texts(yaml: &Yaml, entry: Id, key: &str) -> Vec<String> {
    let Some(value) = yaml.get(entry, key) else { return Vec::new() };
    match yaml.text(value) {
        Some(text) => vec![text.to_owned()],
        None => yaml.pairs(value).filter_map(|it| yaml.text(it.2)).map(str::to_owned).collect(),
    }
}

/// `[GET, POST]`, `GET|POST`, or all.
fn methods(yaml: &Yaml, entry: Id) -> Vec<String> {
    let listed = yaml.get(entry, "methods").map(|it| yaml.texts(it)).unwrap_or_default();
    let all = listed.iter().flat_map(|it| it.0.split(['|', ','])).map(|it| it.trim().to_ascii_uppercase());
    let all: Vec<String> = all.filter(|it| !it.is_empty()).collect();
    if all.is_empty() { vec!["ANY".to_owned()] } else { all }
}

/// A pattern; values of the configuration are parameters like others.
fn pattern(written: &str) -> String {
    let mut out = String::new();
    for (at, part) in written.split('%').enumerate() {
        match at % 2 {
            0 => out.push_str(part),
            _ => out.push_str(&format!("{{{part}}}")),
        }
    }
    let is_whole = written.matches('%').count().is_multiple_of(2);
    joined("/", &normalised(if is_whole { &out } else { written }))
}

fn route(sheet: &mut Sheet<'_>, method: &str, path: &str, controller: Option<&str>, position: Position) {
    let handler = match controller.map(action) {
        Some((class, name)) => {
            let segments = class.iter().map(|it| sheet.str(it)).collect();
            let type_ = TypeId(u32::try_from(sheet.facts.types.len()).unwrap_or(u32::MAX));
            sheet.facts.types.push(Type::Named { segments, arguments: Vec::new(), at: 0 });
            let of = ExprId(u32::try_from(sheet.facts.exprs.len()).unwrap_or(u32::MAX));
            sheet.facts.exprs.push(Expr::TypePath(type_));
            Handler::Method { of, name: sheet.str(&name), file: None }
        }
        None => Handler::Inline,
    };
    let route = Route {
        decl: None,
        method: sheet.str(method),
        pattern: Some(sheet.str(&pattern(path))),
        written: sheet.str(&format!("{method} {path}")),
        router: Router::File,
        verified: true,
        handler,
        position,
        through: None,
    };
    sheet.facts.routes.push(route);
}

/// The class and method of `App\Blog::show`, `App\Show`, `AppBundle:Blog:show`; a service has the name of no class.
fn action(written: &str) -> (Vec<String>, String) {
    let written = written.trim_start_matches('\\');
    if let [bundle, controller, action] = written.split(':').collect::<Vec<_>>()[..]
        && !controller.is_empty()
    {
        let mut class: Vec<String> = [bundle, "Controller"].map(str::to_owned).into();
        class.extend(format!("{controller}Controller").split(['/', '\\']).map(str::to_owned));
        return (class, format!("{action}Action"));
    }
    let (class, method) = written.split_once("::").unwrap_or((written, "__invoke"));
    (class.split('\\').map(str::to_owned).collect(), method.to_owned())
}

/// Another file of routes below this one; or controllers, whose attributes stand behind the prefix then.
fn import(sheet: &mut Sheet<'_>, resource: &str, kind: &str, prefixes: &[String]) {
    let is_yaml = resource.ends_with(".yaml") || resource.ends_with(".yml");
    let is_attributes = matches!(kind, "" | "attribute" | "annotation");
    let place = match resource.starts_with('@') {
        true => Some(resource.trim_end_matches('/').to_owned()),
        false => sheet.relative(resource).filter(|it| !it.is_empty()),
    };
    let (child, parent) = match place {
        _ if resource == "routing.controllers" => (Router::Application(sheet.str("symfony:")), Router::Root),
        Some(place) if is_yaml && !resource.contains('*') => {
            (Router::Module(sheet.str(&place)), Router::File)
        }
        Some(place)
            if !is_yaml
                && is_attributes
                && !resource.contains(['*', '{', '\\'])
                && resource.contains('/') =>
        {
            (Router::Application(sheet.str(&format!("symfony:@{place}"))), Router::Root)
        }
        _ => return,
    };
    let none = [String::new()];
    for prefix in if prefixes.is_empty() { &none } else { prefixes } {
        let prefix = if prefix.is_empty() { String::new() } else { pattern(prefix) };
        let prefix = sheet.str(&prefix);
        let mount = Mount {
            decl: None,
            child,
            parent: Some(parent),
            prefix,
            replaces: false,
            except: Vec::new(),
            handed: Vec::new(),
        };
        sheet.facts.mounts.push(mount);
    }
}
