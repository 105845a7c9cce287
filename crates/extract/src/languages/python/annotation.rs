//! Annotations to `Type`, by a small parser over their text: quoted ones and comments read the same way as others.

use knowing_model::Range;
use knowing_model::facts::{Str, Type, TypeId};

use crate::engine::build::{Builder, MAX_NESTING};

/// A named type, and where its last segment stands.
pub(super) struct Mention {
    pub(super) type_: TypeId,
    pub(super) at: u32,
}

/// The type a range of the text says, and every type named in it.
pub(super) fn parse(builder: &mut Builder<'_>, range: Range) -> (TypeId, Vec<Mention>) {
    let mut parser = Parser { b: builder, at: range.from, end: range.to, mentions: Vec::new(), depth: 0 };
    let type_ = parser.union();
    (type_, parser.mentions)
}

struct Parser<'p, 's> {
    b: &'p mut Builder<'s>,
    at: u32,
    end: u32,
    mentions: Vec<Mention>,
    depth: usize,
}

impl Parser<'_, '_> {
    fn union(&mut self) -> TypeId {
        if self.depth >= MAX_NESTING {
            self.b.too_deep();
            self.at = self.end;
            return self.b.type_(Type::Unknown);
        }
        self.depth += 1;
        let mut types = vec![self.atom()];
        while self.peek() == Some(b'|') {
            self.at += 1;
            types.push(self.atom());
        }
        self.depth -= 1;
        match types[..] {
            [one] => one,
            _ => self.b.type_(Type::Union(types)),
        }
    }

    fn atom(&mut self) -> TypeId {
        match self.peek() {
            Some(b'"' | b'\'') => self.quoted(),
            Some(b'(') => self.group(b')'),
            Some(b'[') => self.group(b']'),
            Some(b'*') => {
                self.at += 1;
                if self.depth < MAX_NESTING && self.peek() != Some(b'*') {
                    self.atom()
                } else {
                    self.unknown()
                }
            }
            Some(it) if is_name(it) && !it.is_ascii_digit() => self.named(),
            _ => self.unknown(),
        }
    }

    fn named(&mut self) -> TypeId {
        let start = self.at;
        let mut segments = Vec::new();
        let last = loop {
            let from = self.at;
            while self.byte().is_some_and(is_name) {
                self.at += 1;
            }
            let text = self.b.source.slice(Range { from, to: self.at });
            segments.push(self.b.intern_name(text));
            let is_prefix = segments.len() == 1 && matches!(self.byte(), Some(b'"' | b'\''));
            if is_prefix {
                // The prefix of a text, as in `r"T"`.
                return self.quoted();
            }
            if self.peek() != Some(b'.') {
                break from;
            }
            self.at += 1;
            if !self.peek().is_some_and(|it| is_name(it) && !it.is_ascii_digit()) {
                break from;
            }
        };
        match self.peek() {
            Some(b'[') => self.generic(segments, start, last),
            Some(b'(') => self.unknown(),
            _ => self.mentioned(segments, Vec::new(), start, last),
        }
    }

    fn generic(&mut self, segments: Vec<Str>, start: u32, last: u32) -> TypeId {
        let name = segments.last().map(|it| self.b.str(*it).to_owned()).unwrap_or_default();
        match name.as_str() {
            "Literal" => {
                self.skip_brackets();
                self.b.type_(Type::Unknown)
            }
            "Annotated" => {
                self.at += 1;
                let type_ = self.union();
                self.skip_to_bracket();
                type_
            }
            "Union" => {
                let (types, _) = self.arguments();
                self.b.type_(Type::Union(types))
            }
            "Callable" => {
                let (types, _) = self.arguments();
                let result = if types.len() > 1 { types.last().copied() } else { None };
                self.b.type_(Type::Function(result))
            }
            "ClassVar" | "Final" | "Required" | "NotRequired" | "ReadOnly" | "InitVar" => {
                let (types, _) = self.arguments();
                types.first().copied().unwrap_or_else(|| self.b.type_(Type::Unknown))
            }
            "tuple" | "Tuple" => {
                let (types, open) = self.arguments();
                if open {
                    self.mentioned(segments, types, start, last)
                } else {
                    self.b.type_(Type::Tuple(types))
                }
            }
            _ => {
                let (types, _) = self.arguments();
                self.mentioned(segments, types, start, last)
            }
        }
    }

