//! Reads truth that people wrote: one call site a line, for languages whose compilers cannot be had.
//!
//! ```text
//! # repository: owner/name
//! # commit: 0123abcd...
//! path<tab>line<tab>column<tab>name<tab>target      target: `path:line`, `external` or `unknown`
//! ```

use anyhow::{Context, Result, bail};
use knowing_model::Position;

use super::truth::{Mention, Place, Shape, Truth, TruthSymbol};

/// Truth, and the repository and commit it is about.
pub(crate) struct Listed {
    pub(crate) truth: Truth,
    pub(crate) repository: Option<String>,
    pub(crate) commit: Option<String>,
}

pub(crate) fn read(text: &str) -> Result<Listed> {
    let mut truth = Truth { tool: "read by eye".to_owned(), is_sample: true, ..Truth::default() };
    let (mut repository, mut commit) = (None, None);
    for (at, line) in text.lines().enumerate() {
        if let Some(comment) = line.strip_prefix('#') {
            match comment.split_once(':') {
                Some((key, value)) if key.trim() == "repository" => {
                    repository = Some(value.trim().to_owned());
                }
                Some((key, value)) if key.trim() == "commit" => commit = Some(value.trim().to_owned()),
                _ => {}
            }
            continue;
        }
        if line.trim().is_empty() {
            continue;
        }
        let row = || format!("line {} has not the five parts of a call site", at + 1);
        let parts: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [path, line, column, name, target] = parts[..] else { bail!(row()) };
        let position =
            Position { line: line.parse().with_context(row)?, column: column.parse().with_context(row)? };
        let places = match target {
            // Nobody can tell, so that neither an edge nor its absence is wrong.
            "unknown" => continue,
            "external" => Vec::new(),
            place => {
                let (path, line) = place.rsplit_once(':').with_context(row)?;
                vec![Place { path: path.to_owned(), line: line.parse().with_context(row)?, column: None }]
            }
        };
        let symbol = truth.symbols.len() as u32;
        truth.symbols.push(TruthSymbol { name: name.to_owned(), shape: Shape::Any, places });
        truth.mentions.entry(path.to_owned()).or_default().push(Mention { position, symbol });
    }
    for list in truth.mentions.values_mut() {
        list.sort_unstable();
    }
    Ok(Listed { truth, repository, commit })
}
