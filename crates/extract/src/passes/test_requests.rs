//! Requests that tests make of the application under test: no client library is imported and no host is named, and the
//! framework's own helper is asked for a path or an action.

use knowing_model::facts::{Call, Certainty, Expr, LinkEnd};
use knowing_model::{EdgeKind, NodeFlags, NodeKind};

use super::requests::{Request, request};
use super::{Arg, Found, FoundEnd, FoundLink, Pass};

const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "head", "options"];

/// Requests by path.
pub(super) fn all(pass: &Pass<'_>) -> Vec<Request> {
    if !pass.facts.flags.contains(NodeFlags::TEST) {
        return Vec::new();
    }
    let found = pass.facts.calls.iter().filter_map(|call| {
        let (method, at) = asked(pass, call)?;
        let args = pass.arguments(call.position);
        let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
        let written = match plain.get(at) {
            Some(it) => pass.text(it.from, it.to),
            None => return None,
        };
        // `inject({ method: "POST", url: "/x" })`.
        if written.starts_with('{') {
            let value = |key: &str| super::requests::member(pass, &written, key);
            let method = value("method").unwrap_or(method);
            return request(pass, call, &method, &format!("{:?}", value("url").or_else(|| value("path"))?));
        }
        request(pass, call, &method, &written).filter(|it| it.host.is_none())
    });
    found.collect()
}

/// Whether a call of this name can be a request in any language. Tests make many calls, and few of them are: most are told
/// by their name, before anything is put together of what they are called on.
fn may_be_asked(name: &str) -> bool {
    /// What may stand behind a method.
    const ENDS: &[&str] = &[
        "",
        "json",
        "async",
        "asjsonasync",
        "fromjsonasync",
        "stringasync",
        "forobject",
        "forentity",
        "forlocation",
    ];
    let Some(first) = name.as_bytes().first().map(u8::to_ascii_lowercase) else { return false };
    let is_method = |method: &&str| {
        if method.as_bytes()[0] != first {
            return false;
        }
        let Some((begin, end)) = name.split_at_checked(method.len()) else { return false };
        begin.eq_ignore_ascii_case(method) && ENDS.iter().any(|it| it.eq_ignore_ascii_case(end))
    };
    matches!(name, "visit" | "inject" | "request" | "uri" | "NewRequest" | "NewRequestWithContext")
        || METHODS.iter().any(is_method)
}

/// The method, and which argument is the path, of a call that is a request; in the ways of each language.
fn asked(pass: &Pass<'_>, call: &Call) -> Option<(String, usize)> {
    let name = pass.called(call);
    if !may_be_asked(name) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let of = pass.receiver(call.callee).map(|it| pass.chain(it));
    let last = of.as_deref().and_then(|it| it.rsplit('.').next()).unwrap_or_default().to_ascii_lowercase();
    // What nobody wrote before a call of Ruby is called `` or, in a block, `&`.
    let is_bare = matches!(last.as_str(), "" | "&" | "self" | "this");
    let method = |suffixes: &[&str]| {
        let bare = suffixes.iter().find_map(|it| lower.strip_suffix(it)).unwrap_or(&lower);
        METHODS.contains(&bare).then(|| bare.to_owned())
    };
    let literal = |at: usize| pass.arguments(call.position).get(at).and_then(|it| pass.literal(it));
    match pass.facts.language.as_str() {
        "ruby" if name == "visit" => Some(("get".to_owned(), 0)),
        "ruby" => Some((method(&[]).filter(|_| is_bare || last == "session")?, 0)),
        "python" => {
            let is_client =
                last.ends_with("client") || matches!(last.as_str(), "c" | "app" | "testapp" | "test_app");
            Some((method(&[]).filter(|_| is_client)?, 0))
        }
        "typescript"
            if matches!(name, "inject" | "request")
                && matches!(last.as_str(), "app" | "server" | "fastify") =>
        {
            Some(("get".to_owned(), 0))
        }
        "typescript" => {
            let is_agent = matches!(last.as_str(), "agent" | "request" | "api" | "app" | "client");
            let asks = is_agent
                || maker(pass, call).is_some_and(|it| matches!(it, "request" | "supertest" | "agent"));
            Some((method(&[]).filter(|_| asks)?, 0))
        }
        "java" | "kotlin" if name == "uri" => {
            Some((maker(pass, call).map_or("get", |it| it).to_ascii_lowercase(), 0))
                .filter(|it| METHODS.contains(&it.0.as_str()))
        }
        "java" | "kotlin" => {
            const BUILDERS: &str = "org.springframework.test.web.servlet.request.MockMvcRequestBuilders";
            if last == "mockmvcrequestbuilders" || is_bare && pass.modules.has(BUILDERS) {
                return Some((method(&[])?, 0));
            }
            if last.ends_with("resttemplate") {
                return Some((method(&["forobject", "forentity", "forlocation"])?, 0));
            }
            let is_assured = pass.modules.has_any(&["io.restassured", "static io.restassured"]);
            Some((method(&[]).filter(|_| is_assured || last.ends_with("client"))?, 0))
        }
        "go" if matches!(name, "NewRequest" | "NewRequestWithContext") => {
            let at = usize::from(name == "NewRequestWithContext");
            let written = pass.arguments(call.position).get(at).map(|it| pass.text(it.from, it.to))?;
            // `http.MethodPost`, `"POST"`.
            let named = written.rsplit("Method").next().unwrap_or_default().to_ascii_lowercase();
            let method = literal(at).map_or(named, |it| it.to_ascii_lowercase());
            METHODS.contains(&method.as_str()).then_some((method, at + 1))
        }
        "rust" if name == "uri" => {
            let made = maker(pass, call).map(str::to_ascii_lowercase).unwrap_or_default();
            Some((if METHODS.contains(&made.as_str()) { made } else { "get".to_owned() }, 0))
        }
        "rust" => Some((method(&[]).filter(|_| last.ends_with("client") || last.ends_with("server"))?, 0)),
        "csharp" => Some((
            method(&["async", "asjsonasync", "fromjsonasync", "stringasync"])
                .filter(|_| last.ends_with("client"))?,
            0,
        )),
        "php" if name == "request" && last.ends_with("client") => {
            Some((literal(0)?.to_ascii_lowercase(), 1)).filter(|it| METHODS.contains(&it.0.as_str()))
        }
        "php" => Some((method(&["json"]).filter(|_| is_bare)?, 0)),
        _ => None,
    }
}

