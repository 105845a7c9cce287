//! Snapshots, proofs and what differs, as text for people.

use std::io::{self, Write};

use knowing_model::name::abridged;
use knowing_ops::{
    DiffEdge, DiffReply, EventsReply, PrImpactReply, ProveReply, Risk, SemanticDiffReply, Side,
    SnapshotsReply, SymbolChange, SymbolInfo, VerifyReply,
};

use crate::render::{MAX_SHOWN, after_repo, grouped, more, plural, symbol_line};
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

pub(crate) fn events(it: &EventsReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    if it.total == 0 {
        return writeln!(output, "no edge came or went");
    }
    let mut last = None;
    for event in &it.events {
        if last != Some(&event.snapshot) {
            let commit = &event.commit[..event.commit.len().min(12)];
            writeln!(output, "{} commit {commit}  {}", style.cyan(&event.snapshot[..12]), event.at)?;
            last = Some(&event.snapshot);
        }
        let sign = match event.event {
            "added" => "+",
            "removed" => "-",
            _ => "~",
        };
        writeln!(output, "  {sign} {}", edge_line(&event.edge, style))?;
    }
    more(it.events.len(), it.total, "events", output)
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

/// Lines of each list of a diff: there are ten of them.
const OF_EACH: usize = 20;

pub(crate) fn diff(it: &DiffReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    heading(&it.old, &it.new, it.change, style, output)?;
    let counts = &it.counts;
    let nodes = [counts.nodes_added, counts.nodes_removed, counts.nodes_modified, counts.nodes_moved]
        .map(grouped_usize);
    let edges = [counts.edges_added, counts.edges_removed, counts.edges_changed].map(grouped_usize);
    writeln!(
        output,
        "nodes: {} added, {} removed, {} modified, {} moved",
        nodes[0], nodes[1], nodes[2], nodes[3]
    )?;
    let shown = if style.verbose { usize::MAX } else { OF_EACH };
    let line = |sign: &str, symbol: &SymbolInfo, note: &str, output: &mut dyn Write| {
        let line = format!("  {sign} {} {}", symbol_line(symbol, style), style.dim(note));
        writeln!(output, "{}", line.trim_end())
    };
    for symbol in it.nodes_added.iter().take(shown) {
        line("+", symbol, "", output)?;
    }
    rest(it.nodes_added.len().min(shown), counts.nodes_added, "added", output)?;
    for symbol in it.nodes_removed.iter().take(shown) {
        line("-", symbol, "", output)?;
    }
    rest(it.nodes_removed.len().min(shown), counts.nodes_removed, "removed", output)?;
    for node in it.nodes_modified.iter().take(shown) {
        line("~", &node.symbol, &format!("({})", node.changed.join(", ")), output)?;
    }
    rest(it.nodes_modified.len().min(shown), counts.nodes_modified, "modified", output)?;
    for node in it.nodes_moved.iter().take(shown) {
        line(">", &node.to, &format!("(from {})", abridged(node.from.short_name())), output)?;
    }
    rest(it.nodes_moved.len().min(shown), counts.nodes_moved, "moved", output)?;
    writeln!(output, "edges: {} added, {} removed, {} changed", edges[0], edges[1], edges[2])?;
    for (sign, list, total) in [
        ("+", &it.edges_added, counts.edges_added),
        ("-", &it.edges_removed, counts.edges_removed),
        ("~", &it.edges_changed, counts.edges_changed),
    ] {
        for edge in list.iter().take(shown) {
            writeln!(output, "  {sign} {}", edge_line(edge, style))?;
        }
        rest(list.len().min(shown), total, "edges", output)?;
    }
    for (name, packages) in
        [("added", &it.packages_added), ("removed", &it.packages_removed), ("changed", &it.packages_changed)]
    {
        if !packages.is_empty() {
            let listed: Vec<String> = packages.iter().take(shown).map(|it| style.plain(it)).collect();
            let rest = if packages.len() > shown { ", ..." } else { "" };
            writeln!(output, "packages {name}: {}{rest}", listed.join(", "))?;
        }
    }
    notes(&it.notes, style, output)
}

pub(crate) fn semantic_diff(it: &SemanticDiffReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    heading(&it.old, &it.new, it.change, style, output)?;
    writeln!(output, "{}", it.summary)?;
    let shown = if style.verbose { usize::MAX } else { MAX_SHOWN };
    for change in it.symbols.iter().take(shown) {
        symbol_change(change, style, output)?;
    }
    more(it.symbols.len().min(shown), it.total, "symbols", output)?;
    notes(&it.notes, style, output)
}

pub(crate) fn pr_impact(it: &PrImpactReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    heading(&it.old, &it.new, it.change, style, output)?;
    let risk = match it.risk {
        Risk::Low => style.cyan(it.risk.name()),
        Risk::Medium => style.yellow(it.risk.name()),
        Risk::High => style.red(it.risk.name()),
    };
    let unresolved = match it.n_unresolved {
        0 => String::new(),
        count => format!(" (plus {count} unresolved {})", plural(count, "call")),
    };
    writeln!(output, "risk: {risk}, {} {} reached{unresolved}", it.reached, plural(it.reached, "symbol"))?;
    writeln!(output, "{}", it.summary)?;
    let shown = if style.verbose { usize::MAX } else { MAX_SHOWN };
    for change in it.symbols.iter().take(shown) {
        symbol_change(&change.symbol, style, output)?;
        if !change.tested_by.is_empty() {
            let tests: Vec<_> = change.tested_by.iter().map(|it| after_repo(it)).collect();
            writeln!(output, "        {} {}", style.dim("tested by"), style.plain(&tests.join(", ")))?;
        }
    }
    more(it.symbols.len().min(shown), it.total, "symbols", output)?;
    for (name, list, total) in [
        ("contracts", &it.contracts, it.contracts.len()),
        ("tests", &it.tests, it.n_tests),
        ("owners", &it.owners, it.owners.len()),
    ] {
        if list.is_empty() {
            continue;
        }
        writeln!(output, "{name}: {total}")?;
        let shown = if style.verbose { usize::MAX } else { 10 };
        for line in list.iter().take(shown) {
            writeln!(output, "  {}", style.plain(&after_repo(line)))?;
        }
        more(list.len().min(shown), total, name, output)?;
    }
    notes(&it.notes, style, output)
}

fn symbol_change(it: &SymbolChange, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let sign = match it.change {
        "added" => "+",
        "removed" => "-",
        "moved" => ">",
        _ => "~",
    };
    let mut note = it.changed.join(", ");
    if let Some(from) = &it.from {
        note = format!("from {}", after_repo(from));
    }
    if it.callers > 0 && it.change != "added" {
        let callers = format!("{} {}", it.callers, plural(it.callers, "caller"));
        note = if note.is_empty() { callers } else { format!("{note}; {callers}") };
    }
    let note = if note.is_empty() { note } else { style.dim(&format!("({note})")) };
    writeln!(output, "{}", format!("  {sign} {} {note}", symbol_line(&it.symbol, style)).trim_end())?;
    if let Some(before) = &it.signature_before {
        writeln!(output, "        - {}", style.plain(before))?;
        writeln!(output, "        + {}", style.plain(&it.symbol.signature))?;
    }
    for (sign, calls) in [("+", &it.calls_added), ("-", &it.calls_removed)] {
        for target in calls {
            writeln!(output, "        {sign} {} {}", style.cyan("calls"), style.plain(&after_repo(target)))?;
        }
    }
    if it.change == "removed" {
        for caller in &it.called_by {
            writeln!(
                output,
                "        {} {}",
                style.yellow("was called by"),
                style.plain(&after_repo(caller))
            )?;
        }
    }
    Ok(())
}

fn heading(old: &Side, new: &Side, change: &str, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let short = |it: &Side| it.commit[..it.commit.len().min(12)].to_owned();
    writeln!(output, "{} .. {}: {}", short(old), short(new), style.bold(change))?;
    if style.verbose {
        writeln!(output, "  {} .. {}", old.snapshot, new.snapshot)?;
    }
    Ok(())
}

fn edge_line(it: &DiffEdge, style: Style) -> String {
    let before = match &it.before {
        Some(before) => format!("(was {} {:.2})", before.provenance, before.confidence),
        None => String::new(),
    };
    let line = format!(
        "{} {} {} {}",
        style.plain(&after_repo(&it.source)),
        style.cyan(it.kind),
        style.plain(&after_repo(&it.target)),
        style.dim(&before)
    );
    line.trim_end().to_owned()
}

fn notes(notes: &[String], style: Style, output: &mut dyn Write) -> io::Result<()> {
    for note in notes.iter().filter(|_| !style.quiet) {
        writeln!(output, "{} {}", style.yellow("note:"), style.plain(note))?;
    }
    Ok(())
}

/// As `more`, but where counts alone were asked for nothing is missed.
fn rest(shown: usize, total: usize, what: &str, output: &mut dyn Write) -> io::Result<()> {
    if shown > 0 { more(shown, total, what, output) } else { Ok(()) }
}

fn grouped_usize(count: usize) -> String {
    grouped(count as u64)
}
