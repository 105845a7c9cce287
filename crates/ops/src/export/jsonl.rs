//! One JSON object a line: nodes, edges, unresolved sites, each in canonical order.
//!
//! Names and ids repeat in every line, so that they are escaped once and copied. Kept in memory is what an order needs,
//! a few words a row; django's 700,000 lines take about a second.

use std::collections::HashMap;
use std::io::Write;

use knowing_graph::{EdgeRecord, Graph, Inheritance, KindSet, NodeIndex};
use knowing_model::{EdgeKind, Position, Provenance, Reason};
use serde_json::json;

use super::{Export, Written, write_error};
use crate::answer::{confidence, flag_names};
use crate::blast_radius::edge_kinds;
use crate::error::Result;
use crate::view::View;

pub(super) fn write(view: &View<'_>, arguments: &Export, output: &mut dyn Write) -> Result<Written> {
    let kinds = edge_kinds(&arguments.edge_kinds)?;
    let names = Names::read(view)?;
    let files = Files::read(view)?;
    let nodes = write_nodes(view, &names, &files, output)?;
    let edges = write_edges(view, &names, &files, kinds, output)?;
    let unresolved = write_unresolved(view, &names, &files, output)?;
    Ok(Written { nodes, edges, unresolved })
}

/// What lines say of a node, ready to be copied: JSON strings with their quotes.
struct Names {
    qualified: Vec<String>,
    short: Vec<String>,
    ids: Vec<String>,
}

impl Names {
    fn read(view: &View<'_>) -> Result<Names> {
        let graph = view.graph();
        let mut qualified = vec![String::new(); graph.n_nodes()];
        let mut short = vec![String::new(); graph.n_nodes()];
        view.reader().each_symbol(|row| {
            if let Some(at) = graph.of_sym(row.sym) {
                qualified[at.0 as usize] = quoted(&row.qualified_name());
                short[at.0 as usize] = quoted(&row.symbol.name);
            }
        })?;
        let ids = graph.nodes().iter().map(|it| format!("\"{}\"", it.id())).collect();
        Ok(Names { qualified, short, ids })
    }
}

/// Paths and languages of files, by row.
struct Files {
    by_row: HashMap<i64, (String, String)>,
}

impl Files {
    fn read(view: &View<'_>) -> Result<Files> {
        let row = |it: knowing_store::FileRow| (it.row, (quoted(&it.path), quoted(&it.language)));
        Ok(Files { by_row: view.files()?.into_iter().map(row).collect() })
    }

    fn path(&self, row: i64) -> Option<&str> {
        self.by_row.get(&row).map(|it| it.0.as_str())
    }

    fn language(&self, row: i64) -> Option<&str> {
        self.by_row.get(&row).map(|it| it.1.as_str()).filter(|it| *it != "\"\"")
    }
}

fn quoted(text: &str) -> String {
    json!(text).to_string()
}

