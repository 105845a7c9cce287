//! Flask, FastAPI, Starlette, aiohttp, Django and its REST framework.

use knowing_model::NodeKind;
use knowing_model::facts::{BindingTarget, Call, DeclId, Expr, ExprId, Handler, Router, Value};

use super::{New, own_prefix, push};
use crate::passes::{Arg, Found, FoundHandler, FoundMount, FoundRouter, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options", "trace", "websocket"];

/// Calls that make a router, and the keyword of its prefix.
const ROUTERS: &[(&str, &str)] = &[
    ("Flask", ""),
    ("Quart", ""),
    ("Blueprint", "url_prefix"),
    ("FastAPI", ""),
    ("APIRouter", "prefix"),
    ("RouteTableDef", ""),
    ("Starlette", ""),
    ("Sanic", ""),
    ("APIFlask", ""),
    ("APIBlueprint", "url_prefix"),
];

const DJANGO: &[&str] = &["django.urls", "django.conf.urls"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    decorated(pass, found);
    routers(pass, found);
    let is_django = pass.modules.has_any(DJANGO);
    let has_framework = pass.modules.has_any(&[
        "flask",
        "fastapi",
        "starlette",
        "quart",
        "aiohttp",
        "rest_framework",
        "sanic",
    ]);
    for call in &pass.facts.calls {
        match pass.called(call) {
            name @ ("path" | "re_path" | "url") if is_django && is_plain(pass, call) => {
                django(pass, found, call, name)
            }
            "register" if pass.modules.has("rest_framework") => register(pass, found, call),
            "register_blueprint" | "include_router" | "mount" => mount(pass, found, call),
            "add_url_rule" | "add_api_route" | "add_route" if has_framework => added(pass, found, call),
            "Route" | "WebSocketRoute" if pass.modules.has("starlette") => starlette(pass, found, call),
            "Mount" if pass.modules.has("starlette") => {}
            name if name.starts_with("add_") && pass.modules.has("aiohttp") => {
                aiohttp(pass, found, call, &name[4..])
            }
            name if METHODS.contains(&name) && is_web(pass, call) => aiohttp(pass, found, call, name),
            _ => {}
        }
    }
}

fn is_plain(pass: &Pass<'_>, call: &Call) -> bool {
    matches!(pass.facts.expr(call.callee), Expr::Name { .. })
}

/// `web.get("/x", handler)` of aiohttp.
fn is_web(pass: &Pass<'_>, call: &Call) -> bool {
    pass.modules.has("aiohttp") && pass.receiver(call.callee).is_some_and(|it| pass.chain(it) == "web")
}

fn router_of(pass: &Pass<'_>, decl: Option<DeclId>, expr: ExprId) -> (Router, bool, String) {
    // A variable of a function: what it is made by stands here.
    if let Expr::Name { name, at } = pass.facts.expr(expr)
        && let Some(binding) = pass.binding(name, at)
        && binding.decl.is_some()
    {
        match binding.value {
            Value::Expr(value) => {
                if let Some((prefix, _)) = made_router(pass, value) {
                    return (Router::Root, true, prefix);
                }
            }
            Value::Type(type_) => {
                let is_router = ROUTERS.iter().any(|it| it.0 == pass.type_name(type_));
                if let Some((of, index)) = pass.parameter(decl, pass.facts.text(name)) {
                    return (Router::Parameter(of, index), is_router, String::new());
                }
            }
            _ => {
                if let Some((of, index)) = pass.parameter(decl, pass.facts.text(name)) {
                    return (Router::Parameter(of, index), false, String::new());
                }
            }
        }
    }
    (pass.router_value(expr), false, String::new())
}

/// The prefix of a router that an expression makes.
fn made_router(pass: &Pass<'_>, value: ExprId) -> Option<(String, &'static str)> {
    let Expr::Call { callee } = pass.facts.expr(value) else { return None };
    let name = pass.last_name(callee);
    let (name, keyword) = ROUTERS.iter().find(|it| it.0 == name)?;
    let imported = ["flask", "fastapi", "quart", "aiohttp", "starlette", "sanic", "apiflask"];
    if !pass.modules.has_any(&imported) {
        return None;
    }
    let call = pass.call_of(callee)?;
    let args = pass.arguments(call.position);
    let prefix = args.iter().find(|it| it.name.as_deref() == Some(keyword) && !keyword.is_empty());
    Some((prefix.and_then(|it| pass.pattern(it)).unwrap_or_default(), name))
}

fn routers(pass: &Pass<'_>, found: &mut Found) {
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let is_held = matches!(decl.kind, NodeKind::Var | NodeKind::Const | NodeKind::Field);
        if is_held
            && let Some(value) = decl.value
            && let Some((prefix, _)) = made_router(pass, value)
        {
            own_prefix(found, None, Router::Decl(DeclId(index)), &prefix);
        }
    }
    for binding in &pass.facts.bindings {
        if let (BindingTarget::Field(field), Value::Expr(value)) = (binding.target, binding.value)
            && let Some((prefix, _)) = made_router(pass, value)
        {
            own_prefix(found, None, Router::Decl(field), &prefix);
        }
    }
}

