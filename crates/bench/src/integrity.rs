//! What trust costs: checking the database, comparing snapshots, proving and verifying, and what a commit adds to it.
//!
//! ```text
//! HEAD~apart   full index, then a check
//! HEAD~n       one run over all that lies between
//! ... HEAD     one run for each commit: growth; then diffs, proofs, and a check of all of it
//! ```

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, ensure};
use cpu_time::ProcessTime;
use knowing_graph::Graph;
use knowing_model::identity::{Identity, SnapshotIdentity, edge_id};
use knowing_model::{EdgeKind, package_of};
use knowing_ops::{Cx, Environment, Silent, StalePolicy, TreeChoice, run_tool};
use knowing_search::Names;
use knowing_snapshot::verify::{Expected, verify};
use knowing_snapshot::{EdgeLeaf, PackageTree, Prover, Relation};
use knowing_store::Store;
use serde_json::{Value, json};

pub(crate) struct Asked<'a> {
    pub(crate) path: &'a Path,
    pub(crate) commit: &'a str,
    /// Commits to index one by one.
    pub(crate) n_commits: usize,
    /// How far apart the snapshots of the long diff are.
    pub(crate) apart: usize,
}

/// Runs of what takes less than a second; the median counts.
const N_RUNS: usize = 21;

pub(crate) fn report(asked: &Asked<'_>) -> Result<()> {
    let home = tempfile::tempdir()?;
    let bench = Bench { asked, home: home.path() };
    let back = |n: usize| format!("{}~{n}", asked.commit);
    let apart = asked.apart.max(asked.n_commits);

    let (first, full) = bench.timed("index_repo", json!({"path": asked.path, "commit": back(apart)}))?;
    println!("full index of {} files: {full}", first["files"]);
    bench.check("fsck, 1 snapshot", full)?;
    let (_, far) = bench.timed("index_repo", json!({"path": asked.path, "commit": back(asked.n_commits)}))?;
    println!("index of the commit {} later: {far}, {}", apart - asked.n_commits, far.of(full));
    bench.growth(full)?;
    bench.check(&format!("fsck, {} snapshots", asked.n_commits + 2), full)?;
    for n in [1, apart] {
        let arguments = json!({"old": back(n), "new": asked.commit, "limit": 0});
        let (reply, cold) = bench.timed("snapshot_diff", arguments.clone())?;
        let (_, warm) = bench.timed("snapshot_diff", arguments)?;
        println!(
            "diff, {n} apart: {cold} then {warm}, {}; {} symbols and {} edges differ",
            warm.of(full),
            sum_of(&reply["counts"], "nodes_"),
            sum_of(&reply["counts"], "edges_")
        );
    }
    bench.proofs()
}

/// Seconds on the clock and of all cores.
#[derive(Clone, Copy)]
struct Time {
    wall: f64,
    cpu: f64,
}

impl Time {
    fn of(self, full: Time) -> String {
        format!("{:.1} % of a full index's CPU", self.cpu / full.cpu * 100.0)
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} s ({:.3} CPU s)", self.wall, self.cpu)
    }
}

fn sum_of(counts: &Value, prefix: &str) -> u64 {
    let counts = counts.as_object().into_iter().flatten();
    counts.filter(|it| it.0.starts_with(prefix)).filter_map(|it| it.1.as_u64()).sum()
}

struct Bench<'a> {
    asked: &'a Asked<'a>,
    home: &'a Path,
}

