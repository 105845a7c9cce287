//! Long answers, page by page: no reply is larger than its reader wants, and following cursors yields every item once.
//!
//! ```text
//! pages = cx.pages(operation, arguments, usual limit)   a cursor of another question is refused here
//! opened = cx.open_page(&mut pages)                     the snapshot of the first page, or `expired`
//! list = pages.of(all of it)                            for each list of the reply, in its order
//! pages.finish(&mut reply)                              cut at an item border; `truncated`, `next_cursor`
//! ```

use std::fmt::Debug;
use std::ops::Range;

use knowing_model::{Hasher, hex};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::cx::{Cx, Opened};
use crate::error::{Error, ErrorKind, Result};

/// Tokens of a reply when nobody says how many.
pub const USUAL_TOKENS: usize = 10_000;
/// More than any reader wants at once.
pub const MAX_TOKENS: usize = 100_000;
/// Fewer hold no item.
const MIN_TOKENS: usize = 500;

/// How much of a long answer is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paging {
    /// Items of each list at most; 0 gives the numbers alone.
    pub limit: Option<usize>,
    /// Where an earlier answer ended.
    pub cursor: Option<String>,
    /// Size of the reply in JSON; any when there is none.
    pub max_tokens: Option<usize>,
}

/// What a reply says of what it leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    /// Whether there is more than is listed.
    pub truncated: bool,
    /// Lists what follows, in a call with the same arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A reply with lists that may be long.
pub(crate) trait Paged: Serialize {
    /// In the order in which they are asked for.
    fn lists(&mut self) -> Vec<&mut dyn List>;
    fn page(&mut self) -> &mut Page;
}

/// A list that can be cut.
pub(crate) trait List {
    fn n_items(&self) -> usize;
    /// Of an item in JSON.
    fn n_bytes(&self, at: usize) -> usize;
    fn keep(&mut self, n_items: usize);
}

impl<T: Serialize> List for Vec<T> {
    fn n_items(&self) -> usize {
        self.len()
    }

    fn n_bytes(&self, at: usize) -> usize {
        json_bytes(&self[at])
    }

    fn keep(&mut self, n_items: usize) {
        self.truncate(n_items);
    }
}

/// Says which fields of a reply are its lists, in their order.
macro_rules! paged {
    ($reply:ty: $($list:ident),+) => {
        impl crate::page::Paged for $reply {
            fn lists(&mut self) -> Vec<&mut dyn crate::page::List> {
                vec![$(&mut self.$list),+]
            }

            fn page(&mut self) -> &mut crate::page::Page {
                &mut self.page
            }
        }
    };
}
pub(crate) use paged;

/// One page in the making.
pub(crate) struct Pages {
    limit: usize,
    max_tokens: Option<usize>,
    /// Of operation and arguments.
    question: [u8; 8],
    /// Where the page before ended.
    from: Cursor,
    snapshots: Vec<StatePrefix>,
    /// Where each list begins, and how long it is in all.
    lists: Vec<(usize, usize)>,
}

/// First bytes of the id of a snapshot, or of the key of a pack.
pub(crate) type StatePrefix = [u8; 16];

/// What stands in a reply besides its data: a line about it.
const LINE_ABOUT_IT: usize = 240;

/// Bytes of data in a reply of so many tokens.
pub(crate) fn data_bytes(max_tokens: usize) -> usize {
    (4 * max_tokens).saturating_sub(LINE_ABOUT_IT)
}

/// An answer that cannot be cut any smaller.
pub(crate) fn too_small(n_bytes: usize, max_tokens: usize) -> Error {
    let needed = knowing_wire::tokens(n_bytes + LINE_ABOUT_IT);
    let message = format!("the answer takes {needed} tokens at least, and `max_tokens` is {max_tokens}");
    let hint = match needed {
        ..=MAX_TOKENS => format!("give `max_tokens` of {needed} or more"),
        _ => "ask for less: a narrower question, or less detail".to_owned(),
    };
    Error::new(ErrorKind::Limit, message, hint)
}

