//! Answers and errors as text for people: short, aligned, one idea a line.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};

use knowing_model::name::abridged;
use knowing_ops::{
    BlastRadiusReply, CalleesReply, CallersReply, Error, Impact, IndexReply, Neighbour, QueryReply, Reply,
    Risk, StatsReply, SymbolInfo, Tree, UnresolvedSites,
};

use crate::context;
use crate::discovery;
use crate::snapshots;
use crate::style::Style;
use crate::supply_chain;
use crate::system;
use crate::upkeep;

pub(crate) fn reply(reply: &Reply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    match reply {
        Reply::Context(it) => it.pack.as_ref().map_or(Ok(()), |it| context::pack(it, style, output)),
        Reply::ContextForTask(it)
        | Reply::ContextForFiles(it)
        | Reply::ContextForPr(it)
        | Reply::Pack(it) => context::pack(it, style, output),
        Reply::Decode(it) => it.text.lines().try_for_each(|it| writeln!(output, "{}", style.plain(it))),
        Reply::Why(it) => context::why(it, style, output),
        Reply::Params(it) => context::params(it, output),
        Reply::Index(it) => index(it, style, output),
        Reply::Stats(it) => stats(it, style, output),
        Reply::Query(it) => query(it, style, output),
        Reply::Callers(it) => callers(it, style, output),
        Reply::Callees(it) => callees(it, style, output),
        Reply::Routes(it) => system::routes(it, style, output),
        Reply::Owners(it) => system::owners(it, style, output),
        Reply::BlastRadius(it) => blast_radius(it, style, output),
        Reply::Flow(it) => discovery::flow(it, style, output),
        Reply::TestScope(it) => discovery::test_scope(it, style, output),
        Reply::Dataflow(it) => discovery::dataflow(it, style, output),
        Reply::RepoGraph(it) => discovery::repo_graph(it, style, output),
        Reply::CrossRepoCallers(it) => discovery::cross_repo(it, style, output),
        Reply::Plan(it) => discovery::plan(it, style, output),
        Reply::Feedback(it) => discovery::feedback(it, style, output),
        Reply::Stale(it) => discovery::stale(it, style, output),
        Reply::Status(it) => discovery::status(it, style, output),
        Reply::Snapshots(it) => snapshots::list(it, style, output),
        Reply::Events(it) => snapshots::events(it, style, output),
        Reply::Diff(it) => snapshots::diff(it, style, output),
        Reply::SemanticDiff(it) => snapshots::semantic_diff(it, style, output),
        Reply::PrImpact(it) => snapshots::pr_impact(it, style, output),
        Reply::Prove(it) | Reply::ProveAbsent(it) => snapshots::proof(it, style, output),
        Reply::AuditSupplyChain(it) => supply_chain::audit(it, style, output),
        Reply::Verify(it) => snapshots::verdict(it, style, output),
        Reply::Fsck(it) => upkeep::fsck(it, style, output),
        Reply::Gc(it) | Reply::Reset(it) | Reply::UntrackRepo(it) => upkeep::swept(it, style, output),
        Reply::Vacuum(it) => upkeep::vacuum(it, output),
        // Written while it ran.
        Reply::Export(_) => Ok(()),
    }
}

pub(crate) fn error(error: &Error, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{} {}", style.red("error:"), style.plain(&error.message))?;
    for it in &error.candidates {
        let kind = it.kind.as_deref().unwrap_or_default();
        let location = it.location.as_deref().unwrap_or_default();
        let name = style.plain(&after_repo(&it.name));
        let line = match kind {
            "" => format!("  {name}"),
            _ => format!("  {:<KIND_WIDTH$} {name} {}", style.plain(kind), style.dim(location)),
        };
        writeln!(output, "{}", line.trim_end())?;
    }
    if let Some(total) = error.total
        && total > error.candidates.len()
    {
        writeln!(output, "  ... and {} more", total - error.candidates.len())?;
    }
    writeln!(output, "{} {}", style.cyan("hint:"), style.plain(&error.hint))
}

