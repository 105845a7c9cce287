//! What languages have in common beyond declarations and calls: routes, requests, topics, flags, dependencies of build files
//! that are code.
//!
//! A pass reads the facts that a language has given, and looks at the source only where a call or a decorator stands that
//! means something to it: facts do not hold the texts of arguments. Files that import nothing of interest cost a look at
//! their imports.

mod arguments;
pub(crate) mod build_files;
pub(crate) mod capabilities;
mod constants;
mod events;
mod graphql_texts;
mod programs;
mod requests;
pub(crate) mod routes;
mod rpc;
mod test_requests;

use std::cell::OnceCell;

use knowing_model::facts::{
    AskedVersion, BindingTarget, Call, Certainty, Constant, Decl, DeclId, Expr, ExprId, FileFacts, HOLE,
    Handler, ImportKind, LENIENT, Link, LinkEnd, Mount, Offer, Reference, ReferenceRole, ReferenceTarget,
    Route, Router, Str, Through, Type, TypeId, Value,
};
use knowing_model::{EdgeKind, NodeKind, Position};
use rustc_hash::FxHashMap;

pub(crate) use arguments::{Arg, arguments_at, literal, split_list};

use crate::engine::lines::Lines;

/// Runs all passes over the facts of a file of code.
pub(crate) fn run(facts: &mut FileFacts, path: &str, bytes: &[u8]) {
    let modules = Modules::of(facts);
    let found = {
        let pass = Pass::new(facts, path, bytes, modules);
        let mut found = Found::default();
        routes::find(&pass, &mut found);
        events::find(&pass, &mut found);
        requests::find(&pass, &mut found);
        test_requests::actions(&pass, &mut found);
        build_files::find(&pass, &mut found);
        constants::find(&pass, &mut found);
        rpc::find(&pass, &mut found);
        programs::find(&pass, &mut found);
        graphql_texts::find(&pass, &mut found);
        found
    };
    found.write(facts, bytes);
}

/// The innermost declaration around an offset.
fn innermost(facts: &FileFacts, offset: usize) -> Option<DeclId> {
    let offset = u32::try_from(offset).ok()?;
    let around = (0..).zip(&facts.decls).filter(|it| it.1.range.contains(offset));
    around.max_by_key(|it| it.1.range.from).map(|it| DeclId(it.0))
}

/// What the file imports, as texts.
pub(crate) struct Modules(Vec<String>);

impl Modules {
    fn of(facts: &FileFacts) -> Modules {
        let all = facts.imports.iter().map(|it| {
            let module: Vec<&str> = it.module.iter().map(|it| facts.text(*it)).collect();
            let separator =
                if matches!(facts.language.as_str(), "go" | "typescript" | "ruby") { "/" } else { "." };
            let mut text = module.join(separator);
            if let ImportKind::Member { name, .. } = it.kind {
                text.push_str(separator);
                text.push_str(facts.text(name));
            }
            text
        });
        let mut all: Vec<String> = all.collect();
        all.sort();
        all.dedup();
        Modules(all)
    }

    /// Whether a module that begins so is imported.
    pub(crate) fn has(&self, begin: &str) -> bool {
        self.0.iter().any(|it| {
            it.strip_prefix(begin)
                .is_some_and(|rest| rest.is_empty() || !rest.as_bytes()[0].is_ascii_alphanumeric())
        })
    }

    pub(crate) fn has_any(&self, begins: &[&str]) -> bool {
        begins.iter().any(|it| self.has(it))
    }
}

/// A file's facts and source, read-only.
pub(crate) struct Pass<'a> {
    pub(crate) facts: &'a FileFacts,
    pub(crate) path: &'a str,
    pub(crate) bytes: &'a [u8],
    pub(crate) modules: Modules,
    lines: OnceCell<Lines>,
    calls: OnceCell<FxHashMap<ExprId, usize>>,
    /// Names passed as values, by offset.
    passed: OnceCell<Vec<(u32, ExprId)>>,
    /// Calls by the offset of the called name.
    offsets: OnceCell<Vec<(u32, usize)>>,
}

impl<'a> Pass<'a> {
    fn new(facts: &'a FileFacts, path: &'a str, bytes: &'a [u8], modules: Modules) -> Pass<'a> {
        Pass {
            facts,
            path,
            bytes,
            modules,
            lines: OnceCell::new(),
            calls: OnceCell::new(),
            passed: OnceCell::new(),
            offsets: OnceCell::new(),
        }
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| {
            let mut lines = Lines::default();
            lines.fill(self.bytes);
            lines
        })
    }

