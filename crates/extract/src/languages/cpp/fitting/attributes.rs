//! Macros where the language has no place for a name: attributes of declarations, types that a macro makes, lines that
//! are nothing but a macro. Looked for where declarations stand; the few of bodies are in `elsewhere`.
//!
//! ```text
//! class API Shop {          API void f();      BOOL WINAPI f();      void f(int x UNUSED) NORETURN;
//!       ~~~                 ~~~                     ~~~~~~                        ~~~~~~  ~~~~~~~~
//! FUNC(int) f(void);        DEFINE_LIST(x)     static always_inline u32 f();
//! ~~~~~   ~                               ;           ~~~~~~~~~~~~~
//! ```

mod elsewhere;
mod words;

use super::Changes;
use super::conditionals::is_constant_case;
use super::scan::{Token, TokenKind};
use words::{begins_declaration, follows_parameters, is_access_word, is_keyword, is_specifier, is_type_word};

pub(super) fn misplaced(bytes: &[u8], tokens: &[Token], dead: &[bool], changes: &mut Changes) {
    let live: Vec<Token> = tokens.iter().zip(dead).filter(|(_, dead)| !**dead).map(|it| *it.0).collect();
    let mut pass = Pass { bytes, tokens: &live, scopes: Vec::new(), changes };
    pass.run();
}

/// What the code between two braces is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Declarations,
    Other,
}

struct Pass<'b> {
    bytes: &'b [u8],
    tokens: &'b [Token],
    scopes: Vec<Scope>,
    changes: &'b mut Changes,
}

/// A part of the head of a declaration, as a range of tokens.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: usize,
    to: usize,
    /// `NAME(...)` with something after it.
    is_call: bool,
}

/// A declaration up to its parameters, its value or its end.
#[derive(Default, Debug)]
struct Head {
    parts: Vec<Part>,
    /// `int` and the like, or a name after `struct`: there is a type.
    has_type: bool,
    /// `struct`, `class` ... with how many parts stand before.
    tag: Option<usize>,
    /// First token that is not taken in.
    end: usize,
    /// The declared name is no part: `operator`, `~`.
    is_named: bool,
}

