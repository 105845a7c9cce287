//! The insides of macros, which nobody parses: calls are found by their shape, `name(...)`, `path::name(...)`,
//! `chain.name(...)`, and their receivers as far as they are chains; so are paths, members and names of types and
//! constants that are not called.
//!
//! Punctuation is no part of the flat tree; it is read from the text between two tokens.

use std::borrow::Cow;

use knowing_model::Range;
use knowing_model::facts::{Call, CallForm, Expr, ExprId, Literal, ReferenceRole, ReferenceTarget};

use super::kinds::Kind;
use super::reader::{Context, Reader, is_capital};
use crate::engine::tree::Node;
use crate::engine::walk::Step;

/// A link of the chain that ends at the current token.
#[derive(Clone, Copy)]
enum Link {
    Name(Node),
    Member(Node),
    Scoped(Node),
    /// A leading `::`.
    Root,
    Try,
    Await,
    Index,
    /// What a call gave, or a literal.
    Known(ExprId),
    Unknown,
}

/// What stands between two tokens, after what belongs to the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Adjacent,
    Dot,
    Colons,
    Bang,
    Break,
}

/// Words that the grammar takes for names where it does not parse.
const KEYWORDS: [&str; 16] = [
    "box", "dyn", "else", "extern", "in", "move", "mut", "ref", "try", "where", "yield", "Fn", "FnMut",
    "FnOnce", "do", "become",
];

