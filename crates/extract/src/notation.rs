//! Facts as lines of text, for `spec.md`.
//!
//! The first word says what a line is about, so that a block of facts can be complete for some words and silent about
//! others:
//!
//! ```text
//! file test generated         marks of the file           partial syntax_error line 3
//! class C line 1-4            a declaration by its kind    field C.x line 2
//! signature C.f def f(self)   doc C.f ...                  flags C.f exported
//! modifiers C.f static        generic C T: Base            parameter C.f x: int = 0 keyword_only
//! base C extends B 1:8        typed C.x: int               starts C.x = f()
//! binding f.x = g()           visible f.x 2:5-4:0 certain 3:9
//! call f -> a.b 3:4           arguments a.b 2 spread       passed a.b <- g 3:9
//! with a.b <- x, name = y
//! value f -> X 3:8            hint f -> T 1:8              mention f -> T 4:2
//! access C.f -> self.x 3:13   decorator f -> route 1:1     raise f -> Error 4:10
//! import from ..a import b as c                            import f: a.b
//! namespaced A.B 3:0-9:1
//! export name                 return f -> x.y()            yield f -> x
//! site f reads_env HOME 4:4   impl Trait for Type          mod name
//! route GET /x on app -> show 4:4                          mount router below app at /x
//! link file depends_on external npm/express 4:4            offer sql users -> users
//! owned docs/ by @acme/docs 3
//! ```

use knowing_model::facts::{
    Argument, BindingTarget, CallForm, DeclId, Expr, ExprId, FileFacts, ImportKind, Literal, Modifiers,
    ParameterKind, ReferenceRole, ReferenceTarget, ReturnKind, SiteKind, Str, Type, TypeId, TypeParameter,
    Value,
};
use knowing_model::{NodeFlags, Position, Range};

pub(crate) fn lines(facts: &FileFacts, source: &str) -> Vec<String> {
    let mut notation = Notation { facts, source, out: Vec::new() };
    notation.file();
    notation.declarations();
    notation.impls();
    notation.bindings();
    notation.uses();
    notation.imports();
    notation.manifest();
    notation.routes();
    notation.links();
    notation.out
}

struct Notation<'a> {
    facts: &'a FileFacts,
    source: &'a str,
    out: Vec<String>,
}

