//! Spring, JAX-RS, Spark.

use knowing_model::facts::{DeclId, Handler, Router};

use super::{Group, New, group_at, handler_in, joined, push};
use crate::passes::{Arg, Found, Pass};

pub(super) const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    if pass.modules.has_any(&["org.springframework", "jakarta.ws.rs", "javax.ws.rs", "io.micronaut"]) {
        annotated(pass, found);
    }
    if pass.modules.has("io.ktor") {
        super::ktor::find(pass, found);
    }
    if pass.modules.has("spark") && pass.facts.language == "java" {
        spark(pass, found);
    }
}

/// Annotations of classes and methods, joined.
fn annotated(pass: &Pass<'_>, found: &mut Found) {
    let all: Vec<(DeclId, &str, Vec<Arg>, knowing_model::Position)> = pass
        .decorators()
        .filter(|(_, _, name)| {
            name.ends_with("Mapping")
                || matches!(
                    *name,
                    "Path"
                        | "GET"
                        | "POST"
                        | "PUT"
                        | "DELETE"
                        | "PATCH"
                        | "HEAD"
                        | "OPTIONS"
                        | "FeignClient"
                        | "Controller"
                        | "Get"
                        | "Post"
                        | "Put"
                        | "Delete"
                        | "Patch"
                )
        })
        .map(|(reference, decl, name)| (decl, name, pass.decorator_arguments(reference), reference.position))
        .collect();
    let is_micronaut = pass.modules.has("io.micronaut");
    let prefixes = |class: DeclId| -> Option<Vec<Option<String>>> {
        if all.iter().any(|it| it.0 == class && it.1 == "FeignClient") {
            return None;
        }
        let own = all.iter().find(|it| {
            it.0 == class
                && (matches!(it.1, "RequestMapping" | "Path") || it.1 == "Controller" && is_micronaut)
        });
        Some(own.map_or_else(|| vec![Some(String::new())], |it| patterns(pass, &it.2)))
    };
    for (decl, name, args, position) in &all {
        let Some(class) = pass.facts.decl(*decl).owner else { continue };
        let upper = name.to_ascii_uppercase();
        let (methods, written): (Vec<String>, Vec<Option<String>>) = match *name {
            "RequestMapping" => (request_methods(pass, args), patterns(pass, args)),
            "GetMapping" | "PostMapping" | "PutMapping" | "DeleteMapping" | "PatchMapping" => {
                (vec![upper.trim_end_matches("MAPPING").to_owned()], patterns(pass, args))
            }
            "Get" | "Post" | "Put" | "Delete" | "Patch" if is_micronaut => {
                (vec![upper], patterns(pass, args))
            }
            "GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD" | "OPTIONS" => {
                let path = all.iter().find(|it| it.0 == *decl && it.1 == "Path");
                (vec![upper], path.map_or_else(|| vec![Some(String::new())], |it| patterns(pass, &it.2)))
            }
            _ => continue,
        };
        if !pass.facts.decl(*decl).kind.is_callable() {
            continue;
        }
        let Some(prefixes) = prefixes(class) else { continue };
        for prefix in &prefixes {
            for pattern in &written {
                let whole = match (prefix, pattern) {
                    (Some(prefix), Some(pattern)) => Some(joined("/", &joined(prefix, pattern))),
                    _ => None,
                };
                for method in &methods {
                    push(
                        found,
                        New {
                            decl: Some(class),
                            method,
                            pattern: whole.as_deref(),
                            prefix: "",
                            router: Router::Root.into(),
                            verified: true,
                            handler: Handler::Decl(*decl).into(),
                            position: *position,
                        },
                    );
                }
            }
        }
    }
}

/// The paths of an annotation: `"/x"`, `value = {"/x", "/y"}`, `path = ["/x"]`; the empty one where there are none.
fn patterns(pass: &Pass<'_>, args: &[Arg]) -> Vec<Option<String>> {
    let arg = args.iter().find(|it| matches!(it.name.as_deref(), None | Some("value" | "path")));
    let Some(arg) = arg else { return vec![Some(String::new())] };
    let text = pass.text(arg.from, arg.to);
    let list = text.strip_prefix(['{', '[']).and_then(|it| it.strip_suffix(['}', ']']));
    let list = list.or_else(|| text.strip_prefix("arrayOf(").and_then(|it| it.strip_suffix(')')));
    match list {
        Some(list) => commas(list).into_iter().map(|it| pass.literal_text(it)).collect(),
        None => vec![pass.pattern(arg)],
    }
}

/// Parts of a list of literals; commas in braces of patterns do not count.
fn commas(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    for (at, it) in list.bytes().enumerate() {
        match it {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                parts.push(&list[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[begin..]);
    parts.retain(|it| !it.trim().is_empty());
    parts
}

fn request_methods(pass: &Pass<'_>, args: &[Arg]) -> Vec<String> {
    let Some(arg) = args.iter().find(|it| it.name.as_deref() == Some("method")) else {
        return vec!["ANY".to_owned()];
    };
    let text = pass.text(arg.from, arg.to);
    let all = text.trim_matches(['{', '}', '[', ']', ' ']).split(',');
    all.map(|it| it.trim().rsplit('.').next().unwrap_or_default().to_ascii_uppercase())
        .filter(|it| !it.is_empty())
        .collect()
}

/// `get("/x", (request, response) -> ...)`, `path("/api", () -> { ... })`.
fn spark(pass: &Pass<'_>, found: &mut Found) {
    let mut groups: Vec<Group> = Vec::new();
    for call in &pass.facts.calls {
        let of = pass.receiver(call.callee).map(|it| pass.chain(it));
        if of.as_deref().is_some_and(|it| it != "Spark") {
            continue;
        }
        let name = pass.called(call);
        let is_method = METHODS.contains(&name);
        if !is_method && name != "path" {
            continue;
        }
        let args = pass.arguments(call.position);
        let [first, .., last] = args.as_slice() else { continue };
        let prefix =
            group_at(&groups, pass.offset(call.position)).map(|it| it.prefix.clone()).unwrap_or_default();
        let written = pass.literal(first);
        if name == "path" {
            let own = written.unwrap_or_else(|| "?".to_owned());
            let (from, to, router) = (last.from, last.to, Router::Root.into());
            groups.push(Group { from, to, prefix: joined(&prefix, &own), router, verified: true });
            continue;
        }
        let handler = args.get(1).filter(|it| pass.literal(it).is_none()).or(args.get(2));
        push(
            found,
            New {
                decl: call.decl,
                method: name,
                pattern: written.filter(|_| !prefix.contains('?')).as_deref(),
                prefix: &prefix,
                router: Router::Root.into(),
                verified: true,
                handler: handler_in(pass, handler),
                position: call.position,
            },
        );
    }
}