fn index(it: &IndexReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let verb = if it.new_snapshot { "indexed" } else { "already indexed" };
    writeln!(output, "{verb} {} at {}", style.bold(&it.tree.repo), it.tree.tree)?;
    let sizes =
        [(it.files, "file"), (it.nodes, "node"), (it.edges, "edge"), (it.unresolved, "unresolved call")];
    let sizes = sizes.map(|(count, what)| format!("{} {}", grouped(count), plural(count as usize, what)));
    writeln!(output, "  {}", sizes.join(", "))?;
    let n_changes = it.files_added + it.files_changed + it.files_removed;
    // The first time every file is new, which says nothing.
    if n_changes > 0 && it.files_added < it.files {
        let changes = [it.files_added, it.files_changed, it.files_removed].map(grouped);
        writeln!(
            output,
            "  since before: {} added, {} changed, {} removed",
            changes[0], changes[1], changes[2]
        )?;
    }
    if !it.skipped.is_empty() {
        writeln!(output, "  skipped: {}", counts(&it.skipped))?;
    }
    if it.partial_files > 0 {
        let first = it.partial.first().map(|it| style.plain(&it.file)).unwrap_or_default();
        let more = if it.partial_files > 1 { " ..." } else { "" };
        writeln!(output, "  read in part: {} ({first}{more})", it.partial_files)?;
    }
    writeln!(output, "  root {}", it.root)?;
    if style.verbose {
        writeln!(output, "  snapshot {}", it.tree.snapshot)?;
        writeln!(output, "  database {}", it.database)?;
        writeln!(output, "  edges: {}", counts(&it.edges_by_provenance))?;
        writeln!(output, "  unresolved: {}", counts(&it.unresolved_by_reason))?;
        for phase in &it.phases {
            writeln!(output, "  {:<8} {:>8.1} ms {:>8.1} cpu ms", phase.name, phase.ms, phase.cpu_ms)?;
        }
    } else {
        let total: f64 = it.phases.iter().map(|it| it.ms).sum();
        writeln!(output, "  {:.2} s", total / 1e3)?;
    }
    for note in it.notes.iter().filter(|_| !style.quiet) {
        writeln!(output, "{} {}", style.yellow("note:"), style.plain(note))?;
    }
    staleness(&it.tree, style, output)
}

fn stats(it: &StatsReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{} at {}", style.bold(&it.tree.repo), it.tree.tree)?;
    let rows = [
        ("files", it.files, counts(&it.files_by_language)),
        ("nodes", it.nodes, counts(&it.nodes_by_kind)),
        ("edges", it.edges, counts(&it.edges_by_kind)),
        ("", it.edges, counts(&it.edges_by_provenance)),
        ("unresolved", it.unresolved, counts(&it.unresolved_by_reason)),
    ];
    for (name, total, parts) in rows {
        let total = if name.is_empty() { String::new() } else { grouped(total) };
        row(name, &total, &parts, output)?;
    }
    if !it.skipped.is_empty() {
        row("skipped", "", &counts(&it.skipped), output)?;
    }
    writeln!(output, "root       {}", it.root)?;
    if style.verbose {
        writeln!(output, "snapshot   {}", it.tree.snapshot)?;
        writeln!(output, "database   {}", it.database)?;
    }
    staleness(&it.tree, style, output)
}

/// A name, a number and what it is made of, over as many lines as that takes.
fn row(name: &str, total: &str, parts: &str, output: &mut dyn Write) -> io::Result<()> {
    const WIDTH: usize = 80;
    let mut line = format!("{name:<10} {total:>9} ");
    let indentation = line.len();
    for part in parts.split_inclusive(", ") {
        if line.len() > indentation && line.len() + part.trim_end().len() > indentation + WIDTH {
            writeln!(output, "{}", line.trim_end())?;
            line = " ".repeat(indentation);
        }
        let gap = if line.len() == indentation { " " } else { "" };
        line = format!("{line}{gap}{part}");
    }
    writeln!(output, "{}", line.trim_end())
}

