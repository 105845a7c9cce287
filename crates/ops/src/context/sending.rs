//! How a pack goes to who asked: whole, as what a session has not been told, or as what differs from a pack they have.

use std::collections::BTreeMap;

use knowing_model::{Hash, NodeId, checksum};
use knowing_store::{Said, Store};
use knowing_wire::gcf::{Document, Entry};
use knowing_wire::{Delta, Format, Payload, Symbol, tokens, unchanged};

use super::engine::Wanted;
use super::paging::{self, Cut, Extent};
use super::{PackReply, reply};
use crate::cx::Environment;
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Pages, data_bytes, json_bytes};
use crate::session::{self, Given};

/// Who asked, and what they have.
pub(crate) struct Reader<'a> {
    pub(crate) environment: &'a Environment,
    /// The handle of the session, when there is one.
    pub(crate) session: Option<&'a str>,
    /// Root of the pack they have.
    pub(crate) base: Option<Hash>,
    pub(crate) repo: i64,
    /// The pack is kept under.
    pub(crate) key: Hash,
}

impl Reader<'_> {
    /// A root says what the symbols are and which files they stand in; places of edited files it does not.
    fn has(&self, pack: &Payload) -> bool {
        self.base.is_some() && self.base == pack.pack_root && pack.fresh == "yes"
    }
}

/// A difference is sent when it takes less than so many hundredths of the whole.
const WORTH_IT: usize = 60;
/// And always, when the whole would not fit.
const WORTH_ANY: usize = 1 << 20;

const BASE_UNKNOWN: &str = "base unknown";

/// Only GCF speaks of what was told before; other formats tell everything each time, session or not.
pub(crate) fn send(
    reader: &Reader<'_>,
    store: &mut Store,
    pack: Payload,
    wanted: &Wanted,
    pages: &Pages,
) -> Result<PackReply> {
    let Cut { page, of } = paging::cut(pack.clone(), reader.key, wanted, pages, reader.session)?;
    if wanted.format != Format::Gcf || wanted.counts_only {
        return Ok(reply(page, wanted, of));
    }
    if of.is_whole() {
        return told(reader, store, page, of, WORTH_IT);
    }
    if of.is_first
        && let Some(max_tokens) = pages.max_tokens()
        && let Some(difference) = short_difference(reader, store, &pack, max_tokens)?
    {
        return Ok(difference);
    }
    told(reader, store, page, of, WORTH_IT)
}

/// A pack that takes several pages as what differs from one that the reader has, when that takes one page.
fn short_difference(
    reader: &Reader<'_>,
    store: &mut Store,
    pack: &Payload,
    max_tokens: usize,
) -> Result<Option<PackReply>> {
    let Some(root) = reader.base else { return Ok(None) };
    let of = Extent { total: pack.symbols.len(), truncated: false, is_first: true };
    let fits = |reply: &PackReply| {
        let text = reply.text.as_ref().map_or(0, String::len);
        let about = Payload { symbols: Vec::new(), edges: Vec::new(), ..reply.pack.clone() };
        text + json_bytes(&PackReply::of(about, of)) <= data_bytes(max_tokens)
    };
    if reader.has(pack) {
        let (payload, text) = same(pack);
        return Ok(Some(written(payload, text, of)).filter(fits));
    }
    let mut numbered = pack.clone();
    let base = match reader.session {
        None => base_of_root(store, root),
        Some(handle) => {
            let key = session::pack_given(reader.environment, store, handle, root)?;
            // Under ids as wide as those that would be told.
            let nodes: Vec<NodeId> = numbered.symbols.iter().map(|it| it.node_id).collect();
            let ids = store.session_ids(handle, &nodes)?;
            for (symbol, (id, new)) in numbered.symbols.iter_mut().zip(ids.into_iter().zip(50_000..)) {
                symbol.id = id.unwrap_or(new);
            }
            key.and_then(|key| base_of_session(store, handle, key))
        }
    };
    let Some(base) = base else { return Ok(None) };
    let n_whole = Document::of(&numbered).encode().len();
    let Some((payload, text)) = difference(&base, &numbered, reader.session.is_some(), (n_whole, WORTH_IT))
    else {
        return Ok(None);
    };
    let reply = written(payload, text, of);
    if !fits(&reply) {
        return Ok(None);
    }
    match reader.session {
        None => Ok(Some(reply)),
        Some(_) => told(reader, store, pack.clone(), of, WORTH_ANY).map(Some),
    }
}

