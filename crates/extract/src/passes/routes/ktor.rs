//! Ktor: blocks of `route` and their methods, and classes that are resources.

use knowing_model::facts::{DeclId, Expr, ExprId, Handler, Router};

use super::jvm::METHODS;
use super::{Group, New, group_at, joined, normalised, push};
use crate::passes::{Found, FoundMount, FoundRouter, Pass, arguments_at, hole};

/// Blocks that say something else than a path.
const PLAIN_BLOCKS: &[&str] = &[
    "routing",
    "authenticate",
    "rateLimit",
    "accept",
    "host",
    "port",
    "localPort",
    "header",
    "contentType",
    "param",
];

/// `route("/x") { get("/y") { ... } }`, `get<Articles> { ... }`, `method(HttpMethod.Get) { handle { ... } }`.
pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    resources(pass, found);
    let is_typed =
        pass.modules.has_any(&["io.ktor.server.resources", "io.ktor.server.locations", "io.ktor.locations"]);
    let mut groups: Vec<Group> = Vec::new();
    // Blocks in which one method alone is answered.
    let mut of_method: Vec<(usize, usize, String)> = Vec::new();
    for call in &calls(pass, is_typed) {
        let Called { name, offset, .. } = *call;
        let top = || -> FoundRouter {
            match call.decl.filter(|it| takes_route(pass, *it)) {
                Some(decl) => Router::Decl(decl).into(),
                None => Router::Root.into(),
            }
        };
        let (prefix, router) = match group_at(&groups, offset) {
            Some(group) => (group.prefix.clone(), group.router.clone()),
            None => (String::new(), top()),
        };
        let is_inside = group_at(&groups, offset).is_some() || router != Router::Root.into();
        let args = arguments_at(pass.bytes, offset, "kotlin");
        let argument = call.argument.clone();
        let is_method =
            METHODS.contains(&name) || matches!(name, "handle" | "webSocket" | "sse") && is_inside;
        match name {
            name if PLAIN_BLOCKS.contains(&name) => {
                if let Some((from, to)) = block(pass, offset) {
                    groups.push(Group { from, to, prefix, router, verified: true });
                }
            }
            "route" | "resource" | "location" if name == "route" || argument.is_some() => {
                if let Some((from, to)) = block(pass, offset) {
                    let own =
                        argument.or_else(|| pass.first_literal(&args)).unwrap_or_else(|| "?".to_owned());
                    groups.push(Group { from, to, prefix: joined(&prefix, &own), router, verified: true });
                    let method = args.get(1).and_then(|it| method_of(&pass.text(it.from, it.to)));
                    of_method.extend(method.map(|it| (from, to, it)));
                }
            }
            "method" if is_inside => {
                if let (Some((from, to)), [of, ..]) = (block(pass, offset), args.as_slice()) {
                    let method = method_of(&pass.text(of.from, of.to));
                    of_method.push((from, to, method.unwrap_or_else(|| "ANY".to_owned())));
                }
            }
            // `get<Service>()` is no route.
            _ if is_method && args.is_empty() && block(pass, offset).is_none() => {}
            name if is_method && is_inside => {
                let written = match args.iter().find(|it| it.name.as_deref().is_none_or(|it| it == "path")) {
                    Some(arg) => pass.literal(arg),
                    // What stands in a block of its resource has the path of that.
                    None if name == "handle" => Some(String::new()),
                    None => Some(argument.unwrap_or_default()),
                };
                let around = of_method.iter().filter(|it| it.0 <= offset && offset < it.1);
                let around = around.min_by_key(|it| it.1 - it.0).map_or("ANY", |it| &it.2);
                let method = match name {
                    "handle" => around,
                    "webSocket" | "sse" => "GET",
                    name => name,
                };
                let pattern = written.filter(|_| !prefix.contains('?'));
                push(
                    found,
                    New {
                        decl: call.decl,
                        method,
                        pattern: pattern.as_deref(),
                        prefix: &prefix,
                        router,
                        verified: true,
                        handler: Handler::Inline.into(),
                        position: pass.position(offset),
                    },
                );
            }
            // `userRoutes(service)` registers where it is called.
            _ if is_inside => {
                let (FoundRouter::Known(parent), Some(callee)) = (router, call.callee) else { continue };
                let child = pass.router_value(callee).into();
                found.mounts.push(FoundMount {
                    decl: call.decl,
                    child,
                    parent: Some(parent.into()),
                    prefix,
                    replaces: false,
                    handed: Vec::new(),
                });
            }
            _ => {}
        }
    }
}

/// `HttpMethod.Get`.
fn method_of(text: &str) -> Option<String> {
    text.trim().strip_prefix("HttpMethod.").map(str::to_ascii_uppercase)
}

struct Called<'a> {
    decl: Option<DeclId>,
    name: &'a str,
    offset: usize,
    callee: Option<ExprId>,
    /// The path of the class between its angle brackets.
    argument: Option<String>,
}