    pub(crate) fn offset(&self, position: Position) -> usize {
        self.lines().offset(position) as usize
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let lines = self.lines();
        lines.position(lines.row_of(offset), offset)
    }

    pub(crate) fn text(&self, from: usize, to: usize) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.bytes.get(from..to).unwrap_or_default())
    }

    /// The last name of a callee.
    pub(crate) fn called(&self, call: &Call) -> &'a str {
        self.last_name(call.callee)
    }

    pub(crate) fn last_name(&self, expr: ExprId) -> &'a str {
        match self.facts.expr(expr) {
            Expr::Name { name, .. } | Expr::Member { name, .. } | Expr::Scoped { name, .. } => {
                self.facts.text(name)
            }
            Expr::Generic { of, .. } => self.last_name(of),
            _ => "",
        }
    }

    /// What a callee is a member of.
    pub(crate) fn receiver(&self, callee: ExprId) -> Option<ExprId> {
        match self.facts.expr(callee) {
            Expr::Member { of, .. } | Expr::Scoped { of, .. } => Some(of),
            Expr::Generic { of, .. } => self.receiver(of),
            _ => None,
        }
    }

    /// A chain of names as text: `app.router`; empty for anything else in it.
    pub(crate) fn chain(&self, expr: ExprId) -> String {
        match self.facts.expr(expr) {
            Expr::Name { name, .. } => self.facts.text(name).to_owned(),
            Expr::Member { of, name } | Expr::Scoped { of, name } => {
                let of = self.chain(of);
                if of.is_empty() { String::new() } else { format!("{of}.{}", self.facts.text(name)) }
            }
            Expr::TypePath(type_) => match self.facts.type_(type_) {
                Type::Named { segments, .. } => {
                    segments.iter().map(|it| self.facts.text(*it)).collect::<Vec<_>>().join(".")
                }
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// The call whose callee is this expression.
    pub(crate) fn call_of(&self, callee: ExprId) -> Option<&'a Call> {
        let calls = self
            .calls
            .get_or_init(|| self.facts.calls.iter().enumerate().map(|(at, it)| (it.callee, at)).collect());
        calls.get(&callee).map(|it| &self.facts.calls[*it])
    }

    /// The arguments of what is called by the name at a position.
    pub(crate) fn arguments(&self, position: Position) -> Vec<Arg> {
        arguments_at(self.bytes, self.offset(position), &self.facts.language)
    }

    /// The text of a literal argument; constants of the file are looked up.
    pub(crate) fn literal(&self, arg: &Arg) -> Option<String> {
        self.literal_text(&self.text(arg.from, arg.to))
    }

    pub(crate) fn literal_text(&self, text: &str) -> Option<String> {
        literal(text, &self.facts.language, &|name| self.constant(name))
    }

    /// As `literal`; a constant of another file leaves a hole, which is filled when files are resolved.
    pub(crate) fn pattern(&self, arg: &Arg) -> Option<String> {
        self.pattern_text(&self.text(arg.from, arg.to), arg.from)
    }

    /// As `pattern`, of a text at an offset.
    fn pattern_text(&self, text: &str, offset: usize) -> Option<String> {
        self.pattern_with(text, offset, &|_| Some(None))
    }

    /// As `pattern_text`; `local` says what a name stands for where that is known, and nothing at all where it cannot be told.
    pub(crate) fn pattern_with(
        &self,
        text: &str,
        offset: usize,
        local: &dyn Fn(&str) -> Option<Option<String>>,
    ) -> Option<String> {
        let language = self.facts.language.as_str();
        let constant = |name: &str| match local(name)? {
            Some(text) => Some(text),
            None => self.constant(name).or_else(|| hole(name, offset, language)),
        };
        interpolated(text, language, &constant).or_else(|| literal(text, language, &constant))
    }

    pub(crate) fn first_pattern(&self, args: &[Arg]) -> Option<String> {
        args.iter().find(|it| it.name.is_none()).and_then(|it| self.pattern(it))
    }

    /// The first argument without a name, as a literal.
    pub(crate) fn first_literal(&self, args: &[Arg]) -> Option<String> {
        args.iter().find(|it| it.name.is_none()).and_then(|it| self.literal(it))
    }

    /// What the only constant of a name in this file is set to, when that is a literal.
    pub(crate) fn constant(&self, name: &str) -> Option<String> {
        let last = name.rsplit(['.', ':', '\\']).next()?;
        let mut fitting = self.facts.decls.iter().filter(|it| {
            let kind =
                matches!(it.kind, NodeKind::Const | NodeKind::Var | NodeKind::Field | NodeKind::Property);
            kind && self.facts.text(it.name) == last
        });
        let decl = fitting.next()?;
        if fitting.next().is_some() {
            return None;
        }
        let text = self.text(decl.range.from as usize, decl.range.to as usize);
        let (_, value) = text.split_once('=')?;
        literal(value.trim().trim_end_matches(';'), &self.facts.language, &|_| None)
    }

    /// The last name or chain passed as a value inside of a range.
    pub(crate) fn passed_in(&self, from: usize, to: usize) -> Option<ExprId> {
        let passed = self.passed.get_or_init(|| {
            let all = self.facts.calls.iter().flat_map(|it| &it.passed);
            let mut all: Vec<(u32, ExprId)> =
                all.map(|it| (self.offset(it.position) as u32, it.expr)).collect();
            all.sort_unstable();
            all
        });
        let end = passed.partition_point(|it| (it.0 as usize) < to);
        let (offset, expr) = *passed.get(end.checked_sub(1)?)?;
        (offset as usize >= from).then_some(expr)
    }

    /// Calls inside of a range, in source order of the called names.
    pub(crate) fn calls_in(&self, from: usize, to: usize) -> impl Iterator<Item = &'a Call> {
        let offsets = self.offsets.get_or_init(|| {
            let all = self.facts.calls.iter().enumerate();
            let mut all: Vec<(u32, usize)> =
                all.map(|(at, it)| (self.offset(it.position) as u32, at)).collect();
            all.sort_unstable();
            all
        });
        let begin = offsets.partition_point(|it| (it.0 as usize) < from);
        let end = offsets.partition_point(|it| (it.0 as usize) < to).max(begin);
        offsets[begin..end].iter().map(|it| &self.facts.calls[it.1])
    }

    /// Decorators, annotations and attributes, with what they are applied to.
    pub(crate) fn decorators(&self) -> impl Iterator<Item = (&'a Reference, DeclId, &'a str)> {
        self.facts.references.iter().filter(|it| it.role == ReferenceRole::Decorator).filter_map(move |it| {
            let name = match it.target {
                ReferenceTarget::Expr(expr) => self.last_name(expr),
                ReferenceTarget::Type(type_) => match self.facts.type_(type_) {
                    Type::Named { segments, .. } => segments.last().map_or("", |it| self.facts.text(*it)),
                    _ => "",
                },
            };
            Some((it, it.decl?, name))
        })
    }

    /// Arguments of a decorator: its position may be that of the first name of a chain.
    pub(crate) fn decorator_arguments(&self, reference: &Reference) -> Vec<Arg> {
        arguments_at(self.bytes, self.offset(reference.position), &self.facts.language)
    }

    /// What a name is bound to at its place: the binding that began last before it.
    pub(crate) fn binding(&self, name: Str, at: u32) -> Option<&'a knowing_model::facts::Binding> {
        let fits = |it: &&knowing_model::facts::Binding| {
            it.target == BindingTarget::Name(name) && it.visible.from <= at && at <= it.visible.to
        };
        self.facts.bindings.iter().filter(fits).max_by_key(|it| it.visible.from)
    }

    /// The last segment of a written type.
    pub(crate) fn type_name(&self, type_: TypeId) -> &'a str {
        match self.facts.type_(type_) {
            Type::Named { segments, .. } => segments.last().map_or("", |it| self.facts.text(*it)),
            _ => "",
        }
    }

    /// What a value is bound to, in words: the chain it is made by (`express.Router`), or its type.
    pub(crate) fn origin(&self, expr: ExprId) -> Origin {
        match self.facts.expr(expr) {
            Expr::Name { name, at } => match self.binding(name, at) {
                Some(binding) => match binding.value {
                    Value::Expr(value) => Origin::Value(value, binding.decl),
                    Value::Type(type_) | Value::Narrowed(type_) => {
                        Origin::Type(self.type_name(type_).to_owned(), binding.decl)
                    }
                    _ => Origin::Unknown,
                },
                None => match self.top_variable(name) {
                    Some(value) => Origin::Value(value, None),
                    None => Origin::Unknown,
                },
            },
            _ => Origin::Value(expr, None),
        }
    }

    /// What a variable at the top of the file starts as.
    fn top_variable(&self, name: Str) -> Option<ExprId> {
        let mut all = self.facts.decls.iter().filter(|it| it.owner.is_none() && it.name == name);
        all.find_map(|it| it.value)
    }

    /// What an expression names as a router: a variable at the top of this file by its declaration.
    pub(crate) fn router_value(&self, expr: ExprId) -> Router {
        if let Expr::Name { name, at } = self.facts.expr(expr)
            && self.binding(name, at).is_none_or(|it| it.decl.is_none())
        {
            let held = |it: &Decl| {
                it.owner.is_none() && it.name == name && matches!(it.kind, NodeKind::Var | NodeKind::Const)
            };
            if let Some(place) = self.facts.decls.iter().position(held) {
                return Router::Decl(DeclId(u32::try_from(place).unwrap_or(u32::MAX)));
            }
        }
        Router::Value(expr)
    }

    /// An expression for a bare name that is written as an argument: the nearest one of that name.
    pub(crate) fn name_at(&self, arg: &Arg) -> Option<ExprId> {
        let text = self.text(arg.from, arg.to);
        if text.is_empty() || !text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            return None;
        }
        let fits = |it: &Expr| match it {
            Expr::Name { name, at } if self.facts.text(*name) == text => {
                Some((*at as usize).abs_diff(arg.from))
            }
            _ => None,
        };
        let all = (0..).zip(&self.facts.exprs).filter_map(|(at, it)| Some((fits(it)?, ExprId(at))));
        all.min().map(|it| it.1)
    }

    /// Whether an expression is the name of something imported, as far as this file tells.
    pub(crate) fn is_free(&self, expr: ExprId) -> bool {
        match self.facts.expr(expr) {
            Expr::Name { name, at } => {
                self.binding(name, at).is_none()
                    && !self.facts.decls.iter().any(|it| it.owner.is_none() && it.name == name)
            }
            _ => false,
        }
    }

    /// The parameter of a callable around, by its place behind the receiver.
    pub(crate) fn parameter(&self, decl: Option<DeclId>, name: &str) -> Option<(DeclId, u8)> {
        use knowing_model::facts::ParameterKind::Receiver;
        let mut at = decl;
        while let Some(id) = at {
            let decl = self.facts.decl(id);
            let mut plain = decl.parameters.iter().filter(|it| it.kind != Receiver);
            if let Some(place) = plain.position(|it| self.facts.text(it.name) == name) {
                return Some((id, u8::try_from(place).ok()?));
            }
            at = decl.owner;
        }
        None
    }
}

