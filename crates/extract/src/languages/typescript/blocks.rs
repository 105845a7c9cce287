//! `describe`, `it` and `test` blocks: tests whose names are their titles.

use knowing_model::facts::DeclId;
use knowing_model::{NodeFlags, NodeKind, Range};

use super::functions::Named;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::scopes::{Scope, ScopeKind, This};
use crate::engine::tree::Node;

const BLOCKS: [&[u8]; 11] = [
    b"bench",
    b"context",
    b"describe",
    b"fdescribe",
    b"fit",
    b"it",
    b"specify",
    b"suite",
    b"test",
    b"xdescribe",
    b"xit",
];

/// What may stand behind the word: `it.only`, `describe.each`.
const VARIANTS: [&[u8]; 16] = [
    b"only",
    b"skip",
    b"each",
    b"todo",
    b"concurrent",
    b"sequential",
    b"failing",
    b"fails",
    b"serial",
    b"parallel",
    b"for",
    b"runIf",
    b"skipIf",
    b"describe",
    b"extend",
    b"fixme",
];

impl Reader<'_, '_> {
    /// The context of what stands in a block, when a call is one.
    pub(super) fn test_block(
        &mut self,
        node: Node,
        function: Node,
        arguments: Node,
        cx: Context,
    ) -> Option<Context> {
        self.is_block_word(function).then_some(())?;
        let parts: Vec<Node> = self.children(arguments).take(4).collect();
        let body = parts.iter().skip(1).rev().find(|it| self.is_function(**it)).copied()?;
        let title = *parts.first()?;
        let is_text = matches!(self.kind(title), Kind::String | Kind::TemplateString);
        if !is_text && !self.b.is_test {
            return None;
        }
        let text = self.title(title);
        let name = self.b.intern_name(text.into());
        let position = self.b.tree.position(title);
        let visible = Some(super::functions::NOWHERE);
        let named = Named { name, position, kind: NodeKind::Test, owner: cx.decl, visible };
        let to = self.b.tree.end(title);
        let head = Range { from: self.b.tree.start(node), to };
        let id = self.declare(node, named, head)?;
        self.b.decl_mut(id).flags.insert(NodeFlags::TEST);
        self.functions.insert(body, id);
        Some(self.inside_block(node, id, cx))
    }

    fn inside_block(&mut self, node: Node, id: DeclId, cx: Context) -> Context {
        let range = self.b.tree.range(node);
        let scope = self.scopes.open(Scope {
            kind: ScopeKind::Function,
            parent: Some(cx.scope),
            decl: Some(id),
            is_whole: true,
            range,
            this: This::Inherited,
        });
        Context { decl: Some(id), function: None, scope, certain_to: range.to, ..cx }
    }

    /// `it`, `it.only`, `it.each(rows)`, and nothing of the file's own.
    fn is_block_word(&self, function: Node) -> bool {
        let mut node = function;
        for _ in 0..4 {
            match self.kind(node) {
                Kind::Identifier => return BLOCKS.contains(&self.b.bytes(node)),
                Kind::MemberExpression => {
                    let property = self.child(node, Field::Property);
                    if !property.is_some_and(|it| VARIANTS.contains(&self.b.bytes(it))) {
                        return false;
                    }
                    let Some(object) = self.child(node, Field::Object) else { return false };
                    node = object;
                }
                Kind::CallExpression => {
                    let Some(inner) = self.child(node, Field::Function) else { return false };
                    if self.kind(inner) != Kind::MemberExpression {
                        return false;
                    }
                    node = inner;
                }
                _ => return false,
            }
        }
        false
    }

    /// White space folded, quotes and the dots of sentences removed, so that paths stay readable.
    fn title(&self, node: Node) -> String {
        let raw = self.b.text(node);
        let inner = match self.kind(node) {
            Kind::String | Kind::TemplateString => raw.get(1..raw.len().saturating_sub(1)).unwrap_or(&raw),
            _ => &raw,
        };
        let folded = inner.split_whitespace().collect::<Vec<_>>().join(" ");
        if folded.is_empty() { "?".to_owned() } else { folded }
    }
}
