//! One snapshot with its three images open: what answers tasks.

use std::rc::Rc;

use knowing_graph::{Graph, NodeIndex};
use knowing_index::{Anchored, Anchors};
use knowing_model::{EdgeKind, Hash, Hasher, identity};
use knowing_retrieve::{OnDisk, Packing, Run, Settings, Sources, Texts, pack};
use knowing_search::{Collection, Documents, FileIndex, Names};
use knowing_store::{NewPack, Reader, Store};
use knowing_wire::{Detail, Format, Payload};

use super::sending::stated;
use crate::answer::Tree;
use crate::cx::Opened;
use crate::error::{Error, ErrorKind, Result};
use crate::place::Place;
use crate::work_state;

/// The mapped files of one snapshot. Opening them takes milliseconds, so that many tasks share them.
pub(crate) struct Images {
    graph: Graph,
    search: Collection,
    names: Names,
    documents: Documents,
}

impl Images {
    pub(crate) fn open(opened: &Opened) -> Result<Images> {
        let (store, snapshot) = (&opened.store, opened.snapshot());
        let graph = knowing_index::open_graph(store, snapshot)?;
        let search = knowing_index::open_search(store, snapshot)?;
        let names = knowing_index::open_names(store, snapshot)?;
        Ok(Images { documents: Documents::new(&search, graph.ids()), graph, search, names })
    }
}

pub(crate) struct Engine<'a> {
    pub(crate) opened: &'a Opened,
    reader: Reader<'a>,
    images: Rc<Images>,
    /// Where the text of files can be read, when it was asked for.
    place: Option<Place>,
}

/// What is asked about.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Task(String),
    Files(Vec<String>),
    Changes(Vec<ChangedFile>),
}

/// A file that a change touches, and the lines of its new version that it changed; none: all of it.
#[derive(Clone, Debug)]
pub(crate) struct ChangedFile {
    pub(crate) path: String,
    /// As git says it, from the top, whatever directory it was asked in.
    pub(crate) is_from_top: bool,
    pub(crate) lines: Option<Vec<(u32, u32)>>,
}

/// How an answer is to be.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) settings: Settings,
    pub(crate) budget: usize,
    pub(crate) limit: usize,
    /// How many there are, and none of them.
    pub(crate) counts_only: bool,
    pub(crate) format: Format,
    pub(crate) detail: Detail,
    /// Bytes of the handle of the session that is answered: it stands in the answer, and makes ids longer.
    pub(crate) handle_bytes: Option<usize>,
}

impl Wanted {
    /// An answer that is read whole is held to what its reader takes at a time.
    pub(crate) fn hold_to(&mut self, max_tokens: usize) {
        let least = self.settings.params.pack.min_budget;
        if max_tokens < self.budget {
            self.budget = max_tokens.max(least);
        }
    }

    /// How packs of this kind are written: a reader has their ids from the same form only.
    pub(crate) fn form(&self) -> String {
        let session = if self.handle_bytes.is_some() { " in session" } else { "" };
        format!("{}{session}", self.format.name())
    }
}

impl Asked {
    fn entry(&self) -> &'static str {
        match self {
            Asked::Task(_) => "for_task",
            Asked::Files(_) => "for_files",
            Asked::Changes(_) => "for_pr",
        }
    }

    pub(crate) fn tool(&self) -> &'static str {
        match self {
            Asked::Task(_) => "context_for_task",
            Asked::Files(_) => "context_for_files",
            Asked::Changes(_) => "context_for_pr",
        }
    }
}

