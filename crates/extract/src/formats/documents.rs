//! Markdown, reStructuredText and AsciiDoc: sections by their headings, and the symbols and files that they name.

use knowing_model::facts::{Certainty, DeclId, LinkEnd};
use knowing_model::{EdgeKind, NodeKind, Position};

use super::{Format, Sheet};

pub(crate) const MARKDOWN: Format = Format {
    name: "markdown",
    accepts: |_, name| [".md", ".mdx", ".markdown"].iter().any(|it| name.ends_with(it)),
    takes: &["*.md", "*.mdx", "*.markdown"],
    read: read_markdown,
};

pub(crate) const RST: Format =
    Format { name: "rst", accepts: |_, name| name.ends_with(".rst"), takes: &["*.rst"], read: read_rst };

pub(crate) const ASCIIDOC: Format = Format {
    name: "asciidoc",
    accepts: |_, name| name.ends_with(".adoc") || name.ends_with(".asciidoc"),
    takes: &["*.adoc", "*.asciidoc"],
    read: read_asciidoc,
};

/// Names that one file may mention.
const MAX_MENTIONS: usize = 2_000;

struct Sections {
    /// Level, title and declaration of the headings around.
    open: Vec<(usize, String, Option<DeclId>)>,
    n_mentions: usize,
}

impl Sections {
    fn heading(&mut self, sheet: &mut Sheet<'_>, level: usize, title: &str, position: Position) {
        let title = title.trim().trim_matches(['#', '*', ' ']).replace('`', "");
        if title.is_empty() {
            return;
        }
        self.open.retain(|it| it.0 < level);
        let around: Vec<&str> = self.open.iter().map(|it| it.1.as_str()).chain([title.as_str()]).collect();
        let path = around.join(" / ");
        let decl = sheet.declare(NodeKind::DocSection, &path, position, position.line, &title);
        // A section whose title is a symbol is about it.
        if let Some(decl) = decl
            && let Some(name) = symbol(&title)
        {
            let to = LinkEnd::Symbol(sheet.str(name));
            sheet.link_as(LinkEnd::Decl(decl), EdgeKind::Documents, to, Certainty::Quoted, position);
        }
        self.open.push((level, title, decl));
    }

    fn quoted(&mut self, sheet: &mut Sheet<'_>, text: &str, position: Position) {
        if self.n_mentions >= MAX_MENTIONS {
            return;
        }
        let from = self.open.last().and_then(|it| it.2).map_or(LinkEnd::File, LinkEnd::Decl);
        let text = text.trim().trim_end_matches("()");
        let is_path =
            text.contains('/') && text.contains('.') && !text.contains(' ') && !text.contains("://");
        let to = if is_path {
            LinkEnd::Path(sheet.str(text.trim_start_matches("./").trim_start_matches('/')))
        } else if let Some(name) = symbol(text) {
            LinkEnd::Symbol(sheet.str(name))
        } else {
            return;
        };
        self.n_mentions += 1;
        sheet.link_as(from, EdgeKind::Mentions, to, Certainty::Quoted, position);
    }
}

/// A text that can only be the name of a symbol: with an owner, an underscore or capitals inside.
fn symbol(text: &str) -> Option<&str> {
    let text = text.trim().trim_end_matches("()");
    let fits = text.len() >= 4
        && text.len() <= 120
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.' | b':' | b'#'))
        && text.bytes().next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
        && text.bytes().last().is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_');
    let has_shape = text.contains(['.', '_', ':', '#'])
        || text.bytes().skip(1).any(|it| it.is_ascii_uppercase())
            && text.bytes().any(|it| it.is_ascii_lowercase());
    (fits && has_shape).then_some(text)
}

fn read_markdown(sheet: &mut Sheet<'_>) {
    let mut sections = Sections { open: Vec::new(), n_mentions: 0 };
    let mut fence: Option<String> = None;
    let mut before: Option<&str> = None;
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        let position = Position { line: number, column: 0 };
        let trimmed = line.trim_start();
        if let Some(mark) = &fence {
            if trimmed.starts_with(mark.as_str()) {
                fence = None;
            }
            continue;
        }
        let mark = ["```", "~~~"].iter().find(|it| trimmed.starts_with(**it));
        if let Some(mark) = mark {
            let n = trimmed.bytes().take_while(|it| *it == mark.as_bytes()[0]).count();
            fence = Some(mark[..1].repeat(n));
            before = None;
            continue;
        }
        let level = trimmed.bytes().take_while(|it| *it == b'#').count();
        if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            sections.heading(sheet, level, &trimmed[level..], position);
            before = None;
            continue;
        }
        // A heading that is underlined.
        let underline = line.trim_end();
        if underline.len() >= 3
            && (underline.bytes().all(|it| it == b'=') || underline.bytes().all(|it| it == b'-'))
            && let Some(title) =
                before.filter(|it| !it.trim().is_empty() && !it.starts_with(['|', '-', '>', '#', ' ']))
        {
            let level = if underline.starts_with('=') { 1 } else { 2 };
            sections.heading(sheet, level, title, Position { line: number - 1, column: 0 });
            before = None;
            continue;
        }
        spans(sheet, &mut sections, line, number);
        links(sheet, &mut sections, line, number);
        before = Some(line);
    }
    if let Some(mark) = fence.filter(|_| sheet.facts.partial.is_none()) {
        let _ = mark;
        sheet.partial(sheet.facts.n_lines.max(1));
    }
}

