//! Digests of what a file says, such that they stay the same when code merely moves.
//!
//! Facts are walked by their own `Serialize`, so that a field which somebody adds is part of the digest without anybody
//! thinking of it. Numbers of texts, types, expressions and declarations stand for what they point to, and positions are
//! left out. Where the order of code matters (which binding of a name does this use see?), a use says on which side of
//! each binding it stands.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt::{self, Display};

use knowing_model::facts::{BindingTarget, ExprId, ImplId, TypeId};
use knowing_model::facts::{DeclId, Expr, FileFacts, ImportKind, Str, Type};
use rustc_hash::FxHashMap;
use serde::ser::{self, Serialize};

use super::keys::{self, mix};

/// The parts of one file's facts as digests.
pub(crate) struct FileDigest<'a> {
    pub(crate) facts: &'a FileFacts,
    /// Of the path and of what holds for the whole file.
    seed: u64,
    /// Hash of the path.
    pub(crate) file: u64,
    decls: Vec<u64>,
    types: Vec<Part>,
    exprs: Vec<Part>,
    borders: FxHashMap<Str, Vec<Border>>,
    /// Of every word of the file: for what points to something that stands behind it.
    whole: OnceCell<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Open,
    InWork,
    Done(u64),
}

/// Where a name begins or ceases to mean something, in the scope between two offsets.
struct Border {
    scope: (u32, u32),
    at: u32,
}

