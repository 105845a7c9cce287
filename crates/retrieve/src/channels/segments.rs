//! Files by the words in their paths: one pass over all paths, for every channel that asks.

use knowing_search::FileIndex;
use rustc_hash::FxHashMap;

use super::Channels;

/// For each keyword the files that have it as a segment of their path.
pub(super) struct Segments {
    files: FxHashMap<String, Vec<FileIndex>>,
}

/// Files of one word; more of them say nothing.
const MAX_FILES: usize = 60;

impl Segments {
    pub(super) fn of(cx: Channels<'_>) -> Segments {
        let keywords = &cx.task.keywords;
        let all = keywords.exact.iter().chain(&keywords.compounds).chain(&keywords.components);
        let mut files: FxHashMap<String, Vec<FileIndex>> =
            all.map(|it| (it.lower.clone(), Vec::new())).collect();
        let mut lower = String::new();
        for file in (0..cx.names.n_files() as u32).map(FileIndex) {
            for segment in cx.names.path(file).split(['/', '.']) {
                lower.clear();
                lower.extend(segment.chars().map(|it| it.to_ascii_lowercase()));
                if let Some(found) = files.get_mut(lower.as_str())
                    && found.len() < MAX_FILES
                    && found.last() != Some(&file)
                {
                    found.push(file);
                }
            }
        }
        Segments { files }
    }

    /// In order of their paths.
    pub(super) fn named(&self, word: &str) -> &[FileIndex] {
        self.files.get(word).map_or(&[], Vec::as_slice)
    }
}