/// What stands between backticks.
fn spans(sheet: &mut Sheet<'_>, sections: &mut Sections, line: &str, number: u32) {
    let mut from = 0;
    while let Some(open) = line[from..].find('`').map(|it| from + it) {
        let n = line[open..].bytes().take_while(|it| *it == b'`').count();
        let begin = open + n;
        let Some(end) = line[begin..].find(&"`".repeat(n)).map(|it| begin + it) else { return };
        sections.quoted(sheet, &line[begin..end], Position { line: number, column: begin as u32 });
        from = end + n;
    }
}

/// `[text](path)` to files of the repository.
fn links(sheet: &mut Sheet<'_>, sections: &mut Sections, line: &str, number: u32) {
    let mut from = 0;
    while let Some(open) = line[from..].find("](").map(|it| from + it + 2) {
        let Some(end) = line[open..].find([')', ' ']).map(|it| open + it) else { return };
        let target = line[open..end].split('#').next().unwrap_or_default();
        let is_file = !target.is_empty()
            && !target.contains("://")
            && !target.starts_with("mailto:")
            && target.contains('.');
        if is_file && let Some(to) = sheet.path_end(target) {
            let source = sections.open.last().and_then(|it| it.2).map_or(LinkEnd::File, LinkEnd::Decl);
            let position = Position { line: number, column: open as u32 };
            sheet.link_as(source, EdgeKind::Mentions, to, Certainty::Quoted, position);
        }
        from = end;
    }
}

fn read_rst(sheet: &mut Sheet<'_>) {
    let mut sections = Sections { open: Vec::new(), n_mentions: 0 };
    let mut marks: Vec<u8> = Vec::new();
    let mut before = "";
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        let underline = line.trim_end();
        let mark = underline.bytes().next().unwrap_or(b' ');
        let is_line =
            underline.len() >= 3 && mark.is_ascii_punctuation() && underline.bytes().all(|it| it == mark);
        if is_line
            && !before.trim().is_empty()
            && before.chars().count() <= underline.len() + 1
            && !before.starts_with([' ', '.'])
        {
            let level = match marks.iter().position(|it| *it == mark) {
                Some(at) => at + 1,
                None => {
                    marks.push(mark);
                    marks.len()
                }
            };
            let position = Position { line: number.saturating_sub(1), column: 0 };
            sections.heading(sheet, level, before, position);
            before = "";
            continue;
        }
        let column = (line.len() - line.trim_start().len()) as u32;
        // `.. autoclass:: flask.Flask` documents exactly that.
        if let Some(rest) = line.trim_start().strip_prefix(".. ")
            && let Some((kind, name)) = rest.split_once("::")
        {
            let kind = kind.rsplit(':').next().unwrap_or(kind);
            let documents = matches!(
                kind,
                "autoclass"
                    | "autofunction"
                    | "automethod"
                    | "automodule"
                    | "autoexception"
                    | "autodata"
                    | "class"
                    | "function"
                    | "method"
                    | "attribute"
                    | "exception"
                    | "data"
            );
            let name = name.trim().split('(').next().unwrap_or_default();
            if documents && let Some(name) = symbol(name) {
                let name = name.rsplit('.').take(2).collect::<Vec<_>>();
                let name = name.into_iter().rev().collect::<Vec<_>>().join(".");
                // The module before a function is no owner of it.
                let bare = name
                    .rsplit_once('.')
                    .filter(|it| it.0.starts_with(|it: char| it.is_lowercase()))
                    .map_or(name.as_str(), |it| it.1)
                    .to_owned();
                let from = sections.open.last().and_then(|it| it.2).map_or(LinkEnd::File, LinkEnd::Decl);
                let to = LinkEnd::Symbol(sheet.str(&bare));
                sheet.link_as(
                    from,
                    EdgeKind::Documents,
                    to,
                    Certainty::Quoted,
                    Position { line: number, column },
                );
            }
        }
        // Roles and literals: :meth:`Flask.run`, ``Flask.run``.
        let mut from = 0;
        while let Some(open) = line[from..].find('`').map(|it| from + it) {
            let n = line[open..].bytes().take_while(|it| *it == b'`').count();
            let begin = open + n;
            let Some(end) = line[begin..].find('`').map(|it| begin + it) else { break };
            let is_role = open > 0 && line.as_bytes()[open - 1] == b':';
            if n == 2 || is_role {
                let text = line[begin..end].trim_start_matches(['~', '.', '!']);
                let text = text.split('<').next_back().unwrap_or(text).trim_end_matches('>');
                sections.quoted(sheet, text, Position { line: number, column: begin as u32 });
            }
            // As many as close it: what follows may be any character.
            from = end + line[end..].bytes().take(n).take_while(|it| *it == b'`').count();
        }
        before = line;
    }
}

fn read_asciidoc(sheet: &mut Sheet<'_>) {
    let mut sections = Sections { open: Vec::new(), n_mentions: 0 };
    let mut in_block = false;
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        if line.trim_end() == "----" || line.trim_end() == "...." {
            in_block = !in_block;
            continue;
        }
        if in_block {
            continue;
        }
        let level = line.bytes().take_while(|it| *it == b'=').count();
        if (1..=6).contains(&level) && line[level..].starts_with(' ') {
            sections.heading(sheet, level, &line[level..], Position { line: number, column: 0 });
            continue;
        }
        spans(sheet, &mut sections, line, number);
    }
}
