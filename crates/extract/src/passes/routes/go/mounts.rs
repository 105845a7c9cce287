//! Routers of Go behind each other: mounted where they are made, held by fields of types that serve them, handed to functions
//! that mount them.

use knowing_model::NodeKind;
use knowing_model::facts::{
    Binding, BindingTarget, Call, DeclId, Expr, ExprId, Router, Str, Type, TypeId, Value,
};

use super::{Framework, Seen, before, path_of};
use crate::passes::routes::{joined, normalised, outermost};
use crate::passes::{Arg, Found, FoundMount, FoundRouter, Pass, innermost};

/// Types of what serves requests, by package and name.
const SERVING: &[(&str, &[&str])] = &[
    ("http", &["Handler", "ServeMux"]),
    ("chi", &["Router", "Mux"]),
    ("gin", &["Engine", "RouterGroup", "IRouter", "IRoutes"]),
    ("echo", &["Echo", "Group"]),
    ("fiber", &["App", "Router"]),
    ("mux", &["Router"]),
    ("httprouter", &["Router"]),
];

/// What makes a router that stands below nothing yet.
const NEW: &[&str] = &[
    "chi.NewRouter",
    "chi.NewMux",
    "gin.New",
    "gin.Default",
    "echo.New",
    "fiber.New",
    "mux.NewRouter",
    "http.NewServeMux",
    "httprouter.New",
];

/// Methods that give a part of the same router.
const PARTS: &[&str] = &["Route", "Group", "With", "PathPrefix", "Subrouter"];

/// A variable whose router stands below another one of the same file.
pub(super) struct Local {
    name: Str,
    /// Where the variable begins.
    from: u32,
    pub(super) prefix: String,
    pub(super) parent: ExprId,
}

/// The name of a type that serves requests.
fn serving<'a>(pass: &Pass<'a>, type_: Option<TypeId>) -> Option<&'a str> {
    let Type::Named { segments, .. } = pass.facts.type_(type_?) else { return None };
    let [package, name] = segments.as_slice() else { return None };
    let (package, name) = (pass.facts.text(*package), pass.facts.text(*name));
    SERVING.iter().any(|it| it.0 == package && it.1.contains(&name)).then_some(name)
}

pub(super) fn is_new_router(pass: &Pass<'_>, expr: ExprId) -> bool {
    matches!(pass.facts.expr(expr), Expr::Call { callee } if NEW.contains(&pass.chain(callee).as_str()))
}

/// Routers that are made and mounted in one function: `sub := chi.NewRouter()`, `r.Mount("/x", sub)`.
pub(super) fn locals(pass: &Pass<'_>, used: &[Framework]) -> Vec<Local> {
    let mut locals: Vec<(Local, bool)> = Vec::new();
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let Some(parent) = pass.receiver(call.callee).filter(|_| matches!(name, "Mount" | "Handle")) else {
            continue;
        };
        let args = pass.arguments(call.position);
        let (prefix, child) = match (name, args.as_slice()) {
            ("Mount", [prefix, child]) if used.contains(&Framework::Plain) => (prefix.clone(), child.clone()),
            ("Handle", [_, handler]) => match strip_prefix(pass, handler, used) {
                Some(it) => it,
                None => continue,
            },
            _ => continue,
        };
        let Some((name, binding)) = variable(pass, &child) else { continue };
        let is_new = matches!(binding.value, Value::Expr(made) if is_new_router(pass, made));
        let Some(prefix) = path_of(pass, call.decl, &prefix).filter(|_| is_new) else { continue };
        let from = binding.visible.from;
        match locals.iter_mut().find(|it| it.0.name == name && it.0.from == from) {
            Some(known) => known.1 = true,
            None => locals.push((Local { name, from, prefix: normalised(&prefix), parent }, false)),
        }
    }
    // What is mounted twice has two prefixes, and one alone can be told here.
    locals.into_iter().filter(|it| !it.1).map(|it| it.0).collect()
}

pub(super) fn local<'l>(locals: &'l [Local], name: Str, binding: &Binding) -> Option<&'l Local> {
    locals.iter().find(|it| it.name == name && it.from == binding.visible.from)
}

