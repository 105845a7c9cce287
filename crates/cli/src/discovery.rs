//! Text of the answers that find ways, tests, packages and plans.

use std::collections::BTreeMap;
use std::io::{self, Write};

use knowing_model::name::abridged;
use knowing_ops::{
    CrossRepoCallersReply, FeedbackReply, FlowBetweenReply, PlanTurnReply, RepoGraphReply, StaleEdgesReply,
    StatusReply, TestScopeReply, TraceDataflowReply,
};

use crate::render::{
    KIND_WIDTH, MAX_SHOWN, after_repo, counts, grouped, impact, more, plural, staleness, symbol_line,
};
use crate::style::Style;

pub(crate) fn flow(it: &FlowBetweenReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let (source, target) =
        (style.plain(&abridged(it.source.short_name())), style.plain(&abridged(it.target.short_name())));
    if !it.reachable {
        writeln!(output, "no path from {source} to {target} within the depth")?;
        let sites = plural(it.unresolved, "call");
        if it.unresolved > 0 {
            writeln!(output, "{} unresolved {sites} named {:?} may be one", it.unresolved, it.target.name)?;
        }
    }
    for (at, path) in it.paths.iter().enumerate() {
        writeln!(output, "{}", style.dim(&format!("path {}, {:.2}", at + 1, path.confidence)))?;
        for step in &path.steps {
            let kind = step.kind.unwrap_or("");
            let arrow = if kind.is_empty() { String::new() } else { format!("-> {kind} ") };
            let name = style.bold(&after_repo(&step.symbol));
            let place = style.dim(step.location.as_deref().unwrap_or_default());
            writeln!(output, "  {}", format!("{}{name} {place}", style.cyan(&arrow)).trim_end())?;
        }
    }
    more(it.paths.len(), it.total, "paths", output)?;
    if it.page.truncated && it.paths.len() == it.total {
        let what = if it.reachable { "there may be longer paths" } else { "the search ended early" };
        writeln!(output, "{}", style.dim(&format!("{what}; {} nodes looked at", it.searched)))?;
    }
    staleness(&it.tree, style, output)
}

