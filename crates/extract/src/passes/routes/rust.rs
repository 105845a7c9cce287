//! Axum, Actix, Rocket.

use knowing_model::facts::{Call, DeclId, Expr, ExprId, Handler, Router, Value};

use super::{New, handler_in, joined, normalised, push, warp};
use crate::passes::{Arg, Found, FoundMount, FoundRouter, Pass};

const METHODS: &[&str] =
    &["get", "post", "put", "delete", "patch", "head", "options", "trace", "any", "connect"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let is_actix = pass.modules.has_any(&["actix_web", "actix_http"]);
    let is_rocket = pass.modules.has("rocket") || memchr::memmem::find(pass.bytes, b"rocket::").is_some();
    let is_axum = pass.modules.has_any(&["axum", "aide", "utoipa_axum"]);
    if is_actix || is_rocket {
        attributes(pass, found);
    }
    if pass.modules.has("warp") || memchr::memmem::find(pass.bytes, b"warp::").is_some() {
        warp::find(pass, found);
    }
    if !is_axum && !is_actix && !is_rocket {
        return;
    }
    for call in &pass.facts.calls {
        let Some(of) = pass.receiver(call.callee) else { continue };
        match pass.called(call) {
            "route" if is_axum || is_actix => route(pass, found, call, of),
            "nest" | "merge" | "nest_service" if is_axum => nested(pass, found, call, of),
            "configure" | "service" if is_actix => configured(pass, found, call, of),
            "to" if is_actix => resource(pass, found, call, of),
            "mount" if is_rocket => mounted(pass, found, call),
            _ => {}
        }
    }
}

/// `#[get("/x/{id}")]` on a function.
fn attributes(pass: &Pass<'_>, found: &mut Found) {
    for (reference, decl, name) in pass.decorators() {
        if !METHODS.contains(&name) && name != "route" {
            continue;
        }
        let args = pass.decorator_arguments(reference);
        let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
        let (methods, path): (Vec<String>, Option<&&Arg>) = match name {
            "route" => {
                let methods = args.iter().filter(|it| it.name.as_deref() == Some("method"));
                let methods: Vec<String> = methods.filter_map(|it| pass.literal(it)).collect();
                (if methods.is_empty() { vec!["ANY".to_owned()] } else { methods }, plain.first())
            }
            name => (vec![name.to_ascii_uppercase()], plain.first()),
        };
        let Some(path) = path else { continue };
        let pattern = pass.literal(path).map(|it| it.split('?').next().unwrap_or_default().to_owned());
        for method in methods {
            push(
                found,
                New {
                    decl: None,
                    method: &method,
                    pattern: pattern.as_deref(),
                    prefix: "",
                    router: Router::Decl(decl).into(),
                    verified: true,
                    handler: Handler::Decl(decl).into(),
                    position: reference.position,
                },
            );
        }
    }
}

/// The first call of a chain, or the name it begins with.
enum Base {
    Made(ExprId),
    Name(ExprId),
    Unknown,
}

/// Follows a chain to its beginning; `web::scope("/x")` and its like on the way are prefixes.
fn base_of(pass: &Pass<'_>, of: ExprId) -> (Base, String) {
    let mut at = of;
    for _ in 0..256 {
        match pass.facts.expr(at) {
            Expr::Call { callee } => {
                if matches!(pass.last_name(callee), "scope" | "resource") && is_path_call(pass, callee) {
                    let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                    let text = pass.first_pattern(&args).unwrap_or_else(|| "?".to_owned());
                    return (Base::Made(callee), text);
                }
                match pass.facts.expr(callee) {
                    Expr::Member { of, .. } => at = of,
                    _ => return (Base::Made(callee), String::new()),
                }
            }
            Expr::Name { .. } => return (Base::Name(at), String::new()),
            Expr::Generic { of, .. } | Expr::Try { of } | Expr::Await { of } => at = of,
            _ => return (Base::Unknown, String::new()),
        }
    }
    (Base::Unknown, String::new())
}

fn is_path_call(pass: &Pass<'_>, callee: ExprId) -> bool {
    !matches!(pass.facts.expr(callee), Expr::Member { .. })
}

