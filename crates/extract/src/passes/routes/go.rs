//! net/http, gin, echo, chi, gorilla/mux, fiber.

mod mounts;

use knowing_model::facts::{Call, DeclId, Expr, ExprId, HOLE, Handler, ParameterKind, Router, Value};

use super::{Group, New, group_at, handler_in, is_function, joined, outermost, push};
use crate::passes::{Arg, Found, FoundHandler, FoundMount, FoundRouter, LENIENT, Origin, Pass, split_list};
use mounts::Local;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Framework {
    /// `GET`, `POST`: gin, echo.
    Capital,
    /// `Get`, `Post`: chi, fiber.
    Plain,
    Mux,
    Standard,
}

/// Modules, which verify that a call is one of the framework's.
const FRAMEWORKS: &[(&str, Framework)] = &[
    ("github.com/gin-gonic/gin", Framework::Capital),
    ("github.com/labstack/echo", Framework::Capital),
    ("github.com/julienschmidt/httprouter", Framework::Capital),
    ("github.com/go-chi/chi", Framework::Plain),
    ("github.com/gofiber/fiber", Framework::Plain),
    ("github.com/gorilla/mux", Framework::Mux),
    ("net/http", Framework::Standard),
];

const METHODS: &[&str] = &["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "CONNECT", "TRACE"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let used: Vec<Framework> = FRAMEWORKS.iter().filter(|it| pass.modules.has(it.0)).map(|it| it.1).collect();
    if used.is_empty() {
        return;
    }
    let has = |it| used.contains(&it);
    let mut seen = Seen { groups: Vec::new(), locals: mounts::locals(pass, &used) };
    if has(Framework::Plain) {
        for call in &pass.facts.calls {
            let Some(of) = pass.receiver(call.callee) else { continue };
            match pass.called(call) {
                "Route" => grouped(pass, call, of, &mut seen, true),
                "Group" => grouped(pass, call, of, &mut seen, false),
                _ => {}
            }
        }
    }
    mounts::find(pass, found, &seen, &used);
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let Some(of) = pass.receiver(call.callee) else {
            passed_on(pass, found, call, &seen, &used);
            continue;
        };
        match name {
            "Route" | "Group" if has(Framework::Plain) => {}
            "Mount" if has(Framework::Plain) => mounts::mounted(pass, found, call, of, &seen),
            "HandleFunc" | "Handle" if has(Framework::Mux) || has(Framework::Standard) => {
                handle(pass, found, call, of, &seen, &used);
            }
            "Match" if has(Framework::Capital) => {
                let args = pass.arguments(call.position);
                if let [methods, path, .., last] = args.as_slice() {
                    for method in method_list(pass, methods) {
                        route(pass, found, call, of, &seen, &method, path, last);
                    }
                }
            }
            "Handle" | "Add" | "Method" | "MethodFunc"
                if has(Framework::Capital) || has(Framework::Plain) =>
            {
                let args = pass.arguments(call.position);
                if let [method, path, .., last] = args.as_slice()
                    && let Some(method) = method_text(pass, method)
                {
                    route(pass, found, call, of, &seen, &method, path, last);
                }
            }
            _ => {
                let method = match name {
                    "Any" | "All" if has(Framework::Capital) || has(Framework::Plain) => {
                        Some("ANY".to_owned())
                    }
                    name if has(Framework::Capital) && METHODS.contains(&name) => Some(name.to_owned()),
                    name if has(Framework::Plain) => {
                        let upper = name.to_ascii_uppercase();
                        let is_method =
                            METHODS.contains(&upper.as_str()) && name[1..] == upper[1..].to_ascii_lowercase();
                        is_method.then_some(upper)
                    }
                    _ => None,
                };
                match method {
                    Some(method) => {
                        let args = pass.arguments(call.position);
                        if let [path, .., last] = args.as_slice()
                            && args.len() >= 2
                        {
                            route(pass, found, call, of, &seen, &method, path, last);
                        }
                    }
                    None => passed_on(pass, found, call, &seen, &used),
                }
            }
        }
    }
}

