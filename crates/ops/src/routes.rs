//! Which routes there are, what serves them, and who asks for them.

use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SymbolInfo, Tree};
use crate::cross_repo_callers::{RemoteCaller, askers_of_routes};
use crate::cx::Cx;
use crate::error::Result;
use crate::view::View;

/// Routes with what serves them and who calls them
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing routes
  knowing routes --method post --path /users
  knowing routes --path /users/7 --json

A path is a part of the pattern, or a real path that the pattern answers. Parameters are written {name} whatever the \
framework.")]
pub struct Routes {
    /// Only routes that answer this method
    #[arg(long)]
    #[serde(default)]
    pub method: Option<String>,
    /// Only routes whose pattern has this text, or answers this path
    #[arg(long)]
    #[serde(default)]
    pub path: Option<String>,
    /// How many to list; 0 gives the number alone
    #[arg(long, default_value_t = 500)]
    #[serde(default = "five_hundred")]
    pub limit: usize,
}

fn five_hundred() -> usize {
    500
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoutesReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub routes: Vec<RouteInfo>,
    pub total: usize,
    pub truncated: bool,
    /// Routes whose pattern is computed, so that nobody can tell it; not listed.
    pub n_computed: usize,
}

/// One method and pattern.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RouteInfo {
    pub method: String,
    pub pattern: String,
    /// Where it is registered.
    pub route: SymbolInfo,
    /// What serves it; nothing for what is only promised, or when it could not be found.
    pub handlers: Vec<SymbolInfo>,
    /// Who asks for it, as far as literal urls tell.
    pub callers: Vec<SymbolInfo>,
    /// Who does from other repositories that are known here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers_elsewhere: Vec<RemoteAsker>,
}

/// Code of another repository.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemoteAsker {
    pub repo: String,
    pub symbol: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Routes) -> Result<RoutesReply> {
    let opened = cx.open()?;
    let view = opened.view()?;
    let mut found: Vec<(String, String, NodeIndex)> = Vec::new();
    let mut n_computed = 0;
    for (at, node) in view.graph().nodes().iter().enumerate() {
        if node.kind() != NodeKind::RouteHandler {
            continue;
        }
        let at = NodeIndex(u32::try_from(at).expect("graphs have fewer than 4 G nodes"));
        let name = view.symbol(at)?.symbol.name.to_string();
        let Some((method, pattern)) = name.split_once(' ') else { continue };
        if arguments.method.as_ref().is_some_and(|it| !answers_method(method, it)) {
            continue;
        }
        if pattern == "?" {
            n_computed += 1;
            continue;
        }
        if arguments.path.as_ref().is_none_or(|it| pattern.contains(it.as_str()) || answers(pattern, it)) {
            found.push((pattern.to_owned(), method.to_owned(), at));
        }
    }
    let total = found.len();
    let mut routes = Vec::with_capacity(total.min(arguments.limit));
    found.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    for (pattern, method, at) in found.into_iter().take(arguments.limit) {
        routes.push(RouteInfo {
            method,
            pattern,
            route: view.info(at)?,
            handlers: others(&view, at, EdgeKind::HandlesRoute, true)?,
            callers: others(&view, at, EdgeKind::ConsumesEndpoint, false)?,
            callers_elsewhere: Vec::new(),
        });
    }
    let named = |it: &RouteInfo| format!("{} {}", it.method, it.pattern);
    let mut elsewhere = askers_of_routes(cx, &opened, routes.iter().map(named).collect())?;
    for route in &mut routes {
        let asker =
            |it: RemoteCaller| RemoteAsker { repo: it.repo, symbol: it.symbol, location: it.location };
        let callers = elsewhere.remove(&named(route)).unwrap_or_default();
        route.callers_elsewhere = callers.into_iter().map(asker).collect();
    }
    routes.sort_by(|a, b| place_of(a).cmp(&place_of(b)));
    let truncated = routes.len() < total;
    Ok(RoutesReply { tree: view.tree().clone(), routes, total, truncated, n_computed })
}

fn place_of(it: &RouteInfo) -> impl Ord {
    (&it.pattern, &it.method, &it.route.file, it.route.line, &it.route.id)
}

fn answers_method(method: &str, wanted: &str) -> bool {
    method == "ANY" || method.eq_ignore_ascii_case(wanted)
}

/// Whether a pattern answers a path, segment by segment.
fn answers(pattern: &str, path: &str) -> bool {
    let mut segments = pattern.trim_matches('/').split('/');
    let mut parts = path.trim_matches('/').split('/');
    loop {
        match (segments.next(), parts.next()) {
            (None, None) => return true,
            (Some(segment), Some(part)) if segment == part || segment.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// Whether a request means a route: the same path but for the names of parameters, and a method that it answers.
pub(crate) fn is_same(route: &str, request: &str) -> bool {
    let (Some((method, pattern)), Some((wanted, path))) = (route.split_once(' '), request.split_once(' '))
    else {
        return false;
    };
    // A host may stand before the method.
    let wanted = wanted.rsplit('/').next().unwrap_or(wanted);
    pattern != "?" && answers_method(method, wanted) && shape_of_path(pattern) == shape_of_path(path)
}

/// The path of a route or request, whatever its parameters are called: what is the same has the same shape.
pub(crate) fn shape(route: &str) -> String {
    shape_of_path(route.split_once(' ').map_or("", |it| it.1))
}

fn shape_of_path(path: &str) -> String {
    let segments = path.trim_matches('/').split('/').map(|it| if it.starts_with('{') { "{}" } else { it });
    segments.collect::<Vec<_>>().join("/")
}

fn others(view: &View<'_>, at: NodeIndex, kind: EdgeKind, outgoing: bool) -> Result<Vec<SymbolInfo>> {
    let edges =
        if outgoing { view.graph().outgoing_of(at, kind) } else { view.graph().incoming_of(at, kind) };
    let mut all: Vec<SymbolInfo> = edges.iter().map(|it| view.info(it.other())).collect::<Result<_>>()?;
    all.sort_by(|a, b| (&a.file, a.line, &a.qualified_name).cmp(&(&b.file, b.line, &b.qualified_name)));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_means_a_route_whatever_its_parameters_are_called() {
        assert!(is_same("GET /users/{id}", "GET /users/{}"));
        assert!(is_same("GET /users/{id}", "api.acme.com/GET /users/{}"));
        assert!(is_same("ANY /users/{id}/", "POST /users/{x}"));
        assert!(!is_same("GET /users/{id}", "GET /users/me"));
        assert!(!is_same("GET /users", "POST /users"));
        assert!(!is_same("GET ?", "GET /"));
    }

    #[test]
    fn a_pattern_answers_paths_with_values_for_its_parameters() {
        for (pattern, path, fits) in [
            ("/users/{id}", "/users/7", true),
            ("/users/{id}/", "/users/7", true),
            ("/users/{id}", "/users", false),
            ("/users", "/users/7", false),
            ("/", "/", true),
        ] {
            assert_eq!(answers(pattern, path), fits, "{pattern} {path}");
        }
        assert!(
            answers_method("ANY", "get") && answers_method("GET", "get") && !answers_method("PUT", "get")
        );
    }
}
