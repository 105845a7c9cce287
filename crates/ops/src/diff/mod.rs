//! What differs between two snapshots: by rows that only one of them has, never by reading both.
//!
//! ```text
//! units of one alone ─> rows ─┬─ edges by (source, target, kind): added, removed, changed
//!                             └─ symbols: in one graph alone? ─> added, removed ─> moved, by what they say
//!                                         in both?            ─> modified, by signature, documentation, own lines
//! ```

mod bodies;
mod class;
mod edges;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use knowing_graph::NodeIndex;
use knowing_model::identity::{Identity, node_id};
use knowing_model::{ContainerClass, Hash, NodeKind, package_of};
use knowing_store::{OwnEdge, OwnNode, OwnRows};

pub(crate) use class::ChangeClass;
pub(crate) use edges::EdgeChanges;

use crate::diff::bodies::Bodies;
use crate::error::Result;
use crate::place::Place;
use crate::view::View;

/// What differs, all of it. Nodes are places in the graph of the snapshot they are in.
#[derive(Default)]
pub(crate) struct Difference {
    pub(crate) added: Vec<NodeIndex>,
    pub(crate) removed: Vec<NodeIndex>,
    pub(crate) modified: Vec<Modified>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) edges_added: Vec<OwnEdge>,
    pub(crate) edges_removed: Vec<OwnEdge>,
    /// Before and after.
    pub(crate) edges_changed: Vec<(OwnEdge, OwnEdge)>,
    pub(crate) packages: Packages,
    pub(crate) class: ChangeClass,
    /// False when a version's text could not be read, so that bodies were compared by their length alone.
    pub(crate) has_bodies: bool,
}

#[derive(Default)]
pub(crate) struct Packages {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) changed: Vec<String>,
}

/// The same symbol, saying something else.
#[derive(Clone, Copy)]
pub(crate) struct Modified {
    pub(crate) old: NodeIndex,
    pub(crate) new: NodeIndex,
    pub(crate) signature: bool,
    pub(crate) doc: bool,
    pub(crate) body: bool,
}

impl Modified {
    pub(crate) fn parts(&self) -> Vec<&'static str> {
        let parts = [(self.signature, "signature"), (self.doc, "doc"), (self.body, "body")];
        parts.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }
}

/// Gone in one place and there in another.
#[derive(Clone, Copy)]
pub(crate) struct Moved {
    pub(crate) old: NodeIndex,
    pub(crate) new: NodeIndex,
    pub(crate) similarity: f64,
}

/// Two snapshots of one repository to compare.
pub(crate) struct Compared<'a> {
    pub(crate) old: &'a View<'a>,
    pub(crate) new: &'a View<'a>,
    /// Where the text of files can be read.
    pub(crate) place: Option<&'a Place>,
    /// Only what lies in these or below; all when there are none.
    pub(crate) packages: &'a [String],
}

