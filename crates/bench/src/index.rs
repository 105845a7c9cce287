//! A full index against parsing alone. Each measurement is a process of its own, so that CPU time and peak memory are
//! its own; ratios within one run are what counts, the machine's speed is not.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cpu_time::{ProcessTime, ThreadTime};
use knowing_extract::Screen;
use knowing_index::{Options, Phase, Request, Silent, Source};
use knowing_store::Store;
use knowing_vcs::{Checkout, EntryKind};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum What {
    /// Read and parse every file that an index would read; only the parsing is counted.
    Parse,
    /// What an index does with the same files up to their facts and term vectors as bytes; the phases are the steps.
    Extract,
    /// The whole index into an empty database, then the same commit once more.
    Whole,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Measured {
    n_files: u64,
    n_bytes: u64,
    cpu_s: f64,
    peak_mib: f64,
    /// Pages of files (packs, database, images) that were mapped at the end: the system takes them back at will.
    mapped_mib: f64,
    database_mib: f64,
    again_ms: f64,
    n_nodes: u64,
    n_edges: u64,
    /// Tells what was found from what another build finds.
    root: String,
    phases: Vec<(String, f64)>,
}

pub(crate) fn report(path: &Path, commit: &str, workers: usize, runs: usize) -> Result<()> {
    let best = |what: &str| -> Result<Measured> {
        let all: Result<Vec<Measured>> =
            (0..runs.max(1)).map(|_| child(what, path, commit, workers)).collect();
        let least = all?.into_iter().min_by(|a, b| a.cpu_s.total_cmp(&b.cpu_s));
        least.context("at least one run was made")
    };
    let parse = best("parse")?;
    let whole = best("whole")?;
    let mib = parse.n_bytes as f64 / (1 << 20) as f64;
    println!("{} files, {mib:.1} MiB of source; least of {} runs", parse.n_files, runs.max(1));
    println!();
    println!("{:<22}{:>10}{:>12}{:>12}", "", "CPU s", "x parsing", "peak MiB");
    let row = |name: &str, cpu: f64, peak: Option<f64>| {
        let peak = peak.map(|it| format!("{it:.0}")).unwrap_or_default();
        println!("{name:<22}{cpu:>10.2}{:>12.2}{peak:>12}", cpu / parse.cpu_s);
    };
    row("parsing alone", parse.cpu_s, Some(parse.peak_mib));
    row("whole index", whole.cpu_s, Some(whole.peak_mib));
    let later = [Phase::History, Phase::Search].map(Phase::name);
    let core = whole.phases.iter().filter(|it| !later.contains(&it.0.as_str())).map(|it| it.1).sum();
    row("less history, search", core, None);
    for (name, cpu) in &whole.phases {
        row(&format!("  {name}"), *cpu, None);
    }
    println!();
    println!("parsing: {:.1} MiB per core-second", mib / parse.cpu_s);
    println!("of the peak, mapped files at the end: {:.0} MiB", whole.mapped_mib);
    println!("same commit again: {:.0} ms", whole.again_ms);
    println!("{} nodes, {} edges; database {:.1} MiB", whole.n_nodes, whole.n_edges, whole.database_mib);
    println!("root {}", whole.root);
    Ok(())
}

fn child(what: &str, path: &Path, commit: &str, workers: usize) -> Result<Measured> {
    let output = Command::new(std::env::current_exe()?)
        .args(["measure", what])
        .arg(path)
        .args(["--commit", commit, "--workers", &workers.to_string()])
        .output()?;
    if !output.status.success() {
        bail!("measuring {what} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn measure(what: What, path: &Path, commit: &str, workers: usize) -> Result<()> {
    let checkout = Checkout::open(path)?;
    let measured = match what {
        What::Parse => parse(&checkout, commit, workers)?,
        What::Extract => extract(&checkout, commit)?,
        What::Whole => whole(&checkout, commit, workers)?,
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn parse(checkout: &Checkout, commit: &str, workers: usize) -> Result<Measured> {
    let tree = checkout.tree(checkout.resolve(commit)?)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build()?;
    let entries: Vec<_> = tree
        .entries
        .into_iter()
        .filter(|it| matches!(it.kind, EntryKind::File | EntryKind::Executable))
        .filter_map(|it| Some((knowing_extract::grammar(&it.path)?, it)))
        .collect();
    let sums = pool.install(|| {
        entries
            .par_iter()
            .map_init(
                || (checkout.reader(), tree_sitter::Parser::new()),
                |(reader, parser), (grammar, entry)| {
                    let Ok(Some(bytes)) = reader.blob(entry.blob) else { return (0, 0, 0.0) };
                    if matches!(knowing_extract::screen(&entry.path, &bytes), Screen::Skip(_)) {
                        return (0, 0, 0.0);
                    }
                    parser.set_language(grammar).expect("the grammar fits the library it was built with");
                    let begin = ThreadTime::now();
                    // Letting the tree go is part of having parsed.
                    drop(parser.parse(&bytes, None));
                    let cpu = begin.elapsed().as_secs_f64();
                    (1, bytes.len() as u64, cpu)
                },
            )
            .reduce(|| (0, 0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2))
    });
    Ok(Measured {
        n_files: sums.0,
        n_bytes: sums.1,
        cpu_s: sums.2,
        peak_mib: memory_mib("VmHWM:")?,
        mapped_mib: memory_mib("RssFile:")?,
        ..Measured::default()
    })
}

fn extract(checkout: &Checkout, commit: &str) -> Result<Measured> {
    let tree = checkout.tree(checkout.resolve(commit)?)?;
    let reader = checkout.reader();
    let mut tokenizer = knowing_search::Tokenizer::new();
    let (mut n_files, mut n_bytes) = (0, 0);
    let mut steps = ["read", "screen", "extract", "terms", "facts as bytes"].map(|it| (it.to_owned(), 0.0));
    for entry in tree.entries {
        if knowing_extract::grammar(&entry.path).is_none() {
            continue;
        }
        let mut begin = ThreadTime::now();
        let mut step = |at: usize| {
            steps[at].1 += begin.elapsed().as_secs_f64();
            begin = ThreadTime::now();
        };
        let Ok(Some(bytes)) = reader.blob(entry.blob) else { continue };
        step(0);
        if matches!(knowing_extract::screen(&entry.path, &bytes), Screen::Skip(_)) {
            continue;
        }
        step(1);
        let mut facts = knowing_extract::extract(&entry.path, &bytes);
        step(2);
        let terms = knowing_search::FileTerms::of(&facts, &bytes, &mut tokenizer).encode();
        step(3);
        let encoded = knowing_store::EncodedFacts::new(&mut facts);
        step(4);
        std::hint::black_box((terms, encoded));
        n_files += 1;
        n_bytes += bytes.len() as u64;
    }
    Ok(Measured {
        n_files,
        n_bytes,
        cpu_s: steps.iter().map(|it| it.1).sum(),
        peak_mib: memory_mib("VmHWM:")?,
        mapped_mib: memory_mib("RssFile:")?,
        phases: steps.into(),
        ..Measured::default()
    })
}

fn whole(checkout: &Checkout, commit: &str, workers: usize) -> Result<Measured> {
    let home = tempfile::tempdir()?;
    let database = home.path().join("knowing.db");
    let identity = checkout.identity(None)?;
    let options = Options { workers, ..Options::default() };
    let begin = ProcessTime::now();
    let mut store = Store::open(&database)?;
    let request = Request {
        source: Source::Commit { checkout, commit: checkout.resolve(commit)? },
        url: &identity.url,
        object_format: identity.object_format,
        place: Some("bench"),
        branch: None,
        options: &options,
        now: 0,
    };
    let report = knowing_index::index(&mut store, &request, &Silent)?;
    let cpu_s = begin.elapsed().as_secs_f64();
    let (peak_mib, mapped_mib) = (memory_mib("VmHWM:")?, memory_mib("RssFile:")?);
    let begin = std::time::Instant::now();
    let again = knowing_index::index(&mut store, &request, &Silent)?;
    let again_ms = begin.elapsed().as_secs_f64() * 1e3;
    anyhow::ensure!(!again.new_snapshot && again.root == report.root, "the second run made another snapshot");
    drop(store);
    let phases = report.phases.iter().map(|it| (it.phase.name().to_owned(), it.cpu_ms / 1e3)).collect();
    Ok(Measured {
        n_files: report.files,
        n_bytes: 0,
        cpu_s,
        peak_mib,
        mapped_mib,
        database_mib: std::fs::metadata(&database)?.len() as f64 / (1 << 20) as f64,
        again_ms,
        n_nodes: report.nodes,
        n_edges: report.edges,
        root: report.root.to_string(),
        phases,
    })
}

/// Memory of this process from Linux's own books: the most it ever had (`VmHWM:`), pages of files now (`RssFile:`).
fn memory_mib(what: &str) -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").context("memory is read from /proc")?;
    let line = status.lines().find_map(|it| it.strip_prefix(what));
    let line = line.with_context(|| format!("`{what}` is not in /proc/self/status"))?;
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib / 1024.0)
}