impl Notation<'_> {
    fn push(&mut self, line: String) {
        self.out.push(line);
    }

    fn file(&mut self) {
        let facts = self.facts;
        if facts.flags != NodeFlags::default() {
            self.push(format!("file {}", names(facts.flags)));
        }
        if let Some(namespace) = facts.namespace {
            self.push(format!("namespace {}", facts.text(namespace)));
        }
        if let Some(condition) = facts.condition {
            self.push(format!("condition {}", facts.text(condition)));
        }
        if let Some(partial) = &facts.partial {
            let line = partial.line.map_or_else(String::new, |it| format!(" line {it}"));
            self.push(format!("partial {}{line}", partial.reason.name()));
        }
        if let Some(doc) = facts.doc {
            self.push(format!("doc file {}", flat(facts.text(doc))));
        }
        for it in &facts.namespaces {
            self.push(format!("namespaced {} {}", facts.text(it.name), self.range(it.range)));
        }
        for name in facts.exports.iter().flatten() {
            self.push(format!("export {}", facts.text(*name)));
        }
    }

    fn declarations(&mut self) {
        let facts = self.facts;
        for decl in &facts.decls {
            let path = facts.text(decl.path);
            let span = decl.span;
            let lines = if span.first_line == span.last_line {
                span.first_line.to_string()
            } else {
                format!("{}-{}", span.first_line, span.last_line)
            };
            self.push(format!("{} {path} line {lines}", decl.kind.name()));
            self.push(format!("name {path} {}", position(span.name)));
            self.push(format!("signature {path} {}", facts.text(decl.signature)));
            if let Some(doc) = decl.doc {
                self.push(format!("doc {path} {}", flat(facts.text(doc))));
            }
            if decl.flags != NodeFlags::default() {
                self.push(format!("flags {path} {}", names(decl.flags)));
            }
            if decl.modifiers != Modifiers::default() {
                self.push(format!("modifiers {path} {}", modifiers(decl.modifiers)));
            }
            for it in &decl.type_parameters {
                let text = self.type_parameter(it);
                self.push(format!("generic {path} {text}"));
            }
            for it in &decl.parameters {
                let mut line = format!("parameter {path} {}", facts.text(it.name));
                if let Some(type_) = it.type_ {
                    line += &format!(": {}", self.type_(type_));
                }
                if let Some(default) = it.default {
                    line += &format!(" = {}", self.expr(default));
                }
                if it.kind != ParameterKind::Plain {
                    line += &format!(" {}", snake(&format!("{:?}", it.kind)));
                }
                self.push(line);
            }
            for it in &decl.bases {
                let role = snake(&format!("{:?}", it.role));
                self.push(format!("base {path} {role} {} {}", self.type_(it.type_), position(it.position)));
            }
            if let Some(type_) = decl.type_ {
                self.push(format!("typed {path}: {}", self.type_(type_)));
            }
            if let Some(value) = decl.value {
                self.push(format!("starts {path} = {}", self.expr(value)));
            }
        }
    }

    fn impls(&mut self) {
        let facts = self.facts;
        for it in &facts.impls {
            let generics: Vec<String> = it.type_parameters.iter().map(|it| self.type_parameter(it)).collect();
            let generics =
                if generics.is_empty() { String::new() } else { format!("<{}> ", generics.join(", ")) };
            let head = match it.interface {
                Some(interface) => format!("{} for {}", self.type_(interface), self.type_(it.type_)),
                None => self.type_(it.type_),
            };
            self.push(format!("impl {generics}{head} {}", position(it.position)));
        }
        for it in &facts.modules {
            let public = if it.public { " public" } else { "" };
            let test = if it.test { " test" } else { "" };
            let file = it.file.map_or_else(String::new, |it| format!(" at {}", facts.text(it)));
            self.push(format!("mod {}{public}{test}{file}", facts.text(it.name)));
        }
    }

    fn bindings(&mut self) {
        let facts = self.facts;
        for it in &facts.bindings {
            let owner =
                it.decl.map_or_else(String::new, |it| format!("{}.", facts.text(facts.decl(it).path)));
            let target = match it.target {
                BindingTarget::Name(name) => format!("{owner}{}", facts.text(name)),
                BindingTarget::Field(field) => format!("{owner}({})", facts.text(facts.decl(field).path)),
            };
            let value = match it.value {
                Value::Type(type_) => format!(": {}", self.type_(type_)),
                Value::Narrowed(type_) => format!(" is {}", self.type_(type_)),
                Value::Expr(expr) => format!(" = {}", self.expr(expr)),
                Value::Receiver => " = <receiver>".to_owned(),
                Value::ReceiverType => " = <receiver type>".to_owned(),
                Value::Decl(id) => format!(" = <{}>", facts.text(facts.decl(id).path)),
                Value::Unknown => " = ?".to_owned(),
            };
            self.push(format!("binding {target}{value}"));
            let certain = self.at(it.certain_to);
            self.push(format!("visible {target} {} certain {certain}", self.range(it.visible)));
        }
    }

    fn uses(&mut self) {
        let facts = self.facts;
        for it in &facts.calls {
            let callee = self.expr(it.callee);
            let form = if it.form == CallForm::Plain {
                String::new()
            } else {
                format!(" {}", snake(&format!("{:?}", it.form)))
            };
            self.push(format!("call {} -> {callee} {}{form}", self.decl(it.decl), position(it.position)));
            let spread = if it.spread { " spread" } else { "" };
            self.push(format!("arguments {callee} {}{spread}", it.n_arguments));
            let with = facts.arguments_of(it.callee);
            if !with.is_empty() {
                let with: Vec<String> = with.iter().map(|it| self.argument(it)).collect();
                self.push(format!("with {callee} <- {}", with.join(", ")));
            }
            for passed in &it.passed {
                self.push(format!(
                    "passed {callee} <- {} {}",
                    self.expr(passed.expr),
                    position(passed.position)
                ));
            }
        }
        for it in &facts.references {
            let word = match it.role {
                ReferenceRole::Type => "mention",
                ReferenceRole::Hint => "hint",
                ReferenceRole::Value => "value",
                ReferenceRole::Field => "access",
                ReferenceRole::Decorator => "decorator",
                ReferenceRole::Raise => "raise",
                ReferenceRole::Root => "root",
            };
            let target = match it.target {
                ReferenceTarget::Type(type_) => self.type_(type_),
                ReferenceTarget::Expr(expr) => self.expr(expr),
            };
            self.push(format!("{word} {} -> {target} {}", self.decl(it.decl), position(it.position)));
        }
        for it in &facts.returns {
            let word = if it.kind == ReturnKind::Return { "return" } else { "yield" };
            self.push(format!("{word} {} -> {}", self.decl(Some(it.decl)), self.expr(it.expr)));
        }
        for it in &facts.sites {
            let kind = match it.kind {
                SiteKind::ReadsEnv => "reads_env",
                SiteKind::StartsProcess => "starts_process",
            };
            let name = it.name.map_or("?", |it| facts.text(it));
            self.push(format!("site {} {kind} {name} {}", self.decl(it.decl), position(it.position)));
        }
    }

    fn imports(&mut self) {
        let facts = self.facts;
        for it in &facts.imports {
            let separator = if facts.language == "rust" { "::" } else { "." };
            let module: Vec<&str> = it.module.iter().map(|it| facts.text(*it)).collect();
            let module = format!("{}{}", ".".repeat(usize::from(it.level)), module.join(separator));
            let what = match it.kind {
                ImportKind::Module { alias } => format!("{module} as {}", facts.text(alias)),
                ImportKind::TopModule => module,
                ImportKind::Member { name, alias } if name == alias => {
                    format!("from {module} import {}", facts.text(name))
                }
                ImportKind::Member { name, alias } => {
                    format!("from {module} import {} as {}", facts.text(name), facts.text(alias))
                }
                ImportKind::Wildcard => format!("from {module} import *"),
            };
            let owner =
                it.decl.map_or_else(String::new, |it| format!("{}: ", facts.text(facts.decl(it).path)));
            let reexport = if it.reexport { " reexport" } else { "" };
            self.push(format!("import {owner}{what}{reexport}"));
            self.push(format!("imported {what} {} {}", position(it.position), self.range(it.visible)));
        }
    }

    fn manifest(&mut self) {
        let Some(manifest) = &self.facts.manifest else { return };
        if let Some(package) = &manifest.package {
            self.push(format!("package {package}"));
        }
        for it in &manifest.members {
            self.push(format!("member {it}"));
        }
        for it in &manifest.source_roots {
            self.push(format!("root {it}"));
        }
        for it in &manifest.dependencies {
            let mut line = format!("dependency {}", it.name);
            for (word, text) in [("package", &it.package), ("version", &it.version), ("path", &it.path)] {
                if let Some(text) = text {
                    line += &format!(" {word} {text}");
                }
            }
            if it.from_workspace {
                line += " from_workspace";
            }
            if it.for_workspace {
                line += " for_workspace";
            }
            self.push(line);
        }
        for it in &manifest.patches {
            self.push(format!("patch {} {}", it.package, it.path));
        }
        for it in &manifest.extends {
            self.push(format!("inherits {it}"));
        }
        for it in &manifest.aliases {
            self.push(format!("alias {} {}", it.pattern, it.targets.join(" ")));
        }
        for it in &manifest.targets {
            let name = it.name.as_deref().unwrap_or("-");
            let path = it.path.as_deref().unwrap_or("-");
            self.push(format!("target {} {name} {path}", snake(&format!("{:?}", it.kind))));
        }
    }
}

