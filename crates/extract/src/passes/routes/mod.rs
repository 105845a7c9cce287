//! Routes: which method and pattern is answered by which code.
//!
//! ```text
//! python      Flask, FastAPI, Starlette, aiohttp, Django, REST framework
//! javascript  Express, Koa, Hono, Fastify, Nest, Next, Remix
//! go          net/http, gin, echo, chi, gorilla/mux, fiber
//! rust        Actix, Axum, Rocket, Warp
//! jvm         Spring, JAX-RS, Ktor, Spark
//! csharp      controllers, minimal API
//! ruby        Rails, Sinatra, Grape
//! php         Laravel, Symfony
//! ```
//!
//! A route says what it is registered with; what stands before that in other files is joined when files are resolved.
//! Prefixes of the same function are joined here. A pattern that is computed is none: nothing is guessed.

mod csharp;
mod go;
mod javascript;
mod jvm;
mod ktor;
mod patterns;
mod php;
mod python;
mod rails;
mod ruby;
mod rust;
mod symfony;
mod warp;

use knowing_model::Position;
use knowing_model::facts::{Call, DeclId, HOLE, Handler, Router};

use super::{Arg, Found, FoundHandler, FoundMount, FoundRoute, FoundRouter, Pass};
pub(crate) use patterns::{joined, normalised};

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    match pass.facts.language.as_str() {
        "python" => python::find(pass, found),
        "typescript" => javascript::find(pass, found),
        "go" => go::find(pass, found),
        "rust" => rust::find(pass, found),
        "java" | "kotlin" => jvm::find(pass, found),
        "csharp" => csharp::find(pass, found),
        "ruby" => ruby::find(pass, found),
        "php" => php::find(pass, found),
        _ => {}
    }
}

/// A route in the making.
struct New<'a> {
    decl: Option<DeclId>,
    method: &'a str,
    /// As written, and whole in this file; none when it is computed.
    pattern: Option<&'a str>,
    /// What stands before it in this file.
    prefix: &'a str,
    router: FoundRouter,
    verified: bool,
    handler: FoundHandler,
    position: Position,
}

fn push(found: &mut Found, new: New<'_>) {
    let pattern = new.pattern.map(|it| {
        let whole = joined(&normalised(new.prefix), &normalised(it));
        if whole.starts_with('/') || whole.is_empty() { whole } else { format!("/{whole}") }
    });
    let written = match new.pattern {
        Some(pattern) => format!("{} {pattern}", new.method),
        None => format!("{} ?", new.method),
    };
    let written = written[..written.floor_char_boundary(380)].to_owned();
    found.routes.push(FoundRoute {
        decl: new.decl,
        method: new.method.to_ascii_uppercase(),
        pattern,
        written,
        router: new.router,
        verified: new.verified,
        handler: new.handler,
        position: new.position,
        offset: 0,
        through: None,
    });
}

fn own_prefix(found: &mut Found, decl: Option<DeclId>, child: Router, prefix: &str) {
    let prefix = normalised(prefix);
    found.mounts.push(FoundMount {
        decl,
        child: child.into(),
        parent: None,
        prefix,
        replaces: false,
        handed: Vec::new(),
    });
}

/// The handler that an argument names; one without a name is inline.
fn handler_in(pass: &Pass<'_>, arg: Option<&Arg>) -> FoundHandler {
    let Some(arg) = arg else { return Handler::Inline.into() };
    // A nameless function may pass names on: they are not the handler.
    if is_function(pass, arg) {
        return Handler::Inline.into();
    }
    let with = pass.passed_in(arg.from, arg.to);
    match (outermost(pass, arg), with) {
        (Some(call), with) => Handler::Made { by: call.callee, with }.into(),
        (None, Some(expr)) => Handler::Value(expr).into(),
        (None, None) => Handler::Inline.into(),
    }
}

/// The call whose result an argument is.
fn outermost<'a>(pass: &Pass<'a>, arg: &Arg) -> Option<&'a Call> {
    let text = pass.text(arg.from, arg.to);
    if !text.ends_with(')') {
        return None;
    }
    let bytes = text.as_bytes();
    let is_outside = |call: &&Call| {
        let n = pass.offset(call.position).saturating_sub(arg.from).min(bytes.len());
        let count = |of: &[u8]| bytes[..n].iter().filter(|it| of.contains(it)).count();
        count(b"([{") == count(b")]}")
    };
    pass.calls_in(arg.from, arg.to).filter(is_outside).last()
}

/// Whether a text is a path, as far as it is known.
fn is_path(text: &str) -> bool {
    text.is_empty() || text.starts_with(['/', HOLE])
}

fn is_function(pass: &Pass<'_>, arg: &Arg) -> bool {
    let text = pass.text(arg.from, arg.to.min(arg.from + 200));
    let text = text.trim_start();
    let begins = [
        "function", "func(", "async ", "async(", "lambda", "fn(", "fn (", "static ", "delegate", "|", "move ",
    ];
    begins.iter().any(|it| text.starts_with(it)) || is_arrow(text)
}

/// `(a, b) => ...`, `a => ...`.
fn is_arrow(text: &str) -> bool {
    let Some(at) = text.find("=>") else { return false };
    let before = text[..at].trim_end();
    before.starts_with('(') && !before[1..].contains('(')
        || before.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
        || before.starts_with('(')
}

/// A callback whose body holds routes behind a prefix.
struct Group {
    from: usize,
    to: usize,
    prefix: String,
    router: FoundRouter,
    verified: bool,
}

/// The innermost group around an offset.
fn group_at(groups: &[Group], offset: usize) -> Option<&Group> {
    groups.iter().filter(|it| it.from <= offset && offset < it.to).min_by_key(|it| it.to - it.from)
}
