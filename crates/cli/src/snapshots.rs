//! Snapshots, proofs and what differs, as text for people.

use std::io::{self, Write};

use knowing_ops::{ProveReply, SnapshotsReply, VerifyReply};

use crate::render::{grouped, more};
use crate::style::Style;

pub(crate) fn list(it: &SnapshotsReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    for snapshot in &it.snapshots {
        let reference = snapshot.reference.as_deref().unwrap_or_default();
        let is_current = snapshot.id == it.tree.snapshot;
        let mut notes = Vec::new();
        if is_current {
            notes.push("current");
        }
        if snapshot.pinned {
            notes.push("pinned");
        }
        if snapshot.stage != "base" {
            notes.push(snapshot.stage);
        }
        let line = format!(
            "{reference:<4} {} commit {}  {}  {:>7} nodes {:>8} edges  {}",
            style.cyan(&snapshot.id[..12]),
            &snapshot.commit[..snapshot.commit.len().min(12)],
            snapshot.created_at,
            grouped(snapshot.nodes),
            grouped(snapshot.edges),
            style.dim(&notes.join(", "))
        );
        writeln!(output, "{}", line.trim_end())?;
        if style.verbose {
            writeln!(output, "     snapshot {}", snapshot.id)?;
            writeln!(output, "     root     {}", snapshot.root)?;
        }
    }
    more(it.snapshots.len(), it.total, "snapshots", output)
}

/// The proof itself, which is data; of one that was written to a file, where it is.
pub(crate) fn proof(it: &ProveReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    match &it.written {
        None => writeln!(output, "{}", it.proof.to_json()),
        Some(file) => {
            writeln!(output, "{}", style.plain(&it.statement))?;
            writeln!(output, "  commit   {}", it.proof.commit)?;
            writeln!(output, "  snapshot {}", it.proof.snapshot)?;
            writeln!(output, "written to {}", style.bold(file))
        }
    }
}

pub(crate) fn verdict(it: &VerifyReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    match &it.reason {
        None => writeln!(output, "{}: {}", style.cyan("holds"), style.plain(&it.statement))?,
        Some(reason) => {
            writeln!(output, "{}: {}", style.red("does not hold"), style.plain(&it.statement))?;
            let step = it.failed_step.unwrap_or_default();
            writeln!(output, "  step {step} fails: {}", style.plain(reason))?;
        }
    }
    for (name, value) in [("repo", &it.repo), ("commit", &it.commit), ("snapshot", &it.snapshot)] {
        writeln!(output, "  {name:<8} {}", style.plain(value))?;
    }
    Ok(())
}
