//! `impl` blocks, and the symbol paths of what stands in them.
//!
//! An `impl` block is no declaration: its items belong to the type it is for, wherever that is declared. In symbol
//! paths they stand below the type's name, and below the trait's where the type alone does not tell them apart.

use knowing_model::facts::{DeclId, FileFacts, Impl, ImplId, ReferenceRole, Str};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::reader::{Context, Place, Reader};
use super::types::Naming;
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// What an `impl` block is called in symbol paths.
#[derive(Clone, Copy)]
pub(super) struct ImplNames {
    type_: Str,
    /// The trait with its arguments.
    interface: Option<Str>,
}

/// What stands between the owner's path and the name; until paths are given, the reader keeps it in their place.
pub(super) fn owner_path(facts: &FileFacts, id: DeclId) -> Option<String> {
    let decl = facts.decl(id);
    decl.implementation?;
    let qualifier = facts.text(decl.path);
    Some(match decl.owner {
        Some(owner) => format!("{}.{qualifier}", facts.text(facts.decl(owner).path)),
        None => qualifier.to_owned(),
    })
}

impl Reader<'_, '_> {
    pub(super) fn implementation(&mut self, node: Node, cx: Context) -> Step<Context> {
        let marks = self.marks();
        let Some(type_node) = self.child(node, Field::Type) else { return Step::Into };
        let interface_node = self.child(node, Field::Trait);
        let type_parameters = self.type_parameters(node, cx.decl);
        let naming = Naming { outermost: false, ..Naming::new(cx.decl, ReferenceRole::Type) };
        let interface = interface_node.map(|it| self.read_type(it, naming));
        let type_ = self.read_type(type_node, naming);
        let position = self.b.tree.position(self.last_segment(interface_node.unwrap_or(type_node)));
        let range = self.b.tree.range(node);
        let id =
            self.b.implement(Impl { owner: cx.decl, type_, interface, type_parameters, range, position });
        let names = ImplNames {
            type_: self.type_name(type_node),
            interface: interface_node.map(|it| self.interface_name(it)),
        };
        self.impls.push(names);
        let in_test = cx.in_test || marks.is_cfg_test;
        Step::Within(Context { implementation: Some(id), place: Place::Impl, in_test, ..cx })
    }

    /// The last segment of the type's path; what is no path is itself, without white space.
    fn type_name(&mut self, node: Node) -> Str {
        let mut node = node;
        while self.kind(node) == Kind::ReferenceType
            && let Some(inner) = self.child(node, Field::Type)
        {
            node = inner;
        }
        let last = match self.kind(node) {
            Kind::GenericType | Kind::ScopedTypeIdentifier | Kind::TypeIdentifier => self.last_segment(node),
            _ => node,
        };
        let text = self.without_space(last);
        self.b.intern_name(text.into())
    }

    fn interface_name(&mut self, node: Node) -> Str {
        let mut text = self.without_space(self.last_segment(node));
        if let Some(arguments) = self.child(node, Field::TypeArguments) {
            text.push_str(&self.without_space(arguments));
        }
        self.b.intern_name(text.into())
    }

    fn without_space(&self, node: Node) -> String {
        self.b.text(node).chars().filter(|it| !it.is_whitespace()).collect()
    }

    /// Where several blocks of a type define a name, those of traits are told apart by the trait.
    pub(super) fn finish_paths(&mut self) {
        // By owner, type and name: the block, or none when there are several.
        let mut blocks: FxHashMap<(Option<DeclId>, Str, Str), Option<ImplId>> = FxHashMap::default();
        for decl in &self.b.facts.decls {
            let Some(id) = decl.implementation else { continue };
            let key = (decl.owner, self.impls[id.index()].type_, decl.name);
            let block = blocks.entry(key).or_insert(Some(id));
            if *block != Some(id) {
                *block = None;
            }
        }
        for index in 0..self.b.facts.decls.len() {
            let decl = &self.b.facts.decls[index];
            let Some(id) = decl.implementation else { continue };
            let ImplNames { type_, interface } = self.impls[id.index()];
            let is_shared = blocks.get(&(decl.owner, type_, decl.name)) == Some(&None);
            let qualifier = match interface {
                Some(interface) if is_shared => {
                    let text = format!("{}.{}", self.b.str(type_), self.b.str(interface));
                    self.b.intern(text)
                }
                _ => type_,
            };
            self.b.facts.decls[index].path = qualifier;
        }
    }
}
