//! Making names: from nothing, or from those of another snapshot and what differs.

use std::cmp::Ordering;
use std::sync::OnceLock;

use knowing_model::{SnapshotId, checksum};

use super::{
    FileInput, FileName, HEADER, Header, MAGIC, NO_FILE, NameInput, Names, NodeName, VERSION, folded_order,
    offsets,
};
use crate::bytes::Bytes;
use crate::image::{Error, Result};

/// A node of a snapshot that follows on another.
#[derive(Clone, Copy, Debug)]
pub enum NamePatch<'a> {
    /// The same as a node before, in a file that may have another position now.
    Kept {
        before: u32,
        file: Option<u32>,
    },
    New(NameInput<'a>),
}

impl Names {
    /// `files` are sorted by path.
    pub fn build(snapshot: SnapshotId, nodes: &[NameInput<'_>], files: &[FileInput<'_>]) -> Result<Names> {
        let mut draft = Draft::default();
        nodes.iter().for_each(|it| draft.push(it, files));
        let mut by_name: Vec<u32> = (0..nodes.len() as u32).collect();
        by_name.sort_unstable_by(|&a, &b| draft.order(a, b));
        draft.count_namesakes(&by_name);
        let by_file = draft.by_file(files.len(), &[], &[]);
        draft.finish(snapshot, files, by_name, by_file)
    }

    /// As `build`, where most nodes are those of another snapshot, in the same order. What they say is copied, and names
    /// are sorted by merging.
    pub fn patched<'n>(
        &self,
        snapshot: SnapshotId,
        nodes: impl ExactSizeIterator<Item = NamePatch<'n>>,
        files: &[FileInput<'_>],
    ) -> Result<Names> {
        let old: &[NodeName] = self.section(0, self.header.n_nodes);
        let text = self.texts();
        let n_nodes = nodes.len();
        let mut draft = Draft {
            records: Vec::with_capacity(n_nodes),
            text: String::with_capacity(text.len() + text.len() / 8),
        };
        let mut place: Vec<Option<u32>> = vec![None; old.len()];
        let mut new: Vec<u32> = Vec::new();
        for (at, node) in (0..).zip(nodes) {
            match node {
                NamePatch::Kept { before, file } => {
                    let record = &old[before as usize];
                    place[before as usize] = Some(at);
                    draft.copy(record, text, file)?;
                }
                NamePatch::New(input) => {
                    new.push(at);
                    draft.push(&input, files);
                }
            }
        }
        // Those of one file keep their order too: they are of one version of it.
        let in_files: Vec<u32> = self.by_file().iter().filter_map(|it| place[*it as usize]).collect();
        let by_file = draft.by_file(files.len(), &in_files, &new);
        new.sort_unstable_by(|&a, &b| draft.order(a, b));
        // Nodes keep their order among themselves, so that those of one name do too.
        let old: Vec<u32> = self.by_name().iter().filter_map(|it| place[*it as usize]).collect();
        let mut old = old.as_slice();
        let mut by_name = Vec::with_capacity(n_nodes);
        for &at in &new {
            let n_before = old.partition_point(|it| draft.order(*it, at) == Ordering::Less);
            by_name.extend_from_slice(&old[..n_before]);
            by_name.push(at);
            old = &old[n_before..];
        }
        by_name.extend_from_slice(old);
        for &at in &new {
            let name = draft.name(at).to_vec();
            draft.recount_namesakes(&by_name, &name);
        }
        for (before, _) in (0..).zip(&place).filter(|it| it.1.is_none()) {
            draft.recount_namesakes(&by_name, self.name(before).as_bytes());
        }
        draft.finish(snapshot, files, by_name, by_file)
    }
}

/// Nodes and their texts in the making.
#[derive(Default)]
struct Draft {
    records: Vec<NodeName>,
    text: String,
}