impl<'a> Engine<'a> {
    pub(crate) fn new(opened: &'a Opened, place: Option<Place>) -> Result<Engine<'a>> {
        Engine::with(opened, Rc::new(Images::open(opened)?), place)
    }

    pub(crate) fn with(opened: &'a Opened, images: Rc<Images>, place: Option<Place>) -> Result<Engine<'a>> {
        Ok(Engine { opened, reader: opened.store.reader(opened.snapshot())?, images, place })
    }

    pub(crate) fn sources(&self) -> Sources<'_> {
        let Images { graph, search, names, documents } = &*self.images;
        Sources { graph, search, names, documents }
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.opened.tree
    }

    /// What stands for it in the pack's identity. Files stand there by their paths from the top: what was typed means
    /// another file in another directory.
    fn text(&self, asked: &Asked) -> String {
        let path = |typed: &str| {
            self.file(typed).map_or(typed.to_owned(), |it| self.images.names.path(it).to_owned())
        };
        let lines: Vec<String> = match asked {
            Asked::Task(text) => return text.clone(),
            Asked::Files(files) => files.iter().map(|it| path(it)).collect(),
            Asked::Changes(files) => {
                let path = |it: &ChangedFile| {
                    self.changed(it).map_or(it.path.clone(), |it| self.images.names.path(it).to_owned())
                };
                files.iter().map(|it| format!("{} {:?}", path(it), it.lines)).collect()
            }
        };
        lines.join("\n")
    }

    /// Everything that can change an answer.
    pub(crate) fn key(&self, asked: &Asked, wanted: &Wanted) -> Hash {
        let Wanted { settings, budget, limit, format, detail, handle_bytes, counts_only: _ } = wanted;
        let text = self.text(asked);
        let params = settings.params.digest(&settings.switches, settings.ranker);
        let session = handle_bytes.map(|it| format!(" session {it}")).unwrap_or_default();
        Hasher::new("pack_key")
            .field(asked.entry().as_bytes())
            .field(identity::normalised_task(&text).as_bytes())
            // Case and white space can change what a task means to us: both stand in the key.
            .field(text.as_bytes())
            .field(self.opened.snapshot().id.as_bytes())
            .field(self.images.search.history_digest().as_bytes())
            .field(self.tree().fresh.as_bytes())
            // Lines are those of the files as they lie there.
            .field(self.tree().tree.as_bytes())
            .field(format!("{budget} {limit} {} {}{session}", format.name(), detail.name()).as_bytes())
            .field(params.as_bytes())
            .finish()
    }

    pub(crate) fn answer(&self, asked: &Asked, wanted: &Wanted) -> Payload {
        let run = self.run(asked, &wanted.settings);
        let params = &wanted.settings.params;
        let packing = Packing {
            entry: asked.entry(),
            asked: self.text(asked),
            budget: wanted.budget,
            format: wanted.format,
            detail: wanted.detail,
            limit: wanted.limit,
            cutoff: match asked {
                Asked::Task(_) => params.pack.task_cutoff,
                Asked::Files(_) => 0.0,
                Asked::Changes(_) => params.pack.pr_cutoff,
            },
        };
        let mut head = self.head(asked);
        if run.ranked.is_empty() && head.unknown_files.is_empty() {
            let note = "nothing fits; say what is to be done, or name a symbol, a file or an error message";
            head.notes.push(note.to_owned());
        }
        let Some(handle_bytes) = wanted.handle_bytes else {
            return pack(self.sources(), &run, &packing, params, wanted.settings.switches, self, head);
        };
        // Room for what only a session is told, which is no part of the pack.
        head.session = Some("-".repeat(handle_bytes));
        head.notes.push(crate::session::NEW.to_owned());
        let mut payload = pack(self.sources(), &run, &packing, params, wanted.settings.switches, self, head);
        payload.session = None;
        payload.notes.pop();
        stated(payload, |it| wanted.format.bytes(it))
    }

    pub(crate) fn run(&self, asked: &Asked, settings: &Settings) -> Run {
        match asked {
            Asked::Task(text) => knowing_retrieve::for_task(self.sources(), text, settings),
            Asked::Files(files) => {
                let files: Vec<FileIndex> = files.iter().filter_map(|it| self.file(it)).collect();
                knowing_retrieve::for_files(self.sources(), &files, settings)
            }
            Asked::Changes(files) => {
                let changed: Vec<NodeIndex> = files
                    .iter()
                    .filter_map(|it| Some((self.changed(it)?, &it.lines)))
                    .flat_map(|(file, lines)| self.touched(file, lines.as_deref()))
                    .collect();
                knowing_retrieve::for_changes(self.sources(), &changed, settings)
            }
        }
    }

    /// Files that the snapshot does not have.
    fn unknown(&self, asked: &Asked) -> Vec<String> {
        match asked {
            Asked::Task(_) => Vec::new(),
            Asked::Files(files) => files.iter().filter(|it| self.file(it).is_none()).cloned().collect(),
            Asked::Changes(files) => {
                files.iter().filter(|it| self.changed(it).is_none()).map(|it| it.path.clone()).collect()
            }
        }
    }

    fn head(&self, asked: &Asked) -> Payload {
        let tree = self.tree();
        let mut notes = Vec::from_iter(tree.stale.clone());
        if !tree.dirty.is_empty() {
            notes.push(format!("differ from the snapshot: {}", tree.dirty_names()));
        }
        Payload {
            tool: asked.tool().to_owned(),
            tree: tree.tree.clone(),
            snapshot: self.opened.snapshot().id,
            fresh: tree.fresh.clone(),
            budget: 0,
            tokens: 0,
            pack_root: None,
            repo: tree.repo.clone(),
            session: None,
            symbols: Vec::new(),
            edges: Vec::new(),
            notes,
            unknown_files: self.unknown(asked),
            next_cursor: None,
            mentioned: Vec::new(),
        }
    }

    /// A path from the directory it is typed in, or from the top.
    fn file(&self, path: &str) -> Option<FileIndex> {
        let path = path.strip_prefix("./").unwrap_or(path);
        let from_here = format!("{}{path}", self.opened.prefix);
        self.images.names.find_file(&from_here).or_else(|| self.images.names.find_file(path))
    }

    /// Where a symbol stands now; none when its file is as the snapshot has it.
    fn anchored(&self, node: NodeIndex) -> Option<(Rc<Anchors>, Anchored)> {
        let Images { graph, names, .. } = &*self.images;
        let anchors = self.opened.work.anchors(names.path(names.file(node.0)?))?;
        let found = anchors.declaration(names.symbol(node.0), graph.node(node).kind(), names.lines(node.0));
        Some((anchors, found))
    }

    fn changed(&self, file: &ChangedFile) -> Option<FileIndex> {
        if file.is_from_top { self.images.names.find_file(&file.path) } else { self.file(&file.path) }
    }

    /// The innermost symbols of a file that hold changed lines; all of them when the lines are not known.
    fn touched(&self, file: FileIndex, lines: Option<&[(u32, u32)]>) -> Vec<NodeIndex> {
        let nodes = self.images.names.in_file(file).iter().map(|&it| NodeIndex(it));
        let symbols = nodes.filter(|it| !self.images.names.symbol(it.0).is_empty());
        let Some(lines) = lines else { return symbols.collect() };
        let overlaps = |it: &NodeIndex| {
            let (first, last) = self.images.names.lines(it.0);
            lines.iter().any(|&(from, to)| first <= to && from <= last)
        };
        let holding: Vec<NodeIndex> = symbols.filter(overlaps).collect();
        let is_owner = |it: &NodeIndex| {
            let members = self.images.graph.outgoing_of(*it, EdgeKind::Contains);
            members.iter().any(|edge| holding.contains(&edge.other()))
        };
        let innermost: Vec<NodeIndex> = holding.iter().copied().filter(|it| !is_owner(it)).collect();
        innermost
    }
}

impl Texts for Engine<'_> {
    fn signature(&self, node: NodeIndex) -> Option<String> {
        let row = self.images.graph.node(node).node_row;
        let signature = self.reader.node(row).ok()?.signature;
        Some(signature).filter(|it| !it.is_empty())
    }

