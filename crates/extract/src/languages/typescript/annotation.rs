//! Written types to `Type`, by a small parser over their text: annotations and JSDoc read the same way.

use knowing_model::Range;
use knowing_model::facts::{Str, Type, TypeId, TypeParameter};

use crate::engine::build::{Builder, MAX_NESTING};

/// A named type, and where its last segment stands.
pub(super) struct Mention {
    pub(super) type_: TypeId,
    pub(super) at: u32,
}

pub(super) struct Parsed {
    pub(super) type_: TypeId,
    pub(super) mentions: Vec<Mention>,
    /// What a type that is written out (`{ a: A, b: B }`) has.
    pub(super) fields: Vec<(Str, TypeId)>,
}

/// The type a range of the text says, and every type named in it. A colon before it is passed over.
pub(super) fn parse(builder: &mut Builder<'_>, range: Range) -> Parsed {
    let mut parser = Parser::new(builder, range);
    if parser.peek() == Some(b':') {
        parser.at += 1;
    }
    let type_ = parser.whole();
    Parsed { type_, mentions: parser.mentions, fields: parser.fields }
}

/// `<A, B>`.
pub(super) fn parse_arguments(builder: &mut Builder<'_>, range: Range) -> (Vec<TypeId>, Vec<Mention>) {
    let mut parser = Parser::new(builder, range);
    let types = if parser.peek() == Some(b'<') { parser.arguments() } else { Vec::new() };
    (types, parser.mentions)
}

/// `<T extends Base = Default, U>`.
pub(super) fn parse_parameters(
    builder: &mut Builder<'_>,
    range: Range,
) -> (Vec<TypeParameter>, Vec<Mention>) {
    let mut parser = Parser::new(builder, range);
    let mut out = Vec::new();
    if parser.peek() == Some(b'<') {
        parser.at += 1;
    }
    while let Some(byte) = parser.peek() {
        let before = parser.at;
        if byte == b'>' {
            break;
        }
        if byte == b',' {
            parser.at += 1;
            continue;
        }
        let mut word = parser.word();
        while matches!(parser.text(word), b"const" | b"in" | b"out") && parser.peek().is_some_and(is_name) {
            word = parser.word();
        }
        if word.from < word.to {
            let name = parser.intern(word);
            let mut bounds = Vec::new();
            if parser.eat_word(b"extends") {
                bounds.push(parser.whole());
            }
            if parser.peek() == Some(b'=') {
                parser.at += 1;
                parser.whole();
            }
            out.push(TypeParameter { name, bounds });
        }
        if parser.at == before {
            parser.at += 1;
        }
    }
    (out, parser.mentions)
}

/// Types of the language itself, which nobody refers to.
const PREDEFINED: [&str; 17] = [
    "any",
    "asserts",
    "bigint",
    "boolean",
    "false",
    "never",
    "null",
    "number",
    "object",
    "string",
    "symbol",
    "this",
    "true",
    "undefined",
    "unknown",
    "void",
    "const",
];

struct Parser<'p, 's> {
    b: &'p mut Builder<'s>,
    at: u32,
    end: u32,
    mentions: Vec<Mention>,
    fields: Vec<(Str, TypeId)>,
    depth: usize,
}

impl<'p, 's> Parser<'p, 's> {
    fn new(b: &'p mut Builder<'s>, range: Range) -> Parser<'p, 's> {
        Parser { b, at: range.from, end: range.to, mentions: Vec::new(), fields: Vec::new(), depth: 0 }
    }

    /// A type with all that may follow: `A | B`, `A extends B ? C : D`, `x is T`.
    fn whole(&mut self) -> TypeId {
        if self.depth >= MAX_NESTING {
            self.b.too_deep();
            self.at = self.end;
            return self.unknown();
        }
        self.depth += 1;
        let type_ = self.union();
        let type_ = if self.eat_word(b"extends") {
            self.union();
            if self.peek() == Some(b'?') {
                self.at += 1;
                self.whole();
            }
            if self.peek() == Some(b':') {
                self.at += 1;
                self.whole();
            }
            self.unknown()
        } else if self.eat_word(b"is") {
            self.whole();
            // The name before `is` is no type.
            self.named(b"boolean")
        } else {
            type_
        };
        self.depth -= 1;
        type_
    }

    fn union(&mut self) -> TypeId {
        if matches!(self.peek(), Some(b'|')) {
            self.at += 1;
        }
        let mut types = vec![self.intersection()];
        while self.peek() == Some(b'|') {
            self.at += 1;
            types.push(self.intersection());
        }
        match types[..] {
            [one] => one,
            _ => self.b.type_(Type::Union(types)),
        }
    }

