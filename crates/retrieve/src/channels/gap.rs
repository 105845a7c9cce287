//! Mechanism 5: a wider search for tasks that name nothing we know: stems in documentation and code, near misses of names.

use knowing_graph::NodeIndex;
use knowing_model::NodeKind;
use knowing_search::{Field, N_FIELDS, Query, QueryTerm, Searcher as _, View, tokens};

use super::Channels;

const MAX_FOUND: usize = 20;
const MIN_LENGTH: usize = 4;

pub(super) fn fill(cx: Channels<'_>) -> Vec<NodeIndex> {
    let mut found = Vec::new();
    let keywords = &cx.task.keywords;
    for keyword in keywords.exact.iter().chain(&keywords.compounds).chain(&keywords.components) {
        if keyword.lower.len() >= MIN_LENGTH {
            found.extend(nearly_named(cx, &keyword.lower));
        }
    }
    found.truncate(MAX_FOUND);
    let mut weights = [0.0; N_FIELDS];
    weights[Field::Doc as usize] = 1.0;
    weights[Field::Body as usize] = 1.0;
    let mut terms: Vec<String> =
        keywords.components.iter().flat_map(|it| tokens(&it.lower)).chain(tokens(&cx.task.text)).collect();
    terms.sort_unstable();
    terms.dedup();
    let terms = terms.into_iter().map(|term| QueryTerm { term, counts: vec![1.0] }).collect();
    let query = Query::new(vec![View { weights }], terms);
    let hits = cx.search.search(&query, &cx.query.scoring, MAX_FOUND);
    let nodes = hits.iter().flatten().filter_map(|it| cx.node(it.document));
    found.extend(nodes);
    found.retain(|&it| cx.graph.node(it).kind() != NodeKind::File);
    found
}

/// Symbols whose name is one edit away and begins with the same letter.
fn nearly_named<'a>(cx: Channels<'a>, name: &'a str) -> impl Iterator<Item = NodeIndex> + 'a {
    let first = name.chars().next().map_or(0, char::len_utf8);
    let nodes = cx.names.with_prefix(&name[..first]).iter();
    nodes
        .filter(move |&&it| is_one_edit(&cx.names.name(it).to_ascii_lowercase(), name))
        .map(|&it| NodeIndex(it))
}

/// One letter more, less or other.
fn is_one_edit(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().abs_diff(other.len()) > 1 || one == other {
        return false;
    }
    let head = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[head..], &other[head..]);
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    one.len() - tail <= 1 && other.len() - tail <= 1
}

#[cfg(test)]
mod tests {
    use super::is_one_edit;

    #[test]
    fn one_edit_is_one_letter() {
        for (one, other, expected) in [
            ("render", "rendr", true),
            ("render", "renderr", true),
            ("render", "rendar", true),
            ("render", "render", false),
            ("render", "rndr", false),
            ("", "a", true),
        ] {
            assert_eq!(is_one_edit(one, other), expected, "{one} {other}");
            assert_eq!(is_one_edit(other, one), expected, "{other} {one}");
        }
    }
}
