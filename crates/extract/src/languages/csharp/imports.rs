//! `using` directives.

use knowing_model::Range;
use knowing_model::facts::{Import, ImportKind, ReferenceRole, Str};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::written::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// Dots that stand for `static`: what comes in are the members of a type.
pub(crate) const STATIC_LEVEL: u8 = 1;

impl Reader<'_, '_> {
    /// `using A.B;` brings what is in a namespace, `using static A.B;` the members of a type, `using X = A.B;` a name;
    /// after `global` they hold for all files of the project.
    pub(super) fn using_directive(&mut self, node: Node, _: Context) -> Step<Context> {
        let alias = self.child(node, Field::Name);
        let Some(path) = self.children(node).filter(|it| Some(*it) != alias).last() else {
            return Step::Over;
        };
        if matches!(
            self.kind(path),
            Kind::TupleType | Kind::ArrayType | Kind::NullableType | Kind::PointerType
        ) {
            // `using Pair = (int, string);` is no name of anything else.
            self.read_type(path, Naming::silent(None, ReferenceRole::Type));
            return Step::Over;
        }
        let head = Range { from: self.b.tree.start(node), to: self.b.tree.start(alias.unwrap_or(path)) };
        let head = self.b.source.bytes(head);
        let has = |word: &[u8]| head.split(u8::is_ascii_whitespace).any(|it| it == word);
        let (is_global, is_static) = (has(b"global"), has(b"static"));
        let mut segments: Vec<Str> = Vec::new();
        let mut at = Some(path);
        while let Some(part) = at {
            let (name, before) = match self.kind(part) {
                Kind::QualifiedName => (self.child(part, Field::Name), self.child(part, Field::Qualifier)),
                Kind::AliasQualifiedName => (self.child(part, Field::Name), None),
                _ => (Some(part), None),
            };
            if let Some(name) = name {
                segments.push(self.b.name(self.simple_name(name).0));
            }
            at = before;
        }
        segments.reverse();
        let Some(&last) = segments.last() else { return Step::Over };
        let kind = match alias {
            Some(alias) => {
                // What an alias stands for may carry type arguments, which are uses.
                self.read_type(path, Naming::silent(None, ReferenceRole::Type));
                segments.pop();
                ImportKind::Member { name: last, alias: self.b.name(alias) }
            }
            None => ImportKind::Wildcard,
        };
        let from = self.b.tree.start(node);
        let inner = self.b.facts.namespaces.iter().rev().find(|it| it.range.contains(from));
        let visible = inner.map_or(Range { from: 0, to: self.b.source.len() }, |it| it.range);
        let position = self.b.tree.position(path);
        self.b.import(Import {
            decl: None,
            module: segments,
            level: if is_static { STATIC_LEVEL } else { 0 },
            kind,
            reexport: is_global,
            visible,
            position,
        });
        Step::Over
    }
}
