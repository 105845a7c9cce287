//! From term vectors to an image: terms are numbered once, lists are inverted by counting.
//!
//! ```text
//! bag(message)   tokens of a text, cut once and added to as many documents as it belongs to
//! add_file       the documents of a file, each joined with its path, history and neighbours
//! finish         sort documents and terms, write vectors, then postings
//! ```

use knowing_model::{Hash, NodeId, SnapshotId, checksum};

use crate::dictionary::Dictionary;
use crate::fields::{Field, N_FIELDS};
use crate::image::{Error, Index, Result};
use crate::layout::{DocumentRecord, Head, LONG_LENGTH, NO_TIME, TermRecord, encode};
use crate::postings::{Counts, END, delta, fields_of};
use crate::terms::{DocumentTerms, FileTerms};
use crate::tokenize::Tokenizer;
use crate::varint;

/// What an image states about itself.
#[derive(Clone, Copy, Debug)]
pub struct ImageHead {
    pub snapshot: SnapshotId,
    /// Digest of the commits whose messages are in it.
    pub history_digest: Hash,
    /// Time of the snapshot's commit, in seconds since 1970.
    pub commit_time: i64,
}

/// A term of one builder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TermHandle(u32);

/// Terms of a text and how often they occur, for documents of one builder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TermBag {
    /// In ascending order of handles.
    terms: Vec<(TermHandle, u32)>,
}

impl TermBag {
    /// From any pairs; counts of the same term are added.
    pub fn new(mut terms: Vec<(TermHandle, u32)>) -> TermBag {
        terms.sort_unstable();
        terms.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            if is_same {
                first.1 = first.1.saturating_add(later.1);
            }
            is_same
        });
        TermBag { terms }
    }

    /// All terms of several bags.
    pub fn sum<'b>(bags: impl IntoIterator<Item = &'b TermBag>) -> TermBag {
        TermBag::new(bags.into_iter().flat_map(|it| it.terms.iter().copied()).collect())
    }

    pub fn terms(&self) -> &[(TermHandle, u32)] {
        &self.terms
    }
}

/// What joins a document of a file when an image is built.
pub struct Joining<'b> {
    current: &'b mut Current,
}

impl Joining<'_> {
    /// Adds the message of a commit that changed the symbol.
    pub fn history(&mut self, message: &TermBag) {
        self.current.add_bag(message, Field::History);
    }

    /// Adds the name of a caller or callee.
    pub fn neighbour(&mut self, name: &TermBag) {
        self.current.add_bag(name, Field::Neighbours);
    }

    /// How many commits changed the symbol, and when the last did, in seconds since 1970.
    pub fn commits(&mut self, n_commits: u32, last: Option<i64>) {
        (self.current.n_commits, self.current.last_commit) = (n_commits, last);
    }
}

pub struct IndexBuilder {
    tokenizer: Tokenizer,
    terms: Dictionary,
    documents: Vec<NewDocument>,
    /// Entries of all documents, one after the other: a term's handle above, its counts below.
    entries: Vec<u64>,
    /// Counts that are too many for an entry: a length and as many bytes.
    long_counts: Vec<u8>,
    current: Current,
    /// The handle of each term of the file in work.
    handles: Vec<u32>,
}

struct NewDocument {
    node: NodeId,
    lengths: [u32; N_FIELDS],
    n_commits: u32,
    last_commit: Option<i64>,
    /// Where its entries end.
    end: usize,
}

/// The document in work.
#[derive(Default)]
struct Current {
    /// By handle: one more than the place in `counts`.
    places: Vec<u32>,
    counts: Vec<(u32, Counts)>,
    lengths: [u32; N_FIELDS],
    n_commits: u32,
    last_commit: Option<i64>,
}

impl Current {
    fn add(&mut self, handle: u32, field: usize, count: u32) {
        let slot = handle as usize;
        if slot >= self.places.len() {
            self.places.resize((slot + 1).next_power_of_two(), 0);
        }
        if self.places[slot] == 0 {
            self.counts.push((handle, Counts::default()));
            self.places[slot] = self.counts.len() as u32;
        }
        self.counts[self.places[slot] as usize - 1].1.add(field, count);
        self.lengths[field] = self.lengths[field].saturating_add(count);
    }

    /// Keeps the room.
    fn clear(&mut self) {
        for (handle, _) in self.counts.drain(..) {
            self.places[handle as usize] = 0;
        }
        self.lengths = [0; N_FIELDS];
        (self.n_commits, self.last_commit) = (0, None);
    }