/// `@app.route("/x", methods=["GET"])`, `@router.get("/x")`.
fn decorated(pass: &Pass<'_>, found: &mut Found) {
    for call in &pass.facts.calls {
        let name = pass.called(call);
        if name != "route" && name != "api_route" && !METHODS.contains(&name) {
            continue;
        }
        let Some(of) = pass.receiver(call.callee).filter(|_| is_decorator(pass, call)) else { continue };
        let offset = pass.offset(call.position);
        let Some(decl) = decl_behind(pass, offset) else { continue };
        let args = pass.arguments(call.position);
        let path =
            args.iter().find(|it| it.name.is_none() || matches!(it.name.as_deref(), Some("rule" | "path")));
        let Some(path) = path else { continue };
        let pattern = pass.pattern(path);
        // A decorator of that name with something else than a path is another thing.
        if pattern.as_ref().is_some_and(|it| !super::is_path(it)) {
            continue;
        }
        let scope = pass.facts.decl(decl).owner;
        let (router, verified, prefix) = router_of(pass, scope, of);
        for method in methods(pass, &args, name) {
            push(
                found,
                New {
                    decl: scope,
                    method: &method,
                    pattern: pattern.as_deref(),
                    prefix: &prefix,
                    router: router.into(),
                    verified,
                    handler: Handler::Decl(decl).into(),
                    position: call.position,
                },
            );
        }
    }
}

/// Whether a call stands behind an `@` that begins its line.
fn is_decorator(pass: &Pass<'_>, call: &Call) -> bool {
    let offset = pass.offset(call.position);
    let begin = offset - (call.position.column as usize).min(offset);
    let line = pass.bytes.get(begin..offset).unwrap_or_default().trim_ascii_start();
    line.first() == Some(&b'@')
        && line[1..].iter().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b' '))
}

/// The declaration that begins next, without anything but decorators between.
fn decl_behind(pass: &Pass<'_>, offset: usize) -> Option<DeclId> {
    let decls = &pass.facts.decls;
    let next = (0..).zip(decls).filter(|(_, it)| it.range.from as usize > offset);
    let next = next.filter(|(_, it)| it.kind.is_callable() || it.kind == NodeKind::Class);
    next.min_by_key(|(_, it)| it.range.from).map(|(at, _)| DeclId(at))
}

fn methods(pass: &Pass<'_>, args: &[Arg], name: &str) -> Vec<String> {
    if METHODS.contains(&name) {
        return vec![if name == "websocket" { "WEBSOCKET".to_owned() } else { name.to_ascii_uppercase() }];
    }
    let Some(list) = args.iter().find(|it| it.name.as_deref() == Some("methods")) else {
        // What is not said is GET.
        return vec!["GET".to_owned()];
    };
    let text = pass.text(list.from, list.to);
    let inner = text.trim_matches(['[', ']', '(', ')', '{', '}', ' ', '\n']);
    let all: Vec<String> = inner
        .split(',')
        .map(str::trim)
        .filter(|it| !it.is_empty())
        .filter_map(|it| pass.literal_text(it))
        .map(|it| it.to_ascii_uppercase())
        .collect();
    if all.is_empty() { vec!["ANY".to_owned()] } else { all }
}