/// Parts of lines.
impl Notation<'_> {
    fn decl(&self, decl: Option<DeclId>) -> &str {
        decl.map_or("file", |it| self.facts.text(self.facts.decl(it).path))
    }

    fn list(&self, types: &[TypeId], separator: &str) -> String {
        types.iter().map(|it| self.type_(*it)).collect::<Vec<_>>().join(separator)
    }

    fn type_parameter(&self, it: &TypeParameter) -> String {
        let bounds =
            if it.bounds.is_empty() { String::new() } else { format!(": {}", self.list(&it.bounds, " + ")) };
        format!("{}{bounds}", self.facts.text(it.name))
    }

    fn type_(&self, type_: TypeId) -> String {
        let separator = if self.facts.language == "rust" { "::" } else { "." };
        match self.facts.type_(type_) {
            Type::Named { segments, arguments, .. } if matches!(segments.as_slice(), [only] if self.facts.text(*only) == "*") =>
            {
                format!("{}*", self.list(arguments, ", "))
            }
            Type::Named { segments, arguments, .. } => {
                let name = self.texts(segments).join(separator);
                if arguments.is_empty() { name } else { format!("{name}[{}]", self.list(arguments, ", ")) }
            }
            Type::Projection { of, interface, name } => {
                let interface = interface.map_or_else(String::new, |it| format!(" as {}", self.type_(it)));
                format!("<{}{interface}>::{}", self.type_(*of), self.facts.text(*name))
            }
            Type::Union(types) => self.list(types, " | "),
            Type::Tuple(types) => format!("({})", self.list(types, ", ")),
            Type::Sequence(of) => format!("[{}]", self.type_(*of)),
            Type::Bounds(types) => format!("{{{}}}", self.list(types, " + ")),
            Type::Function(None) => "fn".to_owned(),
            Type::Function(Some(result)) => format!("fn -> {}", self.type_(*result)),
            Type::Unknown => "?".to_owned(),
        }
    }

    fn argument(&self, it: &Argument) -> String {
        let name = it.name.map_or_else(String::new, |it| format!("{} = ", self.facts.text(it)));
        format!("{name}{}{}", if it.spread { "*" } else { "" }, self.expr(it.value))
    }

    fn texts(&self, texts: &[Str]) -> Vec<&str> {
        texts.iter().map(|it| self.facts.text(*it)).collect()
    }

    fn expr(&self, expr: ExprId) -> String {
        let text = |it: Str| self.facts.text(it);
        match self.facts.expr(expr) {
            Expr::Name { name, .. } => text(name).to_owned(),
            Expr::Member { of, name } => format!("{}.{}", self.expr(of), text(name)),
            Expr::Scoped { of, name } => format!("{}::{}", self.expr(of), text(name)),
            Expr::Root => String::new(),
            Expr::TypePath(type_) => format!("<{}>", self.type_(type_)),
            Expr::Instance(type_) => format!("instance({})", self.type_(type_)),
            Expr::Call { callee } => format!("{}()", self.expr(callee)),
            Expr::Index { of } => format!("{}[]", self.expr(of)),
            Expr::Element { of } => format!("each({})", self.expr(of)),
            Expr::Await { of } => format!("await({})", self.expr(of)),
            Expr::Try { of } => format!("{}?", self.expr(of)),
            Expr::Enter { of } => format!("enter({})", self.expr(of)),
            Expr::Item { of, index } => format!("item({}, {index})", self.expr(of)),
            Expr::Payload { of, variant, field } => {
                format!("payload({}, {}, {})", self.expr(of), self.type_(variant), text(field))
            }
            Expr::Either { one, other } => format!("either({}, {})", self.expr(one), self.expr(other)),
            Expr::Super { .. } => "super()".to_owned(),
            Expr::Literal(Literal::None) => "none".to_owned(),
            Expr::Literal(literal) => format!("<{}>", snake(&format!("{literal:?}"))),
            Expr::Unknown => "?".to_owned(),
            Expr::Lambda { n_parameters, result } => {
                let result = result.map_or_else(String::new, |it| self.expr(it));
                format!("lambda{n_parameters}({result})")
            }
            Expr::Given { callee, argument, parameter } => {
                format!("given({}, {argument}, {parameter})", self.expr(callee))
            }
            Expr::Generic { of, arguments } => format!("{}<{}>", self.expr(of), self.type_(arguments)),
            Expr::Parameter { callee, argument } => format!("parameter({}, {argument})", self.expr(callee)),
        }
    }

    fn range(&self, range: Range) -> String {
        format!("{}-{}", self.at(range.from), self.at(range.to))
    }

    fn at(&self, offset: u32) -> String {
        let before = &self.source.as_bytes()[..offset as usize];
        let line = before.iter().filter(|&&it| it == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&it| it != b'\n').count();
        format!("{line}:{column}")
    }
}

