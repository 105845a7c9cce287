//! The syntax tree as one flat list in source order, made in a single cursor walk.
//!
//! Asking tree-sitter for children and fields costs a call into C each time, and the same nodes are asked for many
//! times. Here a node is a number, its first child is the next number, and the node after its subtree is one look-up.

use knowing_model::{Position, Range};

use crate::language::{ERROR, Tables};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Node(pub(crate) u32);

impl Node {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

struct Flat {
    range: Range,
    start: Position,
    last_line: u32,
    /// The node after the subtree.
    next: u32,
    parent: u32,
    kind: u8,
    field: u8,
}

#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Flat>,
    /// Line of the first node the parser could not make sense of.
    pub(crate) first_error: Option<u32>,
    pub(crate) too_deep: bool,
}

impl Tree {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.first_error = None;
        self.too_deep = false;
    }

    /// Takes over a parsed tree.
    pub(crate) fn fill(&mut self, parsed: &tree_sitter::Tree, tables: &Tables, max_depth: usize) {
        self.clear();
        let has_error = parsed.root_node().has_error();
        let mut cursor = parsed.walk();
        let mut open: Vec<u32> = Vec::with_capacity(64);
        loop {
            let node = cursor.node();
            if has_error && self.first_error.is_none() && (node.is_error() || node.is_missing()) {
                self.first_error = Some(line(node.start_position().row));
            }
            if let Some(kind) = tables.kind(node.kind_id()) {
                if open.len() >= max_depth {
                    self.too_deep = true;
                } else {
                    let index = number(self.nodes.len());
                    let parent = open.last().copied().unwrap_or(0);
                    self.nodes.push(Flat { next: index + 1, parent, ..flat(node, kind, &cursor, tables) });
                    if cursor.goto_first_child() {
                        open.push(index);
                        continue;
                    }
                }
            }
            loop {
                if cursor.goto_next_sibling() {
                    break;
                }
                let Some(closed) = open.pop() else {
                    return;
                };
                self.nodes[closed as usize].next = number(self.nodes.len());
                cursor.goto_parent();
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn root(&self) -> Option<Node> {
        (!self.nodes.is_empty()).then_some(Node(0))
    }

    pub(crate) fn kind(&self, node: Node) -> u8 {
        self.nodes[node.index()].kind
    }

    /// The field under which its parent has it; 0 for none.
    pub(crate) fn field(&self, node: Node) -> u8 {
        self.nodes[node.index()].field
    }

    pub(crate) fn range(&self, node: Node) -> Range {
        self.nodes[node.index()].range
    }

    pub(crate) fn start(&self, node: Node) -> u32 {
        self.range(node).from
    }

    pub(crate) fn end(&self, node: Node) -> u32 {
        self.range(node).to
    }

    pub(crate) fn position(&self, node: Node) -> Position {
        self.nodes[node.index()].start
    }

    pub(crate) fn last_line(&self, node: Node) -> u32 {
        self.nodes[node.index()].last_line
    }

    pub(crate) fn parent(&self, node: Node) -> Option<Node> {
        (node.0 != 0).then(|| Node(self.nodes[node.index()].parent))
    }

    /// The node after `node` and all below it; it may stand outside of the parent.
    pub(crate) fn after(&self, node: Node) -> Node {
        Node(self.nodes[node.index()].next)
    }

    pub(crate) fn children(&self, node: Node) -> Children<'_> {
        Children { tree: self, next: node.0 + 1, end: self.after(node).0 }
    }

    pub(crate) fn first_child(&self, node: Node) -> Option<Node> {
        self.children(node).next()
    }

    pub(crate) fn child(&self, node: Node, field: impl Into<FieldNumber>) -> Option<Node> {
        let FieldNumber(field) = field.into();
        self.children(node).find(|it| self.field(*it) == field)
    }

    /// `node` and all below it, in source order.
    pub(crate) fn subtree(&self, node: Node) -> impl Iterator<Item = Node> + use<> {
        (node.0..self.after(node).0).map(Node)
    }
}

/// A field of some language.
pub(crate) struct FieldNumber(pub(crate) u8);

pub(crate) struct Children<'t> {
    tree: &'t Tree,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = Node;

    fn next(&mut self) -> Option<Node> {
        if self.next >= self.end {
            return None;
        }
        let node = Node(self.next);
        self.next = self.tree.after(node).0;
        Some(node)
    }
}

fn flat(
    node: tree_sitter::Node<'_>,
    kind: u8,
    cursor: &tree_sitter::TreeCursor<'_>,
    tables: &Tables,
) -> Flat {
    let start = node.start_position();
    let end = node.end_position();
    // A node that ends with a line break has its last line before it.
    let last_row = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
    let field = if kind == ERROR { 0 } else { cursor.field_id().map_or(0, |it| tables.field(it.get())) };
    Flat {
        range: Range { from: number(node.start_byte()), to: number(node.end_byte()) },
        start: Position { line: line(start.row), column: number(start.column) },
        last_line: line(last_row),
        next: 0,
        parent: 0,
        kind,
        field,
    }
}

fn number(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

fn line(row: usize) -> u32 {
    number(row).saturating_add(1)
}
