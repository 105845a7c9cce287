//! The facts of every file of a tree, on all cores. Known versions come from the store and are not read again.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cpu_time::ThreadTime;
use knowing_extract::{Rules, Screen, SkipReason};
use knowing_model::facts::FileFacts;
use knowing_model::{FileId, RULESET, identity};
use knowing_search::{FileTerms, Tokenizer};
use knowing_store::{EncodedFacts, Store};
use knowing_vcs::{BlobId, Checkout, Directory, ObjectFormat, Reader, WorkReader};
use rayon::prelude::*;

use crate::base::Base;
use crate::progress::Progress;
use crate::scan::{Candidate, Source};
use crate::{Request, Result};

/// A file with facts.
pub(crate) struct ReadFile {
    pub(crate) id: FileId,
    pub(crate) path: Arc<str>,
    pub(crate) blob: BlobId,
    pub(crate) language: &'static str,
    /// The same in all runs of a process that carry it on.
    pub(crate) facts: Arc<FileFacts>,
    pub(crate) origin: Origin,
    /// Its place among the files of the snapshot that this run builds on, when it is the same version.
    pub(crate) same: Option<u32>,
}

pub(crate) enum Origin {
    /// The row of this version.
    Stored(i64),
    /// Read just now; `bytes` is its length, `terms` are its encoded term vectors.
    Read { encoded: EncodedFacts, terms: Vec<u8>, bytes: u64 },
}

/// A file that was opened and is not for us.
pub(crate) struct SkippedFile {
    pub(crate) id: FileId,
    pub(crate) path: Arc<str>,
    pub(crate) blob: BlobId,
    pub(crate) language: &'static str,
    pub(crate) reason: String,
    /// The row, when this version was met before.
    pub(crate) row: Option<i64>,
}

/// All files of a tree, each list by path.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) read: Vec<ReadFile>,
    pub(crate) skipped: Vec<SkippedFile>,
    /// CPU time for term vectors.
    pub(crate) terms_time: Duration,
}

/// Runs on the current rayon pool; the result is in the order of the plan whatever its size.
pub(crate) fn read_all(plan: Plan, request: &Request<'_>, progress: &dyn Progress) -> Result<Files> {
    let rules = request.options.rules();
    let workers: Vec<Mutex<Option<Worker<'_>>>> =
        (0..rayon::current_num_threads()).map(|_| Mutex::default()).collect();
    let Plan { ready, open } = plan;
    ready.iter().for_each(|_| progress.advance(1));
    let (places, open): (Vec<usize>, Vec<Planned>) = open.into_iter().unzip();
    let outcomes: Vec<Result<Outcome>> = open
        .into_par_iter()
        // A reader keeps bases of deltas; neighbours in the tree share them.
        .with_min_len(16)
        .map(|planned| {
            request.options.check_time(progress)?;
            let own = rayon::current_thread_index().and_then(|it| workers.get(it)?.try_lock().ok());
            let outcome = match own {
                Some(mut own) => settle(own.get_or_insert_with(|| Worker::new(request)), planned, &rules),
                None => settle(&mut Worker::new(request), planned, &rules),
            };
            progress.advance(1);
            outcome
        })
        .collect();
    let mut files = Files::default();
    let n_ready = ready.len();
    let mut ready = ready.into_iter();
    files.read.reserve(n_ready + outcomes.len());
    for (place, outcome) in places.into_iter().zip(outcomes) {
        let n_before = place - (n_ready - ready.len());
        files.read.extend(ready.by_ref().take(n_before));
        match outcome? {
            Outcome::Read(file) => files.read.push(*file),
            Outcome::Skipped(file) => files.skipped.push(file),
        }
    }
    files.read.extend(ready);
    let workers = workers.into_iter().filter_map(|it| it.into_inner().ok().flatten());
    files.terms_time = workers.map(|it| it.terms_time).sum();
    Ok(files)
}

/// What a thread keeps from file to file, however the files are dealt out: bases of deltas, and the words that were cut.
struct Worker<'a> {
    content: Content<'a>,
    tokenizer: Tokenizer,
    /// CPU time for term vectors.
    terms_time: Duration,
}