impl Pass<'_> {
    fn run(&mut self) {
        let mut at = 0;
        let mut statement = 0;
        let mut n_open = 0_usize;
        // Braces within brackets.
        let mut outer: Vec<usize> = Vec::new();
        while at < self.tokens.len() {
            if at == statement && n_open == 0 && self.is_among_declarations() {
                self.declaration(at);
            }
            match self.tokens[at].kind {
                TokenKind::Mark(b'(' | b'[') => n_open += 1,
                TokenKind::Mark(b')' | b']') => n_open = n_open.saturating_sub(1),
                TokenKind::Mark(b'{') => {
                    if n_open == 0 && !self.is_among_declarations() {
                        self.block_macro(statement, at);
                    }
                    let scope = if n_open == 0 { self.scope(statement, at) } else { Scope::Other };
                    if (statement..at).any(|it| self.text(it) == b"enum")
                        && !self.is(at.saturating_sub(1), b')')
                    {
                        self.enumerators(at + 1);
                    }
                    self.scopes.push(scope);
                    outer.push(n_open);
                    n_open = 0;
                    statement = at + 1;
                }
                TokenKind::Mark(b'}') => {
                    self.scopes.pop();
                    n_open = outer.pop().unwrap_or(0);
                    statement = at + 1;
                }
                TokenKind::Mark(b';') if n_open == 0 => statement = at + 1,
                TokenKind::Mark(b':') if n_open == 0 && self.is_access(statement, at) => statement = at + 1,
                TokenKind::Directive if statement == at || self.is_macro_line(statement, at) => {
                    statement = at + 1;
                }
                TokenKind::Word if self.text(at) == b"template" => self.template_macros(at + 1),
                // `if CONSTEXPR (...)`.
                TokenKind::Word
                    if self.text(at) == b"if"
                        && is_constant_case(self.text(at + 1))
                        && self.is(at + 2, b'(') =>
                {
                    self.blank(at + 1, at + 2);
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether all that stands before is one macro with its brackets.
    fn is_macro_line(&self, statement: usize, end: usize) -> bool {
        self.is_among_declarations()
            && is_constant_case(self.text(statement))
            && self.closing(statement + 1).is_some_and(|it| it + 1 == end)
    }

    fn is_among_declarations(&self) -> bool {
        self.scopes.iter().all(|it| *it == Scope::Declarations)
    }

    fn text(&self, at: usize) -> &[u8] {
        self.tokens.get(at).map_or(b"", |it| it.text(self.bytes))
    }

    fn is(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|it| it.is(mark))
    }

    fn is_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(Token::is_word)
    }

    /// `public:`, `protected slots:`.
    fn is_access(&self, statement: usize, colon: usize) -> bool {
        let before = |n: usize| colon.checked_sub(n).map_or(&b""[..], |at| self.text(at));
        is_access_word(before(1))
            || is_access_word(before(2))
            || matches!(before(1), b"signals" | b"Q_SIGNALS")
            || colon == statement + 1 && self.is_access_macro(statement)
    }

    /// `PRIVATE_UNLESS_TESTED:` in a class; before a number it is a field without a name.
    fn is_access_macro(&self, at: usize) -> bool {
        is_constant_case(self.text(at))
            && self.is(at + 1, b':')
            && !self.scopes.is_empty()
            && self.is_among_declarations()
            && self.tokens.get(at + 2).is_some_and(|it| it.kind != TokenKind::Literal)
    }

    fn scope(&self, statement: usize, brace: usize) -> Scope {
        if !self.is_among_declarations() {
            return Scope::Other;
        }
        let head = statement..brace;
        let has = |words: &[&[u8]]| head.clone().any(|at| words.contains(&self.text(at)));
        let before = brace.checked_sub(1).filter(|it| *it >= statement);
        if before.is_some_and(|it| self.is(it, b')') || self.is(it, b'=')) || has(&[b"enum"]) {
            return Scope::Other;
        }
        // A bracket is that of a function's parameters, if it is none of an attribute.
        let is_function = head.clone().skip(1).any(|at| {
            let before = self.text(at - 1);
            self.is(at, b'(')
                && !is_constant_case(before)
                && !matches!(before, b"__attribute__" | b"alignas" | b"__declspec" | b"(")
        });
        if is_function {
            return Scope::Other;
        }
        let opens_linkage = self.text(statement) == b"extern" && head.len() == 2;
        if has(&[b"namespace", b"class", b"struct", b"union"]) || opens_linkage {
            return Scope::Declarations;
        }
        Scope::Other
    }

    fn declaration(&mut self, at: usize) {
        if self.is_access_macro(at) {
            self.blank(at, at + 2);
            return;
        }
        let mut at = at;
        // Lines that are a macro and no more come one after the other.
        while let Some(after) = self.line_of_macro(at) {
            at = after;
        }
        let mut head = self.head(at);
        self.trailing_attribute(&mut head);
        if is_access_word(self.text(head.end)) {
            if self.is_word(head.end + 1) && self.is(head.end + 2, b':') {
                self.blank(head.end + 1, head.end + 2);
            }
            for part in head.parts.iter().filter(|it| !it.is_call) {
                if is_constant_case(self.text(part.from)) {
                    self.blank(part.from, part.to);
                }
            }
            return;
        }
        self.blank_attributes(&head);
        if self.is(head.end, b'(')
            && let Some(close) = self.closing(head.end)
        {
            self.parameters(head.end + 1, close);
            // Those of a pointer to a function come after its name.
            let close = if head.is_named { Some(close) } else { self.closing(close + 1).or(Some(close)) };
            self.after_parameters(close.unwrap_or_default() + 1);
        }
    }

    /// `DEFINE_LIST(x)` without an end of its own, and the next line begins something else.
    fn line_of_macro(&mut self, at: usize) -> Option<usize> {
        if !self.is_word(at) || is_keyword(self.text(at)) {
            return None;
        }
        if !self.is(at + 1, b'(') {
            // `BEGIN_DECLS`, before a directive.
            let is_alone = is_constant_case(self.text(at))
                && self.tokens.get(at + 1).is_none_or(|it| it.kind == TokenKind::Directive);
            if is_alone {
                self.blank(at, at + 1);
            }
            // `BEGIN_NAMESPACE`, before what no type can stand before.
            if is_constant_case(self.text(at)) && begins_declaration(self.text(at + 1)) {
                self.blank(at, at + 1);
                return Some(at + 1);
            }
            return None;
        }
        let close = self.closing(at + 1)?;
        let end = self.tokens[close].to;
        let Some(next) = self.tokens.get(close + 1) else {
            self.end_statement(end);
            return None;
        };
        let between = &self.bytes[end as usize..next.from as usize];
        let begins = match next.kind {
            TokenKind::Directive => true,
            TokenKind::Word => {
                let is_type = self.is(close + 2, b'(') && !is_constant_case(self.text(close + 1));
                !is_type && !follows_parameters(self.text(close + 1))
            }
            TokenKind::Mark(b'}' | b'~') => true,
            _ => false,
        };
        let is_old_function = !is_constant_case(self.text(at)) && self.are_names(at + 2, close);
        if !begins || is_old_function || !between.contains(&b'\n') {
            return None;
        }
        self.end_statement(end);
        (next.kind != TokenKind::Directive).then_some(close + 1)
    }

    /// `a, b, c`
    fn are_names(&self, from: usize, to: usize) -> bool {
        (from..to).all(|at| self.is(at, b',') || self.is_word(at) && !is_keyword(self.text(at)))
    }

    fn end_statement(&mut self, at: u32) {
        if self.bytes.get(at as usize).is_some_and(u8::is_ascii_whitespace) {
            self.changes.ends.push(at);
        }
    }

    fn head(&self, at: usize) -> Head {
        /// Longer than any head; bounds what a file without ends costs.
        const MAX_TOKENS: usize = 200;
        let mut head = Head { end: at, is_named: true, ..Head::default() };
        let mut next = at;
        while next < at + MAX_TOKENS && next < self.tokens.len() {
            head.end = next;
            let token = &self.tokens[next];
            match token.kind {
                TokenKind::Mark(b'*' | b'&') => next += 1,
                TokenKind::Mark(b'[') if self.is(next + 1, b'[') => match self.closing(next) {
                    Some(close) => next = close + 1,
                    None => break,
                },
                TokenKind::Mark(b'~') => {
                    head.is_named = false;
                    break;
                }
                TokenKind::Word => match token.text(self.bytes) {
                    b"operator" => {
                        head.is_named = false;
                        break;
                    }
                    b"template" => match self.closing_angle(next + 1) {
                        Some(close) => next = close + 1,
                        None => break,
                    },
                    b"struct" | b"class" | b"union" | b"enum" => {
                        head.tag = Some(head.parts.len());
                        next += 1;
                    }
                    b"__attribute__" | b"__declspec" | b"alignas" | b"_Alignas" | b"__asm__" => {
                        match self.closing(next + 1) {
                            Some(close) => next = close + 1,
                            None => break,
                        }
                    }
                    word if is_specifier(word) => next += 1,
                    word if is_type_word(word) => {
                        head.has_type = true;
                        next += 1;
                    }
                    word if is_keyword(word) => break,
                    _ => match self.part(next, head.has_type || !head.parts.is_empty()) {
                        Some(part) => {
                            next = part.to;
                            head.parts.push(part);
                        }
                        None => break,
                    },
                },
                TokenKind::Scope if self.is_word(next + 1) => next += 1,
                // `extern "C"`
                TokenKind::Literal if next > at && self.text(next - 1) == b"extern" => next += 1,
                _ => break,
            }
            head.end = next;
        }
        // `(*name)(...)`: the name stands in brackets.
        let is_pointer = self.is(head.end + 1, b'*') || self.is(head.end + 1, b'&');
        let is_wrapped =
            self.is_word(head.end + 1) && self.is(head.end + 2, b')') && self.is(head.end + 3, b'(');
        if self.is(head.end, b'(') && (is_pointer || is_wrapped) {
            head.is_named = false;
        }
        head
    }

    /// A name with its qualifiers, or `NAME(...)` with something after it. Where there is a type already, lower case is
    /// that of a function whose parameters have their types after them.
    fn part(&self, at: usize, is_typed: bool) -> Option<Part> {
        let mut to = at + 1;
        loop {
            if self.is(to, b'<')
                && let Some(close) = self.closing_angle(to)
            {
                to = close + 1;
            }
            let scoped = self.tokens.get(to).is_some_and(|it| it.kind == TokenKind::Scope);
            if !scoped {
                break;
            }
            to += 1;
            if self.is(to, b'~') {
                to += 1;
            }
            if self.text(to) == b"operator" || !self.is_word(to) {
                // What is declared is an operator; its qualifier is no type.
                return None;
            }
            to += 1;
        }
        if self.is(to, b'(')
            && to == at + 1
            && (!is_typed || is_constant_case(self.text(at)))
            && let Some(close) = self.closing(to)
        {
            let next = self.text(close + 1);
            let goes_on =
                self.is_word(close + 1) && !follows_parameters(next) && !self.is_trailing_macro(close + 1)
                    || self.is(close + 1, b'*');
            if goes_on {
                return Some(Part { from: at, to: close + 1, is_call: true });
            }
        }
        Some(Part { from: at, to, is_call: false })
    }

    /// A macro between the parameters and the end or body of a function.
    fn is_trailing_macro(&self, at: usize) -> bool {
        if !is_constant_case(self.text(at)) {
            return false;
        }
        let next =
            if self.is(at + 1, b'(') { self.closing(at + 1).map_or(at + 1, |it| it + 1) } else { at + 1 };
        self.is_end(next) || self.is_trailing_macro_at(next)
    }

    /// What follows a head: its end, a body, a value, the initialisers of a constructor.
    fn is_end(&self, at: usize) -> bool {
        [b';', b'{', b'=', b':', b','].iter().any(|it| self.is(at, *it))
    }

    fn is_trailing_macro_at(&self, at: usize) -> bool {
        is_constant_case(self.text(at)) && (self.is(at + 1, b';') || self.is(at + 1, b'{'))
    }

    fn blank_attributes(&mut self, head: &Head) {
        let is_class = head.tag.is_some() && (self.is(head.end, b'{') || self.is(head.end, b':'));
        if is_class {
            // The last name is the type's, if it is not that of a function that gives one.
            let before = head.parts.len().saturating_sub(1);
            for part in &head.parts[..before] {
                if part.is_call || is_constant_case(self.text(part.from)) {
                    self.blank(part.from, part.to);
                }
            }
            return;
        }
        let ends = self.tokens.get(head.end).map(|it| it.kind);
        if !matches!(ends, Some(TokenKind::Mark(b'(' | b';' | b'=' | b'[' | b',' | b':' | b'{' | b'~')))
            && self.text(head.end) != b"operator"
        {
            return;
        }
        let n_types = head.parts.len().saturating_sub(usize::from(head.is_named));
        // The name after `struct` is a type like any other.
        let tagged = head.tag.filter(|it| *it < n_types);
        let mut has_type = head.has_type || tagged.is_some();
        let types = head.parts[..n_types].iter().enumerate().filter(|(place, _)| Some(*place) != tagged);
        let mut left: Vec<Part> = types.map(|it| *it.1).collect();
        // What looks most like an attribute goes first; a type has to stay.
        left.sort_by_key(|it| self.likeness(it));
        let mut n_names = left.iter().filter(|it| !it.is_call).count();
        for part in left {
            match part.is_call {
                _ if has_type => self.blank(part.from, part.to),
                true if n_names > 0 => self.blank(part.from, part.to),
                true => {
                    // The macro makes a type of what stands in it.
                    self.blank(part.from, part.from + 2);
                    self.blank(part.to - 1, part.to);
                    has_type = true;
                }
                false if n_names > 1 => {
                    self.blank(part.from, part.to);
                    n_names -= 1;
                }
                false => {}
            }
        }
    }

    /// `int n GUARDED_BY(lock);`: the name is the one before.
    fn trailing_attribute(&mut self, head: &mut Head) {
        let [.., last] = head.parts[..] else { return };
        let n_others = head.parts.len() - 1 + usize::from(head.has_type || head.tag.is_some());
        let close = self.closing(head.end);
        if head.is_named
            && n_others >= 2
            && is_constant_case(self.text(last.from))
            && let Some(close) = close.filter(|it| self.is_end(it + 1))
        {
            self.blank(last.from, close + 1);
            head.parts.pop();
            head.end = close + 1;
        }
    }

    /// `OLD_NAME DEPRECATED(8.3),` and `OPTION(NAME, type, 1),` among the members of an enum.
    fn enumerators(&mut self, from: usize) {
        let mut at = from;
        while self.is_word(at) || self.tokens.get(at).is_some_and(|it| it.kind == TokenKind::Directive) {
            if self.is(at + 1, b'(')
                && self.is_word(at + 2)
                && let Some(close) =
                    self.closing(at + 1).filter(|it| self.is(it + 1, b',') || self.is(it + 1, b'}'))
            {
                self.blank(at, at + 2);
                self.blank(at + 3, close + 1);
            } else if self.is_word(at)
                && self.is_word(at + 1)
                && is_constant_case(self.text(at + 1))
                && self.tokens[at].kind == TokenKind::Word
            {
                let to = self.closing(at + 2).map_or(at + 2, |it| it + 1);
                self.blank(at + 1, to);
            }
            // Directives have no end of their own.
            at = match self.tokens[at].kind {
                TokenKind::Directive => at + 1,
                _ => self.next_enumerator(at),
            };
        }
    }

    fn next_enumerator(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        for at in from..self.tokens.len() {
            match self.tokens[at].kind {
                TokenKind::Mark(b'(' | b'[') => depth += 1,
                TokenKind::Mark(b')' | b']') => depth = depth.saturating_sub(1),
                TokenKind::Mark(b',') if depth == 0 => return at + 1,
                TokenKind::Mark(b'{' | b'}' | b';') => return self.tokens.len(),
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn likeness(&self, part: &Part) -> (u8, usize) {
        const WORDS: [&[u8]; 14] = [
            b"API",
            b"EXPORT",
            b"IMPORT",
            b"INLINE",
            b"EXTERN",
            b"STATIC",
            b"CALL",
            b"ATTR",
            b"DEPRECATED",
            b"UNUSED",
            b"NORETURN",
            b"VISIB",
            b"HIDDEN",
            b"PUBLIC",
        ];
        let text = self.text(part.from);
        let rank = if part.is_call {
            0
        } else if WORDS.iter().any(|it| memchr::memmem::find(text, it).is_some()) {
            1
        } else if is_constant_case(text) {
            2
        } else {
            3
        };
        (rank, part.from)
    }

    /// `int x UNUSED, UNUSED int y`.
    fn parameters(&mut self, from: usize, close: usize) {
        let mut at = from;
        while at < close {
            let head = self.head(at);
            if head.end <= close {
                let n_types = head.parts.len().saturating_sub(1) + usize::from(head.has_type);
                if let [.., last] = head.parts[..]
                    && n_types >= 2
                    && !last.is_call
                    && is_constant_case(self.text(last.from))
                    && (self.is(head.end, b',') || self.is(head.end, b')'))
                {
                    self.blank(last.from, last.to);
                }
            }
            at = self.next_parameter(at, close);
        }
    }

    fn next_parameter(&self, from: usize, close: usize) -> usize {
        let mut depth = 0_usize;
        for at in from..close {
            match self.tokens[at].kind {
                TokenKind::Mark(b'(' | b'[' | b'{' | b'<') => depth += 1,
                TokenKind::Mark(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                TokenKind::Mark(b',') if depth == 0 => return at + 1,
                _ => {}
            }
        }
        close
    }

    fn after_parameters(&mut self, at: usize) {
        let mut at = at;
        while self.is_word(at) {
            if self.is_trailing_macro(at) {
                let to = if self.is(at + 1, b'(') {
                    self.closing(at + 1).map_or(at + 1, |it| it + 1)
                } else {
                    at + 1
                };
                self.blank(at, to);
                at = to;
            } else if follows_parameters(self.text(at)) {
                at = if self.is(at + 1, b'(') {
                    self.closing(at + 1).map_or(at + 1, |it| it + 1)
                } else {
                    at + 1
                };
            } else {
                return;
            }
        }
    }

    fn blank(&mut self, from: usize, to: usize) {
        self.changes.blank(self.tokens[from].from, self.tokens[to - 1].to);
    }

    /// The bracket that closes the one at a token.
    fn closing(&self, open: usize) -> Option<usize> {
        /// More than any list of parameters.
        const MAX_TOKENS: usize = 4_000;
        let mut depth = 0_usize;
        if !(self.is(open, b'(') || self.is(open, b'[')) {
            return None;
        }
        for at in open..self.tokens.len().min(open + MAX_TOKENS) {
            match self.tokens[at].kind {
                TokenKind::Mark(b'(' | b'[') => depth += 1,
                TokenKind::Mark(b')' | b']') if depth == 1 => return Some(at),
                TokenKind::Mark(b')' | b']') => depth -= 1,
                _ => {}
            }
        }
        None
    }

    /// The `>` that closes a list of template arguments, if it is one.
    fn closing_angle(&self, open: usize) -> Option<usize> {
        const MAX_TOKENS: usize = 300;
        let mut depth = 0_usize;
        if !self.is(open, b'<') {
            return None;
        }
        for at in open..self.tokens.len().min(open + MAX_TOKENS) {
            match self.tokens[at].kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if depth == 1 => return Some(at),
                TokenKind::Mark(b'>') => depth -= 1,
                TokenKind::Mark(b';' | b'{' | b'}') => return None,
                _ => {}
            }
        }
        None
    }
}
