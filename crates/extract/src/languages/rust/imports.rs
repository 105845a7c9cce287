//! `use` trees: one import a leaf.

use knowing_model::Position;
use knowing_model::facts::{Import, ImportKind, Str};

use super::items::Visibility;
use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

impl Reader<'_, '_> {
    pub(super) fn use_declaration(&mut self, node: Node, cx: Context) -> Step<Context> {
        let reexport = self.visibility(node, cx) != Visibility::Private;
        let Some(argument) = self.child(node, Field::Argument) else { return Step::Over };
        // Trees nest; a list of what is left to do keeps the stack flat.
        let mut open: Vec<(Node, Vec<Str>)> = vec![(argument, Vec::new())];
        while let Some((tree, prefix)) = open.pop() {
            if self.b.is_full() {
                break;
            }
            match self.kind(tree) {
                Kind::UseList => {
                    let start = open.len();
                    open.extend(self.children(tree).map(|it| (it, prefix.clone())));
                    open[start..].reverse();
                }
                Kind::ScopedUseList => {
                    let mut module = prefix;
                    match self.child(tree, Field::Path) {
                        Some(path) => self.segments(path, &mut module),
                        None if module.is_empty() => module.push(self.b.intern("")),
                        None => {}
                    }
                    if let Some(list) = self.child(tree, Field::List) {
                        open.push((list, module));
                    }
                }
                Kind::UseWildcard => {
                    let mut module = prefix;
                    if let Some(path) = self.first_child(tree) {
                        self.segments(path, &mut module);
                    }
                    let star = self.b.tree.end(tree).saturating_sub(1).max(self.b.tree.start(tree));
                    let position = self.b.position_at(tree, star);
                    self.imported(module, ImportKind::Wildcard, reexport, position, cx);
                }
                Kind::UseAsClause => {
                    let parts = (self.child(tree, Field::Path), self.child(tree, Field::Alias));
                    let (Some(path), Some(alias)) = parts else { continue };
                    let alias = self.b.name(alias);
                    self.leaf_import(path, prefix, Some(alias), reexport, cx);
                }
                _ => self.leaf_import(tree, prefix, None, reexport, cx),
            }
        }
        Step::Over
    }

    /// `a::b::c`, `c`, or `self` in a list.
    fn leaf_import(&mut self, path: Node, prefix: Vec<Str>, alias: Option<Str>, reexport: bool, cx: Context) {
        let mut module = prefix;
        let in_list = !module.is_empty();
        self.segments(path, &mut module);
        if in_list && self.kind(path) == Kind::SelfWord {
            module.pop();
        }
        let Some(name) = module.pop() else { return };
        let alias = alias.unwrap_or(name);
        self.note_alias(name, alias);
        let position = self.b.tree.position(self.last_segment(path));
        self.imported(module, ImportKind::Member { name, alias }, reexport, position, cx);
    }

    /// Appends the segments of a path; a leading `::` is an empty one.
    fn segments(&mut self, path: Node, out: &mut Vec<Str>) {
        let start = out.len();
        let mut at = Some(path);
        while let Some(node) = at {
            if self.kind(node) == Kind::ScopedIdentifier {
                if let Some(name) = self.child(node, Field::Name) {
                    out.push(self.b.name(name));
                }
                at = self.child(node, Field::Path);
                if at.is_none() && start == 0 {
                    out.push(self.b.intern(""));
                }
            } else {
                out.push(self.b.name(node));
                at = None;
            }
        }
        out[start..].reverse();
    }

    fn imported(
        &mut self,
        module: Vec<Str>,
        kind: ImportKind,
        reexport: bool,
        position: Position,
        cx: Context,
    ) {
        self.b.import(Import {
            decl: cx.decl,
            module,
            level: 0,
            kind,
            reexport,
            visible: cx.block,
            position,
        });
    }

    /// `extern crate a as b;`
    pub(super) fn extern_crate(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(name_node) = self.child(node, Field::Name) else { return Step::Over };
        let name = self.b.name(name_node);
        let alias = self.child(node, Field::Alias).map_or(name, |it| self.b.name(it));
        let reexport = self.visibility(node, cx) != Visibility::Private;
        let position = self.b.tree.position(name_node);
        self.imported(vec![name], ImportKind::Module { alias }, reexport, position, cx);
        Step::Over
    }
}
