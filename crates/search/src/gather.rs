//! Which documents a file has and which text belongs to each.
//!
//! ```text
//! import re                    file
//! class Cart:                  Cart: header, fields, names of members
//!     size = 0                 Cart
//!     def add(self, it):       Cart.add
//!         """Puts it in."""    its doc, in no body
//!         ...                  Cart.add
//! ```
//!
//! Each byte belongs to the innermost document around it, so that a file is cut into tokens once.

use std::borrow::Cow;

use knowing_model::facts::{Decl, DeclId, FileFacts, Type};
use knowing_model::{NodeKind, Range};
use rustc_hash::FxHashMap;

use crate::docs_in_source::doc_range;
use crate::fields::Field;
use crate::recent::{Key, MAX_TERMS, Recent};
use crate::terms::{Document, Entry, FileTerms, N_CONTENT};
use crate::tokenize::{TextKind, Tokenizer, each_word};

/// Characters of a body that count; of the names of members as well.
const MAX_BODY: usize = 6_000;
const MAX_DOC: usize = 800;
/// Owners of owners that count: deeper nesting is machine-made.
const MAX_OWNERS: usize = 16;

impl FileTerms {
    /// The documents of a file: a function of its facts and bytes, whatever the tokenizer has met before.
    pub fn of(facts: &FileFacts, source: &[u8], tokenizer: &mut Tokenizer) -> FileTerms {
        tokenizer.forget_if_full();
        // What may hold secrets is found by its names.
        let source = if facts.is_private { &[][..] } else { source };
        let documents = documents_of(facts);
        let text = TextOfDocuments::of(facts, source, &documents);
        let local = std::mem::take(&mut tokenizer.scratch);
        let mut recent = std::mem::take(&mut tokenizer.recent);
        recent.begin();
        // About as much as comes of it: growing step by step would cost more.
        let n_terms = source.len() / 32 + 16;
        let mut writer = Writer {
            tokenizer,
            recent,
            local,
            tokens: Vec::with_capacity(n_terms),
            counts: Vec::with_capacity(n_terms),
            out: FileTerms {
                texts: String::with_capacity(n_terms * 8),
                ends: Vec::with_capacity(n_terms),
                symbols: String::with_capacity(documents.len() * 16),
                documents: Vec::with_capacity(documents.len()),
                entries: Vec::with_capacity(n_terms * 4),
            },
        };
        for (place, &decl) in documents.iter().enumerate() {
            writer.document(facts, source, decl, &text, place);
        }
        writer.finish()
    }
}

/// The file itself, then declarations in their order.
fn documents_of(facts: &FileFacts) -> Vec<Option<DeclId>> {
    let mut in_callable = vec![false; facts.decls.len()];
    let mut documents = vec![None];
    for (place, decl) in facts.decls.iter().enumerate() {
        // Owners come first.
        in_callable[place] = decl.owner.is_some_and(|it| {
            in_callable.get(it.index()).is_some_and(|&it| it)
                || facts.decls.get(it.index()).is_some_and(|it| it.kind.is_callable())
        });
        let is_symbol = decl.kind.is_callable() || decl.kind.is_type_like();
        let is_document = match decl.kind {
            NodeKind::Field => false,
            _ => is_symbol || !in_callable[place],
        };
        if is_document {
            documents.push(Some(DeclId(place as u32)));
        }
    }
    documents
}

/// Which bytes belong to which document, and which names are added to its body.
struct TextOfDocuments {
    /// Pieces of source, sorted by (document, place).
    pieces: Vec<(u32, Range)>,
    /// Names by document.
    members: FxHashMap<u32, Vec<DeclId>>,
}

/// Something that begins in the source; what it holds ends with it.
#[derive(Clone, Copy)]
struct Opening {
    range: Range,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Document(u32),
    /// Documentation: of no body.
    Hole,
    /// A field, whose name its owner's body should have.
    Field {
        decl: u32,
        owner: u32,
    },
}