/// The variable that an argument names.
pub(super) fn variable<'a>(pass: &Pass<'a>, arg: &Arg) -> Option<(Str, &'a Binding)> {
    let text = pass.text(arg.from, arg.to);
    if text.is_empty() || !text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
        return None;
    }
    let at = u32::try_from(arg.from).ok()?;
    let mut named: Option<(Str, &Binding)> = None;
    for binding in &pass.facts.bindings {
        if let BindingTarget::Name(name) = binding.target
            && binding.visible.from <= at
            && at <= binding.visible.to
            && pass.facts.text(name) == text
            && named.is_none_or(|it| it.1.visible.from <= binding.visible.from)
        {
            named = Some((name, binding));
        }
    }
    named
}

/// `http.StripPrefix("/x", child)`: what stands behind the prefix does not see it. Where other frameworks are at work the
/// prefix is not that of the router around.
fn strip_prefix(pass: &Pass<'_>, handler: &Arg, used: &[Framework]) -> Option<(Arg, Arg)> {
    let call = outermost(pass, handler).filter(|_| used == [Framework::Standard])?;
    match (pass.called(call), pass.arguments(call.position).as_slice()) {
        ("StripPrefix", [prefix, child]) => Some((prefix.clone(), child.clone())),
        _ => None,
    }
}

/// As `mounted`, with net/http. Whether that is all that is said: what is no router is a route.
pub(super) fn stripped(
    pass: &Pass<'_>,
    found: &mut Found,
    call: &Call,
    (of, handler): (ExprId, &Arg),
    seen: &Seen,
    used: &[Framework],
) -> bool {
    let Some((prefix, child)) = strip_prefix(pass, handler, used) else { return false };
    if variable(pass, &child).is_some_and(|it| local(&seen.locals, it.0, it.1).is_some()) {
        return true;
    }
    if let Some(prefix) = path_of(pass, call.decl, &prefix) {
        behind(pass, found, call, of, &prefix, &child, seen);
    }
    false
}

/// `r.Mount("/x", child)`, `r.Mount("/x", makeRouter())`.
pub(super) fn mounted(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId, seen: &Seen) {
    let args = pass.arguments(call.position);
    let [prefix, child] = args.as_slice() else { return };
    if let Some(prefix) = path_of(pass, call.decl, prefix) {
        behind(pass, found, call, of, &prefix, child, seen);
    }
}

fn behind(
    pass: &Pass<'_>,
    found: &mut Found,
    call: &Call,
    of: ExprId,
    prefix: &str,
    child: &Arg,
    seen: &Seen,
) {
    let (outer, parent) = before(pass, call.decl, of, seen);
    if outer.contains('?') || is_test(pass) {
        return;
    }
    let Some(child) = child_of(pass, call, child, seen) else { return };
    found.mounts.push(FoundMount {
        decl: call.decl,
        child: child.into(),
        parent: Some(parent),
        prefix: normalised(&joined(&outer, prefix)),
        replaces: false,
        handed: Vec::new(),
    });
}

/// The router that an argument is; none for one whose prefix is known already.
fn child_of(pass: &Pass<'_>, call: &Call, arg: &Arg, seen: &Seen) -> Option<Router> {
    if let Some(made) = outermost(pass, arg) {
        return Some(Router::ResultOf(made.callee));
    }
    if let Some((name, binding)) = variable(pass, arg) {
        if local(&seen.locals, name, binding).is_some() {
            return None;
        }
        if let Value::Expr(made) = binding.value {
            return match pass.facts.expr(made) {
                Expr::Call { .. } if is_new_router(pass, made) => None,
                Expr::Call { callee } => Some(Router::ResultOf(callee)),
                _ => Some(Router::Value(made)),
            };
        }
    }
    if let Some((of, index)) = pass.parameter(call.decl, &pass.text(arg.from, arg.to)) {
        return Some(Router::Parameter(of, index));
    }
    pass.passed_in(arg.from, arg.to).map(|it| pass.router_value(it))
}

