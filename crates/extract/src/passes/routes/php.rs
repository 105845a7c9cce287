//! Laravel and Symfony.

use knowing_model::facts::{Call, Expr, ExprId, Handler, Router};

use super::symfony::symfony;
use super::{Group, New, is_function, joined, push};
use crate::passes::{Arg, Found, FoundHandler, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "options", "any"];

/// What Laravel answers where no other route does, by the name that it gives it.
const FALLBACK: &str = "{fallbackPlaceholder}";

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let symfony_modules =
        ["Symfony.Component.Routing", "Symfony.Component.HttpKernel", "Sensio.Bundle.FrameworkExtraBundle"];
    if pass.modules.has_any(&symfony_modules) {
        symfony(pass, found);
    }
    let in_routes = pass.path.starts_with("routes/") || pass.path.contains("/routes/");
    if pass.modules.has("Illuminate.Support.Facades.Route") || in_routes {
        laravel(pass, found);
    }
}

/// What a chain of calls says before its last one.
#[derive(Default)]
struct Chain {
    is_route: bool,
    prefix: String,
    controller: Option<String>,
}

fn chain(pass: &Pass<'_>, of: ExprId) -> Chain {
    let mut result = Chain::default();
    let mut at = of;
    for _ in 0..32 {
        match pass.facts.expr(at) {
            Expr::Call { callee } => {
                let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                match pass.last_name(callee) {
                    "prefix" => {
                        let own = pass.first_literal(&args).unwrap_or_else(|| "?".to_owned());
                        result.prefix = joined(&own, &result.prefix);
                    }
                    "controller" => {
                        result.controller = args.first().and_then(|it| class_of(&pass.text(it.from, it.to)))
                    }
                    _ => {}
                }
                match pass.receiver(callee) {
                    Some(of) => at = of,
                    None => return result,
                }
            }
            Expr::TypePath(type_) => {
                result.is_route = pass.type_name(type_) == "Route";
                return result;
            }
            Expr::Name { name, .. } => {
                result.is_route = matches!(pass.facts.text(name), "Route" | "router" | "$router");
                return result;
            }
            _ => return result,
        }
    }
    result
}

fn class_of(text: &str) -> Option<String> {
    text.trim().strip_suffix("::class").map(str::to_owned)
}

struct Scope {
    group: Group,
    controller: Option<String>,
}

fn laravel(pass: &Pass<'_>, found: &mut Found) {
    // Closures first: routes inside of them are met before the call that holds them.
    let mut scopes: Vec<Scope> = Vec::new();
    for call in pass.facts.calls.iter().filter(|it| pass.called(it) == "group") {
        let Some(of) = pass.receiver(call.callee) else { continue };
        let chain = chain(pass, of);
        if !chain.is_route {
            continue;
        }
        let args = pass.arguments(call.position);
        let Some(body) = args.last().filter(|it| is_closure(pass, it)) else { continue };
        let mut prefix = chain.prefix;
        // `Route::group(['prefix' => 'admin'], function () { ... })`.
        if args.len() == 2 {
            let text = pass.text(args[0].from, args[0].to);
            let own = text.split_once("'prefix'").or_else(|| text.split_once("\"prefix\""));
            let own = own.and_then(|it| it.1.trim_start().strip_prefix("=>"));
            if let Some(own) =
                own.and_then(|it| pass.literal_text(it.split([',', ']']).next().unwrap_or_default()))
            {
                prefix = joined(&prefix, &own);
            }
        }
        let (from, to, router) = (body.from, body.to, Router::Root.into());
        let group = Group { from, to, prefix, router, verified: true };
        scopes.push(Scope { group, controller: chain.controller });
    }
    let top = if pass.path.ends_with("routes/api.php") { "api" } else { "" };
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let is_resource = matches!(name, "resource" | "apiResource" | "singleton");
        if !METHODS.contains(&name)
            && !is_resource
            && !matches!(name, "match" | "view" | "redirect" | "fallback")
        {
            continue;
        }
        let Some(of) = pass.receiver(call.callee) else { continue };
        let own = chain(pass, of);
        if !own.is_route {
            continue;
        }
        let offset = pass.offset(call.position);
        let mut around: Vec<&Scope> =
            scopes.iter().filter(|it| it.group.from <= offset && offset < it.group.to).collect();
        around.sort_by_key(|it| it.group.from);
        let prefix = around.iter().fold(top.to_owned(), |all, it| joined(&all, &it.group.prefix));
        let prefix = joined(&prefix, &own.prefix);
        let controller = own.controller.or_else(|| around.iter().rev().find_map(|it| it.controller.clone()));
        let args = pass.arguments(call.position);
        if is_resource {
            resource(pass, found, call, &args, &prefix, name == "apiResource");
            continue;
        }
        if name == "fallback" {
            let handler =
                args.first().map_or(Handler::Inline.into(), |it| action(pass, it, controller.as_deref()));
            let pattern = Some(FALLBACK).filter(|_| !prefix.contains('?'));
            add(found, pass, call, "GET", pattern, &prefix, handler);
            continue;
        }
        let (methods, args): (Vec<String>, &[Arg]) = match name {
            "match" => {
                let Some((list, rest)) = args.split_first() else { continue };
                let text = pass.text(list.from, list.to);
                let all = text.trim_matches(['[', ']']).split(',').filter_map(|it| pass.literal_text(it));
                (all.map(|it| it.to_ascii_uppercase()).collect(), rest)
            }
            "view" => (vec!["GET".to_owned()], &args),
            "any" | "redirect" => (vec!["ANY".to_owned()], &args),
            name => (vec![name.to_ascii_uppercase()], &args),
        };
        let Some(path) = args.first() else { continue };
        let pattern = pass.literal(path).filter(|_| !prefix.contains('?'));
        let handler = match args.get(1) {
            Some(arg) if !matches!(name, "view" | "redirect") => action(pass, arg, controller.as_deref()),
            _ => Handler::Inline.into(),
        };
        for method in methods {
            add(found, pass, call, &method, pattern.as_deref(), &prefix, handler.clone());
        }
    }
}