/// What stands before a chain of calls in this function, and what it hangs on.
fn before(pass: &Pass<'_>, call: &Call, of: ExprId, depth: usize) -> (String, FoundRouter) {
    let (base, own) = base_of(pass, of);
    let top: FoundRouter = call.decl.map_or(Router::Root, Router::Result).into();
    if depth > 16 {
        return (own, top);
    }
    let made = match base {
        Base::Name(expr) => {
            let Expr::Name { name, at } = pass.facts.expr(expr) else { return (own, top) };
            match pass.binding(name, at).map(|it| (it.value, it.decl)) {
                Some((Value::Expr(value), _)) => {
                    let (outer, router) = before(pass, call, value, depth + 1);
                    return (joined(&outer, &own), router);
                }
                _ => {
                    return match pass.parameter(call.decl, pass.facts.text(name)) {
                        Some((of, index)) => (own, Router::Parameter(of, index).into()),
                        None => (own, top),
                    };
                }
            }
        }
        Base::Made(callee) => callee,
        Base::Unknown => return (own, top),
    };
    // Made as an argument of a call that puts it behind a prefix.
    let Some(first) = pass.call_of(made) else { return (own, top) };
    let offset = pass.offset(first.position);
    if let Some((outer, prefix)) = around(pass, call.decl, offset) {
        let Some(of) = pass.receiver(outer.callee) else { return (own, top) };
        let (before, router) = before(pass, outer, of, depth + 1);
        return (joined(&joined(&before, &prefix), &own), router);
    }
    // Or held by a variable that is put behind one.
    let holder = pass.facts.bindings.iter().find(|it| {
        it.decl == call.decl
            && matches!(it.value, Value::Expr(value) if matches!(base_of(pass, value).0, Base::Made(it) if it == made))
    });
    if let Some(knowing_model::facts::BindingTarget::Name(name)) = holder.map(|it| it.target) {
        let name = pass.facts.text(name);
        let user =
            pass.facts.calls.iter().filter(|it| it.decl == call.decl && is_nesting(pass, it)).find(|it| {
                let args = pass.arguments(it.position);
                args.last().is_some_and(|it| pass.text(it.from, it.to).split('.').next() == Some(name))
            });
        if let Some(user) = user
            && let Some(of) = pass.receiver(user.callee)
        {
            let args = pass.arguments(user.position);
            let prefix =
                if args.len() == 2 { pass.literal(&args[0]).unwrap_or_default() } else { String::new() };
            let (before, router) = before(pass, user, of, depth + 1);
            return (joined(&joined(&before, &prefix), &own), router);
        }
    }
    (own, top)
}

fn is_nesting(pass: &Pass<'_>, call: &Call) -> bool {
    matches!(pass.called(call), "nest" | "merge" | "service" | "nest_service" | "fallback_service")
}

/// The innermost call that nests what is made at an offset, with its prefix.
fn around<'a>(pass: &Pass<'a>, decl: Option<DeclId>, offset: usize) -> Option<(&'a Call, String)> {
    let mut best: Option<(usize, &Call, String)> = None;
    for call in pass.facts.calls.iter().filter(|it| it.decl == decl && is_nesting(pass, it)) {
        if pass.offset(call.position) > offset {
            continue;
        }
        let args = pass.arguments(call.position);
        let Some(arg) = args.iter().find(|it| it.from <= offset && offset < it.to) else { continue };
        let length = arg.to - arg.from;
        if best.as_ref().is_none_or(|it| length < it.0) {
            let prefix =
                if args.len() == 2 { pass.literal(&args[0]).unwrap_or_default() } else { String::new() };
            best = Some((length, call, prefix));
        }
    }
    best.map(|it| (it.1, it.2))
}

/// `.route("/x", get(a).post(b))`, `.route("/x", web::get().to(a))`.
fn route(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId) {
    let args = pass.arguments(call.position);
    let [path, service] = args.as_slice() else { return };
    let pattern = pass.pattern(path);
    if pattern.as_ref().is_some_and(|it| !super::is_path(it)) {
        return;
    }
    let (prefix, router) = before(pass, call, of, 0);
    let pattern = pattern.filter(|_| !prefix.contains('?'));
    let mut add = |method: &str, handler| {
        let method = if method == "any" { "ANY" } else { method };
        push(
            found,
            New {
                decl: call.decl,
                method,
                pattern: pattern.as_deref(),
                prefix: &prefix,
                router: router.clone(),
                verified: true,
                handler,
                position: call.position,
            },
        );
    };
    let inside: Vec<&Call> = pass.calls_in(service.from, service.to).collect();
    if let Some(to) = inside.iter().find(|it| pass.called(it) == "to") {
        let method = inside.iter().map(|it| pass.called(it)).find(|it| METHODS.contains(it));
        let args = pass.arguments(to.position);
        add(method.unwrap_or("any"), handler_in(pass, args.last()));
        return;
    }
    let mut n = 0;
    for method in &inside {
        let name = pass.called(method);
        let bare = name.strip_suffix("_service").or_else(|| name.strip_suffix("_with")).unwrap_or(name);
        if METHODS.contains(&bare) && is_chain_of(pass, method, service) {
            let args = pass.arguments(method.position);
            add(bare, handler_in(pass, args.first()));
            n += 1;
        }
    }
    if n == 0 {
        add("any", handler_in(pass, Some(service)));
    }
}