/// `[]string{"GET", http.MethodHead}`.
fn method_list(pass: &Pass<'_>, arg: &Arg) -> Vec<String> {
    let text = pass.text(arg.from, arg.to);
    let inner = text.split_once('{').map_or("", |it| it.1).trim_end_matches('}');
    let one = |it: &str| match it.trim().strip_prefix("http.Method") {
        Some(name) => Some(name.to_ascii_uppercase()),
        None => pass.literal_text(it).filter(|it| METHODS.contains(&it.as_str())),
    };
    inner.split(',').filter_map(one).collect()
}

fn method_text(pass: &Pass<'_>, arg: &Arg) -> Option<String> {
    let text = pass.text(arg.from, arg.to);
    match text.strip_prefix("http.Method") {
        Some(name) => Some(name.to_ascii_uppercase()),
        None => pass.literal(arg).filter(|it| METHODS.contains(&it.as_str())),
    }
}

/// What was seen of a file before its routes are looked at.
struct Seen {
    groups: Vec<Group>,
    locals: Vec<Local>,
}

/// What stands before a router in this file, and the router itself.
fn before(pass: &Pass<'_>, decl: Option<DeclId>, of: ExprId, seen: &Seen) -> (String, FoundRouter) {
    let mut prefix = String::new();
    let mut at = of;
    for _ in 0..64 {
        match pass.facts.expr(at) {
            Expr::Call { callee } => {
                let name = pass.last_name(callee);
                let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                if matches!(name, "Group" | "PathPrefix" | "Party" | "Route") && !args.is_empty() {
                    // A computed prefix cannot be told, so that what stands behind it is not whole.
                    let text = path_of(pass, decl, &args[0]).unwrap_or_else(|| "?".to_owned());
                    prefix = joined(&text, &prefix);
                }
                match pass.receiver(callee) {
                    // Made here: `chi.NewRouter()`.
                    Some(of) if pass.is_free(of) => {
                        return (prefix, decl.map_or(Router::Root, Router::Result).into());
                    }
                    Some(of) => at = of,
                    None => return (prefix, Router::Root.into()),
                }
            }
            Expr::Name { name, at: offset } => {
                let text = pass.facts.text(name);
                let binding = pass.binding(name, offset);
                if let Some(group) = group_at(&seen.groups, offset as usize)
                    && binding.is_some_and(|it| it.visible.from as usize >= group.from)
                    && !matches!(binding.map(|it| it.value), Some(Value::Expr(_)))
                {
                    return (joined(&group.prefix, &prefix), group.router.clone());
                }
                if let Some(local) = binding.and_then(|it| mounts::local(&seen.locals, name, it)) {
                    prefix = joined(&local.prefix, &prefix);
                    at = local.parent;
                    continue;
                }
                match pass.origin(at) {
                    Origin::Value(value, Some(_)) if value != at => {
                        at = value;
                        continue;
                    }
                    Origin::Type(_, of) => {
                        if let Some((of, index)) = pass.parameter(of.or(decl), text) {
                            return (prefix, Router::Parameter(of, index).into());
                        }
                    }
                    _ => {}
                }
                return (prefix, pass.router_value(at).into());
            }
            Expr::Member { .. } => return (prefix, pass.router_value(at).into()),
            _ => return (prefix, Router::Root.into()),
        }
    }
    (prefix, Router::Root.into())
}