/// Stands for the constant that a chain of names means at an offset.
fn hole(name: &str, offset: usize, language: &str) -> Option<String> {
    if matches!(language, "ruby" | "php") {
        return None;
    }
    let name = name.replace("::", ".");
    let is_chain = name
        .split('.')
        .all(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'));
    (is_chain && !name.starts_with("this.") && !name.starts_with("self."))
        .then(|| format!("{HOLE}{name}@{offset}{HOLE}"))
}

/// `` `${BASE}/x` ``, `f"{BASE}/x"`: constants inside of a text.
fn interpolated(text: &str, language: &str, constant: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let (inner, open) = match language {
        "typescript" => (text.strip_prefix('`')?.strip_suffix('`')?, "${"),
        "python" => {
            let body = text.strip_prefix('f')?;
            let quote = body.chars().next().filter(|it| matches!(it, '"' | '\''))?;
            (body.strip_prefix(quote)?.strip_suffix(quote)?, "{")
        }
        _ => return None,
    };
    let mut out = String::new();
    let mut rest = inner;
    while let Some(at) = rest.find(open) {
        out.push_str(&rest[..at]);
        let (name, behind) = rest[at + open.len()..].split_once('}')?;
        out.push_str(&constant(name.trim())?);
        rest = behind;
    }
    out.push_str(rest);
    Some(out)
}

pub(crate) enum Origin {
    Value(ExprId, Option<DeclId>),
    Type(String, Option<DeclId>),
    Unknown,
}

/// What passes found, with texts of its own until it is written.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) routes: Vec<FoundRoute>,
    pub(crate) mounts: Vec<FoundMount>,
    pub(crate) links: Vec<FoundLink>,
    pub(crate) applications: Vec<FoundApplication>,
    pub(crate) constants: Vec<(DeclId, String)>,
    /// Fields of GraphQL that a declaration answers.
    pub(crate) served: Vec<(String, Answer, Position)>,
    /// What texts of another language in the file say.
    pub(crate) embedded: Option<FileFacts>,
    /// Packages and the versions that are asked for.
    pub(crate) versions: Vec<(String, String)>,
}