impl<'a> FileDigest<'a> {
    pub(crate) fn new(path: &str, facts: &'a FileFacts) -> FileDigest<'a> {
        let file = keys::file(path);
        let mut digest = FileDigest {
            facts,
            seed: 0,
            file,
            decls: Vec::with_capacity(facts.decls.len()),
            types: vec![Part::Open; facts.types.len()],
            exprs: vec![Part::Open; facts.exprs.len()],
            borders: borders(facts),
            whole: OnceCell::new(),
        };
        digest.seed = digest.of(&(&facts.language, facts.flags, facts.namespace, facts.condition));
        for decl in &facts.decls {
            let owner = decl.owner.map_or(0, |it| digest.decls.get(it.index()).copied().unwrap_or(1));
            let own = mix(keys::decl(file, facts.text(decl.path)), u64::from(decl.kind.id()));
            let namespace = digest.of(&facts.namespace_at(decl.range.from));
            digest.decls.push(mix(mix(owner, own), namespace));
        }
        (0..facts.types.len() as u32).for_each(|it| {
            digest.type_(TypeId(it));
        });
        (0..facts.exprs.len() as u32).for_each(|it| {
            digest.expr(ExprId(it));
        });
        digest
    }

    /// Of anything that these facts hold, together with what it points to.
    pub(crate) fn of(&self, value: &(impl Serialize + ?Sized)) -> u64 {
        self.walk(value, Manner::AsMeant)
    }

    /// Of every word of the facts, positions included.
    pub(crate) fn as_written(&self) -> u64 {
        *self.whole.get_or_init(|| self.walk(self.facts, Manner::AsWritten))
    }

    fn walk(&self, value: &(impl Serialize + ?Sized), manner: Manner) -> u64 {
        let mut walk = Walk { digest: self, state: self.seed, pointer: None, manner, is_hidden: false };
        value.serialize(&mut walk).expect("facts are plain data, and nothing of it is refused");
        walk.state
    }

    pub(super) fn decl(&self, id: DeclId) -> u64 {
        self.decls.get(id.index()).copied().unwrap_or(1)
    }

    fn done(&self, parts: &[Part], at: usize) -> u64 {
        match parts.get(at) {
            Some(Part::Done(digest)) => *digest,
            _ => self.as_written(),
        }
    }

    fn type_(&mut self, id: TypeId) {
        if self.types.get(id.index()) != Some(&Part::Open) {
            return;
        }
        self.types[id.index()] = Part::InWork;
        let facts = self.facts;
        let type_ = facts.type_(id);
        let digest = match type_ {
            Type::Named { segments, arguments, at } => {
                arguments.iter().for_each(|it| self.type_(*it));
                let side = segments.first().map_or(0, |it| self.side(*it, *at));
                mix(self.of(&(segments, arguments)), side)
            }
            other => {
                types_in(other).into_iter().for_each(|it| self.type_(it));
                self.of(other)
            }
        };
        self.types[id.index()] = Part::Done(digest);
    }

    fn expr(&mut self, id: ExprId) {
        if self.exprs.get(id.index()) != Some(&Part::Open) {
            return;
        }
        self.exprs[id.index()] = Part::InWork;
        let facts = self.facts;
        let digest = match facts.expr(id) {
            Expr::Name { name, at } => mix(self.of(&name), self.side(name, at)),
            Expr::Super { .. } => self.of("super"),
            // Of several callables of one name the arguments choose one.
            call @ (Expr::Call { callee } | Expr::Given { callee, .. }) => {
                mix(self.of(&call), self.of(facts.arguments_of(callee)))
            }
            other => self.of(&other),
        };
        self.exprs[id.index()] = Part::Done(digest);
    }

    /// On which side of each binding of a name an offset lies.
    fn side(&self, name: Str, at: u32) -> u64 {
        let around = |it: &&Border| it.scope.0 <= at && at <= it.scope.1;
        let borders = self.borders.get(&name).map_or(&[][..], Vec::as_slice);
        borders.iter().filter(around).fold(0, |state, it| {
            let side = match it.at.cmp(&at) {
                Ordering::Less => 1,
                Ordering::Equal => 2,
                Ordering::Greater => 3,
            };
            mix(state, side)
        })
    }
}

/// Types that a type is made of, and that may stand behind it.
fn types_in(type_: &Type) -> Vec<TypeId> {
    match type_ {
        Type::Named { arguments, .. } => arguments.clone(),
        Type::Projection { of, interface, .. } => [*of].into_iter().chain(*interface).collect(),
        Type::Union(types) | Type::Tuple(types) | Type::Bounds(types) => types.clone(),
        Type::Sequence(of) => vec![*of],
        Type::Function(result) => result.iter().copied().collect(),
        _ => Vec::new(),
    }
}

fn borders(facts: &FileFacts) -> FxHashMap<Str, Vec<Border>> {
    let mut borders: FxHashMap<Str, Vec<Border>> = FxHashMap::default();
    let mut push = |name: Str, scope: Option<DeclId>, all: &[u32]| {
        let scope = scope.map_or((0, u32::MAX), |it| {
            let range = facts.decl(it).range;
            (range.from, range.to)
        });
        borders.entry(name).or_default().extend(all.iter().map(|&at| Border { scope, at }));
    };
    for decl in &facts.decls {
        let visible = decl.visible.unwrap_or_default();
        push(decl.name, decl.owner, &[decl.range.from, visible.from, visible.to]);
    }
    for binding in &facts.bindings {
        if let BindingTarget::Name(name) = binding.target {
            push(name, binding.decl, &[binding.visible.from, binding.visible.to, binding.certain_to]);
        }
    }
    for import in &facts.imports {
        let bound = match import.kind {
            ImportKind::Module { alias } | ImportKind::Member { alias, .. } => Some(alias),
            ImportKind::TopModule => import.module.first().copied(),
            ImportKind::Wildcard => None,
        };
        if let Some(bound) = bound {
            push(bound, import.decl, &[import.visible.from, import.visible.to]);
        }
    }
    borders
}

/// Positions, whose numbers do not count: an order that matters is told by the uses.
const POSITIONS: &[&str] = &["span", "range", "position", "visible", "certain_to", "n_lines"];
/// What nobody resolves by, and, in `FileFacts`, what other parts point to.
const LEFT_OUT: &[&str] = &["doc", "strings", "types", "exprs"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Numbers stand for what they point to, and positions do not count.
    AsMeant,
    /// Every number as it is.
    AsWritten,
}

struct Walk<'d> {
    manner: Manner,
    digest: &'d FileDigest<'d>,
    state: u64,
    /// The name of the type whose number comes next.
    pointer: Option<&'static str>,
    /// In a position.
    is_hidden: bool,
}