fn query(it: &QueryReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    for found in &it.symbols {
        writeln!(output, "{}", symbol_line(&found.symbol, style))?;
        match &found.source {
            Some(source) => source.lines().try_for_each(|it| writeln!(output, "    {}", style.plain(it)))?,
            None if found.symbol.signature.is_empty() => {}
            None => writeln!(output, "    {}", style.dim(&found.symbol.signature))?,
        }
    }
    more(it.symbols.len(), it.total, "symbols", output)?;
    for edge in &it.edges {
        let place = match (&edge.file, edge.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => String::new(),
        };
        let line = format!(
            "{} {} {} {}",
            style.plain(&after_repo(&edge.source)),
            style.cyan(edge.kind),
            style.plain(&after_repo(&edge.target)),
            style.dim(&place)
        );
        writeln!(output, "{}", line.trim_end())?;
    }
    more(it.edges.len(), it.total_edges, "edges", output)?;
    staleness(&it.tree, style, output)
}

fn callers(it: &CallersReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let unresolved = plus_unresolved(&it.unresolved);
    writeln!(output, "callers: {}{unresolved}", it.total)?;
    if it.n_users > 0 {
        let (symbols, name) = (plural(it.n_users, "symbol"), abridged(it.symbol.short_name()));
        let hint = style.dim(&format!("(knowing query {name} --edges in)"));
        writeln!(output, "used without a call by {} {symbols} {hint}", it.n_users)?;
    }
    let shown = neighbours(&it.callers, style, output)?;
    more(shown, it.total, "callers", output)?;
    sites(&it.unresolved, style, output)?;
    staleness(&it.tree, style, output)
}

fn callees(it: &CalleesReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let unresolved = match it.unresolved.count {
        0 => String::new(),
        count => format!(" (plus {count} unresolved {})", plural(count, "call")),
    };
    writeln!(output, "callees: {}{unresolved}", it.total)?;
    let shown = neighbours(&it.callees, style, output)?;
    more(shown, it.total, "callees", output)?;
    sites(&it.unresolved, style, output)?;
    staleness(&it.tree, style, output)
}

fn blast_radius(it: &BlastRadiusReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let risk = match it.risk {
        Risk::Low => style.cyan(it.risk.name()),
        Risk::Medium => style.yellow(it.risk.name()),
        Risk::High => style.red(it.risk.name()),
    };
    let unresolved = plus_unresolved(&it.unresolved);
    writeln!(output, "risk: {risk}")?;
    let tests = it.n_tests;
    writeln!(output, "reached: {}{unresolved}, {tests} {}", it.total, plural(tests, "test"))?;
    let lists = [("", &it.reached, it.total, "symbols"), ("tests:", &it.tests, it.n_tests, "tests")];
    for (name, impacts, total, what) in lists {
        if !name.is_empty() && !impacts.is_empty() {
            writeln!(output, "{name}")?;
        }
        let shown = if style.verbose { impacts.len() } else { impacts.len().min(MAX_SHOWN) };
        impacts.iter().take(shown).try_for_each(|it| impact(it, style, output))?;
        more(shown, total, what, output)?;
    }
    sites(&it.unresolved, style, output)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn impact(it: &Impact, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "  {:>2} {:.2} {}", it.depth, it.confidence, symbol_line(&it.symbol, style))?;
    if style.verbose && it.path.len() > 1 {
        let steps: Vec<String> =
            it.path.iter().map(|it| format!("{} {}", it.kind, after_repo(&it.symbol))).collect();
        writeln!(output, "          {}", style.dim(&steps.join(" < ")))?;
    }
    Ok(())
}

