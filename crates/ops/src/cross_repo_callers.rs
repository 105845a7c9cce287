//! Who calls a symbol from other repositories.
//!
//! Code that uses a library has edges to what the library is called from outside: `external://go/github.com/a/b.Open`. A
//! symbol of that library is meant when its own package, as its project files name it, and its path make the same name.
//! Where a package can be entered through several of its files, a name that only one of its symbols has is that symbol's;
//! one that several have is counted, and bound to none.
//!
//! A route is asked for by its path: requests of other repositories that lead to `endpoint://GET /users/{id}` mean the route
//! of that method and path, where no other repository serves the same.

use std::collections::{BTreeMap, BTreeSet};

use knowing_graph::{Follow, KindSet, NodeIndex, Reach};
use knowing_model::name::Case;
use knowing_model::{EdgeKind, NodeFlags, NodeKind, RULESET};
use knowing_store::Store;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{SCHEMA, SymbolInfo, Tree, rounded};
use crate::blast_radius::five;
use crate::cx::{Cx, Opened, Target, tree_name};
use crate::error::Result;
use crate::page::{Page, paged};
use crate::routes::{is_same, shape};
use crate::view::View;
use crate::work_state::WorkState;

/// Who calls a symbol from other repositories on this machine
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing cross-repo-callers Router.Handle
  knowing --db all.db --repo github.com/acme/shop cross-repo-callers Cart.total --json