/// Whether a call stands in the chain that an argument is, not deeper.
fn is_chain_of(pass: &Pass<'_>, call: &Call, arg: &Arg) -> bool {
    let offset = pass.offset(call.position);
    let text = pass.text(arg.from, offset);
    let mut depth = 0_i32;
    for it in text.bytes() {
        match it {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// `web::resource("/x").route(web::get().to(a))`, `web::resource("/x").to(a)`.
fn resource(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId) {
    let offset = pass.offset(call.position);
    // Inside of `.route(...)` on a resource, or on the resource itself.
    let outer = pass.facts.calls.iter().find(|it| {
        pass.called(it) == "route" && it.decl == call.decl && {
            let args = pass.arguments(it.position);
            args.len() == 1 && args[0].from <= offset && offset < args[0].to
        }
    });
    let (base, method, of) = match outer {
        Some(outer) => {
            let method = match pass.facts.expr(of) {
                Expr::Call { callee } => pass.last_name(callee),
                _ => "any",
            };
            let Some(of) = pass.receiver(outer.callee) else { return };
            (outer, method, of)
        }
        None => (call, "any", of),
    };
    let is_resource =
        matches!(base_of(pass, of), (Base::Made(callee), _) if pass.last_name(callee) == "resource");
    if !is_resource {
        return;
    }
    let method = if METHODS.contains(&method) && method != "any" { method } else { "any" };
    let (prefix, router) = before(pass, base, of, 0);
    let args = pass.arguments(call.position);
    let pattern = (!prefix.contains('?')).then_some("");
    push(
        found,
        New {
            decl: call.decl,
            method: if method == "any" { "ANY" } else { method },
            pattern,
            prefix: &prefix,
            router,
            verified: true,
            handler: handler_in(pass, args.last()),
            position: call.position,
        },
    );
}

/// `.nest("/x", users::router())`, `.merge(other())`.
fn nested(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId) {
    let args = pass.arguments(call.position);
    let (prefix, child) = match args.as_slice() {
        [prefix, child] => (pass.pattern(prefix), child),
        [child] => (Some(String::new()), child),
        _ => return,
    };
    let Some(prefix) = prefix else { return };
    let (outer, router) = before(pass, call, of, 0);
    let FoundRouter::Known(parent) = router else { return };
    let Some(made) = pass.calls_in(child.from, child.to).next() else { return };
    if matches!(pass.facts.expr(made.callee), Expr::Member { .. }) {
        return;
    }
    found.mounts.push(FoundMount {
        decl: call.decl,
        child: Router::ResultOf(made.callee).into(),
        parent: Some(parent.into()),
        prefix: joined(&outer, &normalised(&prefix)),
        replaces: false,
        handed: Vec::new(),
    });
}

/// `web::scope("/x").configure(users::configure)`, `web::scope("/x").service(list)`.
fn configured(pass: &Pass<'_>, found: &mut Found, call: &Call, of: ExprId) {
    let args = pass.arguments(call.position);
    let [child] = args.as_slice() else { return };
    if pass.calls_in(child.from, child.to).next().is_some() {
        return;
    }
    let Some(expr) = pass.passed_in(child.from, child.to) else { return };
    let (prefix, router) = before(pass, call, of, 0);
    let FoundRouter::Known(parent) = router else { return };
    let child = match pass.called(call) {
        "configure" => Router::ParameterOf(expr, 0),
        _ => pass.router_value(expr),
    };
    let prefix = normalised(&prefix);
    found.mounts.push(FoundMount {
        decl: call.decl,
        child: child.into(),
        parent: Some(parent.into()),
        prefix,
        replaces: false,
        handed: Vec::new(),
    });
}

/// `rocket::build().mount("/api", routes![list, users::show])`.
fn mounted(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let [prefix, routes] = args.as_slice() else { return };
    let Some(prefix) = pass.literal(prefix) else { return };
    let text = pass.text(routes.from, routes.to);
    let Some((_, list)) = text.split_once("![") else { return };
    for name in list.trim_end_matches(']').split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let path = name.split("::").map(str::to_owned).collect();
        found.mounts.push(FoundMount {
            decl: call.decl,
            child: FoundRouter::Path(path, routes.from as u32),
            parent: Some(Router::Root.into()),
            prefix: normalised(&prefix),
            replaces: false,
            handed: Vec::new(),
        });
    }
}
