//! Files that the task names: paths as written, and modules that its code imports.

use std::collections::BTreeSet;

use knowing_search::{FileIndex, Names};

use super::Channels;
use super::frames::file_of;

/// What the task says of files.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// Written as paths, in order of the text.
    pub(crate) paths: Vec<FileIndex>,
    /// Imported or dotted names, and the first segments of them in lower case.
    written: Vec<Vec<String>>,
    firsts: BTreeSet<String>,
}

impl Mentions {
    pub(super) fn of(cx: Channels<'_>) -> Mentions {
        if !cx.on(crate::params::Part::Identifiers) {
            return Mentions::default();
        }
        let mut paths: Vec<FileIndex> = Vec::new();
        for mention in &cx.task.paths {
            if let Some(file) = file_of(cx, &mention.path)
                && !paths.contains(&file)
            {
                paths.push(file);
            }
        }
        let dotted = cx.task.identifiers.iter().map(|it| &it.segments).filter(|it| it.len() > 1);
        let written: Vec<Vec<String>> = cx.task.imported.iter().chain(dotted).cloned().collect();
        let firsts = written.iter().map(|it| it[0].to_ascii_lowercase()).collect();
        Mentions { paths, written, firsts }
    }

    pub(crate) fn is_named(&self, file: FileIndex) -> bool {
        self.paths.contains(&file)
    }

    /// The most segments of an imported or dotted name that agree with a file's path.
    pub(crate) fn module_segments(&self, names: &Names, file: FileIndex) -> u32 {
        let has_first = |it: &String| names.files_with_segment(it).binary_search(&file).is_ok();
        if !self.firsts.iter().any(has_first) {
            return 0;
        }
        self.written.iter().map(|it| agreeing(names.path(file), it)).max().unwrap_or(0)
    }
}

/// How many leading segments of a dotted name stand, one after the other, in a path: `a.b.c` and `src/a/b.py` give 2.
fn agreeing(path: &str, written: &[String]) -> u32 {
    let stem = path.rsplit_once('.').map_or(path, |it| it.0);
    let first = &written[0];
    let mut rest = stem.split('/');
    while let Some(segment) = rest.next() {
        if segment == first {
            let following = rest.clone().zip(&written[1..]).take_while(|(one, other)| one == other).count();
            return 1 + following as u32;
        }
    }
    0
}
