//! What packs cost in each format, by a real tokenizer and by the rule of four bytes, on the same packs.

use std::path::PathBuf;

use knowing_graph::NodeIndex;
use knowing_model::{Hash, SnapshotId};
use knowing_retrieve::{Packing, Params, Settings, Texts, for_task, pack};
use knowing_wire::{Detail, Format, Payload, Written, tokens};

use crate::snapshots::{Repository, Snapshot};
use crate::tasks::{Corpus, Task, read};

pub(crate) struct Request {
    pub(crate) tasks: Vec<PathBuf>,
    pub(crate) repos: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) corpus: Option<PathBuf>,
    /// Tokens of a pack, by the rule, in JSON.
    pub(crate) budget: usize,
}

const FORMATS: [Format; 4] = [Format::Json, Format::Xml, Format::Markdown, Format::Gcf];

pub(crate) fn report(request: &Request) -> anyhow::Result<()> {
    let tokenizer = tiktoken_rs::o200k_base()?;
    let corpus = Corpus::read(request.corpus.as_deref())?;
    let mut all: Vec<Task> = Vec::new();
    for path in &request.tasks {
        all.extend(read(path)?);
    }
    all.sort_by(|a, b| (&a.repo, &a.id).cmp(&(&b.repo, &b.id)));
    let mut sums = [(0, 0); FORMATS.len()];
    let (mut n_packs, mut n_symbols, mut n_edges) = (0, 0, 0);
    for group in all.chunk_by(|a, b| (&a.repo, &a.base) == (&b.repo, &b.base)) {
        let repo = &group[0].repo;
        let Ok(path) = corpus.locate(&request.repos, repo) else { continue };
        let name = format!("github.com/{}", corpus.full_name(repo));
        let base = group[0].base.clone().or_else(|| corpus.commit(repo));
        let snapshot = Repository::open(&path, &request.data, repo)?.at(base.as_deref().unwrap_or("HEAD"))?;
        let mut of_repo = [0; FORMATS.len()];
        for task in group {
            let payload = packed(&snapshot, task, &name, request.budget);
            n_packs += 1;
            n_symbols += payload.symbols.len();
            n_edges += payload.edges.len();
            for (at, format) in FORMATS.into_iter().enumerate() {
                let Written::Text(text) = format.encode(&numbered(&payload, format)) else { continue };
                let counted = tokenizer.encode_ordinary(&text).len();
                of_repo[at] += counted;
                sums[at].0 += counted;
                sums[at].1 += tokens(text.len());
            }
        }
        let shares: Vec<String> = FORMATS
            .iter()
            .zip(of_repo)
            .map(|(format, n)| format!("{} {:.1} %", format.name(), 100.0 * n as f64 / of_repo[0] as f64))
            .collect();
        println!("{repo}: {} packs; {}", group.len(), shares.join(", "));
    }
    anyhow::ensure!(n_packs > 0, "no repository of the tasks was found");
    println!("\n{n_packs} packs of {n_symbols} symbols and {n_edges} edges\n");
    println!("| format | o200k tokens a pack | of JSON | by four bytes | of JSON |");
    println!("|---|---:|---:|---:|---:|");
    for (format, (counted, ruled)) in FORMATS.iter().zip(sums) {
        let share = |part: usize, whole: usize| format!("{:.1} %", 100.0 * part as f64 / whole as f64);
        println!(
            "| {} | {} | {} | {} | {} |",
            format.name(),
            counted / n_packs,
            share(counted, sums[0].0),
            ruled / n_packs,
            share(ruled, sums[0].1)
        );
    }
    Ok(())
}

/// As agents get it when they say nothing: where each symbol is.
fn packed(snapshot: &Snapshot, task: &Task, repo: &str, budget: usize) -> Payload {
    let settings = Settings::default();
    let run = for_task(snapshot.sources(), &task.description, &settings);
    let packing = Packing {
        entry: "for_task",
        asked: task.description.clone(),
        budget,
        format: Format::Json,
        detail: Detail::Brief,
        cutoff: Params::default().pack.task_cutoff,
        limit: usize::MAX,
    };
    let head = Payload {
        tool: "context_for_task".to_owned(),
        tree: "1a2b3c4d5e6f".to_owned(),
        snapshot: SnapshotId(Hash([0xa7; 32])),
        fresh: "yes".to_owned(),
        budget,
        tokens: 0,
        pack_root: None,
        repo: repo.to_owned(),
        session: None,
        symbols: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
        unknown_files: Vec::new(),
        next_cursor: None,
        mentioned: Vec::new(),
    };
    pack(snapshot.sources(), &run, &packing, &settings.params, settings.switches, &NoTexts, head)
}

/// Ids in the order of the format.
fn numbered(payload: &Payload, format: Format) -> Payload {
    let mut payload = payload.clone();
    let mut listed: Vec<_> = payload.symbols.iter_mut().collect();
    if format.groups_by_distance() {
        listed.sort_by_key(|it| it.distance);
    }
    listed.into_iter().zip(0..).for_each(|(it, id)| it.id = id);
    payload
}

struct NoTexts;

impl Texts for NoTexts {
    fn signature(&self, _: NodeIndex) -> Option<String> {
        None
    }

    fn source(&self, _: NodeIndex) -> Option<String> {
        None
    }
}
