//! What is kept of a run for the next one. It can be lost: then everything is resolved.

use std::sync::Arc;

use super::keys;

/// Which keys the result of each file hangs on, and what all files together answered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    /// Most are those of the run before, and shared with it.
    files: Vec<Arc<FileRecord>>,
    /// Keys and digests of answers, in ascending order of keys.
    pub(super) shared: Arc<[(u32, u64)]>,
}

/// Of one file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileRecord {
    /// Keys that were looked up, in ascending order.
    pub(crate) reads: Arc<[u32]>,
    /// Which types fulfil which interfaces, as the file says.
    pub(crate) stated: Arc<[u64]>,
    /// Edges that something is derived from: kind and own declaration in one number, digest of the target.
    pub(crate) leads: Arc<[(u64, u64)]>,
    /// Digest of the result.
    pub(crate) resolved: u64,
    /// Digest of the derived edges; 0 when there are none.
    pub(crate) derived: u64,
    /// The part of it that is `similar_to`.
    pub(crate) similar: u64,
}

impl Record {
    pub(crate) fn new(files: Vec<Arc<FileRecord>>, shared: Arc<[(u32, u64)]>) -> Record {
        Record { files, shared }
    }

    /// In the order of the input's files.
    pub fn files(&self) -> &[Arc<FileRecord>] {
        &self.files
    }

    /// Appends what `decode` reads.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let n_words = self
            .files
            .iter()
            .map(|it| 9 + it.reads.len() + 2 * it.stated.len() + 4 * it.leads.len())
            .sum::<usize>();
        out.reserve(4 * (n_words + 3 + 3 * self.shared.len()));
        let mut out = Writer(out);
        out.word(keys::VERSION);
        out.word(self.files.len() as u32);
        for file in &self.files {
            out.long(file.resolved);
            out.long(file.derived);
            out.long(file.similar);
            out.word(file.reads.len() as u32);
            out.word(file.stated.len() as u32);
            out.word(file.leads.len() as u32);
            file.leads.iter().for_each(|(lead, target)| {
                out.long(*lead);
                out.long(*target);
            });
            file.stated.iter().for_each(|it| out.long(*it));
            file.reads.iter().for_each(|it| out.word(*it));
        }
        out.word(self.shared.len() as u32);
        for (key, answer) in self.shared.iter() {
            out.word(*key);
            out.long(*answer);
        }
    }

    /// None when another version wrote it, or it is damaged.
    pub fn decode(bytes: &[u8]) -> Option<Record> {
        let mut from = Reader(bytes);
        if from.word()? != keys::VERSION {
            return None;
        }
        let n_files = from.count(36)?;
        let mut files = Vec::with_capacity(n_files);
        for _ in 0..n_files {
            let (resolved, derived, similar) = (from.long()?, from.long()?, from.long()?);
            let (n_reads, n_stated, n_leads) = (from.count(4)?, from.count(8)?, from.count(16)?);
            let leads = from.take(16 * n_leads)?.chunks_exact(16);
            let leads = leads.map(|it| (long_of(&it[..8]), long_of(&it[8..]))).collect();
            let stated = from.take(8 * n_stated)?.chunks_exact(8).map(long_of).collect();
            let reads = from.take(4 * n_reads)?.chunks_exact(4).map(word_of).collect();
            files.push(FileRecord { reads, stated, leads, resolved, derived, similar }.into());
        }
        let n_shared = from.count(12)?;
        let shared = from.take(12 * n_shared)?.chunks_exact(12);
        let shared = shared.map(|it| (word_of(&it[..4]), long_of(&it[4..]))).collect();
        from.0.is_empty().then_some(Record { files, shared })
    }
}

struct Writer<'o>(&'o mut Vec<u8>);

impl Writer<'_> {
    fn word(&mut self, word: u32) {
        self.0.extend_from_slice(&word.to_le_bytes());
    }

    fn long(&mut self, long: u64) {
        self.0.extend_from_slice(&long.to_le_bytes());
    }
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, n_bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4).map(word_of)
    }

    fn long(&mut self) -> Option<u64> {
        self.take(8).map(long_of)
    }

    /// A number of things of some size each: more than the rest could hold is damage.
    fn count(&mut self, size: usize) -> Option<usize> {
        let count = self.word()? as usize;
        (count <= self.0.len() / size).then_some(count)
    }
}

fn word_of(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes.try_into().expect("four bytes were cut off"))
}

fn long_of(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes were cut off"))
}
