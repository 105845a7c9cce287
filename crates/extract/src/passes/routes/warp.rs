//! Warp: filters that are joined by `and` and `or`, read as they are written.
//!
//! ```text
//! warp::path!("users" / u32).and(warp::get()).map(show)      GET /users/{}, show
//! warp::post().and(warp::path("users")).and_then(create)      POST /users, create
//! ```
//!
//! A chain that begins with a variable of the same file begins with what that is set to.

use knowing_model::facts::{Call, DeclId, Handler, Router};

use super::{New, handler_in, push};
use crate::passes::arguments::split;
use crate::passes::{Found, FoundHandler, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options"];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    // What serves a route stands at the end of its chain.
    let mut seen = Vec::new();
    for call in &pass.facts.calls {
        if !matches!(pass.called(call), "map" | "and_then" | "then") || pass.receiver(call.callee).is_none() {
            continue;
        }
        let end = pass.offset(call.position).saturating_sub(1);
        let begin = beginning(pass.bytes, end);
        if seen.contains(&begin) {
            continue;
        }
        let mut filter = Filter::default();
        read(pass, begin, end, &mut filter, 0);
        if !filter.is_path {
            continue;
        }
        seen.push(begin);
        served(pass, found, call, &filter);
    }
}

fn served(pass: &Pass<'_>, found: &mut Found, call: &Call, filter: &Filter) {
    let args = pass.arguments(call.position);
    let handler: FoundHandler = match args.first() {
        Some(arg) => handler_in(pass, Some(arg)),
        None => Handler::Inline.into(),
    };
    let pattern = format!("/{}", filter.segments.join("/"));
    let decl: Option<DeclId> = call.decl;
    let methods: &[&str] = if filter.methods.is_empty() { &["ANY"] } else { &filter.methods };
    for method in methods {
        push(
            found,
            New {
                decl,
                method,
                pattern: (!filter.is_computed).then_some(pattern.as_str()),
                prefix: "",
                router: Router::Root.into(),
                verified: true,
                handler: handler.clone(),
                position: call.position,
            },
        );
    }
}

#[derive(Default)]
struct Filter {
    segments: Vec<String>,
    methods: Vec<&'static str>,
    is_path: bool,
    is_computed: bool,
}

/// Reads `warp::path("x").and(warp::get())` between two offsets.
fn read(pass: &Pass<'_>, from: usize, to: usize, filter: &mut Filter, depth: usize) {
    if depth > 12 {
        return;
    }
    let bytes = pass.bytes;
    let mut at = from;
    while at < to {
        if bytes[at..to].starts_with(b"//") {
            at += memchr::memchr(b'\n', &bytes[at..to]).unwrap_or(to - at);
            continue;
        }
        let n = bytes[at..to].iter().take_while(|it| is_name(**it)).count();
        if n == 0 {
            at += 1;
            continue;
        }
        let name = pass.text(at, at + n).into_owned();
        let open = at + n;
        let is_call = bytes.get(open) == Some(&b'(');
        let parts =
            if is_call { split(bytes, open + 1, to.min(bytes.len()), "rust", false) } else { Vec::new() };
        let next = if is_call { closing(bytes, open, to) } else { open };
        let last = name.trim_end_matches('!').rsplit("::").next().unwrap_or_default().to_owned();
        let is_chained = at > 0 && bytes[at - 1] == b'.';
        match (last.as_str(), is_chained) {
            ("and", true) => {
                for it in &parts {
                    read(pass, it.from, it.to, filter, depth + 1);
                }
            }
            // One of several: what is common is not known from here.
            ("or", true) => filter.is_computed = true,
            (_, true) => {}
            ("path", _) if name.ends_with('!') => segments(pass, open + 1, next.saturating_sub(1), filter),
            ("path", _) if is_call => {
                filter.is_path = true;
                match parts.first().and_then(|it| pass.literal(it)) {
                    Some(text) => filter.segments.push(text.trim_matches('/').to_owned()),
                    None => filter.is_computed = true,
                }
            }
            ("param", _) => filter.segments.push("{}".to_owned()),
            ("tail", _) => filter.segments.push("{*}".to_owned()),
            (method, _) if METHODS.contains(&method) && is_call && parts.is_empty() => {
                filter.methods.extend(METHODS.iter().filter(|it| **it == method));
            }
            _ if !name.contains("::") => {
                if let Some((from, to)) = value_of(pass, &name, at) {
                    read(pass, from, to, filter, depth + 1);
                }
            }
            _ => {}
        }
        at = next.max(at + 1);
    }
}

/// `"users" / u32 / "posts" / ..` of the macro.
fn segments(pass: &Pass<'_>, from: usize, to: usize, filter: &mut Filter) {
    filter.is_path = true;
    for part in pass.text(from, to).split('/').map(str::trim).filter(|it| !it.is_empty() && *it != "..") {
        match pass.literal_text(part) {
            Some(text) => filter.segments.push(text),
            None => filter.segments.push("{}".to_owned()),
        }
    }
}

/// Where the value of a `let` before an offset stands.
fn value_of(pass: &Pass<'_>, name: &str, before: usize) -> Option<(usize, usize)> {
    let mark = format!("let {name} = ");
    let at =
        memchr::memmem::rfind(&pass.bytes[..before.min(pass.bytes.len())], mark.as_bytes())? + mark.len();
    let mut depth = 0_usize;
    for (n, byte) in pass.bytes[at..].iter().enumerate().take(4096) {
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b';' if depth == 0 => {
                // A name inside of what it is set to is another one.
                let is_filter = at + n < before && pass.text(at, at + n).contains("path");
                return is_filter.then_some((at, at + n));
            }
            _ => {}
        }
    }
    None
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'!')
}

/// Behind the bracket that closes the one at an offset.
fn closing(bytes: &[u8], open: usize, end: usize) -> usize {
    let mut depth = 0_usize;
    let mut in_text = false;
    for (at, byte) in bytes.iter().enumerate().take(end).skip(open) {
        match byte {
            b'"' => in_text = !in_text,
            b'(' | b'[' | b'{' if !in_text => depth += 1,
            b')' | b']' | b'}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    end
}

/// Where a chain begins: behind what stands before it at the same depth.
fn beginning(bytes: &[u8], end: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = end.min(bytes.len());
    while at > 0 {
        let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |it| it + 1);
        // Comments stand between the links of a chain.
        if bytes[line..at].trim_ascii_start().starts_with(b"//") {
            at = line.saturating_sub(1);
            continue;
        }
        match bytes[at - 1] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth == 0 => return at,
            b'(' | b'[' | b'{' => depth -= 1,
            b';' | b',' | b'=' if depth == 0 => return at,
            _ => {}
        }
        at -= 1;
    }
    0
}