Without `--db` it looks at every repository that was indexed on this machine, as it was indexed last.")]
pub struct CrossRepoCallers {
    /// Its name or the end of it, a node id or `path:line`
    pub symbol: String,
    /// How many calls away callers may be, in their own repository
    #[arg(long = "depth", alias = "max-depth", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    #[serde(default = "five", alias = "depth")]
    pub max_depth: u32,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CrossRepoCallersReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbol: SymbolInfo,
    /// What others call it; empty when its package has no name outside.
    pub known_as: Vec<String>,
    pub callers: Vec<RemoteCaller>,
    pub total: usize,
    /// Callers by repository.
    pub by_repo: BTreeMap<String, usize>,
    /// Other repositories that were looked at.
    pub searched: usize,
    /// Uses elsewhere of a name that several symbols of the package have.
    pub unresolved: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(CrossRepoCallersReply: callers);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RemoteCaller {
    pub symbol: String,
    pub repo: String,
    pub depth: u32,
    /// Of the edge nearest to the caller.
    pub kind: &'static str,
    pub confidence: f64,
    pub provenance: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &CrossRepoCallers) -> Result<CrossRepoCallersReply> {
    let mut pages = cx.pages("cross_repo_callers", arguments, 500)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let found = view.lookup(&arguments.symbol)?;
    let outside = Outside::of(&view, &opened, found[0])?;
    let mut callers = Vec::new();
    let (mut searched, mut unresolved) = (0, 0);
    let others = others(cx, &opened)?;
    let routes = outside.routes_of_one(&others)?;
    for (target, other) in &others {
        searched += 1;
        let there = other.view()?;
        let (mut meant, mut n_unsure) = outside.among(&there)?;
        for at in nodes_of(&there, NodeKind::Endpoint) {
            let request = there.symbol(at)?.symbol.name.to_string();
            match outside.routes.iter().find(|it| is_same(it, &request)) {
                Some(route) if routes.contains(route) => meant.push(at),
                Some(_) => n_unsure += there.graph().incoming(at).len(),
                None => {}
            }
        }
        unresolved += n_unsure;
        callers.extend(callers_of(&there, &target.url, &meant, arguments.max_depth)?);
    }
    callers.sort_by(|a: &RemoteCaller, b| {
        let key = |it: &RemoteCaller| (it.depth, it.repo.clone(), it.location.clone(), it.symbol.clone());
        key(a).cmp(&key(b))
    });
    let mut by_repo = BTreeMap::new();
    for it in &callers {
        *by_repo.entry(it.repo.clone()).or_default() += 1;
    }
    let mut reply = CrossRepoCallersReply {
        tree: view.tree().clone(),
        symbol: view.info(found[0])?,
        known_as: outside.exact.iter().chain(&outside.loose).chain(&outside.routes).cloned().collect(),
        total: callers.len(),
        callers: pages.of(callers),
        by_repo,
        searched,
        unresolved,
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// Who asks for these routes of a repository from another one, by route. A route that another repository serves too is
/// nobody's in particular, and is left out.
pub(crate) fn askers_of_routes(
    cx: &Cx<'_>,
    opened: &Opened,
    routes: Vec<String>,
) -> Result<BTreeMap<String, Vec<RemoteCaller>>> {
    let others = others(cx, opened)?;
    let own = Outside { routes, ..Outside::default() }.routes_of_one(&others)?;
    let mut by_shape: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for route in &own {
        by_shape.entry(shape(route)).or_default().push(route);
    }
    let mut found: BTreeMap<String, Vec<RemoteCaller>> = BTreeMap::new();
    for (target, other) in &others {
        let there = other.view()?;
        for at in nodes_of(&there, NodeKind::Endpoint) {
            let request = there.symbol(at)?.symbol.name.to_string();
            let asked = by_shape.get(&shape(&request)).into_iter().flatten();
            for route in asked.filter(|it| is_same(it, &request)) {
                let callers = callers_of(&there, &target.url, &[at], 1)?;
                found.entry((*route).clone()).or_default().extend(callers);
            }
        }
    }
    for callers in found.values_mut() {
        callers.sort_by(|a, b| (&a.repo, &a.location, &a.symbol).cmp(&(&b.repo, &b.location, &b.symbol)));
        callers.dedup_by(|a, b| (&a.repo, &a.symbol) == (&b.repo, &b.symbol));
    }
    Ok(found)
}

/// The other repositories that are known, as they were indexed last.
fn others(cx: &Cx<'_>, opened: &Opened) -> Result<Vec<(Target, Opened)>> {
    let mut others = Vec::new();
    for target in cx.known()? {
        if target.url == opened.tree.repo {
            continue;
        }
        let Some(other) = open_other(&target)? else { continue };
        others.push((target, other));
    }
    Ok(others)
}

/// What a symbol is called where it is a library's.
#[derive(Default)]
struct Outside {
    /// Whole names that mean it and nothing else.
    exact: Vec<String>,
    /// The start of names that mean something of its package, `external://npm/shop`.
    loose: Option<String>,
    path: String,
    /// Whether another symbol of the package has the same path.
    is_shared: bool,
    /// Routes that it is, or that it serves.
    routes: Vec<String>,
}

fn nodes_of(view: &View<'_>, kind: NodeKind) -> Vec<NodeIndex> {
    let all = (0..).zip(view.graph().nodes());
    all.filter(|(_, it)| it.kind() == kind).map(|(at, _)| NodeIndex(at)).collect()
}

impl Outside {
    fn of(view: &View<'_>, opened: &Opened, at: NodeIndex) -> Result<Outside> {
        let graph = view.graph();
        let mut routes: Vec<NodeIndex> =
            graph.incoming_of(at, EdgeKind::HandlesRoute).iter().map(|it| it.other()).collect();
        routes.push(at);
        let mut found = Outside::named(view, opened, at)?;
        for at in routes {
            if graph.node(at).kind() == NodeKind::RouteHandler {
                found.routes.push(view.symbol(at)?.symbol.name.to_string());
            }
        }
        found.routes.sort();
        found.routes.dedup();
        Ok(found)
    }

    /// Those of its routes that no other repository serves.
    fn routes_of_one(&self, others: &[(Target, Opened)]) -> Result<Vec<String>> {
        let mut own = self.routes.clone();
        for (_, other) in others.iter().filter(|_| !self.routes.is_empty()) {
            let there = other.view()?;
            for at in nodes_of(&there, NodeKind::RouteHandler) {
                let route = there.symbol(at)?.symbol.name.to_string();
                own.retain(|it| !is_same(it, &route) && !is_same(&route, it));
            }
        }
        Ok(own)
    }

    fn named(view: &View<'_>, opened: &Opened, at: NodeIndex) -> Result<Outside> {
        let info = view.info(at)?;
        let symbol = view.symbol(at)?.symbol;
        let (Some(file), Some(language)) = (&info.file, &info.language) else {
            return Ok(Outside::default());
        };
        let path = symbol.path.to_string();
        let exact = |name: String| Outside { exact: vec![name], path: path.clone(), ..Outside::default() };
        let directory = file.rsplit_once('/').map_or("", |it| it.0);
        let namespace = || -> Result<Option<String>> {
            let Some(facts) = view.facts_of(at)? else { return Ok(None) };
            Ok(facts.namespace.map(|it| facts.text(it).replace('\\', ".")))
        };
        match language.as_str() {
            "go" => {
                let Some((root, module)) = package_above(view, opened, file, "go.mod")? else {
                    return Ok(Outside::default());
                };
                let inside = directory.strip_prefix(&root).unwrap_or(directory).trim_start_matches('/');
                // A module that is required is one name with its packages below; of others the whole path is known.
                let names = match inside {
                    "" => vec![format!("external://go/{module}.{path}")],
                    inside => vec![
                        format!("external://go/{module}.{}.{path}", inside.replace('/', ".")),
                        format!("external://go/{module}/{inside}.{path}"),
                    ],
                };
                Ok(Outside { exact: names, path, ..Outside::default() })
            }
            "java" | "kotlin" | "scala" => Ok(namespace()?
                .map_or_else(Outside::default, |it| exact(format!("external://maven/{it}.{path}")))),
            "csharp" => Ok(namespace()?
                .map_or_else(Outside::default, |it| exact(format!("external://nuget/{it}.{path}")))),
            "python" => {
                let inside = file.strip_prefix("src/").or(file.strip_prefix("lib/")).unwrap_or(file);
                let module = inside.trim_end_matches(".py").trim_end_matches("/__init__").replace('/', ".");
                let top = module.split('.').next().unwrap_or_default().to_owned();
                let found = exact(format!("external://pypi/{module}.{path}"));
                found.or_any_of(view, format!("external://pypi/{top}"), at)
            }
            "rust" => {
                let Some((_, name)) = package_above(view, opened, file, "Cargo.toml")? else {
                    return Ok(Outside::default());
                };
                let found = Outside { path, ..Outside::default() };
                found.or_any_of(view, format!("external://cargo/{}", name.replace('-', "_")), at)
            }
            "typescript" | "tsx" | "javascript" | "jsx" => {
                let Some((_, name)) = package_above(view, opened, file, "package.json")? else {
                    return Ok(Outside::default());
                };
                let found = Outside { path, ..Outside::default() };
                found.or_any_of(view, format!("external://npm/{name}"), at)
            }
            _ => Ok(Outside::default()),
        }
    }

    /// Names of the package that end with the path, which are its own when no other symbol there has it.
    fn or_any_of(mut self, view: &View<'_>, package: String, at: NodeIndex) -> Result<Outside> {
        let graph = view.graph();
        let namesakes = view.reader().symbols_ending_with(&self.path, Case::Exact)?;
        let others =
            namesakes.iter().filter(|it| *it.symbol.path == *self.path).filter_map(|it| graph.of_sym(it.sym));
        let is_other = |it: NodeIndex| {
            let record = graph.node(it);
            it != at && !record.is_virtual() && !record.flags().contains(NodeFlags::TEST)
        };
        self.is_shared = others.into_iter().any(is_other);
        self.loose = Some(package);
        Ok(self)
    }

    /// Nodes of another repository that mean the symbol, and how many edges lead to nodes that may.
    fn among(&self, there: &View<'_>) -> Result<(Vec<NodeIndex>, usize)> {
        let graph = there.graph();
        let mut meant: BTreeSet<NodeIndex> = BTreeSet::new();
        for name in &self.exact {
            let rows = there.reader().symbols_by_qname(name)?;
            meant.extend(rows.iter().filter_map(|it| graph.of_sym(it.sym)));
        }
        let mut n_unsure = 0;
        if let Some(package) = &self.loose {
            for row in there.reader().symbols_ending_with(&self.path, Case::Exact)? {
                let name = row.qualified_name();
                let is_of_package =
                    name.strip_prefix(package.as_str()).is_some_and(|it| it.starts_with(['.', '/']));
                let Some(at) = graph.of_sym(row.sym).filter(|it| is_of_package && !meant.contains(it)) else {
                    continue;
                };
                match self.is_shared {
                    true => n_unsure += graph.incoming(at).len(),
                    false => drop(meant.insert(at)),
                }
            }
        }
        Ok((meant.into_iter().collect(), n_unsure))
    }
}

/// The nearest project file above a file: its directory, and the package it declares.
fn package_above(
    view: &View<'_>,
    opened: &Opened,
    file: &str,
    name: &str,
) -> Result<Option<(String, String)>> {
    let mut directory = file;
    loop {
        directory = directory.rsplit_once('/').map_or("", |it| it.0);
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        if let Some(found) = view.reader().file(&path)?.filter(|it| it.skip_reason.is_none())
            && let Some(package) = opened.store.facts(found.row)?.manifest.and_then(|it| it.package)
        {
            return Ok(Some((directory.to_owned(), package)));
        }
        if directory.is_empty() {
            return Ok(None);
        }
    }
}

/// Another repository as it was indexed last; none for one that is not there any more.
fn open_other(target: &Target) -> Result<Option<Opened>> {
    let Some(store) = Store::open_existing(&target.database)? else { return Ok(None) };
    let Some(repo) = store.repo(&target.url)? else { return Ok(None) };
    let Some(snapshot) = store.latest_snapshot(repo.id)?.filter(|it| it.ruleset == RULESET) else {
        return Ok(None);
    };
    let tree = Tree {
        schema: SCHEMA,
        repo: repo.url,
        tree: tree_name(&snapshot),
        snapshot: snapshot.id.to_string(),
        fresh: "yes".to_owned(),
        ..Tree::default()
    };
    Ok(Some(Opened { store, snapshot, tree, prefix: String::new(), work: WorkState::default() }))
}

fn callers_of(
    there: &View<'_>,
    repo: &str,
    meant: &[NodeIndex],
    max_depth: u32,
) -> Result<Vec<RemoteCaller>> {
    use EdgeKind::{Calls, ConsumesEndpoint, Extends, Implements, Overrides, References, TypeHintOf};
    let uses = [Calls, Extends, Implements, Overrides, References, TypeHintOf, ConsumesEndpoint];
    let follow = Follow { incoming: KindSet::of(&uses), outgoing: KindSet::EMPTY };
    // The first step is any use, further ones are calls.
    let first =
        Reach { follow, of_values: KindSet::EMPTY, max_depth: 1, min_confidence_bp: 0, limit: usize::MAX };
    let (users, _) = knowing_graph::reach(there.graph(), meant, &first);
    let calls = Follow { incoming: KindSet::of(&[Calls]), outgoing: KindSet::EMPTY };
    let further = Reach { follow: calls, max_depth: max_depth - 1, ..first };
    let starts: Vec<NodeIndex> = users.iter().map(|it| it.node).collect();
    let (callers, _) = knowing_graph::reach(there.graph(), &starts, &further);
    let seen: BTreeSet<NodeIndex> = meant.iter().copied().collect();
    let confidence_of = |at: NodeIndex| users.iter().find(|it| it.node == at).map_or(1.0, |it| it.confidence);
    let mut found = Vec::new();
    for (it, is_first) in users.iter().map(|it| (it, true)).chain(callers.iter().map(|it| (it, false))) {
        if seen.contains(&it.node) {
            continue;
        }
        // Along a path that began with a use: the use's own confidence counts too.
        let mut root = it;
        while let Some(before) = root.step.before.filter(|_| !is_first) {
            root = &callers[before as usize];
        }
        let confidence = if is_first { it.confidence } else { it.confidence * confidence_of(root.step.from) };
        let info = there.info(it.node)?;
        found.push(RemoteCaller {
            location: info.location(),
            symbol: info.qualified_name,
            repo: repo.to_owned(),
            depth: if is_first { 1 } else { it.depth + 1 },
            kind: it.step.kind.name(),
            confidence: rounded(confidence),
            provenance: it.step.provenance.name(),
        });
    }
    Ok(found)
}
