//! How good answers are: the development sets, judged as `score.py` judges, with intervals, ablations and latency.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use knowing_retrieve::{Part, Ranker, Settings, Switches, for_task};
use rayon::prelude::*;

use crate::features::grouped;
use crate::judge::{Judged, Named, judge};
use crate::snapshots::{Repository, Snapshot};
use crate::tasks::{self, Corpus, Task};

pub(crate) struct Request {
    pub(crate) tasks: Vec<PathBuf>,
    pub(crate) repos: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) corpus: Option<PathBuf>,
    /// Parts to leave out one at a time, besides the full pipeline.
    pub(crate) ablations: Vec<Part>,
    /// With the formula and with classes too.
    pub(crate) compare: bool,
    pub(crate) write: Option<PathBuf>,
    /// Print every task with a true symbol beyond the first ten.
    pub(crate) misses: bool,
}

/// One way to answer.
struct Variant {
    name: String,
    settings: Settings,
}

/// What became of one task under one variant.
struct Outcome {
    repo: String,
    judged: Judged,
    ms: f64,
}

pub(crate) fn report(request: &Request) -> anyhow::Result<()> {
    let corpus = Corpus::read(request.corpus.as_deref())?;
    let variants = variants(request);
    let mut text = String::new();
    let mut latency = Vec::new();
    for path in &request.tasks {
        let set = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let tasks = tasks::read(path)?;
        let (outcomes, left_out) = ask(request, &corpus, &tasks, &variants)?;
        section(&mut text, &set, &variants, &outcomes, tasks.len(), left_out)?;
        latency.extend(outcomes[0].iter().map(|it| it.ms));
    }
    if !latency.is_empty() {
        writeln!(text, "## Latency\n")?;
        latency.sort_by(f64::total_cmp);
        let at = |share: f64| latency[((latency.len() - 1) as f64 * share) as usize];
        writeln!(
            text,
            "Warm (asked a second time, nothing of the first answer kept), in process, one task at a time, from the text of a \
             task to ranked candidates: p50 {:.1} ms, p95 {:.1} ms, largest {:.1} ms over {} tasks.",
            at(0.5),
            at(0.95),
            at(1.0),
            latency.len()
        )?;
    }
    println!("{text}");
    if let Some(path) = &request.write {
        std::fs::write(path, format!("{HEAD}\n{text}"))?;
    }
    Ok(())
}

const HEAD: &str = "\
# How good answers are

Written by `cargo run --release -p knowing-bench -- retrieval --write docs/quality.md ...`. Development sets; strict counts
each true symbol once, lenient is the public rule of the benchmark behind the seeds' P@10 and is given for comparison.
Intervals are 95 % bootstrap intervals over tasks. Repositories that are not at hand are left out and counted.
";

fn variants(request: &Request) -> Vec<Variant> {
    let plain = Switches::without(&[Part::Classes, Part::PackCache]);
    let settings = |switches, ranker| Settings { switches, ranker, ..Settings::default() };
    let mut variants =
        vec![Variant { name: "learned, no classes".to_owned(), settings: settings(plain, Ranker::Learned) }];
    if request.compare {
        let with_classes = Switches::without(&[Part::PackCache]);
        variants.push(Variant {
            name: "learned, with classes".to_owned(),
            settings: settings(with_classes, Ranker::Learned),
        });
        variants.push(Variant {
            name: "formula, no classes".to_owned(),
            settings: settings(plain, Ranker::Formula),
        });
    }
    for &part in &request.ablations {
        let mut switches = plain;
        switches.turn_off(part);
        variants.push(Variant {
            name: format!("without {}", part.name()),
            settings: settings(switches, Ranker::Learned),
        });
    }
    variants
}

/// For each variant the outcomes in the order of the groups, and how many tasks had no repository.
fn ask(
    request: &Request,
    corpus: &Corpus,
    tasks: &[Task],
    variants: &[Variant],
) -> anyhow::Result<(Vec<Vec<Outcome>>, usize)> {
    let mut outcomes: Vec<Vec<Outcome>> = variants.iter().map(|_| Vec::new()).collect();
    let mut left_out = 0;
    for (repo, base, group) in grouped(tasks, corpus) {
        let Ok(path) = corpus.locate(&request.repos, repo) else {
            left_out += group.len();
            continue;
        };
        let snapshot = Repository::open(&path, &request.data, repo)?.at(base.as_deref().unwrap_or("HEAD"))?;
        // The first variant is timed, hence alone, and warm: what the images are mapped from was touched before. The rest
        // only counts.
        group.par_iter().for_each(|task| drop(one(&snapshot, task, &variants[0], false)));
        outcomes[0].extend(group.iter().map(|task| one(&snapshot, task, &variants[0], request.misses)));
        for (variant, outcomes) in variants.iter().zip(&mut outcomes).skip(1) {
            outcomes.par_extend(group.par_iter().map(|task| one(&snapshot, task, variant, false)));
        }
    }
    Ok((outcomes, left_out))
}

