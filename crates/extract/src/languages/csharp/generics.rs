//! Type parameters and their constraints.

use knowing_model::facts::{DeclId, ReferenceRole, TypeParameter};

use super::bindings::Scope;
use super::kinds::{Field, Kind};
use super::reader::Reader;
use super::written::Naming;
use crate::engine::tree::Node;

impl Reader<'_, '_> {
    /// The type parameters of a declaration; uses of types in their constraints are the declaration's.
    pub(super) fn type_parameters(&mut self, declaration: Node, decl: DeclId) -> Vec<TypeParameter> {
        let Some(list) = self.child_of_kind(declaration, Kind::TypeParameterList) else { return Vec::new() };
        self.b.consume(list);
        let scope = Scope { visible: self.b.tree.range(declaration) };
        let mut parameters = Vec::new();
        for node in self.children(list) {
            if self.kind(node) == Kind::TypeParameter
                && let Some(name) = self.child(node, Field::Name)
            {
                let name = self.b.name(name);
                self.generics.add(name, scope);
                parameters.push(TypeParameter { name, bounds: Vec::new() });
            }
        }
        for clause in self.children(declaration) {
            if self.kind(clause) == Kind::TypeParameterConstraints {
                self.b.consume(clause);
                self.constraints(clause, decl, &mut parameters);
            }
        }
        parameters
    }

    /// `where T : Base, IThing, new()`.
    fn constraints(&mut self, clause: Node, decl: DeclId, parameters: &mut [TypeParameter]) {
        let naming = Naming::new(Some(decl), ReferenceRole::Type);
        let mut parts = self.children(clause);
        let Some(name) = parts.next() else { return };
        let name = self.b.name(name);
        for part in parts {
            if let Some(type_) = self.child(part, Field::Type) {
                let bound = self.read_type(type_, naming);
                if let Some(parameter) = parameters.iter_mut().find(|it| it.name == name) {
                    parameter.bounds.push(bound);
                }
            }
        }
    }
}