/// What answers a field.
pub(crate) enum Answer {
    Decl(DeclId),
    /// A symbol of another file by the end of its name.
    Symbol(String),
}

impl From<DeclId> for Answer {
    fn from(decl: DeclId) -> Answer {
        Answer::Decl(decl)
    }
}

/// An application of a framework that starts in this file, and what stands before its patterns.
pub(crate) struct FoundApplication {
    pub(crate) name: &'static str,
    pub(crate) prefix: String,
    pub(crate) except: Vec<String>,
}

pub(crate) struct FoundRoute {
    pub(crate) decl: Option<DeclId>,
    pub(crate) method: String,
    pub(crate) pattern: Option<String>,
    pub(crate) written: String,
    pub(crate) router: FoundRouter,
    pub(crate) verified: bool,
    pub(crate) handler: FoundHandler,
    pub(crate) position: Position,
    /// Where names of the handler are looked up.
    pub(crate) offset: u32,
    /// The callable that is handed the pattern, the argument it is, and what stands before the router.
    pub(crate) through: Option<(ExprId, u8, String)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum FoundRouter {
    Known(Router),
    Module(String),
    /// A function by its path, as it is named at an offset.
    Path(Vec<String>, u32),
    /// A chain of names, as it is written at an offset: `s.router`.
    Member(String, u32),
    /// The application of a framework that the file belongs to.
    Application(String),
}

#[derive(Clone, Debug)]
pub(crate) enum FoundHandler {
    Known(Handler),
    /// A class by its segments, and a method of it.
    Action {
        class: Vec<String>,
        method: String,
        file: Option<String>,
    },
}

impl From<Handler> for FoundHandler {
    fn from(handler: Handler) -> FoundHandler {
        FoundHandler::Known(handler)
    }
}

impl From<Router> for FoundRouter {
    fn from(router: Router) -> FoundRouter {
        FoundRouter::Known(router)
    }
}

pub(crate) struct FoundMount {
    pub(crate) decl: Option<DeclId>,
    pub(crate) child: FoundRouter,
    pub(crate) parent: Option<FoundRouter>,
    pub(crate) prefix: String,
    pub(crate) replaces: bool,
    /// Paths that are handed over with the router, by argument.
    pub(crate) handed: Vec<(u8, String)>,
}

pub(crate) struct FoundLink {
    pub(crate) from: LinkEnd,
    pub(crate) to: FoundEnd,
    pub(crate) kind: EdgeKind,
    pub(crate) certainty: Certainty,
    pub(crate) position: Position,
}

pub(crate) enum FoundEnd {
    Outside(NodeKind, String, String),
    Route(String, String),
    /// What a file offers, by space and name.
    Offered(&'static str, String),
    /// A symbol of code by the end of its name.
    Symbol(String),
    Program(String),
}

impl Found {
    pub(crate) fn outside(
        &mut self,
        decl: Option<DeclId>,
        kind: EdgeKind,
        (node, container, name): (NodeKind, &str, &str),
        certainty: Certainty,
        position: Position,
    ) {
        let from = decl.map_or(LinkEnd::File, LinkEnd::Decl);
        let to = FoundEnd::Outside(node, container.to_owned(), name.to_owned());
        self.links.push(FoundLink { from, to, kind, certainty, position });
    }