#[expect(clippy::too_many_arguments, reason = "one route and where it stands")]
fn route(
    pass: &Pass<'_>,
    found: &mut Found,
    call: &Call,
    of: ExprId,
    seen: &Seen,
    method: &str,
    path: &Arg,
    handler: &Arg,
) {
    let pattern = path_of(pass, call.decl, path);
    let is_known = pattern.as_ref().is_some_and(|it| !it.contains(HOLE));
    // `g.GET("version", h)` of gin is a route, `cache.Get("version", h)` is none.
    let is_capital = method != "ANY" && pass.called(call) == method;
    if is_known
        && !is_capital
        && pattern.as_ref().is_some_and(|it| !it.is_empty() && !it.starts_with(['/', '*', ':']))
    {
        return;
    }
    // `resp.Get(key, fallback)` is no route.
    if !is_known && !is_handler(pass, call, handler) {
        return;
    }
    let (prefix, router) = before(pass, call.decl, of, seen);
    let pattern = pattern.filter(|_| !prefix.contains('?'));
    push(
        found,
        New {
            decl: call.decl,
            method,
            pattern: pattern.as_deref(),
            prefix: &prefix,
            router,
            verified: true,
            handler: handler_in(pass, Some(handler)),
            position: call.position,
        },
    );
}

/// Whether an argument may be a function: one that is written there, or the name of something that is no plain value.
fn is_handler(pass: &Pass<'_>, call: &Call, arg: &Arg) -> bool {
    let is_parameter = || {
        let type_ = parameter_type(pass, call, arg);
        type_.is_some_and(|it| !matches!(it, "string" | "int" | "bool" | "error" | "byte" | "any"))
    };
    is_function(pass, arg) || pass.passed_in(arg.from, arg.to).is_some() || is_parameter()
}

/// The name of the type of the parameter that an argument is; empty for one without a name.
fn parameter_type<'a>(pass: &Pass<'a>, call: &Call, arg: &Arg) -> Option<&'a str> {
    let (decl, at) = pass.parameter(call.decl, &pass.text(arg.from, arg.to))?;
    let parameters = &pass.facts.decl(decl).parameters;
    let mut plain = parameters.iter().filter(|it| it.kind != ParameterKind::Receiver);
    plain.nth(at.into())?.type_.map(|it| pass.type_name(it))
}

/// `mux.HandleFunc("GET /x/{id}", h)`, `r.HandleFunc("/x", h).Methods("GET", "POST")`.
fn handle(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId, seen: &Seen, used: &[Framework]) {
    let args = pass.arguments(call.position);
    let [path, handler] = args.as_slice() else { return };
    if mounts::stripped(pass, found, call, (of, handler), seen, used) {
        return;
    }
    let written = path_of(pass, call.decl, path);
    let (method, pattern) = match written.as_deref().map(str::trim) {
        Some(text) => match text.split_once(' ') {
            Some((method, rest)) if METHODS.contains(&method) => {
                (Some(method.to_owned()), Some(rest.trim().to_owned()))
            }
            _ => (None, Some(text.to_owned())),
        },
        None => (None, None),
    };
    if pattern.as_ref().is_some_and(|it| !it.contains(['/', HOLE])) {
        return;
    }
    // A host before the path is no part of it.
    let pattern = pattern.map(|it| it[it.find(['/', HOLE]).unwrap_or(0)..].to_owned());
    let (prefix, router) = before(pass, call.decl, of, seen);
    let mut methods: Vec<String> = method.into_iter().collect();
    if methods.is_empty() && used.contains(&Framework::Mux) {
        methods = chained_methods(pass, call);
    }
    if methods.is_empty() {
        methods.push("ANY".to_owned());
    }
    let pattern = pattern.filter(|_| !prefix.contains('?'));
    for method in methods {
        push(
            found,
            New {
                decl: call.decl,
                method: &method,
                pattern: pattern.as_deref(),
                prefix: &prefix,
                router: router.clone(),
                verified: true,
                handler: handler_in(pass, Some(handler)),
                position: call.position,
            },
        );
    }
}

