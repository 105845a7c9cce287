//! net/http, gin, echo, chi, gorilla/mux, fiber.

use knowing_model::facts::{Call, Expr, ExprId, HOLE, ParameterKind, Router, Value};

use super::{Group, New, group_at, handler_in, is_function, joined, push};
use crate::passes::{Arg, Found, FoundMount, FoundRouter, Origin, Pass};

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
    let mut groups: Vec<Group> = Vec::new();
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let Some(of) = pass.receiver(call.callee) else {
            passed_on(pass, found, call, &groups, &used);
            continue;
        };
        match name {
            "Route" if has(Framework::Plain) => grouped(pass, call, of, &mut groups, true),
            "Group" if has(Framework::Plain) => grouped(pass, call, of, &mut groups, false),
            "Mount" if has(Framework::Plain) => mounted(pass, found, call, of, &groups),
            "HandleFunc" | "Handle" if has(Framework::Mux) || has(Framework::Standard) => {
                handle(pass, found, call, of, &groups, has(Framework::Mux));
            }
            "Match" if has(Framework::Capital) => {
                let args = pass.arguments(call.position);
                if let [methods, path, .., last] = args.as_slice() {
                    for method in method_list(pass, methods) {
                        route(pass, found, call, of, &groups, &method, path, last);
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
                    route(pass, found, call, of, &groups, &method, path, last);
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
                            route(pass, found, call, of, &groups, &method, path, last);
                        }
                    }
                    None => passed_on(pass, found, call, &groups, &used),
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

/// What stands before a router in this file, and the router itself.
fn before(pass: &Pass<'_>, call: &Call, of: ExprId, groups: &[Group]) -> (String, FoundRouter) {
    let mut prefix = String::new();
    let mut at = of;
    for _ in 0..64 {
        match pass.facts.expr(at) {
            Expr::Call { callee } => {
                let name = pass.last_name(callee);
                let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                if matches!(name, "Group" | "PathPrefix" | "Party" | "Route") && !args.is_empty() {
                    // A computed prefix cannot be told, so that what stands behind it is not whole.
                    let text = pass.pattern(&args[0]).unwrap_or_else(|| "?".to_owned());
                    prefix = joined(&text, &prefix);
                }
                match pass.receiver(callee) {
                    // Made here: `chi.NewRouter()`.
                    Some(of) if pass.is_free(of) => {
                        return (prefix, call.decl.map_or(Router::Root, Router::Result).into());
                    }
                    Some(of) => at = of,
                    None => return (prefix, Router::Root.into()),
                }
            }
            Expr::Name { name, at: offset } => {
                let text = pass.facts.text(name);
                let binding = pass.binding(name, offset);
                if let Some(group) = group_at(groups, offset as usize)
                    && binding.is_some_and(|it| it.visible.from as usize >= group.from)
                    && !matches!(binding.map(|it| it.value), Some(Value::Expr(_)))
                {
                    return (joined(&group.prefix, &prefix), group.router.clone());
                }
                match pass.origin(at) {
                    Origin::Value(value, Some(_)) if value != at => {
                        at = value;
                        continue;
                    }
                    Origin::Type(_, decl) => {
                        if let Some((of, index)) = pass.parameter(decl.or(call.decl), text) {
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
    groups: &[Group],
    method: &str,
    path: &Arg,
    handler: &Arg,
) {
    let pattern = pass.pattern(path);
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
    let (prefix, router) = before(pass, call, of, groups);
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
fn handle(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId, groups: &[Group], is_mux: bool) {
    let args = pass.arguments(call.position);
    let [path, handler] = args.as_slice() else { return };
    let written = pass.pattern(path);
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
    let (prefix, router) = before(pass, call, of, groups);
    let mut methods: Vec<String> = method.into_iter().collect();
    if methods.is_empty() && is_mux {
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
fn grouped(pass: &Pass<'_>, call: &Call, of: ExprId, groups: &mut Vec<Group>, has_prefix: bool) {
    let args = pass.arguments(call.position);
    let (prefix, body) = match args.as_slice() {
        [prefix, body] if has_prefix => (pass.pattern(prefix).unwrap_or_else(|| "?".to_owned()), body),
        [body] if !has_prefix => (String::new(), body),
        _ => return,
    };
    if !is_function(pass, body) {
        return;
    }
    let (outer, router) = before(pass, call, of, groups);
    let prefix = joined(&outer, &prefix);
    groups.push(Group { from: body.from, to: body.to, prefix, router, verified: true });
}

/// `r.Mount("/x", child)`, `r.Mount("/x", makeRouter())`.
fn mounted(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId, groups: &[Group]) {
    let args = pass.arguments(call.position);
    let [prefix, child] = args.as_slice() else { return };
    let Some(prefix) = pass.pattern(prefix) else { return };
    let (outer, router) = before(pass, call, of, groups);
    let FoundRouter::Known(parent) = router else { return };
    let inside = pass.calls_in(child.from, child.to).next();
    let child = match inside {
        Some(made) => Router::ResultOf(made.callee),
        None => match pass.passed_in(child.from, child.to) {
            Some(expr) => pass.router_value(expr),
            None => return,
        },
    };
    found.mounts.push(FoundMount {
        decl: call.decl,
        child: child.into(),
        parent: Some(parent),
        prefix: joined(&outer, &super::normalised(&prefix)),
        replaces: false,
    });
}

/// `Register(v1.Group("/users"))`, `users.Register(v1)`: a router is handed to a function that registers on it.
fn passed_on(pass: &Pass<'_>, found: &mut Found, call: &Call, groups: &[Group], used: &[Framework]) {
    let args = pass.arguments(call.position);
    handed_over(pass, found, call, groups, &args);
    if !used.iter().any(|it| *it != Framework::Standard) {
        return;
    }
    for (index, arg) in args.iter().enumerate().take(6) {
        if is_function(pass, arg) {
            continue;
        }
        let inside = pass.calls_in(arg.from, arg.to).next();
        let (prefix, router) = match inside {
            Some(made) if pass.called(made) == "Group" => {
                let Some(of) = pass.receiver(made.callee) else { continue };
                let (outer, router) = before(pass, call, of, groups);
                let own =
                    pass.first_literal(&pass.arguments(made.position)).unwrap_or_else(|| "?".to_owned());
                (joined(&outer, &own), router)
            }
            Some(_) => continue,
            None => match pass.passed_in(arg.from, arg.to).or_else(|| pass.name_at(arg)) {
                Some(expr) => before(pass, call, expr, groups),
                None => continue,
            },
        };
        // A value that is made elsewhere may be anything, and says nothing.
        let FoundRouter::Known(parent) = router else { continue };
        if prefix.is_empty() && !matches!(parent, Router::Parameter(..)) {
            continue;
        }
        let child = Router::ParameterOf(call.callee, u8::try_from(index).unwrap_or(u8::MAX));
        found.mounts.push(FoundMount {
            decl: call.decl,
            child: child.into(),
            parent: Some(parent),
            prefix: super::normalised(&prefix),
            replaces: false,
        });
    }
}

/// The router that an argument names, as `before` has it. Arguments that are plain names have no expression of their own, so
/// that the name is looked at where it stands.
fn handed_router(pass: &Pass<'_>, call: &Call, arg: &Arg, groups: &[Group]) -> (String, FoundRouter) {
    let expr = pass.passed_in(arg.from, arg.to).or_else(|| pass.name_at(arg));
    let Some(expr) = expr else { return (String::new(), Router::Root.into()) };
    if let Expr::Name { name, .. } = pass.facts.expr(expr) {
        let binding = pass.binding(name, u32::try_from(arg.from).unwrap_or(u32::MAX));
        let is_made = matches!(binding.map(|it| it.value), Some(Value::Expr(_)));
        if let Some(group) = group_at(groups, arg.from)
            && binding.is_some_and(|it| it.visible.from as usize >= group.from)
            && !is_made
        {
            return (group.prefix.clone(), group.router.clone());
        }
        if let Some((of, index)) = pass.parameter(call.decl, pass.facts.text(name)).filter(|_| !is_made) {
            return (String::new(), Router::Parameter(of, index).into());
        }
    }
    before(pass, call, expr, groups)
}

/// `h(r, "ping", api.Ping)`, `s.get("/users", s.users)`: a path is handed to a function, which may register it. Whether it
/// does is known when files are resolved.
fn handed_over(pass: &Pass<'_>, found: &mut Found, call: &Call, groups: &[Group], args: &[Arg]) {
    let is_bare = pass.receiver(call.callee).is_none();
    let path_of = |arg: &Arg| {
        let text = pass.text(arg.from, arg.to);
        let is_passed_on = parameter_type(pass, call, arg) == Some("string");
        let is_word = |it: &str| {
            !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"/_-.{}:*".contains(&it))
        };
        match text.starts_with(['"', '`']) {
            true => pass.literal(arg).filter(|it| it.starts_with('/') || is_bare && is_word(it)),
            false if is_passed_on => pass.pattern(arg),
            false => None,
        }
    };
    let [_, .., last] = args else { return };
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
        let (prefix, router) = match at.checked_sub(1) {
            Some(of) => handed_router(pass, call, &before_last[of], groups),
            None => (String::new(), Router::Root.into()),
        };
        if prefix.contains('?') {
            continue;
        }
        push(
            found,
            New {
                decl: call.decl,
                method: "ANY",
                pattern: Some(&pattern),
                prefix: "",
                router,
                verified: false,
                handler: handler_in(pass, Some(last)),
                position: call.position,
            },
        );
        if let Some(route) = found.routes.last_mut() {
            // What the function puts before it may end in a slash.
            route.pattern = Some(super::normalised(&pattern));
            let prefix = super::normalised(&prefix);
            route.through = Some((call.callee, u8::try_from(at).unwrap_or(u8::MAX), prefix));
        }
    }
}