fn one(snapshot: &Snapshot, task: &Task, variant: &Variant, misses: bool) -> Outcome {
    let begun = Instant::now();
    let run = for_task(snapshot.sources(), &task.description, &variant.settings);
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let named = |node: u32| Named { name: snapshot.qualified_name(node), file: snapshot.file(node) };
    let results: Vec<Named> = run.ranked.iter().map(|it| named(it.node.0)).collect();
    let truth = task.truth();
    if misses {
        tell_misses(task, &results, &truth);
    }
    Outcome { repo: task.repo.clone(), judged: judge(&results[..results.len().min(50)], &truth), ms }
}

fn tell_misses(task: &Task, results: &[Named], truth: &[Named]) {
    let rank = |truth: &Named| {
        results.iter().position(|it| {
            let bare = Named { name: crate::judge::bare(&it.name), file: it.file.clone() };
            crate::judge::is_strict_hit(&bare, truth)
        })
    };
    for it in truth {
        match rank(it) {
            Some(at) if at < 10 => {}
            Some(at) => {
                println!("{} rank {} {} {}", task.id, at + 1, it.name, it.file.as_deref().unwrap_or(""))
            }
            None => println!("{} none {} {}", task.id, it.name, it.file.as_deref().unwrap_or("")),
        }
    }
}

fn section(
    text: &mut String,
    set: &str,
    variants: &[Variant],
    outcomes: &[Vec<Outcome>],
    n_tasks: usize,
    left_out: usize,
) -> anyhow::Result<()> {
    writeln!(text, "## {set}\n")?;
    let asked = n_tasks - left_out;
    writeln!(text, "{asked} of {n_tasks} tasks; {left_out} are about repositories that are not at hand.\n")?;
    if asked == 0 {
        return Ok(());
    }
    writeln!(
        text,
        "| answered by | P@10 lenient | R@10 | MRR | NDCG@10 | Acc@10 | file R@10 | file Acc@5 |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|")?;
    for (variant, outcomes) in variants.iter().zip(outcomes) {
        let judged: Vec<Judged> = outcomes.iter().map(|it| it.judged).collect();
        writeln!(text, "| {} | {} |", variant.name, cells(&judged, true).join(" | "))?;
    }
    writeln!(
        text,
        "\n| repository | tasks | P@10 lenient | R@10 | MRR | NDCG@10 | Acc@10 | file R@10 | file Acc@5 |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|---|")?;
    let mut by_repo: BTreeMap<&str, Vec<Judged>> = BTreeMap::new();
    for it in &outcomes[0] {
        by_repo.entry(&it.repo).or_default().push(it.judged);
    }
    for (repo, judged) in by_repo {
        writeln!(text, "| {repo} | {} | {} |", judged.len(), cells(&judged, false).join(" | "))?;
    }
    writeln!(text)?;
    Ok(())
}

type Measure = fn(&Judged) -> Option<f64>;

const MEASURES: [Measure; 7] = [
    |it| Some(it.p10_lenient),
    |it| Some(it.r10),
    |it| Some(it.mrr),
    |it| Some(it.ndcg10),
    |it| Some(it.acc10),
    |it| it.file_r10,
    |it| it.file_acc5,
];

fn cells(judged: &[Judged], with_interval: bool) -> Vec<String> {
    let cell = |measure: &Measure| {
        let values: Vec<f64> = judged.iter().filter_map(measure).collect();
        if values.is_empty() {
            return "-".to_owned();
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        match with_interval {
            true => {
                let (low, high) = interval(&values);
                format!("{mean:.3} ({low:.2}-{high:.2})")
            }
            false => format!("{mean:.3}"),
        }
    };
    MEASURES.iter().map(cell).collect()
}

/// 95 % of 1,000 samples with replacement, drawn the same way every time.
fn interval(values: &[f64]) -> (f64, f64) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % values.len()
    };
    let mut means: Vec<f64> = (0..1_000)
        .map(|_| (0..values.len()).map(|_| values[next()]).sum::<f64>() / values.len() as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    (means[25], means[974])
}