/// `path("users/<int:pk>/", views.show)`, `path("shop/", include("shop.urls"))`.
fn django(pass: &Pass<'_>, found: &mut Found, call: &Call, _: &str) {
    let args = pass.arguments(call.position);
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let (Some(pattern), Some(view)) = (plain.first(), plain.get(1).copied().or_else(|| named(&args, "view")))
    else {
        return;
    };
    let (mut from, mut to) = (pattern.from, pattern.to);
    let text = pass.text(from, to);
    // A pattern that is translated is one all the same.
    if let Some(inner) = text.strip_prefix("_(").or_else(|| text.strip_prefix("gettext_lazy(")) {
        from += text.len() - inner.len();
        to -= 1;
    }
    let written = pass.literal_text(&pass.text(from, to));
    let text = pass.text(view.from, view.to);
    let prefix = around(pass, call);
    if let Some(inner) = text.strip_prefix("include(") {
        let Some(written) = written else { return };
        let prefix = super::joined(&prefix, &super::normalised(&written));
        let target = inner.trim_start().trim_start_matches('(').trim_start();
        if let Some(module) = pass.literal_text(target.split([',', ')']).next().unwrap_or_default()) {
            found.mounts.push(FoundMount {
                decl: call.decl,
                child: FoundRouter::Module(module),
                parent: Some(Router::File.into()),
                prefix,
                replaces: false,
                handed: Vec::new(),
            });
        } else if let Some(expr) = pass.passed_in(view.from, view.to) {
            // `include(router.urls)`, `include(shop_urls)`.
            let child = match pass.facts.expr(expr) {
                Expr::Member { of, name } if pass.facts.text(name) == "urls" => of,
                _ => expr,
            };
            found.mounts.push(FoundMount {
                decl: call.decl,
                child: pass.router_value(child).into(),
                parent: Some(Router::File.into()),
                prefix,
                replaces: false,
                handed: Vec::new(),
            });
        }
        return;
    }
    // `path("admin/", admin.site.urls)`: what others of that kind lead to is not written here.
    if let Some(of) = text.strip_suffix(".urls") {
        if is_admin_site(pass, of, view) {
            admin(pass, found, call, written.as_deref(), &prefix, view);
        }
        return;
    }
    push(
        found,
        New {
            decl: call.decl,
            method: "ANY",
            pattern: written.as_deref(),
            prefix: &prefix,
            router: Router::File.into(),
            verified: true,
            handler: view_of(pass, view),
            position: call.position,
        },
    );
}

/// The pages that every site of Django's admin has; those of models depend on what is registered with it.
const ADMIN: &[&str] = &[
    "",
    "login/",
    "logout/",
    "password_change/",
    "password_change/done/",
    "autocomplete/",
    "jsi18n/",
    "r/<path:content_type_id>/<path:object_id>/",
];

/// `admin.site`, or a variable that holds a site of one's own.
fn is_admin_site(pass: &Pass<'_>, of: &str, view: &Arg) -> bool {
    if of == "admin.site" {
        return pass.modules.has("django.contrib.admin");
    }
    let held = pass.passed_in(view.from, view.to).and_then(|it| pass.receiver(it));
    let made = held.map(|it| pass.origin(it));
    matches!(made, Some(crate::passes::Origin::Value(value, _))
        if matches!(pass.facts.expr(value), Expr::Call { callee } if pass.last_name(callee).ends_with("AdminSite")))
}

fn admin(pass: &Pass<'_>, found: &mut Found, call: &Call, written: Option<&str>, prefix: &str, view: &Arg) {
    // The site that comes with the framework is served by who asks for it.
    let own = pass.passed_in(view.from, view.to).and_then(|it| pass.receiver(it));
    let own = own.filter(|it| pass.chain(*it) != "admin.site");
    let handler: FoundHandler = own.map_or(Handler::Inline, Handler::Value).into();
    for page in ADMIN {
        let pattern = written.map(|it| format!("{it}{page}"));
        push(
            found,
            New {
                decl: call.decl,
                method: "ANY",
                pattern: pattern.as_deref(),
                prefix,
                router: Router::File.into(),
                verified: true,
                handler: handler.clone(),
                position: call.position,
            },
        );
        if pattern.is_none() {
            break;
        }
    }
}

