//! Checking and cleaning the database, as text for people; and the question before something is removed for good.

use std::io::{self, IsTerminal as _, Write};

use knowing_ops::{FsckReply, Operation, SweptReply, VacuumReply};

use crate::render::{MAX_SHOWN, grouped, more, plural};
use crate::style::Style;

/// A person at a terminal is asked; anyone else has to say `--yes`.
pub(crate) fn ask(operation: &mut Operation) {
    let (what, dry_run, confirm) = match operation {
        Operation::Reset(it) => ("forget all snapshots of this repository", it.dry_run, &mut it.confirm),
        Operation::UntrackRepo(it) => ("forget this repository", it.dry_run, &mut it.confirm),
        _ => return,
    };
    if dry_run || *confirm || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return;
    }
    let mut notes = io::stderr().lock();
    let _ = write!(notes, "{what}? This cannot be undone [y/N] ");
    let _ = notes.flush();
    let mut answer = String::new();
    let _ = io::stdin().read_line(&mut answer);
    *confirm = matches!(answer.trim(), "y" | "Y" | "yes");
}

pub(crate) fn fsck(it: &FsckReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let status = match it.status {
        "clean" => style.cyan(it.status),
        "warnings" => style.yellow(it.status),
        _ => style.red(it.status),
    };
    writeln!(output, "{status}: {}", style.plain(&it.database))?;
    let counts = &it.counts;
    let sizes: Vec<String> = [
        (counts.snapshots, "snapshot"),
        (counts.files, "file"),
        (counts.symbols, "symbol"),
        (counts.units, "unit"),
        (counts.nodes, "node row"),
        (counts.edges, "edge row"),
        (counts.images, "image"),
    ]
    .into_iter()
    .filter(|it| it.0 > 0)
    .map(|(count, what)| format!("{} {}", grouped(count), plural(count as usize, what)))
    .collect();
    if !sizes.is_empty() {
        writeln!(output, "  checked {}", sizes.join(", "))?;
    }
    let shown = if style.verbose { usize::MAX } else { MAX_SHOWN };
    for (name, list, total) in [
        (style.red("error"), &it.errors, it.total_errors),
        (style.yellow("warning"), &it.warnings, it.total_warnings),
        (style.cyan("info"), &it.infos, it.total_infos),
    ] {
        for finding in list.iter().take(shown) {
            writeln!(output, "  {name} {}: {}", finding.check, style.plain(&finding.message))?;
        }
        more(list.len().min(shown), total, "findings", output)?;
    }
    if it.total_errors > 0 && !style.quiet {
        let hint =
            "images can be built anew with `--repair`; of damaged rows, begin anew with `knowing reset`";
        writeln!(output, "{} {hint}", style.cyan("hint:"))?;
    }
    Ok(())
}

pub(crate) fn swept(it: &SweptReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let verb = if it.dry_run { "would remove" } else { "removed" };
    let n_snapshots = it.snapshots.len();
    writeln!(
        output,
        "{verb} {n_snapshots} {}, {} kept, {} {}",
        plural(n_snapshots, "snapshot"),
        it.snapshots_kept,
        it.images_removed,
        plural(it.images_removed as usize, "image")
    )?;
    for (table, count) in &it.removed {
        writeln!(output, "  {table:<12} {:>10}", grouped(*count))?;
    }
    if style.verbose {
        for id in &it.snapshots {
            writeln!(output, "  {id}")?;
        }
    }
    Ok(())
}

pub(crate) fn vacuum(it: &VacuumReply, output: &mut dyn Write) -> io::Result<()> {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    writeln!(output, "{:.1} MiB before, {:.1} MiB now", mib(it.bytes_before), mib(it.bytes_after))
}
