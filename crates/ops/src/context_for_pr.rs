//! Context around a change.

use knowing_vcs::{ChangeKind, Changes, Hunk, TextChange, Wanted};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use crate::context::PackReply;
use crate::context::{
    Asked, ChangedFile, ContextOptions, MAX_FILES, answer, answer_at, check_files, too_many_files,
};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;

/// Larger files are taken as changed all over.
const MAX_BYTES: u64 = 4 << 20;

/// What stands around a change: a walk from the symbols it touches
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(hide = true)]
pub struct ContextForPr {
    /// Changed files, when there is no base revision
    #[arg(required_unless_present = "base")]
    #[serde(default)]
    pub files: Vec<String>,
    /// The revision that the change starts from
    #[arg(long, value_name = "REV", conflicts_with = "files")]
    #[serde(default)]
    pub base: Option<String>,
    /// Where the change ends; default HEAD
    #[arg(long, value_name = "REV", requires = "base")]
    #[serde(default)]
    pub head: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub options: ContextOptions,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &ContextForPr) -> Result<PackReply> {
    let options = arguments.options.for_agents();
    match &arguments.base {
        Some(base) => for_pr(cx, base, arguments.head.as_deref(), &options),
        None => {
            check_files(&arguments.files)?;
            let whole = |path: &String| ChangedFile { path: path.clone(), is_from_top: false, lines: None };
            let asked = Asked::Changes(arguments.files.iter().map(whole).collect());
            answer(cx, &asked, &arguments.files, &options)
        }
    }
}

pub(crate) fn for_pr(
    cx: &mut Cx<'_>,
    base: &str,
    head: Option<&str>,
    options: &ContextOptions,
) -> Result<PackReply> {
    let place = cx.place()?;
    let Place::Git(checkout) = &place else {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("`{base}` names no commit: `{}` has no git repository", place.key()),
            "name the changed files with `--files`",
        ));
    };
    let (from, to) = (checkout.resolve(base)?, checkout.resolve(head.unwrap_or("HEAD"))?);
    let wanted = Wanted { path: &|_| true, max_files: MAX_FILES, max_bytes: MAX_BYTES };
    let files = match checkout.differ().changes_between(from, to, wanted)? {
        Changes::Files(files) => files,
        Changes::TooMany { .. } => return Err(too_many_files(MAX_FILES)),
        Changes::Missing => {
            return Err(Error::new(
                ErrorKind::BadInput,
                format!("what changed since `{base}` is not in this clone"),
                "fetch it, or name the changed files with `--files`",
            ));
        }
    };
    // What is gone has no symbols to start from.
    let there = files.into_iter().filter(|it| it.kind != ChangeKind::Deleted);
    let changed = there.map(|it| ChangedFile {
        lines: it.text.as_ref().map(changed_lines),
        path: it.path,
        is_from_top: true,
    });
    let changed = changed.collect();
    answer_at(cx, &Asked::Changes(changed), &(base, head), options, head)
}

/// First and last line of each hunk in the new version; where lines are only gone, the line before and the one after.
pub(crate) fn changed_lines(change: &TextChange) -> Vec<(u32, u32)> {
    let line_of = |at: usize| 1 + change.new[..at].iter().filter(|it| **it == b'\n').count() as u32;
    let lines = |hunk: &Hunk| {
        let first = line_of(hunk.new.start);
        match hunk.new.is_empty() {
            true => (first.saturating_sub(1), first),
            false => (first, line_of(hunk.new.end - 1)),
        }
    };
    change.hunks.iter().map(lines).collect()
}
