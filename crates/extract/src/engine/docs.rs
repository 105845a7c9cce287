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
