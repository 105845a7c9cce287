//! Files that the task names: paths as written, and modules that its code imports.

use knowing_search::FileIndex;
use rustc_hash::FxHashSet;

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
        let mut modules = Vec::new();
        if !written.is_empty() {
            let firsts: FxHashSet<&str> = written.iter().map(|it| it[0].as_str()).collect();
            for file in (0..cx.names.n_files() as u32).map(FileIndex) {
                let stem = stem(cx.names.path(file));
                // Most files are out of the question.
                if stem.split('/').any(|it| firsts.contains(it)) {
                    let most = written.iter().map(|it| agreeing(stem, it)).max().unwrap_or(0);
                    modules.push((file, most));
                }
            }
        }
        Mentions { paths, modules }
    }

    pub(crate) fn is_named(&self, file: FileIndex) -> bool {
        self.paths.contains(&file)
    }

    pub(crate) fn module_segments(&self, file: FileIndex) -> u32 {
        self.modules.binary_search_by_key(&file, |it| it.0).map_or(0, |at| self.modules[at].1)
    }
}

fn stem(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |it| it.0)
}

/// How many leading segments of a dotted name stand, one after the other, in a path: `a.b.c` and `src/a/b` give 2.
fn agreeing(stem: &str, written: &[String]) -> u32 {
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
