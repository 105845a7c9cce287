//! ASP.NET: controllers with attributes, and the minimal API.

use knowing_model::facts::{Call, DeclId, Expr, ExprId, HOLE, Handler, Modifiers, Router};
use knowing_model::{NodeFlags, NodeKind, Position};

use super::{New, handler_in, joined, push};
use crate::passes::{Arg, Found, FoundApplication, FoundHandler, FoundMount, FoundRouter, Origin, Pass};

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    controllers(pass, found);
    conventional(pass, found);
    started(pass, found);
    let marks: [&[u8]; 4] =
        [b"WebApplication", b"IEndpointRouteBuilder", b"RouteGroupBuilder", b"AspNetCore"];
    if marks.iter().any(|it| memchr::memmem::find(pass.bytes, it).is_some()) {
        minimal(pass, found);
    }
}

struct Attribute<'a> {
    decl: DeclId,
    name: std::borrow::Cow<'a, str>,
    args: Vec<Arg>,
    position: Position,
}

fn attributes<'a>(pass: &Pass<'a>) -> Vec<Attribute<'a>> {
    let named = pass.decorators().map(|(reference, decl, _)| {
        let from = pass.offset(reference.position);
        let rest = &pass.bytes[from.min(pass.bytes.len())..];
        let n = rest.iter().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.')).count();
        let name = pass.text(from, from + n);
        (reference, decl, name)
    });
    named
        .filter(|(_, _, name)| {
            let last = name.rsplit('.').next().unwrap_or(name);
            last.starts_with("Http") || last.starts_with("Route") || last == "AcceptVerbs"
        })
        .map(|(reference, decl, name)| Attribute {
            decl,
            name,
            args: pass.decorator_arguments(reference),
            position: reference.position,
        })
        .collect()
}

fn controllers(pass: &Pass<'_>, found: &mut Found) {
    let all = attributes(pass);
    templates(pass, found, &all);
    for attribute in &all {
        let name = attribute.name.rsplit('.').next().unwrap_or_default().trim_end_matches("Attribute");
        let method = match name {
            "HttpGet" | "HttpPost" | "HttpPut" | "HttpDelete" | "HttpPatch" | "HttpHead" | "HttpOptions" => {
                name[4..].to_ascii_uppercase()
            }
            "AcceptVerbs" => "ANY".to_owned(),
            _ => continue,
        };
        let decl = pass.facts.decl(attribute.decl);
        let Some(class) = decl.owner.filter(|_| decl.kind == NodeKind::Method) else { continue };
        let class_name = pass.facts.text(pass.facts.decl(class).name);
        let action = pass.facts.text(decl.name);
        let template = attribute.args.iter().find(|it| it.name.is_none()).filter(|_| name != "AcceptVerbs");
        // `[HttpGet] [Route("x")]` says the same as `[HttpGet("x")]`.
        let beside: Vec<&Arg> = all
            .iter()
            .filter(|it| it.decl == attribute.decl && it.name.ends_with("Route"))
            .filter_map(|it| it.args.iter().find(|it| it.name.is_none()))
            .collect();
        let own: Vec<Option<String>> = match (template, beside.is_empty()) {
            (Some(arg), _) => vec![pass.pattern(arg)],
            (None, false) => beside.iter().map(|it| pass.pattern(it)).collect(),
            (None, true) => vec![Some(String::new())],
        };
        let of_class: Vec<Option<String>> = all
            .iter()
            .filter(|it| it.decl == class && it.name.ends_with("Route"))
            .filter_map(|it| it.args.iter().find(|it| it.name.is_none()))
            .map(|it| pass.pattern(it))
            .collect();
        let has_prefix = !of_class.is_empty();
        // Without a template anywhere a class above or the application's conventions say the path.
        let is_bare = !has_prefix && own.iter().all(|it| it.as_deref() == Some(""));
        if is_bare && !has_base(pass, class) {
            continue;
        }
        let prefixes = if has_prefix { of_class } else { vec![Some(String::new())] };
        for prefix in &prefixes {
            for own in &own {
                let whole = match (prefix, own) {
                    (_, Some(own)) if own.starts_with('/') || own.starts_with("~/") => {
                        Some(own.trim_start_matches('~').to_owned())
                    }
                    (Some(prefix), Some(own)) => Some(joined("/", &joined(prefix, own))),
                    _ => None,
                };
                let controller = class_name.strip_suffix("Controller").unwrap_or(class_name);
                let whole = whole.map(|it| tokens(&it, controller, action));
                let is_absolute = own.as_ref().is_some_and(|it| it.starts_with('/') || it.starts_with("~/"));
                // What a class above says holds for those below it.
                let router = if has_prefix || is_absolute { Router::Root } else { Router::Decl(class) };
                push(
                    found,
                    New {
                        decl: Some(class),
                        method: &method,
                        pattern: whole.as_deref(),
                        prefix: "",
                        router: router.into(),
                        verified: !is_bare,
                        handler: Handler::Decl(attribute.decl).into(),
                        position: attribute.position,
                    },
                );
            }
        }
    }
}

