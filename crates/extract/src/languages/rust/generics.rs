//! Type parameters and their bounds, written in place and after `where`.

use knowing_model::facts::{DeclId, ReferenceRole, TypeParameter};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::Reader;
use super::types::Naming;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    /// The type parameters of an item; uses of types in them are the item's.
    pub(super) fn type_parameters(&mut self, item: Node, decl: Option<DeclId>) -> Vec<TypeParameter> {
        let naming = Naming::new(decl, ReferenceRole::Type);
        let mut parameters = Vec::new();
        if let Some(list) = self.child(item, Field::TypeParameters) {
            self.b.consume(list);
            let scope = Scope { decl: None, visible: self.b.tree.range(item) };
            for node in self.children(list) {
                if let Some(name) = self.child(node, Field::Name) {
                    let name = self.b.name(name);
                    self.generics.add(name, scope);
                }
            }
            for node in self.children(list) {
                self.type_parameter(node, naming, &mut parameters);
            }
        }
        for clause in self.children(item) {
            if self.kind(clause) == Kind::WhereClause {
                self.b.consume(clause);
                for predicate in self.children(clause) {
                    self.predicate(predicate, naming, &mut parameters);
                }
            }
        }
        parameters
    }

    fn type_parameter(&mut self, node: Node, naming: Naming, out: &mut Vec<TypeParameter>) {
        match self.kind(node) {
            Kind::TypeParameter => {
                let Some(name) = self.child(node, Field::Name) else { return };
                let name = self.b.name(name);
                let bounds = match self.child(node, Field::Bounds) {
                    Some(bounds) => self.bounds_list(bounds, naming).into_iter().map(|it| it.1).collect(),
                    None => Vec::new(),
                };
                if let Some(default) = self.child(node, Field::DefaultType) {
                    self.read_type(default, naming);
                }
                out.push(TypeParameter { name, bounds });
            }
            Kind::ConstParameter => {
                if let Some(type_) = self.child(node, Field::Type) {
                    self.read_type(type_, naming);
                }
            }
            _ => {}
        }
    }

    /// `T: A + B`; what is said of anything but a parameter is a use of types and no more.
    fn predicate(&mut self, node: Node, naming: Naming, parameters: &mut [TypeParameter]) {
        let (Some(left), Some(bounds)) = (self.child(node, Field::Left), self.child(node, Field::Bounds))
        else {
            return;
        };
        let bounds = self.bounds_list(bounds, naming);
        let name = (self.kind(left) == Kind::TypeIdentifier).then(|| self.b.name(left));
        match parameters.iter_mut().find(|it| Some(it.name) == name) {
            Some(parameter) => parameter.bounds.extend(bounds.into_iter().map(|it| it.1)),
            None => {
                self.read_type(left, naming);
            }
        }
    }
}
