//! Conditionals that tear code apart: a branch that opens a block and does not close it, that stands in the middle of a
//! statement, or between the parts of one. The grammars read conditionals around whole statements and declarations,
//! with both branches; of the others one branch is kept, as if there were no conditional. `#if 0` keeps nothing.

use super::Changes;
use super::scan::{Token, TokenKind};

/// Which tokens are of no branch that is kept; torn conditionals and those tokens are blanked.
pub(super) fn torn(bytes: &[u8], tokens: &[Token], changes: &mut Changes) -> Vec<bool> {
    let mut pass =
        Pass { bytes, tokens, dead: vec![false; tokens.len()], groups: Vec::new(), state: State::default() };
    if tokens.iter().any(|it| it.kind == TokenKind::Directive) {
        for at in 0..tokens.len() {
            pass.take(at, changes);
        }
    }
    pass.dead
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Directive {
    If { never: bool },
    Else,
    End,
    Other,
}

/// Where in the code a token stands.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct State {
    /// Round and square brackets that are open since the last brace.
    n_open: i32,
    braces: Vec<Brace>,
    /// The last token that counts, by number.
    last: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Brace {
    /// Brackets that were open before it.
    n_open: i32,
    /// Of a list of values.
    is_list: bool,
}

struct Group {
    /// Number of the `#if`, and of the directives after it.
    directives: Vec<usize>,
    begin: State,
    /// Where each branch left off.
    ends: Vec<State>,
    never: bool,
}

struct Pass<'b> {
    bytes: &'b [u8],
    tokens: &'b [Token],
    dead: Vec<bool>,
    groups: Vec<Group>,
    state: State,
}