/// In GCF, as what the reader has not been told.
fn told(
    reader: &Reader<'_>,
    store: &mut Store,
    mut payload: Payload,
    of: Extent,
    worth_it: usize,
) -> Result<PackReply> {
    let Some(handle) = reader.session else {
        let base = reader.base.filter(|_| of.is_whole()).and_then(|root| base_of_root(store, root));
        return Ok(in_gcf(reader, payload, &BTreeMap::new(), (base, worth_it), of));
    };
    let mut before = BTreeMap::new();
    let mut base = None;
    // Who has not read to the end does not have the pack.
    let pack = payload.pack_root.filter(|_| !of.truncated).map(|root| (root, reader.key));
    let is_reminded = !payload.mentioned.is_empty();
    // In the order of the document, so that ids grow from line to line.
    let mut listed: Vec<&mut Symbol> = payload.symbols.iter_mut().collect();
    listed.sort_by_key(|it| it.distance);
    listed.extend(&mut payload.mentioned);
    let said: Vec<Said> = listed.iter().map(|it| said(it.node_id, &Entry::of(it))).collect();
    let given = Given { handle, repo: reader.repo, said: &said, pack, base: reader.base };
    match session::turn(reader.environment, store, &given) {
        Ok(turned) => {
            for (symbol, (id, said)) in listed.into_iter().zip(turned.items) {
                symbol.id = id;
                before.extend(said.map(|it| (id, it)));
            }
            payload.session = Some(handle.to_owned());
            if turned.is_new && is_reminded {
                let message = "the session that the pages before were told to has ended";
                return Err(Error::new(ErrorKind::Expired, message, "ask anew without the cursor"));
            }
            if turned.is_new {
                payload.notes.push(session::NEW.to_owned());
            }
            base = turned.base.filter(|_| of.is_whole()).and_then(|key| base_of_session(store, handle, key));
        }
        // Who cannot be remembered is told everything.
        Err(_) => payload.notes.push("session: none".to_owned()),
    }
    Ok(in_gcf(reader, payload, &before, (base, worth_it), of))
}

fn in_gcf(
    reader: &Reader<'_>,
    mut payload: Payload,
    before: &BTreeMap<u32, Said>,
    (base, worth_it): (Option<Document>, usize),
    of: Extent,
) -> PackReply {
    let has_it = of.is_whole() && reader.has(&payload);
    if reader.base.is_some() && base.is_none() && !has_it {
        payload.notes.push(BASE_UNKNOWN.to_owned());
    }
    let whole = stated(payload.clone(), |it| not_yet_told(it, before).encode().len());
    let text = not_yet_told(&whole, before).encode();
    let difference = match base {
        None if has_it => Some(same(&whole)),
        None => None,
        Some(base) => difference(&base, &payload, reader.session.is_some(), (text.len(), worth_it)),
    };
    match difference {
        Some((payload, text)) => written(payload, text, of),
        None => written(whole, text, of),
    }
}

fn written(payload: Payload, text: String, of: Extent) -> PackReply {
    PackReply { text: Some(text), ..PackReply::of(payload, of) }
}

/// What a session has not been told: the id stands for what it has.
fn not_yet_told(payload: &Payload, before: &BTreeMap<u32, Said>) -> Document {
    let mut document = Document::of(payload);
    let nodes: BTreeMap<u32, NodeId> = payload.symbols.iter().map(|it| (it.id, it.node_id)).collect();
    for entry in &mut document.symbols {
        let (Some(before), Some(node)) = (before.get(&entry.id), nodes.get(&entry.id)) else { continue };
        let now = said(*node, entry);
        if now.declared == before.declared {
            (entry.declared, entry.unresolved) = (None, 0);
        }
        entry.location.take_if(|_| now.place == before.place);
        entry.signature.take_if(|_| now.signature == before.signature);
        entry.source.take_if(|_| now.source == before.source);
    }
    document
}

/// Sums over what a document says of a symbol. Scores and flags are of one answer; which files were edited stands above them.
fn said(node: NodeId, entry: &Entry) -> Said {
    // What is not said is 0, and what is said is not.
    fn sum<T: std::fmt::Debug>(part: &Option<T>) -> u64 {
        part.as_ref().map_or(0, |it| checksum(format!("{it:?}").as_bytes()).max(1))
    }
    let declared = entry.declared.as_ref().map(|it| (&it.kind, &it.name));
    Said {
        node,
        declared: sum(&declared),
        place: sum(&entry.location),
        signature: sum(&entry.signature),
        source: sum(&entry.source),
    }
}

