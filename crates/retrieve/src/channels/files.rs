//! Files that the task names: paths as written, and modules that its code imports.

use std::collections::BTreeSet;

use knowing_search::FileIndex;

use super::Channels;
use super::frames::file_of;

/// What the task says of files.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// Written as paths, in order of the text.
    pub(crate) paths: Vec<FileIndex>,
    /// For each file the most segments of an imported or dotted name that agree with its path.
    modules: Vec<(FileIndex, u32)>,
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
        let written: Vec<&Vec<String>> = cx.task.imported.iter().chain(dotted).collect();
        let firsts: BTreeSet<String> = written.iter().map(|it| it[0].to_ascii_lowercase()).collect();
        let files: BTreeSet<FileIndex> =
            firsts.iter().flat_map(|it| cx.names.files_with_segment(it)).copied().collect();
        let modules = files.into_iter().filter_map(|file| {
            let path = cx.names.path(file);
            let most = written.iter().map(|it| agreeing(path, it)).max().unwrap_or(0);
            (most > 0).then_some((file, most))
        });
        Mentions { paths, modules: modules.collect() }
    }

    pub(crate) fn is_named(&self, file: FileIndex) -> bool {
        self.paths.contains(&file)
    }

    pub(crate) fn module_segments(&self, file: FileIndex) -> u32 {
        self.modules.binary_search_by_key(&file, |it| it.0).map_or(0, |at| self.modules[at].1)
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
