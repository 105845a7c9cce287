//! Express, Koa, Hono, Fastify, Nest; Next and Remix by where files lie.

use knowing_model::facts::{Call, DeclId, Expr, ExprId, HOLE, Handler, ImportKind, Router};
use knowing_model::{NodeFlags, NodeKind, Position};

use super::{Group, New, group_at, handler_in, is_function, joined, normalised, own_prefix, push};
use crate::passes::{Arg, Found, FoundApplication, FoundHandler, FoundMount, FoundRouter, Origin, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options", "all", "del"];

const PACKAGES: &[&str] = &[
    "express",
    "fastify",
    "hono",
    "@hono",
    "koa-router",
    "@koa/router",
    "koa",
    "find-my-way",
    "itty-router",
    "polka",
    "restify",
    "express-promise-router",
];

/// Types of parameters and variables that register routes.
const TYPES: &[&str] = &[
    "Express",
    "Application",
    "Router",
    "IRouter",
    "FastifyInstance",
    "Hono",
    "OpenAPIHono",
    "Koa",
    "App",
    "Polka",
];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    by_path(pass, found);
    if pass.modules.has("@nestjs") {
        nest(pass, found);
    }
    let imports_framework = pass.modules.has_any(PACKAGES);
    if imports_framework {
        routers(pass, found);
    }
    let mut groups = Vec::new();
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let is_method = METHODS.contains(&name);
        if !is_method && !matches!(name, "use" | "route" | "register" | "basePath" | "mount") {
            continue;
        }
        let Some(of) = pass.receiver(call.callee) else { continue };
        let Some(router) = router_of(pass, call, of, &groups, imports_framework) else { continue };
        match name {
            "use" | "mount" => mounted(pass, found, call, &router),
            "route" => match pass.arguments(call.position).as_slice() {
                [only] if pass.text(only.from, only.to).starts_with('{') => {
                    object(pass, found, call, only, &router)
                }
                [_, _, ..] => mounted(pass, found, call, &router),
                _ => {}
            },
            "register" => registered(pass, found, call, &router, &mut groups),
            _ if is_method => method(pass, found, call, name, &router),
            _ => {}
        }
    }
}

/// What a call registers with.
struct On {
    router: FoundRouter,
    verified: bool,
    prefix: String,
    /// From `router.route("/x")` before it.
    pattern: Option<String>,
}

fn router_of(pass: &Pass<'_>, call: &Call, of: ExprId, groups: &[Group], imports: bool) -> Option<On> {
    let mut on = On { router: Router::Root.into(), verified: false, prefix: String::new(), pattern: None };
    let mut at = of;
    for _ in 0..64 {
        match pass.facts.expr(at) {
            // `router.route("/x").get(a).post(b)`, `app.get("/x", a).get("/y", b)`, `app.basePath("/v1")`.
            Expr::Call { callee } => {
                let name = pass.last_name(callee);
                if is_maker(pass, at) {
                    on.verified = imports;
                    if let Some(router) = held_at(pass, callee) {
                        on.router = router.into();
                    }
                    return Some(on);
                }
                let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                match name {
                    "route" if on.pattern.is_none() && args.len() == 1 => {
                        on.pattern = Some(pass.first_literal(&args)?)
                    }
                    "basePath" | "prefix" => on.prefix = joined(&pass.first_literal(&args)?, &on.prefix),
                    name if METHODS.contains(&name) || matches!(name, "use" | "route" | "openapi") => {}
                    _ => return None,
                }
                at = pass.receiver(callee)?;
            }
            Expr::Instance(type_) => {
                on.verified = imports && TYPES.contains(&pass.type_name(type_));
                return on.verified.then_some(on);
            }
            Expr::Name { name, at: offset } => {
                let text = pass.facts.text(name);
                if let Some(group) = group_at(groups, offset as usize)
                    && pass.binding(name, offset).is_some_and(|it| it.visible.from as usize >= group.from)
                {
                    on.prefix = joined(&group.prefix, &on.prefix);
                    on.router = group.router.clone();
                    on.verified = group.verified;
                    return Some(on);
                }
                match pass.origin(at) {
                    Origin::Value(value, decl) if is_maker(pass, value) => {
                        on.verified = imports;
                        on.router = match decl {
                            Some(decl) => Router::Result(decl).into(),
                            None => pass.router_value(at).into(),
                        };
                        if decl.is_none() && !imports {
                            return None;
                        }
                    }
                    Origin::Value(value, Some(_)) if value != at => {
                        at = value;
                        continue;
                    }
                    Origin::Type(type_, decl) => {
                        on.verified = TYPES.contains(&type_.as_str()) && imports;
                        match pass.parameter(decl.or(call.decl), text) {
                            Some((of, index)) => on.router = Router::Parameter(of, index).into(),
                            None if on.verified => on.router = Router::Root.into(),
                            None => return None,
                        }
                    }
                    _ => match pass.parameter(call.decl, text) {
                        Some((of, index)) => on.router = Router::Parameter(of, index).into(),
                        None => on.router = pass.router_value(at).into(),
                    },
                }
                return Some(on);
            }
            // `this.router.get(...)`, `server.app.get(...)`.
            Expr::Member { .. } => {
                on.router = pass.router_value(at).into();
                return Some(on);
            }
            _ => return None,
        }
    }
    None
}

