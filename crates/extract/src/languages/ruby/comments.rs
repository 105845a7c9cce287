//! Comments above declarations: documentation, and the types that YARD (`@param x [T]`), RBS (`#: (T) -> U`) and Sorbet
//! (`sig { params(x: T).returns(U) }`) write.

use knowing_model::Range;
use knowing_model::facts::{DeclId, Reference, ReferenceRole, ReferenceTarget, Str, Type, TypeId};

use super::annotation::parse;
use super::kinds::Field;
use super::reader::{Context, Reader};
use crate::engine::docs::dedent;
use crate::engine::tree::Node;

/// What stands above a declaration.
#[derive(Default)]
pub(super) struct Comment {
    pub(super) doc: Option<String>,
    pub(super) deprecated: bool,
    /// Names of parameters and where their types are written.
    parameters: Vec<(String, Range)>,
    returns: Option<Range>,
    /// `#: (T) -> U`
    signature: Option<Range>,
}

/// A comment longer than this is not read to its begin.
const MAX_LINES: usize = 400;

/// Comments for tools, not for readers.
const DIRECTIVES: [&str; 12] = [
    "frozen_string_literal:",
    "encoding:",
    "coding:",
    "-*-",
    "rubocop:",
    "typed:",
    "warn_indent:",
    "warn_past_scope:",
    "shareable_constant_value:",
    ":nocov:",
    "!/",
    "standard:",
];

impl Reader<'_, '_> {
    /// The comment whose last line stands right above a node.
    pub(super) fn comment_above(&self, node: Node) -> Comment {
        let bytes = self.b.source.bytes;
        let start = self.b.tree.start(node) as usize;
        let mut end = line_start(bytes, start);
        // Something else on the same line: the comment is not this one's.
        if !bytes[end..start].trim_ascii().is_empty() {
            return Comment::default();
        }
        let mut lines: Vec<(usize, usize)> = Vec::new();
        while end > 0 && lines.len() < MAX_LINES {
            let from = line_start(bytes, end - 1);
            let line = bytes[from..end].trim_ascii();
            if !line.starts_with(b"#") || line.starts_with(b"#!") {
                break;
            }
            lines.push((from, end));
            end = from;
        }
        lines.reverse();
        read_comment(bytes, &lines)
    }

    /// What a file begins with, when it is not about the first declaration.
    pub(super) fn file_doc(&mut self) {
        let bytes = self.b.source.bytes;
        let mut lines: Vec<(usize, usize)> = Vec::new();
        let mut from = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut is_apart = false;
        while from < bytes.len() && lines.len() < MAX_LINES {
            let end =
                bytes[from..].iter().position(|it| *it == b'\n').map_or(bytes.len(), |it| from + it + 1);
            let line = bytes[from..end].trim_ascii();
            if line.is_empty() {
                if lines.iter().any(|(from, to)| !is_directive(bytes, *from, *to)) {
                    is_apart = true;
                    break;
                }
            } else if !line.starts_with(b"#") {
                break;
            } else {
                lines.push((from, end));
            }
            from = end;
        }
        if is_apart {
            let comment = read_comment(bytes, &lines);
            self.b.facts.doc = comment.doc.map(|it| self.b.intern(it));
        }
    }
}

fn is_directive(bytes: &[u8], from: usize, to: usize) -> bool {
    let text = String::from_utf8_lossy(&bytes[from..to]);
    let text = text.trim().trim_start_matches('#').trim_start();
    DIRECTIVES.iter().any(|it| text.starts_with(it))
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)
}

fn read_comment(bytes: &[u8], lines: &[(usize, usize)]) -> Comment {
    let mut comment = Comment::default();
    let mut doc = String::new();
    for &(from, to) in lines {
        if is_directive(bytes, from, to) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes[from..to]);
        let body = text.trim_start().trim_start_matches('#').trim_end();
        let trimmed = body.trim_start();
        if trimmed.starts_with(":nodoc:")
            || trimmed.starts_with(":stopdoc:")
            || trimmed.starts_with(":startdoc:")
        {
            continue;
        }
        let at = |inner: &str| {
            // Lossy texts have other offsets; their types are not read.
            let is_exact = matches!(text, std::borrow::Cow::Borrowed(_));
            let offset = inner.as_ptr() as usize - text.as_ptr() as usize;
            let start = u32::try_from(from + offset).ok()?;
            let end = start + u32::try_from(inner.len()).ok()?;
            is_exact.then_some(Range { from: start, to: end })
        };
        if let Some(signature) = trimmed.strip_prefix(':').filter(|it| !it.starts_with(':')) {
            comment.signature = at(signature.trim());
            continue;
        }
        if let Some(rest) = trimmed.strip_prefix("@param ") {
            note_parameter(rest, &mut comment, at);
        } else if let Some(rest) = trimmed.strip_prefix("@return ") {
            comment.returns = bracketed(rest).and_then(at);
        } else if let Some(rest) = trimmed.strip_prefix("@rbs ") {
            note_rbs(rest, &mut comment, at);
        } else if trimmed.starts_with("@deprecated") {
            comment.deprecated = true;
        }
        doc.push_str(body.strip_prefix(' ').unwrap_or(body));
        doc.push('\n');
    }
    let doc = dedent(&doc);
    comment.doc = (!doc.is_empty()).then_some(doc);
    comment
}