    fn add_bag(&mut self, bag: &TermBag, field: Field) {
        for &(term, count) in &bag.terms {
            self.add(term.0, field.index(), count);
        }
    }
}

/// Set in an entry whose counts stand in `long_counts`, at the place in the other bits.
const IS_LONG: u32 = 1 << 31;

impl IndexBuilder {
    #[expect(clippy::new_without_default, reason = "building is done on purpose")]
    pub fn new() -> IndexBuilder {
        IndexBuilder {
            tokenizer: Tokenizer::new(),
            terms: Dictionary::default(),
            documents: Vec::new(),
            entries: Vec::new(),
            long_counts: Vec::new(),
            current: Current::default(),
            handles: Vec::new(),
        }
    }

    /// The handle of a token.
    pub fn intern(&mut self, token: &str) -> TermHandle {
        TermHandle(self.terms.intern(token).0)
    }

    /// The tokens of a text.
    pub fn bag(&mut self, text: &str) -> TermBag {
        let IndexBuilder { tokenizer, terms, .. } = self;
        let mut handles = Vec::new();
        tokenizer.each(text, |token| handles.push((TermHandle(terms.intern(token).0), 1)));
        TermBag::new(handles)
    }

    /// Adds the documents of a file. `join` names the node of each and adds what joins it, or leaves it out.
    pub fn add_file(
        &mut self,
        file: &FileTerms,
        path: &str,
        mut join: impl FnMut(DocumentTerms<'_>, &mut Joining<'_>) -> Option<NodeId>,
    ) -> Result<()> {
        let path = self.bag(path);
        let mut handles = std::mem::take(&mut self.handles);
        handles.clear();
        handles.extend((0..file.n_terms() as u32).map(|it| self.terms.intern(file.term(it)).0));
        for document in file.documents() {
            let node = join(document, &mut Joining { current: &mut self.current });
            let Some(node) = node else {
                self.current.clear();
                continue;
            };
            for (place, field) in Field::OF_CONTENT.into_iter().enumerate() {
                for it in document.entries(place) {
                    self.current.add(handles[it.term as usize], field.index(), it.count);
                }
            }
            self.current.add_bag(&path, Field::Path);
            self.close(node)?;
        }
        self.handles = handles;
        Ok(())
    }

    /// Adds documents of another index as they are there: those whose nodes are wanted.
    pub fn copy(&mut self, from: &Index, is_wanted: impl Fn(NodeId) -> bool) -> Result<()> {
        let mut handles: Vec<Option<u32>> = vec![None; from.n_terms()];
        for document in 0..from.count() {
            let node = from.node_at(document);
            if !is_wanted(node) {
                continue;
            }
            let mut vector = from.vector(document);
            while vector.key != END {
                let handle = match handles.get(vector.key as usize).copied().flatten() {
                    Some(handle) => handle,
                    None => {
                        let text = from.term_text(vector.key);
                        let text = text.ok_or(Error::Damaged("a term has no text"))?;
                        let handle = self.terms.intern(&text).0;
                        handles[vector.key as usize] = Some(handle);
                        handle
                    }
                };
                let counts = vector.counts();
                for field in fields_of(counts.mask) {
                    self.current.add(handle, field, counts.of[field]);
                }
                vector.advance();
            }
            if vector.is_damaged() {
                return Err(Error::Damaged("the terms of a document cannot be read"));
            }
            self.current.n_commits = from.record(document).map_or(0, |it| it.n_commits);
            self.current.last_commit = from.last_commit_at(document);
            self.close(node)?;
        }
        Ok(())
    }

    /// Adds a document by the terms of each of its fields.
    pub fn add_bags(&mut self, node: NodeId, fields: &[TermBag]) -> Result<()> {
        for (bag, field) in fields.iter().zip(Field::ALL) {
            self.current.add_bag(bag, field);
        }
        self.close(node)
    }