/// A reply as it goes out, when it is of the size asked for. Lists that have no pages are short; one that is not is told, and
/// what was done is not undone for it: it is told with shorter lists.
pub(crate) fn held(mut reply: Value, only_reads: bool, max_tokens: Option<usize>) -> Result<Value> {
    let Some(max_tokens) = max_tokens else { return Ok(reply) };
    let max_bytes = data_bytes(max_tokens);
    let sent = |reply: &Value| {
        // What is written in a format is not sent as data, too.
        let is_written = reply.get("text").is_some() || reply.get("blob").is_some();
        let fields = reply.as_object().into_iter().flatten();
        let fields = fields.filter(|it| !(is_written && ["symbols", "edges"].contains(&it.0.as_str())));
        // Texts go out as they are.
        let n_bytes = |name: &str, value: &Value| match (name, value) {
            ("text" | "blob", Value::String(text)) => text.len(),
            _ => name.len() + 4 + json_bytes(value),
        };
        fields.map(|(name, value)| n_bytes(name, value)).sum::<usize>() + 2
    };
    while sent(&reply) > max_bytes {
        let lists = reply.as_object_mut().into_iter().flatten().filter_map(|it| it.1.as_array_mut());
        match lists.max_by_key(|it| it.len()) {
            Some(longest) if !only_reads && !longest.is_empty() => longest.truncate(longest.len() / 2),
            _ => return Err(too_small(sent(&reply), max_tokens)),
        }
    }
    Ok(reply)
}

/// Refuses what no reply can keep to.
pub(crate) fn check_size(max_tokens: Option<usize>) -> Result<()> {
    match max_tokens {
        Some(given) if !(MIN_TOKENS..=MAX_TOKENS).contains(&given) => {
            let message = format!("`max_tokens` is {given}");
            Err(Error::new(ErrorKind::Usage, message, format!("give {MIN_TOKENS} to {MAX_TOKENS}")))
        }
        _ => Ok(()),
    }
}

impl Cx<'_> {
    /// The page that is asked for. `arguments` are all that decides what is listed.
    pub(crate) fn pages(&self, operation: &str, arguments: &impl Debug, usual: usize) -> Result<Pages> {
        let Paging { limit, cursor, max_tokens } = &self.paging;
        check_size(*max_tokens)?;
        let hash = Hasher::new("cursor")
            .field(operation.as_bytes())
            .field(format!("{arguments:?}").as_bytes())
            .field(format!("{:?} {:?}", self.repo, self.tree).as_bytes())
            .finish();
        let question: [u8; 8] = std::array::from_fn(|at| hash.as_bytes()[at]);
        let from = match cursor {
            None => Cursor { question, ..Cursor::default() },
            Some(text) => Cursor::parse(text).ok_or_else(|| {
                let hint = "give `next_cursor` of the page before as it is";
                Error::new(ErrorKind::Usage, format!("`{text}` is no cursor"), hint)
            })?,
        };
        if from.question != question {
            return Err(Error::new(
                ErrorKind::Usage,
                "the cursor is of another question",
                "give it with the operation and the arguments it came from, or ask anew without it",
            ));
        }
        let limit = limit.unwrap_or(usual);
        Ok(Pages { limit, max_tokens: *max_tokens, question, from, snapshots: Vec::new(), lists: Vec::new() })
    }

    /// The snapshot to answer from: that of the pages before, when it is still there.
    pub(crate) fn open_page(&mut self, pages: &mut Pages) -> Result<Opened> {
        let opened = self.open()?;
        pages.settle(opened)
    }
}

impl Pages {
    /// Of a snapshot that was opened by its name, the one that the pages before were of.
    pub(crate) fn settle(&mut self, opened: Opened) -> Result<Opened> {
        let prefix = |opened: &Opened| state_prefix(opened.snapshot.id.as_bytes());
        let opened = match self.from.snapshots.get(self.snapshots.len()) {
            Some(wanted) if *wanted != prefix(&opened) => {
                let mut found = opened.store.snapshots_by_prefix(opened.snapshot.repo, &hex(wanted))?;
                match found.pop() {
                    Some(snapshot) => opened.at(snapshot),
                    None => {
                        return Err(Error::new(
                            ErrorKind::Expired,
                            format!("the snapshot {} that the cursor is of is gone", &hex(wanted)[..12]),
                            "ask anew without the cursor",
                        ));
                    }
                }
            }
            _ => opened,
        };
        self.snapshots.push(prefix(&opened));
        Ok(opened)
    }

    /// Size of the reply, when there is one.
    pub(crate) fn max_tokens(&self) -> Option<usize> {
        self.max_tokens
    }

    /// Of a pack, whose items are one list: the pack that the pages before were of, and where they ended.
    pub(crate) fn pack_before(&self) -> Option<(StatePrefix, usize)> {
        let key = self.from.snapshots.get(1)?;
        Some((*key, self.from.offsets.first().copied().unwrap_or(0)))
    }