    fn intersection(&mut self) -> TypeId {
        if self.peek() == Some(b'&') {
            self.at += 1;
        }
        let mut types = vec![self.postfix()];
        while self.peek() == Some(b'&') {
            self.at += 1;
            types.push(self.postfix());
        }
        match types[..] {
            [one] => one,
            _ => self.b.type_(Type::Bounds(types)),
        }
    }

    fn postfix(&mut self) -> TypeId {
        let mut type_ = self.atom();
        loop {
            // A bracket on the next line begins another member.
            while matches!(self.byte(), Some(b' ' | b'\t')) {
                self.at += 1;
            }
            match self.byte() {
                Some(b'[') => {
                    self.at += 1;
                    match self.peek() {
                        Some(b']') => {
                            self.at += 1;
                            type_ = self.b.type_(Type::Sequence(type_));
                        }
                        Some(quote @ (b'"' | b'\'')) => {
                            let inside = self.quoted(quote);
                            let name = self.intern(inside);
                            self.skip_past(b']');
                            type_ = self.b.type_(Type::Projection { of: type_, interface: None, name });
                        }
                        _ => {
                            self.whole();
                            self.skip_past(b']');
                            type_ = self.unknown();
                        }
                    }
                }
                // JSDoc: `T!`, `T=`.
                Some(b'!') => self.at += 1,
                _ => return type_,
            }
        }
    }

    fn atom(&mut self) -> TypeId {
        match self.peek() {
            Some(b'(') => self.parenthesis(),
            Some(b'<') => {
                self.skip_balanced();
                if self.peek() == Some(b'(') { self.function() } else { self.unknown() }
            }
            Some(b'{') => self.object(),
            Some(b'[') => self.tuple(),
            Some(quote @ (b'"' | b'\'' | b'`')) => {
                self.quoted(quote);
                self.named(b"string")
            }
            Some(b'?' | b'!') => {
                self.at += 1;
                if self.depth < MAX_NESTING && !matches!(self.peek(), Some(b'?' | b'!')) {
                    self.atom()
                } else {
                    self.unknown()
                }
            }
            Some(b'.') => {
                while self.byte() == Some(b'.') {
                    self.at += 1;
                }
                if self.peek().is_some_and(|it| is_name(it) || it == b'(') {
                    let of = self.postfix();
                    self.b.type_(Type::Sequence(of))
                } else {
                    self.unknown()
                }
            }
            Some(b'-') => {
                self.at += 1;
                self.word();
                self.named(b"number")
            }
            Some(byte) if byte.is_ascii_digit() => {
                self.word();
                self.named(b"number")
            }
            Some(byte) if is_name(byte) => self.word_type(),
            Some(b'*') => {
                self.at += 1;
                self.unknown()
            }
            _ => self.unknown(),
        }
    }

    fn word_type(&mut self) -> TypeId {
        let start = self.at;
        let word = self.word();
        let next = self.peek();
        let follows = next.is_some_and(|it| is_name(it) || matches!(it, b'(' | b'[' | b'{' | b'<'));
        match self.b.source.bytes(word) {
            b"keyof" | b"unique" if follows => {
                self.nested_postfix();
                self.unknown()
            }
            b"readonly" if follows => self.nested_postfix(),
            b"infer" if follows => {
                self.word();
                self.unknown()
            }
            b"asserts" if follows => {
                self.word();
                if self.eat_word(b"is") {
                    self.whole();
                }
                self.named(b"void")
            }
            b"abstract" | b"new" if follows => {
                self.eat_word(b"new");
                if self.peek() == Some(b'<') {
                    self.skip_balanced();
                }
                if self.peek() == Some(b'(') {
                    self.function();
                }
                self.unknown()
            }
            b"typeof" if follows => self.type_of(),
            b"import" if next == Some(b'(') => self.imported(start),
            // JSDoc: `function(A): B`.
            b"function" if next == Some(b'(') => self.function(),
            _ => self.path(word, start),
        }
    }

    fn nested_postfix(&mut self) -> TypeId {
        if self.depth >= MAX_NESTING {
            self.b.too_deep();
            self.at = self.end;
            return self.unknown();
        }
        self.depth += 1;
        let type_ = self.postfix();
        self.depth -= 1;
        type_
    }

    /// `a.b.C<X, Y>`.
    fn path(&mut self, first: Range, start: u32) -> TypeId {
        let mut segments = vec![self.intern(first)];
        let last = self.more_segments(&mut segments, first.from);
        self.finish_path(segments, start, last)
    }

    fn more_segments(&mut self, segments: &mut Vec<Str>, first: u32) -> u32 {
        let mut last = first;
        while self.peek() == Some(b'.') {
            let dot = self.at;
            self.at += 1;
            // JSDoc: `Array.<T>`.
            if self.peek() == Some(b'<') {
                break;
            }
            let word = self.word();
            if word.from == word.to {
                self.at = dot;
                break;
            }
            last = word.from;
            segments.push(self.intern(word));
        }
        last
    }