/// Actions without any template: the application's `{controller}/{action}` says the path.
fn conventional(pass: &Pass<'_>, found: &mut Found) {
    let attributes: Vec<(DeclId, String)> = pass
        .decorators()
        .map(|(reference, decl, name)| {
            let from = pass.offset(reference.position);
            let written = pass.bytes.get(from..).unwrap_or_default();
            let n = written.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
            let name = if name.is_empty() { pass.text(from, from + n).into_owned() } else { name.to_owned() };
            (decl, name.trim_end_matches("Attribute").to_owned())
        })
        .collect();
    let has = |decl: DeclId, names: &[&str]| {
        attributes.iter().any(|it| it.0 == decl && names.contains(&it.1.as_str()))
    };
    for (index, decl) in (0..).zip(&pass.facts.decls) {
        let Some(class) = decl.owner.filter(|_| decl.kind == NodeKind::Method) else { continue };
        let of = pass.facts.decl(class);
        let Some(controller) = pass.facts.text(of.name).strip_suffix("Controller") else { continue };
        let is_controller = of.kind == NodeKind::Class
            && !of.bases.is_empty()
            && !of.flags.contains(NodeFlags::ABSTRACT)
            && !has(class, &["Route", "ApiController", "Area", "NonController"]);
        let id = DeclId(index);
        let is_action = decl.flags.contains(NodeFlags::EXPORTED)
            && !decl.modifiers.contains(Modifiers::STATIC)
            && !has(id, &["Route", "NonAction", "ActionName"])
            && !pass.facts.text(decl.signature).contains(" override ");
        if !is_controller || !is_action {
            continue;
        }
        let verbs: Vec<(String, bool)> = pass
            .decorators()
            .filter(|it| it.1 == id)
            .filter_map(|(reference, _, _)| {
                let args = pass.decorator_arguments(reference);
                let at = pass.offset(reference.position);
                let name = pass.text(at, at + 11);
                let verb = METHODS.iter().find(|it| name.get(4..).is_some_and(|name| name.starts_with(**it)));
                let verb = verb.filter(|_| name.starts_with("Http"))?;
                Some((verb.to_ascii_uppercase(), args.iter().any(|it| it.name.is_none())))
            })
            .collect();
        if verbs.iter().any(|it| it.1) {
            continue;
        }
        let action = pass.facts.text(decl.name);
        let pattern = format!("/{controller}/{}", action.strip_suffix("Async").unwrap_or(action));
        let verbs = if verbs.is_empty() { vec![("ANY".to_owned(), false)] } else { verbs };
        for (method, _) in verbs {
            push(
                found,
                New {
                    decl: Some(class),
                    method: &method,
                    pattern: Some(&pattern),
                    prefix: "",
                    router: FoundRouter::Application("mvc".to_owned()),
                    verified: false,
                    handler: Handler::Decl(id).into(),
                    position: decl.span.name,
                },
            );
        }
    }
}

const METHODS: &[&str] = &["Get", "Post", "Put", "Delete", "Patch", "Head", "Options"];

/// `app.MapControllerRoute("default", "{controller=Home}/{action=Index}/{id?}")` and its like.
fn started(pass: &Pass<'_>, found: &mut Found) {
    if pass.facts.flags.contains(NodeFlags::TEST) {
        return;
    }
    for call in &pass.facts.calls {
        let template = match pass.called(call) {
            "MapDefaultControllerRoute" | "UseMvcWithDefaultRoute" => {
                Some("{controller=Home}/{action=Index}/{id?}".to_owned())
            }
            "MapControllerRoute" | "MapRoute" => {
                let args = pass.arguments(call.position);
                let named = args.iter().find(|it| matches!(it.name.as_deref(), Some("pattern" | "template")));
                let arg = named.or_else(|| args.iter().filter(|it| it.name.is_none()).nth(1));
                arg.and_then(|it| pass.literal(it))
            }
            _ => None,
        };
        if let Some(prefix) = template.filter(|it| it.contains("{controller") && it.contains("{action")) {
            found.applications.push(FoundApplication { name: "mvc", prefix, except: Vec::new() });
        }
    }
}