/// What a router that is made at the top of a file is held by: `const api = Router().use(...)`, or the file itself by
/// `export default Router().use(...)`.
fn held_at(pass: &Pass<'_>, maker: ExprId) -> Option<Router> {
    let name = pass.offset(pass.call_of(maker)?.position);
    let chain = pass.chain(maker);
    let from = name.saturating_sub(chain.rfind('.').map_or(0, |it| it + 1));
    let before = pass.bytes.get(..from)?.trim_ascii_end();
    if before.ends_with(b"export default") || before.ends_with(b"module.exports =") {
        return Some(Router::File);
    }
    let holds = |it: &knowing_model::facts::Decl| {
        it.owner.is_none()
            && matches!(it.kind, NodeKind::Var | NodeKind::Const)
            && it.range.contains(u32::try_from(from).unwrap_or(u32::MAX))
            // Not inside of a function that it holds.
            && !pass.bytes[it.range.from as usize..from].iter().any(|it| matches!(it, b'{' | b'>'))
    };
    let at = pass.facts.decls.iter().position(holds).filter(|_| before.ends_with(b"="))?;
    Some(Router::Decl(DeclId(u32::try_from(at).ok()?)))
}

fn is_maker(pass: &Pass<'_>, value: ExprId) -> bool {
    match pass.facts.expr(value) {
        Expr::Call { callee } => {
            let chain = pass.chain(callee);
            matches!(
                chain.as_str(),
                "express"
                    | "express.Router"
                    | "Router"
                    | "fastify"
                    | "Fastify"
                    | "polka"
                    | "PromiseRouter"
                    | "restify.createServer"
            )
        }
        Expr::Instance(type_) => TYPES.contains(&pass.type_name(type_)),
        Expr::Await { of } => is_maker(pass, of),
        _ => false,
    }
}

/// Variables and fields that hold routers, with the prefix they were made with.
fn routers(pass: &Pass<'_>, found: &mut Found) {
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let Some(value) = decl.value.filter(|it| is_maker(pass, *it)) else { continue };
        let _ = value;
        let text = pass.text(decl.range.from as usize, decl.range.to as usize);
        let prefix = property(pass, &text, "prefix").unwrap_or_default();
        own_prefix(found, None, Router::Decl(DeclId(index)), &prefix);
    }
    for binding in &pass.facts.bindings {
        use knowing_model::facts::{BindingTarget, Value};
        if let (BindingTarget::Field(field), Value::Expr(value)) = (binding.target, binding.value)
            && is_maker(pass, value)
        {
            own_prefix(found, None, Router::Decl(field), "");
        }
    }
}