impl Draft {
    fn push(&mut self, node: &NameInput<'_>, files: &[FileInput<'_>]) {
        let at = self.text.len();
        self.text.push_str(node.symbol);
        self.text.push_str(node.name);
        let own = node.file.and_then(|it| files.get(it as usize)).is_none_or(|it| it.path != node.container);
        let container = if own { node.container } else { "" };
        self.text.push_str(container);
        self.records.push(NodeName {
            text: at as u32,
            symbol_bytes: node.symbol.len() as u32,
            name_bytes: node.name.len() as u32,
            container_bytes: container.len() as u32,
            file: node.file.unwrap_or(NO_FILE),
            first_line: node.first_line,
            last_line: node.last_line,
            namesakes: 0,
            class: u32::from(node.class.id()),
        });
    }

    fn copy(&mut self, record: &NodeName, text: &str, file: Option<u32>) -> Result<()> {
        let length =
            record.symbol_bytes as usize + record.name_bytes as usize + record.container_bytes as usize;
        let from = record.text as usize;
        let own = text.get(from..from + length).ok_or(Error::Damaged("its texts lead out of it"))?;
        let at = self.text.len();
        self.text.push_str(own);
        let file = file.unwrap_or(NO_FILE);
        self.records.push(NodeName { text: at as u32, file, ..*record });
        Ok(())
    }

    fn name(&self, at: u32) -> &[u8] {
        let record = &self.records[at as usize];
        let from = record.text as usize + record.symbol_bytes as usize;
        &self.text.as_bytes()[from..from + record.name_bytes as usize]
    }

    fn order(&self, a: u32, b: u32) -> Ordering {
        folded_order(self.name(a), self.name(b)).then(a.cmp(&b))
    }

    /// Where each file's nodes begin, and nodes by file, outermost first in order of lines. `sorted` are nodes of which
    /// those of one file are in that order already; with the `others` they are all, or both are none.
    fn by_file(&self, n_files: usize, sorted: &[u32], others: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let mut firsts = vec![0_u32; n_files + 1];
        let file_of = |at: u32| Some(self.records[at as usize].file as usize).filter(|it| *it < n_files);
        let all = || 0..self.records.len() as u32;
        all().filter_map(file_of).for_each(|it| firsts[it + 1] += 1);
        for at in 1..firsts.len() {
            firsts[at] += firsts[at - 1];
        }
        let mut next = firsts.clone();
        let mut by_file = vec![0_u32; firsts[n_files] as usize];
        let mut push = |at: u32| {
            if let Some(file) = file_of(at) {
                by_file[next[file] as usize] = at;
                next[file] += 1;
            }
        };
        sorted.iter().copied().for_each(&mut push);
        let mut is_unsorted = vec![sorted.is_empty(); n_files];
        if sorted.is_empty() {
            all().for_each(push);
        } else {
            others.iter().copied().for_each(push);
            others.iter().copied().filter_map(file_of).for_each(|it| is_unsorted[it] = true);
        }
        for (span, _) in firsts.windows(2).zip(is_unsorted).filter(|it| it.1) {
            by_file[span[0] as usize..span[1] as usize].sort_unstable_by_key(|&it| {
                let record = &self.records[it as usize];
                (record.first_line, u32::MAX - record.last_line, it)
            });
        }
        (firsts, by_file)
    }

    fn count_namesakes(&mut self, by_name: &[u32]) {
        let mut from = 0;
        while from < by_name.len() {
            let name = self.name(by_name[from]);
            let same = |it: &&u32| folded_order(self.name(**it), name) == Ordering::Equal;
            let n = by_name[from..].iter().take_while(same).count();
            by_name[from..from + n].iter().for_each(|&it| self.records[it as usize].namesakes = n as u32);
            from += n;
        }
    }

    /// As `count_namesakes`, of one name.
    fn recount_namesakes(&mut self, by_name: &[u32], name: &[u8]) {
        let from = by_name.partition_point(|it| folded_order(self.name(*it), name) == Ordering::Less);
        let same = |it: &u32| folded_order(self.name(*it), name) == Ordering::Equal;
        let to = from + by_name[from..].partition_point(same);
        by_name[from..to].iter().for_each(|&it| self.records[it as usize].namesakes = (to - from) as u32);
    }

    fn finish(
        self,
        snapshot: SnapshotId,
        files: &[FileInput<'_>],
        by_name: Vec<u32>,
        (firsts, by_file): (Vec<u32>, Vec<u32>),
    ) -> Result<Names> {
        let Draft { records, mut text } = self;
        let mut file_records = Vec::with_capacity(files.len());
        for (file, first) in files.iter().zip(firsts) {
            let at = text.len();
            text.push_str(file.path);
            text.push_str(file.language);
            file_records.push(FileName {
                id: *file.id.as_bytes(),
                text: at as u32,
                path_bytes: file.path.len() as u32,
                language_bytes: file.language.len() as u32,
                first,
            });
        }
        if u32::try_from(text.len()).is_err() {
            return Err(Error::Input("the names take more than 4 GiB".to_owned()));
        }
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            snapshot: *snapshot.as_bytes(),
            n_nodes: records.len() as u64,
            n_files: files.len() as u64,
            n_placed: by_file.len() as u64,
            text_bytes: text.len() as u64,
            checksum: 0,
        };
        let sections: [&[u8]; 5] = [
            bytemuck::cast_slice(&records),
            bytemuck::cast_slice(&file_records),
            bytemuck::cast_slice(&by_name),
            bytemuck::cast_slice(&by_file),
            text.as_bytes(),
        ];
        let offsets = offsets(&header).ok_or_else(|| Error::Input("too many nodes".to_owned()))?;
        let mut words = vec![0_u64; offsets[5].div_ceil(8)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        for (section, from) in sections.iter().zip(offsets) {
            bytes[from..from + section.len()].copy_from_slice(section);
        }
        header.checksum = checksum(&bytes[HEADER..]);
        bytes[..HEADER].copy_from_slice(bytemuck::bytes_of(&header));
        // What was just encoded is whole, and is not looked at again.
        Ok(Names { header, offsets, bytes: Bytes::Built(words), by_segment: OnceLock::new() })
    }
}
