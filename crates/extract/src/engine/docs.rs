//! Documentation texts: markers and common indentation removed, cut to 800 characters.

/// What facts keep; a node's own text is shorter still.
pub(crate) const MAX_DOC: usize = 800;

/// Removes the indentation that all lines but the first share, and what is blank around the text.
pub(crate) fn dedent(text: &str) -> String {
    let indent = text
        .lines()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut out = String::with_capacity(text.len().min(MAX_DOC * 2));
    for (row, line) in text.lines().enumerate() {
        // What is cut away below is not worth being copied.
        if out.len() > MAX_DOC * 4 {
            break;
        }
        if row > 0 {
            out.push('\n');
        }
        let line = if row == 0 {
            line.trim_start()
        } else {
            line.get(indent..).unwrap_or_else(|| line.trim_start())
        };
        out.push_str(line.trim_end());
    }
    cut(out.trim(), MAX_DOC).to_owned()
}

/// At most so many characters.
pub(crate) fn cut(text: &str, n_characters: usize) -> &str {
    match text.char_indices().nth(n_characters) {
        Some((end, _)) => text[..end].trim_end(),
        None => text,
    }
}

/// The text of a `/** ... */` that ends before `at`; annotations and plain comments may stand between only if they are
/// part of what begins at `at`, or `//` lines.
pub(crate) fn block_before(bytes: &[u8], at: u32) -> Option<String> {
    /// Where the search for the begin of a comment ends.
    const MAX_BLOCK: usize = 16_000;
    const MAX_LINE: usize = 2_000;
    let mut end = bytes.get(..at as usize)?.trim_ascii_end().len();
    while !bytes[..end].ends_with(b"*/") {
        let floor = end.saturating_sub(MAX_LINE);
        let begin = bytes[floor..end].iter().rposition(|it| *it == b'\n').map_or(floor, |it| floor + it + 1);
        if !bytes[begin..end].trim_ascii_start().starts_with(b"//") {
            return None;
        }
        end = bytes[..begin].trim_ascii_end().len();
    }
    let floor = end.saturating_sub(MAX_BLOCK);
    let open = floor + bytes[floor..end].windows(2).rposition(|it| it == b"/*")?;
    let comment = &bytes[open..end];
    if comment.len() < 5 || !comment.starts_with(b"/**") {
        return None;
    }
    let text = unstarred(&String::from_utf8_lossy(&comment[3..comment.len() - 2]));
    (!text.is_empty()).then_some(text)
}

/// Lines of a block comment without the `*` that each begins with, and without tags of HTML and of references.
fn unstarred(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix('*').map_or(line, |it| it.strip_prefix(' ').unwrap_or(it));
        write_plain(&mut out, line);
        out.push('\n');
        if out.len() > MAX_DOC * 4 {
            break;
        }
    }
    dedent(out.trim_matches('\n'))
}

/// `{@link A b}` becomes `A b`, `<p>` nothing; what only looks like a tag stays.
fn write_plain(out: &mut String, line: &str) {
    let mut rest = line;
    let mut n_open = 0_u32;
    while let Some(at) = rest.find(['<', '{', '}']) {
        out.push_str(&rest[..at]);
        let here = &rest[at..];
        rest = if let Some(inline) = here.strip_prefix("{@") {
            n_open += 1;
            let word = inline.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(inline.len());
            inline[word..].trim_start()
        } else if here.starts_with('}') && n_open > 0 {
            n_open -= 1;
            &here[1..]
        } else if let Some(end) = end_of_tag(here) {
            &here[end..]
        } else {
            out.push_str(&here[..1]);
            &here[1..]
        };
    }
    out.push_str(rest);
}

/// Where `<p>`, `</li>`, `<a href="...">` at the begin of a text end.
fn end_of_tag(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let is_tag = inner.starts_with(|it: char| it.is_ascii_lowercase());
    let end = text.find('>').filter(|end| !text[1..*end].contains('<'))?;
    is_tag.then_some(end + 1)
}
