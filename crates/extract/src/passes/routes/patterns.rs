//! Patterns of all frameworks in one writing: parameters are `{name}`.

/// Two parts of a pattern with one `/` between them.
pub(crate) fn joined(prefix: &str, pattern: &str) -> String {
    if prefix.is_empty() || prefix == "/" && pattern.starts_with('/') {
        return pattern.to_owned();
    }
    if pattern.is_empty() {
        return prefix.to_owned();
    }
    match (prefix.ends_with('/'), pattern.starts_with('/')) {
        (true, true) => format!("{}{pattern}", prefix.trim_end_matches('/')),
        (false, false) => format!("{prefix}/{pattern}"),
        _ => format!("{prefix}{pattern}"),
    }
}

/// `:id`, `<int:id>`, `{id:[0-9]+}`, `(?P<id>\d+)`, `*path` as `{id}` and `{path}`; anchors of regular expressions removed.
pub(crate) fn normalised(pattern: &str) -> String {
    let pattern = pattern.trim();
    let pattern = pattern.strip_prefix('^').or(pattern.strip_prefix("\\A")).unwrap_or(pattern);
    let pattern = pattern.strip_suffix("\\Z").or(pattern.strip_suffix("\\z")).unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let characters: Vec<char> = pattern.chars().collect();
    let mut out = String::with_capacity(pattern.len());
    let mut at = 0;
    while at < characters.len() {
        let it = characters[at];
        let is_begin = at == 0 || !characters[at - 1].is_alphanumeric();
        let next = characters.get(at + 1).copied().unwrap_or(' ');
        match it {
            '(' if characters[at..].starts_with(&['(', '?', 'P', '<'])
                || characters[at..].starts_with(&['(', '?', '<']) =>
            {
                let name: String = characters[at..]
                    .iter()
                    .skip_while(|it| **it != '<')
                    .skip(1)
                    .take_while(|it| **it != '>')
                    .collect();
                at = closing(&characters, at);
                out.push_str(&format!("{{{name}}}"));
            }
            ':' if is_begin && (next.is_alphabetic() || next == '_') => {
                let name: String = characters[at + 1..]
                    .iter()
                    .take_while(|it| it.is_alphanumeric() || **it == '_')
                    .collect();
                at += 1 + name.chars().count();
                if characters.get(at) == Some(&'(') {
                    at = closing(&characters, at);
                }
                if matches!(characters.get(at), Some('?' | '+' | '*')) {
                    at += 1;
                }
                out.push_str(&format!("{{{name}}}"));
            }
            '<' => {
                let end = closing_of(&characters, at, '<', '>');
                let inner: String = characters[at + 1..end.saturating_sub(1).max(at + 1)].iter().collect();
                let name = inner.rsplit(':').next().unwrap_or(&inner).trim_end_matches("..");
                // Rocket writes the type behind: `<id>`, `<path..>`.
                out.push_str(&format!("{{{name}}}"));
                at = end;
            }
            '{' => {
                let end = closing_of(&characters, at, '{', '}');
                let inner: String = characters[at + 1..end.saturating_sub(1).max(at + 1)].iter().collect();
                let name = inner
                    .split([':', '=', '?', '<'])
                    .next()
                    .unwrap_or(&inner)
                    .trim_start_matches(['*', '.', '!']);
                let name = name.trim_end_matches("...");
                out.push_str(&format!("{{{name}}}"));
                at = end;
            }
            '*' if is_begin && (next.is_alphabetic() || next == '_') => {
                let name: String = characters[at + 1..]
                    .iter()
                    .take_while(|it| it.is_alphanumeric() || **it == '_')
                    .collect();
                at += 1 + name.chars().count();
                out.push_str(&format!("{{{name}}}"));
            }
            '\\' if matches!(next, '.' | '-' | '/') => {
                out.push(next);
                at += 2;
            }
            it => {
                out.push(it);
                at += 1;
            }
        }
    }
    out
}

/// Behind the bracket that closes the one at an offset.
fn closing(characters: &[char], at: usize) -> usize {
    closing_of(characters, at, '(', ')')
}

fn closing_of(characters: &[char], from: usize, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, it) in characters.iter().enumerate().skip(from) {
        if *it == open {
            depth += 1;
        } else if *it == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    characters.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_one_writing() {
        for (written, normal) in [
            ("/users/:id", "/users/{id}"),
            ("/users/:id(\\d+)/x", "/users/{id}/x"),
            ("/users/<int:id>/", "/users/{id}/"),
            ("/users/{id:[0-9]+}", "/users/{id}"),
            ("/users/{id?}", "/users/{id}"),
            ("/blog/{page<\\d+>?1}", "/blog/{page}"),
            ("/blog/{!page}", "/blog/{page}"),
            ("/files/*path", "/files/{path}"),
            ("/files/{*path}", "/files/{path}"),
            ("/files/{path...}", "/files/{path}"),
            ("^articles/(?P<year>[0-9]{4})/$", "articles/{year}/"),
            ("/a/<path..>", "/a/{path}"),
            ("/x:y", "/x:y"),
            ("/*", "/*"),
            ("{", "{}"),
            ("(?P<", "{}"),
        ] {
            assert_eq!(normalised(written), normal, "{written}");
        }
        assert_eq!(joined("/api/", "/x"), "/api/x");
        assert_eq!(joined("/api", "x"), "/api/x");
        assert_eq!(joined("/", "/x"), "/x");
    }
}
