//! Which text belongs to which document of a file.

use knowing_model::facts::{Decl, DeclId, FileFacts, Impl, ImplId, Modifiers, Str, Type, TypeId};
use knowing_model::{NodeFlags, NodeKind, Position, Range, Span};
use proptest::prelude::*;

use crate::{Field, FileTerms, Tokenizer};

/// Facts of a text in which declarations are marked by hand.
struct File<'s> {
    source: &'s str,
    facts: FileFacts,
}

impl<'s> File<'s> {
    fn new(source: &'s str) -> File<'s> {
        File { source, facts: FileFacts::default() }
    }

    fn text(&mut self, text: &str) -> Str {
        self.facts.strings.push(text);
        Str(self.facts.strings.len() as u32 - 1)
    }

    /// A declaration that reaches from one text of the source to the end of another.
    fn decl(&mut self, kind: NodeKind, path: &str, owner: Option<DeclId>, from: &str, to: &str) -> DeclId {
        let start = self.source.find(from).unwrap();
        let end = start + self.source[start..].find(to).unwrap() + to.len();
        let name = path.rsplit('.').next().unwrap();
        let (name, path, signature) = (self.text(name), self.text(path), self.text(from));
        self.facts.decls.push(Decl {
            owner,
            implementation: None,
            name,
            path,
            kind,
            span: Span::default(),
            range: Range { from: start as u32, to: end as u32 },
            signature,
            doc: None,
            flags: NodeFlags::default(),
            modifiers: Modifiers::default(),
            type_parameters: Vec::new(),
            parameters: Vec::new(),
            type_: None,
            value: None,
            bases: Vec::new(),
            visible: None,
        });
        DeclId(self.facts.decls.len() as u32 - 1)
    }

    fn doc(&mut self, decl: DeclId, doc: &str) {
        let doc = self.text(doc);
        self.facts.decls[decl.index()].doc = Some(doc);
    }

    fn terms(&self) -> FileTerms {
        let terms = FileTerms::of(&self.facts, self.source.as_bytes(), &mut Tokenizer::new());
        assert_eq!(FileTerms::decode(&terms.encode()).as_ref(), Some(&terms));
        terms
    }
}

/// Documents one by one, each with its fields; a term that occurs more than once has its count.
fn shown(terms: &FileTerms) -> String {
    let mut out = String::new();
    for document in terms.documents() {
        out.push_str(&format!("{} {}\n", document.kind().name(), document.symbol()));
        for field in Field::ALL {
            let terms: Vec<String> = document
                .field(field)
                .map(|(term, count)| if count > 1 { format!("{term}*{count}") } else { term.to_owned() })
                .collect();
            if !terms.is_empty() {
                out.push_str(&format!("  {}: {}\n", field.name(), terms.join(" ")));
            }
        }
    }
    out
}

#[test]
fn each_byte_belongs_to_the_innermost_document() {
    let source = r#""""Shops."""
import re

@register
class Cart(Base):
    """Holds things.

    Until they are paid.
    """
    size = 0

    def fill(self, thing):
        """Puts one in."""
        self.owner = f"Guest\n{thing}"
        def check(it):
            return it
        limit = 5

LIMIT = MAXIMUM = 7
"#;
    let mut file = File::new(source);
    let doc = file.text("Shops.");
    file.facts.doc = Some(doc);
    let cart = file.decl(NodeKind::Class, "Cart", None, "class Cart(Base):", "limit = 5");
    file.doc(cart, "Holds things.\n\nUntil they are paid.");
    file.decl(NodeKind::Field, "Cart.size", Some(cart), "size = 0", "0");
    let fill = file.decl(NodeKind::Method, "Cart.fill", Some(cart), "def fill(self, thing):", "limit = 5");
    file.doc(fill, "Puts one in.");
    file.decl(NodeKind::Field, "Cart.owner", Some(cart), "self.owner", "owner");
    file.decl(NodeKind::Function, "Cart.fill.check", Some(fill), "def check(it):", "return it");
    file.decl(NodeKind::Var, "Cart.fill.limit", Some(fill), "limit = 5", "5");
    file.decl(NodeKind::Const, "LIMIT", None, "LIMIT = MAXIMUM", "7");
    file.decl(NodeKind::Const, "MAXIMUM", None, "LIMIT = MAXIMUM", "7");
    let expected = "\
file 
  doc: shop
  body: import re
class Cart
  name: cart
  signature: class cart base
  doc: hold thing until paid
  body: regist class cart base size fill owner
method Cart.fill
  name: fill
  owner: cart
  signature: fill thing
  doc: put one
  body: fill thing*2 owner guest limit
function Cart.fill.check
  name: check
  owner: fill cart
  signature: check
  body: check
const LIMIT
  name: limit
  signature: limit maximum
  body: limit maximum
const MAXIMUM
  name: maximum
  signature: limit maximum
  body: limit maximum
";
    assert_eq!(shown(&file.terms()), expected);
}

#[test]
fn items_of_an_impl_block_belong_to_its_type() {
    let source = "/// A cart.\n/// Of things.\n#[derive(Debug)]\nstruct Cart { size: u8 }\n\nimpl Display for Cart {\n    /// Shows it.\n    fn show_all() {}\n}\n";
    let mut file = File::new(source);
    let cart = file.decl(NodeKind::Struct, "Cart", None, "struct Cart", "}");
    file.doc(cart, "A cart.\nOf things.");
    let show = file.decl(NodeKind::Method, "Cart.show_all", None, "fn show_all()", "}");
    file.doc(show, "Shows it.");
    let name = file.text("Cart");
    file.facts.types.push(Type::Named { segments: vec![name], arguments: Vec::new(), at: 0 });
    file.facts.impls.push(Impl {
        owner: None,
        type_: TypeId(0),
        interface: None,
        type_parameters: Vec::new(),
        range: Range::default(),
        position: Position::default(),
    });
    file.facts.decls[show.index()].implementation = Some(ImplId(0));
    let expected = "\
file 
  body: display cart
struct Cart
  name: cart
  signature: struct cart
  doc: cart thing
  body: deriv debug struct cart size u8 show all showal
method Cart.show_all
  name: show all showal
  owner: cart
  signature: show all showal
  doc: show
  body: show all showal
";
    assert_eq!(shown(&file.terms()), expected);
}

#[test]
fn bodies_are_cut_before_a_word_that_does_not_fit() {
    let source = format!("{}ändern gone", "wört ".repeat(1_199));
    let file = File::new(&source);
    assert_eq!(shown(&file.terms()), "file \n  body: wört*1199\n");
    let source = format!("{}end gone", "wört ".repeat(1_199));
    let file = File::new(&source);
    assert_eq!(shown(&file.terms()), "file \n  body: wört*1199 end\n");
}

#[test]
fn terms_do_not_depend_on_what_the_tokenizer_met_before() {
    let source = "def fill(thing): return checkOut(thing, 12)";
    let mut file = File::new(source);
    file.decl(NodeKind::Function, "fill", None, "def fill(thing):", "12)");
    let mut used = Tokenizer::new();
    for text in ["thing checkOut 12", "zebra", "fill"] {
        used.each(text, |_| {});
        let terms = FileTerms::of(&file.facts, source.as_bytes(), &mut used);
        assert_eq!(terms, file.terms());
        assert_eq!(terms.encode(), file.terms().encode());
    }
}

#[test]
fn ranges_beyond_the_source_and_broken_text_are_taken_as_they_are() {
    let mut file = File::new("def fill(thing): pass");
    let fill = file.decl(NodeKind::Function, "fill", None, "def", "pass");
    file.doc(fill, "absent");
    for (from, to) in [(0, 900), (900, 1_000), (9, 3), (20, u32::MAX)] {
        file.facts.decls[fill.index()].range = Range { from, to };
        file.terms();
    }
    FileTerms::of(&file.facts, b"\xff\xfe caf\xe9 \xf0\x9f", &mut Tokenizer::new());
    FileTerms::of(&file.facts, b"", &mut Tokenizer::new());
}

proptest! {
    #[test]
    fn damaged_terms_are_refused_or_read_without_harm(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let source = "def fill(thing): return checkOut(thing, 12) or thing thing";
        let mut file = File::new(source);
        file.decl(NodeKind::Function, "fill", None, "def fill(thing):", "12)");
        let whole = file.terms().encode();
        prop_assert_eq!(FileTerms::decode(&whole[..cut.index(whole.len())]), None);
        let mut bytes = whole.clone();
        bytes[at.index(whole.len())] = byte;
        if let Some(terms) = FileTerms::decode(&bytes) {
            shown(&terms);
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        FileTerms::decode(&bytes);
    }
}