    /// Where a page of a pack ends.
    pub(crate) fn cursor_of_pack(&self, key: StatePrefix, offset: usize) -> String {
        let snapshots = self.snapshots.iter().take(1).copied().chain([key]).collect();
        Cursor { question: self.question, snapshots, offsets: vec![offset] }.to_text()
    }

    /// Which items of the next list to make.
    pub(crate) fn range(&mut self, total: usize) -> Range<usize> {
        let from = self.from.offsets.get(self.lists.len()).map_or(0, |it| (*it).min(total));
        self.lists.push((from, total));
        // An item takes its braces and a name at least: more of them are not made only to be cut.
        let room = self.max_tokens.map_or(usize::MAX, |it| it * 4 / 24 + 1);
        from..from.saturating_add(self.limit.min(room)).min(total)
    }

    /// The items of the next list.
    pub(crate) fn of<T>(&mut self, all: Vec<T>) -> Vec<T> {
        let range = self.range(all.len());
        all.into_iter().skip(range.start).take(range.len()).collect()
    }

    /// Cuts the reply to its size and says what is missing. What does not end here stays `truncated`.
    pub(crate) fn finish(self, reply: &mut impl Paged) -> Result<()> {
        let n_kept = self.n_kept(reply)?;
        for (list, n_kept) in reply.lists().into_iter().zip(&n_kept) {
            list.keep(*n_kept);
        }
        let ends: Vec<usize> = self.lists.iter().zip(&n_kept).map(|(list, kept)| list.0 + kept).collect();
        let is_more = self.lists.iter().zip(&ends).any(|(list, end)| *end < list.1);
        let page = reply.page();
        page.truncated |= is_more;
        if is_more && self.limit > 0 {
            let Pages { question, snapshots, .. } = self;
            page.next_cursor = Some(Cursor { question, snapshots, offsets: ends }.to_text());
        }
        Ok(())
    }

    /// How many items of each list fit, one list after the other.
    fn n_kept(&self, reply: &mut impl Paged) -> Result<Vec<usize>> {
        let all: Vec<usize> = reply.lists().iter().map(|it| it.n_items()).collect();
        debug_assert_eq!(all.len(), self.lists.len(), "every list is asked for once, in its order");
        let Some(max_tokens) = self.max_tokens else { return Ok(all) };
        let n_bytes = json_bytes(reply);
        let max_bytes = data_bytes(max_tokens);
        let cursor = 2 * (16 + self.snapshots.len() * 16 + self.lists.len() * 5) + 20;
        if n_bytes + cursor <= max_bytes {
            return Ok(all);
        }
        let sizes: Vec<Vec<usize>> =
            reply.lists().iter().map(|it| (0..it.n_items()).map(|at| it.n_bytes(at) + 1).collect()).collect();
        let rest = n_bytes - sizes.iter().flatten().sum::<usize>() + cursor;
        let mut room = max_bytes.saturating_sub(rest);
        let mut kept = Vec::new();
        let mut is_full = false;
        for sizes in &sizes {
            let fitting = sizes.iter().take_while(|it| {
                is_full = is_full || **it > room;
                room -= if is_full { 0 } else { **it };
                !is_full
            });
            kept.push(fitting.count());
        }
        if kept.iter().sum::<usize>() == 0 {
            let first = sizes.iter().flatten().next().copied().unwrap_or_default();
            return Err(too_small(rest + first, max_tokens));
        }
        Ok(kept)
    }
}

pub(crate) fn json_bytes(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |it| it.len())
}

/// As much of an id as a cursor holds.
pub(crate) fn state_prefix(id: &[u8; 32]) -> StatePrefix {
    std::array::from_fn(|at| id[at])
}

/// Where a page ended: of which question, of which snapshots (and pack), how far in each list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cursor {
    question: [u8; 8],
    snapshots: Vec<StatePrefix>,
    offsets: Vec<usize>,
}