    fn source(&self, node: NodeIndex) -> Option<String> {
        let place = self.place.as_ref()?;
        let row = self.reader.node(self.images.graph.node(node).node_row).ok()?;
        if let Some((anchors, found)) = self.anchored(node) {
            let is_there = found.is_there;
            return is_there.then(|| anchors.text((found.first_line, found.last_line))).flatten();
        }
        let bytes = place.blob(&row.blob, &row.path)?;
        let text = String::from_utf8_lossy(&bytes);
        let (first, last) = (row.span.first_line.max(1) as usize, row.span.last_line as usize);
        let lines: Vec<&str> = text.lines().skip(first - 1).take((last + 1).saturating_sub(first)).collect();
        Some(lines.join("\n"))
    }

    fn on_disk(&self, node: NodeIndex) -> Option<OnDisk> {
        let (_, found) = self.anchored(node)?;
        let flags = work_state::flags(found).collect();
        Some(OnDisk { first_line: found.first_line, last_line: found.last_line, flags })
    }
}

/// Refuses what cannot hold an answer.
pub(crate) fn check_budget(budget: usize, settings: &Settings) -> Result<()> {
    let least = settings.params.pack.min_budget;
    if budget < least {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("a budget of {budget} tokens holds no answer"),
            format!("give at least {least}, such as `--budget {}`", settings.params.pack.pr_budget),
        ));
    }
    Ok(())
}

/// An answer kept from before, or none. What cannot be read is made anew.
pub(crate) fn stored(store: &Store, key: Hash) -> Option<Payload> {
    let text = store.pack_of_key(key).ok()??;
    knowing_wire::json::decode(&text).ok()
}

/// The cache is a convenience: a database that cannot be written still answers.
pub(crate) fn keep(store: &mut Store, repo: i64, key: Hash, payload: &Payload, form: &str, now: i64) {
    if let Some(root) = payload.pack_root {
        let payload = &knowing_wire::json::encode(payload);
        let _ = store.keep_pack(&NewPack { repo, key, root, form, payload, now });
    }
}
