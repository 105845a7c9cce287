//! Rails: the route file, evaluated in symbols to controllers and actions.

use knowing_model::Position;
use knowing_model::facts::{Handler, Router};
use tree_sitter::{Point, Range};

use super::ruby::{Ast, Word};
use super::{New, joined, push};
use crate::passes::{Found, FoundHandler, FoundMount, FoundRouter, Pass, innermost};

const METHODS: &[&str] = &["get", "post", "put", "patch", "delete", "match"];

/// `config/routes.rb`, `config/routes/admin.rb`, and whatever draws routes.
pub(super) fn is_routes(path: &str, bytes: &[u8]) -> bool {
    is_route_file(path) || memchr::memmem::find(bytes, b".routes.draw do").is_some()
}

fn is_route_file(path: &str) -> bool {
    let is_file = path == "config/routes.rb" || path.ends_with("/config/routes.rb");
    is_file || path.starts_with("config/routes/") || path.contains("/config/routes/")
}

/// Declarations in which routes are drawn, in source order: of a test that draws some, most of the file says nothing of them.
/// None where all of the file is to be read.
pub(super) fn ranges(pass: &Pass<'_>) -> Vec<Range> {
    if is_route_file(pass.path) {
        return Vec::new();
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memmem::find_iter(pass.bytes, b"draw") {
        let is_asked = pass.bytes[..at].ends_with(b".") || pass.bytes[..at].ends_with(b"::");
        let is_whole = pass.bytes.get(at + 4).is_none_or(|it| !it.is_ascii_alphanumeric() && *it != b'_');
        if !is_asked || !is_whole || ranges.last().is_some_and(|it| at < it.1) {
            continue;
        }
        let Some(around) = innermost(pass.facts, at) else { return Vec::new() };
        let range = pass.facts.decl(around).range;
        while ranges.pop_if(|it| it.0 >= range.from as usize).is_some() {}
        ranges.push((range.from as usize, range.to as usize));
    }
    let point = |offset: usize| {
        let position = pass.position(offset);
        Point { row: position.line as usize - 1, column: position.column as usize }
    };
    let ranges = ranges.into_iter().map(|(from, to)| Range {
        start_byte: from,
        end_byte: to,
        start_point: point(from),
        end_point: point(to),
    });
    ranges.collect()
}

pub(super) fn evaluate(pass: &Pass<'_>, found: &mut Found, root: Ast<'_>) {
    let mut evaluator = Evaluator { pass, found, concerns: Vec::new(), n_routes: 0 };
    let scope = Scope { router: Router::File, ..Scope::default() };
    if is_route_file(pass.path) {
        return evaluator.body(root, &scope, 0);
    }
    // Elsewhere `get "/x"` may be a request.
    let mut drawn = Vec::new();
    blocks_of_draw(root, &mut drawn, 0);
    drawn.into_iter().for_each(|it| evaluator.body(it, &scope, 0));
}

fn blocks_of_draw<'t>(node: Ast<'t>, drawn: &mut Vec<Ast<'t>>, depth: usize) {
    if depth > 60 {
        return;
    }
    if let Some(word) = node.word().filter(|it| it.name == "draw" && it.receiver.is_some()) {
        drawn.extend(word.block);
        return;
    }
    node.children().into_iter().for_each(|it| blocks_of_draw(it, drawn, depth + 1));
}

/// Where a statement stands.
#[derive(Clone, Debug)]
struct Scope {
    path: String,
    modules: Vec<String>,
    controller: Option<String>,
    resource: Option<Resource>,
    /// Inside of `member` or `collection`.
    on: On,
    only: Option<Vec<String>>,
    concerns: Vec<String>,
    router: Router,
    shallow: bool,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope {
            path: String::new(),
            modules: Vec::new(),
            controller: None,
            resource: None,
            on: On::Nested,
            only: None,
            concerns: Vec::new(),
            router: Router::File,
            shallow: false,
        }
    }
}