    fn close(&mut self, node: NodeId) -> Result<()> {
        for (handle, counts) in &self.current.counts {
            let low = match counts.code() {
                Some(code) => u32::from(code),
                None => {
                    let at = u32::try_from(self.long_counts.len()).ok().filter(|it| it & IS_LONG == 0);
                    let at = at.ok_or_else(|| Error::Input("too many documents for one image".to_owned()))?;
                    self.long_counts.push(0);
                    counts.write(&mut self.long_counts);
                    self.long_counts[at as usize] = (self.long_counts.len() - at as usize - 1) as u8;
                    at | IS_LONG
                }
            };
            self.entries.push(u64::from(*handle) << 32 | u64::from(low));
        }
        self.documents.push(NewDocument {
            node,
            lengths: self.current.lengths,
            n_commits: self.current.n_commits,
            last_commit: self.current.last_commit,
            end: self.entries.len(),
        });
        self.current.clear();
        Ok(())
    }

    /// The index of all documents that were added, in whatever order.
    pub fn finish(mut self, head: &ImageHead) -> Result<Index> {
        let order = self.order_of_documents()?;
        let terms = self.sort_terms();
        let (records, vectors, mut term_records) = self.vectors(&order, terms.len());
        let postings = self.postings(&order, &mut term_records);
        let nodes: Vec<[u8; 32]> =
            order.iter().map(|&it| *self.documents[it as usize].node.as_bytes()).collect();
        let mut lengths = Vec::with_capacity(order.len() * N_FIELDS);
        let mut total_lengths = [0_u64; N_FIELDS];
        for (field, total) in total_lengths.iter_mut().enumerate() {
            let column = order.iter().map(|&it| self.documents[it as usize].lengths[field]);
            *total = column.clone().map(u64::from).sum();
            lengths.extend(column);
        }
        let short_lengths: Vec<u8> =
            lengths.iter().map(|&it| u8::try_from(it).unwrap_or(LONG_LENGTH)).collect();
        let head = Head {
            snapshot: *head.snapshot.as_bytes(),
            history_digest: *head.history_digest.as_bytes(),
            commit_time: head.commit_time,
            total_lengths,
        };
        let dictionary = self.dictionary(&terms)?;
        let sections = [
            bytemuck::cast_slice(&nodes),
            bytemuck::cast_slice(&lengths),
            &short_lengths,
            bytemuck::cast_slice(&records),
            &dictionary,
            bytemuck::cast_slice(&term_records),
            &postings,
            &vectors,
        ];
        Index::from_words(encode(&head, records.len(), terms.len(), sections))
    }

    fn order_of_documents(&self) -> Result<Vec<u32>> {
        let n_documents = u32::try_from(self.documents.len()).ok().filter(|&it| it < u32::MAX);
        let n_documents = n_documents.ok_or_else(|| Error::Input("too many documents".to_owned()))?;
        let node = |it: u32| self.documents[it as usize].node;
        let mut order: Vec<u32> = (0..n_documents).collect();
        order.sort_unstable_by_key(|&it| node(it));
        match order.windows(2).find(|pair| node(pair[0]) == node(pair[1])) {
            Some(pair) => Err(Error::Input(format!("node {} has two documents", node(pair[0])))),
            None => Ok(order),
        }
    }

