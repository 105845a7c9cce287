//! Literals that look like keys are masked before a text is kept.

/// The text with such literals as `"***"`; none when there are none. `quotes` are those that texts are written in.
pub(crate) fn mask(text: &str, quotes: &[u8]) -> Option<String> {
    let mut out = String::new();
    let mut kept = 0;
    let mut from = 0;
    while let Some((open, close)) = next_literal(text, from, quotes) {
        let content = &text[open + 1..close];
        if !content.is_empty() && (looks_like_key(content) || is_named_secret(&text[..open])) {
            out.push_str(&text[kept..=open]);
            out.push_str("***");
            kept = close;
        }
        from = (close + 1).min(text.len());
    }
    if out.is_empty() {
        return None;
    }
    out.push_str(&text[kept..]);
    Some(out)
}

/// Positions of the quotes around the next literal; one that does not end reaches to the end of the text.
fn next_literal(text: &str, from: usize, quotes: &[u8]) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let open = from + bytes[from..].iter().position(|it| quotes.contains(it))?;
    let quote = bytes[open];
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            it if it == quote => return Some((open, at)),
            _ => {}
        }
        at += 1;
    }
    (open + 1 < bytes.len()).then_some((open, bytes.len()))
}

fn looks_like_key(content: &str) -> bool {
    const PREFIXES: [&str; 13] = [
        "AKIA",
        "ASIA",
        "AIza",
        "sk-",
        "sk_live_",
        "rk_live_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "xoxb-",
        "xoxp-",
        "eyJhbGciOi",
    ];
    if content.len() >= 16 && PREFIXES.iter().any(|it| content.starts_with(it))
        || content.contains("-----BEGIN ")
    {
        return true;
    }
    let is_token = content
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/' | b'=' | b'_' | b'-'));
    let n_digits = content.bytes().filter(u8::is_ascii_digit).count();
    let n_letters = content.bytes().filter(u8::is_ascii_alphabetic).count();
    // Words and identifiers have few digits; keys of 24 and more characters have many.
    content.len() >= 24 && is_token && n_letters > 0 && n_digits * 8 >= content.len()
}

/// Whether what is assigned stands under a name that promises a secret: `password = `, `api_key: str = `.
fn is_named_secret(before: &str) -> bool {
    const WORDS: [&str; 7] = ["password", "passwd", "secret", "token", "api_key", "apikey", "private_key"];
    let item = before.rsplit(['(', ',', '{', ';']).next().unwrap_or_default();
    let Some((target, _)) = item.rsplit_once(['=', ':']) else { return false };
    let name = target.split(':').next().unwrap_or_default().to_ascii_lowercase();
    WORDS.iter().any(|it| name.contains(it))
}
