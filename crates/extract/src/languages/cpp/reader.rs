//! The walk: what each node kind means, and the context around it.

use knowing_model::Range;
use knowing_model::facts::{DeclId, ImplId, Str, TypeId};
use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use super::names::Locals;
use super::sites::MaybeSite;
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read_c(builder: &mut Builder<'_>) {
    read(builder, false);
}

pub(super) fn read_cpp(builder: &mut Builder<'_>) {
    read(builder, true);
}

fn read(builder: &mut Builder<'_>, has_overloads: bool) {
    let Some(root) = builder.tree.root() else { return };
    let tree = builder.tree;
    let context = Context {
        decl: None,
        space: None,
        place: Place::Namespace,
        block: tree.range(root),
        is_hidden: false,
        template: None,
    };
    let mut reader = Reader {
        b: builder,
        locals: Locals::default(),
        generics: Locals::default(),
        types: FxHashMap::default(),
        given_names: FxHashMap::default(),
        decl_of: FxHashMap::default(),
        namespaces: FxHashMap::default(),
        impls: FxHashMap::default(),
        access: FxHashMap::default(),
        sites: Vec::new(),
        spine: Vec::new(),
        has_overloads,
    };
    reader.b.facts.doc = reader.file_doc();
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost declaration.
    pub(super) decl: Option<DeclId>,
    /// The innermost namespace.
    pub(super) space: Option<DeclId>,
    pub(super) place: Place,
    /// The innermost block, which what is declared in it is visible in.
    pub(super) block: Range,
    /// In a namespace without a name.
    pub(super) is_hidden: bool,
    /// The `template <...>` that stands directly before.
    pub(super) template: Option<Node>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// The file or a namespace.
    Namespace,
    /// A struct, class, union or enum.
    Class,
    /// A function, or what a variable is set to.
    Body,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Access {
    Public,
    Restricted,
}

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) locals: Locals,
    /// Template parameters.
    pub(super) generics: Locals,
    /// Types that were read, by their outermost node.
    pub(super) types: FxHashMap<Node, TypeId>,
    /// Names of types that have none themselves: `typedef struct { ... } name;`.
    pub(super) given_names: FxHashMap<Node, Node>,
    /// The declaration that what is below a node belongs to: values of variables, bodies of tests.
    pub(super) decl_of: FxHashMap<Node, DeclId>,
    /// Namespaces are opened again and again; each is one declaration of the file.
    pub(super) namespaces: FxHashMap<(Option<DeclId>, Str), DeclId>,
    /// Classes whose members are defined outside of them, by namespace and name.
    pub(super) impls: FxHashMap<(Option<DeclId>, Str), ImplId>,
    /// What the last `public:` or the like said, by class.
    pub(super) access: FxHashMap<DeclId, Access>,
    pub(super) sites: Vec<MaybeSite>,
    /// Nodes of a chain of members and calls, while it is followed.
    pub(super) spine: Vec<Node>,
    /// C++: arguments tell callables of one name apart.
    pub(super) has_overloads: bool,
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
            Kind::FieldExpression => self.field_access(node, cx),
            Kind::CallExpression => self.call(node, cx),
            Kind::QualifiedIdentifier => self.scoped(node, cx),
            Kind::TemplateFunction | Kind::TemplateMethod => self.templated(node, cx),
            Kind::NewExpression => self.creation(node, cx),
            Kind::CompoundStatement => self.block(node, cx),
            Kind::ForStatement | Kind::IfStatement | Kind::WhileStatement | Kind::SwitchStatement => {
                Step::Within(Context { block: self.b.tree.range(node), ..cx })
            }
            Kind::ForRangeLoop => self.range_loop(node, cx),
            Kind::CatchClause => self.catch(node, cx),
            Kind::LambdaExpression => self.lambda(node, cx),
            Kind::Declaration => self.declaration(node, cx),
            Kind::FieldDeclaration => self.field_declaration(node, cx),
            Kind::InitDeclarator => self.within_value(node, cx),
            Kind::FunctionDefinition => self.function(node, cx),
            Kind::FunctionDeclarator => self.stray_function(node, cx),
            Kind::StructSpecifier | Kind::ClassSpecifier | Kind::UnionSpecifier => self.class(node, cx),
            Kind::EnumSpecifier => self.enumeration(node, cx),
            Kind::Enumerator => self.enumerator(node, cx),
            Kind::AccessSpecifier => self.access_specifier(node, cx),
            Kind::TypeDefinition => self.type_definition(node, cx),
            Kind::AliasDeclaration => self.alias(node, cx),
            Kind::ConceptDefinition => self.concept(node, cx),
            Kind::NamespaceDefinition => self.namespace(node, cx),
            Kind::NamespaceAliasDefinition => self.namespace_alias(node, cx),
            Kind::UsingDeclaration => self.using(node, cx),
            Kind::FriendDeclaration => self.friend(node, cx),
            Kind::TemplateDeclaration => self.template(node, cx),
            Kind::TemplateParameterList => Step::Over,
            Kind::PreprocInclude => self.include(node, cx),
            Kind::PreprocDef | Kind::PreprocFunctionDef => self.macro_definition(node, cx),
            Kind::PreprocIf | Kind::PreprocIfdef | Kind::PreprocElif | Kind::PreprocElifdef => {
                for field in [Field::Condition, Field::Name] {
                    if let Some(condition) = self.child(node, field) {
                        self.b.consume(condition);
                    }
                }
                Step::Into
            }
            Kind::PreprocCall | Kind::AttributeDeclaration | Kind::AttributeSpecifier => Step::Over,
            Kind::ThrowStatement => self.throw(node, cx),
            Kind::ReturnStatement => self.return_statement(node, cx),
            Kind::FieldInitializer => self.field_initializer(node, cx),
            Kind::FieldDesignator => self.designator(node, cx),
            Kind::LambdaCaptureSpecifier => Step::Over,
            Kind::ExpressionStatement if cx.place != Place::Body => self.top_statement(node, cx),
            Kind::TypeDescriptor
            | Kind::TypeIdentifier
            | Kind::TemplateType
            | Kind::DependentType
            | Kind::MacroTypeSpecifier => self.type_in_body(node, cx),
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

    /// Whether a declaration has a word such as `static` among its specifiers.
    pub(super) fn has_specifier(&self, node: Node, word: &str) -> bool {
        self.children(node).any(|it| {
            matches!(self.kind(it), Kind::StorageClassSpecifier | Kind::TypeQualifier) && self.is(it, word)
        })
    }
}