/// A pack that this session was given, under the ids it was told.
fn base_of_session(store: &Store, handle: &str, key: Hash) -> Option<Document> {
    let mut payload = super::engine::stored(store, key)?;
    let nodes: Vec<NodeId> = payload.symbols.iter().map(|it| it.node_id).collect();
    let ids = store.session_ids(handle, &nodes).ok()?;
    for (symbol, id) in payload.symbols.iter_mut().zip(ids) {
        symbol.id = id?;
    }
    Some(Document::of(&payload))
}

/// The pack of a root as it was written without a session. It may have been written more than once, of a tree that was edited
/// in between: what the reader has of it is then not known, and left out. None when ids or edges differ.
fn base_of_root(store: &Store, root: Hash) -> Option<Document> {
    let packs = store.packs_of_root(root, Format::Gcf.name()).ok()?;
    let decoded = packs.iter().map(|it| knowing_wire::json::decode(it).ok().map(|it| Document::of(&it)));
    let mut documents = decoded.collect::<Option<Vec<Document>>>()?;
    let mut base = documents.pop()?;
    for other in documents {
        if other.symbols.len() != base.symbols.len() || other.edges != base.edges {
            return None;
        }
        for (entry, other) in base.symbols.iter_mut().zip(&other.symbols) {
            let name = |it: &Entry| it.declared.as_ref().map(|it| (it.kind.clone(), it.name.clone()));
            if (entry.id, name(entry)) != (other.id, name(other)) {
                return None;
            }
            entry.location.take_if(|it| other.location.as_ref() != Some(it));
            entry.signature.take_if(|it| other.signature.as_ref() != Some(it));
            entry.source.take_if(|it| other.source.as_ref() != Some(it));
        }
    }
    Some(base)
}

/// The difference and its text, when it is worth it.
fn difference(
    base: &Document,
    payload: &Payload,
    is_in_session: bool,
    (n_whole, worth_it): (usize, usize),
) -> Option<(Payload, String)> {
    let mut payload = payload.clone();
    if !is_in_session {
        renumber(base, &mut payload);
    }
    let of = |payload: &Payload| {
        let new = Document::of(payload);
        let delta = Delta::between(base, &new);
        let is_same = delta.is_empty() && base.header.value("pack_root") == new.header.value("pack_root");
        if is_same { unchanged(&new) } else { delta }
    };
    let first = of(&payload);
    if first.header.value("savings") == Some("100") {
        let payload = stated(payload, |it| of(it).encode().len());
        let text = of(&payload).encode();
        return Some((payload, text));
    }
    let saved = 100 - (100 * first.encode().len()).div_ceil(n_whole).min(100);
    let with_savings = |payload: &Payload| {
        let mut delta = of(payload);
        delta.header.set("savings", &saved.to_string());
        delta
    };
    let payload = stated(payload, |it| with_savings(it).encode().len());
    let text = with_savings(&payload).encode();
    (text.len() * 100 < worth_it.saturating_mul(n_whole)).then_some((payload, text))
}

/// What the base has keeps its id; what is new goes on after the highest.
fn renumber(base: &Document, payload: &mut Payload) {
    let known: BTreeMap<(&str, &str), u32> = base
        .symbols
        .iter()
        .filter_map(|it| it.declared.as_ref().map(|of| ((of.kind.as_str(), of.name.as_str()), it.id)))
        .collect();
    let mut next = base.symbols.iter().map(|it| it.id + 1).max().unwrap_or(0);
    let mut listed: Vec<&mut Symbol> = payload.symbols.iter_mut().collect();
    listed.sort_by_key(|it| it.distance);
    for symbol in listed {
        symbol.id = known
            .get(&(symbol.kind.short_name(), symbol.qualified_name.as_str()))
            .copied()
            .unwrap_or_else(|| {
                next += 1;
                next - 1
            });
    }
}

fn same(payload: &Payload) -> (Payload, String) {
    let of = |payload: &Payload| unchanged(&Document::of(payload)).encode();
    let payload = stated(payload.clone(), |it| of(it).len());
    let text = of(&payload);
    (payload, text)
}

/// With the number of tokens it takes, the digits that say so included.
pub(super) fn stated(mut payload: Payload, n_bytes: impl Fn(&Payload) -> usize) -> Payload {
    // Settles at once, but for a number on the edge of a digit.
    for _ in 0..4 {
        let said = tokens(n_bytes(&payload));
        if said == payload.tokens {
            break;
        }
        payload.tokens = said;
    }
    payload
}