/// How many were written.
fn neighbours(list: &[Neighbour], style: Style, output: &mut dyn Write) -> io::Result<usize> {
    let shown = if style.verbose { list.len() } else { list.len().min(MAX_SHOWN) };
    for it in &list[..shown] {
        let depth = if it.depth > 1 { format!("{} away, ", it.depth) } else { String::new() };
        let lines: Vec<String> = it.sites.iter().map(u32::to_string).collect();
        let more = if it.n_sites as usize > lines.len() { ", ..." } else { "" };
        let at = match lines.len() {
            0 => String::new(),
            1 => format!(", line {}", lines[0]),
            _ => format!(", lines {}{more}", lines.join(", ")),
        };
        let note = style.dim(&format!("({depth}{:.2}{at})", it.confidence));
        writeln!(output, "  {} {note}", symbol_line(&it.symbol, style))?;
    }
    Ok(shown)
}

fn sites(it: &UnresolvedSites, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let shown = if style.verbose { it.sites.len() } else { 3 };
    if it.count > 0 {
        writeln!(output, "unresolved:")?;
    }
    for site in it.sites.iter().take(shown) {
        let dot = if site.receiver.is_empty() { "" } else { "." };
        let call = format!("{}{dot}{}()", site.receiver, site.name);
        let reason = style.dim(&format!("({})", site.reason));
        writeln!(output, "  {}:{} {} {reason}", style.plain(&site.file), site.line, style.plain(&call))?;
    }
    more(shown.min(it.sites.len()), it.count, "sites", output)
}

/// As wide as the longest kind that is common: `constructor`, `enum_member`.
pub(crate) const KIND_WIDTH: usize = 11;

/// Lines of a list that a person reads without being asked for more.
pub(crate) const MAX_SHOWN: usize = 50;

/// `callers: 0 (plus 7 unresolved sites named "close")`.
fn plus_unresolved(it: &UnresolvedSites) -> String {
    match it.count {
        0 => String::new(),
        count => format!(" (plus {count} unresolved {} named {:?})", plural(count, "site"), it.name),
    }
}

pub(crate) fn symbol_line(it: &SymbolInfo, style: Style) -> String {
    let location = it.location().unwrap_or_default();
    let kind = format!("{:<KIND_WIDTH$}", it.kind);
    let line =
        format!("{} {} {}", style.cyan(&kind), style.bold(&abridged(it.short_name())), style.dim(&location));
    line.trim_end().to_owned()
}

pub(crate) fn staleness(tree: &Tree, style: Style, output: &mut dyn Write) -> io::Result<()> {
    if style.quiet || tree.is_fresh() {
        return Ok(());
    }
    let note = style.yellow("note:");
    let commit = tree.tree.split('+').next().unwrap_or_default();
    match tree.fresh.as_str() {
        dirty if dirty.starts_with("dirty") => {}
        "unindexed" => writeln!(
            output,
            "{note} answered for {commit}, which HEAD does not come from; run `knowing index`"
        )?,
        behind => writeln!(output, "{note} answered for {commit}, {behind}; run `knowing index`")?,
    }
    if let Some(why) = &tree.stale {
        writeln!(output, "{note} {}", style.plain(why))?;
    }
    if tree.fresh.starts_with("dirty") && !tree.dirty.is_empty() {
        let names = style.plain(&tree.dirty_names());
        writeln!(output, "{note} changed since {commit}: {names}; `--working-tree` takes them in")?;
    }
    Ok(())
}

pub(crate) fn more(shown: usize, total: usize, what: &str, output: &mut dyn Write) -> io::Result<()> {
    if shown < total {
        writeln!(output, "  ... and {} more {what}", total - shown)?;
    }
    Ok(())
}

pub(crate) fn after_repo(qualified_name: &str) -> Cow<'_, str> {
    abridged(match qualified_name.split_once("://") {
        // A repository's name has a host; `external`, `env` and the like say what a thing is.
        Some((repo, path)) if repo.contains('/') => path,
        _ => qualified_name,
    })
}

pub(crate) fn counts(parts: &BTreeMap<String, u64>) -> String {
    let mut parts: Vec<_> = parts.iter().collect();
    parts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let parts: Vec<String> =
        parts.into_iter().map(|(name, count)| format!("{} {name}", grouped(*count))).collect();
    parts.join(", ")
}

pub(crate) fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// 12,345.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