fn write_nodes(view: &View<'_>, names: &Names, files: &Files, output: &mut dyn Write) -> Result<usize> {
    let graph = view.graph();
    let mut places: Vec<Option<(i64, u32, u32)>> = vec![None; graph.n_nodes()];
    view.reader().each_node_place(|place| {
        if let Some(at) = graph.of_sym(place.sym)
            && graph.node(at).node_row == place.node_row
        {
            places[at.0 as usize] = Some((place.file_row, place.first_line, place.last_line));
        }
    })?;
    for at in graph.indices() {
        let index = at.0 as usize;
        let record = graph.node(at);
        let mut line = format!(
            r#"{{"type":"node","id":{},"qualified_name":{},"name":{},"kind":"{}""#,
            names.ids[index],
            names.qualified[index],
            names.short[index],
            record.kind().name(),
        );
        if let Some((file_row, first_line, last_line)) = places[index]
            && let Some(path) = files.path(file_row)
        {
            line.push_str(&format!(r#","file":{path},"line":{first_line},"end_line":{last_line}"#));
            if let Some(language) = files.language(file_row) {
                line.push_str(&format!(r#","language":{language}"#));
            }
        }
        let flags = json!(flag_names(record.flags()));
        line.push_str(&format!(",\"flags\":{flags}}}\n"));
        output.write_all(line.as_bytes()).map_err(write_error)?;
    }
    Ok(graph.n_nodes())
}

/// Edges by (source, kind, target), `inherits` among them.
fn write_edges(
    view: &View<'_>,
    names: &Names,
    files: &Files,
    kinds: KindSet,
    output: &mut dyn Write,
) -> Result<usize> {
    let graph = view.graph();
    let mut sites: Vec<(u32, i64, u32)> = Vec::with_capacity(graph.n_edges());
    view.reader().each_edge_place(|site| {
        let line = site.first.map_or(0, |it: Position| it.line);
        sites.push((site.edge_row, site.file_row, line));
    })?;
    sites.sort_unstable();
    let mut inheritance = Inheritance::new(graph);
    let mut writer = EdgeWriter { names, files, sites: &sites, buffer: Vec::new(), n_written: 0 };
    for source in graph.indices() {
        let (before, after) = split_at_inherits(graph, source);
        for edge in before.iter().filter(|it| kinds.contains(it.kind())) {
            writer.stored(source, edge);
        }
        if kinds.contains(EdgeKind::Inherits) {
            for target in inheritance.inherited_by(source) {
                writer.inherited(source, target);
            }
        }
        for edge in after.iter().filter(|it| kinds.contains(it.kind())) {
            writer.stored(source, edge);
        }
        output.write_all(&writer.buffer).map_err(write_error)?;
        writer.buffer.clear();
    }
    Ok(writer.n_written)
}

fn split_at_inherits(graph: &Graph, source: NodeIndex) -> (&[EdgeRecord], &[EdgeRecord]) {
    let edges = graph.outgoing(source);
    edges.split_at(edges.partition_point(|it| it.kind() < EdgeKind::Inherits))
}

struct EdgeWriter<'a> {
    names: &'a Names,
    files: &'a Files,
    /// Row of the edge, row of the file, line of the first site; by the first.
    sites: &'a [(u32, i64, u32)],
    buffer: Vec<u8>,
    n_written: usize,
}

impl EdgeWriter<'_> {
    fn stored(&mut self, source: NodeIndex, edge: &EdgeRecord) {
        self.begin(source, edge.other(), edge.kind(), edge.provenance(), edge.confidence_bp);
        let found = self.sites.binary_search_by_key(&edge.edge_row, |it| it.0);
        if let Ok(found) = found
            && let (_, file_row, line) = self.sites[found]
            && let Some(path) = self.files.path(file_row)
        {
            self.put(&[",\"file\":", path]);
            if line > 0 {
                self.put(&[",\"line\":", &line.to_string()]);
            }
        }
        self.put(&["}\n"]);
    }

    fn inherited(&mut self, source: NodeIndex, target: NodeIndex) {
        let provenance = Provenance::Inheritance;
        self.begin(source, target, EdgeKind::Inherits, provenance, provenance.usual_confidence());
        self.put(&["}\n"]);
    }

    fn begin(
        &mut self,
        source: NodeIndex,
        target: NodeIndex,
        kind: EdgeKind,
        provenance: Provenance,
        confidence_bp: u16,
    ) {
        let names = self.names;
        let (from, to) = (source.0 as usize, target.0 as usize);
        self.n_written += 1;
        self.put(&[
            r#"{"type":"edge","source":"#,
            &names.qualified[from],
            r#","target":"#,
            &names.qualified[to],
            r#","source_id":"#,
            &names.ids[from],
            r#","target_id":"#,
            &names.ids[to],
            r#","kind":""#,
            kind.name(),
            r#"","provenance":""#,
            provenance.name(),
            r#"","confidence":"#,
            &json!(confidence(confidence_bp)).to_string(),
        ]);
    }

    fn put(&mut self, parts: &[&str]) {
        for part in parts {
            self.buffer.extend_from_slice(part.as_bytes());
        }
    }
}

/// What the order of sites needs, and no more.
struct Site {
    file_row: i64,
    position: Position,
    source: Option<NodeIndex>,
    name: Box<str>,
    reason: Reason,
}

fn write_unresolved(view: &View<'_>, names: &Names, files: &Files, output: &mut dyn Write) -> Result<usize> {
    let graph = view.graph();
    let mut sites = Vec::new();
    view.reader().each_unresolved(|site| {
        sites.push(Site {
            file_row: site.file_row,
            position: site.position,
            source: graph.of_sym(site.source),
            name: site.name.into(),
            reason: site.reason,
        });
    })?;
    sites.sort_by(|a, b| {
        let key = |it: &Site| (it.position, it.source, it.reason);
        let by_file = files.path(a.file_row).cmp(&files.path(b.file_row));
        by_file.then_with(|| key(a).cmp(&key(b))).then_with(|| a.name.cmp(&b.name))
    });
    for site in &sites {
        let mut line = String::from(r#"{"type":"unresolved""#);
        if let Some(source) = site.source {
            line.push_str(&format!(r#","source":{}"#, names.qualified[source.0 as usize]));
        }
        line.push_str(&format!(r#","name":{},"reason":"{}""#, quoted(&site.name), site.reason.name()));
        if let Some(path) = files.path(site.file_row) {
            line.push_str(&format!(r#","file":{path},"line":{}"#, site.position.line));
        }
        line.push_str("}\n");
        output.write_all(line.as_bytes()).map_err(write_error)?;
    }
    Ok(sites.len())
}