/// `.Methods(...)` behind (or before) a call.
fn chained_methods(pass: &Pass<'_>, call: &Call) -> Vec<String> {
    let is_of = |outer: &&Call| {
        pass.called(outer) == "Methods"
            && pass.receiver(outer.callee).is_some_and(|it| {
                let mut at = it;
                for _ in 0..8 {
                    match pass.facts.expr(at) {
                        Expr::Call { callee } if callee == call.callee => return true,
                        Expr::Call { callee } => match pass.receiver(callee) {
                            Some(of) => at = of,
                            None => return false,
                        },
                        _ => return false,
                    }
                }
                false
            })
    };
    let Some(methods) = pass.facts.calls.iter().find(is_of) else { return Vec::new() };
    pass.arguments(methods.position).iter().filter_map(|it| method_text(pass, it)).collect()
}

/// `r.Route("/x", func(r chi.Router) { ... })`, `r.Group(func(r chi.Router) { ... })`.
fn grouped(pass: &Pass<'_>, call: &Call, of: ExprId, seen: &mut Seen, has_prefix: bool) {
    let args = pass.arguments(call.position);
    let (prefix, body) = match args.as_slice() {
        [prefix, body] if has_prefix => {
            (path_of(pass, call.decl, prefix).unwrap_or_else(|| "?".to_owned()), body)
        }
        [body] if !has_prefix => (String::new(), body),
        _ => return,
    };
    if !is_function(pass, body) {
        return;
    }
    let (outer, router) = before(pass, call.decl, of, seen);
    let prefix = joined(&outer, &prefix);
    seen.groups.push(Group { from: body.from, to: body.to, prefix, router, verified: true });
}

/// `Register(v1.Group("/users"))`, `users.Register(v1)`: a router is handed to a function that registers on it.
fn passed_on(pass: &Pass<'_>, found: &mut Found, call: &Call, seen: &Seen, used: &[Framework]) {
    let args = pass.arguments(call.position);
    handed_over(pass, found, call, seen, &args);
    mounts::handed(pass, found, call, seen, &args);
    if !used.iter().any(|it| *it != Framework::Standard) {
        return;
    }
    for (index, arg) in args.iter().enumerate().take(6) {
        if is_function(pass, arg) {
            continue;
        }
        let (prefix, router, is_sure) = handed_router(pass, call, arg, seen);
        // A value that is made elsewhere may be anything, and says nothing.
        let FoundRouter::Known(parent) = router else { continue };
        if !is_sure && prefix.is_empty() && !matches!(parent, Router::Parameter(..)) {
            continue;
        }
        let child = Router::ParameterOf(call.callee, u8::try_from(index).unwrap_or(u8::MAX));
        found.mounts.push(FoundMount {
            decl: call.decl,
            child: child.into(),
            parent: Some(parent.into()),
            prefix: super::normalised(&prefix),
            replaces: false,
            handed: Vec::new(),
        });
    }
}

/// The router that an argument names, as `before` has it, and whether it is one for sure. Arguments that are plain names
/// have no expression of their own, so that the name is looked at where it stands.
fn handed_router(pass: &Pass<'_>, call: &Call, arg: &Arg, seen: &Seen) -> (String, FoundRouter, bool) {
    if let Some(made) = outermost(pass, arg) {
        let of = pass.receiver(made.callee).filter(|_| matches!(pass.called(made), "Group" | "With"));
        let Some(of) = of else { return (String::new(), Router::Root.into(), false) };
        let (outer, router) = before(pass, call.decl, of, seen);
        let own = match pass.arguments(made.position).first() {
            Some(own) if pass.called(made) == "Group" => {
                path_of(pass, call.decl, own).unwrap_or_else(|| "?".to_owned())
            }
            _ => String::new(),
        };
        return (joined(&outer, &own), router, true);
    }
    let nothing = || (String::new(), Router::Root.into(), false);
    let Some((name, binding)) = mounts::variable(pass, arg) else {
        let expr = pass.passed_in(arg.from, arg.to).or_else(|| pass.name_at(arg));
        let Some(expr) = expr else { return nothing() };
        let (prefix, router) = before(pass, call.decl, expr, seen);
        return (prefix, router, false);
    };
    if let Value::Expr(made) = binding.value {
        let (at, own) = match mounts::local(&seen.locals, name, binding) {
            Some(local) => (local.parent, local.prefix.as_str()),
            None => (made, ""),
        };
        let (outer, router) = before(pass, call.decl, at, seen);
        return (joined(&outer, own), router, mounts::is_new_router(pass, made));
    }
    if let Some(group) = group_at(&seen.groups, arg.from)
        && binding.visible.from as usize >= group.from
    {
        return (group.prefix.clone(), group.router.clone(), true);
    }
    match pass.parameter(call.decl, pass.facts.text(name)) {
        Some((of, index)) => (String::new(), Router::Parameter(of, index).into(), false),
        None => nothing(),
    }
}