/// What the types of a file serve, what fields are set to, and what functions give back of others.
pub(super) fn find(pass: &Pass<'_>, found: &mut Found, seen: &Seen, used: &[Framework]) {
    if is_test(pass) {
        return;
    }
    fields(pass, found);
    assignments(pass, found, seen, used);
    results(pass, found);
}

/// Tests mount what they like: where the application has it is not for them to say.
fn is_test(pass: &Pass<'_>) -> bool {
    pass.path.ends_with("_test.go")
}

fn below(decl: Option<DeclId>, child: Router, parent: impl Into<FoundRouter>, prefix: String) -> FoundMount {
    let parent = Some(parent.into());
    FoundMount { decl, child: child.into(), parent, prefix, replaces: false, handed: Vec::new() }
}

/// `type Server struct { http.Handler }`, `type Server struct { router chi.Router }`: a type serves by what it embeds, else by
/// the one thing it has that serves requests.
fn fields(pass: &Pass<'_>, found: &mut Found) {
    let mut held: Vec<(DeclId, Vec<(DeclId, bool)>)> = Vec::new();
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let (Some(owner), NodeKind::Field) = (decl.owner, decl.kind) else { continue };
        let Some(type_) = serving(pass, decl.type_) else { continue };
        let field = (DeclId(index), pass.facts.text(decl.name) == type_);
        match held.last_mut().filter(|it| it.0 == owner) {
            Some(last) => last.1.push(field),
            None => held.push((owner, vec![field])),
        }
    }
    for (owner, fields) in held {
        let embedded: Vec<DeclId> = fields.iter().filter(|it| it.1).map(|it| it.0).collect();
        let field = match (embedded.as_slice(), fields.as_slice()) {
            ([field], _) | ([], [(field, _)]) => *field,
            _ => continue,
        };
        found.mounts.push(below(None, Router::Decl(field), Router::Decl(owner), String::new()));
    }
}

/// `s.Handler = s.routes()`, `s.router = r`, `s.api = s.router.Group("/api")`.
fn assignments(pass: &Pass<'_>, found: &mut Found, seen: &Seen, used: &[Framework]) {
    let mut at = 0;
    for line in pass.bytes.split_inclusive(|it| *it == b'\n') {
        let from = at;
        at += line.len();
        let Some((target, value)) = assignment(line) else { continue };
        let (target, value) =
            (from + target.0..from + target.1, Arg { from: from + value.0, to: from + value.1, name: None });
        let decl = innermost(pass.facts, target.start);
        let target = FoundRouter::Member(
            pass.text(target.start, target.end).into_owned(),
            u32::try_from(target.start).unwrap_or(u32::MAX),
        );
        let call = pass.calls_in(value.from, value.to).last();
        match call {
            Some(call) if outermost(pass, &value).is_some() => {
                let is_part = PARTS.contains(&pass.called(call));
                match pass.receiver(call.callee) {
                    Some(of) if is_part => {
                        let args = pass.arguments(call.position);
                        let Some(prefix) = args.first().and_then(|it| path_of(pass, decl, it)) else {
                            continue;
                        };
                        let (outer, parent) = before(pass, decl, of, seen);
                        if outer.contains('?') || used == [Framework::Standard] {
                            continue;
                        }
                        let prefix = normalised(&joined(&outer, &prefix));
                        found.mounts.push(FoundMount {
                            decl,
                            child: target,
                            parent: Some(parent),
                            prefix,
                            replaces: false,
                            handed: Vec::new(),
                        });
                    }
                    _ if NEW.contains(&pass.chain(call.callee).as_str()) => {}
                    _ => found.mounts.push(below(decl, Router::ResultOf(call.callee), target, String::new())),
                }
            }
            None => {
                // A variable: what is registered with it is known by the function around.
                let Some((_, binding)) = variable(pass, &value) else { continue };
                let is_new = matches!(binding.value, Value::Expr(made) if is_new_router(pass, made));
                if let Some(of) = decl.filter(|_| is_new) {
                    found.mounts.push(below(Some(of), Router::Result(of), target, String::new()));
                }
            }
            _ => {}
        }
    }
}