/// A literal property of an object that is written in a text: `{ prefix: "/x" }`.
fn property(pass: &Pass<'_>, text: &str, name: &str) -> Option<String> {
    let mut from = 0;
    while let Some(at) = text[from..].find(name).map(|it| it + from) {
        let rest = text[at + name.len()..].trim_start();
        let rest = rest.strip_prefix(['\'', '"']).unwrap_or(rest).trim_start();
        let is_begin = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
        if is_begin && let Some(value) = rest.strip_prefix(':') {
            let value = value.trim_start();
            let end = value.find([',', '\n', '}']).unwrap_or(value.len());
            return pass.literal_text(value[..end].trim_end_matches([' ', ')']));
        }
        from = at + name.len();
    }
    None
}

fn method(pass: &Pass<'_>, found: &mut Found, call: &Call, name: &str, on: &On) {
    let args = pass.arguments(call.position);
    let method = match name {
        "all" => "ANY".to_owned(),
        "del" => "DELETE".to_owned(),
        name => name.to_ascii_uppercase(),
    };
    let (patterns, handlers): (Vec<Option<String>>, &[Arg]) = match &on.pattern {
        Some(pattern) => (vec![Some(pattern.clone())], &args),
        None => {
            let Some((first, rest)) = args.split_first() else { return };
            // `app.get("setting")` and `map.get(key)` are no routes.
            if rest.is_empty() {
                return;
            }
            (patterns(pass, first), rest)
        }
    };
    let Some(last) = handlers.last() else { return };
    for pattern in patterns {
        let is_path = pattern.as_ref().is_none_or(|it| super::is_path(it) || it.starts_with('*'));
        if !is_path {
            continue;
        }
        // A computed first argument is a path only where the rest looks like handlers.
        let is_known = pattern.as_ref().is_some_and(|it| !it.contains(HOLE));
        if !is_known && !is_function(pass, last) && pass.passed_in(last.from, last.to).is_none() {
            continue;
        }
        push(
            found,
            New {
                decl: call.decl,
                method: &method,
                pattern: pattern.as_deref(),
                prefix: &on.prefix,
                router: on.router.clone(),
                verified: on.verified,
                handler: handler_in(pass, Some(last)),
                position: call.position,
            },
        );
    }
}

/// One pattern or a list of them.
fn patterns(pass: &Pass<'_>, arg: &Arg) -> Vec<Option<String>> {
    let text = pass.text(arg.from, arg.to);
    match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(list) => list.split(',').map(|it| pass.literal_text(it)).collect(),
        None if text.starts_with('/') => {
            // A regular expression.
            vec![None]
        }
        None => vec![pass.pattern(arg)],
    }
}

/// `app.use("/x", auth, router)`, `app.route("/x", child)` of Hono.
fn mounted(pass: &Pass<'_>, found: &mut Found, call: &Call, on: &On) {
    let args = pass.arguments(call.position);
    let (prefix, rest) = match args.split_first() {
        Some((first, rest)) => match pass.pattern(first) {
            // A name may be a constant, or what stands behind no prefix.
            Some(prefix) if prefix.contains(HOLE) && !rest.is_empty() => (prefix, args.as_slice()),
            Some(prefix) if !prefix.contains(HOLE) => (prefix, rest),
            _ => (String::new(), args.as_slice()),
        },
        None => return,
    };
    let prefix = joined(&on.prefix, &normalised(&prefix));
    let FoundRouter::Known(parent) = on.router else { return };
    for arg in rest {
        if is_function(pass, arg) {
            continue;
        }
        let text = pass.text(arg.from, arg.to);
        let child: Option<FoundRouter> = if let Some(module) = required(pass, &text) {
            Some(FoundRouter::Module(module))
        } else if let Some(called) = call_in(pass, arg) {
            // `app.use("/x", router.routes())` of Koa, `app.use("/x", makeRouter())`.
            match pass.called(called) {
                "routes" | "middleware" | "callback" => {
                    pass.receiver(called.callee).map(|it| pass.router_value(it).into())
                }
                _ => Some(Router::ResultOf(called.callee).into()),
            }
        } else {
            pass.passed_in(arg.from, arg.to).map(|it| pass.router_value(it).into())
        };
        if let Some(child) = child {
            let parent = Some(parent);
            found.mounts.push(FoundMount {
                decl: call.decl,
                child,
                parent: parent.map(Into::into),
                prefix: prefix.clone(),
                replaces: false,
                handed: Vec::new(),
            });
        }
    }
}

