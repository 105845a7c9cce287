//! The walk: what each node kind means, and the context around it.

use knowing_model::NodeFlags;
use knowing_model::facts::{Base, DeclId, Passed, Str};
use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::Role;
use super::kinds::{Field, Kind};
use super::locals::Locals;
use super::macros::Mixin;
use crate::engine::build::Builder;
use crate::engine::tree::Node;
use crate::engine::walk::{Step, Visitor, walk};

pub(super) fn read(builder: &mut Builder<'_>) {
    let locals = Locals::read(builder);
    let mut type_tests = builder.source.occurrences("is_a?");
    type_tests.extend(builder.source.occurrences("kind_of?"));
    type_tests.extend(builder.source.occurrences("instance_of?"));
    type_tests.sort_unstable();
    let context = Context {
        decl: None,
        type_: None,
        function: None,
        level: Level::Top,
        certain_to: builder.source.len(),
        group: None,
        in_block: false,
    };
    let tree = builder.tree;
    let mut reader = Reader {
        b: builder,
        locals,
        members: FxHashMap::default(),
        fields: FxHashMap::default(),
        blocks: FxHashMap::default(),
        mixins: FxHashMap::default(),
        visibility: FxHashMap::default(),
        hidden: FxHashSet::default(),
        symbols: FxHashMap::default(),
        groups: Vec::new(),
        sig: None,
        sig_params: None,
        spine: Vec::new(),
        type_tests,
    };
    reader.file_doc();
    walk(tree, &mut reader, context);
    reader.finish();
}

/// What holds around a node.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// The innermost callable or type.
    pub(super) decl: Option<DeclId>,
    /// The innermost class or module.
    pub(super) type_: Option<DeclId>,
    /// The callable whose result `return` here gives.
    pub(super) function: Option<DeclId>,
    pub(super) level: Level,
    /// The end of the innermost block that may not run.
    pub(super) certain_to: u32,
    /// The group of examples around, by its place in `groups`.
    pub(super) group: Option<usize>,
    /// In a block of a body that may run anywhere.
    pub(super) in_block: bool,
}

/// What `self` is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Level {
    Top,
    /// The class or module itself, in its body.
    Body,
    /// The same, in `class << self`.
    Singleton,
    /// The class or module itself, in one of its own methods.
    ClassMethod,
    /// A value of the class.
    Instance,
}

impl Context {
    /// Directly in the body of a class, module or `class << self`.
    pub(super) fn is_body(self) -> bool {
        matches!(self.level, Level::Body | Level::Singleton) && self.decl == self.type_ && !self.in_block
    }
}

/// Who may call the methods that follow.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Visibility {
    #[default]
    Public,
    Hidden,
    ModuleFunction,
}

/// A member of a type, of the type itself or of its values.
pub(super) type MemberKey = (Option<DeclId>, Str, bool);

pub(super) struct Reader<'b, 's> {
    pub(super) b: &'b mut Builder<'s>,
    pub(super) locals: Locals,
    pub(super) members: FxHashMap<MemberKey, DeclId>,
    /// Instance variables of types.
    pub(super) fields: FxHashMap<MemberKey, DeclId>,
    /// Blocks that are more than a piece of the code around them.
    pub(super) blocks: FxHashMap<Node, Role>,
    pub(super) mixins: FxHashMap<DeclId, Vec<(Mixin, Base)>>,
    /// By body; `class << self` has one of its own.
    pub(super) visibility: FxHashMap<(Option<DeclId>, bool), Visibility>,
    /// Definitions that stand behind `private` and the like.
    pub(super) hidden: FxHashSet<Node>,
    /// Members that the symbols of a call in a body may name, by call.
    pub(super) symbols: FxHashMap<Node, Vec<Passed>>,
    /// Joined titles of the groups of examples.
    pub(super) groups: Vec<String>,
    /// A Sorbet `sig` whose method has not come yet.
    pub(super) sig: Option<Node>,
    /// Names and types of the parameters that it states.
    pub(super) sig_params: Option<Vec<(String, knowing_model::Range)>>,
    /// Nodes of a chain of calls, while it is followed.
    pub(super) spine: Vec<Node>,
    /// Where `is_a?` and its like stand.
    pub(super) type_tests: Vec<u32>,
}

impl Visitor for Reader<'_, '_> {
    type Context = Context;

    fn is_full(&self) -> bool {
        self.b.is_full()
    }

