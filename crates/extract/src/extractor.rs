//! One file to its facts, with parsers and buffers kept from file to file.

use std::cell::RefCell;

use knowing_model::NodeFlags;
use knowing_model::facts::{FileFacts, Partial, PartialReason};
use tree_sitter::Parser;

use crate::engine::arena::{self, Arena};
use crate::engine::build::Builder;
use crate::engine::parse::parse;
use crate::engine::paths;
use crate::engine::scratch::Scratch;
use crate::engine::source::Source;
use crate::engine::tree::Tree;
use crate::language::Language;
use crate::limits::Limits;
use crate::passes;
use crate::registry::{BLANKED, Reader, code_of, reader_of_file};
use crate::screen::flags_of;

/// The facts of an accepted file, with an extractor kept per thread. Broken input is data: there is no error.
pub fn extract(path: &str, bytes: &[u8]) -> FileFacts {
    thread_local! {
        static EXTRACTOR: RefCell<Extractor> = RefCell::new(Extractor::new(Limits::default()));
    }
    EXTRACTOR.with_borrow_mut(|it| it.extract(path, bytes))
}

pub struct Extractor {
    limits: Limits,
    arena: Arena,
    tree: Tree,
    scratch: Scratch,
    /// Nothing but lists to be filled.
    room: FileFacts,
}

impl Extractor {
    pub fn new(limits: Limits) -> Extractor {
        Extractor {
            limits,
            arena: Arena::default(),
            tree: Tree::default(),
            scratch: Scratch::default(),
            room: FileFacts::default(),
        }
    }

    /// A path that no language accepts gives empty facts.
    pub fn extract(&mut self, path: &str, bytes: &[u8]) -> FileFacts {
        match reader_of_file(path, bytes) {
            Some(Reader::Language(language)) => self.read(language, path, bytes),
            Some(Reader::Manifest(manifest)) => {
                let mut facts = manifest.read(path, bytes, &self.limits);
                facts.flags = flags_of(path, bytes);
                facts
            }
            Some(Reader::Format(format)) => {
                let mut facts = format.read(path, bytes, &self.limits);
                facts.flags = flags_of(path, bytes);
                facts
            }
            None => FileFacts::default(),
        }
    }

    fn read(&mut self, language: &Language, path: &str, bytes: &[u8]) -> FileFacts {
        let mut flags = flags_of(path, bytes);
        let bytes = &*code_of(path, bytes);
        let source = Source::new(bytes);
        let is_test = (language.is_test)(path);
        if is_test {
            flags.insert(NodeFlags::TEST);
        }
        let mut facts = match self.parse(language, bytes) {
            Some(()) => {
                let mut builder = Builder::new(path, source, &self.tree, &mut self.scratch, self.limits);
                builder.facts = std::mem::take(&mut self.room);
                builder.is_test = is_test;
                (language.read)(&mut builder);
                builder.finish()
            }
            None => FileFacts {
                partial: Some(Partial { reason: PartialReason::ParseTimeout, line: None }),
                ..FileFacts::default()
            },
        };
        language.name.clone_into(&mut facts.language);
        facts.flags = flags;
        facts.n_lines = source.n_lines();
        for decl in &mut facts.decls {
            decl.flags.insert(flags);
        }
        paths::assign(&mut facts, language.owner_path);
        passes::run(&mut facts, path, bytes);
        fit(&mut facts, &mut self.room);
        facts
    }

    /// Fills the flat tree; none when the time was up.
    fn parse(&mut self, language: &Language, bytes: &[u8]) -> Option<()> {
        let Extractor { limits, arena, tree, .. } = self;
        let tables = language.tables();
        let blanked = BLANKED.iter().find(|it| it.0 == language.name).and_then(|it| it.1(bytes));
        let mut fill = || {
            // A parser keeps memory from parse to parse, so that each file has its own; that is a matter of microseconds.
            let mut parser = Parser::new();
            parser.set_language(&tables.grammar).expect("grammar and library are built for each other");
            let parsed = parse(&mut parser, blanked.as_deref().unwrap_or(bytes), limits.parse_time)?;
            tree.fill(&parsed, bytes, tables, limits.max_depth);
            arena::let_go(parsed);
            Some(())
        };
        #[expect(unsafe_code, reason = "the arena does not know who still holds a tree")]
        // SAFETY: parser and tree are gone when the closure ends, and the flat tree points to neither.
        unsafe {
            arena.within(&mut fill)
        }
    }
}

/// Moves the long lists into memory of just their size, because facts of a whole repository are in memory at once, and
/// keeps the room they grew into for the next file.
fn fit(facts: &mut FileFacts, room: &mut FileFacts) {
    fn fit<T>(list: &mut Vec<T>, room: &mut Vec<T>) {
        let mut fitting = Vec::with_capacity(list.len());
        fitting.append(list);
        *room = std::mem::replace(list, fitting);
    }
    for decl in &mut facts.decls {
        decl.parameters.shrink_to_fit();
        decl.bases.shrink_to_fit();
    }
    for call in &mut facts.calls {
        call.passed.shrink_to_fit();
    }
    let strings = facts.strings.take_fitting();
    room.strings = std::mem::replace(&mut facts.strings, strings);
    fit(&mut facts.decls, &mut room.decls);
    fit(&mut facts.types, &mut room.types);
    fit(&mut facts.exprs, &mut room.exprs);
    fit(&mut facts.bindings, &mut room.bindings);
    fit(&mut facts.calls, &mut room.calls);
    fit(&mut facts.references, &mut room.references);
    fit(&mut facts.imports, &mut room.imports);
    fit(&mut facts.returns, &mut room.returns);
    fit(&mut facts.arguments, &mut room.arguments);
}
