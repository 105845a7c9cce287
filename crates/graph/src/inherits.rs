//! The `inherits` relation: from a class to every method it may use of its ancestors.
//!
//! It follows from `extends` and `contains` and is several times larger than both, so it is computed when asked and
//! stored nowhere. A method is hidden when a class between it and the asking one (that one included) has a member of the
//! same name. Cycles of `extends` end after one visit.

use std::collections::HashMap;
use std::rc::Rc;

use knowing_model::{EdgeKind, NodeKind};

use crate::image::{Graph, NodeIndex};

/// Methods that one class inherits at most; nearest ancestors first.
pub const MAX_INHERITED: usize = 2_000;

pub struct Inheritance<'a> {
    graph: &'a Graph,
    ancestors: HashMap<NodeIndex, Rc<[NodeIndex]>>,
}

impl<'a> Inheritance<'a> {
    pub fn new(graph: &'a Graph) -> Inheritance<'a> {
        Inheritance { graph, ancestors: HashMap::new() }
    }

    /// The methods a class has from its ancestors, in canonical order.
    pub fn inherited_by(&mut self, class: NodeIndex) -> Vec<NodeIndex> {
        let ancestors = self.ancestors_of(class);
        if ancestors.is_empty() {
            return Vec::new();
        }
        // For each name the classes that have a member of it; a hierarchy rarely has two that do.
        let mut owners_of_name: HashMap<u32, Vec<NodeIndex>> = HashMap::new();
        for &owner in [class].iter().chain(ancestors.iter()) {
            for member in self.members(owner) {
                let owners = owners_of_name.entry(self.name(member)).or_default();
                if owners.last() != Some(&owner) {
                    owners.push(owner);
                }
            }
        }
        let mut found = Vec::new();
        for &owner in ancestors.iter() {
            for member in self.members(owner) {
                if found.len() >= MAX_INHERITED {
                    break;
                }
                if !self.is_method(member) {
                    continue;
                }
                let rivals = &owners_of_name[&self.name(member)];
                if !rivals.iter().any(|&it| it != owner && self.descends(it, owner)) {
                    found.push(member);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The classes that have a method from an ancestor, in canonical order.
    pub fn inheritors_of(&mut self, method: NodeIndex) -> Vec<NodeIndex> {
        if !self.is_method(method) {
            return Vec::new();
        }
        let name = self.name(method);
        let mut found = Vec::new();
        let graph = self.graph;
        for owner in graph.incoming_of(method, EdgeKind::Contains).iter().map(|it| it.other()) {
            for class in self.closure(owner, |at| graph.incoming_of(at, EdgeKind::Extends)) {
                let between = self.ancestors_of(class);
                let hidden = [class]
                    .iter()
                    .chain(between.iter())
                    .any(|&it| it != owner && self.has_member(it, name) && self.descends(it, owner));
                if !hidden {
                    found.push(class);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// All classes above, nearest first.
    fn ancestors_of(&mut self, class: NodeIndex) -> Rc<[NodeIndex]> {
        if let Some(known) = self.ancestors.get(&class) {
            return Rc::clone(known);
        }
        let graph = self.graph;
        let found: Rc<[NodeIndex]> =
            self.closure(class, |at| graph.outgoing_of(at, EdgeKind::Extends)).into();
        self.ancestors.insert(class, Rc::clone(&found));
        found
    }

    fn descends(&mut self, class: NodeIndex, ancestor: NodeIndex) -> bool {
        self.ancestors_of(class).contains(&ancestor)
    }

    /// Everything along some edges but the start, by (distance, canonical order).
    fn closure(
        &self,
        start: NodeIndex,
        edges: impl Fn(NodeIndex) -> &'a [crate::EdgeRecord],
    ) -> Vec<NodeIndex> {
        let mut found: Vec<NodeIndex> = Vec::new();
        let mut level = vec![start];
        let mut seen = std::collections::HashSet::from([start]);
        while !level.is_empty() {
            let mut next: Vec<NodeIndex> = Vec::new();
            for at in level {
                next.extend(edges(at).iter().map(|it| it.other()).filter(|&it| seen.insert(it)));
            }
            next.sort_unstable();
            found.extend(&next);
            level = next;
        }
        found
    }

    fn members(&self, owner: NodeIndex) -> impl Iterator<Item = NodeIndex> + use<'a> {
        self.graph.outgoing_of(owner, EdgeKind::Contains).iter().map(|it| it.other())
    }

    fn has_member(&self, owner: NodeIndex, name: u32) -> bool {
        self.members(owner).any(|it| self.name(it) == name)
    }

    fn name(&self, node: NodeIndex) -> u32 {
        self.graph.node(node).name
    }

    fn is_method(&self, node: NodeIndex) -> bool {
        let kind = self.graph.node(node).kind();
        kind.is_callable() || kind == NodeKind::Property
    }
}
