//! Stack frames: the function that a frame names in the file it names, else the innermost around its line.

use knowing_graph::NodeIndex;
use knowing_search::FileIndex;

use super::Channels;

/// A frame that was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameMatch {
    pub(crate) node: NodeIndex,
    /// From the innermost, which is 0.
    pub(crate) depth: u32,
}

/// Innermost first.
pub(super) fn matched(cx: Channels<'_>) -> Vec<FrameMatch> {
    let mut found: Vec<FrameMatch> = Vec::new();
    for (frame, depth) in cx.task.frames.iter().rev().zip(0..) {
        let Some(file) = file_of(cx, &frame.file) else { continue };
        let nodes = cx.names.in_file(file);
        let by_name = frame.function.as_deref().and_then(|function| {
            let name = function.rsplit(['.', ':']).find(|it| !it.is_empty())?;
            let mut named = nodes.iter().copied().filter(|&it| cx.names.name(it) == name);
            let first = named.next()?;
            // Several of one name: the one around the line, where the file is much as it was.
            let around = |it: &u32| frame.line.is_some_and(|line| contains(cx, *it, line));
            Some(std::iter::once(first).chain(named).find(around).unwrap_or(first))
        });
        let by_line = || {
            let line = frame.line?;
            let inside = nodes.iter().copied().filter(|&it| !cx.names.symbol(it).is_empty());
            inside.filter(|&it| contains(cx, it, line)).min_by_key(|&it| {
                let (first, last) = cx.names.lines(it);
                last - first
            })
        };
        if let Some(node) = by_name.or_else(by_line).map(NodeIndex)
            && found.iter().all(|it| it.node != node)
        {
            found.push(FrameMatch { node, depth });
        }
    }
    found
}

fn contains(cx: Channels<'_>, node: u32, line: u32) -> bool {
    let (first, last) = cx.names.lines(node);
    first <= line && line <= last
}

/// The file of which most last segments agree with the path that was written; none when two agree alike.
pub(super) fn file_of(cx: Channels<'_>, written: &str) -> Option<FileIndex> {
    let mut best: Option<(usize, FileIndex)> = None;
    let mut tied = false;
    let name = written.rsplit(['/', '\\']).next()?;
    let begin = name.split('.').next()?.to_ascii_lowercase();
    for &file in cx.names.files_with_segment(&begin) {
        let path = cx.names.path(file);
        let agreeing = agreeing_segments(path, written);
        match best {
            _ if agreeing == 0 => {}
            Some((most, _)) if agreeing < most => {}
            Some((most, _)) if agreeing == most => tied = true,
            _ => (best, tied) = (Some((agreeing, file)), false),
        }
    }
    // A bare `utils.py` may be any of many; a path that agrees as a whole is meant.
    best.filter(|(agreeing, _)| !tied && (*agreeing > 1 || !written.contains(['/', '\\']))).map(|it| it.1)
}

fn agreeing_segments(path: &str, written: &str) -> usize {
    let segments = path.rsplit('/').zip(written.rsplit(['/', '\\']));
    segments.take_while(|(one, other)| one == other).count()
}