/// Prefixes of `path("x/", include([...]))` around a call.
fn around(pass: &Pass<'_>, call: &Call) -> String {
    let offset = pass.offset(call.position);
    let mut prefixes: Vec<(usize, String)> = Vec::new();
    for outer in &pass.facts.calls {
        if !matches!(pass.called(outer), "path" | "re_path" | "url") || !is_plain(pass, outer) {
            continue;
        }
        let begin = pass.offset(outer.position);
        if begin >= offset {
            continue;
        }
        let args = pass.arguments(outer.position);
        let Some(view) = args.get(1).filter(|it| it.from < offset && offset < it.to) else { continue };
        let text = pass.text(view.from, view.to);
        if text.starts_with("include(") {
            prefixes.push((begin, pass.literal(&args[0]).unwrap_or_default()));
        }
    }
    prefixes.sort();
    prefixes.iter().fold(String::new(), |all, (_, it)| super::joined(&all, &super::normalised(it)))
}

fn named<'a>(args: &'a [Arg], name: &str) -> Option<&'a Arg> {
    args.iter().find(|it| it.name.as_deref() == Some(name))
}

/// A function, or the class before `.as_view()`.
fn view_of(pass: &Pass<'_>, view: &Arg) -> FoundHandler {
    let mut inside = pass.calls_in(view.from, view.to);
    let as_view = inside.find(|it| matches!(pass.called(it), "as_view" | "as_asgi" | "as_event_stream"));
    if let Some(class) = as_view.and_then(|it| pass.receiver(it.callee)) {
        return Handler::Value(class).into();
    }
    super::handler_in(pass, Some(view))
}

/// `router.register(r"users", UserViewSet)`: a set of views answers below its prefix.
fn register(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let Some(of) = pass.receiver(call.callee).filter(|_| args.len() >= 2) else { return };
    let pattern = args.iter().find(|it| it.name.is_none()).or_else(|| named(&args, "prefix"));
    let view = args.iter().filter(|it| it.name.is_none()).nth(1).or_else(|| named(&args, "viewset"));
    let (Some(pattern), Some(view)) = (pattern, view) else { return };
    let pattern = pass.literal(pattern);
    for rest in ["/", "/{pk}/"] {
        let whole = pattern.as_ref().map(|it| format!("{it}{rest}"));
        let (router, _, _) = router_of(pass, call.decl, of);
        push(
            found,
            New {
                decl: call.decl,
                method: "ANY",
                pattern: whole.as_deref(),
                prefix: "",
                router: router.into(),
                verified: is_rest_router(pass, of),
                handler: super::handler_in(pass, Some(view)),
                position: call.position,
            },
        );
        if pattern.is_none() {
            break;
        }
    }
}

fn is_rest_router(pass: &Pass<'_>, of: ExprId) -> bool {
    match pass.origin(of) {
        crate::passes::Origin::Value(value, _) => match pass.facts.expr(value) {
            Expr::Call { callee } => pass.last_name(callee).ends_with("Router"),
            _ => false,
        },
        _ => false,
    }
}

/// `app.register_blueprint(bp, url_prefix="/x")`, `app.include_router(router, prefix="/x")`.
fn mount(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let name = pass.called(call);
    let Some(of) = pass.receiver(call.callee) else { return };
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let (child, prefix, replaces) = match name {
        "mount" => (plain.get(1).copied().or_else(|| named(&args, "app")), plain.first().copied(), false),
        "register_blueprint" => (plain.first().copied(), named(&args, "url_prefix"), true),
        _ => (plain.first().copied().or_else(|| named(&args, "router")), named(&args, "prefix"), false),
    };
    let Some(expr) = child.and_then(|it| pass.passed_in(it.from, it.to)) else { return };
    let text = match prefix {
        // Computed: what stands below is still a router.
        Some(arg) => pass.pattern(arg).unwrap_or_default(),
        None => String::new(),
    };
    let (parent, _, before) = router_of(pass, call.decl, of);
    found.mounts.push(FoundMount {
        decl: call.decl,
        child: pass.router_value(expr).into(),
        parent: Some(parent.into()),
        prefix: super::joined(&before, &super::normalised(&text)),
        replaces: replaces && prefix.is_some(),
        handed: Vec::new(),
    });
}