impl Bench<'_> {
    /// One operation, from opening the database to its answer.
    fn timed(&self, name: &str, arguments: Value) -> Result<(Value, Time)> {
        let environment = Environment {
            working_directory: self.home.to_owned(),
            // The registry then knows the repository's name, which may take a walk over all of history to find.
            database: None,
            data_directory: Some(self.home.to_owned()),
            now: 0,
            started: 0,
            auto_gc: false,
        };
        let mut output = std::io::sink();
        let repo = Some(self.asked.path.to_string_lossy().into_owned());
        let mut cx = Cx {
            environment,
            repo,
            // What is asked for by name is answered as it is.
            tree: TreeChoice::default(),
            stale: StalePolicy::Ignore,
            session: None,
            paging: Default::default(),
            progress: &Silent,
            output: &mut output,
        };
        let Value::Object(arguments) = arguments else { return Err(anyhow!("arguments are an object")) };
        let (begin, cpu) = (Instant::now(), ProcessTime::now());
        let reply = run_tool(name, arguments, &mut cx).map_err(|it| anyhow!("{name}: {}", it.message))?;
        Ok((reply, Time { wall: begin.elapsed().as_secs_f64(), cpu: cpu.elapsed().as_secs_f64() }))
    }

    fn check(&self, name: &str, full: Time) -> Result<()> {
        let (_, quick) = self.timed("fsck", json!({"quick": true}))?;
        let (reply, time) = self.timed("fsck", json!({}))?;
        ensure!(reply["total_errors"] == 0, "fsck found {}", reply["errors"]);
        println!("{name}: {time}, {}; pages alone {quick}; {}", time.of(full), reply["status"]);
        Ok(())
    }

    fn store(&self) -> Result<Store> {
        let mut databases = std::fs::read_dir(self.home.join("knowing/repos"))?;
        let directory = databases.next().context("an index run has made a database")??.path();
        Ok(Store::open(&directory.join("knowing.db"))?)
    }

    /// One commit after the other: bytes of the database, images apart.
    fn growth(&self, full: Time) -> Result<()> {
        let begin = self.store()?.n_bytes()?;
        let mut before = begin;
        let mut all: Vec<(u64, u64, f64)> = Vec::new();
        for back in (0..self.asked.n_commits).rev() {
            let commit = format!("{}~{back}", self.asked.commit);
            let (reply, time) =
                self.timed("index_repo", json!({"path": self.asked.path, "commit": commit}))?;
            let changed = ["files_added", "files_changed", "files_removed"];
            let n_changed = changed.iter().filter_map(|it| reply[*it].as_u64()).sum();
            let after = self.store()?.n_bytes()?;
            all.push((n_changed, after.saturating_sub(before), time.cpu));
            before = after;
        }
        if all.is_empty() {
            return Ok(());
        }
        let n = all.len() as f64;
        let (files, bytes) = (all.iter().map(|it| it.0).sum::<u64>(), before - begin);
        let cpu = all.iter().map(|it| it.2).sum::<f64>() / n;
        println!(
            "{n} commits, {:.1} files each: {:.1} KiB each, {:.1} KiB a changed file, {:.3} % of the database of {:.1} MiB; \
             {:.1} % of a full index's CPU each",
            files as f64 / n,
            bytes as f64 / n / 1024.0,
            bytes as f64 / 1024.0 / files.max(1) as f64,
            bytes as f64 / n / begin as f64 * 100.0,
            begin as f64 / 1048576.0,
            cpu / full.cpu * 100.0
        );
        // Pages are 8 KiB: only many commits together say something.
        all.sort_unstable_by_key(|it| it.0);
        for part in all.chunks(all.len().div_ceil(4)) {
            let files = part.iter().map(|it| it.0).sum::<u64>() as f64 / part.len() as f64;
            let bytes = part.iter().map(|it| it.1).sum::<u64>() as f64 / part.len() as f64;
            println!("  {} commits of {files:.1} files: {:.1} KiB each", part.len(), bytes / 1024.0);
        }
        Ok(())
    }

    fn proofs(&self) -> Result<()> {
        let store = self.store()?;
        let row = store.repos()?.first().map(|it| it.id).context("a repository was indexed")?;
        let head = store.worktrees(row)?.first().map(|it| it.head_snapshot).context("it has a checkout")?;
        let snapshot = store.snapshot_at(head)?.context("which stands on a snapshot")?;
        let graph = knowing_index::open_graph(&store, &snapshot)?;
        let names = knowing_index::open_names(&store, &snapshot)?;
        let url = store.reader(&snapshot)?.url().to_owned();
        let (package, edges) = largest_package(&graph, &names).context("there are calls")?;
        let step = (edges.len() / N_RUNS).max(1);
        let some: Vec<(u32, u32)> = edges.iter().step_by(step).take(N_RUNS).copied().collect();
        let id = |at: u32| graph.nodes()[at as usize].id();

        let (mut cold, mut cold_cpu) = (Vec::new(), Vec::new());
        for &(source, target) in &some {
            let arguments = json!({"source": id(source).to_string(), "target": id(target).to_string()});
            let time = self.timed("prove", arguments)?.1;
            cold.push(time.wall);
            cold_cpu.push(time.cpu);
        }
        let identity = |at: u32| Identity {
            repo: &url,
            class: names.class(at),
            container: names.container(at),
            symbol: names.symbol(at),
            kind: graph.nodes()[at as usize].kind(),
        };
        let tree = PackageTree::build(&package, leaves(&graph, &names, &package));
        let roots = store.package_roots(&snapshot)?;
        let known = SnapshotIdentity {
            url: &url,
            commit: &snapshot.commit,
            stage: snapshot.stage,
            ruleset: snapshot.ruleset,
            root: snapshot.root,
            dirty: snapshot.dirty,
        };
        let (mut warm, mut checked) = (Vec::new(), Vec::new());
        for &(source, target) in &some {
            let relation =
                Relation { source: identity(source), target: identity(target), kind: EdgeKind::Calls };
            let begin = Instant::now();
            let prover =
                Prover::new(known, &roots, "", "bench").context("roots are those of the snapshot")?;
            let proof = prover.prove(relation, &tree).context("the edge is in the tree")?;
            warm.push(begin.elapsed().as_secs_f64());
            let begin = Instant::now();
            let holds = verify(&proof, Expected::default());
            checked.push(begin.elapsed().as_secs_f64());
            ensure!(holds.is_ok(), "a proof that was just made is refused");
        }
        println!(
            "proof, {} edges of `{package}` (its largest package, {} edges): cold {:.1} ms ({:.1} CPU ms), warm {:.3} ms, verified in {:.3} ms",
            some.len(),
            leaves(&graph, &names, &package).count(),
            median(&mut cold) * 1e3,
            median(&mut cold_cpu) * 1e3,
            median(&mut warm) * 1e3,
            median(&mut checked) * 1e3
        );
        Ok(())
    }
}