/// Calls of bare names in source order. Those with a type and a block alone (`get<Articles> { }`) are no calls to the grammar,
/// which reads them as comparisons, and are looked for in the text.
fn calls<'a>(pass: &Pass<'a>, is_typed: bool) -> Vec<Called<'a>> {
    let bare = pass.facts.calls.iter().filter(|it| matches!(pass.facts.expr(it.callee), Expr::Name { .. }));
    let mut all: Vec<Called<'a>> = bare
        .map(|it| Called {
            decl: it.decl,
            name: pass.called(it),
            offset: pass.offset(it.position),
            callee: Some(it.callee),
            argument: None,
        })
        .collect();
    for open in memchr::memchr_iter(b'<', pass.bytes) {
        let before = &pass.bytes[..open];
        let n = before.iter().rev().take_while(|it| it.is_ascii_alphabetic()).count();
        let name = std::str::from_utf8(&before[open - n..]).unwrap_or_default();
        let is_known = METHODS.contains(&name) || matches!(name, "handle" | "resource" | "location");
        let Some(length) = memchr::memchr(b'>', &pass.bytes[open..]).filter(|_| is_known) else { continue };
        let is_block = pass.bytes[open + length + 1..].trim_ascii_start().starts_with(b"{");
        let line = before.rsplit(|it| *it == b'\n').next().unwrap_or_default();
        let is_bare = line[..line.len() - n].trim_ascii_end().ends_with(b"{")
            || line[..line.len() - n].trim_ascii().is_empty();
        if !is_block || !is_bare {
            continue;
        }
        let offset = open - n;
        let around = (0..).zip(&pass.facts.decls).filter(|(_, it)| {
            it.kind.is_callable() && (it.range.from as usize) <= offset && offset < it.range.to as usize
        });
        let decl = around.min_by_key(|(_, it)| it.range.to - it.range.from).map(|it| DeclId(it.0));
        let class = pass.text(open + 1, open + length);
        let argument = hole(class.trim(), offset, "kotlin").filter(|_| is_typed);
        all.push(Called { decl, name, offset, callee: None, argument });
    }
    all.sort_by_key(|it| it.offset);
    all
}

/// `@Resource("/articles") class Articles { @Resource("{id}") class Id(val parent: Articles, val id: Long) }`: the path of
/// a class stands behind that of the class which it has as a property.
fn resources(pass: &Pass<'_>, found: &mut Found) {
    let named = pass.decorators().filter(|it| matches!(it.2, "Resource" | "Location"));
    let stated: Vec<(DeclId, Option<String>)> = named
        .map(|(reference, decl, _)| (decl, pass.first_literal(&pass.decorator_arguments(reference))))
        .collect();
    for (decl, _) in &stated {
        if let Some(path) = whole(pass, &stated, *decl, 0) {
            found.constants.push((*decl, normalised(&path)));
        }
    }
}

fn whole(
    pass: &Pass<'_>,
    stated: &[(DeclId, Option<String>)],
    class: DeclId,
    depth: usize,
) -> Option<String> {
    const MAX_DEPTH: usize = 12;
    let own = stated.iter().find(|it| it.0 == class)?.1.clone()?;
    let holders = pass.facts.decls.iter().filter(|it| it.owner == Some(class) && !it.kind.is_callable());
    for holder in holders {
        let Some(type_) = holder.type_ else { continue };
        let name = pass.type_name(type_);
        let fits = |it: &&(DeclId, Option<String>)| pass.facts.text(pass.facts.decl(it.0).name) == name;
        let around = pass.facts.decl(class).owner;
        let parents: Vec<DeclId> = stated.iter().filter(fits).map(|it| it.0).collect();
        let parent = match parents.as_slice() {
            // One of another file.
            [] if pass.facts.text(holder.name) == "parent" => {
                let hole = hole(name, pass.offset(holder.span.name), "kotlin")?;
                return Some(joined(&hole, &own));
            }
            [] => continue,
            [one] => *one,
            several => *several.iter().find(|it| Some(**it) == around)?,
        };
        if depth >= MAX_DEPTH || parent == class {
            return None;
        }
        return Some(joined(&whole(pass, stated, parent, depth + 1)?, &own));
    }
    Some(own)
}

/// Whether a function extends what routes are registered on.
fn takes_route(pass: &Pass<'_>, decl: DeclId) -> bool {
    let parameters = &pass.facts.decl(decl).parameters;
    parameters.iter().any(|it| {
        it.type_.is_some_and(|it| {
            matches!(pass.type_name(it), "Route" | "Routing" | "Application" | "RouteBuilder")
        })
    })
}

/// The braces behind a call.
fn block(pass: &Pass<'_>, offset: usize) -> Option<(usize, usize)> {
    let bytes = pass.bytes;
    let mut at = offset;
    while bytes.get(at).is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_') {
        at += 1;
    }
    if bytes.get(at) == Some(&b'<') {
        at += memchr::memchr2(b'>', b'\n', &bytes[at..])? + 1;
    }
    if bytes.get(at) == Some(&b'(') {
        at = matching(bytes, at)?;
    }
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    (bytes.get(at) == Some(&b'{')).then(|| matching(bytes, at).map(|end| (at, end)))?
}

/// Behind the bracket that closes the one at an offset; strings are looked over.
fn matching(bytes: &[u8], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