/// `app.add_url_rule("/x", view_func=f)`.
fn added(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let Some(of) = pass.receiver(call.callee) else { return };
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let Some(path) = plain.first().copied().or_else(|| named(&args, "rule")).or_else(|| named(&args, "path"))
    else {
        return;
    };
    let pattern = pass.pattern(path);
    if pattern.as_ref().is_some_and(|it| !super::is_path(it)) {
        return;
    }
    let view =
        named(&args, "view_func").or_else(|| named(&args, "endpoint")).or_else(|| plain.get(2).copied());
    let view = view.or_else(|| plain.get(1).copied());
    let (router, verified, prefix) = router_of(pass, call.decl, of);
    let handler = match view {
        Some(view) => view_of(pass, view),
        None => Handler::Inline.into(),
    };
    for method in methods(pass, &args, "route") {
        push(
            found,
            New {
                decl: call.decl,
                method: &method,
                pattern: pattern.as_deref(),
                prefix: &prefix,
                router: router.into(),
                verified,
                handler: handler.clone(),
                position: call.position,
            },
        );
    }
}

/// `Route("/x", endpoint=f, methods=["GET"])`, inside of `Mount("/p", routes=[...])` too.
fn starlette(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let Some(path) = plain.first().copied().or_else(|| named(&args, "path")) else { return };
    let pattern = pass.literal(path);
    let view = plain.get(1).copied().or_else(|| named(&args, "endpoint"));
    let offset = pass.offset(call.position);
    let mut prefixes: Vec<(usize, String)> = Vec::new();
    for outer in pass.facts.calls.iter().filter(|it| pass.called(it) == "Mount") {
        let begin = pass.offset(outer.position);
        let args = pass.arguments(outer.position);
        if args.iter().any(|it| it.from < offset && offset < it.to) {
            prefixes.push((begin, pass.first_literal(&args).unwrap_or_default()));
        }
    }
    prefixes.sort();
    let prefix = prefixes.iter().fold(String::new(), |all, (_, it)| super::joined(&all, it));
    let handler = view.map_or(Handler::Inline.into(), |it| view_of(pass, it));
    let methods = match named(&args, "methods") {
        Some(_) => methods(pass, &args, "route"),
        None if pass.called(call) == "WebSocketRoute" => vec!["WEBSOCKET".to_owned()],
        None => vec!["GET".to_owned()],
    };
    for method in methods {
        push(
            found,
            New {
                decl: call.decl,
                method: &method,
                pattern: pattern.as_deref(),
                prefix: &prefix,
                router: Router::Root.into(),
                verified: true,
                handler: handler.clone(),
                position: call.position,
            },
        );
    }
}

/// `app.router.add_get("/x", handler)`, `web.get("/x", handler)`.
fn aiohttp(pass: &Pass<'_>, found: &mut Found, call: &Call, name: &str) {
    let args = pass.arguments(call.position);
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let (method, path, view) = match name {
        "route" => {
            (plain.first().and_then(|it| pass.literal(it)).unwrap_or_default(), plain.get(1), plain.get(2))
        }
        "view" => ("ANY".to_owned(), plain.first(), plain.get(1)),
        name if METHODS.contains(&name) => (name.to_ascii_uppercase(), plain.first(), plain.get(1)),
        _ => return,
    };
    let (Some(path), Some(view)) = (path, view) else { return };
    let method = if method.is_empty() || method == "*" { "ANY".to_owned() } else { method };
    push(
        found,
        New {
            decl: call.decl,
            method: &method,
            pattern: pass.literal(path).as_deref(),
            prefix: "",
            router: Router::Root.into(),
            verified: true,
            handler: super::handler_in(pass, Some(view)),
            position: call.position,
        },
    );
}
