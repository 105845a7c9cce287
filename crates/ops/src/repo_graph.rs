//! The repository from above: its packages, files or symbols, and how many edges join them.

use std::collections::{BTreeMap, BTreeSet};

use knowing_graph::{KindSet, NodeIndex};
use knowing_model::{EdgeKind, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Tree;
use crate::blast_radius::edge_kinds;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::nearest::nearest;
use crate::page::{Page, paged};
use crate::view::View;

/// Packages, files or symbols of the repository, and how many edges join them
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing repo-graph                              packages and the calls between them
  knowing repo-graph --level files --package src/app
  knowing repo-graph --edge-kinds imports --json

Without `--edge-kinds` it counts calls, imports, extends, implements and references. With `--package` it lists what is in \
that package and below, and the links that begin or end there.")]
pub struct RepoGraph {
    /// What to list
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub level: Level,
    /// Only this package (a directory), and those below it
    #[arg(long)]
    #[serde(default)]
    pub package: Option<String>,
    /// Count these kinds of edges only
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    #[default]
    Packages,
    Files,
    Symbols,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RepoGraphReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub items: Vec<RepoItem>,
    pub total: usize,
    /// Most edges first.
    pub links: Vec<RepoLink>,
    pub total_links: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(RepoGraphReply: items, links);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RepoItem {
    /// A directory, a path, or a symbol's name; the directory at the top is `.`.
    pub name: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub files: usize,
    /// Symbols in it, files and packages not counted.
    pub symbols: usize,
    /// Edges that come from other items, and that lead to them.
    pub inbound: usize,
    pub outbound: usize,
    /// Edges that lead out of the repository.
    pub external: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RepoLink {
    pub source: String,
    pub target: String,
    pub kind: &'static str,
    pub count: usize,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &RepoGraph) -> Result<RepoGraphReply> {
    let kinds = match arguments.edge_kinds.is_empty() {
        true => usual_kinds(),
        false => edge_kinds(&arguments.edge_kinds)?,
    };
    let mut pages = cx.pages("repo_graph", arguments, 200)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let wanted = arguments.package.as_deref().map(|it| it.trim_matches('/').trim_start_matches("./"));
    let found = Found::of(&view, arguments.level, wanted, kinds)?;
    if found.items.is_empty()
        && let Some(wanted) = wanted
    {
        return Err(no_package(&view, wanted)?);
    }
    let items: Vec<RepoItem> = found.items.into_values().collect();
    let mut links: Vec<RepoLink> = found
        .links
        .into_iter()
        .map(|((source, target, kind), count)| RepoLink { source, target, kind: kind.name(), count })
        .collect();
    links.sort_by(|a, b| {
        b.count
            .cmp(&a.count)
            .then_with(|| (&a.source, &a.target, a.kind).cmp(&(&b.source, &b.target, b.kind)))
    });
    let mut reply = RepoGraphReply {
        tree: view.tree().clone(),
        total: items.len(),
        items: pages.of(items),
        total_links: links.len(),
        links: pages.of(links),
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn usual_kinds() -> KindSet {
    use EdgeKind::{Calls, Extends, Implements, Imports, References};
    KindSet::of(&[Calls, Imports, Extends, Implements, References])
}

#[derive(Default)]
struct Found {
    items: BTreeMap<String, RepoItem>,
    links: BTreeMap<(String, String, EdgeKind), usize>,
}

impl Found {
    fn of(view: &View<'_>, level: Level, wanted: Option<&str>, kinds: KindSet) -> Result<Found> {
        let (graph, names) = (view.graph(), view.names()?);
        // What a node is part of, and whether that is asked for.
        let item_of = |at: NodeIndex| -> Option<(String, bool)> {
            let path = names.path(names.file(at.0)?);
            let package = path.rsplit_once('/').map_or(".", |it| it.0);
            let is_wanted = wanted.is_none_or(|it| {
                package == it || package.strip_prefix(it).is_some_and(|rest| rest.starts_with('/'))
            });
            let name = match level {
                Level::Packages => package.to_owned(),
                Level::Files => path.to_owned(),
                Level::Symbols if names.symbol(at.0).is_empty() => path.to_owned(),
                Level::Symbols => format!("{path}.{}", names.symbol(at.0)),
            };
            Some((name, is_wanted))
        };
        let mut found = Found::default();
        let mut files: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let items: Vec<Option<(String, bool)>> = graph.indices().map(item_of).collect();
        for at in graph.indices() {
            let Some((name, true)) = &items[at.0 as usize] else { continue };
            let item = found.items.entry(name.clone()).or_insert_with(|| RepoItem::new(name));
            item.symbols += usize::from(!matches!(graph.node(at).kind(), NodeKind::File | NodeKind::Package));
            if let (Level::Packages, Some(file)) = (level, names.file(at.0)) {
                files.entry(name.clone()).or_default().insert(file.0);
            }
        }
        for (name, files) in files {
            if let Some(item) = found.items.get_mut(&name) {
                item.files = files.len();
            }
        }
        for at in graph.indices() {
            let Some((source, is_from)) = &items[at.0 as usize] else { continue };
            for edge in graph.outgoing(at).iter().filter(|it| kinds.contains(it.kind())) {
                match &items[edge.other().0 as usize] {
                    Some((target, is_to)) if (*is_from || *is_to) && source != target => {
                        *found.links.entry((source.clone(), target.clone(), edge.kind())).or_default() += 1;
                        found.count(source, |it| it.outbound += 1);
                        found.count(target, |it| it.inbound += 1);
                    }
                    Some(_) => {}
                    None => found.count(source, |it| it.external += 1),
                }
            }
        }
        Ok(found)
    }

    fn count(&mut self, name: &str, count: impl FnOnce(&mut RepoItem)) {
        if let Some(item) = self.items.get_mut(name) {
            count(item);
        }
    }
}

impl RepoItem {
    fn new(name: &str) -> RepoItem {
        RepoItem { name: name.to_owned(), files: 0, symbols: 0, inbound: 0, outbound: 0, external: 0 }
    }
}

fn no_package(view: &View<'_>, wanted: &str) -> Result<Error> {
    let mut packages: Vec<String> = view
        .files()?
        .into_iter()
        .map(|it| it.path.rsplit_once('/').map_or(".", |it| it.0).to_owned())
        .collect();
    packages.dedup();
    let near = nearest(wanted, packages.iter().map(String::as_str), 3);
    let hint = match near.first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list them with `knowing repo-graph`".to_owned(),
    };
    Ok(Error::new(ErrorKind::NotFound, format!("no package is called `{wanted}`"), hint))
}
