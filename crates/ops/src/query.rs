//! Find symbols by name, pattern or place, and the edges around them.

use knowing_graph::{KindSet, NodeIndex};
use knowing_model::{ContainerClass, NodeKind, Symbol, package_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Link, SymbolInfo, Tree};
use crate::blast_radius::edge_kinds;
use crate::context::DetailChoice;
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::nearest::{fits_pattern, nearest};
use crate::page::{Page, Pages, paged};
use crate::view::{View, place_of};

/// Find symbols, and the edges around them
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing query render_template
  knowing query 'get_*' --kinds function,method --package src/flask
  knowing query src/flask/app.py:120 --edges both
  knowing query '*' --file src/flask/app.py --kinds class
  knowing query Flask --edges in --edge-kinds extends")]
pub struct Query {
    /// A name, the end of a name, a prefix `x*`, a glob, a node id or `path:line`
    pub query: String,
    /// Only symbols of these kinds
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub kinds: Vec<String>,
    /// Only symbols of this package (a directory), or of those below it
    #[arg(long)]
    #[serde(default)]
    pub package: Option<String>,
    /// Only symbols of this file, or of files that fit this glob
    #[arg(long)]
    #[serde(default)]
    pub file: Option<String>,
    /// Only symbols of this language
    #[arg(long)]
    #[serde(default)]
    pub language: Option<String>,
    /// Show edges too
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub edges: Direction,
    /// Only edges of these kinds
    #[arg(long, value_delimiter = ',', value_name = "KIND,...")]
    #[serde(default)]
    pub edge_kinds: Vec<String>,
    /// What to say of each symbol: where it is, how it is declared, its text
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub detail: DetailChoice,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    #[default]
    None,
    /// Edges that lead to the symbols.
    In,
    /// Edges that start from them.
    Out,
    Both,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueryReply {
    #[serde(flatten)]
    pub tree: Tree,
    pub symbols: Vec<FoundSymbol>,
    /// Symbols that match.
    pub total: usize,
    pub edges: Vec<Link>,
    /// Edges of all symbols that match.
    pub total_edges: usize,
    #[serde(flatten)]
    pub page: Page,
}

paged!(QueryReply: symbols, edges);

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FoundSymbol {
    #[serde(flatten)]
    pub symbol: SymbolInfo,
    /// Its text, when that was asked for and can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &Query) -> Result<QueryReply> {
    let edge_kinds = edge_kinds(&arguments.edge_kinds)?;
    let kinds = node_kinds(&arguments.kinds)?;
    let mut pages = cx.pages("graph_query", arguments, 100)?;
    let opened = cx.open_page(&mut pages)?;
    let view = opened.view()?;
    let mut found = candidates(&view, &arguments.query)?;
    let n_found = found.len();
    found.retain(|it| kinds.is_empty() || kinds.contains(&it.symbol.kind));
    let mut passing = Vec::new();
    for it in found {
        if passes(&view, &it, arguments)? {
            passing.push(it);
        }
    }
    if passing.is_empty() && n_found > 0 {
        let query = &arguments.query;
        return Err(Error::new(
            ErrorKind::NotFound,
            format!(
                "of the symbols that match `{query}` ({n_found}) none is of that kind, package, file or language"
            ),
            format!("see them with `knowing query '{query}'`"),
        ));
    }
    if passing.is_empty() {
        return Err(view.not_found(&arguments.query)?);
    }
    passing.sort_by_cached_key(|it| (it.symbol.qualified_name(), it.symbol.kind.name(), it.symbol.id));
    let mut symbols = Vec::new();
    for it in &passing[pages.range(passing.len())] {
        symbols.push(detailed(&view, it.at, arguments.detail)?);
    }
    let (edges, total_edges) = edges_around(&view, &passing, arguments, edge_kinds, &mut pages)?;
    let mut reply = QueryReply {
        tree: view.tree().clone(),
        symbols,
        total: passing.len(),
        edges,
        total_edges,
        page: Page::default(),
    };
    pages.finish(&mut reply)?;
    Ok(reply)
}

fn detailed(view: &View<'_>, at: NodeIndex, detail: DetailChoice) -> Result<FoundSymbol> {
    let mut symbol = view.info(at)?;
    if detail == DetailChoice::Brief {
        symbol.signature.clear();
    }
    let source = match detail {
        DetailChoice::Source => view.source(&symbol)?,
        DetailChoice::Brief | DetailChoice::Signature => None,
    };
    Ok(FoundSymbol { symbol, source })
}

struct Found {
    at: NodeIndex,
    symbol: Symbol,
}

/// What the text alone means. A pattern without `.`, `/` or `:` is one of names, else one of whole paths.
fn candidates(view: &View<'_>, query: &str) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    if !query.contains(['*', '?']) {
        for at in view.matches(query)? {
            found.push(Found { at, symbol: view.symbol(at)?.symbol });
        }
        return Ok(found);
    }
    let of_names = !query.contains(['.', '/', ':']);
    view.each_symbol(|at, row| {
        let fits = if of_names {
            fits_pattern(&row.symbol.name, query)
        } else {
            let name = row.qualified_name();
            let path = name.split_once("://").map_or("", |(_, path)| path);
            fits_pattern(path, query) || fits_pattern(&name, query)
        };
        if fits {
            found.push(Found { at, symbol: row.symbol.clone() });
        }
    })?;
    Ok(found)
}