impl TextOfDocuments {
    fn of(facts: &FileFacts, source: &[u8], documents: &[Option<DeclId>]) -> TextOfDocuments {
        let length = u32::try_from(source.len()).unwrap_or(u32::MAX);
        let mut place_of = vec![None; facts.decls.len()];
        for (place, decl) in documents.iter().enumerate() {
            if let Some(decl) = decl {
                place_of[decl.index()] = Some(place as u32);
            }
        }
        let mut openings = Vec::with_capacity(facts.decls.len() + documents.len());
        for (place, decl) in documents.iter().enumerate() {
            let (range, doc) = match decl {
                None => (Range { from: 0, to: length }, facts.doc),
                Some(decl) => (facts.decl(*decl).range, facts.decl(*decl).doc),
            };
            let range = Range { from: range.from.min(length), to: range.to.min(length) };
            let whole = Range { from: before_decorators(source, range.from), ..range };
            openings.push(Opening { range: whole, what: What::Document(place as u32) });
            let doc = doc.and_then(|it| doc_range(source, range, facts.text(it)));
            openings.extend(doc.map(|range| Opening { range, what: What::Hole }));
        }
        let mut members: FxHashMap<u32, Vec<DeclId>> = FxHashMap::default();
        let owners = OwnersOfMembers::of(facts);
        for (index, decl) in facts.decls.iter().enumerate() {
            let Some(owner) = owners.owner_of(facts, decl).and_then(|it| place_of[it.index()]) else {
                continue;
            };
            match decl.kind {
                NodeKind::Field => openings
                    .push(Opening { range: decl.range, what: What::Field { decl: index as u32, owner } }),
                _ if place_of[index].is_some()
                    && documents[owner as usize].is_some_and(|it| facts.decl(it).kind.is_type_like()) =>
                {
                    members.entry(owner).or_default().push(DeclId(index as u32));
                }
                _ => {}
            }
        }
        let pieces = pieces(&mut openings, &mut members);
        TextOfDocuments { pieces, members }
    }

    fn pieces_of(&self, place: usize) -> &[(u32, Range)] {
        let place = place as u32;
        let from = self.pieces.partition_point(|it| it.0 < place);
        let to = self.pieces.partition_point(|it| it.0 <= place);
        &self.pieces[from..to]
    }
}

/// Where the lines of decorators and attributes begin that stand right above a declaration: they belong to it.
fn before_decorators(source: &[u8], from: u32) -> u32 {
    let line_start = |at: usize| memchr::memrchr(b'\n', &source[..at]).map_or(0, |it| it + 1);
    let mut begin = from as usize;
    let mut line = line_start(begin);
    while line > 0 {
        let above = line_start(line - 1);
        let text = source[above..line].trim_ascii_start();
        if !text.starts_with(b"@") && !text.starts_with(b"#[") {
            break;
        }
        (begin, line) = (above, above);
    }
    begin as u32
}

/// Gives each byte to the innermost document. Documents of the same bytes (`a = b = 1`) both have them.
fn pieces(openings: &mut [Opening], members: &mut FxHashMap<u32, Vec<DeclId>>) -> Vec<(u32, Range)> {
    let rank = |what: What| match what {
        What::Document(place) => (0, place),
        What::Hole => (1, 0),
        What::Field { decl, .. } => (2, decl),
    };
    openings.sort_unstable_by_key(|it| (it.range.from, std::cmp::Reverse(it.range.to), rank(it.what)));
    let mut pieces: Vec<(u32, Range)> = Vec::new();
    let mut twins: Vec<(u32, u32)> = Vec::new();
    let mut open: Vec<Opening> = Vec::new();
    let mut at = 0;
    let mut close = |open: &mut Vec<Opening>, at: &mut u32, upto: u32| {
        // Text up to `upto` belongs to what is open, innermost first.
        while let Some(last) = open.last() {
            let to = last.range.to.min(upto);
            if to > *at {
                if let What::Document(place) = last.what {
                    pieces.push((place, Range { from: *at, to }));
                }
                *at = to;
            }
            if last.range.to > upto {
                break;
            }
            open.pop();
        }
    };
    for &opening in openings.iter() {
        close(&mut open, &mut at, opening.range.from);
        let innermost = open.last().copied();
        match (opening.what, innermost) {
            (What::Field { decl, owner }, _) => {
                if innermost.is_none_or(|it| it.what != What::Document(owner)) {
                    members.entry(owner).or_default().push(DeclId(decl));
                }
            }
            (What::Document(place), Some(Opening { range, what: What::Document(other) }))
                if range == opening.range && other != 0 =>
            {
                twins.push((other, place));
            }
            _ => open.push(opening),
        }
    }
    close(&mut open, &mut at, u32::MAX);
    for (one, other) in twins {
        let shared: Vec<_> = pieces.iter().filter(|it| it.0 == one).map(|it| (other, it.1)).collect();
        pieces.extend(shared);
    }
    pieces.sort_unstable_by_key(|it| (it.0, it.1.from));
    pieces
}

