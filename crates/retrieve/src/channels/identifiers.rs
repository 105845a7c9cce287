//! Dotted names as the task writes them: `django.utils.text.slugify`, `Prefix.__mul__`, `cart::open`.

use std::cmp::Reverse;

use knowing_graph::NodeIndex;

use super::Channels;
use crate::candidates::Found;
use crate::task::{Identifier, Place};

/// A bare name that stands for more nodes than this names none of them.
const MAX_NAMESAKES: usize = 24;
const MAX_FOUND: usize = 80;

/// Segments that agree, place in the task, namesakes, number of the identifier.
type Order = (Reverse<usize>, u8, usize, usize);

/// By how many segments agree, then where in the task it stands, then how few share the name.
pub(super) fn matched(cx: Channels<'_>) -> Vec<Found> {
    let mut found: Vec<(Order, NodeIndex)> = Vec::new();
    for (number, identifier) in cx.task.identifiers.iter().enumerate() {
        let Some(name) = identifier.segments.last() else { continue };
        let named = cx.names.named(name);
        let exact: Vec<u32> = named.iter().copied().filter(|&it| cx.names.name(it) == name).collect();
        let named = if exact.is_empty() { named } else { &exact };
        for &node in named {
            let agreeing = agreeing(cx, node, identifier);
            if agreeing < 2 && named.len() > MAX_NAMESAKES {
                continue;
            }
            let key = (Reverse(agreeing), place_rank(identifier.place), named.len(), number);
            found.push((key, NodeIndex(node)));
        }
    }
    found.sort_unstable();
    found.into_iter().take(MAX_FOUND).map(|it| Found::plain(it.1)).collect()
}

/// How many of the identifier's segments, from the last, stand in order in the symbol's owners and its file's path.
pub(crate) fn agreeing(cx: Channels<'_>, node: u32, identifier: &Identifier) -> usize {
    let path = cx.names.path_of(node);
    let stem = path.rsplit_once('.').map_or(path, |it| it.0);
    let mut own = cx.names.symbol(node).rsplit('.').skip(1).chain(stem.rsplit('/'));
    let mut agreeing = 1;
    for segment in identifier.segments.iter().rev().skip(1) {
        // Re-exports leave modules out of the written name, so that ours may have more.
        if !own.any(|it| it.eq_ignore_ascii_case(segment)) {
            break;
        }
        agreeing += 1;
    }
    agreeing
}

fn place_rank(place: Place) -> u8 {
    match place {
        Place::Subject => 0,
        Place::Backtick => 1,
        Place::Prose => 2,
        Place::Trace => 3,
        Place::Code => 4,
    }
}