impl<'a> Worker<'a> {
    fn new(request: &Request<'a>) -> Worker<'a> {
        Worker {
            content: Content::of(request.source),
            tokenizer: Tokenizer::new(),
            terms_time: Duration::ZERO,
        }
    }

    fn terms(&mut self, facts: &FileFacts, bytes: &[u8]) -> Vec<u8> {
        let began = ThreadTime::try_now();
        let terms = FileTerms::of(facts, bytes, &mut self.tokenizer).encode();
        self.terms_time += began.and_then(|it| it.try_elapsed()).unwrap_or_default();
        terms
    }
}

/// What is to be done for each file, by path.
#[derive(Default)]
pub(crate) struct Plan {
    /// Files that the run before had in its hands.
    ready: Vec<ReadFile>,
    /// The others, each behind so many of those.
    open: Vec<(usize, Planned)>,
}

/// A file and what the store has of it.
pub(crate) struct Planned {
    id: FileId,
    candidate: Candidate,
    known: Known,
    same: Option<u32>,
}

enum Known {
    No,
    Facts(i64, EncodedFacts),
    Skipped(i64, String),
}

enum Outcome {
    Read(Box<ReadFile>),
    Skipped(SkippedFile),
}

/// Looks each file up among those already stored, first in the snapshot that the run builds on.
pub(crate) fn plan(
    store: &Store,
    request: &Request<'_>,
    base: Option<&Base>,
    candidates: Vec<Candidate>,
) -> Result<Plan> {
    let repo = if request.options.force { None } else { store.repo(request.url)? };
    // One transaction for all: to begin one takes longer than to read the facts of a file.
    let _reader = base.map(|it| store.reader(&it.snapshot)).transpose()?;
    let mut plan = Plan::default();
    plan.ready.reserve(base.map_or(0, |it| it.facts.len()));
    for candidate in candidates {
        let version = |base: &'_ Base| match candidate.same {
            Some(same) => Some(same),
            None => {
                let (same, file) = base.file(&candidate.path)?;
                (file.blob == candidate.blob).then_some(same)
            }
        };
        if let Some((base, same)) = base.and_then(|it| Some((it, version(it)?))) {
            let file = &base.files.read[same as usize];
            let (id, facts, same) = (file.id, base.facts.get(same as usize), Some(same));
            match facts.cloned() {
                Some(facts) => {
                    let Candidate { path, blob, language, .. } = candidate;
                    let origin = Origin::Stored(file.row);
                    plan.ready.push(ReadFile { id, path, blob, language, facts, origin, same });
                }
                None => {
                    let known = Known::Facts(file.row, store.encoded_facts(file.row)?);
                    plan.open.push((plan.ready.len(), Planned { id, candidate, known, same }));
                }
            }
            continue;
        }
        let id = identity::file_id(request.url, &candidate.path, candidate.blob.as_bytes());
        let met = match &repo {
            Some(repo) => store.file_version(repo.id, RULESET, &candidate.path, id)?,
            None => None,
        };
        let known = match met {
            Some((row, None)) => Known::Facts(row, store.encoded_facts(row)?),
            // Whether a vendored or missing file is read is not a matter of its content.
            Some((row, Some(reason))) if depends_on_content(&reason) => Known::Skipped(row, reason),
            _ => Known::No,
        };
        plan.open.push((plan.ready.len(), Planned { id, candidate, known, same: None }));
    }
    Ok(plan)
}

fn depends_on_content(reason: &str) -> bool {
    reason != SkipReason::MissingObject.name() && reason != SkipReason::Vendored.name()
}

