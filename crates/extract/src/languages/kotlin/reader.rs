//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{
    Binding, BindingTarget, DeclId, ExprId, Reference, ReferenceRole, ReferenceTarget, Str, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::kinds::{Field, Kind};
use crate::engine::build::Builder;
use crate::engine::docs;
use crate::engine::signature::{Comments, signature};
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let tree = builder.tree;
    let end = builder.source.len();
    let context = Context { decl: None, block_end: end, in_type: false, is_interface: false };
    let mut reader = Reader {
        b: builder,
        locals: FxHashMap::default(),
        callees: FxHashMap::default(),
        unread: FxHashSet::default(),
        spine: Vec::new(),
    };
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost callable, property or type.
    pub(super) decl: Option<DeclId>,
    /// Where names that are bound here end.
    pub(super) block_end: u32,
    /// Directly in the body of a type.
    pub(super) in_type: bool,
    pub(super) is_interface: bool,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    /// Where a name is that of a local variable.
    pub(super) locals: FxHashMap<Str, Vec<Range>>,
    /// Callees of calls that lambdas are passed to, and the number of the argument, by lambda.
    pub(super) callees: FxHashMap<Node, (ExprId, u8)>,
    /// Types that were read in expressions, before the walk met them.
    pub(super) unread: FxHashSet<Node>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.kind(node) {
            Kind::Identifier => self.identifier(node, cx),
            Kind::NavigationExpression => self.navigation(node, cx),
            Kind::CallExpression => self.call(node, cx),
            Kind::InfixExpression => self.infix_call(node, cx),
            Kind::CallableReference => self.callable_reference(node, cx),
            Kind::ConstructorDelegation => self.delegation_call(node, cx),
            Kind::LambdaLiteral => self.lambda(node, cx),
            Kind::AnonymousFunction => self.anonymous_function(node, cx),
            Kind::ClassDeclaration | Kind::ObjectDeclaration | Kind::CompanionObject => {
                self.type_declaration(node, cx)
            }
            Kind::ObjectLiteral => self.object_literal(node, cx),
            Kind::ClassBody if self.parent_kind(node) == Kind::EnumEntry => self.entry_body(node, cx),
            Kind::PrimaryConstructor => self.primary_constructor(node, cx),
            Kind::SecondaryConstructor => self.secondary_constructor(node, cx),
            Kind::FunctionDeclaration => self.function(node, cx),
            Kind::PropertyDeclaration => self.property(node, cx),
            Kind::EnumEntry => self.enum_entry(node, cx),
            Kind::TypeAlias => self.type_alias(node, cx),
            Kind::Setter => self.setter(node, cx),
            Kind::Block | Kind::FunctionBody | Kind::AnonymousInitializer => {
                Step::Within(Context { block_end: self.b.tree.end(node), in_type: false, ..cx })
            }
            Kind::ForStatement => self.for_loop(node, cx),
            Kind::CatchBlock => self.catch(node, cx),
            Kind::WhenExpression => self.when(node, cx),
            Kind::IsExpression => self.is_test(node, cx),
            Kind::ThrowExpression => self.throw(node, cx),
            Kind::PackageHeader => self.package(node),
            Kind::Import => self.import(node),
            Kind::FileAnnotation => Step::Over,
            Kind::Annotation => self.annotation(node, cx),
            Kind::UserType
            | Kind::FunctionType
            | Kind::NullableType
            | Kind::NonNullableType
            | Kind::ParenthesizedType => {
                if !self.b.is_consumed(node) || self.unread.remove(&node) {
                    self.type_at(node, cx, ReferenceRole::Type);
                }
                Step::Over
            }
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

    pub(super) fn parent_kind(&self, node: Node) -> Kind {
        self.b.tree.parent(node).map_or(Kind::Other, |it| self.kind(it))
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

    pub(super) fn last_child(&self, node: Node) -> Option<Node> {
        self.children(node).last()
    }

    pub(super) fn child_of_kind(&self, node: Node, kind: Kind) -> Option<Node> {
        self.children(node).find(|it| self.kind(*it) == kind)
    }

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    /// What is written between two nodes.
    pub(super) fn between(&self, one: Node, other: Node) -> &'s [u8] {
        self.b.source.bytes(Range { from: self.b.tree.end(one), to: self.b.tree.start(other) }).trim_ascii()
    }

    /// A name without the quotes that odd ones stand in.
    pub(super) fn name(&mut self, node: Node) -> Str {
        let text = self.b.text(node);
        match text.strip_prefix('`').and_then(|it| it.strip_suffix('`')) {
            Some(plain) => {
                let plain = plain.to_owned();
                self.b.intern_name(plain.into())
            }
            None => self.b.name(node),
        }
    }
}

/// What is noted in the same way in many places.
impl Reader<'_, '_> {
    pub(super) fn refer(&mut self, target: ReferenceTarget, role: ReferenceRole, at: Node, cx: Context) {
        let position = self.b.tree.position(at);
        self.b.reference(Reference { decl: cx.decl, target, role, position });
    }

    pub(super) fn bind(&mut self, name: Str, value: Value, visible: Range, cx: Context) {
        self.locals.entry(name).or_default().push(visible);
        self.b.bind(Binding {
            decl: cx.decl,
            target: BindingTarget::Name(name),
            value,
            visible,
            certain_to: visible.to,
        });
    }

    pub(super) fn is_local(&mut self, node: Node) -> bool {
        let at = self.b.tree.start(node);
        let name = self.name(node);
        self.locals.get(&name).is_some_and(|it| it.iter().any(|it| it.contains(at)))
    }

    pub(super) fn doc(&mut self, node: Node) -> Option<Str> {
        let text = docs::block_before(self.b.source.bytes, self.b.tree.start(node))?;
        Some(self.b.intern(text))
    }

    /// A declaration up to where its body begins, on one line.
    pub(super) fn head(&mut self, from: u32, to: u32) -> Str {
        let head = self.b.source.slice(Range { from, to });
        let head = head.trim().trim_end_matches('=').trim_end();
        let text = signature(head, Comments::Slashes).into_owned();
        self.b.intern(text)
    }

    pub(super) fn is_type_decl(&self, decl: Option<DeclId>) -> bool {
        decl.is_some_and(|it| self.b.facts.decl(it).kind.is_type_like())
    }

    fn finish(&mut self) {
        self.b.mark_overloads();
        // A call is entered before those it is made on.
        self.b.facts.calls.sort_by_key(|it| it.position);
        self.b.facts.bindings.sort_by_key(|it| it.visible.from);
        self.b.facts.references.sort_by_key(|it| it.position);
    }
}
