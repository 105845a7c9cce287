//! Extraction against another program's view: which functions, methods and types of a file are nodes of ours.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use knowing_extract::Screen;
use knowing_vcs::{Checkout, EntryKind};
use rustc_hash::FxHashMap;
use serde::Deserialize;

#[derive(Deserialize)]
struct Listed {
    path: String,
    /// First line, last line, dotted name, kind.
    spans: Vec<(u32, u32, String, String)>,
}

pub(crate) fn report(path: &Path, commit: &str, truth: &Path, list: bool) -> Result<()> {
    let truth =
        std::fs::read_to_string(truth).with_context(|| format!("cannot read `{}`", truth.display()))?;
    let mut wanted: FxHashMap<String, Listed> = FxHashMap::default();
    for line in truth.lines().filter(|it| !it.trim().is_empty()) {
        let listed: Listed = serde_json::from_str(line)?;
        wanted.insert(listed.path.clone(), listed);
    }
    let checkout = Checkout::open(path)?;
    let reader = checkout.reader();
    let mut n_skipped: BTreeMap<&'static str, u64> = BTreeMap::new();
    let (mut n_files, mut n_wanted, mut n_found) = (0, 0u64, 0u64);
    for entry in checkout.tree(checkout.resolve(commit)?)?.entries {
        if !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
            continue;
        }
        let Some(listed) = wanted.get(&entry.path) else { continue };
        let Some(bytes) = reader.blob(entry.blob)? else { continue };
        if let Screen::Skip(reason) = knowing_extract::screen(&entry.path, &bytes) {
            *n_skipped.entry(reason.name()).or_default() += listed.spans.len() as u64;
            continue;
        }
        let facts = knowing_extract::extract(&entry.path, &bytes);
        // A constructor without a name of its own is called as its type there.
        let name_of = |it: &knowing_model::facts::Decl| match (facts.text(it.name), it.owner) {
            ("<init>", Some(owner)) => facts.text(facts.decl(owner).name),
            (name, _) => name,
        };
        let ours: rustc_hash::FxHashSet<(u32, &str)> =
            facts.decls.iter().map(|it| (it.span.first_line, name_of(it))).collect();
        n_files += 1;
        for (line, _, name, kind) in &listed.spans {
            n_wanted += 1;
            let name = name.rsplit('.').next().unwrap_or(name);
            if ours.contains(&(*line, name)) {
                n_found += 1;
            } else if list {
                println!("missing {}:{line} {name} ({kind})", entry.path);
            }
        }
    }
    let share = 100.0 * n_found as f64 / (n_wanted as f64).max(1.0);
    println!("{n_files} files: {n_found} of {n_wanted} symbols are nodes, {share:.3} %");
    for (reason, count) in n_skipped {
        println!("in files skipped as {reason}: {count}");
    }
    Ok(())
}