    fn finish_path(&mut self, segments: Vec<Str>, start: u32, last: u32) -> TypeId {
        let arguments = if self.peek() == Some(b'<') { self.arguments() } else { Vec::new() };
        let is_predefined = segments.len() == 1 && PREDEFINED.contains(&self.b.str(segments[0]));
        // `x is T`: the name is that of a parameter.
        let is_subject = segments.len() == 1 && self.is_word_next(b"is");
        let type_ = self.b.type_(Type::Named { segments, arguments, at: start });
        if !is_predefined && !is_subject {
            self.mentions.push(Mention { type_, at: last });
        }
        type_
    }

    /// `typeof a.b`: the type of a value.
    fn type_of(&mut self) -> TypeId {
        let start = self.at;
        let word = self.word();
        if word.from == word.to {
            return self.unknown();
        }
        let (of, last) = if self.text(word) == b"import" && self.peek() == Some(b'(') {
            (self.imported(start), None)
        } else {
            let mut segments = vec![self.intern(word)];
            let last = self.more_segments(&mut segments, word.from);
            if self.peek() == Some(b'<') {
                self.arguments();
            }
            (self.b.type_(Type::Named { segments, arguments: Vec::new(), at: start }), Some(last))
        };
        let name = self.b.intern("typeof");
        let type_ = self.b.type_(Type::Projection { of, interface: None, name });
        if let Some(at) = last {
            self.mentions.push(Mention { type_, at });
        }
        type_
    }

    /// `import("module").Name`.
    fn imported(&mut self, start: u32) -> TypeId {
        self.at += 1;
        let module = match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                let inside = self.quoted(quote);
                self.b.source.slice(inside).into_owned()
            }
            _ => String::new(),
        };
        self.skip_past(b')');
        let mut segments = vec![self.b.intern(format!("import:{module}"))];
        let last = self.more_segments(&mut segments, start);
        self.finish_path(segments, start, last)
    }

    fn arguments(&mut self) -> Vec<TypeId> {
        self.at += 1;
        self.items(b'>')
    }

    fn items(&mut self, close: u8) -> Vec<TypeId> {
        let mut types = Vec::new();
        while let Some(byte) = self.peek() {
            let before = self.at;
            if byte == close {
                self.at += 1;
                break;
            }
            if byte == b',' || matches!(byte, b')' | b']' | b'}' | b'>' | b';') {
                self.at += 1;
                continue;
            }
            types.push(self.whole());
            // Labels of a tuple: `[first: A, rest?: B]`.
            if self.peek() == Some(b'?') {
                self.at += 1;
            }
            if self.peek() == Some(b':') {
                self.at += 1;
                let of = self.whole();
                types.pop();
                types.push(of);
            }
            // Invariant: every turn takes at least one byte.
            if self.at == before {
                self.at += 1;
            }
        }
        types
    }

    fn tuple(&mut self) -> TypeId {
        self.at += 1;
        let types = self.items(b']');
        self.b.type_(Type::Tuple(types))
    }

    fn parenthesis(&mut self) -> TypeId {
        let start = self.at;
        self.skip_balanced();
        let is_function = self.peek() == Some(b'=');
        self.at = start;
        if is_function {
            return self.function();
        }
        self.at += 1;
        let type_ = self.whole();
        self.skip_past(b')');
        type_
    }

    /// `(a: A, b: B) => C`; of a method `(a: A): C`.
    fn function(&mut self) -> TypeId {
        self.parameters();
        let result = match self.peek() {
            Some(b'=') => {
                self.at += 2;
                Some(self.whole())
            }
            Some(b':') => {
                self.at += 1;
                Some(self.whole())
            }
            _ => None,
        };
        self.b.type_(Type::Function(result))
    }

    fn parameters(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            let before = self.at;
            match byte {
                b')' => {
                    self.at += 1;
                    return;
                }
                b',' | b'.' | b'?' | b'*' => self.at += 1,
                b'{' | b'[' => self.skip_balanced(),
                b':' => {
                    self.at += 1;
                    self.whole();
                }
                byte if is_name(byte) => {
                    self.word();
                }
                _ => self.at += 1,
            }
            if self.at == before {
                self.at += 1;
            }
        }
    }

    fn object(&mut self) -> TypeId {
        let is_outermost = self.depth <= 1;
        self.at += 1;
        let mut fields = Vec::new();
        while let Some(byte) = self.peek() {
            let before = self.at;
            match byte {
                b'}' => {
                    self.at += 1;
                    break;
                }
                b'[' => self.bracket_member(),
                quote @ (b'"' | b'\'') => {
                    self.quoted(quote);
                    self.member(None, &mut fields);
                }
                b'(' | b'<' => self.member(None, &mut fields),
                byte if is_name(byte) => {
                    let mut word = self.word();
                    let is_modifier = matches!(self.text(word), b"readonly" | b"get" | b"set" | b"new");
                    if is_modifier && self.peek().is_some_and(|it| is_name(it) || it == b'[') {
                        if self.peek() == Some(b'[') {
                            continue;
                        }
                        word = self.word();
                    }
                    self.member(Some(word), &mut fields);
                }
                _ => self.at += 1,
            }
            if self.at == before {
                self.at += 1;
            }
        }
        if is_outermost && self.fields.is_empty() {
            self.fields = fields;
        }
        self.unknown()
    }

    /// What stands behind a member's name.
    fn member(&mut self, name: Option<Range>, fields: &mut Vec<(Str, TypeId)>) {
        while matches!(self.peek(), Some(b'?' | b'-' | b'+')) {
            self.at += 1;
        }
        if self.peek() == Some(b'<') {
            self.skip_balanced();
        }
        let type_ = match self.peek() {
            Some(b'(') => Some(self.function()),
            Some(b':') => {
                self.at += 1;
                Some(self.whole())
            }
            _ => None,
        };
        if let (Some(name), Some(type_)) = (name, type_) {
            fields.push((self.intern(name), type_));
        }
    }

    /// `[key: string]: T`, `[K in Keys as Other]: T`, `[Symbol.iterator](): T`.
    fn bracket_member(&mut self) {
        self.at += 1;
        self.word();
        if self.eat_word(b"in") {
            self.whole();
            if self.eat_word(b"as") {
                self.whole();
            }
        } else if self.peek() == Some(b':') {
            self.at += 1;
            self.whole();
        }
        self.skip_past(b']');
        self.member(None, &mut Vec::new());
    }

    fn named(&mut self, name: &'static [u8]) -> TypeId {
        let name = self.b.intern(String::from_utf8_lossy(name));
        self.b.type_(Type::Named { segments: vec![name], arguments: Vec::new(), at: self.at })
    }

    fn unknown(&mut self) -> TypeId {
        self.b.type_(Type::Unknown)
    }
}