fn passes(view: &View<'_>, found: &Found, arguments: &Query) -> Result<bool> {
    let Query { package, file, language, .. } = arguments;
    if package.is_none() && file.is_none() && language.is_none() {
        return Ok(true);
    }
    // Most names begin with their file, which saves reading the rest of what is known of each.
    let (place, info) = match (found.symbol.class, language) {
        (ContainerClass::File, None) => (Some(found.symbol.container.to_string()), None),
        _ => {
            let info = view.info(found.at)?;
            (info.file.clone(), Some(info))
        }
    };
    let in_package = package.as_deref().is_none_or(|wanted| {
        let wanted = wanted.trim_end_matches('/');
        let package = place.as_deref().map_or("_virtual", |it| package_of(ContainerClass::File, it));
        package == wanted || package.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
    });
    let in_file =
        file.as_deref().is_none_or(|wanted| place.as_deref().is_some_and(|it| fits_pattern(it, wanted)));
    let language_of = info.as_ref().and_then(|it| it.language.as_deref());
    let in_language = language.as_deref().is_none_or(|wanted| language_of == Some(wanted));
    Ok(in_package && in_file && in_language)
}

fn edges_around(
    view: &View<'_>,
    symbols: &[Found],
    arguments: &Query,
    kinds: KindSet,
    pages: &mut Pages,
) -> Result<(Vec<Link>, usize)> {
    let (outgoing, incoming) = match arguments.edges {
        Direction::None => (false, false),
        Direction::In => (false, true),
        Direction::Out => (true, false),
        Direction::Both => (true, true),
    };
    // An edge between two of the symbols is met from both ends, and listed once.
    let mut seen = std::collections::HashSet::new();
    let mut links = Vec::new();
    for &Found { at, .. } in symbols {
        let from_here = view.edges(at, outgoing, false).map(|it| (at, it.other(), it));
        let to_here = view.edges(at, false, incoming).map(|it| (it.other(), at, it));
        for (source, target, edge) in from_here.chain(to_here) {
            if kinds.contains(edge.kind()) && seen.insert((source, edge.kind(), target)) {
                links.push((source, target, edge));
            }
        }
    }
    if links.is_empty() {
        pages.range(0);
        return Ok((Vec::new(), 0));
    }
    let names = view.names()?;
    links.sort_by_cached_key(|(source, target, edge)| (place_of(names, *source), edge.kind(), *target));
    let listed = &links[pages.range(links.len())];
    let listed = listed.iter().map(|(source, target, edge)| view.link(*source, *target, edge));
    Ok((listed.collect::<Result<_>>()?, links.len()))
}

fn node_kinds(names: &[String]) -> Result<Vec<NodeKind>> {
    names
        .iter()
        .map(|name| {
            NodeKind::from_name(name.trim()).ok_or_else(|| {
                let known = || NodeKind::ALL.iter().map(|it| it.name());
                let near = nearest(name, known(), 3).join("`, `");
                let message = format!("no kind of symbol is called `{name}`");
                let hint = match near.as_str() {
                    "" => format!("kinds are {}", known().collect::<Vec<_>>().join(", ")),
                    near => format!("did you mean `{near}`?"),
                };
                Error::new(ErrorKind::Usage, message, hint)
            })
        })
        .collect()
}
