//! What one commit more costs: an index of an older commit, then one commit after the other on top of it.
//!
//! CPU time of this process is what counts; ratios to the first, full index are what to compare.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use cpu_time::ProcessTime;
use knowing_graph::NodeIndex;
use knowing_index::{Carried, Options, Report, Request, Silent, Source};
use knowing_store::Store;
use knowing_vcs::{Checkout, CommitId};

pub(crate) struct Asked<'a> {
    pub(crate) path: &'a Path,
    pub(crate) commit: &'a str,
    pub(crate) n_commits: usize,
    pub(crate) workers: usize,
    /// Index each commit from scratch too, and compare.
    pub(crate) check: bool,
    /// Carry nothing from run to run.
    pub(crate) alone: bool,
}

pub(crate) fn report(asked: &Asked<'_>) -> Result<()> {
    let checkout = Checkout::open(asked.path)?;
    let mut commits = vec![checkout.resolve(asked.commit)?];
    for back in 1..=asked.n_commits {
        // First parents: what a branch looked like, commit by commit.
        commits.push(checkout.resolve(&format!("{}~{back}", asked.commit))?);
    }
    commits.reverse();
    let home = tempfile::tempdir()?;
    let mut store = Store::open(&home.path().join("knowing.db"))?;
    // What is compared has to be written.
    let nothing = || if asked.check || asked.alone { Carried::default() } else { Carried::of_replay() };
    let mut carried = nothing();
    let (first, full) = index(&mut store, &checkout, commits[0], asked.workers, &mut carried)?;
    println!("full index of {} files: {:.2} CPU s, {:.2} s", first.files, full.cpu_s, full.clock_s);
    println!();
    println!(
        "{:<12}{:>8}{:>10}{:>10}{:>8}{:>8}  CPU ms by phase",
        "commit", "changed", "resolved", "CPU ms", "%", "ms"
    );
    let mut all: Vec<(Cost, u64)> = Vec::new();
    for commit in &commits[1..] {
        if asked.alone {
            carried = nothing();
        }
        let (report, cost) = index(&mut store, &checkout, *commit, asked.workers, &mut carried)?;
        let changes = report.changes;
        let n_changed = changes.added + changes.changed + changes.removed;
        let n_resolved = report.n_resolved;
        let phases: Vec<String> =
            report.phases.iter().map(|it| format!("{} {:.0}", it.phase.name(), it.cpu_ms)).collect();
        println!(
            "{:<12}{n_changed:>8}{n_resolved:>10}{:>10.0}{:>8.1}{:>8.0}  {}",
            &commit.to_string()[..10],
            cost.cpu_s * 1e3,
            cost.cpu_s / full.cpu_s * 100.0,
            cost.clock_s * 1e3,
            phases.join(", ")
        );
        if asked.check {
            check(asked, &checkout, *commit, (&store, &report))?;
        }
        all.push((cost, n_resolved));
    }
    let (begin, clock) = (ProcessTime::now(), Instant::now());
    carried.finish(&store)?;
    if let Some((last, _)) = all.last_mut() {
        let (cpu_s, clock_s) = (begin.elapsed().as_secs_f64(), clock.elapsed().as_secs_f64());
        println!("made in the end, and counted with the last commit: {:.0} CPU ms", cpu_s * 1e3);
        (last.cpu_s, last.clock_s) = (last.cpu_s + cpu_s, last.clock_s + clock_s);
    }
    summary(full, first.files, &all);
    Ok(())
}

/// What a run took: of all cores together, and on the clock.
#[derive(Clone, Copy)]
struct Cost {
    cpu_s: f64,
    clock_s: f64,
}

