//! Requests to HTTP endpoints by literal urls: which function asks for which method and path.

use knowing_model::EdgeKind;
use knowing_model::facts::{Call, Certainty, Expr, LinkEnd};

use super::routes::normalised;
use super::{Found, FoundEnd, FoundLink, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head"];

/// Names that clients go by, and what has to be imported for them to be one.
const CLIENTS: &[(&str, &[&str], &[&str])] = &[
    ("python", &["requests", "httpx", "session", "client"], &["requests", "httpx", "aiohttp"]),
    (
        "typescript",
        &["axios", "ky", "got", "superagent", "http", "$http"],
        &["axios", "ky", "got", "superagent", "@nestjs/axios", "@angular/common/http"],
    ),
    ("go", &["http", "client", "resty"], &["net/http", "github.com/go-resty/resty"]),
    ("rust", &["reqwest", "client"], &["reqwest"]),
    ("ruby", &["HTTParty", "Faraday", "RestClient", "HTTP"], &["httparty", "faraday", "rest-client", "http"]),
    ("kotlin", &["client", "httpClient"], &["io.ktor.client"]),
    ("csharp", &["client", "httpClient", "_httpClient", "_client", "http"], &["System.Net.Http"]),
    ("php", &["Http", "client"], &["Illuminate.Support.Facades.Http", "GuzzleHttp"]),
];

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let language = pass.facts.language.as_str();
    let Some((_, names, modules)) = CLIENTS.iter().find(|it| it.0 == language) else { return };
    let is_typescript = language == "typescript";
    let imports = pass.modules.has_any(modules);
    if !imports && !is_typescript {
        return;
    }
    for call in &pass.facts.calls {
        let name = pass.called(call);
        let lower = name.to_ascii_lowercase();
        let bare = lower.strip_suffix("async").unwrap_or(&lower);
        let bare = bare.strip_suffix("fromjson").unwrap_or(bare);
        if is_typescript && name == "fetch" && matches!(pass.facts.expr(call.callee), Expr::Name { .. }) {
            fetch(pass, found, call);
            continue;
        }
        if !METHODS.contains(&bare) || !imports {
            continue;
        }
        let of = pass.receiver(call.callee).map(|it| pass.chain(it)).unwrap_or_default();
        let last = of.rsplit('.').next().unwrap_or_default();
        let fits = names.iter().any(|it| it.eq_ignore_ascii_case(last)) && !last.is_empty();
        if fits && let Some(arg) = pass.arguments(call.position).first() {
            push(pass, found, call, bare, &pass.text(arg.from, arg.to));
        }
    }
}

/// `fetch("/x", { method: "POST" })`.
fn fetch(pass: &Pass<'_>, found: &mut Found, call: &Call) {
    let args = pass.arguments(call.position);
    let Some(url) = args.first() else { return };
    let options = args.get(1).map(|it| pass.text(it.from, it.to)).unwrap_or_default();
    let method = match options.split_once("method") {
        Some((_, rest)) => {
            let value = rest.trim_start().strip_prefix(':').unwrap_or_default();
            match pass.literal_text(value.split([',', '}', '\n']).next().unwrap_or_default()) {
                Some(method) => method,
                None => return,
            }
        }
        None => "GET".to_owned(),
    };
    push(pass, found, call, &method, &pass.text(url.from, url.to));
}

fn push(pass: &Pass<'_>, found: &mut Found, call: &Call, method: &str, written: &str) {
    let Some(path) = path_of(pass, written) else { return };
    let from = call.decl.map_or(LinkEnd::File, LinkEnd::Decl);
    let to = FoundEnd::Route(method.to_ascii_uppercase(), path);
    let (kind, certainty, position) = (EdgeKind::ConsumesEndpoint, Certainty::Pattern, call.position);
    found.links.push(FoundLink { from, to, kind, certainty, position });
}

/// The path of a url: a literal, or one with values put into it, each of which stands for one parameter.
fn path_of(pass: &Pass<'_>, written: &str) -> Option<String> {
    let text = match pass.literal_text(written) {
        Some(text) => text,
        None => template(written.trim())?,
    };
    // `{base}/x`: what stands before the path is the host.
    let text = match text.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
        None => match text.strip_prefix("{}") {
            Some(rest) if rest.starts_with('/') => rest.to_owned(),
            _ => text,
        },
    };
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let fits = path.starts_with('/') && path.len() > 1 && !path.contains(char::is_whitespace);
    fits.then(|| normalised(path))
}

/// A text with values in it: `${x}` and `{x}` become `{}`.
fn template(written: &str) -> Option<String> {
    let body = written.trim_start_matches(['f', '$', '@']);
    let quote = body.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))?;
    let inner = body[1..].strip_suffix(quote)?;
    if inner.contains(quote) {
        return None;
    }
    let mut out = String::new();
    let mut rest = inner;
    while let Some(at) = rest.find(['{', '#']) {
        let (before, behind) = rest.split_at(at);
        let open = if behind.starts_with("#{") { 2 } else { 1 };
        if behind.starts_with('#') && open == 1 {
            return None;
        }
        out.push_str(before.trim_end_matches('$'));
        out.push_str("{}");
        let end = behind.find('}')?;
        if behind[open..end].contains('{') {
            return None;
        }
        rest = &behind[end + 1..];
    }
    out.push_str(rest);
    Some(out)
}
