//! Which words are local variables. In Ruby a bare word is a variable from the place where it was first assigned in the
//! text, and a call before; blocks see what is around them, `def`, `class` and `module` do not.
//!
//! One pass in source order gives the exact answer, because the language's own parser decides in that order.

use rustc_hash::FxHashMap;

use super::kinds::{Field, Kind};
use crate::engine::build::Builder;
use crate::engine::tree::{Node, Tree};
use knowing_model::facts::DeclId;

/// A `def`, a body or a block, where variables live.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    pub(super) node: Node,
    pub(super) end: u32,
    /// The declaration it is the inside of, or stands in; known when the walk enters it.
    pub(super) decl: Option<DeclId>,
}

pub(super) struct Locals {
    pub(super) scopes: Vec<Scope>,
    by_node: FxHashMap<Node, u32>,
    /// By node: the number of the scope plus one in which the variable that a word names lives.
    owner: Vec<u32>,
}

impl Locals {
    /// The scope of the variable that this word reads or sets; none when it is no variable.
    pub(super) fn scope_of(&self, word: Node) -> Option<usize> {
        self.owner[word.index()].checked_sub(1).map(|it| it as usize)
    }

    pub(super) fn is_local(&self, word: Node) -> bool {
        self.owner[word.index()] != 0
    }

    /// The scope that a node opens.
    pub(super) fn opened_by(&self, node: Node) -> Option<usize> {
        self.by_node.get(&node).map(|it| *it as usize)
    }

    pub(super) fn read(b: &Builder<'_>) -> Locals {
        let mut reader = Reader {
            b,
            tree: b.tree,
            open: Vec::new(),
            known: FxHashMap::default(),
            locals: Locals {
                scopes: Vec::new(),
                by_node: FxHashMap::default(),
                owner: vec![0; b.tree.len()],
            },
        };
        for index in 0..b.tree.len() {
            reader.enter(Node(u32::try_from(index).unwrap_or(u32::MAX)));
        }
        reader.locals
    }
}

/// A scope that the pass is in.
struct Open {
    scope: u32,
    /// The node after it.
    after: Node,
    /// Whether it sees the variables around it.
    is_block: bool,
}

struct Reader<'b, 's> {
    b: &'b Builder<'s>,
    tree: &'s Tree,
    open: Vec<Open>,
    known: FxHashMap<(u32, &'s [u8]), ()>,
    locals: Locals,
}

impl<'s> Reader<'_, 's> {
    fn kind(&self, node: Node) -> Kind {
        Kind::from(self.tree.kind(node))
    }

    fn enter(&mut self, node: Node) {
        while self.open.last().is_some_and(|it| it.after <= node) {
            self.open.pop();
        }
        match self.kind(node) {
            Kind::Program
            | Kind::Method
            | Kind::SingletonMethod
            | Kind::Class
            | Kind::Module
            | Kind::SingletonClass => self.open_scope(node, false),
            Kind::Block | Kind::DoBlock | Kind::Lambda => self.open_scope(node, true),
            Kind::Identifier => self.word(node),
            // `in {name:}` binds without a word of its own.
            Kind::HashKeySymbol => {
                let parent = self.tree.parent(node);
                let binds = parent.is_some_and(|it| {
                    self.kind(it) == Kind::KeywordPattern && self.tree.child(it, Field::Value).is_none()
                });
                if binds {
                    self.bind(node);
                }
            }
            Kind::Call if self.b.is_test => self.maybe_let(node),
            _ => {}
        }
    }

    fn open_scope(&mut self, node: Node, is_block: bool) {
        let number = u32::try_from(self.locals.scopes.len()).unwrap_or(u32::MAX);
        self.locals.scopes.push(Scope { node, end: self.tree.end(node), decl: None });
        self.locals.by_node.insert(node, number);
        self.open.push(Open { scope: number, after: self.tree.after(node), is_block });
    }

    fn word(&mut self, node: Node) {
        let Some(parent) = self.tree.parent(node) else { return };
        let field = Field::from(self.tree.field(node));
        match (self.kind(parent), field) {
            (Kind::Assignment | Kind::OperatorAssignment, Field::Left)
            | (Kind::For, Field::Pattern)
            | (Kind::LeftAssignmentList | Kind::DestructuredLeftAssignment | Kind::RestAssignment, _)
            | (Kind::ExceptionVariable, _)
            | (Kind::ArrayPattern | Kind::FindPattern | Kind::AlternativePattern, _)
            | (Kind::ParenthesizedPattern, _)
            | (Kind::KeywordPattern, Field::Value)
            | (Kind::AsPattern, _)
            | (Kind::InClause, Field::Pattern) => self.bind(node),
            (Kind::MethodParameters | Kind::BlockParameters, _)
            | (Kind::LambdaParameters | Kind::DestructuredParameter, _)
            | (
                Kind::OptionalParameter
                | Kind::KeywordParameter
                | Kind::SplatParameter
                | Kind::HashSplatParameter
                | Kind::BlockParameter,
                Field::Name,
            ) => self.bind_here(node),
            (Kind::Call, Field::Method)
            | (Kind::Method | Kind::SingletonMethod | Kind::Setter, Field::Name)
            | (Kind::Alias | Kind::Undef, _) => {}
            _ => {
                if let Some(scope) = self.find(node) {
                    self.locals.owner[node.index()] = scope + 1;
                }
            }
        }
    }

    fn find(&self, node: Node) -> Option<u32> {
        self.find_text(self.b.bytes(node))
    }

    fn find_text(&self, text: &'s [u8]) -> Option<u32> {
        for open in self.open.iter().rev() {
            if self.known.contains_key(&(open.scope, text)) {
                return Some(open.scope);
            }
            if !open.is_block {
                return None;
            }
        }
        None
    }

    fn bind(&mut self, node: Node) {
        match self.find(node) {
            Some(scope) => self.locals.owner[node.index()] = scope + 1,
            None => self.bind_here(node),
        }
    }

    fn bind_here(&mut self, node: Node) {
        let Some(open) = self.open.last() else { return };
        self.known.insert((open.scope, self.b.bytes(node)), ());
        self.locals.owner[node.index()] = open.scope + 1;
    }

    /// `let(:name) { ... }` of a test names a value for the whole group around it.
    fn maybe_let(&mut self, call: Node) {
        let Some(open) = self.open.last() else { return };
        if let Some(symbol) = let_name(self.b, call) {
            self.known.insert((open.scope, symbol.1), ());
            self.locals.owner[symbol.0.index()] = open.scope + 1;
        }
    }
}

/// The symbol and the name that `let(:name) { ... }` or `subject { ... }` gives to what its block makes.
pub(super) fn let_name<'s>(b: &Builder<'s>, call: Node) -> Option<(Node, &'s [u8])> {
    let tree = b.tree;
    let method = tree.child(call, Field::Method)?;
    let is_let = matches!(b.bytes(method), b"let" | b"let!");
    let is_subject = matches!(b.bytes(method), b"subject" | b"subject!");
    if !(is_let || is_subject)
        || tree.child(call, Field::Receiver).is_some()
        || tree.child(call, Field::Block).is_none()
    {
        return None;
    }
    let argument = tree.child(call, Field::Arguments).and_then(|it| tree.first_child(it));
    match argument {
        Some(symbol) if Kind::from(tree.kind(symbol)) == Kind::SimpleSymbol => {
            Some((symbol, b.bytes(symbol).get(1..)?))
        }
        None if is_subject => Some((method, b"subject")),
        _ => None,
    }
}
