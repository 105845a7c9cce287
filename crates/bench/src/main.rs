//! Quality and speed, reproducible: measurements that a person runs and reads. Tests assert no timings; this prints them.

#![expect(clippy::print_stdout, reason = "a report on stdout is what this program is for")]

mod index;
mod symbols;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Measure `knowing` on a real repository.
#[derive(Parser)]
#[command(name = "knowing-bench")]
struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Cost of a full index against parsing alone, on the same files: CPU seconds, peak memory, phases.
    ///
    /// knowing-bench index ../django
    Index {
        /// A work tree or a bare repository.
        path: PathBuf,
        /// The commit to index.
        #[arg(long, default_value = "HEAD")]
        commit: String,
        /// Threads; 0 is one for each core.
        #[arg(long, default_value_t = 0)]
        workers: usize,
        /// Runs of each; the one with the least CPU time counts.
        #[arg(long, default_value_t = 3)]
        runs: usize,
    },
    /// How many of the functions, methods and types that another program lists are nodes of ours.
    ///
    /// Reads lines `{"path", "spans": [[first line, last line, dotted name, kind], ...]}` that the other program
    /// wrote for the same commit, and compares first line and last part of the name.
    Symbols {
        /// A work tree or a bare repository.
        path: PathBuf,
        #[arg(long, default_value = "HEAD")]
        commit: String,
        /// The other program's list.
        #[arg(long)]
        truth: PathBuf,
        /// Print each symbol that is missing.
        #[arg(long)]
        list: bool,
    },
    /// One measurement in a process of its own, so that peak memory is its own too.
    #[command(hide = true)]
    Measure {
        #[arg(value_enum)]
        what: index::What,
        path: PathBuf,
        #[arg(long)]
        commit: String,
        #[arg(long)]
        workers: usize,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().bench {
        Bench::Index { path, commit, workers, runs } => index::report(&path, &commit, workers, runs),
        Bench::Symbols { path, commit, truth, list } => symbols::report(&path, &commit, &truth, list),
        Bench::Measure { what, path, commit, workers } => index::measure(what, &path, &commit, workers),
    }
}