/// Types of this file by the module they stand in and their name: what an `impl` block is for.
struct OwnersOfMembers<'f> {
    types: FxHashMap<(Option<DeclId>, &'f str), DeclId>,
}

impl<'f> OwnersOfMembers<'f> {
    fn of(facts: &'f FileFacts) -> OwnersOfMembers<'f> {
        let mut types = FxHashMap::default();
        if !facts.impls.is_empty() {
            for (index, decl) in facts.decls.iter().enumerate().filter(|(_, it)| it.kind.is_type_like()) {
                types.entry((decl.owner, facts.text(decl.name))).or_insert(DeclId(index as u32));
            }
        }
        OwnersOfMembers { types }
    }

    fn owner_of(&self, facts: &FileFacts, decl: &Decl) -> Option<DeclId> {
        match decl.implementation.and_then(|it| facts.impls.get(it.index())) {
            Some(implementation) => {
                let name = type_name(facts, decl)?;
                self.types.get(&(implementation.owner, name)).copied()
            }
            None => decl.owner,
        }
    }
}

/// Name of the type whose `impl` block a declaration stands in.
fn type_name<'f>(facts: &'f FileFacts, decl: &Decl) -> Option<&'f str> {
    let implementation = facts.impls.get(decl.implementation?.index())?;
    match facts.types.get(implementation.type_.index())? {
        Type::Named { segments, .. } => segments.last().map(|&it| facts.text(it)),
        _ => None,
    }
}

struct Writer<'t> {
    tokenizer: &'t mut Tokenizer,
    recent: Recent,
    /// One more than the file's number of each token of the tokenizer; 0 for what the file has not had yet.
    local: Vec<u32>,
    /// The tokenizer's number of each of the file's.
    tokens: Vec<u32>,
    /// By the file's numbers: one more than the place in the entries of the field in work.
    counts: Vec<u32>,
    out: FileTerms,
}