/// The call that an argument is.
fn call_in<'a>(pass: &Pass<'a>, arg: &Arg) -> Option<&'a Call> {
    let text = pass.text(arg.from, arg.to);
    if !text.ends_with(')') {
        return None;
    }
    pass.calls_in(arg.from, arg.to).next()
}

/// `require("./x")` by the path that it means from the top of the repository.
fn required(pass: &Pass<'_>, text: &str) -> Option<String> {
    let inner = text.strip_prefix("require(")?;
    let end = inner.find(')')?;
    let path = pass.literal_text(&inner[..end]).filter(|it| it.starts_with('.'))?;
    let directory = pass.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut parts: Vec<&str> = directory.split('/').filter(|it| !it.is_empty()).collect();
    for segment in path.split('/') {
        match segment {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    // A slash says that this is a path.
    Some(format!("/{}", parts.join("/")))
}

/// `fastify.register(plugin, { prefix: "/v1" })`.
fn registered(pass: &Pass<'_>, found: &mut Found, call: &Call, on: &On, groups: &mut Vec<Group>) {
    let args = pass.arguments(call.position);
    let Some((plugin, rest)) = args.split_first() else { return };
    let options = rest.first().map(|it| pass.text(it.from, it.to)).unwrap_or_default();
    let prefix = joined(&on.prefix, &property(pass, &options, "prefix").unwrap_or_default());
    let FoundRouter::Known(parent) = on.router else { return };
    if is_function(pass, plugin) {
        let (router, verified) = (on.router.clone(), on.verified);
        groups.push(Group { from: plugin.from, to: plugin.to, prefix, router, verified });
        return;
    }
    let text = pass.text(plugin.from, plugin.to);
    let child: FoundRouter =
        match required(pass, &text).or_else(|| imported(&text).and_then(|it| required(pass, &it))) {
            Some(module) => FoundRouter::Module(module),
            None => match pass.passed_in(plugin.from, plugin.to) {
                Some(expr) => Router::ParameterOf(expr, 0).into(),
                None => return,
            },
        };
    found.mounts.push(FoundMount {
        decl: call.decl,
        child,
        parent: Some(parent.into()),
        prefix,
        replaces: false,
        handed: Vec::new(),
    });
}

/// `import("./x")` as `require("./x")`.
fn imported(text: &str) -> Option<String> {
    text.strip_prefix("import(").map(|it| format!("require({it}"))
}

/// `fastify.route({ method: "GET", url: "/x", handler })`.
fn object(pass: &Pass<'_>, found: &mut Found, call: &Call, arg: &Arg, on: &On) {
    let text = pass.text(arg.from, arg.to);
    let Some(pattern) = property(pass, &text, "url").or_else(|| property(pass, &text, "path")) else {
        return;
    };
    let methods = match text.find("method").map(|it| &text[it..]) {
        Some(rest) if rest.split_once(':').is_some_and(|it| it.1.trim_start().starts_with('[')) => {
            let list = rest.split(['[', ']']).nth(1).unwrap_or_default();
            list.split(',').filter_map(|it| pass.literal_text(it)).collect()
        }
        _ => vec![property(pass, &text, "method").unwrap_or_else(|| "ANY".to_owned())],
    };
    for method in methods {
        let method = method.to_ascii_uppercase();
        push(
            found,
            New {
                decl: call.decl,
                method: &method,
                pattern: Some(&pattern),
                prefix: &on.prefix,
                router: on.router.clone(),
                verified: on.verified,
                handler: Handler::Inline.into(),
                position: call.position,
            },
        );
    }
}

/// `@Controller("cats")` on the class, `@Get(":id")` on methods.
fn nest(pass: &Pass<'_>, found: &mut Found) {
    started(pass, found);
    let controllers: Vec<(DeclId, Vec<Option<String>>, Vec<String>)> = pass
        .decorators()
        .filter(|(_, _, name)| *name == "Controller")
        .map(|(reference, class, _)| {
            let args = pass.decorator_arguments(reference);
            let text = args.first().map(|it| pass.text(it.from, it.to)).unwrap_or_default();
            if !text.starts_with('{') {
                return (class, listed(pass, args.first()), Vec::new());
            }
            let path = property_at(pass, &args[0], "path");
            let version = property_at(pass, &args[0], "version");
            (class, listed(pass, path.as_ref()), version.map(|it| versions(pass, &it)).unwrap_or_default())
        })
        .collect();
    for (reference, decl, name) in pass.decorators() {
        let method = match name {
            "Get" | "Post" | "Put" | "Delete" | "Patch" | "Head" | "Options" => name.to_ascii_uppercase(),
            "All" => "ANY".to_owned(),
            "Sse" => "GET".to_owned(),
            _ => continue,
        };
        let Some(class) = pass.facts.decl(decl).owner else { continue };
        let Some((_, prefixes, versions)) = controllers.iter().find(|it| it.0 == class) else { continue };
        let written = listed(pass, pass.decorator_arguments(reference).first());
        for router in applications(pass, decl, versions) {
            for (prefix, pattern) in prefixes.iter().flat_map(|it| written.iter().map(move |of| (it, of))) {
                let whole = match (prefix, pattern) {
                    (Some(prefix), Some(pattern)) => Some(joined("/", &joined(prefix, pattern))),
                    _ => None,
                };
                push(
                    found,
                    New {
                        decl: Some(class),
                        method: &method,
                        pattern: whole.as_deref(),
                        prefix: "",
                        router: router.clone(),
                        verified: true,
                        handler: Handler::Decl(decl).into(),
                        position: reference.position,
                    },
                );
            }
        }
    }
}

/// What a path may be: nothing, one, or a list.
fn listed(pass: &Pass<'_>, arg: Option<&Arg>) -> Vec<Option<String>> {
    arg.map_or_else(|| vec![Some(String::new())], |it| patterns(pass, it))
}

/// The application, once for each version that a method or else its class says.
fn applications(pass: &Pass<'_>, decl: DeclId, of_class: &[String]) -> Vec<FoundRouter> {
    let own = pass.decorators().find(|(_, of, name)| *of == decl && *name == "Version");
    let own = own.and_then(|(reference, _, _)| pass.decorator_arguments(reference).into_iter().next());
    let own = own.map(|it| versions(pass, &it));
    let versions = own.as_deref().unwrap_or(of_class);
    match versions.is_empty() {
        true => vec![FoundRouter::Application("nest:".to_owned())],
        false => versions.iter().map(|it| FoundRouter::Application(format!("nest:{it}"))).collect(),
    }
}

/// `"1"`, `["1", "2"]`; one that has none is `-`.
fn versions(pass: &Pass<'_>, arg: &Arg) -> Vec<String> {
    let text = pass.text(arg.from, arg.to);
    let one = |it: &str| match it.trim().ends_with("VERSION_NEUTRAL") {
        true => Some("-".to_owned()),
        false => pass.literal_text(it),
    };
    text.trim_matches(['[', ']']).split(',').filter_map(one).collect()
}

/// `app.setGlobalPrefix("api")`, `app.enableVersioning({ type: VersioningType.URI })`.
fn started(pass: &Pass<'_>, found: &mut Found) {
    if pass.facts.flags.contains(NodeFlags::TEST) {
        return;
    }
    let called = |name: &str| {
        let mut all = pass.facts.calls.iter().filter(|it| pass.called(it) == name);
        all.find(|it| pass.receiver(it.callee).is_some()).map(|it| pass.arguments(it.position))
    };
    let prefix = called("setGlobalPrefix");
    let versioned = called("enableVersioning");
    if prefix.is_none() && versioned.is_none() {
        return;
    }
    let except = prefix.as_ref().and_then(|it| property_at(pass, it.get(1)?, "exclude"));
    let except: Vec<String> = except.map(|it| excluded(pass, &it)).unwrap_or_default();
    // What is computed cannot be told, and what stands behind it is.
    let prefix = prefix.and_then(|it| pass.first_pattern(&it)).unwrap_or_default();
    let prefix = joined("/", &prefix);
    let prefix = if prefix == "/" { String::new() } else { prefix };
    let options = versioned.as_ref().and_then(|it| it.first());
    let text = options.map(|it| pass.text(it.from, it.to)).unwrap_or_default();
    let type_ = options.and_then(|it| property_at(pass, it, "type"));
    let is_uri = versioned.is_some() && type_.is_none_or(|it| pass.text(it.from, it.to).ends_with("URI"));
    if is_uri {
        let mark = property(pass, &text, "prefix").unwrap_or_else(|| "v".to_owned());
        let default = property(pass, &text, "defaultVersion").unwrap_or_else(|| "-".to_owned());
        let versioned = format!("{}/{mark}{{version={default}}}", prefix.trim_end_matches('/'));
        found.applications.push(FoundApplication { name: "nest:", prefix: versioned, except });
    } else {
        found.applications.push(FoundApplication { name: "nest:", prefix, except });
    }
}

/// Paths of `exclude: ["health", { path: "x", method: RequestMethod.GET }]`, also by a constant of the file.
fn excluded(pass: &Pass<'_>, arg: &Arg) -> Vec<String> {
    let mut text = pass.text(arg.from, arg.to).into_owned();
    if !text.starts_with('[')
        && let Some(decl) = pass.facts.decls.iter().find(|it| pass.facts.text(it.name) == text)
    {
        text = pass.text(decl.range.from as usize, decl.range.to as usize).into_owned();
    } else if !text.starts_with('[') {
        let source = String::from_utf8_lossy(pass.bytes);
        let Some(at) = source.find(&format!("const {text} = [")) else { return Vec::new() };
        text = source[at..].split(']').next().unwrap_or_default().to_owned();
    }
    let mut all = Vec::new();
    for quote in ['\'', '"'] {
        all.extend(text.split(quote).skip(1).step_by(2).map(|it| joined("/", &normalised(it))));
    }
    all
}

/// The value of a property of an object that is written as an argument.
fn property_at(pass: &Pass<'_>, object: &Arg, name: &str) -> Option<Arg> {
    let text = pass.text(object.from, object.to);
    let inner = text.strip_prefix('{')?;
    let end = object.from + 1 + inner.len();
    let parts = crate::passes::arguments::split(pass.bytes, object.from + 1, end, "typescript", false);
    parts.into_iter().find_map(|it| {
        let text = pass.text(it.from, it.to);
        let (key, _) = text.split_once(':')?;
        (key.trim().trim_matches(['\'', '"']) == name).then(|| {
            let skip = key.len() + 1;
            let blank = text[skip..].len() - text[skip..].trim_start().len();
            Arg { from: it.from + skip + blank, to: it.to, name: None }
        })
    })
}

/// Routes that follow from where a file lies: `app/api/users/[id]/route.ts`, `pages/api/users.ts`, `app/routes/x.tsx`.
fn by_path(pass: &Pass<'_>, found: &mut Found) {
    let (directory, file) = pass.path.rsplit_once('/').unwrap_or(("", pass.path));
    let Some((stem, extension)) = file.rsplit_once('.') else { return };
    if !matches!(extension, "ts" | "tsx" | "js" | "jsx" | "mjs")
        || stem.ends_with(".test")
        || stem.ends_with(".d")
    {
        return;
    }
    let segments: Vec<&str> = directory.split('/').collect();
    let below = |name: &str| segments.iter().position(|it| *it == name).map(|at| &segments[at + 1..]);
    if stem == "route"
        && let Some(rest) = below("app")
    {
        let pattern = next_pattern(rest);
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] {
            if let Some((decl, position)) = exported(pass, method).or_else(|| renamed(pass, method)) {
                conventional(found, method, &pattern, Handler::Decl(decl), position);
            }
        }
    } else if let Some(at) = segments.iter().position(|it| *it == "pages")
        && segments.get(at + 1) == Some(&"api")
    {
        let mut rest = segments[at + 1..].to_vec();
        if stem != "index" {
            rest.push(stem);
        }
        if let Some((decl, position)) = default_export(pass) {
            conventional(found, "ANY", &next_pattern(&rest), Handler::Decl(decl), position);
        } else if let Some(it) = reexported(pass, "default") {
            // What answers is declared in another file.
            conventional(found, "ANY", &next_pattern(&rest), Handler::Inline, it);
        }
    } else if pass.modules.has_any(&["@remix-run", "@react-router"])
        && let Some(at) = segments.iter().position(|it| *it == "routes")
        && at > 0
        && segments[at - 1] == "app"
    {
        let mut rest: Vec<String> = segments[at + 1..].iter().map(|it| (*it).to_owned()).collect();
        rest.extend(stem.split('.').map(str::to_owned));
        let parts: Vec<String> = rest
            .iter()
            .filter(|it| !it.starts_with('_') && *it != "index" && *it != "route")
            .map(|it| match it.strip_prefix('$') {
                Some("") => "{*}".to_owned(),
                Some(name) => format!("{{{name}}}"),
                None => it.trim_end_matches('_').to_owned(),
            })
            .collect();
        let pattern = format!("/{}", parts.join("/"));
        for (name, method) in [("loader", "GET"), ("action", "POST")] {
            if let Some((decl, position)) = exported(pass, name) {
                conventional(found, method, &pattern, Handler::Decl(decl), position);
            }
        }
    }
}

fn next_pattern(segments: &[&str]) -> String {
    let parts: Vec<String> = segments
        .iter()
        .filter(|it| !(it.starts_with('@') || it.is_empty() || it.starts_with('(') && it.ends_with(')')))
        .map(|it| match it.trim_start_matches('[').trim_end_matches(']') {
            name if it.starts_with('[') => format!("{{{}}}", name.trim_start_matches("...")),
            name => name.to_owned(),
        })
        .collect();
    format!("/{}", parts.join("/"))
}

fn exported(pass: &Pass<'_>, name: &str) -> Option<(DeclId, Position)> {
    (0..).zip(&pass.facts.decls).find_map(|(at, it)| {
        let fits = it.owner.is_none() && pass.facts.text(it.name) == name;
        fits.then_some((DeclId(at), it.span.name))
    })
}

/// `export { handler as GET }`: what is meant, when it is of this file.
fn renamed(pass: &Pass<'_>, alias: &str) -> Option<(DeclId, Position)> {
    let name = pass.facts.imports.iter().find_map(|it| match it.kind {
        ImportKind::Member { name, alias: own } if it.reexport && pass.facts.text(own) == alias => Some(name),
        _ => None,
    })?;
    exported(pass, pass.facts.text(name))
}

/// `export { default } from "./handler"`.
fn reexported(pass: &Pass<'_>, name: &str) -> Option<Position> {
    let is_it = |it: &&knowing_model::facts::Import| {
        let is_named = matches!(it.kind, ImportKind::Member { alias, .. } if pass.facts.text(alias) == name);
        it.reexport && is_named
    };
    pass.facts.imports.iter().find(is_it).map(|it| it.position)
}

fn default_export(pass: &Pass<'_>) -> Option<(DeclId, Position)> {
    if let Some(found) = renamed(pass, "default") {
        return Some(found);
    }
    let text = String::from_utf8_lossy(pass.bytes);
    let at = text.find("export default")?;
    let line = pass.position(at).line;
    (0..).zip(&pass.facts.decls).find_map(|(id, it)| {
        let fits = it.owner.is_none() && it.span.first_line == line && it.kind != NodeKind::Field;
        fits.then_some((DeclId(id), it.span.name))
    })
}

fn conventional(found: &mut Found, method: &str, pattern: &str, handler: Handler, position: Position) {
    let handler: FoundHandler = handler.into();
    push(
        found,
        New {
            decl: None,
            method,
            pattern: Some(pattern),
            prefix: "",
            router: Router::Root.into(),
            verified: true,
            handler,
            position,
        },
    );
}