#[derive(Clone, Debug)]
struct Resource {
    controller: String,
    /// Before the name of the resource, behind it, and behind one of its members.
    collection: String,
    member: String,
    /// As `member`, with the name that nested resources see.
    nested: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum On {
    Nested,
    Member,
    Collection,
}

struct Evaluator<'p, 'a, 't> {
    pass: &'p Pass<'a>,
    found: &'p mut Found,
    concerns: Vec<(String, Ast<'t>)>,
    n_routes: usize,
}

/// A file of more is a trap.
const MAX_ROUTES: usize = 20_000;

impl<'t> Evaluator<'_, '_, 't> {
    fn body(&mut self, body: Ast<'t>, scope: &Scope, depth: usize) {
        if depth > 40 || self.n_routes > MAX_ROUTES {
            return;
        }
        for statement in body.statements() {
            match statement.kind() {
                "if"
                | "unless"
                | "if_modifier"
                | "unless_modifier"
                | "begin"
                | "parenthesized_statements" => {
                    self.body(statement, scope, depth + 1);
                }
                "call" | "identifier" => {
                    if let Some(word) = statement.word() {
                        self.word(&word, scope, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn word(&mut self, word: &Word<'t>, scope: &Scope, depth: usize) {
        let first = word.plain.first().copied().and_then(Ast::literal);
        match word.name.as_str() {
            "draw" => match word.block {
                Some(block) => self.body(block, scope, depth + 1),
                // `draw(:admin)` reads `config/routes/admin.rb`.
                None => {
                    if let Some(name) = first {
                        let top = self.pass.path.rfind("config/").map_or("", |at| &self.pass.path[..at]);
                        let child = FoundRouter::Module(format!("{top}config/routes/{name}.rb"));
                        let prefix = scope.path.clone();
                        let parent = Some(scope.router);
                        self.found.mounts.push(FoundMount {
                            decl: None,
                            child,
                            parent: parent.map(Into::into),
                            prefix,
                            replaces: false,
                            handed: Vec::new(),
                        });
                    }
                }
            },
            "namespace" => {
                let Some(name) = first else { return };
                let mut inner = scope.clone();
                inner.resource = None;
                let path = word.text("path").unwrap_or_else(|| name.clone());
                inner.path = joined(&self.nested_path(scope), &path);
                inner.modules.push(word.text("module").unwrap_or(name));
                self.block(word, &inner, depth);
            }
            "scope" => {
                let mut inner = scope.clone();
                let base = self.nested_path(scope);
                let path = first.filter(|_| {
                    word.plain.first().is_some_and(|it| it.kind() == "string" || it.kind() == "simple_symbol")
                });
                let path = word.text("path").or(path).unwrap_or_default();
                inner.path = joined(&base, &path);
                inner.modules.extend(word.text("module"));
                inner.controller = word.text("controller").or(inner.controller);
                inner.shallow = scope.shallow;
                if scope.resource.is_some() {
                    inner.resource = None;
                }
                self.block(word, &inner, depth);
            }
            "resources" | "resource" => self.resources(word, scope, depth),
            "member" | "collection" | "new" => {
                let mut inner = scope.clone();
                inner.on = if word.name == "collection" { On::Collection } else { On::Member };
                self.block(word, &inner, depth);
            }
            "concern" => {
                if let (Some(name), Some(block)) = (first, word.block) {
                    self.concerns.push((name, block));
                }
            }
            "concerns" => {
                let names: Vec<String> = word.plain.iter().flat_map(|it| it.literals()).collect();
                self.use_concerns(&names, scope, depth);
            }
            "controller" => {
                let mut inner = scope.clone();
                inner.controller = first;
                self.block(word, &inner, depth);
            }
            "root" => {
                let to = first.or_else(|| word.text("to"));
                let path = if scope.path.is_empty() { "/".to_owned() } else { scope.path.clone() };
                self.route(scope, "GET", Some(&path), to.as_deref(), word.position);
            }
            "mount" => {}
            "shallow" => {
                let mut inner = scope.clone();
                inner.shallow = true;
                self.block(word, &inner, depth);
            }
            "with_options" => {
                let mut inner = scope.clone();
                inner.controller = word.text("controller").or(inner.controller);
                inner.only = word.option("only").map(Ast::literals).or(inner.only);
                inner.concerns.extend(word.option("concerns").map(Ast::literals).unwrap_or_default());
                self.block(word, &inner, depth);
            }
            "devise_for" => self.devise(word, scope),
            "use_doorkeeper" => self.doorkeeper(word, scope),
            name if METHODS.contains(&name) => self.methods(word, scope),
            // `constraints`, `authenticate`, `defaults` and whatever else has a block.
            _ => self.block(word, scope, depth),
        }
    }

    fn block(&mut self, word: &Word<'t>, scope: &Scope, depth: usize) {
        if let Some(block) = word.block {
            self.body(block, scope, depth + 1);
        }
    }

    fn nested_path(&self, scope: &Scope) -> String {
        match (&scope.resource, scope.on) {
            (Some(it), On::Nested) => it.nested.clone(),
            (Some(it), On::Member) => it.member.clone(),
            (Some(it), On::Collection) => it.collection.clone(),
            (None, _) => scope.path.clone(),
        }
    }

    fn resources(&mut self, word: &Word<'t>, scope: &Scope, depth: usize) {
        let is_plural = word.name == "resources";
        for name in word.plain.iter().filter_map(|it| it.literal()) {
            let base = match scope.shallow && scope.resource.is_some() {
                true => scope.resource.as_ref().map(|it| it.nested.clone()).unwrap_or_default(),
                false => self.nested_path(scope),
            };
            let segment = word.text("path").unwrap_or_else(|| name.clone());
            let collection = if segment.is_empty() { base } else { joined(&base, &segment) };
            let parameter = word.text("param").unwrap_or_else(|| "id".to_owned());
            let parameter = parameter.trim_start_matches(':');
            let singular = singular(&name);
            let (member, nested) = if is_plural {
                let outer = if parameter == "id" {
                    format!("{singular}_id")
                } else {
                    format!("{singular}_{parameter}")
                };
                (
                    joined(&collection, &format!("{{{parameter}}}")),
                    joined(&collection, &format!("{{{outer}}}")),
                )
            } else {
                (collection.clone(), collection.clone())
            };
            // Members of a shallow resource stand at the top.
            let is_shallow =
                (scope.shallow || word.option("shallow").is_some()) && scope.resource.is_some() && is_plural;
            let (member, nested) = match is_shallow {
                true => (
                    joined(&joined(&scope.path, &segment), &format!("{{{parameter}}}")),
                    joined(&joined(&scope.path, &segment), &format!("{{{singular}_id}}")),
                ),
                false => (member, nested),
            };
            let controller = word
                .text("controller")
                .unwrap_or_else(|| if is_plural { name.clone() } else { plural(&name) });
            let mut inner = scope.clone();
            inner.modules.extend(word.text("module"));
            let only = word.option("only").map(Ast::literals).or_else(|| scope.only.clone());
            let except = word.option("except").map(Ast::literals).unwrap_or_default();
            let rows: &[(&str, &str, bool, &str)] = &[
                ("index", "GET", false, ""),
                ("create", "POST", false, ""),
                ("new", "GET", false, "new"),
                ("edit", "GET", true, "edit"),
                ("show", "GET", true, ""),
                ("update", "PATCH", true, ""),
                ("update", "PUT", true, ""),
                ("destroy", "DELETE", true, ""),
            ];
            for (action, method, is_member, rest) in rows {
                if !is_plural && *action == "index" {
                    continue;
                }
                if only.as_ref().is_some_and(|it| !it.iter().any(|it| it == action))
                    || except.iter().any(|it| it == action)
                {
                    continue;
                }
                let path = joined(if *is_member { &member } else { &collection }, rest);
                let to = format!("{controller}#{action}");
                self.route(&inner, method, Some(&path), Some(&to), word.position);
            }
            inner.resource = Some(Resource { controller, collection, member, nested });
            inner.on = On::Nested;
            inner.shallow |= word.option("shallow").is_some_and(|it| it.text() == "true");
            let names = word.option("concerns").map(Ast::literals);
            let names = names.unwrap_or_else(|| scope.concerns.clone());
            inner.concerns.clear();
            self.use_concerns(&names, &inner, depth);
            self.block(word, &inner, depth);
        }
    }

    fn use_concerns(&mut self, names: &[String], scope: &Scope, depth: usize) {
        for name in names {
            if let Some(block) = self.concerns.iter().find(|it| it.0 == *name).map(|it| it.1) {
                self.body(block, scope, depth + 1);
            }
        }
    }

    /// `get "x", to: "users#show"`, `get "x" => "users#show"`, `get :preview, on: :member`, `match "x", via: [:get]`.
    fn methods(&mut self, word: &Word<'t>, scope: &Scope) {
        let mut paths: Vec<(Option<String>, Option<String>)> = Vec::new();
        for it in &word.plain {
            paths.push((it.literal(), None));
        }
        if paths.is_empty() {
            // `get "x" => "users#show"`: the first pair whose key is no option.
            let pair = word.named.iter().find(|it| !OPTIONS.contains(&it.0.as_str()));
            if let Some((key, value)) = pair {
                paths.push((Some(key.clone()), value.literal()));
            }
        }
        let methods: Vec<String> = if word.name == "match" {
            let via = word.option("via").map(Ast::literals).unwrap_or_default();
            let via = via
                .into_iter()
                .map(|it| if it == "all" { "ANY".to_owned() } else { it.to_ascii_uppercase() });
            via.collect()
        } else {
            vec![word.name.to_ascii_uppercase()]
        };
        for (written, target) in paths {
            let on = match word.text("on").as_deref() {
                Some("member") => On::Member,
                Some("collection") => On::Collection,
                _ => scope.on,
            };
            let base = match (&scope.resource, on) {
                (Some(it), On::Member) => it.member.clone(),
                (Some(it), On::Collection) => it.collection.clone(),
                (Some(it), On::Nested) => it.nested.clone(),
                (None, _) => scope.path.clone(),
            };
            let Some(written) = written else {
                for method in &methods {
                    self.route(scope, method, None, None, word.position);
                }
                continue;
            };
            let shown = word.text("path").unwrap_or_else(|| written.clone());
            let path = joined(&base, &shown);
            let action = word.text("action");
            let controller = word.text("controller");
            let to = target.or_else(|| word.text("to")).map(|to| match to.contains('#') {
                true => to,
                false => format!("{}#{to}", self.controller_of(scope, controller.as_deref())),
            });
            let to = to.or_else(|| {
                let action = action.clone().or_else(|| {
                    let last =
                        written.rsplit('/').find(|it| !it.is_empty() && !it.starts_with([':', '(', '*']))?;
                    Some(last.replace('-', "_").split('(').next().unwrap_or_default().to_owned())
                })?;
                let of = self.controller_of(scope, controller.as_deref());
                if !of.is_empty() {
                    return Some(format!("{of}#{action}"));
                }
                // `get "photos/poll"` is photos#poll.
                let (of, action) = written.trim_matches('/').rsplit_once('/')?;
                (!of.contains([':', '('])).then(|| format!("{of}#{action}"))
            });
            // Redirects and Rack applications have no action.
            let is_other = word.option("to").is_some_and(|it| it.literal().is_none());
            for method in &methods {
                self.route(scope, method, Some(&path), to.as_deref().filter(|_| !is_other), word.position);
            }
        }
    }

    /// `devise_for :users, path: "auth", controllers: { sessions: "auth/sessions" }`: sessions, and what is said to have a
    /// controller; what else there is the model decides.
    fn devise(&mut self, word: &Word<'t>, scope: &Scope) {
        let controllers = word.option("controllers").map(pairs).unwrap_or_default();
        let skipped = word.option("skip").map(Ast::literals).unwrap_or_default();
        let only = word.option("only").map(Ast::literals);
        for name in word.plain.iter().filter_map(|it| it.literal()) {
            let base = joined(&scope.path, &word.text("path").unwrap_or(name));
            for (of, method, path, action) in DEVISE {
                let named = controllers.iter().find(|it| it.0 == *of).map(|it| it.1.as_str());
                let is_used = *of == "sessions" || named.is_some();
                let is_skipped = skipped.iter().any(|it| it == of || it == "all")
                    || only.as_ref().is_some_and(|it| !it.iter().any(|it| it == of));
                if !is_used || is_skipped {
                    continue;
                }
                // Without a controller of the project, it is the library's.
                let is_own = named.is_some() || !scope.modules.is_empty() || word.option("module").is_some();
                let mut inner = scope.clone();
                inner.modules.extend(word.text("module"));
                let to = format!("{}#{action}", named.unwrap_or(of));
                let to = Some(to.as_str()).filter(|_| is_own);
                self.route(&inner, method, Some(&joined(&base, path)), to, word.position);
            }
        }
    }

    /// `use_doorkeeper do controllers tokens: "oauth/tokens"; skip_controllers :applications end`.
    fn doorkeeper(&mut self, word: &Word<'t>, scope: &Scope) {
        let mut controllers: Vec<(String, String)> = Vec::new();
        let mut skipped: Vec<String> = Vec::new();
        for it in word.block.map(Ast::statements).unwrap_or_default() {
            let Some(inner) = it.word() else { continue };
            match inner.name.as_str() {
                "controllers" => {
                    let all = inner.named.iter();
                    controllers.extend(all.filter_map(|(key, value)| Some((key.clone(), value.literal()?))));
                }
                "skip_controllers" => skipped.extend(inner.plain.iter().flat_map(|it| it.literals())),
                _ => {}
            }
        }
        let base = joined(&scope.path, &word.text("scope").unwrap_or_else(|| "oauth".to_owned()));
        for (of, method, path, action) in DOORKEEPER {
            if skipped.iter().any(|it| it == of) {
                continue;
            }
            let named = controllers.iter().find(|it| it.0 == *of);
            let to = named.map(|it| format!("/{}#{action}", it.1));
            self.route(scope, method, Some(&joined(&base, path)), to.as_deref(), word.position);
        }
    }

    fn controller_of(&self, scope: &Scope, own: Option<&str>) -> String {
        let around =
            scope.controller.as_deref().or_else(|| scope.resource.as_ref().map(|it| it.controller.as_str()));
        own.or(around).unwrap_or_default().to_owned()
    }

    fn route(
        &mut self,
        scope: &Scope,
        method: &str,
        path: Option<&str>,
        to: Option<&str>,
        position: Position,
    ) {
        self.n_routes += 1;
        let handler: FoundHandler = match to.and_then(|it| it.split_once('#')) {
            Some((controller, action)) => {
                let absolute = controller.starts_with('/');
                let mut class: Vec<String> = Vec::new();
                if !absolute {
                    class.extend(scope.modules.iter().flat_map(|it| it.split('/')).map(camel));
                }
                class.extend(controller.trim_start_matches('/').split('/').map(camel));
                if let Some(last) = class.last_mut() {
                    last.push_str("Controller");
                }
                // Where a controller lies follows from its name, whatever that is in capitals.
                let mut path: Vec<&str> = Vec::new();
                if !absolute {
                    path.extend(scope.modules.iter().map(String::as_str));
                }
                path.push(controller.trim_start_matches('/'));
                let top = self.pass.path.rfind("config/").map_or("", |at| &self.pass.path[..at]);
                let file = Some(format!("{top}app/controllers/{}_controller.rb", path.join("/")));
                FoundHandler::Action { class, method: action.to_owned(), file }
            }
            None => Handler::Inline.into(),
        };
        let path = path.map(|it| {
            // What may be left out is shown.
            let it = it.replace("(.:format)", "").replace(['(', ')'], "");
            if it.starts_with('/') { it } else { format!("/{it}") }
        });
        push(
            self.found,
            New {
                decl: None,
                method,
                pattern: path.as_deref(),
                prefix: "",
                router: scope.router.into(),
                verified: true,
                handler,
                position,
            },
        );
    }
}

/// Controller, method, path behind the scope's, action.
const DEVISE: &[(&str, &str, &str, &str)] = &[
    ("sessions", "GET", "sign_in", "new"),
    ("sessions", "POST", "sign_in", "create"),
    ("sessions", "DELETE", "sign_out", "destroy"),
    ("passwords", "GET", "password/new", "new"),
    ("passwords", "GET", "password/edit", "edit"),
    ("passwords", "PATCH", "password", "update"),
    ("passwords", "PUT", "password", "update"),
    ("passwords", "POST", "password", "create"),
    ("registrations", "GET", "cancel", "cancel"),
    ("registrations", "GET", "sign_up", "new"),
    ("registrations", "GET", "edit", "edit"),
    ("registrations", "PATCH", "", "update"),
    ("registrations", "PUT", "", "update"),
    ("registrations", "DELETE", "", "destroy"),
    ("registrations", "POST", "", "create"),
    ("confirmations", "GET", "confirmation/new", "new"),
    ("confirmations", "GET", "confirmation", "show"),
    ("confirmations", "POST", "confirmation", "create"),
    ("unlocks", "GET", "unlock/new", "new"),
    ("unlocks", "GET", "unlock", "show"),
    ("unlocks", "POST", "unlock", "create"),
];

const DOORKEEPER: &[(&str, &str, &str, &str)] = &[
    ("authorizations", "GET", "authorize/native", "show"),
    ("authorizations", "GET", "authorize", "new"),
    ("authorizations", "DELETE", "authorize", "destroy"),
    ("authorizations", "POST", "authorize", "create"),
    ("tokens", "POST", "token", "create"),
    ("tokens", "POST", "revoke", "revoke"),
    ("tokens", "POST", "introspect", "introspect"),
    ("applications", "GET", "applications", "index"),
    ("applications", "POST", "applications", "create"),
    ("applications", "GET", "applications/new", "new"),
    ("applications", "GET", "applications/:id/edit", "edit"),
    ("applications", "GET", "applications/:id", "show"),
    ("applications", "PATCH", "applications/:id", "update"),
    ("applications", "PUT", "applications/:id", "update"),
    ("applications", "DELETE", "applications/:id", "destroy"),
    ("authorized_applications", "GET", "authorized_applications", "index"),
    ("authorized_applications", "DELETE", "authorized_applications/:id", "destroy"),
    ("token_info", "GET", "token/info", "show"),
];

/// Pairs of a written hash.
fn pairs(hash: Ast<'_>) -> Vec<(String, String)> {
    let pair = |it: Ast<'_>| Some((it.field("key")?.literal()?, it.field("value")?.literal()?));
    hash.children().into_iter().filter_map(pair).collect()
}

const OPTIONS: &[&str] = &[
    "to",
    "via",
    "as",
    "on",
    "controller",
    "action",
    "constraints",
    "defaults",
    "format",
    "only",
    "except",
    "path",
    "module",
    "anchor",
    "param",
    "shallow",
];

fn camel(text: &str) -> String {
    text.split('_')
        .map(|it| it[..1.min(it.len())].to_ascii_uppercase() + it.get(1..).unwrap_or_default())
        .collect()
}

fn singular(name: &str) -> String {
    match name {
        "statuses" => return "status".to_owned(),
        "series" | "news" | "media" | "species" => return name.to_owned(),
        "people" => return "person".to_owned(),
        _ => {}
    }
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes", "uses"] {
        if name.ends_with(ending) {
            return name[..name.len() - 2].to_owned();
        }
    }
    name.strip_suffix('s').filter(|it| !it.ends_with('s')).unwrap_or(name).to_owned()
}

fn plural(name: &str) -> String {
    if name.ends_with(['s', 'x']) && !name.ends_with("ss") && name.ends_with("es") {
        return name.to_owned();
    }
    match name.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u', 'i']) => format!("{stem}ies"),
        _ if name.ends_with("ss") || name.ends_with('x') || name.ends_with("ch") || name.ends_with("sh") => {
            format!("{name}es")
        }
        _ if name.ends_with("us") => format!("{name}es"),
        _ if name.ends_with('s') => name.to_owned(),
        _ => format!("{name}s"),
    }
}

#[cfg(test)]
mod tests {
    /// Routes of a file with the lines they stand in.
    fn routes(source: &str) -> Vec<(String, u32)> {
        let facts = crate::extract("test/routing_test.rb", source.as_bytes());
        let pattern = |it: &knowing_model::facts::Route| facts.text(it.pattern.unwrap()).to_owned();
        facts.routes.iter().map(|it| (pattern(it), it.position.line)).collect()
    }

    #[test]
    fn all_that_a_test_draws_is_found_wherever_it_stands() {
        let in_methods = "class RoutingTest < TestCase\n  def first\n    @app.routes.draw do\n      get '/a', to: 'a#a'\n    end\n  end\n\n  def none\n    get '/request'\n  end\n\n  def last\n    with do\n      @set.draw { get '/b', to: 'b#b' }\n    end\n  end\n";
        let own = [("/a".to_owned(), 4), ("/b".to_owned(), 14)];
        assert_eq!(routes(&format!("{in_methods}end\n")), own);
        // The class around the methods draws some, too, and takes their place.
        let of_class = "  ROUTES.draw do\n    get '/c', to: 'c#c'\n  end\n";
        let mut all = own.to_vec();
        all.push(("/c".to_owned(), 18));
        assert_eq!(routes(&format!("{in_methods}{of_class}end\n")), all);
        // Outside of all declarations: all of the file is read.
        all[2].1 += 1;
        assert_eq!(routes(&format!("{in_methods}end\n{of_class}")), all);
        // Cut off, as a file is that somebody writes in.
        let half = &in_methods[..in_methods.find("def none").unwrap()];
        assert_eq!(routes(half), own[..1]);
    }
}
