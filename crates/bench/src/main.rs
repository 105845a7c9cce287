//! Quality and speed, reproducible: measurements that a person runs and reads. Tests assert no timings; this prints them.

#![expect(clippy::print_stdout, reason = "a report on stdout is what this program is for")]

mod edges;
mod features;
mod index;
mod integrity;
mod judge;
mod retrieval;
mod server;
mod snapshots;
mod symbols;
mod tasks;
mod tokens;
mod updates;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use knowing_retrieve::Part;

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
    /// Cost of one commit more: CPU time against a full index, files that changed and files that were resolved again.
    ///
    /// knowing-bench updates ../django --commits 20
    Updates {
        /// A work tree or a bare repository.
        path: PathBuf,
        /// The last commit to index.
        #[arg(long, default_value = "HEAD")]
        commit: String,
        /// How many commits before it to begin with.
        #[arg(long, default_value_t = 20)]
        commits: usize,
        /// Threads; 0 is one for each core.
        #[arg(long, default_value_t = 0)]
        workers: usize,
        /// Index each commit from scratch too, and compare roots and counts.
        #[arg(long)]
        check: bool,
        /// Carry nothing from commit to commit in memory, as if a process of its own indexed each of them.
        #[arg(long)]
        alone: bool,
    },
    /// What trust costs: fsck, diffs, proofs, and bytes that a commit adds to the database.
    ///
    /// knowing-bench integrity ../django --commits 100
    Integrity {
        /// A work tree or a bare repository.
        path: PathBuf,
        /// The last commit to index.
        #[arg(long, default_value = "HEAD")]
        commit: String,
        /// Commits before it to index one by one.
        #[arg(long, default_value_t = 100)]
        commits: usize,
        /// How many commits apart the snapshots of the long diff are.
        #[arg(long, default_value_t = 1000)]
        apart: usize,
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
    /// How many of our calls and references are right, and how many of a compiler's we have.
    ///
    /// knowing-bench edges --repo ../caddy --truth caddy.scip --write docs/accuracy.md
    Edges {
        /// A work tree or a bare repository.
        #[arg(long)]
        repo: PathBuf,
        /// A SCIP index of the commit, or a `.tsv` of call sites that were read by eye.
        #[arg(long)]
        truth: PathBuf,
        /// The commit the truth is about; the one a `.tsv` names, else `HEAD`.
        #[arg(long)]
        commit: Option<String>,
        /// The repository's name in the report.
        #[arg(long)]
        name: Option<String>,
        /// Put the section of this repository into that page.
        #[arg(long)]
        write: Option<PathBuf>,
        /// Print every wrong and missing site.
        #[arg(long)]
        list: bool,
        /// Groups of wrong and missing sites to show.
        #[arg(long, default_value_t = 20)]
        shown: usize,
    },
    /// How good answers are on files of tasks: recall, precision and rank, with intervals, ablations and latency.
    ///
    /// knowing-bench retrieval --tasks commits.jsonl --tasks issues.jsonl --corpus corpus.json --repos mirrors
    Retrieval {
        #[command(flatten)]
        asked: Asked,
        /// Parts of the pipeline to leave out, one at a time; `all` for each of them.
        #[arg(long, value_delimiter = ',')]
        without: Vec<String>,
        /// Also with concept classes, and by the formula.
        #[arg(long)]
        compare: bool,
        /// Write the report there too.
        #[arg(long)]
        write: Option<PathBuf>,
        /// Name every true symbol that is not among the first ten, and its rank.
        #[arg(long)]
        misses: bool,
    },
    /// Features of the candidates of tasks, for training a ranker.
    Features {
        #[command(flatten)]
        asked: Asked,
        /// A directory: `features.json`, `features.bin`, `tasks.jsonl`.
        #[arg(long)]
        out: PathBuf,
    },
    /// The server for agents: first reply, what it adds to an operation, many clients at once, memory at rest.
    ///
    /// knowing-bench server ../django --program target/release/knowing
    Server {
        /// A work tree.
        repo: PathBuf,
        /// The executable to start.
        #[arg(long)]
        program: PathBuf,
        /// What to look for.
        #[arg(long, default_value = "*get*")]
        query: String,
        #[arg(long, default_value_t = 16)]
        clients: usize,
        /// Requests of each client, and runs of the rest.
        #[arg(long, default_value_t = 50)]
        runs: usize,
    },
    /// What packs cost in each format, by a real tokenizer.
    ///
    /// knowing-bench tokens --tasks hand.jsonl --corpus corpus.json --repos mirrors --budget 8000
    Tokens {
        #[command(flatten)]
        asked: Asked,
        /// Tokens of a pack in JSON, by the rule of four bytes.
        #[arg(long, default_value_t = 50_000)]
        budget: usize,
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

/// Tasks, and where what they are about lies.
#[derive(clap::Args)]
struct Asked {
    /// Lines of `{"id", "repo", "base"?, "description", "truth": [{"name", "file"?}]}`.
    #[arg(long, required = true)]
    tasks: Vec<PathBuf>,
    /// Where repositories lie: `owner+name/repo`, `owner/name` or `name`.
    #[arg(long)]
    repos: PathBuf,
    /// Explains short names of repositories, and says which commit a task without `base` is about.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Keeps databases between runs.
    #[arg(long)]
    data: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().bench {
        Bench::Index { path, commit, workers, runs } => index::report(&path, &commit, workers, runs),
        Bench::Updates { path, commit, commits, workers, check, alone } => updates::report(&updates::Asked {
            path: &path,
            commit: &commit,
            n_commits: commits,
            workers,
            check,
            alone,
        }),
        Bench::Integrity { path, commit, commits, apart } => integrity::report(&integrity::Asked {
            path: &std::fs::canonicalize(&path)?,
            commit: &commit,
            n_commits: commits,
            apart,
        }),
        Bench::Symbols { path, commit, truth, list } => symbols::report(&path, &commit, &truth, list),
        Bench::Edges { repo, truth, commit, name, write, list, shown } => {
            edges::report(&edges::Request { repo, truth, commit, name, write, list, shown })
        }
        Bench::Retrieval { asked, without, compare, write, misses } => {
            let Asked { tasks, repos, corpus, data } = asked;
            let ablations = if without == ["all"] {
                Part::ALL
                    .iter()
                    .copied()
                    .filter(|it| !matches!(it, Part::Classes | Part::PackCache))
                    .collect()
            } else {
                let part =
                    |name: &String| Part::from_name(name).with_context(|| format!("there is no part {name}"));
                without.iter().map(part).collect::<anyhow::Result<Vec<Part>>>()?
            };
            let data = data.unwrap_or_else(snapshots::default_data);
            retrieval::report(&retrieval::Request {
                tasks,
                repos,
                data,
                corpus,
                ablations,
                compare,
                write,
                misses,
            })
        }
        Bench::Features { asked: Asked { tasks, repos, corpus, data }, out } => {
            let mut all = Vec::new();
            for path in tasks {
                all.extend(tasks::read(&path)?);
            }
            let corpus = tasks::Corpus::read(corpus.as_deref())?;
            let data = data.unwrap_or_else(snapshots::default_data);
            features::write(&all, &repos, &data, &corpus, &out)
        }
        Bench::Server { repo, program, query, clients, runs } => {
            let program = std::fs::canonicalize(program)?;
            server::report(&server::Asked { program, repo, query, clients, runs })
        }
        Bench::Tokens { asked: Asked { tasks, repos, corpus, data }, budget } => {
            let data = data.unwrap_or_else(snapshots::default_data);
            tokens::report(&tokens::Request { tasks, repos, data, corpus, budget })
        }
        Bench::Measure { what, path, commit, workers } => index::measure(what, &path, &commit, workers),
    }
}
