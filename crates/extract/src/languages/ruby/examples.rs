//! Tests: `test "..." do` of Minitest, `describe`, `context` and `it` of RSpec. An example is called by the titles around
//! it and its own; a group is no declaration.

use knowing_model::NodeKind;
use knowing_model::facts::{Binding, BindingTarget, Value};

use super::blocks::Role;
use super::kinds::{Field, Kind};
use super::locals::let_name;
use super::reader::{Context, Level, Reader};
use crate::engine::build::NewDecl;
use crate::engine::tree::Node;

const GROUPS: [&str; 11] = [
    "context",
    "describe",
    "example_group",
    "feature",
    "shared_context",
    "shared_examples",
    "shared_examples_for",
    "xcontext",
    "xdescribe",
    "fdescribe",
    "fcontext",
];

/// What runs around examples.
const HOOKS: [&str; 4] = ["after", "around", "before", "let_it_be"];

const EXAMPLES: [&str; 9] = ["it", "specify", "example", "scenario", "test", "should", "fit", "xit", "its"];

impl Reader<'_, '_> {
    /// Reads a call of a test framework; false when it is an ordinary call.
    pub(super) fn example(&mut self, node: Node, text: &str, cx: Context) -> bool {
        if !self.b.is_test {
            return false;
        }
        let Some(block) = self.child(node, Field::Block) else { return false };
        let is_let = self.let_value(node, block, cx);
        let by_framework = match self.child(node, Field::Receiver) {
            Some(receiver) => self.is(receiver, "RSpec") || self.is(receiver, "Minitest"),
            None => true,
        };
        if !by_framework {
            return false;
        }
        if GROUPS.contains(&text) {
            let title = self.titled(node, cx);
            self.groups.push(title);
            self.blocks.insert(block, Role::Group(self.groups.len() - 1));
            return true;
        }
        if EXAMPLES.contains(&text) && cx.function.is_none() {
            self.declare_example(node, block, text, cx);
            return true;
        }
        is_let || HOOKS.contains(&text) && cx.function.is_none()
    }

    /// The class that the groups around are about: `describe Shop::Cart do`.
    pub(super) fn class_under_test(&self, node: Node) -> Option<Node> {
        let mut at = node;
        while let Some(parent) = self.b.tree.parent(at) {
            if self.kind(parent) == Kind::Call && self.field(at) == Field::Block {
                let is_group = self
                    .child(parent, Field::Method)
                    .is_some_and(|it| GROUPS.iter().any(|group| self.is(it, group)));
                let class = self.arguments(parent).first().copied();
                let class =
                    class.filter(|it| matches!(self.kind(*it), Kind::Constant | Kind::ScopeResolution));
                if is_group && class.is_some() {
                    return class;
                }
            }
            at = parent;
        }
        None
    }

    /// The titles of the groups around and of this call, joined.
    fn titled(&self, call: Node, cx: Context) -> String {
        let mut title = cx.group.map(|it| self.groups[it].clone()).unwrap_or_default();
        for argument in self.arguments(call) {
            let part = match self.kind(argument) {
                Kind::String | Kind::SimpleSymbol | Kind::DelimitedSymbol => {
                    match self.literal_name(argument) {
                        Some(name) => name.to_owned(),
                        None => self.b.text(argument).trim_matches(['"', '\'']).to_owned(),
                    }
                }
                Kind::Constant | Kind::ScopeResolution => self.b.text(argument).into_owned(),
                _ => continue,
            };
            if self.kind(argument) == Kind::SimpleSymbol && !title.is_empty() {
                // Tags of RSpec.
                continue;
            }
            if !title.is_empty() {
                title.push(' ');
            }
            title.push_str(&part);
        }
        title
    }

    fn declare_example(&mut self, node: Node, block: Node, text: &str, cx: Context) {
        let own = self.titled(node, cx);
        let has_title = self.arguments(node).iter().any(|it| self.kind(*it) == Kind::String);
        // `it { is_expected.to be_valid }`
        let title = match (has_title, own.is_empty()) {
            (true, false) => own,
            (_, true) => text.to_owned(),
            (false, false) => format!("{own} {text}"),
        };
        let Some(method) = self.child(node, Field::Method) else { return };
        let name = self.b.intern_name(title.into());
        let signature = self.head_up_to(node, Some(block));
        let id = self.b.declare(NewDecl {
            owner: cx.type_,
            name,
            kind: NodeKind::Test,
            node,
            name_position: self.b.tree.position(method),
            signature,
        });
        if let Some(id) = id {
            let level = if cx.type_.is_some() { Level::Instance } else { Level::Top };
            self.blocks.insert(block, Role::Body { decl: id, level });
        }
    }

    /// `let(:name) { value }`: the name stands for the value all over the group.
    fn let_value(&mut self, node: Node, block: Node, cx: Context) -> bool {
        let Some((at, name)) = let_name(self.b, node) else { return false };
        let Some(scope) = self.locals.scope_of(at) else { return false };
        let scope = self.locals.scopes[scope];
        let mut tails = Vec::new();
        if let Some(body) = self.child(block, Field::Body) {
            self.tails(body, &mut tails, 0);
        }
        let value = match tails[..] {
            [one] => Value::Expr(self.expr(one)),
            _ => Value::Unknown,
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let name = self.b.intern(name);
        let visible = self.b.tree.range(scope.node);
        let target = BindingTarget::Name(name);
        // Read in a later example, by whatever declaration it is in: it belongs to the group's own.
        let decl = scope.decl.or(cx.decl);
        self.b.bind(Binding { decl, target, value, visible, certain_to: visible.to });
        true
    }
}