fn settle(worker: &mut Worker<'_>, planned: Planned, rules: &Rules) -> Result<Outcome> {
    let Planned { id, candidate, known, same } = planned;
    let skip = |candidate: Candidate, reason: &str, row| {
        let Candidate { path, blob, language, .. } = candidate;
        Ok(Outcome::Skipped(SkippedFile { id, path, blob, language, reason: reason.to_owned(), row }))
    };
    let stored = match known {
        Known::Skipped(row, reason) => return skip(candidate, &reason, Some(row)),
        // Damaged facts do not matter while the source is there.
        Known::Facts(row, encoded) => encoded.decode().map(|it| (row, Arc::new(it))),
        Known::No => None,
    };
    if let Some((row, facts)) = stored {
        let Candidate { path, blob, language, .. } = candidate;
        let origin = Origin::Stored(row);
        return Ok(Outcome::Read(Box::new(ReadFile { id, path, blob, language, facts, origin, same })));
    }
    let bytes = match worker.content.read(&candidate, rules)? {
        Ok(bytes) => bytes,
        Err(reason) => return skip(candidate, reason.name(), None),
    };
    if let Screen::Skip(reason) = knowing_extract::screen_with(&candidate.path, &bytes, rules) {
        return skip(candidate, reason.name(), None);
    }
    let mut facts = knowing_extract::extract(&candidate.path, &bytes);
    let terms = worker.terms(&facts, &bytes);
    let origin = Origin::Read { encoded: EncodedFacts::new(&mut facts), terms, bytes: bytes.len() as u64 };
    let Candidate { path, blob, language, .. } = candidate;
    let facts = Arc::new(facts);
    // The facts of a version are what they were, also where they had to be made again.
    Ok(Outcome::Read(Box::new(ReadFile { id, path, blob, language, facts, origin, same })))
}

/// Where one thread reads from.
pub(crate) enum Content<'a> {
    Objects(Box<Reader>),
    /// What is not among the objects lies in the working tree.
    WorkTree(&'a Checkout, Box<Reader>, RefCell<Option<Box<WorkReader>>>),
    Directory(&'a Directory),
}

impl<'a> Content<'a> {
    pub(crate) fn of(source: Source<'a>) -> Content<'a> {
        match source {
            Source::Commit { checkout, .. } => Content::Objects(Box::new(checkout.reader())),
            Source::WorkTree { checkout, .. } => {
                Content::WorkTree(checkout, Box::new(checkout.reader()), RefCell::default())
            }
            Source::Directory(directory) => Content::Directory(directory),
        }
    }

    /// The bytes, or why they are not to be had.
    fn read(&self, candidate: &Candidate, rules: &Rules) -> Result<std::result::Result<Vec<u8>, SkipReason>> {
        let object = |reader: &Reader| {
            // Asking for the size first keeps huge blobs out of memory.
            Ok::<_, crate::Error>(match reader.blob_size(candidate.blob)? {
                Some(size) if size > knowing_extract::max_bytes(&candidate.path, rules) => {
                    Err(SkipReason::TooLarge)
                }
                _ => Ok(reader.blob(candidate.blob)?),
            })
        };
        let bytes = match self {
            Content::Objects(reader) => match object(reader)? {
                Ok(bytes) => bytes,
                Err(reason) => return Ok(Err(reason)),
            },
            Content::WorkTree(checkout, reader, work_reader) => match object(reader)? {
                Ok(None) => on_disk(checkout, work_reader, candidate)?,
                Ok(bytes) => bytes,
                Err(reason) => return Ok(Err(reason)),
            },
            Content::Directory(directory) => match directory.read(&candidate.path)? {
                // Written since it was listed: what was listed is gone.
                Some(bytes) if knowing_vcs::hash_blob(ObjectFormat::Sha1, &bytes)? != candidate.blob => None,
                bytes => bytes,
            },
        };
        Ok(bytes.ok_or(SkipReason::MissingObject))
    }

    /// The bytes of a version that was read before; none when they are not here any more.
    pub(crate) fn read_stored(&self, path: &str, blob: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(blob) = BlobId::from_bytes(blob) else { return Ok(None) };
        let candidate = Candidate { path: path.into(), blob, language: "", same: None };
        let rules = Rules { max_file_bytes: usize::MAX, ..Rules::default() };
        Ok(self.read(&candidate, &rules)?.ok())
    }
}

/// A file of the working tree; none when it was written since it was listed: what was listed is gone.
fn on_disk(
    checkout: &Checkout,
    work_reader: &RefCell<Option<Box<WorkReader>>>,
    candidate: &Candidate,
) -> Result<Option<Vec<u8>>> {
    let mut work_reader = work_reader.borrow_mut();
    if work_reader.is_none() {
        *work_reader = checkout.work_reader()?.map(Box::new);
    }
    let Some(work_reader) = work_reader.as_mut() else { return Ok(None) };
    let Some(bytes) = work_reader.read(&candidate.path)? else { return Ok(None) };
    Ok((checkout.hash_blob(&bytes)? == candidate.blob).then_some(bytes))
}