impl Walk<'_> {
    fn word(&mut self, word: u64) -> Result<(), Never> {
        self.state = mix(self.state, word);
        Ok(())
    }
}

/// Nothing can fail; `Serializer` wants an error all the same.
#[derive(Debug)]
struct Never;

impl Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("facts cannot be digested")
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: Display>(_: T) -> Never {
        Never
    }
}

macro_rules! words {
    ($($method:ident: $type:ty,)*) => {$(
        fn $method(self, it: $type) -> Result<(), Never> {
            self.word(it as u64)
        }
    )*};
}

impl ser::Serializer for &mut Walk<'_> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    words! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u64: u64,
        serialize_char: char,
    }

    fn serialize_u32(self, it: u32) -> Result<(), Never> {
        let digest = self.digest;
        let facts = digest.facts;
        let at = it as usize;
        let meant = match self.pointer.take() {
            _ if self.manner == Manner::AsWritten => u64::from(it),
            Some("Str") => facts.strings.get(at).map_or(1, keys::name),
            Some("DeclId") => digest.decl(DeclId(it)),
            Some("TypeId") => digest.done(&digest.types, at),
            Some("ExprId") => digest.done(&digest.exprs, at),
            Some("ImplId") => facts.impls.get(ImplId(it).index()).map_or(1, |it| digest.of(it)),
            _ if self.is_hidden => return Ok(()),
            _ => u64::from(it),
        };
        self.word(meant)
    }

    fn serialize_f32(self, it: f32) -> Result<(), Never> {
        self.word(u64::from(it.to_bits()))
    }

    fn serialize_f64(self, it: f64) -> Result<(), Never> {
        self.word(it.to_bits())
    }

    fn serialize_str(self, it: &str) -> Result<(), Never> {
        self.word(keys::name(it))
    }

    fn serialize_bytes(self, it: &[u8]) -> Result<(), Never> {
        it.iter().try_for_each(|it| self.word(u64::from(*it)))?;
        self.word(it.len() as u64)
    }

    fn serialize_none(self) -> Result<(), Never> {
        self.word(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, it: &T) -> Result<(), Never> {
        self.word(1)?;
        it.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Never> {
        self.word(0)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        self.word(0)
    }

    fn serialize_unit_variant(self, _: &'static str, index: u32, _: &'static str) -> Result<(), Never> {
        self.word(u64::from(index))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        it: &T,
    ) -> Result<(), Never> {
        self.pointer = Some(name);
        it.serialize(&mut *self)?;
        self.pointer = None;
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        it: &T,
    ) -> Result<(), Never> {
        self.word(u64::from(index))?;
        it.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Never> {
        self.word(length.unwrap_or(usize::MAX) as u64)?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.word(u64::from(index))?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Never> {
        self.serialize_seq(length)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.word(u64::from(index))?;
        Ok(self)
    }
}

macro_rules! elements {
    ($($trait:ident: $method:ident,)*) => {$(
        impl ser::$trait for &mut Walk<'_> {
            type Ok = ();
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Never> {
                it.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field,
}

macro_rules! fields {
    ($($trait:ident,)*) => {$(
        impl ser::$trait for &mut Walk<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, it: &T) -> Result<(), Never> {
                if self.manner == Manner::AsWritten {
                    return it.serialize(&mut **self);
                }
                if LEFT_OUT.contains(&name) {
                    return Ok(());
                }
                let before = self.is_hidden;
                self.is_hidden |= POSITIONS.contains(&name);
                it.serialize(&mut **self)?;
                self.is_hidden = before;
                Ok(())
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

fields! {
    SerializeStruct,
    SerializeStructVariant,
}

impl ser::SerializeMap for &mut Walk<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Never> {
        it.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, it: &T) -> Result<(), Never> {
        it.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Never> {
        Ok(())
    }
}