fn add(
    found: &mut Found,
    pass: &Pass<'_>,
    call: &Call,
    method: &str,
    pattern: Option<&str>,
    prefix: &str,
    handler: FoundHandler,
) {
    push(
        found,
        New {
            decl: call.decl,
            method,
            pattern,
            prefix,
            router: Router::Root.into(),
            verified: true,
            handler,
            position: call.position,
        },
    );
    if let Some(route) = found.routes.last_mut() {
        route.offset = pass.offset(call.position) as u32;
    }
}

fn is_closure(pass: &Pass<'_>, arg: &Arg) -> bool {
    let text = pass.text(arg.from, arg.to.min(arg.from + 20));
    is_function(pass, arg) || text.starts_with("fn") || text.starts_with("static")
}

/// `[UserController::class, 'show']`, `'UserController@show'`, `ShowUser::class`, or a closure.
fn action(pass: &Pass<'_>, arg: &Arg, controller: Option<&str>) -> FoundHandler {
    let text = pass.text(arg.from, arg.to);
    if is_closure(pass, arg) {
        return Handler::Inline.into();
    }
    let of = |class: &str, method: &str| FoundHandler::Action {
        class: class.split('\\').map(str::to_owned).collect(),
        method: method.to_owned(),
        file: None,
    };
    if let Some(list) = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        let mut parts = list.split(',');
        let (class, method) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        return match (class_of(class), pass.literal_text(method)) {
            (Some(class), Some(method)) => of(&class, &method),
            _ => Handler::Inline.into(),
        };
    }
    if let Some(class) = class_of(&text) {
        return of(&class, "__invoke");
    }
    match pass.literal(arg) {
        Some(text) => match (text.split_once('@'), controller) {
            (Some((class, method)), _) => of(class, method),
            (None, Some(controller)) => of(controller, &text),
            (None, None) => Handler::Inline.into(),
        },
        None => Handler::Inline.into(),
    }
}

fn resource(pass: &Pass<'_>, found: &mut Found, call: &Call, args: &[Arg], prefix: &str, is_api: bool) {
    let [name, class, ..] = args else { return };
    let Some(class) = class_of(&pass.text(class.from, class.to)) else { return };
    let written = pass.literal(name);
    let parameter = |segment: &str| {
        let last = segment.rsplit('/').next().unwrap_or(segment).replace('-', "_");
        match last.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => last.strip_suffix('s').unwrap_or(&last).to_owned(),
        }
    };
    // `photos.comments` is nested.
    let path = written.as_ref().map(|it| {
        let parts: Vec<&str> = it.split('.').collect();
        let n = parts.len();
        let nested: Vec<String> = parts
            .iter()
            .enumerate()
            .map(|(at, it)| if at + 1 < n { format!("{it}/{{{}}}", parameter(it)) } else { (*it).to_owned() })
            .collect();
        nested.join("/")
    });
    let id = written.as_ref().map(|it| parameter(it.rsplit('.').next().unwrap_or(it))).unwrap_or_default();
    let rows: [(&str, &str, String); 8] = [
        ("index", "GET", String::new()),
        ("create", "GET", "/create".to_owned()),
        ("store", "POST", String::new()),
        ("show", "GET", format!("/{{{id}}}")),
        ("edit", "GET", format!("/{{{id}}}/edit")),
        ("update", "PUT", format!("/{{{id}}}")),
        ("update", "PATCH", format!("/{{{id}}}")),
        ("destroy", "DELETE", format!("/{{{id}}}")),
    ];
    let behind = chained_lists(pass, call);
    for (action, method, rest) in rows {
        if is_api && matches!(action, "create" | "edit") {
            continue;
        }
        if behind.0.as_ref().is_some_and(|it| !it.iter().any(|it| it == action))
            || behind.1.iter().any(|it| it == action)
        {
            continue;
        }
        let whole = path.as_ref().map(|it| format!("{it}{rest}"));
        let handler = FoundHandler::Action {
            class: class.split('\\').map(str::to_owned).collect(),
            method: action.to_owned(),
            file: None,
        };
        add(found, pass, call, method, whole.as_deref(), prefix, handler);
        if path.is_none() {
            return;
        }
    }
}

/// `->only([...])` and `->except([...])` behind a call.
fn chained_lists(pass: &Pass<'_>, call: &Call) -> (Option<Vec<String>>, Vec<String>) {
    let mut lists = (None, Vec::new());
    for outer in &pass.facts.calls {
        let name = pass.called(outer);
        if !matches!(name, "only" | "except") {
            continue;
        }
        let mut at = pass.receiver(outer.callee);
        let mut is_of = false;
        for _ in 0..16 {
            match at.map(|it| pass.facts.expr(it)) {
                Some(Expr::Call { callee }) if callee == call.callee => {
                    is_of = true;
                    break;
                }
                Some(Expr::Call { callee }) => at = pass.receiver(callee),
                _ => break,
            }
        }
        if is_of {
            let args = pass.arguments(outer.position);
            let all = args.iter().flat_map(|it| {
                let text = pass.text(it.from, it.to).into_owned();
                text.trim_matches(['[', ']'])
                    .split(',')
                    .filter_map(|it| pass.literal_text(it))
                    .collect::<Vec<_>>()
            });
            let all: Vec<String> = all.collect();
            if name == "only" {
                lists.0 = Some(all);
            } else {
                lists.1 = all;
            }
        }
    }
    lists
}
