//! Requests over the network by literal urls and hosts: which function asks whom for what.

use knowing_model::facts::{Call, Certainty, DeclId, Expr, LinkEnd};
use knowing_model::{EdgeKind, NodeKind, Position};

use rustc_hash::FxHashSet;

use super::routes::normalised;
use super::{Arg, Found, FoundEnd, FoundLink, Pass};

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
    ("rust", &["reqwest", "client", "blocking", "ureq"], &["reqwest", "ureq"]),
    ("ruby", &["HTTParty", "Faraday", "RestClient", "HTTP"], &["httparty", "faraday", "rest-client", "http"]),
    ("kotlin", &["client", "httpClient"], &["io.ktor.client"]),
    ("csharp", &["client", "httpClient", "_httpClient", "_client", "http"], &["System.Net.Http"]),
    ("php", &["Http", "client"], &["Illuminate.Support.Facades.Http", "GuzzleHttp"]),
];

/// How a function of the standard library, or one that is called by its own name, is told where to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Argument number so many is a url.
    Url(usize),
    /// It is a host, or an address that begins with one.
    Host(usize),
    /// A url, or an object with `hostname` and `path`.
    Options(usize),
}

/// Chains of names (or their ends), the method, where the place stands, and what has to be imported.
type Function = (&'static str, &'static str, Place, &'static [&'static str]);

const PYTHON: &[Function] = &[
    ("urllib.request.urlopen", "GET", Place::Url(0), &["urllib"]),
    ("urlopen", "GET", Place::Url(0), &["urllib"]),
    ("urllib.request.Request", "GET", Place::Url(0), &["urllib"]),
    ("Request", "GET", Place::Url(0), &["urllib.request"]),
    ("urllib.request.urlretrieve", "GET", Place::Url(0), &["urllib"]),
    ("urlretrieve", "GET", Place::Url(0), &["urllib"]),
    ("requests.request", "GET", Place::Url(1), &["requests"]),
    ("httpx.request", "GET", Place::Url(1), &["httpx"]),
    ("HTTPSConnection", "CONNECT", Place::Host(0), &["http"]),
    ("HTTPConnection", "CONNECT", Place::Host(0), &["http"]),
    ("create_connection", "CONNECT", Place::Host(0), &["socket"]),
    ("connect", "CONNECT", Place::Host(0), &["socket"]),
];
const TYPESCRIPT: &[Function] = &[
    ("https.request", "GET", Place::Options(0), &["https", "node:https"]),
    ("https.get", "GET", Place::Options(0), &["https", "node:https"]),
    ("http.request", "GET", Place::Options(0), &["http", "node:http"]),
    ("http.get", "GET", Place::Options(0), &["http", "node:http"]),
    ("axios", "GET", Place::Options(0), &["axios"]),
    ("got", "GET", Place::Url(0), &["got"]),
    ("sendBeacon", "POST", Place::Url(0), &[]),
    ("WebSocket", "CONNECT", Place::Url(0), &[]),
    ("net.connect", "CONNECT", Place::Options(1), &["net", "node:net"]),
    ("net.createConnection", "CONNECT", Place::Options(1), &["net", "node:net"]),
];
const GO: &[Function] = &[
    ("http.PostForm", "POST", Place::Url(0), &["net/http"]),
    ("http.NewRequest", "GET", Place::Url(1), &["net/http"]),
    ("http.NewRequestWithContext", "GET", Place::Url(2), &["net/http"]),
    ("net.Dial", "CONNECT", Place::Host(1), &["net"]),
    ("net.DialTimeout", "CONNECT", Place::Host(1), &["net"]),
    ("tls.Dial", "CONNECT", Place::Host(1), &["crypto/tls"]),
];
const RUST: &[Function] = &[("TcpStream.connect", "CONNECT", Place::Host(0), &[])];
const RUBY: &[Function] = &[
    ("Net.HTTP.get", "GET", Place::Options(0), &[]),
    ("Net.HTTP.get_response", "GET", Place::Options(0), &[]),
    ("Net.HTTP.post", "POST", Place::Options(0), &[]),
    ("Net.HTTP.post_form", "POST", Place::Options(0), &[]),
    ("Net.HTTP.start", "CONNECT", Place::Host(0), &[]),
    ("Net.HTTP.new", "CONNECT", Place::Host(0), &[]),
    ("URI.open", "GET", Place::Url(0), &[]),
    ("TCPSocket.new", "CONNECT", Place::Host(0), &[]),
    ("TCPSocket.open", "CONNECT", Place::Host(0), &[]),
];
const PHP: &[Function] = &[
    ("file_get_contents", "GET", Place::Url(0), &[]),
    ("curl_init", "GET", Place::Url(0), &[]),
    ("fsockopen", "CONNECT", Place::Host(0), &[]),
];
const JVM: &[Function] = &[("HttpRequest.newBuilder", "GET", Place::Url(0), &["java.net"])];
const CSHARP: &[Function] = &[
    ("DownloadString", "GET", Place::Url(0), &["System.Net"]),
    ("DownloadFile", "GET", Place::Url(0), &["System.Net"]),
    ("DownloadData", "GET", Place::Url(0), &["System.Net"]),
    ("UploadString", "POST", Place::Url(0), &["System.Net"]),
];