fn position(it: Position) -> String {
    format!("{}:{}", it.line, it.column)
}

fn flat(text: &str) -> String {
    text.replace('\n', "\\n")
}

fn names(flags: NodeFlags) -> String {
    flags.names().collect::<Vec<_>>().join(" ")
}

fn modifiers(modifiers: Modifiers) -> String {
    let all = [
        (Modifiers::STATIC, "static"),
        (Modifiers::CLASS_METHOD, "class_method"),
        (Modifiers::PROPERTY, "property"),
        (Modifiers::GENERATOR, "generator"),
        (Modifiers::OVERLOAD, "overload"),
        (Modifiers::ASYNC, "async"),
        (Modifiers::PUBLIC, "public"),
        (Modifiers::CONTEXT_MANAGER, "context_manager"),
        (Modifiers::PRIVATE, "private"),
        (Modifiers::DECLARED, "declared"),
    ];
    all.iter().filter(|(it, _)| modifiers.contains(*it)).map(|(_, name)| *name).collect::<Vec<_>>().join(" ")
}

/// `KeywordOnly` as `keyword_only`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for (place, character) in name.chars().enumerate() {
        if character.is_ascii_uppercase() && place > 0 {
            out.push('_');
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}

impl Notation<'_> {
    fn routes(&mut self) {
        let facts = self.facts;
        for it in &facts.routes {
            let pattern = it.pattern.map_or("?", |it| facts.text(it));
            let handler = match it.handler {
                knowing_model::facts::Handler::Decl(decl) => facts.text(facts.decl(decl).path).to_owned(),
                knowing_model::facts::Handler::Value(expr) => self.expr(expr),
                knowing_model::facts::Handler::Method { of, name, .. } => {
                    format!("{}#{}", self.expr(of), facts.text(name))
                }
                knowing_model::facts::Handler::Made { by, with } => {
                    let with = with.map(|it| self.expr(it)).unwrap_or_default();
                    format!("{}({with})", self.expr(by))
                }
                knowing_model::facts::Handler::Inline => "inline".to_owned(),
                knowing_model::facts::Handler::Contract => "contract".to_owned(),
            };
            let router = self.router(it.router);
            let mark = if it.verified { "" } else { " unverified" };
            let line = format!(
                "route {} {pattern} on {router} -> {handler} {}{mark}",
                facts.text(it.method),
                position(it.position)
            );
            self.push(line);
        }
        for it in &facts.mounts {
            let child = self.router(it.child);
            let below = it.parent.map_or_else(|| "own".to_owned(), |it| format!("below {}", self.router(it)));
            let mark = if it.replaces { " instead" } else { "" };
            let handed: String =
                it.handed.iter().map(|(at, text)| format!(" with {at} {:?}", facts.text(*text))).collect();
            self.push(format!("mount {child} {below} at {:?}{mark}{handed}", facts.text(it.prefix)));
        }
    }

    fn router(&self, router: knowing_model::facts::Router) -> String {
        use knowing_model::facts::Router;
        match router {
            Router::Root => "root".to_owned(),
            Router::Value(expr) => self.expr(expr),
            Router::Parameter(decl, at) => {
                format!("parameter {at} of {}", self.facts.text(self.facts.decl(decl).path))
            }
            Router::Result(decl) => format!("result of {}", self.facts.text(self.facts.decl(decl).path)),
            Router::ParameterOf(expr, at) => format!("parameter {at} of {}", self.expr(expr)),
            Router::ResultOf(expr) => format!("result of {}", self.expr(expr)),
            Router::File => "file".to_owned(),
            Router::Module(text) => format!("module {}", self.facts.text(text)),
            Router::Decl(decl) => self.facts.text(self.facts.decl(decl).path).to_owned(),
            Router::Application(name) => format!("application {}", self.facts.text(name)),
            Router::Handed(expr, at) => format!("handed {at} to {}", self.expr(expr)),
        }
    }

    fn links(&mut self) {
        let facts = self.facts;
        for it in &facts.links {
            let (from, to) = (self.end(it.from), self.end(it.to));
            self.push(format!("link {from} {} {to} {}", it.kind.name(), position(it.position)));
        }
        for it in &facts.offers {
            let decl = facts.text(facts.decl(it.decl).path);
            self.push(format!("offer {} {} -> {decl}", facts.text(it.space), facts.text(it.name)));
        }
        for it in &facts.versions {
            self.push(format!("asks {} {}", facts.text(it.package), facts.text(it.version)));
        }
        for it in &facts.owner_rules {
            let owners: Vec<&str> = it.owners.iter().map(|it| facts.text(*it)).collect();
            self.push(format!(
                "owned {} by {} {}",
                facts.text(it.pattern),
                owners.join(" "),
                it.position.line
            ));
        }
    }

    fn end(&self, end: knowing_model::facts::LinkEnd) -> String {
        use knowing_model::facts::LinkEnd;
        let text = |it: Str| self.facts.text(it);
        match end {
            LinkEnd::File => "file".to_owned(),
            LinkEnd::Decl(decl) => text(self.facts.decl(decl).path).to_owned(),
            LinkEnd::Path(path) => format!("path {}", text(path)),
            LinkEnd::Directory(path) => format!("directory {}", text(path)),
            LinkEnd::Outside { kind, container, name } => {
                format!("{} {}", kind.name(), [text(container), text(name)].join(" ").trim())
            }
            LinkEnd::Offered { space, name } => format!("offered {} {}", text(space), text(name)),
            LinkEnd::Symbol(it) => format!("symbol {}", text(it)),
            LinkEnd::Route { method, pattern } => format!("route {} {}", text(method), text(pattern)),
            LinkEnd::Program(it) => format!("program {}", text(it)),
        }
    }
}