/// The function whose result is asked: `request` of `request(app).get("/x")`.
fn maker<'a>(pass: &Pass<'a>, call: &Call) -> Option<&'a str> {
    match pass.facts.expr(pass.receiver(call.callee)?) {
        Expr::Call { callee } => Some(pass.last_name(callee)),
        _ => None,
    }
}

/// `get :index` in the test of a controller: the action of that name.
pub(super) fn actions(pass: &Pass<'_>, found: &mut Found) {
    if pass.facts.language != "ruby" || !pass.facts.flags.contains(NodeFlags::TEST) {
        return;
    }
    let Some(controller) = controller(pass) else { return };
    for call in &pass.facts.calls {
        let name = pass.called(call);
        if !METHODS.contains(&name) && name != "process" {
            continue;
        }
        let is_bare =
            pass.receiver(call.callee).is_none_or(|it| matches!(pass.chain(it).as_str(), "" | "&" | "self"));
        if !is_bare {
            continue;
        }
        let args = pass.arguments(call.position);
        let Some(first) = args.first() else { continue };
        let written = pass.text(first.from, first.to);
        let Some(action) = written.strip_prefix(':') else { continue };
        let is_name = !action.is_empty() && action.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let Some(decl) = call.decl.filter(|_| is_name) else { continue };
        let to = FoundEnd::Symbol(format!("{controller}.{action}"));
        let (kind, certainty, position) = (EdgeKind::Tests, Certainty::Pattern, call.position);
        found.links.push(FoundLink { from: LinkEnd::Decl(decl), to, kind, certainty, position });
    }
}

/// The controller that a test file is about: `tests SessionsController`, `describe SessionsController`, or by the name of the
/// class.
fn controller(pass: &Pass<'_>) -> Option<String> {
    let is_name = |it: &str| it.ends_with("Controller") && !it.contains(['"', '\'']);
    let stated =
        pass.facts.calls.iter().filter(|it| matches!(pass.called(it), "tests" | "describe")).find_map(|it| {
            let args = pass.arguments(it.position);
            let text = args.first().map(|it| pass.text(it.from, it.to).into_owned())?;
            Some(text.replace("::", ".")).filter(|it| is_name(it))
        });
    stated.or_else(|| {
        let classes = pass.facts.decls.iter().filter(|it| it.kind == NodeKind::Class);
        let mut named = classes.filter_map(|it| pass.facts.text(it.name).strip_suffix("Test"));
        named.find(|it| is_name(it)).map(|it| it.replace("::", "."))
    })
}
