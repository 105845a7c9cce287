//! Features of candidates, written for training: the same code that answers users computes them.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use knowing_retrieve::{Part, Ranker, Settings, Switches, features};
use rayon::prelude::*;
use serde::Serialize;

use crate::judge::{Named, bare, is_strict_hit};
use crate::snapshots::{Repository, Snapshot};
use crate::tasks::{Corpus, Task};

#[derive(Serialize)]
struct Header {
    format: u32,
    features: &'static [&'static str],
}

/// A task's rows, in the order of the candidates.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    repo: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    first_row: usize,
    n_rows: usize,
    n_truth: usize,
    hits: Vec<(usize, usize)>,
    names: Vec<String>,
    files: Vec<String>,
}

struct Rows {
    values: Vec<f32>,
    names: Vec<String>,
    files: Vec<String>,
    hits: Vec<(usize, usize)>,
}

/// Tasks of one repository and commit, one after the other; groups in order of first mention.
pub(crate) fn grouped<'a>(
    tasks: &'a [Task],
    corpus: &Corpus,
) -> Vec<(&'a str, Option<String>, Vec<&'a Task>)> {
    let mut groups: Vec<(&str, Option<String>, Vec<&Task>)> = Vec::new();
    for task in tasks {
        let base = task.base.clone().or_else(|| corpus.commit(&task.repo));
        match groups.iter_mut().find(|it| it.0 == task.repo && it.1 == base) {
            Some(group) => group.2.push(task),
            None => groups.push((&task.repo, base, vec![task])),
        }
    }
    groups
}

pub(crate) fn write(
    tasks: &[Task],
    repos: &Path,
    data: &Path,
    corpus: &Corpus,
    out: &Path,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(out)?;
    let header = Header { format: 1, features: features::NAMES };
    std::fs::write(out.join("features.json"), serde_json::to_string(&header)?)?;
    let mut values = BufWriter::new(std::fs::File::create(out.join("features.bin"))?);
    let mut lines = BufWriter::new(std::fs::File::create(out.join("tasks.jsonl"))?);
    let ranker = if features::fit_the_ranker() { Ranker::Learned } else { Ranker::Formula };
    let switches = Switches::without(&[Part::Classes, Part::PackCache]);
    let settings = Settings { switches, ranker, ..Settings::default() };
    let mut first_row = 0;
    let (mut n_tasks, mut n_truth, mut n_found) = (0, 0, 0);
    for (repo, base, group) in grouped(tasks, corpus) {
        let path = match corpus.locate(repos, repo) {
            Ok(path) => path,
            Err(error) => {
                println!("left out: {error}");
                continue;
            }
        };
        let mut repository = Repository::open(&path, data, repo)?;
        let snapshot = repository.at(base.as_deref().unwrap_or("HEAD"))?;
        let found: Vec<Rows> = group.par_iter().map(|task| rows(&snapshot, task, &settings)).collect();
        for (task, rows) in group.iter().zip(found) {
            let n_rows = rows.names.len();
            for value in &rows.values {
                values.write_all(&value.to_le_bytes())?;
            }
            let truth = task.truth().len();
            let mut hit: Vec<usize> = rows.hits.iter().map(|it| it.1).collect();
            hit.sort_unstable();
            hit.dedup();
            n_tasks += 1;
            n_truth += truth;
            n_found += hit.len();
            let line = Line {
                id: &task.id,
                repo: &task.repo,
                kind: task.kind.as_deref(),
                first_row,
                n_rows,
                n_truth: truth,
                hits: rows.hits,
                names: rows.names,
                files: rows.files,
            };
            writeln!(lines, "{}", serde_json::to_string(&line)?)?;
            first_row += n_rows;
        }
        println!(
            "{repo} {}: {n_tasks} tasks, {n_found} of {n_truth} true symbols are candidates",
            base.unwrap_or_default()
        );
    }
    values.flush()?;
    lines.flush()?;
    Ok(())
}

fn rows(snapshot: &Snapshot, task: &Task, settings: &Settings) -> Rows {
    let run = knowing_retrieve::for_task(snapshot.sources(), &task.description, settings);
    let truth = task.truth();
    let mut rows = Rows { values: Vec::new(), names: Vec::new(), files: Vec::new(), hits: Vec::new() };
    for (row, it) in run.ranked.iter().enumerate() {
        rows.values.extend(&it.features);
        let name = snapshot.qualified_name(it.node.0);
        let file = snapshot.file(it.node.0);
        let named = Named { name: bare(&name), file: file.clone() };
        if let Some(at) = truth.iter().position(|truth| is_strict_hit(&named, truth)) {
            rows.hits.push((row, at));
        }
        rows.names.push(name);
        rows.files.push(file.unwrap_or_default());
    }
    rows
}
