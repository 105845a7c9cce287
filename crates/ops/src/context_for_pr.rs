//! Context around a change.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::context::{Asked, ChangedFile, ContextOptions, PackReply, answer, check_files};
use crate::cx::Cx;
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;

/// What stands around a change: a walk from the symbols it touches
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
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
    match &arguments.base {
        Some(base) => for_pr(cx, base, arguments.head.as_deref(), &arguments.options),
        None => {
            check_files(&arguments.files)?;
            let whole = |path: &String| ChangedFile { path: path.clone(), lines: None };
            let asked = Asked::Changes(arguments.files.iter().map(whole).collect());
            answer(cx, &asked, &arguments.options)
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
    let changes = checkout.changes_between(from, to)?;
    let mut files = Vec::new();
    for change in changes {
        // What is gone has no symbols to start from.
        let Some(path) = change.new_path() else { continue };
        let hunks = checkout.hunks(&change)?;
        let lines = hunks.map(|hunks| hunks.iter().map(|it| it.new_lines()).collect());
        files.push(ChangedFile { path: path.to_owned(), lines });
    }
    let paths: Vec<String> = files.iter().map(|it| it.path.clone()).collect();
    check_files(&paths)?;
    answer(cx, &Asked::Changes(files), options)
}