/// Templates of classes, for those that inherit from them.
fn templates(pass: &Pass<'_>, found: &mut Found, all: &[Attribute<'_>]) {
    for it in all.iter().filter(|it| it.name.ends_with("Route")) {
        let is_class = pass.facts.decl(it.decl).kind.is_type_like();
        if let Some(text) = it.args.iter().find(|it| it.name.is_none()).and_then(|it| pass.literal(it))
            && is_class
        {
            super::own_prefix(found, None, Router::Decl(it.decl), &text);
        }
    }
}

fn has_base(pass: &Pass<'_>, class: DeclId) -> bool {
    !pass.facts.decl(class).bases.is_empty()
}

fn tokens(pattern: &str, controller: &str, action: &str) -> String {
    pattern.replace("[controller]", controller).replace("[action]", action.trim_end_matches("Async"))
}

const MAPS: &[(&str, &str)] = &[
    ("MapGet", "GET"),
    ("MapPost", "POST"),
    ("MapPut", "PUT"),
    ("MapDelete", "DELETE"),
    ("MapPatch", "PATCH"),
    ("Map", "ANY"),
    ("MapMethods", "ANY"),
];

fn minimal(pass: &Pass<'_>, found: &mut Found) {
    for call in &pass.facts.calls {
        let name = pass.called(call);
        if !name.starts_with("Map") {
            continue;
        }
        let Some(of) = pass.receiver(call.callee) else { continue };
        let args = pass.arguments(call.position);
        let (prefix, router) = before(pass, call, of);
        match MAPS.iter().find(|it| it.0 == name) {
            Some((name, method)) => {
                let ([path, .., handler], true) = (args.as_slice(), args.len() >= 2) else { continue };
                let pattern = pass.pattern(path);
                if pattern.as_ref().is_none_or(|it| it.contains(HOLE)) && *name == "Map" {
                    continue;
                }
                push(
                    found,
                    New {
                        decl: call.decl,
                        method,
                        pattern: pattern.filter(|_| !prefix.contains('?')).as_deref(),
                        prefix: &prefix,
                        router,
                        verified: true,
                        handler: served_by(pass, handler),
                        position: call.position,
                    },
                );
            }
            None if name == "MapGroup" => {}
            // `app.MapGroup("/todos").MapTodos()`: a method of the project registers behind the prefix.
            None => {
                let FoundRouter::Known(parent) = router else { continue };
                let child = Router::ParameterOf(call.callee, 0).into();
                found.mounts.push(FoundMount {
                    decl: call.decl,
                    child,
                    parent: Some(parent.into()),
                    prefix,
                    replaces: false,
                    handed: Vec::new(),
                });
            }
        }
    }
}

/// A lambda may begin with the type of its result, in which commas may stand.
fn served_by(pass: &Pass<'_>, arg: &Arg) -> FoundHandler {
    match pass.text(arg.from, arg.to).contains("=>") {
        true => Handler::Inline.into(),
        false => handler_in(pass, Some(arg)),
    }
}

fn before(pass: &Pass<'_>, call: &Call, of: ExprId) -> (String, FoundRouter) {
    let mut prefix = String::new();
    let mut at = of;
    for _ in 0..64 {
        match pass.facts.expr(at) {
            Expr::Call { callee } => {
                if pass.last_name(callee) == "MapGroup" {
                    let args = pass.call_of(callee).map(|it| pass.arguments(it.position)).unwrap_or_default();
                    let own = pass.first_pattern(&args).unwrap_or_else(|| "?".to_owned());
                    prefix = joined(&super::normalised(&own), &prefix);
                }
                match pass.receiver(callee) {
                    Some(of) => at = of,
                    None => return (prefix, Router::Root.into()),
                }
            }
            Expr::Name { name, .. } => {
                match pass.origin(at) {
                    Origin::Value(value, Some(_)) if value != at => {
                        at = value;
                        continue;
                    }
                    Origin::Value(value, None)
                        if value != at && matches!(pass.facts.expr(value), Expr::Call { .. }) =>
                    {
                        at = value;
                        continue;
                    }
                    _ => {}
                }
                if let Some(decl) = call.decl {
                    let parameters = &pass.facts.decl(decl).parameters;
                    if let Some(index) = parameters.iter().position(|it| it.name == name) {
                        return (
                            prefix,
                            Router::Parameter(decl, u8::try_from(index).unwrap_or(u8::MAX)).into(),
                        );
                    }
                }
                return (prefix, Router::Root.into());
            }
            _ => return (prefix, Router::Root.into()),
        }
    }
    (prefix, Router::Root.into())
}