    fn enter(&mut self, node: Node, cx: Context) -> Step<Context> {
        match self.kind(node) {
            Kind::Program => {
                self.enter_scope(node, cx);
                Step::Into
            }
            Kind::Identifier => self.identifier(node, cx),
            Kind::Constant | Kind::ScopeResolution => self.constant(node, cx),
            Kind::InstanceVariable | Kind::ClassVariable => self.instance_variable(node, cx),
            Kind::Call => self.call(node, cx),
            Kind::Super => self.super_call(node, cx),
            Kind::ElementReference => self.element_reference(node, cx),
            Kind::Subshell => self.subshell(node, cx),
            Kind::Method => self.method(node, cx),
            Kind::SingletonMethod => self.singleton_method(node, cx),
            Kind::Class => self.class(node, cx),
            Kind::Module => self.module(node, cx),
            Kind::SingletonClass => self.singleton_class(node, cx),
            Kind::Block | Kind::DoBlock | Kind::Lambda => self.block(node, cx),
            Kind::Assignment => self.assignment(node, cx),
            Kind::OperatorAssignment => self.operator_assignment(node, cx),
            Kind::For => self.for_loop(node, cx),
            Kind::Rescue => self.rescue(node, cx),
            Kind::Return => self.returned(node, cx),
            Kind::Yield => self.yielded(node, cx),
            Kind::Alias => self.alias(node, cx),
            Kind::Undef => Step::Over,
            Kind::If | Kind::Unless | Kind::Elsif | Kind::Conditional => self.conditional(node, cx),
            Kind::IfModifier | Kind::UnlessModifier => self.modifier(node, cx),
            Kind::Case => self.case(node, cx),
            Kind::InClause => self.in_clause(node, cx),
            Kind::Binary => self.conjunction(node, cx),
            Kind::Then | Kind::Else | Kind::Do | Kind::Ensure | Kind::When => {
                Step::Within(Context { certain_to: self.b.tree.end(node).min(cx.certain_to), ..cx })
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

    pub(super) fn is(&self, node: Node, text: &str) -> bool {
        self.b.bytes(node) == text.as_bytes()
    }

    pub(super) fn arguments(&self, call: Node) -> Vec<Node> {
        self.child(call, Field::Arguments).map(|it| self.children(it).collect()).unwrap_or_default()
    }

    /// The name a literal symbol or text gives: `:name`, `"name"`, `name` of `%i[name]`.
    pub(super) fn literal_name(&self, node: Node) -> Option<&'s str> {
        let text = std::str::from_utf8(self.b.bytes(node)).ok()?;
        let is_whole = self.first_child(node).is_none();
        match self.kind(node) {
            Kind::SimpleSymbol => text.strip_prefix(':'),
            Kind::BareSymbol | Kind::BareString | Kind::HashKeySymbol if is_whole => Some(text),
            Kind::DelimitedSymbol if is_whole => unquoted(text.strip_prefix(':')?),
            Kind::String if is_whole => unquoted(text),
            _ => None,
        }
        .filter(|it| !it.is_empty())
    }

    /// Literal names among arguments, arrays of them included.
    pub(super) fn literal_names(&self, arguments: &[Node]) -> Vec<(Node, &'s str)> {
        let mut out = Vec::new();
        for &argument in arguments {
            match self.kind(argument) {
                Kind::Array | Kind::SymbolArray | Kind::StringArray => {
                    let items = self.children(argument);
                    out.extend(items.filter_map(|it| Some((it, self.literal_name(it)?))));
                }
                _ => out.extend(self.literal_name(argument).map(|it| (argument, it))),
            }
        }
        out
    }

    /// The value of a keyword argument.
    pub(super) fn keyword(&self, arguments: &[Node], name: &str) -> Option<Node> {
        let pairs = arguments.iter().filter(|it| self.kind(**it) == Kind::Pair);
        let mut found = pairs.filter(|it| {
            let key = self.child(**it, Field::Key);
            key.is_some_and(|key| self.literal_name(key) == Some(name))
        });
        found.next().and_then(|it| self.child(*it, Field::Value))
    }

    /// Words of an operator between two nodes.
    pub(super) fn between(&self, left: Node, right: Node) -> &'s [u8] {
        let range = knowing_model::Range { from: self.b.tree.end(left), to: self.b.tree.start(right) };
        self.b.source.bytes(range).trim_ascii()
    }

    pub(super) fn enter_scope(&mut self, node: Node, cx: Context) {
        if let Some(scope) = self.locals.opened_by(node) {
            self.locals.scopes[scope].decl = cx.decl;
        }
    }

    /// What could be told only at the end.
    fn finish(mut self) {
        self.finish_mixins();
        self.b.facts.calls.sort_by_key(|it| it.position);
        self.b.facts.references.sort_by_key(|it| it.position);
        self.b.facts.bindings.sort_by_key(|it| it.visible.from);
        self.b.facts.imports.sort_by_key(|it| it.position);
    }
}

/// The inside of a text literal as it is written.
pub(super) fn unquoted(raw: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = raw.strip_prefix(quote) {
            return Some(rest.strip_suffix(quote).unwrap_or(rest));
        }
    }
    // `%q(text)`, `%(text)`.
    let inner = raw.strip_prefix('%')?.trim_start_matches(['q', 'Q']);
    let mut characters = inner.chars();
    characters.next()?;
    characters.next_back()?;
    Some(characters.as_str())
}

pub(super) fn exported(is_public: bool) -> NodeFlags {
    if is_public { NodeFlags::EXPORTED } else { NodeFlags::default() }
}
