//! Where patterns stand: `let`, `if let`, `match`, `for`; and which names are local at a place.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ReferenceRole, Str, Type};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::patterns::Given;
use super::reader::{Context, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Where a binding can be seen.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) decl: Option<DeclId>,
    pub(super) visible: Range,
}

/// Local names by where they can be seen. The walk goes through the file once, so what has ended does not come back.
#[derive(Default)]
pub(super) struct Locals {
    by_name: FxHashMap<Str, Vec<Scope>>,
}

impl Locals {
    pub(super) fn add(&mut self, name: Str, scope: Scope) {
        self.by_name.entry(name).or_default().push(scope);
    }

    /// Whether a name is a variable of the function `decl` at an offset.
    pub(super) fn contains(&mut self, name: Str, decl: Option<DeclId>, at: u32) -> bool {
        let Some(scopes) = self.by_name.get_mut(&name) else { return false };
        while scopes.last().is_some_and(|it| it.visible.to <= at) {
            scopes.pop();
        }
        scopes.iter().rev().any(|it| it.decl == decl && it.visible.contains(at))
    }
}

impl Reader<'_, '_> {
    /// The value is seen with the names as they were before.
    pub(super) fn let_statement(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(pattern) = self.child(node, Field::Pattern) else { return Step::Into };
        let visible = Range { from: self.b.tree.end(node), to: cx.block.to.max(self.b.tree.end(node)) };
        let naming = Naming::new(cx.decl, ReferenceRole::Type);
        let type_ = self.child(node, Field::Type).map(|it| self.read_type(it, naming));
        let value = self.child(node, Field::Value);
        let given = match (type_, value) {
            (Some(type_), value) if *self.b.facts.type_(type_) == Type::Unknown => {
                value.map_or(Given::Unknown, Given::Node)
            }
            (Some(type_), _) => Given::Type(type_),
            (None, Some(value)) => Given::Node(value),
            (None, None) => Given::Unknown,
        };
        self.pattern(pattern, given, Scope { decl: cx.decl, visible });
        Step::Into
    }

    /// `let pattern = value` of a condition: seen in what follows of the condition and in the body.
    pub(super) fn let_condition(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(pattern) = self.child(node, Field::Pattern) else { return Step::Into };
        let from = self.b.tree.end(node);
        let visible = Range { from, to: self.end_of_condition(node).unwrap_or(cx.block.to).max(from) };
        let given = self.child(node, Field::Value).map_or(Given::Unknown, Given::Node);
        self.pattern(pattern, given, Scope { decl: cx.decl, visible });
        Step::Into
    }

    fn end_of_condition(&self, condition: Node) -> Option<u32> {
        let mut node = condition;
        loop {
            node = self.parent(node)?;
            let body = match self.kind(node) {
                Kind::LetChain | Kind::BinaryExpression | Kind::ParenthesizedExpression => continue,
                Kind::IfExpression => self.child(node, Field::Consequence)?,
                Kind::WhileExpression => self.child(node, Field::Body)?,
                Kind::MatchPattern => self.parent(node)?,
                _ => return None,
            };
            return Some(self.b.tree.end(body));
        }
    }

    pub(super) fn match_arm(&mut self, node: Node, cx: Context) -> Step<Context> {
        let pattern = self.child(node, Field::Pattern).and_then(|it| self.first_child(it));
        let Some(pattern) = pattern else { return Step::Into };
        let value =
            self.parent(node).and_then(|it| self.parent(it)).and_then(|it| self.child(it, Field::Value));
        let visible = Range { from: self.b.tree.end(pattern), to: self.b.tree.end(node) };
        self.pattern(pattern, value.map_or(Given::Unknown, Given::Node), Scope { decl: cx.decl, visible });
        Step::Into
    }

    pub(super) fn for_loop(&mut self, node: Node, cx: Context) -> Step<Context> {
        let parts = (self.child(node, Field::Pattern), self.child(node, Field::Body));
        let (Some(pattern), Some(body)) = parts else { return Step::Into };
        let scope = Scope { decl: cx.decl, visible: self.b.tree.range(body) };
        let given = match self.child(node, Field::Value) {
            Some(value) => self.element_of(Given::Node(value), scope),
            None => Given::Unknown,
        };
        self.pattern(pattern, given, scope);
        Step::Into
    }
}