fn package(names: &Names, at: u32) -> &str {
    package_of(names.class(at), names.container(at))
}

/// The package that the most calls start from, and those calls.
fn largest_package(graph: &Graph, names: &Names) -> Option<(String, Vec<(u32, u32)>)> {
    let mut packages: std::collections::BTreeMap<&str, Vec<(u32, u32)>> = std::collections::BTreeMap::new();
    for at in graph.indices().filter(|it| !graph.node(*it).is_virtual()) {
        let calls = graph.outgoing_of(at, EdgeKind::Calls).iter();
        let calls = calls.filter(|it| !graph.node(it.other()).is_virtual()).map(|it| (at.0, it.other().0));
        packages.entry(package(names, at.0)).or_default().extend(calls);
    }
    let largest = packages.into_iter().max_by_key(|it| it.1.len())?;
    (!largest.1.is_empty()).then(|| (largest.0.to_owned(), largest.1))
}

fn leaves<'a>(graph: &'a Graph, names: &'a Names, wanted: &'a str) -> impl Iterator<Item = EdgeLeaf<'a>> {
    let own = graph.indices().filter(move |it| package(names, it.0) == wanted);
    own.flat_map(move |at| {
        graph.outgoing(at).iter().map(move |it| EdgeLeaf {
            package: wanted,
            kind: it.kind(),
            id: edge_id(graph.node(at).id(), graph.node(it.other()).id(), it.kind()),
            provenance: it.provenance(),
            confidence_bp: it.confidence_bp,
        })
    })
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}