impl Compared<'_> {
    pub(crate) fn difference(
        &self,
        roots_old: &[(String, Hash)],
        roots_new: &[(String, Hash)],
    ) -> Result<Difference> {
        let only_old = self.old.reader().rows_besides(self.new.reader())?;
        let only_new = self.new.reader().rows_besides(self.old.reader())?;
        let mut found = Difference::default();
        self.compare_edges(&only_old.edges, &only_new.edges, &mut found)?;

        // A symbol can come or go only with a row that speaks of it.
        let ends = |edges: &[OwnEdge]| edges.iter().flat_map(|it| [it.source, it.target]).collect::<Vec<_>>();
        let nodes = |rows: &OwnRows| rows.nodes.iter().map(|it| it.sym).collect::<Vec<_>>();
        let mut symbols =
            [nodes(&only_old), nodes(&only_new), ends(&only_old.edges), ends(&only_new.edges)].concat();
        symbols.sort_unstable();
        symbols.dedup();
        let old_bodies = Bodies::of(self.old, self.place, &only_old)?;
        let new_bodies = Bodies::of(self.new, self.place, &only_new)?;
        found.has_bodies = old_bodies.is_whole && new_bodies.is_whole;
        let versions = |rows: &OwnRows| -> HashMap<u32, OwnNode> {
            rows.nodes.iter().map(|it| (it.node_row, it.clone())).collect()
        };
        let (old_versions, new_versions) = (versions(&only_old), versions(&only_new));
        for sym in symbols {
            match (self.old.graph().of_sym(sym), self.new.graph().of_sym(sym)) {
                (Some(old), None) if self.is_wanted(self.old, old)? => found.removed.push(old),
                (None, Some(new)) if self.is_wanted(self.new, new)? => found.added.push(new),
                (Some(old), Some(new)) if self.is_wanted(self.new, new)? => {
                    let rows = (self.old.graph().node(old).node_row, self.new.graph().node(new).node_row);
                    // A version that both have says the same in both.
                    if let (Some(before), Some(after)) =
                        (old_versions.get(&rows.0), new_versions.get(&rows.1))
                    {
                        let bodies = (old_bodies.own(sym), new_bodies.own(sym));
                        found.modified.extend(modified((old, before), (new, after), bodies));
                    }
                }
                _ => {}
            }
        }
        found.packages = self.packages_between(&found, roots_old, roots_new)?;
        self.find_moves((&old_bodies, &new_bodies), &mut found)?;
        found.class = class::class_of(self, &found)?;
        Ok(found)
    }

    fn packages_between(
        &self,
        found: &Difference,
        old: &[(String, Hash)],
        new: &[(String, Hash)],
    ) -> Result<Packages> {
        let old: BTreeMap<&str, Hash> = old.iter().map(|it| (it.0.as_str(), it.1)).collect();
        let new: BTreeMap<&str, Hash> = new.iter().map(|it| (it.0.as_str(), it.1)).collect();
        let mut packages = Packages::default();
        let with_edges = old.keys().chain(new.keys()).map(|it| (*it).to_owned());
        let mut names: BTreeSet<String> = with_edges.collect();
        // A package may have files and no edge.
        for (view, nodes) in [(self.old, &found.removed), (self.new, &found.added)] {
            for &at in nodes.iter().filter(|it| view.graph().node(**it).kind() == NodeKind::Package) {
                let symbol = view.symbol(at)?.symbol;
                names.insert(package_of(symbol.class, &symbol.container).to_owned());
            }
        }
        for name in names {
            let roots = (old.get(name.as_str()), new.get(name.as_str()));
            let is_there = (
                roots.0.is_some() || has_package(self.old, &name),
                roots.1.is_some() || has_package(self.new, &name),
            );
            let list = match is_there {
                _ if !self.is_in_wanted(&name) => continue,
                (false, _) => &mut packages.added,
                (_, false) => &mut packages.removed,
                _ if roots.0 != roots.1 => &mut packages.changed,
                _ => continue,
            };
            list.push(name);
        }
        Ok(packages)
    }

    fn compare_edges(&self, old: &[OwnEdge], new: &[OwnEdge], found: &mut Difference) -> Result<()> {
        let EdgeChanges { added, removed, changed } = EdgeChanges::between(old, new);
        for edge in added {
            if self.is_wanted_edge(self.new, &edge)? {
                found.edges_added.push(edge);
            }
        }
        for (before, after) in changed {
            if self.is_wanted_edge(self.new, &after)? {
                found.edges_changed.push((before, after));
            }
        }
        for edge in removed {
            if self.is_wanted_edge(self.old, &edge)? {
                found.edges_removed.push(edge);
            }
        }
        Ok(())
    }

    /// Pairs of what is gone and what is new: of one kind and path, in another container, saying nearly the same.
    fn find_moves(&self, bodies: (&Bodies, &Bodies), found: &mut Difference) -> Result<()> {
        let mut gone: BTreeMap<(NodeKind, String), Vec<NodeIndex>> = BTreeMap::new();
        for &at in &found.removed {
            let symbol = self.old.symbol(at)?.symbol;
            if !symbol.is_virtual() && symbol.kind != NodeKind::Package {
                gone.entry((symbol.kind, symbol.path.to_string())).or_default().push(at);
            }
        }
        for &at in &found.added {
            let symbol = self.new.symbol(at)?.symbol;
            let Some(candidates) = gone.get_mut(&(symbol.kind, symbol.path.to_string())) else { continue };
            let sym = self.new.graph().node(at).sym;
            let similarity = |it: &NodeIndex| {
                bodies::similarity(bodies.0.whole(self.old.graph().node(*it).sym), bodies.1.whole(sym))
            };
            // Of many files only the first few are looked at: a quadratic search for moves helps nobody.
            let best = candidates
                .iter()
                .take(MAX_CANDIDATES)
                .map(|it| (similarity(it), *it))
                .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
            if let Some((similarity, old)) = best.filter(|it| it.0 >= MIN_SIMILARITY) {
                candidates.retain(|it| *it != old);
                found.moved.push(Moved { old, new: at, similarity });
            }
        }
        let moved_from: BTreeSet<NodeIndex> = found.moved.iter().map(|it| it.old).collect();
        let moved_to: BTreeSet<NodeIndex> = found.moved.iter().map(|it| it.new).collect();
        found.removed.retain(|it| !moved_from.contains(it));
        found.added.retain(|it| !moved_to.contains(it));
        Ok(())
    }

    fn is_wanted(&self, view: &View<'_>, at: NodeIndex) -> Result<bool> {
        if self.packages.is_empty() {
            return Ok(true);
        }
        let symbol = view.symbol(at)?.symbol;
        Ok(self.is_in_wanted(package_of(symbol.class, &symbol.container)))
    }

    /// An edge lies in the package of its source.
    fn is_wanted_edge(&self, view: &View<'_>, edge: &OwnEdge) -> Result<bool> {
        match view.graph().of_sym(edge.source) {
            Some(source) => self.is_wanted(view, source),
            None => Ok(self.packages.is_empty()),
        }
    }

    fn is_in_wanted(&self, package: &str) -> bool {
        let is_below = |it: &String| {
            let wanted = it.trim_end_matches('/');
            package == wanted || package.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
        };
        self.packages.is_empty() || self.packages.iter().any(is_below)
    }
}

fn has_package(view: &View<'_>, name: &str) -> bool {
    let container = if name == "." { "" } else { name };
    let repo = view.reader().url();
    let id = Identity { repo, class: ContainerClass::Dir, container, symbol: "", kind: NodeKind::Package };
    view.graph().find(node_id(id)).is_some()
}

/// How alike two bodies must be to be one that was moved.
const MIN_SIMILARITY: f64 = 0.8;
const MAX_CANDIDATES: usize = 200;

fn modified(
    (old, before): (NodeIndex, &OwnNode),
    (new, after): (NodeIndex, &OwnNode),
    bodies: (Option<u64>, Option<u64>),
) -> Option<Modified> {
    let n_lines = |it: &OwnNode| it.span.last_line.saturating_sub(it.span.first_line);
    let modified = Modified {
        old,
        new,
        signature: before.signature != after.signature,
        doc: before.doc != after.doc,
        body: before.file_row != after.file_row
            && match bodies {
                (Some(before), Some(after)) => before != after,
                _ => n_lines(before) != n_lines(after),
            },
    };
    Some(modified).filter(|it| it.signature || it.doc || it.body)
}
