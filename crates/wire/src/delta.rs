//! What differs between a pack that the reader has and a new one: written in place of the whole when it is shorter.
//!
//! Ids are those of the base document, or of the session; what is added goes on after its highest. Scores and order of what
//! stays are not sent again: a delta gives the symbols, places and edges of the new pack, and its root.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::gcf::{Document, Entry, Header, Link};
use crate::problem::{At, Problem};
use crate::{gcf, payload::Status};

#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Delta {
    pub header: Header,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    pub removed: Vec<u32>,
    pub added: Vec<Entry>,
    /// What stays and stands elsewhere, or says something else: only what is new of it.
    pub changed: Vec<Entry>,
    pub edges_removed: Vec<Link>,
    pub edges_added: Vec<Link>,
}

impl Delta {
    /// From one document to another whose ids mean the same.
    pub fn between(base: &Document, new: &Document) -> Delta {
        let old: BTreeMap<u32, &Entry> = base.symbols.iter().map(|it| (it.id, it)).collect();
        let kept: BTreeSet<u32> = new.symbols.iter().map(|it| it.id).collect();
        let mut delta =
            Delta { header: new.header.clone(), comments: new.comments.clone(), ..Delta::default() };
        delta.removed = old.keys().copied().filter(|it| !kept.contains(it)).collect();
        for entry in &new.symbols {
            let Some(before) = old.get(&entry.id) else {
                delta.added.push(entry.clone());
                continue;
            };
            let update = Entry {
                id: entry.id,
                location: entry.location.clone().filter(|it| before.location.as_ref() != Some(it)),
                signature: entry.signature.clone().filter(|it| before.signature.as_ref() != Some(it)),
                source: entry.source.clone().filter(|it| before.source.as_ref() != Some(it)),
                ..Entry::default()
            };
            if update.location.is_some() || update.signature.is_some() || update.source.is_some() {
                delta.changed.push(update);
            }
        }
        delta.changed.sort_by_key(|it| it.id);
        let (before, after): (BTreeSet<&Link>, BTreeSet<&Link>) =
            (base.edges.iter().collect(), new.edges.iter().collect());
        // Those of symbols that go, go with them.
        let stays = |it: &&&Link| kept.contains(&it.source) && kept.contains(&it.target);
        delta.edges_removed = before.difference(&after).filter(stays).map(|it| (*it).clone()).collect();
        delta.edges_added = after.difference(&before).map(|it| (*it).clone()).collect();
        let root = |it: &Document| it.header.value("pack_root").unwrap_or_default().to_owned();
        delta.header.set("pack_root", "");
        delta.header.set("delta", "true");
        delta.header.set("base_root", &root(base));
        delta.header.set("new_root", &root(new));
        delta.header.set("savings", "0");
        delta
    }

    /// Whether the reader has the new pack already.
    pub fn is_empty(&self) -> bool {
        let Delta { removed, added, changed, edges_removed, edges_added, .. } = self;
        removed.is_empty()
            && added.is_empty()
            && changed.is_empty()
            && edges_removed.is_empty()
            && edges_added.is_empty()
    }

    pub fn encode(&self) -> String {
        let mut out = gcf::write_header(&self.header, &self.comments);
        let repo = self.header.value("repo").unwrap_or_default();
        let mut removed = gcf::Section::new("removed");
        self.removed.iter().for_each(|id| removed.line(|out| out.push_str(&format!("@{id}"))));
        removed.end(&mut out);
        let mut added = gcf::Section::new("added");
        for entry in &self.added {
            added.line(|out| {
                gcf::node(out, entry, repo);
                out.push_str(&format!(" {}", entry.distance));
            });
        }
        added.end(&mut out);
        for entry in &self.added {
            gcf::push_unresolved(&mut out, entry);
        }
        let told: Vec<Entry> = self.added.iter().chain(&self.changed).cloned().collect();
        gcf::push_texts(&mut out, "changed", &told);
        for (name, links) in [("edges_removed", &self.edges_removed), ("edges_added", &self.edges_added)] {
            let mut section = gcf::Section::new(name);
            links.iter().for_each(|link| section.line(|out| gcf::edge_line(out, link)));
            section.end(&mut out);
        }
        out
    }

    /// The new pack, from the base that this was made for.
    pub fn apply(&self, base: &Document) -> Result<Document, Problem> {
        let fault = |what: String| Problem::new(At::Whole, what);
        let root_of_base = base.header.value("pack_root");
        let is_unchanged = self.header.value("base_root").is_none();
        let expected = self.header.value(if is_unchanged { "pack_root" } else { "base_root" });
        if expected != root_of_base {
            let (expected, found) = (expected.unwrap_or("none"), root_of_base.unwrap_or("none"));
            return Err(fault(format!("the delta is for the pack `{expected}`, and the base is `{found}`")));
        }
        let mut new =
            Document { header: self.header.clone(), comments: self.comments.clone(), ..base.clone() };
        for id in &self.removed {
            let n_before = new.symbols.len();
            new.symbols.retain(|it| it.id != *id);
            if new.symbols.len() == n_before {
                return Err(fault(format!("`@{id}` is to be removed, and the base does not have it")));
            }
        }
        for update in &self.changed {
            let entry = new.symbols.iter_mut().find(|it| it.id == update.id);
            let entry = entry.ok_or_else(|| {
                fault(format!("`@{}` has changed, and the base does not have it", update.id))
            })?;
            entry.location = update.location.clone().or(entry.location.take());
            entry.signature = update.signature.clone().or(entry.signature.take());
            entry.source = update.source.clone().or(entry.source.take());
        }
        for entry in &self.added {
            if new.symbols.iter().any(|it| it.id == entry.id) {
                return Err(fault(format!("`@{}` is added, and the base has it", entry.id)));
            }
            new.symbols.push(entry.clone());
        }
        new.symbols.sort_by_key(|it| it.distance);
        let ids: BTreeSet<u32> = new.symbols.iter().map(|it| it.id).collect();
        let gone: BTreeSet<&Link> = self.edges_removed.iter().collect();
        if let Some(link) = gone.iter().find(|it| !new.edges.contains(it)) {
            return Err(fault(format!(
                "the edge `{}` is to be removed, and the base does not have it",
                shown(link)
            )));
        }
        new.edges.retain(|it| ids.contains(&it.source) && ids.contains(&it.target) && !gone.contains(it));
        for link in &self.edges_added {
            if !ids.contains(&link.source) || !ids.contains(&link.target) {
                return Err(fault(format!("an end of the edge `{}` is not there", shown(link))));
            }
            new.edges.push(link.clone());
        }
        if !is_unchanged {
            new.header.set("pack_root", self.header.value("new_root").unwrap_or_default());
        }
        ["delta", "base_root", "new_root", "savings"].iter().for_each(|it| new.header.set(it, ""));
        new.header.set("symbols", &new.symbols.len().to_string());
        new.header.set("edges", &new.edges.len().to_string());
        Ok(new)
    }
}

fn shown(link: &Link) -> String {
    let mut out = String::new();
    gcf::edge_line(&mut out, &Link { status: Status::None, ..link.clone() });
    out
}

/// The header that says: you have it. The counts are those of the pack.
pub fn unchanged(new: &Document) -> Delta {
    let mut delta = Delta { header: new.header.clone(), comments: new.comments.clone(), ..Delta::default() };
    delta.header.set("delta", "true");
    delta.header.set("savings", "100");
    delta
}