impl Pass<'_> {
    fn take(&mut self, at: usize, changes: &mut Changes) {
        let token = self.tokens[at];
        match token.kind {
            TokenKind::Directive => match directive(token.text(self.bytes)) {
                Directive::If { never } => {
                    let begin = self.state.clone();
                    self.groups.push(Group { directives: vec![at], begin, ends: Vec::new(), never });
                }
                Directive::Else => {
                    if let Some(group) = self.groups.last_mut() {
                        group.directives.push(at);
                        group.ends.push(std::mem::replace(&mut self.state, group.begin.clone()));
                    }
                }
                Directive::End => {
                    if let Some(mut group) = self.groups.pop() {
                        group.directives.push(at);
                        group.ends.push(self.state.clone());
                        self.close(&group, changes);
                    }
                }
                Directive::Other => {}
            },
            _ => self.step(at),
        }
    }

    fn step(&mut self, at: usize) {
        let state = &mut self.state;
        match self.tokens[at].kind {
            TokenKind::Mark(b'(' | b'[') => state.n_open += 1,
            TokenKind::Mark(b')' | b']') => state.n_open -= 1,
            TokenKind::Mark(b'{') => {
                let before = state.last.map(|it| &self.tokens[it]);
                let in_list = state.braces.last().is_some_and(|it| it.is_list);
                let is_list = before.is_some_and(|it| it.is(b'=') || in_list && !it.is(b')'));
                let is_enum = (1..=4).any(|back| {
                    let before = at.checked_sub(back).map(|it| &self.tokens[it]);
                    before.is_some_and(|it| it.text(self.bytes) == b"enum")
                });
                state.braces.push(Brace { n_open: state.n_open, is_list: is_list && !is_enum });
                state.n_open = 0;
            }
            TokenKind::Mark(b'}') => {
                state.n_open = state.braces.pop().map_or(-1, |it| it.n_open);
            }
            _ => {}
        }
        state.last = Some(at);
    }

    /// All branches are known.
    fn close(&mut self, group: &Group, changes: &mut Changes) {
        let is_balanced = self.is_balanced(group);
        let is_list = group.begin.braces.last().is_some_and(|it| it.is_list) && group.begin.n_open == 0;
        if is_list && is_balanced {
            // Values of both branches can stand beside each other.
            if group.never {
                self.kill(group.directives[0] + 1, group.directives[1], changes);
            }
            self.blank_directives(group, changes);
            self.state = group.begin.clone();
            return;
        }
        let is_torn = !is_balanced || self.is_torn(group);
        let kept = match (group.never, is_torn) {
            (true, _) => Some(1),
            (false, true) => Some(0),
            (false, false) => None,
        };
        if let Some(kept) = kept {
            for (branch, ends) in group.directives.windows(2).enumerate() {
                if branch == kept || group.never && !is_torn && branch > kept {
                    continue;
                }
                self.kill(ends[0] + 1, ends[1], changes);
            }
        }
        if is_torn {
            self.blank_directives(group, changes);
        }
        self.state = match kept {
            Some(kept) if is_torn => group.ends.get(kept).unwrap_or(&group.begin).clone(),
            _ => group.begin.clone(),
        };
    }

    fn blank_directives(&self, group: &Group, changes: &mut Changes) {
        for at in &group.directives {
            changes.blank(self.tokens[*at].from, self.tokens[*at].to);
        }
    }

    fn kill(&mut self, from: usize, to: usize, changes: &mut Changes) {
        if from < to {
            changes.blank(self.tokens[from].from, self.tokens[to - 1].to);
            self.dead[from..to].fill(true);
        }
    }

    /// Whether every branch closes what it opens.
    fn is_balanced(&self, group: &Group) -> bool {
        let places = |it: &State| (it.n_open, it.braces.len());
        let begin = places(&group.begin);
        group.ends.iter().skip(usize::from(group.never)).all(|it| places(it) == begin)
    }

    fn is_torn(&self, group: &Group) -> bool {
        group.begin.n_open > 0
            || self.is_inside(group.begin.last)
            || group.directives.windows(2).any(|ends| self.hangs_over(ends[0], ends[1], group))
    }

    /// Whether a statement has begun and not ended after this token.
    fn is_inside(&self, last: Option<usize>) -> bool {
        let Some(at) = last else { return false };
        let token = self.tokens[at];
        match token.kind {
            TokenKind::Mark(b';' | b'{' | b'}' | b':' | b'>') => false,
            TokenKind::Mark(b')') => self.is_condition(at),
            // A macro on its own, as some have before or between declarations.
            TokenKind::Word => !is_constant_case(token.text(self.bytes)),
            TokenKind::Literal | TokenKind::Scope | TokenKind::Mark(_) => true,
            TokenKind::Directive => false,
        }
    }

    /// Whether a branch begins with the rest of a statement or ends with the begin of one.
    fn hangs_over(&self, from: usize, to: usize, group: &Group) -> bool {
        let live = |at: &usize| !self.dead[*at] && self.tokens[*at].kind != TokenKind::Directive;
        let Some(first) = (from + 1..to).find(live) else { return false };
        let last = (from + 1..to).rev().find(live).unwrap_or(first);
        let first = self.tokens[first];
        let begins_late = match first.kind {
            TokenKind::Word => matches!(first.text(self.bytes), b"else" | b"catch"),
            TokenKind::Mark(mark) => {
                matches!(mark, b'|' | b'&' | b'+' | b'?' | b',' | b'.' | b')' | b']' | b'=')
            }
            _ => false,
        };
        if begins_late || self.is_inside(Some(last)) {
            return true;
        }
        let end = group.directives.last().copied().unwrap_or(to);
        let next =
            (end + 1..self.tokens.len()).take(64).find(|it| self.tokens[*it].kind != TokenKind::Directive);
        let Some(next) = next.map(|it| self.tokens[it]) else { return false };
        let last = self.tokens[last];
        // A head whose body follows, an `if` whose `else` follows.
        last.is(b')') && (next.is(b'{') || next.is(b';')) || last.is(b'}') && next.text(self.bytes) == b"else"
            // The body after a head.
            || first.is(b'{') && group.begin.last.is_some_and(|it| self.tokens[it].is(b')'))
    }

    /// Whether the bracket that closes here is that of `if (...)` and the like.
    fn is_condition(&self, close: usize) -> bool {
        let mut depth = 0_usize;
        for at in (0..=close).rev() {
            match self.tokens[at].kind {
                _ if self.dead[at] => {}
                TokenKind::Mark(b')') => depth += 1,
                TokenKind::Mark(b'(') if depth == 1 => {
                    let before = at.checked_sub(1).map(|it| self.tokens[it].text(self.bytes));
                    return matches!(before, Some(b"if" | b"while" | b"for" | b"switch"));
                }
                TokenKind::Mark(b'(') => depth -= 1,
                TokenKind::Mark(b';' | b'{' | b'}') if depth == 0 => return false,
                _ => {}
            }
        }
        false
    }
}

fn directive(text: &[u8]) -> Directive {
    let text = text[1..].trim_ascii_start();
    let n = text.iter().take_while(|it| it.is_ascii_alphabetic()).count();
    match &text[..n] {
        b"if" => {
            let condition = text[n..].trim_ascii();
            let never =
                condition.first() == Some(&b'0') && !condition.get(1).is_some_and(u8::is_ascii_alphanumeric);
            Directive::If { never: never && !condition.contains(&b'|') }
        }
        b"ifdef" | b"ifndef" => Directive::If { never: false },
        b"else" | b"elif" | b"elifdef" | b"elifndef" => Directive::Else,
        b"endif" => Directive::End,
        _ => Directive::Other,
    }
}

/// `LIKE_THIS`, as macros are written.
pub(super) fn is_constant_case(text: &[u8]) -> bool {
    text.len() > 1
        && text.iter().any(u8::is_ascii_uppercase)
        && text.iter().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'_')
}