/// One request that a file makes.
pub(super) struct Request {
    pub(super) decl: Option<DeclId>,
    /// In capitals; `CONNECT` where a connection is all that is seen.
    pub(super) method: String,
    /// As written, without port; none for a url that begins with a path or a value.
    pub(super) host: Option<String>,
    /// With parameters as `{}`; none where nothing but a host is known.
    pub(super) path: Option<String>,
    pub(super) position: Position,
}

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let mut requests = all(pass);
    // What is asked of others is not asked of the application as well.
    let known: FxHashSet<Position> = requests.iter().map(|it| it.position).collect();
    requests.extend(super::test_requests::all(pass).into_iter().filter(|it| !known.contains(&it.position)));
    for request in requests {
        let from = request.decl.map_or(LinkEnd::File, LinkEnd::Decl);
        let to = match (&request.host, request.path) {
            (host, Some(path)) => {
                let host = host.as_deref().map(|it| format!("//{it}")).unwrap_or_default();
                FoundEnd::Route(request.method, format!("{host}{path}"))
            }
            (Some(host), None) => {
                FoundEnd::Outside(NodeKind::Endpoint, String::new(), format!("{host}/{}", request.method))
            }
            (None, None) => continue,
        };
        let (kind, certainty, position) = (EdgeKind::ConsumesEndpoint, Certainty::Pattern, request.position);
        found.links.push(FoundLink { from, to, kind, certainty, position });
    }
}

/// All requests of a file whose url, or at least whose host, is written in it.
pub(super) fn all(pass: &Pass<'_>) -> Vec<Request> {
    let language = pass.facts.language.as_str();
    let functions: &[Function] = match language {
        "python" => PYTHON,
        "typescript" | "javascript" | "tsx" => TYPESCRIPT,
        "go" => GO,
        "rust" => RUST,
        "ruby" => RUBY,
        "php" => PHP,
        "java" | "kotlin" => JVM,
        "csharp" => CSHARP,
        _ => return Vec::new(),
    };
    let (names, modules) =
        CLIENTS.iter().find(|it| it.0 == language).map_or((&[][..], &[][..]), |it| (it.1, it.2));
    let is_typescript = language == "typescript";
    let imports = pass.modules.has_any(modules);
    let mut requests = Vec::new();
    for call in &pass.facts.calls {
        let name = pass.called(call);
        if is_typescript && name == "fetch" && matches!(pass.facts.expr(call.callee), Expr::Name { .. }) {
            requests.extend(fetch(pass, call));
            continue;
        }
        let lower = if imports { name.to_ascii_lowercase() } else { String::new() };
        let bare = lower.strip_suffix("async").unwrap_or(&lower);
        let bare = bare.strip_suffix("fromjson").unwrap_or(bare);
        if METHODS.contains(&bare) {
            let of = pass.receiver(call.callee).map(|it| pass.chain(it)).unwrap_or_default();
            let last = of.rsplit('.').next().unwrap_or_default();
            let fits = names.iter().any(|it| it.eq_ignore_ascii_case(last)) && !last.is_empty();
            if fits && let Some(arg) = pass.arguments(call.position).first() {
                requests.extend(request(pass, call, bare, &pass.text(arg.from, arg.to)));
                continue;
            }
        }
        // The last letter settles most calls.
        let last = name.as_bytes().last();
        let of_this_name: Vec<&Function> = functions
            .iter()
            .filter(|it| it.0.as_bytes().last() == last && it.0.rsplit('.').next() == Some(name))
            .collect();
        if of_this_name.is_empty() {
            continue;
        }
        let whole = pass.chain(call.callee);
        let fits = |it: &&&Function| {
            let is_it = !it.0.contains('.') || whole == it.0 || whole.ends_with(&format!(".{}", it.0));
            is_it && (it.3.is_empty() || pass.modules.has_any(it.3))
        };
        let Some((_, method, place, _)) = of_this_name.iter().find(fits) else { continue };
        requests.extend(by_function(pass, call, method, *place));
    }
    requests
}

fn by_function(pass: &Pass<'_>, call: &Call, method: &str, place: Place) -> Option<Request> {
    let args = pass.arguments(call.position);
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let (Place::Url(at) | Place::Host(at) | Place::Options(at)) = place;
    let text = |it: &Arg| pass.text(it.from, it.to).into_owned();
    let written = plain.get(at).map(|it| text(it)).or_else(|| args.first().map(text))?;
    let written = assigned(pass, call.decl, &written).unwrap_or(written);
    let (decl, position) = (call.decl, call.position);
    if place == Place::Host(at) {
        let host = host_of(&first_literal(pass, &written)?)?;
        return Some(Request { decl, method: method.to_owned(), host: Some(host), path: None, position });
    }
    // `URI("https://...")`, `new URL("https://...")`: what is written in the call is the url.
    let inner = first_literal(pass, &written).filter(|it| it.contains("://"));
    if let Some(inner) = inner {
        return request(pass, call, method, &format!("{inner:?}"));
    }
    if matches!(place, Place::Options(_)) {
        let value = |key: &str| member(pass, &written, key);
        let host = value("hostname").or_else(|| value("host")).and_then(|it| host_of(&it));
        if let Some(host) = host {
            let method = value("method").unwrap_or_else(|| method.to_owned()).to_ascii_uppercase();
            let path = value("path").filter(|it| it.starts_with('/') && it.len() > 1);
            let path = path.map(|it| normalised(it.split(['?', '#']).next().unwrap_or_default()));
            return Some(Request { decl, method, host: Some(host), path, position });
        }
        if let Some(url) = value("url") {
            return request(pass, call, method, &format!("{url:?}"));
        }
    }
    request(pass, call, method, &written)
}

