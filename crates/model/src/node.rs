//! Nodes: what is known of a symbol (its identity) and of one version of it (where it stands, what it says).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::NodeId;
use crate::identity::{Identity, node_id, node_ids};
use crate::name::{ContainerClass, qualified_name};
use crate::node_kind::NodeKind;
use crate::span::Span;

/// The identity of a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    pub id: NodeId,
    /// The part before `://`.
    pub repo: Arc<str>,
    pub class: ContainerClass,
    pub container: Arc<str>,
    /// Symbol path: owners and name joined with `.`; empty for files and packages.
    pub path: Arc<str>,
    pub kind: NodeKind,
    /// Last segment, without what tells overloads apart.
    pub name: Arc<str>,
}

impl Symbol {
    pub fn new(
        repo: Arc<str>,
        class: ContainerClass,
        container: Arc<str>,
        path: Arc<str>,
        kind: NodeKind,
        name: Arc<str>,
    ) -> Symbol {
        let mut symbol = Symbol::unidentified(repo, class, container, path, kind, name);
        symbol.id = node_id(symbol.identity());
        symbol
    }

    /// Without its id, which `identify` gives.
    pub fn unidentified(
        repo: Arc<str>,
        class: ContainerClass,
        container: Arc<str>,
        path: Arc<str>,
        kind: NodeKind,
        name: Arc<str>,
    ) -> Symbol {
        Symbol { id: NodeId::default(), repo, class, container, path, kind, name }
    }

    fn identity(&self) -> Identity<'_> {
        let Symbol { repo, class, container, path, kind, .. } = self;
        Identity { repo, class: *class, container, symbol: path, kind: *kind }
    }

    /// Gives many symbols their ids, which takes a fraction of the time of one after the other.
    pub fn identify(symbols: &mut [Symbol]) {
        let ids = node_ids(symbols.iter().map(Symbol::identity));
        symbols.iter_mut().zip(ids).for_each(|(symbol, id)| symbol.id = id);
    }

    pub fn qualified_name(&self) -> String {
        qualified_name(&self.repo, &self.container, &self.path)
    }

    pub fn is_virtual(&self) -> bool {
        self.class == ContainerClass::Virtual
    }
}

/// One version of a node, as a file version states it. `symbol` is a position in a list of `Symbol`s.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    pub symbol: u32,
    pub span: Span,
    /// One line, at most 400 bytes.
    pub signature: String,
    /// At most 500 characters.
    pub doc: String,
    pub flags: NodeFlags,
}

/// A set of marks on a node (or on all of a file).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct NodeFlags(pub u16);

impl NodeFlags {
    pub const TEST: NodeFlags = NodeFlags(1);
    pub const GENERATED: NodeFlags = NodeFlags(2);
    pub const EXPORTED: NodeFlags = NodeFlags(4);
    pub const DEPRECATED: NodeFlags = NodeFlags(8);
    pub const ABSTRACT: NodeFlags = NodeFlags(16);
    pub const ASYNC: NodeFlags = NodeFlags(32);
    pub const ENTRY: NodeFlags = NodeFlags(64);
    pub const VENDORED: NodeFlags = NodeFlags(128);

    const NAMES: [(NodeFlags, &'static str); 8] = [
        (NodeFlags::TEST, "test"),
        (NodeFlags::GENERATED, "generated"),
        (NodeFlags::EXPORTED, "exported"),
        (NodeFlags::DEPRECATED, "deprecated"),
        (NodeFlags::ABSTRACT, "abstract"),
        (NodeFlags::ASYNC, "async"),
        (NodeFlags::ENTRY, "entry"),
        (NodeFlags::VENDORED, "vendored"),
    ];

    pub fn contains(self, other: NodeFlags) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn insert(&mut self, other: NodeFlags) {
        self.0 |= other.0;
    }

    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NodeFlags::NAMES.into_iter().filter(move |(flag, _)| self.contains(*flag)).map(|(_, name)| name)
    }
}
