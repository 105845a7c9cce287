//! The text of a type, as YARD, RBS and Sorbet write it, to `Type`: `Array<Foo, nil>`, `Foo::Bar?`, `T.nilable(Foo)`.
//!
//! `nil` is left out of a union; truth values, duck types and what nobody can name are unknown.

use knowing_model::Range;
use knowing_model::facts::{Type, TypeId};

use crate::engine::build::{Builder, MAX_NESTING};

/// The type, and every type it names with where it stands.
pub(super) fn parse(b: &mut Builder<'_>, range: Range) -> (TypeId, Vec<(TypeId, u32)>) {
    let text = b.source.bytes(range);
    let mut parser = Parser { b, text, from: range.from, at: 0, mentions: Vec::new() };
    let type_ = parser.union(0);
    let mentions = parser.mentions;
    (type_, mentions)
}

struct Parser<'p, 's> {
    b: &'p mut Builder<'s>,
    text: &'s [u8],
    from: u32,
    at: usize,
    mentions: Vec<(TypeId, u32)>,
}

impl Parser<'_, '_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn take(&mut self, token: &[u8]) -> bool {
        self.blank();
        let found = self.text.get(self.at..).is_some_and(|it| it.starts_with(token));
        if found {
            self.at += token.len();
        }
        found
    }

    fn unknown(&mut self) -> TypeId {
        self.b.type_(Type::Unknown)
    }

    /// Alternatives, separated by commas or bars. Nothing is known where one of them is not.
    fn union(&mut self, depth: usize) -> TypeId {
        if depth > MAX_NESTING {
            self.b.too_deep();
            return self.unknown();
        }
        let mut kept = Vec::new();
        let mut doubt = false;
        loop {
            match self.item(depth) {
                Item::Type(type_) => kept.push(type_),
                Item::Nil => {}
                Item::Unknown => doubt = true,
            }
            if !self.take(b"|") && !self.take(b",") {
                break;
            }
        }
        match kept.len() {
            _ if doubt => self.unknown(),
            0 => self.unknown(),
            1 => kept[0],
            _ => self.b.type_(Type::Union(kept)),
        }
    }

    fn item(&mut self, depth: usize) -> Item {
        self.blank();
        let at = self.from + u32::try_from(self.at).unwrap_or(0);
        let mut segments = Vec::new();
        if self.take(b"::") {
            segments.push(self.b.intern(""));
        }
        let mut first = true;
        loop {
            let word = self.word();
            if word.is_empty() {
                return Item::Unknown;
            }
            let text = String::from_utf8_lossy(word).into_owned();
            if first && text == "T" && self.take(b".") {
                return self.sorbet(depth);
            }
            if first && text == "T" && self.take(b"::") {
                // `T::Array[X]` is an `Array`.
                continue;
            }
            if !text.starts_with(|it: char| it.is_ascii_uppercase()) {
                return if text == "nil" { Item::Nil } else { Item::Unknown };
            }
            first = false;
            segments.push(self.b.intern(text));
            if !self.take(b"::") {
                break;
            }
        }
        let arguments = self.arguments(depth);
        // What may be nil is what it is otherwise.
        self.take(b"?");
        let only = segments.last().map(|it| self.b.str(*it).to_owned());
        if segments.len() == 1
            && matches!(only.as_deref(), Some("Boolean" | "Object" | "BasicObject" | "Void" | "Any"))
        {
            return Item::Unknown;
        }
        let type_ = self.b.type_(Type::Named { segments, arguments, at });
        self.mentions.push((type_, at));
        Item::Type(type_)
    }

    fn word(&mut self) -> &[u8] {
        self.blank();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let n = rest.iter().take_while(|it| it.is_ascii_alphanumeric() || **it == b'_').count();
        self.at += n;
        &rest[..n]
    }

    /// `<X>`, `[X]`, `(X)`, `{K => V}` behind a name.
    fn arguments(&mut self, depth: usize) -> Vec<TypeId> {
        let close: &[u8] = match self.text.get(self.at) {
            Some(b'<') => b">",
            Some(b'[') => b"]",
            Some(b'(') => b")",
            Some(b'{') => b"}",
            _ => return Vec::new(),
        };
        self.at += 1;
        if depth > MAX_NESTING {
            self.b.too_deep();
            return Vec::new();
        }
        let mut out = Vec::new();
        loop {
            if self.take(close) {
                break;
            }
            let before = self.at;
            let mut alternatives = Vec::new();
            let mut doubt = false;
            loop {
                match self.item(depth + 1) {
                    Item::Type(type_) => alternatives.push(type_),
                    Item::Nil => {}
                    Item::Unknown => doubt = true,
                }
                if !self.take(b"|") {
                    break;
                }
            }
            let type_ = match alternatives.len() {
                1 if !doubt => alternatives[0],
                0 | 1 => self.unknown(),
                _ => self.b.type_(Type::Union(alternatives)),
            };
            out.push(type_);
            if self.take(b",") || self.take(b"=>") {
                continue;
            }
            if self.take(close) || self.at >= self.text.len() || self.at == before {
                // Nothing that is understood: leave the rest.
                break;
            }
        }
        out
    }

    /// Behind `T.`.
    fn sorbet(&mut self, depth: usize) -> Item {
        let word = String::from_utf8_lossy(self.word()).into_owned();
        match &*word {
            "nilable" | "any" | "let" | "cast" => {
                if !self.take(b"(") {
                    return Item::Unknown;
                }
                let type_ = self.union(depth + 1);
                self.take(b")");
                if *self.b.facts.type_(type_) == Type::Unknown { Item::Unknown } else { Item::Type(type_) }
            }
            _ => Item::Unknown,
        }
    }
}

enum Item {
    Type(TypeId),
    Nil,
    Unknown,
}
