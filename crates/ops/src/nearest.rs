//! Names that look like one that was not found, and names that fit a pattern.

use std::cmp::Reverse;

/// The `n` names nearest to `wanted` by edit distance, nearest first. Names that differ in more than a
/// third are left out, and of equally near ones those that begin alike come first.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().collect();
    let most = wanted.len().div_ceil(3).max(1);
    let mut found: Vec<(usize, Reverse<usize>, &str)> = Vec::new();
    for name in names {
        // The difference of the lengths is a lower bound, and cheap.
        let length = name.chars().count();
        if length.abs_diff(wanted.len()) > most {
            continue;
        }
        let letters: Vec<char> = name.to_lowercase().chars().collect();
        let distance = distance(&wanted, &letters);
        // A name with no letter in common is not near, however short both are.
        if distance <= most && distance < wanted.len().max(letters.len()) {
            let alike = wanted.iter().zip(&letters).take_while(|(a, b)| a == b).count();
            found.push((distance, Reverse(alike), name));
        }
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(n);
    found.into_iter().map(|(_, _, name)| name).collect()
}

/// Levenshtein distance.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

/// Whether all of `text` fits a pattern of `*` (any run) and `?` (any one character).
pub(crate) fn fits_pattern(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut t, mut p) = (0, 0);
    // Where to go on when what followed the last `*` did not fit: it swallows one character more.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((t, p));
                p += 1;
            }
            Some(&it) if it == '?' || it == text[t] => {
                t += 1;
                p += 1;
            }
            _ => match &mut retry {
                Some((from, star)) => {
                    *from += 1;
                    (t, p) = (*from, *star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&it| it == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let names = ["render", "renders", "rende", "sender", "unrelated", "render_template", "reader"];
        assert_eq!(nearest("rendr", names, 3), ["rende", "render", "renders"]);
        assert_eq!(nearest("Render", names, 1), ["render"]);
        assert!(nearest("zzz", names, 5).is_empty());
    }

    #[test]
    fn patterns_fit_whole_texts() {
        for (text, pattern, fits) in [
            ("render", "render", true),
            ("render", "rend", false),
            ("render", "ren*", true),
            ("render", "*der", true),
            ("render", "r?nd*", true),
            ("render", "*x*", false),
            ("src/a.py.C.f", "src/*.C.*", true),
            ("aab", "*ab", true),
            ("", "*", true),
            ("", "?", false),
        ] {
            assert_eq!(fits_pattern(text, pattern), fits, "{text} {pattern}");
        }
    }
}