/// Bytes.
impl Parser<'_, '_> {
    fn intern(&mut self, range: Range) -> Str {
        let text = self.b.source.slice(range);
        self.b.intern_name(text)
    }

    fn text(&self, range: Range) -> &[u8] {
        self.b.source.bytes(range)
    }

    fn word(&mut self) -> Range {
        self.peek();
        let from = self.at;
        while self.byte().is_some_and(is_name) {
            self.at += 1;
        }
        Range { from, to: self.at }
    }

    fn is_word_next(&mut self, word: &[u8]) -> bool {
        self.peek();
        let rest = self.b.source.bytes(Range { from: self.at, to: self.end });
        rest.starts_with(word) && !rest.get(word.len()).copied().is_some_and(is_name)
    }

    fn eat_word(&mut self, word: &[u8]) -> bool {
        let is_next = self.is_word_next(word);
        if is_next {
            self.at += u32::try_from(word.len()).unwrap_or(0);
        }
        is_next
    }

    /// The inside of a text; the place is past it.
    fn quoted(&mut self, quote: u8) -> Range {
        self.at += 1;
        let from = self.at;
        while let Some(byte) = self.byte() {
            if byte == quote {
                break;
            }
            self.at += if byte == b'\\' { 2 } else { 1 };
        }
        let to = self.at.min(self.end);
        self.at = (to + 1).min(self.end);
        Range { from, to }
    }

    /// Past what stands in brackets that begin here.
    fn skip_balanced(&mut self) {
        let mut depth = 0_u32;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' | b'[' | b'{' | b'<' => depth += 1,
                b'=' if self.b.source.bytes.get(self.at as usize + 1) == Some(&b'>') => self.at += 1,
                b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
                b'"' | b'\'' | b'`' => {
                    self.quoted(byte);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Past the next closing bracket of this level.
    fn skip_past(&mut self, close: u8) {
        while let Some(byte) = self.peek() {
            if byte == close {
                self.at += 1;
                return;
            }
            if matches!(byte, b'(' | b'[' | b'{') {
                self.skip_balanced();
            } else if matches!(byte, b'"' | b'\'') {
                self.quoted(byte);
            } else {
                self.at += 1;
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
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b'/' => {
                    let rest = self.b.source.bytes(Range { from: self.at, to: self.end });
                    let length = match rest.get(1) {
                        Some(b'/') => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
                        Some(b'*') => memchr::memmem::find(rest, b"*/").map_or(rest.len(), |it| it + 2),
                        _ => return Some(b'/'),
                    };
                    self.at += u32::try_from(length.max(1)).unwrap_or(1);
                }
                byte => return Some(byte),
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
