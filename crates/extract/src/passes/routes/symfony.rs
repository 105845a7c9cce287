//! Symfony: attributes of classes and methods, and annotations in their comments.

use knowing_model::Position;
use knowing_model::facts::{DeclId, Handler};

use super::{New, push};
use crate::passes::arguments::split;
use crate::passes::{Found, FoundRouter, Pass, literal};

/// What `#[Route('/blog/{slug}', methods: ['GET'])]` or `@Route("/blog/{slug}", methods={"GET"})` says.
struct Stated {
    decl: DeclId,
    /// None when it is computed.
    path: Option<String>,
    methods: Vec<String>,
    position: Position,
}

pub(super) fn symfony(pass: &Pass<'_>, found: &mut Found) {
    let mut routes: Vec<Stated> = attributes(pass);
    if memchr::memmem::find(pass.bytes, b"@Route(").is_some() {
        routes.extend(annotations(pass));
    }
    let is_callable = |it: &Stated| pass.facts.decl(it.decl).kind.is_callable();
    for it in &routes {
        let (class, handler, prefix) = match is_callable(it) {
            true => {
                let class = pass.facts.decl(it.decl).owner;
                let of_class = routes.iter().find(|it| Some(it.decl) == class);
                (class, it.decl, of_class.map_or(Some(String::new()), |it| it.path.clone()))
            }
            // A class whose methods say nothing is one itself.
            false => {
                let owned = |of: DeclId| pass.facts.decl(of).owner == Some(it.decl);
                if routes.iter().any(|other| is_callable(other) && owned(other.decl)) {
                    continue;
                }
                let mut decls = (0..).zip(&pass.facts.decls);
                let invoked =
                    decls.find(|(at, decl)| owned(DeclId(*at)) && pass.facts.text(decl.name) == "__invoke");
                let Some((at, _)) = invoked else { continue };
                (Some(it.decl), DeclId(at), Some(String::new()))
            }
        };
        let pattern = it.path.as_deref().filter(|_| prefix.is_some());
        for method in &it.methods {
            push(
                found,
                New {
                    decl: class,
                    method,
                    pattern,
                    prefix: prefix.as_deref().unwrap_or_default(),
                    router: FoundRouter::Application("symfony:".to_owned()),
                    verified: true,
                    handler: Handler::Decl(handler).into(),
                    position: it.position,
                },
            );
        }
    }
}

fn attributes(pass: &Pass<'_>) -> Vec<Stated> {
    let named = pass.decorators().filter(|(_, _, name)| *name == "Route");
    let stated = named.map(|(reference, decl, _)| {
        let args = pass.decorator_arguments(reference);
        let path = args.iter().find(|it| matches!(it.name.as_deref(), None | Some("path")));
        let methods = args.iter().find(|it| it.name.as_deref() == Some("methods"));
        let listed = methods.map(|it| pass.text(it.from, it.to)).unwrap_or_default();
        Stated {
            decl,
            path: path.map_or(Some(String::new()), |it| pass.literal(it)),
            methods: methods_in(&listed, &|it| pass.literal_text(it)),
            position: reference.position,
        }
    });
    stated.collect()
}

/// What is listed, all where nothing is.
fn methods_in(listed: &str, text: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let all = listed.trim_matches(['[', ']', '{', '}']).split(',').filter_map(|it| text(it.trim()));
    let all: Vec<String> = all.map(|it| it.to_ascii_uppercase()).collect();
    if all.is_empty() { vec!["ANY".to_owned()] } else { all }
}

/// Annotations in the comments right before classes and methods.
fn annotations(pass: &Pass<'_>) -> Vec<Stated> {
    const MARK: &[u8] = b"@Route(";
    let mut out = Vec::new();
    for (at, decl) in (0..).zip(&pass.facts.decls) {
        if !decl.kind.is_callable() && !decl.kind.is_type_like() {
            continue;
        }
        let before = pass.bytes.get(..decl.range.from as usize).unwrap_or_default().trim_ascii_end();
        let Some(begin) = before.strip_suffix(b"*/").and_then(|it| memchr::memmem::rfind(it, b"/**")) else {
            continue;
        };
        // What leads the lines of a comment is no part of it.
        let mut comment = before[begin..].to_vec();
        let mut is_lead = true;
        for byte in &mut comment {
            match byte {
                b'\n' => is_lead = true,
                b'*' if is_lead => *byte = b' ',
                it if it.is_ascii_whitespace() => {}
                _ => is_lead = false,
            }
        }
        for mark in memchr::memmem::find_iter(&comment, MARK) {
            let args = split(&comment, mark + MARK.len(), comment.len(), "java", false);
            let text = |from: usize, to: usize| String::from_utf8_lossy(&comment[from..to]).into_owned();
            let plain = |it: &str| literal(it, "java", &|_| None);
            let path = args.iter().find(|it| matches!(it.name.as_deref(), None | Some("path")));
            let methods = args.iter().find(|it| it.name.as_deref() == Some("methods"));
            let listed = methods.map(|it| text(it.from, it.to)).unwrap_or_default();
            out.push(Stated {
                decl: DeclId(at),
                path: path.map_or(Some(String::new()), |it| plain(&text(it.from, it.to))),
                methods: methods_in(&listed, &plain),
                position: pass.position(begin + mark + 1),
            });
        }
    }
    out
}