fn summary(full: Cost, n_files: u64, all: &[(Cost, u64)]) {
    if all.is_empty() {
        return;
    }
    println!();
    let n = all.len() as f64;
    for (what, of) in [("CPU", (|it| it.cpu_s) as fn(&Cost) -> f64), ("clock", |it| it.clock_s)] {
        let mut seconds: Vec<f64> = all.iter().map(|it| of(&it.0)).collect();
        seconds.sort_by(f64::total_cmp);
        let (middle, mean, full) = (seconds[seconds.len() / 2], seconds.iter().sum::<f64>() / n, of(&full));
        println!(
            "{what}: median {:.0} ms ({:.1} % of full), mean {:.0} ms ({:.1} %)",
            middle * 1e3,
            middle / full * 100.0,
            mean * 1e3,
            mean / full * 100.0
        );
    }
    let resolved = all.iter().map(|it| it.1).sum::<u64>() as f64 / n;
    println!("files resolved: mean {resolved:.0} of {n_files}");
}

fn index(
    store: &mut Store,
    checkout: &Checkout,
    commit: CommitId,
    workers: usize,
    carried: &mut Carried,
) -> Result<(Report, Cost)> {
    let identity = checkout.identity(None)?;
    let options = Options { workers, ..Options::default() };
    let request = Request {
        source: Source::Commit { checkout, commit },
        url: &identity.url,
        object_format: identity.object_format,
        place: Some("bench"),
        branch: None,
        options: &options,
        now: 0,
    };
    let (begin, clock) = (ProcessTime::now(), Instant::now());
    let report = knowing_index::index_next(store, &request, &Silent, carried)?;
    let cost = Cost { cpu_s: begin.elapsed().as_secs_f64(), clock_s: clock.elapsed().as_secs_f64() };
    Ok((report, cost))
}

fn check(
    asked: &Asked<'_>,
    checkout: &Checkout,
    commit: CommitId,
    (store, updated): (&Store, &Report),
) -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut scratch = Store::open(&home.path().join("knowing.db"))?;
    let nothing = &mut Carried::default();
    let (full, _) = index(&mut scratch, checkout, commit, asked.workers, nothing).context("from scratch")?;
    let (found, expected) = (said(store, updated)?, said(&scratch, &full)?);
    let only_in = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).take(20).cloned().collect()
    };
    let (surplus, missing) = (only_in(&found, &expected), only_in(&expected, &found));
    ensure!(
        surplus.is_empty() && missing.is_empty(),
        "{commit}: an update differs from an index from scratch\nsurplus {surplus:#?}\nmissing {missing:#?}"
    );
    let counts = |it: &Report| {
        let by = (it.edges_by_provenance.clone(), it.unresolved_by_reason.clone(), it.skipped.clone());
        (it.root, it.snapshot, it.files, it.nodes, it.edges, it.unresolved, by)
    };
    ensure!(counts(&full) == counts(updated), "{commit}: {:?} is not {:?}", counts(updated), counts(&full));
    Ok(())
}

/// What a snapshot says, without any row number.
fn said(store: &Store, report: &Report) -> Result<BTreeSet<String>> {
    let snapshot = store.snapshot(report.snapshot)?.context("the snapshot was just made")?;
    let (graph, names) =
        (knowing_index::open_graph(store, &snapshot)?, knowing_index::open_names(store, &snapshot)?);
    let mut lines: BTreeSet<String> = BTreeSet::new();
    for (package, root) in store.package_roots(&snapshot)? {
        lines.insert(format!("root {package} {root:?}"));
    }
    let name = |at: NodeIndex| {
        let (container, symbol) = (names.container(at.0), names.symbol(at.0));
        format!("{container} {symbol} {}", graph.node(at).kind().name())
    };
    for at in graph.indices() {
        let node = graph.node(at);
        let (path, place) = (names.path_of(at.0), names.lines(at.0));
        lines.insert(format!("node {} {} {:?} {path:?} {place:?}", node.id(), name(at), node.flags()));
        for edge in graph.outgoing(at) {
            let about = (edge.provenance().name(), edge.confidence_bp);
            lines.insert(format!("{} {} -> {} {about:?}", edge.kind().name(), name(at), name(edge.other())));
        }
    }
    store.reader(&snapshot)?.each_unresolved(|it| {
        let source = graph.of_sym(it.source).map(name);
        lines.insert(format!("unresolved {source:?} {} {:?} {:?}", it.name, it.position, it.reason));
    })?;
    Ok(lines)
}