impl<'s> Reader<'_, 's> {
    pub(super) fn tokens(&mut self, tree: Node, cx: Context) -> Step<Context> {
        let mut chain: Vec<Link> = Vec::new();
        let mut before: Option<Node> = None;
        // Open angle brackets of `::<...>`.
        let mut n_open = 0_i32;
        // The last name and how many links lead to it, until it is known whether it is called.
        let mut named: Option<(Node, usize)> = None;
        for node in self.children(tree) {
            let gap = match before {
                Some(before) => self.gap(before, node),
                None => self.space(self.b.tree.start(tree) + 1, self.b.tree.start(node)),
            };
            before = Some(node);
            let mut rest: &[u8] = &gap;
            if n_open > 0 || (rest.starts_with(b"::<") && !chain.is_empty()) {
                n_open += angle_brackets(rest);
                if n_open > 0 {
                    continue;
                }
                n_open = 0;
                let close = rest.iter().rposition(|it| *it == b'>').map_or(0, |it| it + 1);
                rest = &rest[close..];
            }
            let joint = take_joint(rest, &mut chain);
            let is_called = joint == Joint::Adjacent && self.b.bytes(node).starts_with(b"(");
            if let Some((name, n_links)) = named.take()
                && !is_called
                && let Some(used) = self.token_use(name, chain.get(..n_links).unwrap_or_default(), joint, cx)
            {
                // What goes on from here goes on from that: chains are as long as somebody made them.
                chain.splice(..n_links, [Link::Known(used)]);
            }
            self.token(node, joint, &gap, &mut chain, cx);
            named = match chain.last() {
                Some(Link::Name(name) | Link::Scoped(name) | Link::Member(name)) => {
                    Some((*name, chain.len()))
                }
                _ => None,
            };
        }
        if let Some((name, n_links)) = named {
            self.token_use(name, chain.get(..n_links).unwrap_or_default(), Joint::Break, cx);
        }
        Step::Within(Context { in_tokens: true, ..cx })
    }

    /// What is named and not called: `x.name`, `Type::name`, and names that begin with a capital. Others are mostly local
    /// variables, or words of the macro.
    fn token_use(&mut self, name: Node, chain: &[Link], joint: Joint, cx: Context) -> Option<ExprId> {
        let role = match chain {
            [Link::Name(_) | Link::Known(_), .., Link::Member(_)] => ReferenceRole::Field,
            _ if matches!(joint, Joint::Colons | Joint::Bang) => return None,
            [Link::Name(_) | Link::Root, .., Link::Scoped(_)] => ReferenceRole::Value,
            [Link::Name(name)] if is_capital(self.b.bytes(*name)) && !self.is(*name, "Self") => {
                ReferenceRole::Value
            }
            _ => return None,
        };
        let expr = self.chain_expr(chain);
        let position = self.b.tree.position(name);
        self.refer(cx.decl, ReferenceTarget::Expr(expr), role, position);
        self.token_qualifier(chain, cx);
        Some(expr)
    }

    /// The type that a path goes through: `Shop` of `Shop::new`.
    fn token_qualifier(&mut self, chain: &[Link], cx: Context) {
        let [through @ .., Link::Scoped(_)] = chain else { return };
        let Some(Link::Name(type_) | Link::Scoped(type_)) = through.last().copied() else { return };
        if is_capital(self.b.bytes(type_)) && !self.is(type_, "Self") {
            let expr = self.chain_expr(through);
            let position = self.b.tree.position(type_);
            self.refer(cx.decl, ReferenceTarget::Expr(expr), ReferenceRole::Type, position);
        }
    }

    fn token(&mut self, node: Node, joint: Joint, gap: &[u8], chain: &mut Vec<Link>, cx: Context) {
        match self.kind(node) {
            Kind::TokenTree => self.token_tree(node, joint, gap, chain, cx),
            Kind::Identifier
            | Kind::SelfWord
            | Kind::Super
            | Kind::Crate
            | Kind::PrimitiveType
            | Kind::Metavariable => {
                let is_plain = self.kind(node) != Kind::Metavariable || self.is(node, "$crate");
                match joint {
                    Joint::Dot => chain.push(Link::Member(node)),
                    Joint::Colons => chain.push(Link::Scoped(node)),
                    _ => {
                        chain.clear();
                        if gap.ends_with(b"::") {
                            chain.extend([Link::Root, Link::Scoped(node)]);
                        } else if gap.ends_with(b".") && !gap.ends_with(b"..") {
                            chain.extend([Link::Unknown, Link::Member(node)]);
                        } else if !is_declared(gap) && !KEYWORDS.iter().any(|it| self.is(node, it)) {
                            chain.push(if is_plain { Link::Name(node) } else { Link::Unknown });
                        }
                    }
                }
            }
            Kind::IntegerLiteral if joint == Joint::Dot => chain.push(Link::Member(node)),
            Kind::StringLiteral | Kind::RawStringLiteral => {
                let text = self.b.expr(Expr::Literal(Literal::String));
                *chain = vec![Link::Known(text)];
            }
            Kind::IntegerLiteral | Kind::FloatLiteral | Kind::CharLiteral | Kind::BooleanLiteral => {
                *chain = vec![Link::Unknown];
            }
            _ => chain.clear(),
        }
    }

    fn token_tree(&mut self, node: Node, joint: Joint, gap: &[u8], chain: &mut Vec<Link>, cx: Context) {
        let open = self.b.bytes(node).first().copied().unwrap_or(b' ');
        if open == b'[' && (gap.ends_with(b"#") || gap.ends_with(b"#!")) {
            // An attribute.
            self.b.consume(node);
            chain.clear();
            return;
        }
        match (open, joint, chain.last().copied()) {
            (_, Joint::Bang, Some(Link::Name(name) | Link::Scoped(name))) => {
                self.token_call(name, node, CallForm::Macro, chain, cx);
                *chain = vec![Link::Unknown];
            }
            (b'(', Joint::Adjacent, Some(Link::Name(name) | Link::Member(name) | Link::Scoped(name))) => {
                let callee = self.token_call(name, node, CallForm::InMacro, chain, cx);
                let given = self.b.expr(Expr::Call { callee });
                *chain = vec![Link::Known(given)];
            }
            (b'[', Joint::Adjacent, Some(_)) => chain.push(Link::Index),
            (b'(' | b'[', ..) => *chain = vec![Link::Unknown],
            _ => chain.clear(),
        }
    }

    fn token_call(
        &mut self,
        name: Node,
        arguments: Node,
        form: CallForm,
        chain: &[Link],
        cx: Context,
    ) -> ExprId {
        let callee = self.chain_expr(chain);
        self.token_qualifier(chain, cx);
        let position = self.b.tree.position(name);
        let n_arguments = self.n_groups(arguments);
        self.b.call(Call {
            decl: cx.decl,
            callee,
            position,
            n_arguments,
            spread: false,
            passed: Vec::new(),
            form,
        });
        callee
    }

    fn chain_expr(&mut self, chain: &[Link]) -> ExprId {
        let mut whole: Option<ExprId> = None;
        for link in chain {
            let of = match whole {
                Some(of) => of,
                None if matches!(link, Link::Name(_) | Link::Root | Link::Known(_) | Link::Unknown) => {
                    ExprId(0)
                }
                None => self.b.expr(Expr::Unknown),
            };
            let expr = match *link {
                Link::Known(expr) => {
                    whole = Some(expr);
                    continue;
                }
                Link::Name(node) => Expr::Name { name: self.b.name(node), at: self.b.tree.start(node) },
                Link::Member(node) => Expr::Member { of, name: self.b.name(node) },
                Link::Scoped(node) => Expr::Scoped { of, name: self.b.name(node) },
                Link::Root => Expr::Root,
                Link::Try => Expr::Try { of },
                Link::Await => Expr::Await { of },
                Link::Index => Expr::Index { of },
                Link::Unknown => Expr::Unknown,
            };
            whole = Some(self.b.expr(expr));
        }
        whole.unwrap_or_else(|| self.b.expr(Expr::Unknown))
    }

    /// How many things, separated by commas, a token tree holds.
    pub(super) fn n_groups(&self, tree: Node) -> u8 {
        let mut n_groups = 0_usize;
        let mut before: Option<Node> = None;
        for node in self.children(tree) {
            n_groups += match before {
                Some(before) => self.gap(before, node).iter().filter(|it| **it == b',').count(),
                None => 1,
            };
            before = Some(node);
        }
        u8::try_from(n_groups).unwrap_or(u8::MAX)
    }

    /// The text between two nodes without white space and comments.
    pub(super) fn gap(&self, before: Node, after: Node) -> Cow<'s, [u8]> {
        self.space(self.b.tree.end(before), self.b.tree.start(after))
    }

    fn space(&self, from: u32, to: u32) -> Cow<'s, [u8]> {
        let text = self.b.source.bytes(Range { from, to: to.max(from) }).trim_ascii();
        if !text.iter().any(|it| it.is_ascii_whitespace() || *it == b'/') {
            return Cow::Borrowed(text);
        }
        Cow::Owned(without_comments(text))
    }
}

