//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ImplId, Str, TypeId};
use rustc_hash::FxHashMap;

use super::bindings::Locals;
use super::impls::ImplNames;
use super::kinds::{Field, Kind};
use super::sites::MaybeSite;
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let Some(root) = builder.tree.root() else { return };
    let tree = builder.tree;
    let mut reader = Reader {
        b: builder,
        attributes: Vec::new(),
        attributes_ahead: Vec::new(),
        locals: Locals::default(),
        generics: Locals::default(),
        types: FxHashMap::default(),
        impls: Vec::new(),
        sites: Vec::new(),
        aliases: Vec::new(),
        spine: Vec::new(),
        digits: Vec::new(),
    };
    let context = Context {
        decl: None,
        implementation: None,
        place: Place::Module,
        block: reader.b.tree.range(root),
        in_test: reader.is_inside_cfg_test(root),
        in_tokens: false,
    };
    reader.b.facts.doc = reader.inner_doc(0);
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost declaration; an `impl` block is none.
    pub(super) decl: Option<DeclId>,
    /// The `impl` block that the node stands in directly.
    pub(super) implementation: Option<ImplId>,
    pub(super) place: Place,
    /// The innermost block, which bindings and items are visible in.
    pub(super) block: Range,
    /// Below `#[cfg(test)]`.
    pub(super) in_test: bool,
    /// In the token tree of a macro.
    pub(super) in_tokens: bool,
}

/// What kind of list of items a node stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Module,
    Impl,
    Trait {
        exported: bool,
    },
    /// A struct or an enum.
    Type {
        exported: bool,
    },
    /// A function, or what a constant is set to.
    Body,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    /// Attributes that stand directly before the node that is entered.
    pub(super) attributes: Vec<Node>,
    /// Attributes met since the last other node.
    attributes_ahead: Vec<Node>,
    pub(super) locals: Locals,
    /// Type parameters, by the items that have them.
    pub(super) generics: Locals,
    /// Types that were read, by their outermost node.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// What `impl` blocks are called in symbol paths, by `ImplId`.
    pub(super) impls: Vec<ImplNames>,
    pub(super) sites: Vec<MaybeSite>,
    /// Names that imports give to functions and types that `sites` looks for.
    pub(super) aliases: Vec<Str>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
    /// `0`, `1` ...: names of fields without a name.
    digits: Vec<Str>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        let kind = self.kind(node);
        if cx.in_tokens {
            return match kind {
                Kind::TokenTree | Kind::TokenRepetition if !self.b.is_consumed(node) => self.tokens(node, cx),
                _ => Step::Over,
            };
        }
        if kind == Kind::AttributeItem {
            self.attributes_ahead.push(node);
            return Step::Over;
        }
        if !self.attributes.is_empty() || !self.attributes_ahead.is_empty() {
            std::mem::swap(&mut self.attributes, &mut self.attributes_ahead);
            self.attributes_ahead.clear();
        }
        if self.b.is_consumed(node) {
            return Step::Over;
        }
        match kind {
            Kind::Identifier => self.identifier(node, cx),
            Kind::ScopedIdentifier => self.scoped(node, cx),
            Kind::FieldExpression => self.field_access(node, cx),
            Kind::CallExpression => self.call(node, cx),
            Kind::MacroInvocation => self.macro_call(node, cx),
            Kind::TokenTree => self.tokens(node, cx),
            Kind::Block => Step::Within(Context { block: self.b.tree.range(node), ..cx }),
            Kind::LetDeclaration => self.let_statement(node, cx),
            Kind::LetCondition => self.let_condition(node, cx),
            Kind::MatchArm => self.match_arm(node, cx),
            Kind::ForExpression => self.for_loop(node, cx),
            Kind::ClosureExpression => self.closure(node, cx),
            Kind::StructExpression => self.struct_literal(node, cx),
            Kind::FunctionItem | Kind::FunctionSignatureItem => self.function(node, cx),
            Kind::StructItem | Kind::UnionItem => self.structure(node, cx),
            Kind::EnumItem => self.enumeration(node, cx),
            Kind::EnumVariant => self.variant(node, cx),
            Kind::FieldDeclaration => self.field_declaration(node, cx),
            Kind::TraitItem => self.interface(node, cx),
            Kind::ImplItem => self.implementation(node, cx),
            Kind::TypeItem | Kind::AssociatedType => self.type_alias(node, cx),
            Kind::ConstItem | Kind::StaticItem => self.constant(node, cx),
            Kind::ModItem => self.module(node, cx),
            Kind::MacroDefinition => self.macro_definition(node, cx),
            Kind::UseDeclaration => self.use_declaration(node, cx),
            Kind::ExternCrateDeclaration => self.extern_crate(node, cx),
            Kind::InnerAttributeItem | Kind::VisibilityModifier | Kind::FunctionModifiers => Step::Over,
            Kind::TypeIdentifier if self.field(node) == Field::Name => Step::Over,
            Kind::TypeIdentifier
            | Kind::ScopedTypeIdentifier
            | Kind::GenericType
            | Kind::GenericTypeWithTurbofish
            | Kind::ReferenceType
            | Kind::PointerType
            | Kind::TupleType
            | Kind::ArrayType
            | Kind::FunctionType
            | Kind::AbstractType
            | Kind::DynamicType
            | Kind::BoundedType
            | Kind::BracketedType
            | Kind::TypeArguments => self.type_in_body(node, cx),
            _ => Step::Into,
        }
    }
}

/// Short ways to the tree.
impl<'s> Reader<'_, 's> {
    pub(super) fn kind(&self, node: Node) -> Kind {
        Kind::from(self.b.tree.kind(node))
    }

    pub(super) fn field(&self, node: Node) -> Field {
        Field::from(self.b.tree.field(node))
    }

    pub(super) fn parent(&self, node: Node) -> Option<Node> {
        self.b.tree.parent(node)
    }

    pub(super) fn child(&self, node: Node, field: Field) -> Option<Node> {
        self.b.tree.child(node, field)
    }

    pub(super) fn first_child(&self, node: Node) -> Option<Node> {
        self.b.tree.first_child(node)
    }

    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> + use<'s> {
        self.b.tree.children(node)
    }

    pub(super) fn child_of_kind(&self, node: Node, kind: Kind) -> Option<Node> {
        self.children(node).find(|it| self.kind(*it) == kind)
    }

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    /// The name of field number `index` of a tuple.
    pub(super) fn digit(&mut self, index: usize) -> Str {
        while self.digits.len() <= index {
            let next = self.b.intern(self.digits.len().to_string());
            self.digits.push(next);
        }
        self.digits[index]
    }
}

impl Reader<'_, '_> {
    /// What could only be decided with all of the file known.
    fn finish(&mut self) {
        self.finish_sites();
        self.finish_paths();
        // Types and expressions are read when a declaration or a call is met, before the walk comes to them.
        self.b.facts.references.sort_by_key(|it| it.position);
        self.b.facts.calls.sort_by_key(|it| it.position);
    }
}

/// Types and variants are written with a capital letter, variables and functions without.
pub(super) fn is_capital(text: &[u8]) -> bool {
    match text.iter().find(|it| **it != b'_') {
        Some(first) if first.is_ascii() => first.is_ascii_uppercase(),
        Some(_) => {
            let text = String::from_utf8_lossy(text);
            text.trim_start_matches('_').chars().next().is_some_and(char::is_uppercase)
        }
        None => false,
    }
}