    fn write(self, facts: &mut FileFacts, bytes: &[u8]) {
        let is_empty = self.routes.is_empty()
            && self.mounts.is_empty()
            && self.links.is_empty()
            && self.applications.is_empty()
            && self.constants.is_empty()
            && self.embedded.is_none()
            && self.served.is_empty()
            && self.versions.is_empty();
        if is_empty {
            return;
        }
        let ids: FxHashMap<String, Str> =
            (0..).zip(facts.strings.iter()).map(|(at, text)| (text.to_owned(), Str(at))).collect();
        let mut writer = Writer { facts, ids };
        for route in self.routes {
            let it = Route {
                decl: route.decl,
                method: writer.str(&route.method),
                pattern: route.pattern.map(|it| writer.pattern(&it)),
                written: writer.str(&route.written),
                router: writer.router(route.router),
                verified: route.verified,
                handler: writer.handler(route.handler, route.offset),
                position: route.position,
                through: route.through.map(|(callee, argument, prefix)| Through {
                    callee,
                    argument,
                    prefix: writer.pattern(&prefix),
                }),
            };
            writer.facts.routes.push(it);
        }
        for mount in self.mounts {
            let child = writer.router(mount.child);
            let prefix = writer.pattern(&mount.prefix);
            let FoundMount { decl, parent, replaces, handed, .. } = mount;
            let parent = parent.map(|it| writer.router(it));
            let handed = handed.iter().map(|it| (it.0, writer.pattern(&it.1))).collect();
            let except = Vec::new();
            writer.facts.mounts.push(Mount { decl, child, parent, prefix, replaces, except, handed });
        }
        for it in self.applications {
            let child = Router::Application(writer.str(it.name));
            let prefix = writer.pattern(&it.prefix);
            let except = it.except.iter().map(|it| writer.str(it)).collect();
            let parent = Some(Router::Root);
            let (replaces, handed) = (false, Vec::new());
            writer.facts.mounts.push(Mount { decl: None, child, parent, prefix, replaces, except, handed });
        }
        let mut constants = self.constants;
        constants.sort_by_key(|it| it.0);
        for (decl, text) in constants {
            let text = writer.pattern(&text);
            writer.facts.constants.push(Constant { decl, text });
        }
        for link in self.links {
            let to = match link.to {
                FoundEnd::Outside(kind, container, name) => {
                    let name = knowing_model::name::bounded(&name).into_owned();
                    LinkEnd::Outside { kind, container: writer.str(&container), name: writer.str(&name) }
                }
                FoundEnd::Symbol(name) => LinkEnd::Symbol(writer.str(&name)),
                FoundEnd::Program(name) => LinkEnd::Program(writer.str(&name)),
                FoundEnd::Route(method, pattern) => {
                    LinkEnd::Route { method: writer.str(&method), pattern: writer.str(&pattern) }
                }
                FoundEnd::Offered(space, name) => {
                    LinkEnd::Offered { space: writer.str(space), name: writer.str(&name) }
                }
            };
            let FoundLink { from, kind, certainty, position, .. } = link;
            writer.facts.links.push(Link { from, to, kind, certainty, position });
        }
        if let Some(embedded) = self.embedded {
            writer.embed(&embedded, bytes);
        }
        for (package, version) in self.versions {
            let (package, version) = (writer.str(&package), writer.str(&version));
            writer.facts.versions.push(AskedVersion { package, version });
        }
        for (name, answer, position) in self.served {
            let from = LinkEnd::Offered { space: writer.str("graphql-field"), name: writer.str(&name) };
            let kind = EdgeKind::HandlesRoute;
            let to = match answer {
                Answer::Decl(decl) => LinkEnd::Decl(decl),
                Answer::Symbol(name) => LinkEnd::Symbol(writer.str(&name)),
            };
            writer.facts.links.push(Link { from, to, kind, certainty: Certainty::Pattern, position });
        }
    }
}

struct Writer<'f> {
    facts: &'f mut FileFacts,
    ids: FxHashMap<String, Str>,
}

impl Writer<'_> {
    fn str(&mut self, text: &str) -> Str {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = Str(u32::try_from(self.facts.strings.len()).unwrap_or(u32::MAX));
        self.facts.strings.push(text);
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Declarations, relations and offers of texts in this file, as its own. What the text says by itself is said by the
    /// declaration around it.
    fn embed(&mut self, embedded: &FileFacts, bytes: &[u8]) {
        let first = u32::try_from(self.facts.decls.len()).unwrap_or(u32::MAX);
        let mut lines = Lines::default();
        lines.fill(bytes);
        let holder = |facts: &FileFacts, at: Position| innermost(facts, lines.offset(at) as usize);
        let mut links = Vec::new();
        for link in &embedded.links {
            let end = |writer: &mut Self, end: LinkEnd| match end {
                LinkEnd::Decl(DeclId(at)) => LinkEnd::Decl(DeclId(first + at)),
                LinkEnd::Offered { space, name } => LinkEnd::Offered {
                    space: writer.str(embedded.text(space)),
                    name: writer.str(embedded.text(name)),
                },
                other => holder(writer.facts, link.position).map_or(other, LinkEnd::Decl),
            };
            let (from, to) = (end(self, link.from), end(self, link.to));
            links.push(Link { from, to, ..link.clone() });
        }
        self.facts.links.extend(links);
        for offer in &embedded.offers {
            let (space, name) = (self.str(embedded.text(offer.space)), self.str(embedded.text(offer.name)));
            self.facts.offers.push(Offer { space, name, decl: DeclId(first + offer.decl.0) });
        }
        for decl in &embedded.decls {
            let name = self.str(embedded.text(decl.name));
            let path = self.str(embedded.text(decl.path));
            let signature = self.str(embedded.text(decl.signature));
            let flags = self.facts.flags;
            self.facts.decls.push(Decl { name, path, signature, flags, ..decl.clone() });
        }
    }

    /// Text with expressions for its holes.
    fn pattern(&mut self, text: &str) -> Str {
        if !text.contains(HOLE) {
            return self.str(text);
        }
        let mut out = String::new();
        for (at, part) in text.split(HOLE).enumerate() {
            if at % 2 == 0 {
                out.push_str(part);
                continue;
            }
            let lenient = if part.starts_with(LENIENT) { "~" } else { "" };
            let part = part.trim_start_matches(LENIENT);
            let (name, offset) = part.split_once('@').unwrap_or((part, "0"));
            let ExprId(id) = self.chain(name, offset.parse().unwrap_or(0));
            out.push_str(&format!("{HOLE}{lenient}{id}{HOLE}"));
        }
        self.str(&out)
    }

    /// An expression for a chain of names.
    fn chain(&mut self, chain: &str, at: u32) -> ExprId {
        let mut segments = chain.split('.');
        let name = self.str(segments.next().unwrap_or_default());
        let first = self.expr(Expr::Name { name, at });
        segments.fold(first, |of, segment| {
            let name = self.str(segment);
            let is_rust = self.facts.language == "rust";
            self.expr(if is_rust { Expr::Scoped { of, name } } else { Expr::Member { of, name } })
        })
    }

    fn router(&mut self, router: FoundRouter) -> Router {
        match router {
            FoundRouter::Application(name) => Router::Application(self.str(&name)),
            FoundRouter::Known(router) => router,
            FoundRouter::Member(chain, at) => Router::Value(self.chain(&chain, at)),
            FoundRouter::Module(text) => {
                // Modules are found by names, which these segments have to be.
                text.split('.').for_each(|it| {
                    self.str(it);
                });
                Router::Module(self.str(&text))
            }
            FoundRouter::Path(path, at) => match self.path(&path, at) {
                Some(expr) => Router::Value(expr),
                None => Router::Root,
            },
        }
    }

    /// An expression for a path of names.
    fn path(&mut self, path: &[String], at: u32) -> Option<ExprId> {
        let mut of: Option<ExprId> = None;
        for segment in path {
            let name = self.str(segment);
            let expr = match of {
                None => Expr::Name { name, at },
                Some(of) => Expr::Scoped { of, name },
            };
            of = Some(self.expr(expr));
        }
        of
    }

    fn handler(&mut self, handler: FoundHandler, offset: u32) -> Handler {
        match handler {
            FoundHandler::Known(handler) => handler,
            FoundHandler::Action { class, method, file } => {
                let of = if self.facts.language == "php" {
                    let segments = class.iter().map(|it| self.str(it)).collect();
                    let type_ = TypeId(u32::try_from(self.facts.types.len()).unwrap_or(u32::MAX));
                    self.facts.types.push(Type::Named { segments, arguments: Vec::new(), at: offset });
                    Some(self.expr(Expr::TypePath(type_)))
                } else {
                    self.path(&class, offset)
                };
                match of {
                    Some(of) => {
                        let file = file.map(|it| self.str(&it));
                        Handler::Method { of, name: self.str(&method), file }
                    }
                    None => Handler::Inline,
                }
            }
        }
    }

    fn expr(&mut self, expr: Expr) -> ExprId {
        let id = ExprId(u32::try_from(self.facts.exprs.len()).unwrap_or(u32::MAX));
        self.facts.exprs.push(expr);
        id
    }
}