/// A line `a.b = value`: where both sides stand in it.
fn assignment(line: &[u8]) -> Option<((usize, usize), (usize, usize))> {
    let equals = memchr::memmem::find(line, b" = ")?;
    let begin = line.iter().take_while(|it| it.is_ascii_whitespace()).count();
    let target = line.get(begin..equals)?;
    let is_member = target.contains(&b'.')
        && target.iter().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'))
        && target[0].is_ascii_alphabetic()
        && !target.ends_with(b".");
    let end = line.len() - line.iter().rev().take_while(|it| it.is_ascii_whitespace()).count();
    let is_whole = end > equals + 3 && !matches!(line[end - 1], b'{' | b'(' | b',');
    (is_member && is_whole).then_some(((begin, equals), (equals + 3, end)))
}

/// `func New() http.Handler { return routes() }`, `r := routes()`, `return r`: what is given back is what another function
/// gives.
fn results(pass: &Pass<'_>, found: &mut Found) {
    let is_name = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.');
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        if !decl.kind.is_callable() || serving(pass, decl.type_).is_none() {
            continue;
        }
        let (from, to) = (decl.range.from as usize, decl.range.to as usize);
        for at in memchr::memmem::find_iter(&pass.bytes[from..to], b"return ") {
            let begin = from + at + b"return ".len();
            let n = pass.bytes[begin..to].iter().take_while(|it| is_name(it)).count();
            let given = Arg { from: begin, to: begin + n, name: None };
            let callee = match pass.bytes.get(begin + n) {
                Some(b'(') => pass.calls_in(begin, begin + n).last().map(|it| it.callee),
                _ => variable(pass, &given).and_then(|it| match it.1.value {
                    Value::Expr(made) => match pass.facts.expr(made) {
                        Expr::Call { callee } => Some(callee),
                        _ => None,
                    },
                    _ => None,
                }),
            };
            let is_other = |it: &ExprId| {
                !NEW.contains(&pass.chain(*it).as_str()) && !PARTS.contains(&pass.last_name(*it))
            };
            if let Some(callee) = callee.filter(is_other) {
                let parent = Router::Result(DeclId(index));
                let decl = Some(DeclId(index));
                found.mounts.push(below(decl, Router::ResultOf(callee), parent, String::new()));
            }
        }
    }
}

/// `server.Mount("API", paths.API, newAPI())`: a router is handed to a function, which may mount it, behind a path that is
/// handed over with it. Whether it does is known when files are resolved.
pub(super) fn handed(pass: &Pass<'_>, found: &mut Found, call: &Call, seen: &Seen, args: &[Arg]) {
    const MOST: usize = 6;
    if args.is_empty() || args.len() > MOST || is_test(pass) {
        return;
    }
    let mut paths: Vec<(u8, String)> = Vec::new();
    for (index, arg) in (0..).zip(args) {
        let text = pass.text(arg.from, arg.to);
        let is_quoted = text.starts_with(['"', '`']);
        let is_path = text.starts_with("\"/") || !is_quoted && text.contains('.') && !text.contains('(');
        if is_path && let Some(path) = path_of(pass, call.decl, arg) {
            paths.push((index, normalised(&path)));
        }
    }
    let is_mounting = ["Mount", "Router", "Handler"].iter().any(|it| pass.called(call).contains(it));
    if paths.is_empty() && !is_mounting {
        return;
    }
    for (index, arg) in (0..).zip(args) {
        if paths.iter().any(|it| it.0 == index && !pass.text(arg.from, arg.to).contains('.')) {
            continue;
        }
        let is_made = outermost(pass, arg).is_some();
        let is_variable = variable(pass, arg).is_some_and(|it| matches!(it.1.value, Value::Expr(_)));
        if !is_made && !is_variable && !pass.text(arg.from, arg.to).contains('.') {
            continue;
        }
        let Some(child) = child_of(pass, call, arg, seen) else { continue };
        let handed = paths.iter().filter(|it| it.0 != index).cloned().collect();
        found.mounts.push(FoundMount {
            decl: call.decl,
            child: child.into(),
            parent: Some(Router::Handed(call.callee, index).into()),
            prefix: String::new(),
            replaces: false,
            handed,
        });
    }
}