/// The text of a path: as `Pass::pattern` has it, and through `path.Join` and variables that are set once.
fn path_of(pass: &Pass<'_>, decl: Option<DeclId>, arg: &Arg) -> Option<String> {
    path_text(pass, decl, &pass.text(arg.from, arg.to), arg.from, 0)
}

fn path_text(
    pass: &Pass<'_>,
    decl: Option<DeclId>,
    text: &str,
    offset: usize,
    depth: usize,
) -> Option<String> {
    const MAX_DEPTH: usize = 4;
    if depth > MAX_DEPTH {
        return None;
    }
    let inner = text.strip_prefix("path.Join(").and_then(|it| it.strip_suffix(')'));
    if let Some(inner) = inner {
        let mut out = String::new();
        for (place, item) in split_list(inner, "go").into_iter().enumerate() {
            let part = path_text(pass, decl, item, offset, depth + 1)?;
            // What stands before all paths is often configured: where nothing is known of it, it is left out.
            let is_configured = place == 0 && item.contains('.') && part.starts_with(HOLE);
            let part =
                if is_configured { format!("{HOLE}{LENIENT}{}", &part[HOLE.len_utf8()..]) } else { part };
            out = joined(&out, &part);
        }
        return Some(out);
    }
    pass.pattern_with(text, offset, &|name| match decl
        .filter(|_| !name.contains('.'))
        .map(|it| assigned(pass, it, name, offset))
    {
        None | Some(Assigned::Never) => Some(None),
        Some(Assigned::Once(value, at)) => path_text(pass, decl, &value, at, depth + 1).map(Some),
        Some(Assigned::Often) => None,
    })
}

enum Assigned {
    Never,
    /// Text and offset of the value.
    Once(String, usize),
    Often,
}

/// What a name is set to in a function before an offset: `name := value`, or `name = f(name)` of a parameter.
fn assigned(pass: &Pass<'_>, decl: DeclId, name: &str, before: usize) -> Assigned {
    let range = pass.facts.decl(decl).range;
    let from = range.from as usize;
    let body = pass.text(from, before.min(range.to as usize));
    let mut found = Assigned::Never;
    let mut at = from;
    for line in body.split_inclusive('\n') {
        let begin = at + (line.len() - line.trim_start().len());
        at += line.len();
        let Some(rest) = line.trim_start().strip_prefix(name) else { continue };
        let value = rest.strip_prefix(" := ").map(|it| (it, false));
        let Some((value, again)) = value.or_else(|| rest.strip_prefix(" = ").map(|it| (it, true))) else {
            continue;
        };
        let offset = begin + name.len() + (rest.len() - value.len());
        let value = value.trim_end();
        if value.is_empty() {
            continue;
        }
        let is_whole = !value.ends_with(['(', '{', ',', '+']);
        let is_made_of_itself = pass.parameter(Some(decl), name).is_some() && value.contains(name);
        if matches!(found, Assigned::Never) && is_whole && (!again || is_made_of_itself) {
            found = Assigned::Once(value.to_owned(), offset);
        } else {
            return Assigned::Often;
        }
    }
    found
}