pub(crate) fn test_scope(it: &TestScopeReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let (files, symbols) = (it.changed_files, it.changed_symbols);
    let files = format!("{files} changed {}", plural(files, "file"));
    let symbols = format!("{symbols} changed {}", plural(symbols, "symbol"));
    let tests = format!("{} of {} {}", it.total, it.all_tests, plural(it.all_tests, "test"));
    writeln!(output, "{}", style.dim(&format!("{files}, {symbols}, {tests}")))?;
    for package in &it.packages {
        let note = style.dim(&format!(
            "({}, {} {})",
            package.language,
            package.tests,
            plural(package.tests, "test")
        ));
        writeln!(output, "{} {note}", style.bold(&package.package))?;
        for file in package.files.iter().filter(|_| style.verbose) {
            writeln!(output, "  {}", style.plain(file))?;
        }
    }
    let shown = if style.verbose { it.functions.len() } else { it.functions.len().min(4 * MAX_SHOWN) };
    for test in &it.functions[..shown] {
        let note = style.dim(&format!("({}: {})", test.evidence.join(", "), after_repo(&test.reaches)));
        writeln!(output, "{} {note}", symbol_line(&test.symbol, style))?;
    }
    more(shown, it.functions.len(), "tests", output)?;
    for run in &it.run {
        writeln!(output, "{}", style.plain(&run.command))?;
    }
    if !it.uncovered.is_empty() {
        writeln!(output, "{}", style.yellow("no test reaches:"))?;
    }
    for file in &it.uncovered {
        writeln!(output, "  {}", style.plain(file))?;
    }
    next_page(&it.page, style, output)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn dataflow(it: &TraceDataflowReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let unresolved = match it.unresolved {
        0 => String::new(),
        count => format!(" (plus {count} unresolved {})", plural(count, "call")),
    };
    writeln!(output, "reached: {}{unresolved}", it.total)?;
    for (name, list, total) in
        [("", &it.reached, it.total), ("leaves the code at:", &it.sinks, it.total_sinks)]
    {
        if !name.is_empty() && !list.is_empty() {
            writeln!(output, "{name}")?;
        }
        let shown = if style.verbose { list.len() } else { list.len().min(MAX_SHOWN) };
        list.iter().take(shown).try_for_each(|it| impact(it, style, output))?;
        more(shown, total, "symbols", output)?;
    }
    staleness(&it.tree, style, output)
}

pub(crate) fn repo_graph(it: &RepoGraphReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let shown = if style.verbose { it.items.len() } else { it.items.len().min(MAX_SHOWN) };
    let width = it.items[..shown].iter().map(|it| it.name.chars().count()).max().unwrap_or(0).min(60);
    for item in &it.items[..shown] {
        let files = match item.files {
            0 => String::new(),
            files => format!("{files} {}, ", plural(files, "file")),
        };
        let note = format!(
            "{files}{} {}, {} in, {} out, {} external",
            item.symbols,
            plural(item.symbols, "symbol"),
            item.inbound,
            item.outbound,
            item.external
        );
        let gap = " ".repeat(width.saturating_sub(item.name.chars().count()));
        writeln!(output, "{}{gap} {}", style.bold(&item.name), style.dim(&note))?;
    }
    more(shown, it.total, "items", output)?;
    let shown = if style.verbose { it.links.len() } else { it.links.len().min(MAX_SHOWN) };
    if shown > 0 {
        writeln!(output, "links:")?;
    }
    for link in &it.links[..shown] {
        let (source, target) = (style.plain(&link.source), style.plain(&link.target));
        writeln!(output, "  {:>6} {source} {} {target}", link.count, style.cyan(link.kind))?;
    }
    more(shown, it.total_links, "links", output)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn cross_repo(it: &CrossRepoCallersReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let names = if it.known_as.is_empty() {
        "nothing: its package has no name".to_owned()
    } else {
        it.known_as.join(", ")
    };
    writeln!(output, "known outside as {}", style.plain(&names))?;
    let unsure = match it.unresolved {
        0 => String::new(),
        count => format!(" (plus {count} {} of a name that several symbols have)", plural(count, "use")),
    };
    let repos = match it.searched {
        1 => "1 other repository".to_owned(),
        count => format!("{count} other repositories"),
    };
    writeln!(output, "callers: {} in {repos}{unsure}", it.total)?;
    let shown = if style.verbose { it.callers.len() } else { it.callers.len().min(MAX_SHOWN) };
    for caller in &it.callers[..shown] {
        let place = style.dim(caller.location.as_deref().unwrap_or_default());
        let name = style.bold(&caller.symbol);
        let line = format!(
            "  {:>2} {:.2} {:<KIND_WIDTH$} {name} {place}",
            caller.depth, caller.confidence, caller.kind
        );
        writeln!(output, "{}", line.trim_end())?;
    }
    more(shown, it.total, "callers", output)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn plan(it: &PlanTurnReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    for (at, suggestion) in it.suggestions.iter().enumerate() {
        let arguments = serde_json::to_string(&suggestion.arguments).map_err(io::Error::from)?;
        writeln!(output, "{}. {} {}", at + 1, style.bold(suggestion.tool), style.plain(&arguments))?;
        writeln!(output, "   {}", style.dim(&suggestion.reason))?;
    }
    staleness(&it.tree, style, output)
}

pub(crate) fn feedback(it: &FeedbackReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    writeln!(output, "{}", symbol_line(&it.symbol, style))?;
    let expired = if it.expired > 0 { format!(", {} expired", it.expired) } else { String::new() };
    writeln!(output, "{}: {} useful, {} not{expired}", it.status, it.useful, it.not_useful)?;
    staleness(&it.tree, style, output)
}

pub(crate) fn stale(it: &StaleEdgesReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    if !it.is_stale {
        return writeln!(output, "nothing differs from {}", it.tree.tree);
    }
    let counted = [
        format!(
            "{} {} from what is indexed",
            it.total_files,
            if it.total_files == 1 { "file differs" } else { "files differ" },
        ),
        format!("{} {}", it.symbols, plural(it.symbols, "symbol")),
        format!("{} {} seen there", it.total, plural(it.total, "edge")),
    ];
    writeln!(output, "{}; {}", it.tree.fresh, counted.join(", "))?;
    let shown = if style.verbose { it.files.len() } else { it.files.len().min(MAX_SHOWN) };
    for file in &it.files[..shown] {
        writeln!(output, "  {:<8} {}", style.cyan(&format!("{:<8}", file.change)), style.plain(&file.file))?;
    }
    more(shown, it.total_files, "files", output)?;
    for edge in it.edges.iter().filter(|_| style.verbose) {
        let (source, target) =
            (style.plain(&after_repo(&edge.source)), style.plain(&after_repo(&edge.target)));
        writeln!(output, "  {source} {} {target}", style.cyan(edge.kind))?;
    }
    if !style.quiet {
        let is_dirty = it.tree.fresh.starts_with("dirty");
        let hint = if is_dirty {
            "`--working-tree` answers from the files as they lie there"
        } else {
            "run `knowing index`"
        };
        writeln!(output, "{} {hint}", style.cyan("hint:"))?;
    }
    Ok(())
}

pub(crate) fn status(it: &StatusReply, style: Style, output: &mut dyn Write) -> io::Result<()> {
    let mut row = |name: &str, value: String| match value.is_empty() {
        true => Ok(()),
        false => writeln!(output, "{name:<11} {value}"),
    };
    let short = |commit: &str| commit.chars().take(12).collect::<String>();
    row("repository", style.bold(&it.tree.repo))?;
    row("path", style.plain(it.path.as_deref().unwrap_or_default()))?;
    let branch = it.branch.as_deref().map(|it| format!("{} at ", style.plain(it))).unwrap_or_default();
    row("head", it.head.as_deref().map(|it| format!("{branch}{}", short(it))).unwrap_or_default())?;
    let fresh = if it.tree.is_fresh() { "up to date".to_owned() } else { style.yellow(&it.tree.fresh) };
    row("indexed", format!("{} at {}, {fresh}", short(&it.commit), it.indexed_at))?;
    if !it.tree.dirty.is_empty() {
        row("changed", style.plain(&it.tree.dirty_names()))?;
    }
    row("files", format!("{} ({})", grouped(it.files), counts(&it.languages)))?;
    if !it.skipped.is_empty() {
        row("skipped", counts(&it.skipped))?;
    }
    let sizes = BTreeMap::from([("nodes", it.nodes), ("edges", it.edges), ("unresolved", it.unresolved)]);
    let size = |name: &str| grouped(sizes[name]);
    row(
        "graph",
        format!("{} nodes, {} edges, {} unresolved calls", size("nodes"), size("edges"), size("unresolved")),
    )?;
    let megabytes = it.database_bytes as f64 / f64::from(1 << 20);
    let snapshots = format!("{} {}", it.snapshots, plural(it.snapshots, "snapshot"));
    row("database", format!("{} ({megabytes:.1} MiB, {snapshots})", style.plain(&it.database)))?;
    if it.worktrees.len() > 1 {
        row("worktrees", style.plain(&it.worktrees.join(", ")))?;
    }
    Ok(())
}

pub(crate) fn next_page(page: &knowing_ops::Page, style: Style, output: &mut dyn Write) -> io::Result<()> {
    match &page.next_cursor {
        Some(cursor) if !style.quiet => writeln!(output, "{} --cursor {cursor}", style.dim("next page:")),
        _ => Ok(()),
    }
}