/// Moves what belongs to the chain, `?` and `.await`, over to it.
fn take_joint(gap: &[u8], chain: &mut Vec<Link>) -> Joint {
    let mut rest = gap;
    while !chain.is_empty() {
        if let Some(after) = rest.strip_prefix(b"?") {
            chain.push(Link::Try);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b".await") {
            chain.push(Link::Await);
            rest = after;
        } else {
            break;
        }
    }
    match rest {
        _ if chain.is_empty() => Joint::Break,
        b"" => Joint::Adjacent,
        b"." => Joint::Dot,
        b"::" => Joint::Colons,
        b"!" => Joint::Bang,
        _ => Joint::Break,
    }
}

/// Whether the name after it is being declared, not used.
fn is_declared(gap: &[u8]) -> bool {
    const WORDS: [&[u8]; 5] = [b"fn", b"struct", b"enum", b"union", b"trait"];
    WORDS.iter().any(|it| gap.ends_with(it))
}

/// How many more angle brackets are opened than closed; arrows are none.
fn angle_brackets(gap: &[u8]) -> i32 {
    let mut before = b' ';
    let mut n_open = 0;
    for &byte in gap {
        match byte {
            b'<' => n_open += 1,
            b'>' if before != b'-' && before != b'=' => n_open -= 1,
            _ => {}
        }
        before = byte;
    }
    n_open
}

fn without_comments(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        if rest.starts_with(b"//") {
            let end = rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len());
            rest = &rest[end..];
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|it| it == b"*/").map_or(rest.len(), |it| it + 4);
            rest = &rest[end..];
        } else {
            if !first.is_ascii_whitespace() {
                out.push(first);
            }
            rest = after;
        }
    }
    out
}
