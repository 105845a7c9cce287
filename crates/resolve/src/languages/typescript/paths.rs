//! Paths and patterns of project files.

pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// What the star of a pattern stands for in a text; an empty text where there is no star.
pub(super) fn match_alias<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    match pattern.split_once('*') {
        None => (pattern == text).then_some(""),
        Some((before, after)) => {
            let inside = text.strip_prefix(before)?.strip_suffix(after)?;
            (!inside.is_empty() || before.is_empty() || pattern != text).then_some(inside)
        }
    }
}

/// Globs of workspaces: `*` is a part of a name, `**` any directories.
pub(super) fn is_match(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
    matches_parts(&pattern, &path)
}

fn matches_parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => (0..=path.len()).any(|skipped| matches_parts(rest, &path[skipped..])),
        ([first, pattern @ ..], [part, path @ ..]) => is_part(first, part) && matches_parts(pattern, path),
        _ => false,
    }
}

fn is_part(pattern: &str, part: &str) -> bool {
    if let Some(inner) = pattern.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        return inner.split(',').any(|it| it == part);
    }
    match pattern.split_once('*') {
        None => pattern == part,
        Some((before, after)) => {
            part.len() >= before.len() + after.len() && part.starts_with(before) && part.ends_with(after)
        }
    }
}
