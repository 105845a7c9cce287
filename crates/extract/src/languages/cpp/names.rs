//! Names: what is local, what stands outside of its class, what is overloaded, and the symbol paths that follow.

use knowing_model::facts::{
    DeclId, FileFacts, Impl, ImplId, Modifiers, ReferenceRole, Str, Type, TypeParameter,
};
use knowing_model::{NodeKind, Range};
use rustc_hash::{FxHashMap, FxHashSet};

use super::kinds::{Field, Kind};
use super::reader::{Context, Reader};
use super::types::Naming;
use crate::engine::tree::Node;

/// Local names by where they can be seen.
#[derive(Default)]
pub(super) struct Locals {
    by_name: FxHashMap<Str, Vec<Range>>,
}

impl Locals {
    pub(super) fn add(&mut self, name: Str, visible: Range) {
        self.by_name.entry(name).or_default().push(visible);
    }

    /// The walk goes through the file once, so what has ended does not come back.
    pub(super) fn contains(&mut self, name: Str, at: u32) -> bool {
        let Some(ranges) = self.by_name.get_mut(&name) else { return false };
        while ranges.last().is_some_and(|it| it.to <= at) {
            ranges.pop();
        }
        ranges.iter().rev().any(|it| it.contains(at))
    }
}

/// What stands before the name of what is defined outside of its class; until paths are given, the reader keeps it in
/// their place.
pub(super) fn owner_path(facts: &FileFacts, id: DeclId) -> Option<String> {
    let decl = facts.decl(id);
    if decl.implementation.is_none() && decl.path == decl.name {
        return None;
    }
    let qualifier = facts.text(decl.path);
    Some(match decl.owner {
        Some(owner) => format!("{}.{qualifier}", facts.text(facts.decl(owner).path)),
        None => qualifier.to_owned(),
    })
}

impl Reader<'_, '_> {
    /// The class, or namespace, that a definition names before its own name: `Shop` of `void Shop::open()`.
    pub(super) fn implementation(&mut self, name: Node, cx: Context) -> Option<(ImplId, Str)> {
        let (parts, is_absolute) = self.qualifiers(name);
        let last = *parts.last()?;
        let mut segments: Vec<Str> = Vec::new();
        let mut arguments = Vec::new();
        for part in parts {
            if self.kind(part) == Kind::TemplateType
                && let Some(list) = self.child(part, Field::Arguments)
            {
                arguments = self.type_arguments(list, Naming::new(cx.decl, ReferenceRole::Type), 0);
            }
            self.scope_segments(part, &mut segments);
        }
        if segments.is_empty() {
            return None;
        }
        let texts: Vec<&str> = segments.iter().map(|it| self.b.str(*it)).collect();
        let path = self.b.intern(texts.join("."));
        if let Some(known) = self.impls.get(&(cx.decl, path)) {
            return Some((*known, path));
        }
        if is_absolute {
            segments.insert(0, self.b.intern(""));
        }
        let at = self.b.tree.start(name);
        let type_ = self.b.type_(Type::Named { segments, arguments, at });
        let type_parameters = self.template_parameters(cx);
        let id = self.b.implement(Impl {
            owner: cx.decl,
            type_,
            interface: None,
            type_parameters,
            range: self.b.tree.range(name),
            position: self.b.tree.position(self.last_name(last)),
        });
        self.impls.insert((cx.decl, path), id);
        Some((id, path))
    }

    fn scope_segments(&mut self, part: Node, out: &mut Vec<Str>) {
        match self.kind(part) {
            Kind::NestedNamespaceSpecifier => {
                for inner in self.b.tree.subtree(part) {
                    if self.kind(inner) == Kind::NamespaceIdentifier {
                        out.push(self.b.name(inner));
                    }
                }
            }
            _ => {
                let last = self.last_name(part);
                out.push(self.b.name(last));
            }
        }
    }

    /// Names after `template <`, as local ones.
    pub(super) fn template_names(&mut self, list: Node, visible: Range) {
        for parameter in self.children(list) {
            if let Some(name) = self.template_parameter_name(parameter) {
                let name = self.b.name(name);
                self.generics.add(name, visible);
            }
        }
    }

    fn template_parameter_name(&self, parameter: Node) -> Option<Node> {
        match self.kind(parameter) {
            Kind::TypeParameterDeclaration | Kind::VariadicTypeParameterDeclaration => {
                self.child_of_kind(parameter, Kind::TypeIdentifier)
            }
            Kind::OptionalTypeParameterDeclaration => self.child(parameter, Field::Name),
            Kind::TemplateTemplateParameterDeclaration => {
                let inner = self.children(parameter).last()?;
                self.template_parameter_name(inner)
            }
            Kind::ParameterDeclaration
            | Kind::OptionalParameterDeclaration
            | Kind::VariadicParameterDeclaration => {
                let declarator = self.child(parameter, Field::Declarator)?;
                self.declared(declarator).map(|it| it.name)
            }
            _ => None,
        }
    }

    pub(super) fn template_parameters(&mut self, cx: Context) -> Vec<TypeParameter> {
        let list = cx.template.and_then(|it| self.child(it, Field::Parameters));
        let Some(list) = list else { return Vec::new() };
        let mut parameters = Vec::new();
        for parameter in self.children(list) {
            let is_type = !matches!(
                self.kind(parameter),
                Kind::ParameterDeclaration
                    | Kind::OptionalParameterDeclaration
                    | Kind::VariadicParameterDeclaration
            );
            if let Some(name) = self.template_parameter_name(parameter).filter(|_| is_type) {
                parameters.push(TypeParameter { name: self.b.name(name), bounds: Vec::new() });
            }
        }
        parameters
    }

    /// Callables of one name and owner whose parameters differ are overloads; those that do not differ are repeats,
    /// as a definition is of its prototype.
    pub(super) fn mark_overloads(&mut self) {
        let facts = &self.b.facts;
        let mut first: FxHashMap<(Option<DeclId>, Str, Str), Vec<String>> = FxHashMap::default();
        let mut overloaded: FxHashSet<(Option<DeclId>, Str, Str)> = FxHashSet::default();
        let is_overloadable =
            |kind: NodeKind| matches!(kind, NodeKind::Function | NodeKind::Method | NodeKind::Constructor);
        for decl in facts.decls.iter().filter(|it| is_overloadable(it.kind)) {
            let key = (decl.owner, decl.path, decl.name);
            let types: Vec<String> =
                decl.parameters.iter().map(|it| parameter_text(facts, it.type_)).collect();
            match first.get(&key) {
                Some(known) if *known != types => {
                    overloaded.insert(key);
                }
                Some(_) => {}
                None => {
                    first.insert(key, types);
                }
            }
        }
        for decl in &mut self.b.facts.decls {
            if is_overloadable(decl.kind) && overloaded.contains(&(decl.owner, decl.path, decl.name)) {
                decl.modifiers.insert(Modifiers::OVERLOAD);
            }
        }
    }
}

fn parameter_text(facts: &FileFacts, type_: Option<knowing_model::facts::TypeId>) -> String {
    match type_.map(|it| facts.type_(it)) {
        Some(Type::Named { segments, arguments, .. }) => {
            let name = segments.iter().map(|it| facts.text(*it)).collect::<Vec<_>>().join("::");
            match arguments.as_slice() {
                [of] if name == "*" => format!("{}*", parameter_text(facts, Some(*of))),
                _ => name,
            }
        }
        Some(Type::Sequence(_)) => "[]".to_owned(),
        Some(Type::Function(_)) => "fn".to_owned(),
        Some(_) => "?".to_owned(),
        None => String::new(),
    }
}