/// What a bare name was set to where it is used: the text behind the last `name =` of the function before the call, or of
/// the file where that is no function.
pub(super) fn assigned(pass: &Pass<'_>, decl: Option<DeclId>, name: &str) -> Option<String> {
    let is_name = !name.is_empty()
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$'))
        && !name.as_bytes()[0].is_ascii_digit();
    if !is_name {
        return None;
    }
    let own = decl.map(|it| pass.facts.decl(it).range).map(|it| (it.from as usize, it.to as usize));
    let places = [own, Some((0, pass.bytes.len().min(1 << 18)))];
    places.into_iter().flatten().find_map(|(from, to)| {
        let text = pass.text(from, to);
        let at = text.match_indices(name).find_map(|(at, _)| {
            let before = text[..at].chars().next_back();
            let rest = text[at + name.len()..].trim_start_matches(' ');
            let value = rest.strip_prefix(":=").or_else(|| rest.strip_prefix('='))?;
            let is_word = before.is_some_and(|it| it.is_alphanumeric() || it == '_' || it == '.');
            (!is_word && !value.starts_with(['=', '>'])).then(|| text.len() - value.len())
        })?;
        let value = text[at..].trim_start();
        let end = match value.chars().next()? {
            '{' => value.find('}').map_or(value.len(), |it| it + 1),
            _ => value.find(['\n', ';']).unwrap_or(value.len()),
        };
        Some(value[..end].to_owned())
    })
}

/// The value of a member of an object that is written out: `hostname: "x"`, `"host" => 'x'`.
pub(super) fn member(pass: &Pass<'_>, text: &str, key: &str) -> Option<String> {
    text.match_indices(key).find_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|it| it.is_alphanumeric() || it == '_') {
            return None;
        }
        let rest = text[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
        let value = rest.strip_prefix(':').or_else(|| rest.strip_prefix("=>"))?.trim_start();
        pass.literal_text(first_quoted(value).filter(|it| value.starts_with(*it))?)
    })
}

/// The first literal in a text, without its quotes.
fn first_literal(pass: &Pass<'_>, text: &str) -> Option<String> {
    match pass.literal_text(text) {
        Some(text) => Some(text),
        None => pass.literal_text(first_quoted(text)?).or_else(|| {
            // A text with values in it begins with what can be read.
            let quoted = first_quoted(text)?;
            Some(quoted[1..quoted.len() - 1].to_owned())
        }),
    }
}

/// The first quoted part of a text, quotes included.
fn first_quoted(text: &str) -> Option<&str> {
    let begin = text.find(['"', '\'', '`'])?;
    let quote = text[begin..].chars().next()?;
    let end = text[begin + 1..].find(quote)? + begin + 2;
    Some(&text[begin..end])
}

/// The host at the begin of an address; none where it is computed.
pub(super) fn host_of(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |it| it.1);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    };
    let is_host = !host.is_empty()
        && host.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'-' | b'_'));
    is_host.then(|| host.to_ascii_lowercase())
}

/// `fetch("/x", { method: "POST" })`.
fn fetch(pass: &Pass<'_>, call: &Call) -> Option<Request> {
    let args = pass.arguments(call.position);
    let url = args.first()?;
    let options = args.get(1).map(|it| pass.text(it.from, it.to)).unwrap_or_default();
    let method = match options.split_once("method") {
        Some((_, rest)) => {
            let value = rest.trim_start().strip_prefix(':').unwrap_or_default();
            pass.literal_text(value.split([',', '}', '\n']).next().unwrap_or_default())?
        }
        None => "GET".to_owned(),
    };
    request(pass, call, &method, &pass.text(url.from, url.to))
}

/// A url as it is written: a literal, or one with values put into it, each of which stands for one parameter.
pub(super) fn request(pass: &Pass<'_>, call: &Call, method: &str, written: &str) -> Option<Request> {
    let read = |written: &str| pass.literal_text(written).or_else(|| template(written.trim()));
    let text = match read(written) {
        Some(text) => text,
        None => read(&assigned(pass, call.decl, written)?)?,
    };
    let host = text.contains("://").then(|| host_of(&text)).flatten();
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
    let path = fits.then(|| normalised(path));
    if host.is_none() && path.is_none() {
        return None;
    }
    let method = method.to_ascii_uppercase();
    Some(Request { decl: call.decl, method, host, path, position: call.position })
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