impl Reader<'_, '_> {
    /// What could only be decided with all of the file known.
    fn finish(&mut self) {
        self.finish_sites();
        self.mark_overloads();
        if self.has_overloads {
            self.note_lone_macros();
        }
        // Types and expressions are read when a declaration or a call is met, before the walk comes to them.
        self.b.facts.references.sort_by_key(|it| it.position);
        self.b.facts.calls.sort_by_key(|it| it.position);
    }

    fn block(&mut self, node: Node, cx: Context) -> Step<Context> {
        let block = self.b.tree.range(node);
        match self.decl_of.get(&node) {
            Some(decl) => {
                Step::Within(Context { decl: Some(*decl), place: Place::Body, block, template: None, ..cx })
            }
            // Code that the parser could not put into a function.
            None => Step::Within(Context { block, place: Place::Body, ..cx }),
        }
    }

    fn template(&mut self, node: Node, cx: Context) -> Step<Context> {
        let Some(parameters) = self.child(node, Field::Parameters) else { return Step::Into };
        self.template_names(parameters, self.b.tree.range(node));
        Step::Within(Context { template: Some(node), ..cx })
    }

    /// The value of a variable of the file belongs to that variable.
    fn within_value(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.decl_of.get(&node) {
            Some(decl) => Step::Within(Context { decl: Some(*decl), place: Place::Body, ..cx }),
            None => Step::Into,
        }
    }
}