impl Cursor {
    fn to_text(&self) -> String {
        let mut bytes = self.question.to_vec();
        bytes.push(self.snapshots.len() as u8);
        bytes.extend(self.snapshots.iter().flatten());
        for &offset in &self.offsets {
            let mut rest = offset;
            while rest > 0x7f {
                bytes.push((rest & 0x7f) as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
        }
        hex(&bytes)
    }

    fn parse(text: &str) -> Option<Cursor> {
        if !text.is_ascii() || !text.len().is_multiple_of(2) {
            return None;
        }
        let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
        let bytes: Vec<u8> = (0..text.len()).step_by(2).map(digits).collect::<Option<_>>()?;
        let (question, rest) = bytes.split_first_chunk::<8>()?;
        let (&n_snapshots, mut rest) = rest.split_first()?;
        let mut snapshots = Vec::new();
        for _ in 0..n_snapshots {
            let (snapshot, after) = rest.split_first_chunk::<16>()?;
            snapshots.push(*snapshot);
            rest = after;
        }
        let mut offsets = Vec::new();
        let (mut offset, mut shift) = (0_usize, 0);
        for &byte in rest {
            offset |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                offsets.push(offset);
                (offset, shift) = (0, 0);
            }
        }
        (shift == 0).then_some(Cursor { question: *question, snapshots, offsets })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_read_as_they_were_written() {
        let cursor = Cursor {
            question: *b"question",
            snapshots: vec![[7; 16], [9; 16]],
            offsets: vec![0, 127, 128, 5_000_000],
        };
        assert_eq!(Cursor::parse(&cursor.to_text()), Some(cursor.clone()));
        for broken in ["", "zz", "é", "00", &cursor.to_text()[..40], &cursor.to_text()[1..]] {
            assert_eq!(Cursor::parse(broken), None, "{broken}");
        }
    }

    #[derive(Serialize)]
    struct Reply {
        names: Vec<String>,
        numbers: Vec<u32>,
        #[serde(flatten)]
        page: Page,
    }
    paged!(Reply: names, numbers);

    fn pages(limit: usize, max_tokens: Option<usize>, from: Cursor) -> Pages {
        Pages { limit, max_tokens, question: from.question, from, snapshots: Vec::new(), lists: Vec::new() }
    }

    /// All pages of two lists, one after the other.
    fn all(limit: usize, max_tokens: Option<usize>) -> (Vec<String>, Vec<u32>, usize) {
        let names: Vec<String> =
            (0..97).map(|it| format!("name number {it} {}", "x".repeat(it % 7 * 9))).collect();
        let numbers: Vec<u32> = (0..60).collect();
        let (mut seen, mut counted, mut n_pages) = (Vec::new(), Vec::new(), 0);
        let mut from = Cursor::default();
        loop {
            let mut pages = pages(limit, max_tokens, from);
            let mut reply = Reply {
                names: pages.of(names.clone()),
                numbers: pages.of(numbers.clone()),
                page: Page::default(),
            };
            pages.finish(&mut reply).unwrap();
            let n_tokens = knowing_wire::tokens(json_bytes(&reply));
            assert!(max_tokens.is_none_or(|it| n_tokens <= it), "{n_tokens}");
            seen.extend(reply.names);
            counted.extend(reply.numbers);
            n_pages += 1;
            assert_eq!(reply.page.truncated, reply.page.next_cursor.is_some());
            match reply.page.next_cursor {
                Some(next) => from = Cursor::parse(&next).unwrap(),
                None => return (seen, counted, n_pages),
            }
        }
    }

    #[test]
    fn t4_following_cursors_yields_every_item_once() {
        let whole = all(usize::MAX, None);
        assert_eq!((whole.0.len(), whole.1.len(), whole.2), (97, 60, 1));
        for (limit, max_tokens) in
            [(1, None), (10, None), (usize::MAX, Some(500)), (50, Some(700)), (3, Some(500))]
        {
            let paged = all(limit, max_tokens);
            assert_eq!((&paged.0, &paged.1), (&whole.0, &whole.1), "{limit} {max_tokens:?}");
            assert!(paged.2 > 1);
        }
    }

    #[test]
    fn counts_alone_have_no_next_page_and_what_cannot_fit_is_told() {
        let mut counting = pages(0, None, Cursor::default());
        let mut reply = Reply {
            names: counting.of(vec!["a".to_owned()]),
            numbers: counting.of(Vec::new()),
            page: Page::default(),
        };
        counting.finish(&mut reply).unwrap();
        assert_eq!((reply.names.len(), reply.page.truncated, reply.page.next_cursor), (0, true, None));
        let mut small = pages(9, Some(500), Cursor::default());
        let mut reply = Reply {
            names: small.of(vec!["a".repeat(9_000)]),
            numbers: small.of(vec![1]),
            page: Page::default(),
        };
        assert_eq!(small.finish(&mut reply).unwrap_err().kind, ErrorKind::Limit);
    }
}
