//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ImplId, Str, TypeId};
use rustc_hash::FxHashMap;

use super::bindings::Locals;
use super::kinds::{Field, Kind};
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let Some(root) = builder.tree.root() else { return };
    let tree = builder.tree;
    let mut reader = Reader {
        b: builder,
        locals: Locals::default(),
        generics: Locals::default(),
        types: FxHashMap::default(),
        receivers: FxHashMap::default(),
        packages: FxHashMap::default(),
        literals: FxHashMap::default(),
        constant_type: None,
        spine: Vec::new(),
    };
    let context = Context { decl: None, block: reader.b.tree.range(root), gives_error: false };
    reader.file_docs(root);
    reader.b.facts.condition = reader.condition();
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost declaration.
    pub(super) decl: Option<DeclId>,
    /// The innermost block, which bindings are visible in.
    pub(super) block: Range,
    /// The innermost function's last result is an `error`.
    pub(super) gives_error: bool,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) locals: Locals,
    /// Type parameters, by where they can be seen.
    pub(super) generics: Locals,
    /// Types that were read, by their outermost node.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// One block for each receiver type as it is written.
    pub(super) receivers: FxHashMap<String, ImplId>,
    /// Imported paths by the names they are used under, as far as this file tells.
    pub(super) packages: FxHashMap<Str, Str>,
    /// Function literals that are declarations of their own.
    pub(super) literals: FxHashMap<Node, DeclId>,
    /// The type of the constants above, which those without a value share.
    pub(super) constant_type: Option<TypeId>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        if self.b.is_consumed(node) {
            return Step::Over;
        }
        match self.kind(node) {
            Kind::Identifier => self.identifier(node, cx),
            Kind::SelectorExpression => self.selector(node, cx),
            Kind::CallExpression => self.call(node, cx),
            Kind::TypeConversion => self.conversion(node, cx),
            Kind::CompositeLiteral => self.composite(node, cx),
            Kind::KeyedElement => self.keyed_element(node, cx),
            Kind::FuncLiteral => self.literal(node, cx),
            Kind::ShortVarDeclaration => self.short_declaration(node, cx),
            Kind::RangeClause => self.range_clause(node, cx),
            Kind::ReceiveStatement => self.receive_statement(node, cx),
            Kind::TypeSwitch => self.type_switch(node, cx),
            Kind::ReturnStatement => self.return_statement(node, cx),
            Kind::Block
            | Kind::IfStatement
            | Kind::ForStatement
            | Kind::ExpressionSwitch
            | Kind::SelectStatement
            | Kind::ExpressionCase
            | Kind::DefaultCase
            | Kind::TypeCase
            | Kind::CommunicationCase => Step::Within(Context { block: self.b.tree.range(node), ..cx }),
            Kind::FunctionDeclaration => self.function(node, cx),
            Kind::MethodDeclaration => self.method(node, cx),
            Kind::TypeSpec | Kind::TypeAlias => self.type_spec(node, cx),
            Kind::ConstDeclaration => self.constants(node, cx),
            Kind::ConstSpec => self.const_spec(node, cx),
            Kind::VarSpec => self.var_spec(node, cx),
            Kind::PackageClause => self.package_clause(node),
            Kind::ImportSpec => self.import_spec(node, cx),
            Kind::TypeIdentifier
            | Kind::QualifiedType
            | Kind::GenericType
            | Kind::PointerType
            | Kind::StructType
            | Kind::InterfaceType
            | Kind::ArrayType
            | Kind::ImplicitLengthArrayType
            | Kind::SliceType
            | Kind::MapType
            | Kind::ChannelType
            | Kind::FunctionType
            | Kind::NegatedType
            | Kind::ParenthesizedType
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

    /// All children a node has under a field.
    pub(super) fn children_in(&self, node: Node, field: Field) -> Vec<Node> {
        self.children(node).filter(|it| self.field(*it) == field).collect()
    }

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    /// The text between two nodes without what is blank around it: an operator.
    pub(super) fn between(&self, left: Node, right: Node) -> &'s [u8] {
        let range = Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
        self.b.source.bytes(range).trim_ascii()
    }
}

impl Reader<'_, '_> {
    fn finish(&mut self) {
        // Types and expressions are read when a declaration or a call is met, before the walk comes to them.
        self.b.facts.references.sort_by_key(|it| it.position);
        self.b.facts.calls.sort_by_key(|it| it.position);
    }
}

/// Whether others can see a name: it begins with a capital letter.
pub(super) fn is_exported(name: &str) -> bool {
    name.chars().next().is_some_and(char::is_uppercase)
}