    fn mentioned(&mut self, segments: Vec<Str>, arguments: Vec<TypeId>, at: u32, last: u32) -> TypeId {
        let is_none = segments.len() == 1 && self.b.str(segments[0]) == "None";
        let type_ = self.b.type_(Type::Named { segments, arguments, at });
        if !is_none {
            self.mentions.push(Mention { type_, at: last });
        }
        type_
    }

    /// `[A, B]`, and whether it ends in `...`.
    fn arguments(&mut self) -> (Vec<TypeId>, bool) {
        self.at += 1;
        self.items(b']')
    }

    fn items(&mut self, close: u8) -> (Vec<TypeId>, bool) {
        let mut types = Vec::new();
        let mut open = false;
        loop {
            match self.peek() {
                None => break,
                Some(it) if it == close => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(b'.') => {
                    open = true;
                    self.skip_item();
                }
                Some(_) => {
                    let before = self.at;
                    types.push(self.union());
                    if !matches!(self.peek(), Some(b',')) && self.peek() != Some(close) {
                        self.skip_item();
                    }
                    // Invariant: every turn takes at least one byte.
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        (types, open)
    }

    /// A parenthesis around one type is nothing; around several, or with square brackets, it is a tuple.
    fn group(&mut self, close: u8) -> TypeId {
        self.at += 1;
        let before = self.at;
        let (types, _) = self.items(close);
        let inside = self.b.source.bytes(Range { from: before, to: self.at });
        match types[..] {
            [one] if close == b')' && !inside.contains(&b',') => one,
            _ => self.b.type_(Type::Tuple(types)),
        }
    }

    /// The inside of a quoted type is a type.
    fn quoted(&mut self) -> TypeId {
        let Some(quote) = self.byte() else { return self.unknown() };
        let rest = self.b.source.bytes(Range { from: self.at, to: self.end });
        let triple = rest.starts_with(&[quote, quote, quote]);
        let width = if triple { 3 } else { 1 };
        let inside = rest.get(width..).unwrap_or_default();
        let length = if triple {
            inside.windows(3).position(|it| it == [quote, quote, quote])
        } else {
            inside.iter().position(|it| *it == quote)
        };
        let length = length.unwrap_or(inside.len());
        let width = u32::try_from(width).unwrap_or(1);
        let outer_end = self.end;
        self.at = (self.at + width).min(self.end);
        self.end = (self.at + u32::try_from(length).unwrap_or(0)).min(outer_end);
        let after = (self.end + width).min(outer_end);
        let type_ = self.union();
        self.end = outer_end;
        self.at = after;
        type_
    }

    fn unknown(&mut self) -> TypeId {
        self.skip_item();
        self.b.type_(Type::Unknown)
    }

    /// To the next `,` or closing bracket of this level.
    fn skip_item(&mut self) {
        let mut depth = 0_u32;
        while let Some(byte) = self.byte() {
            match byte {
                b'[' | b'(' | b'{' => depth += 1,
                b']' | b')' | b'}' if depth == 0 => return,
                b']' | b')' | b'}' => depth -= 1,
                b',' if depth == 0 => {
                    return;
                }
                b'"' | b'\'' => {
                    self.skip_text(byte);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn skip_brackets(&mut self) {
        self.at += 1;
        self.skip_to_bracket();
    }

    /// Past the `]` of this level. Every turn takes at least one byte.
    fn skip_to_bracket(&mut self) {
        while let Some(byte) = self.byte() {
            if byte == b']' {
                self.at += 1;
                return;
            }
            if byte == b',' {
                self.at += 1;
            } else {
                let before = self.at;
                self.skip_item();
                if self.at == before {
                    self.at += 1;
                }
            }
        }
    }

    fn skip_text(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte() {
            self.at += 1;
            if byte == quote {
                return;
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        (self.at < self.end).then(|| self.b.source.bytes.get(self.at as usize).copied())?
    }

    /// The next byte that is no white space and in no comment.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\r' | b'\n' | b'\\' => self.at += 1,
                b'#' => {
                    while self.byte().is_some_and(|it| it != b'\n') {
                        self.at += 1;
                    }
                }
                byte => return Some(byte),
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