impl Writer<'_> {
    fn document(
        &mut self,
        facts: &FileFacts,
        source: &[u8],
        decl: Option<DeclId>,
        text: &TextOfDocuments,
        place: usize,
    ) {
        let from = self.out.entries.len() as u32;
        let mut ends = [0; N_CONTENT];
        for (end, field) in ends.iter_mut().zip(Field::OF_CONTENT) {
            let first = self.out.entries.len();
            match (field, decl.map(|it| facts.decl(it))) {
                (Field::Body, _) => {
                    self.body(source, text.pieces_of(place), first);
                    self.members(facts, text.members.get(&(place as u32)), first);
                }
                (Field::Doc, None) => self.doc(facts.doc.map(|it| facts.text(it)), first),
                (Field::Doc, Some(decl)) => self.doc(decl.doc.map(|it| facts.text(it)), first),
                (Field::Name, Some(decl)) => self.add(facts.text(decl.name), TextKind::Prose, first),
                (Field::Owner, Some(decl)) => self.owners(facts, decl, first),
                (Field::Signature, Some(decl)) => {
                    self.add(facts.text(decl.signature), TextKind::Source, first)
                }
                _ => {}
            }
            for entry in &self.out.entries[first..] {
                self.counts[entry.term as usize] = 0;
            }
            *end = self.out.entries.len() as u32;
        }
        let (symbol, kind) = match decl.map(|it| facts.decl(it)) {
            Some(decl) => (facts.text(decl.path), decl.kind),
            None => ("", NodeKind::File),
        };
        let symbol = self.out.push_symbol(symbol);
        self.out.documents.push(Document { symbol, kind, from, ends });
    }

    /// Leaves the scratch as it was found.
    fn finish(mut self) -> FileTerms {
        for &token in &self.tokens {
            self.local[token as usize] = 0;
        }
        self.tokenizer.scratch = self.local;
        self.tokenizer.recent = self.recent;
        self.out
    }

    fn doc(&mut self, doc: Option<&str>, first: usize) {
        self.add(cut(doc.unwrap_or_default(), &mut MAX_DOC.clone()), TextKind::Prose, first);
    }

    fn owners(&mut self, facts: &FileFacts, decl: &Decl, first: usize) {
        if let Some(name) = type_name(facts, decl) {
            self.add(name, TextKind::Prose, first);
        }
        let mut owner = decl.owner;
        for _ in 0..MAX_OWNERS {
            let Some(above) = owner.and_then(|it| facts.decls.get(it.index())) else { break };
            self.add(facts.text(above.name), TextKind::Prose, first);
            if let Some(name) = type_name(facts, above) {
                self.add(name, TextKind::Prose, first);
            }
            owner = above.owner;
        }
    }

    fn body(&mut self, source: &[u8], pieces: &[(u32, Range)], first: usize) {
        let mut room = MAX_BODY;
        for (_, range) in pieces {
            let bytes = source.get(range.from as usize..range.to as usize).unwrap_or_default();
            // A character takes at most four bytes: more than that is never looked at.
            let bytes = &bytes[..bytes.len().min(room * 4)];
            let text = match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            };
            self.add(cut(&text, &mut room), TextKind::Source, first);
            if room == 0 {
                break;
            }
        }
    }

    fn members(&mut self, facts: &FileFacts, members: Option<&Vec<DeclId>>, first: usize) {
        let mut room = MAX_BODY;
        for &member in members.into_iter().flatten() {
            self.add(cut(facts.text(facts.decl(member).name), &mut room), TextKind::Prose, first);
        }
    }

    fn add(&mut self, text: &str, kind: TextKind, first: usize) {
        let Writer { tokenizer, recent, local, tokens, counts, out } = self;
        let n_known = tokens.len();
        let mut count = |counts: &mut [u32], term: u32| {
            let count = &mut counts[term as usize];
            match *count {
                0 => {
                    out.entries.push(Entry { term, count: 1 });
                    *count = (out.entries.len() - first) as u32;
                }
                known => out.entries[first + known as usize - 1].count += 1,
            }
        };
        each_word(text, kind, |word| {
            let key = Key::of(word.as_bytes());
            if let Some(known) = key.as_ref().and_then(|it| recent.find(it)) {
                known.iter().for_each(|&term| count(counts, term));
                return;
            }
            let of_word = tokenizer.tokens_of(word);
            local.resize(local.len().max(of_word.n_tokens), 0);
            let mut terms = [0; MAX_TERMS];
            for (place, &token) in of_word.tokens.iter().enumerate() {
                let known = &mut local[token as usize];
                if *known == 0 {
                    counts.push(0);
                    *known = counts.len() as u32;
                    tokens.push(token);
                }
                let term = *known - 1;
                count(counts, term);
                if let Some(slot) = terms.get_mut(place) {
                    *slot = term;
                }
            }
            if let (Some(key), Some(terms)) = (key, terms.get(..of_word.tokens.len())) {
                recent.set(key, terms);
            }
        });
        for &token in &tokens[n_known..] {
            out.texts.push_str(tokenizer.text(token));
            out.ends.push(out.texts.len() as u32);
        }
    }
}

/// As much of a text as there is room for, cut before a word that does not fit whole.
fn cut<'t>(text: &'t str, room: &mut usize) -> &'t str {
    let n_characters = text.chars().count();
    if n_characters <= *room {
        *room -= n_characters;
        return text;
    }
    let end = text.char_indices().nth(*room).map_or(text.len(), |it| it.0);
    *room = 0;
    let is_part = |it: char| it.is_alphanumeric() || it == '_';
    match text[end..].starts_with(is_part) {
        true => text[..end].trim_end_matches(is_part),
        false => &text[..end],
    }
}
