//! Edges against compilers' truth: how many of ours are right, how many of theirs we have.

mod compare;
mod ours;
mod page;
mod render;
mod scip;
mod truth;
mod tsv;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use knowing_vcs::Checkout;
use rustc_hash::FxHashMap;

use self::ours::Ours;
use self::render::Subject;

pub(crate) struct Request {
    pub(crate) repo: PathBuf,
    pub(crate) truth: PathBuf,
    pub(crate) commit: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) write: Option<PathBuf>,
    pub(crate) list: bool,
    pub(crate) shown: usize,
}

/// Findings that a section of the page shows.
const ON_PAGE: usize = 8;

#[expect(clippy::print_stdout, reason = "a report on stdout is what this program is for")]
pub(crate) fn report(request: &Request) -> Result<()> {
    let bytes = std::fs::read(&request.truth)
        .with_context(|| format!("cannot read `{}`", request.truth.display()))?;
    let listed = match request.truth.extension().is_some_and(|it| it == "tsv") {
        true => Some(tsv::read(std::str::from_utf8(&bytes)?)?),
        false => None,
    };
    let checkout = Checkout::open(&request.repo)?;
    let stated = listed.as_ref().and_then(|it| it.commit.clone());
    let commit = request.commit.clone().or(stated).unwrap_or_else(|| "HEAD".to_owned());
    let url = checkout.identity(None)?.url;
    let files = ours::read(&checkout, &commit)?;
    let (truth, repository) = match listed {
        Some(listed) => (listed.truth, listed.repository),
        None => {
            let texts: FxHashMap<&str, &str> =
                files.iter().map(|it| (it.path.as_str(), it.text.as_str())).collect();
            (scip::read(&bytes, |path| texts.get(path).copied())?, None)
        }
    };
    let ours = Ours::resolve(&url, files);
    let comparison = compare::compare(&ours, &truth);
    anyhow::ensure!(
        comparison.n_files > 0,
        "no file of this truth is read here: another language or another commit"
    );
    let subject = Subject {
        repository: request.name.clone().or(repository).unwrap_or_else(|| short_name(&request.repo, &url)),
        commit: checkout.resolve(&commit)?.to_string(),
        tool: truth.tool.clone(),
    };
    if request.list {
        print!("{}", render::all("wrong", &comparison.wrong));
        print!("{}", render::all("no truth", &comparison.unjudged));
        print!("{}", render::all("missed", &comparison.missed));
        print!("{}", render::all("missed reference", &comparison.missed_references));
    }
    println!("{}\n{}\n", render::ROW_HEAD, render::row(&comparison, &subject));
    println!("{}", render::section(&comparison, &subject, request.shown));
    if let Some(page) = &request.write {
        let old = if page.exists() { std::fs::read_to_string(page)? } else { String::new() };
        let key = format!("{} {}", comparison.language, subject.repository);
        let section = render::section(&comparison, &subject, ON_PAGE);
        std::fs::write(page, page::merge(&old, &key, &render::row(&comparison, &subject), &section))?;
    }
    Ok(())
}

/// `owner/name` as far as url or path tell.
fn short_name(repo: &Path, url: &str) -> String {
    if let Some(rest) = url.strip_prefix("github.com/") {
        return rest.to_owned();
    }
    let parts: Vec<_> = repo.components().map(|it| it.as_os_str().to_string_lossy().into_owned()).collect();
    match parts.iter().rev().find(|it| it.contains('+')) {
        Some(both) => both.replacen('+', "/", 1),
        None => parts.last().cloned().unwrap_or_default(),
    }
}
