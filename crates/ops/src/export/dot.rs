//! A picture for Graphviz: the symbols with the most edges, packages as clusters.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use knowing_graph::{KindSet, NodeIndex};
use knowing_model::{EdgeKind, NodeKind, package_of};

use super::{Export, Written, write_error};
use crate::blast_radius::edge_kinds;
use crate::error::Result;
use crate::view::View;

pub(super) fn write(view: &View<'_>, arguments: &Export, output: &mut dyn Write) -> Result<Written> {
    let kinds = if arguments.edge_kinds.is_empty() {
        KindSet::of(&[EdgeKind::Calls, EdgeKind::Extends, EdgeKind::Implements])
    } else {
        edge_kinds(&arguments.edge_kinds)?
    };
    let shown = most_connected(view, kinds, arguments.max_nodes);
    let mut packages: BTreeMap<String, Vec<NodeIndex>> = BTreeMap::new();
    for &at in &shown {
        let symbol = view.symbol(at)?.symbol;
        packages.entry(package_of(symbol.class, &symbol.container).to_owned()).or_default().push(at);
    }
    let mut text =
        String::from("digraph knowing {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (number, (package, members)) in packages.iter().enumerate() {
        text.push_str(&format!("  subgraph cluster_{number} {{\n    label={};\n", quoted(package)));
        for &at in members {
            let symbol = view.symbol(at)?.symbol;
            let label = if symbol.path.is_empty() { &symbol.name } else { &symbol.path };
            text.push_str(&format!("    n{} [label={}];\n", at.0, quoted(label)));
        }
        text.push_str("  }\n");
    }
    let mut n_edges = 0;
    for &at in &shown {
        for edge in view.graph().outgoing(at) {
            if kinds.contains(edge.kind()) && shown.contains(&edge.other()) {
                n_edges += 1;
                let style = style_of(edge.kind());
                text.push_str(&format!("  n{} -> n{}{style};\n", at.0, edge.other().0));
            }
        }
    }
    text.push_str("}\n");
    output.write_all(text.as_bytes()).map_err(write_error)?;
    Ok(Written { nodes: shown.len(), edges: n_edges, unresolved: 0 })
}

/// Symbols of the repository; those with equally many edges in canonical order.
fn most_connected(view: &View<'_>, kinds: KindSet, n: usize) -> BTreeSet<NodeIndex> {
    let graph = view.graph();
    let mut ranked: Vec<(usize, NodeIndex)> = graph
        .indices()
        .filter(|&at| {
            let record = graph.node(at);
            !record.is_virtual() && !matches!(record.kind(), NodeKind::File | NodeKind::Package)
        })
        .map(|at| (view.edges(at, true, true).filter(|it| kinds.contains(it.kind())).count(), at))
        .filter(|(degree, _)| *degree > 0)
        .collect();
    ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().take(n).map(|(_, at)| at).collect()
}

fn style_of(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Extends => " [arrowhead=empty]",
        EdgeKind::Implements | EdgeKind::Overrides => " [arrowhead=empty, style=dashed]",
        EdgeKind::Calls => "",
        _ => " [style=dotted]",
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