/// `gone(r, "search", "videos")`: paths that are handed to a function which takes any number of them.
fn listed(pass: &Pass<'_>, found: &mut Found, call: &Call, seen: &Seen, args: &[Arg]) {
    const MOST: usize = 64;
    let [first, paths @ ..] = args else { return };
    let is_quoted = |it: &Arg| pass.text(it.from, it.to).starts_with(['"', '`']);
    if paths.len() > MOST || is_quoted(first) || !paths.iter().all(is_quoted) {
        return;
    }
    let (prefix, router, is_sure) = handed_router(pass, call, first, seen);
    if !is_sure || prefix.contains('?') {
        return;
    }
    for (at, path) in (1..).zip(paths) {
        let Some(pattern) = pass.literal(path).filter(|it| is_words(it)) else { continue };
        let handler = Handler::Made { by: call.callee, with: None };
        handed_path(found, call, (at, &pattern), (&prefix, router.clone()), handler.into());
    }
}

/// Whether an argument is one of the paths that the function around is handed: `for _, path := range paths`.
fn is_of_list(pass: &Pass<'_>, call: &Call, arg: &Arg) -> bool {
    let Some(Value::Expr(value)) = mounts::variable(pass, arg).map(|it| it.1.value) else { return false };
    pass.facts.list_of(value).is_some_and(|it| pass.parameter(call.decl, pass.facts.text(it)).is_some())
}

fn is_words(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"/_-.{}:*".contains(&it))
}

/// A route whose path a function is handed, as the argument at a place.
fn handed_path(
    found: &mut Found,
    call: &Call,
    (at, pattern): (usize, &str),
    (prefix, router): (&str, FoundRouter),
    handler: FoundHandler,
) {
    push(
        found,
        New {
            decl: call.decl,
            method: "ANY",
            pattern: Some(pattern),
            prefix: "",
            router,
            verified: false,
            handler,
            position: call.position,
        },
    );
    if let Some(route) = found.routes.last_mut() {
        // What the function puts before it may end in a slash.
        route.pattern = Some(super::normalised(pattern));
        route.through = Some((call.callee, u8::try_from(at).unwrap_or(u8::MAX), super::normalised(prefix)));
    }
}

/// `h(r, "ping", api.Ping)`, `s.get("/users", s.users)`: a path is handed to a function, which may register it. Whether it
/// does is known when files are resolved.
fn handed_over(pass: &Pass<'_>, found: &mut Found, call: &Call, seen: &Seen, args: &[Arg]) {
    let is_bare = pass.receiver(call.callee).is_none();
    let path_of = |arg: &Arg| {
        let text = pass.text(arg.from, arg.to);
        let is_passed_on = parameter_type(pass, call, arg) == Some("string") || is_of_list(pass, call, arg);
        match text.starts_with(['"', '`']) {
            true => pass.literal(arg).filter(|it| it.starts_with('/') || is_bare && is_words(it)),
            false if is_passed_on => pass.pattern(arg),
            false => None,
        }
    };
    let [_, .., last] = args else { return };
    listed(pass, found, call, seen, args);
    // Whatever has a name may be a function here: the one that is called says what it takes.
    let text = pass.text(last.from, last.to);
    let is_name = text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.'));
    if args.len() > 6 || !is_name && !is_handler(pass, call, last) {
        return;
    }
    let before_last = &args[..args.len() - 1];
    // A parameter may be the router, too: what reads like a path counts before it.
    let literal = before_last.iter().position(|it| pass.text(it.from, it.to).starts_with(['"', '`']));
    let candidates: Vec<usize> = match literal {
        Some(at) => vec![at],
        None => (0..before_last.len()).collect(),
    };
    for at in candidates {
        let Some(pattern) = path_of(&before_last[at]) else { continue };
        let (prefix, router, _) = match at.checked_sub(1) {
            Some(of) => handed_router(pass, call, &before_last[of], seen),
            None => (String::new(), Router::Root.into(), false),
        };
        if prefix.contains('?') {
            continue;
        }
        let handler = handler_in(pass, Some(last));
        handed_path(found, call, (at, &pattern), (&prefix, router), handler);
    }
}