    /// Handles in the order of their texts, without those that no document has; entries get the new numbers and are
    /// sorted by them.
    fn sort_terms(&mut self) -> Vec<u32> {
        let mut is_used = vec![false; self.terms.len()];
        for entry in &self.entries {
            is_used[(entry >> 32) as usize] = true;
        }
        // Most texts differ in their first eight bytes, which compare as one number.
        let mut sorted: Vec<(u64, u32)> = (0..self.terms.len() as u32)
            .filter(|&it| is_used[it as usize])
            .map(|it| (first_bytes(self.terms.text(it)), it))
            .collect();
        sorted.sort_unstable_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| self.terms.text(one.1).cmp(self.terms.text(other.1)))
        });
        let mut number_of = vec![0_u32; self.terms.len()];
        for (number, &(_, handle)) in sorted.iter().enumerate() {
            number_of[handle as usize] = number as u32;
        }
        let mut from = 0;
        for document in &self.documents {
            let entries = &mut self.entries[from..document.end];
            for entry in entries.iter_mut() {
                *entry = u64::from(number_of[(*entry >> 32) as usize]) << 32 | *entry & u64::from(u32::MAX);
            }
            entries.sort_unstable();
            from = document.end;
        }
        sorted.into_iter().map(|it| it.1).collect()
    }

    fn entries_of(&self, document: u32) -> &[u64] {
        let document = document as usize;
        let from = if document == 0 { 0 } else { self.documents[document - 1].end };
        &self.entries[from..self.documents[document].end]
    }

    fn counts_of(&self, entry: &u64) -> CountBytes<'_> {
        let low = *entry as u32;
        if low & IS_LONG == 0 {
            return CountBytes::Short(low as u8);
        }
        let at = (low & !IS_LONG) as usize;
        CountBytes::Long(&self.long_counts[at + 1..at + 1 + usize::from(self.long_counts[at])])
    }

    /// Vectors of documents, and on the way how many documents each term has and how many bytes its postings will take.
    fn vectors(&self, order: &[u32], n_terms: usize) -> (Vec<DocumentRecord>, Vec<u8>, Vec<TermRecord>) {
        let mut records = Vec::with_capacity(order.len());
        let mut vectors = Vec::with_capacity(self.entries.len() * 3);
        let mut terms = vec![TermRecord::default(); n_terms];
        let mut last_document: Vec<Option<u32>> = vec![None; n_terms];
        for (number, &at) in order.iter().enumerate() {
            let document = &self.documents[at as usize];
            let entries = self.entries_of(at);
            records.push(DocumentRecord {
                vector: vectors.len() as u64,
                n_terms: entries.len() as u32,
                n_commits: document.n_commits,
                last_commit: document.last_commit.unwrap_or(NO_TIME),
            });
            let mut last = None;
            for entry in entries {
                let term = (entry >> 32) as u32;
                let counts = self.counts_of(entry);
                varint::write(&mut vectors, delta(last, term));
                counts.write(&mut vectors);
                last = Some(term);
                let record = &mut terms[term as usize];
                let before = &mut last_document[term as usize];
                record.n_documents += 1;
                record.postings += (varint::length(delta(*before, number as u32)) + counts.length()) as u64;
                *before = Some(number as u32);
            }
        }
        let mut from = 0;
        for record in &mut terms {
            let length = std::mem::replace(&mut record.postings, from);
            from += length;
        }
        (records, vectors, terms)
    }

    fn postings(&self, order: &[u32], terms: &mut [TermRecord]) -> Vec<u8> {
        /// Where the next posting of a term goes, and the document of the last.
        struct Place {
            at: usize,
            last: Option<u32>,
        }
        let mut places: Vec<Place> =
            terms.iter().map(|it| Place { at: it.postings as usize, last: None }).collect();
        let mut lengths = 0;
        for entry in &self.entries {
            lengths += self.counts_of(entry).length() + 5;
        }
        let mut postings = vec![0_u8; lengths];
        let mut bytes = Vec::with_capacity(64);
        for (number, &at) in order.iter().enumerate() {
            for entry in self.entries_of(at) {
                let place = &mut places[(entry >> 32) as usize];
                bytes.clear();
                varint::write(&mut bytes, delta(place.last, number as u32));
                self.counts_of(entry).write(&mut bytes);
                postings[place.at..place.at + bytes.len()].copy_from_slice(&bytes);
                place.at += bytes.len();
                place.last = Some(number as u32);
            }
        }
        let end = places.last().map_or(0, |it| it.at);
        postings.truncate(end.next_multiple_of(8));
        postings.resize(end.next_multiple_of(8), 0);
        for number in 0..terms.len() {
            let to = terms.get(number + 1).map_or(postings.len(), |it| it.postings as usize);
            terms[number].checksum = checksum(&postings[terms[number].postings as usize..to]) as u32;
        }
        postings
    }

    /// Its length, then the dictionary.
    fn dictionary(&self, terms: &[u32]) -> Result<Vec<u8>> {
        let failed = |it: fst::Error| Error::Input(format!("terms make no dictionary: {it}"));
        let mut builder = fst::MapBuilder::memory();
        for (number, &handle) in terms.iter().enumerate() {
            builder.insert(self.terms.text(handle), number as u64).map_err(failed)?;
        }
        let bytes = builder.into_inner().map_err(failed)?;
        let mut out = (bytes.len() as u64).to_ne_bytes().to_vec();
        out.extend(bytes);
        Ok(out)
    }
}

enum CountBytes<'b> {
    Short(u8),
    Long(&'b [u8]),
}

impl CountBytes<'_> {
    fn length(&self) -> usize {
        match self {
            CountBytes::Short(_) => 1,
            CountBytes::Long(bytes) => bytes.len(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            CountBytes::Short(code) => out.push(*code),
            CountBytes::Long(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn first_bytes(text: &str) -> u64 {
    let mut word = [0; 8];
    let length = text.len().min(8);
    word[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_be_bytes(word)
}