/// `name [Type] text`, `[Type] name text`.
fn note_parameter(rest: &str, comment: &mut Comment, at: impl Fn(&str) -> Option<Range>) {
    let rest = rest.trim_start();
    let Some(type_) = bracketed(rest) else { return };
    let after = rest.find('[').and_then(|open| rest.get(open + type_.len() + 2..)).unwrap_or_default();
    let name = if rest.starts_with('[') { after } else { rest };
    let name = name.split_whitespace().next().unwrap_or_default().trim_matches(['*', '&', ':']);
    if let Some(range) = at(type_) {
        comment.parameters.push((name.to_owned(), range));
    }
}

/// `name: Type`, `return: Type`.
fn note_rbs(rest: &str, comment: &mut Comment, at: impl Fn(&str) -> Option<Range>) {
    let Some((name, type_)) = rest.split_once(':') else { return };
    let type_ = type_.split(" -- ").next().unwrap_or_default().trim();
    match (name.trim(), at(type_)) {
        ("return" | "returns", range) => comment.returns = range,
        (name, Some(range)) => {
            comment.parameters.push((name.trim_matches(['*', '&', '?']).to_owned(), range))
        }
        _ => {}
    }
}

/// The inside of the first brackets.
fn bracketed(text: &str) -> Option<&str> {
    let open = text.find('[')?;
    let mut depth = 0_usize;
    for (at, character) in text[open..].char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[open + 1..open + at]);
        }
    }
    None
}

/// Types of comments, given to declarations.
impl Reader<'_, '_> {
    /// What a method gives back, as far as somebody wrote it down.
    pub(super) fn signature_types(&mut self, id: DeclId, comment: &Comment, cx: Context) {
        self.sig_params = None;
        let sorbet = self.sig.take().and_then(|it| self.sorbet_part(it, "returns"));
        let rbs = comment.signature.and_then(|it| self.rbs_result(it));
        let written = sorbet.or(rbs).or(comment.returns);
        if let Some(range) = written {
            let type_ = self.written_type(range, cx);
            self.b.decl_mut(id).type_ = type_;
        }
    }

    pub(super) fn attribute_type(&mut self, id: DeclId, comment: &Comment, cx: Context) {
        let sorbet = self.sig.take().and_then(|it| self.sorbet_part(it, "returns"));
        if let Some(range) = sorbet.or(comment.signature).or(comment.returns) {
            let inner = Context { decl: Some(id), ..cx };
            let type_ = self.written_type(range, inner);
            self.b.decl_mut(id).type_ = type_;
        }
    }

    pub(super) fn parameter_type(&mut self, name: Str, comment: &Comment, cx: Context) -> Option<TypeId> {
        let name = self.b.str(name);
        let range = comment.parameters.iter().find(|it| it.0 == name).map(|it| it.1);
        let range = range.or_else(|| {
            let sig = self.sig_params.as_ref()?;
            sig.iter().find(|it| it.0 == name).map(|it| it.1)
        })?;
        self.written_type(range, cx)
    }

    /// `x = value #: Type`.
    pub(super) fn type_comment(&mut self, statement: Node) -> Option<TypeId> {
        let from = self.b.tree.end(statement);
        let rest = self.b.source.bytes(Range { from, to: self.b.source.len() });
        let n_blank = rest.iter().take_while(|it| matches!(it, b' ' | b'\t')).count();
        let after = rest[n_blank..].strip_prefix(b"#:")?;
        let to = after.iter().position(|it| *it == b'\n').unwrap_or(after.len());
        let from = self.b.source.len() - u32::try_from(after.len()).ok()?;
        let range = Range { from, to: from + u32::try_from(to).ok()? };
        let (type_, _) = parse(self.b, range);
        (*self.b.facts.type_(type_) != Type::Unknown).then_some(type_)
    }

    /// A written type; every type it names is a hint of the declaration.
    fn written_type(&mut self, range: Range, cx: Context) -> Option<TypeId> {
        let (type_, mentions) = parse(self.b, range);
        let root = self.b.tree.root()?;
        for (mention, at) in mentions {
            let position = self.b.position_at(root, at);
            let target = ReferenceTarget::Type(mention);
            self.b.reference(Reference { decl: cx.decl, target, role: ReferenceRole::Hint, position });
        }
        (*self.b.facts.type_(type_) != Type::Unknown).then_some(type_)
    }

    /// The arguments of `returns(...)` in the block of a `sig`; those of `params(...)` are kept for the parameters.
    fn sorbet_part(&mut self, sig: Node, part: &str) -> Option<Range> {
        let block = self.child(sig, Field::Block)?;
        let mut found = None;
        let mut params = Vec::new();
        for node in self.b.tree.subtree(block) {
            let Some(method) = self.child(node, Field::Method) else { continue };
            let Some(list) = self.child(node, Field::Arguments) else { continue };
            if self.is(method, part) {
                found = self.first_child(list).map(|it| self.b.tree.range(it));
            } else if self.is(method, "params") {
                for pair in self.children(list) {
                    let sides = (self.child(pair, Field::Key), self.child(pair, Field::Value));
                    if let (Some(key), Some(value)) = sides {
                        params.push((self.b.text(key).into_owned(), self.b.tree.range(value)));
                    }
                }
            }
        }
        self.sig_params = Some(params);
        found
    }

    /// What stands behind the last arrow.
    fn rbs_result(&self, signature: Range) -> Option<Range> {
        let text = self.b.source.slice(signature);
        let at = text.rfind("->")?;
        let from = signature.from + u32::try_from(at + 2).ok()?;
        Some(Range { from, to: signature.to })
    }
}
