//! What a change brings that attacks on a supply chain need: secrets read, programs started, hosts called, scripts that run
//! on installation, text that becomes code.
//!
//! ```text
//! changed files ─> extract::capabilities ─> lists (what does not count) ─> score ─> verdict of file and package
//! graph         ─> who relies on a file; paths from a variable to a program or a host
//! ```

mod lists;
mod paths;
mod sarif;
mod score;

use std::collections::{BTreeMap, BTreeSet};

use knowing_extract::{Capability, CapabilityKind, capabilities};
use knowing_graph::NodeIndex;
use knowing_model::{EdgeKind, NodeFlags, NodeKind};
use knowing_search::FileIndex;
use knowing_store::FileRow;
use knowing_vcs::{ChangeKind, Changes, Wanted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Tree, rounded};
use crate::context_for_pr::changed_lines;
use crate::cx::{Cx, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::page::{Page, paged};
use crate::place::Place;
use crate::pr_impact::fork_point;
use crate::view::View;

/// Find what a change brings that attacks on a supply chain need
#[derive(Clone, Debug, clap::Args, Deserialize, JsonSchema)]
#[command(after_help = "\
Examples:
  knowing audit-supply-chain --base v1.4.0              what this release brings since the one before
  knowing audit-supply-chain --base main --head topic
  knowing audit-supply-chain --scan-all                 every file, changed or not
  knowing audit-supply-chain --base main --format sarif > findings.sarif

Counted are, in files that are new or changed and are no tests: environment variables that are read, programs that are \
started (compilers, git and the like apart), foreign hosts that are written out, scripts that run on installation, and \
text that is turned into code. A file scores 0 to 1 by how many there are, less the more of the unchanged code relies on \
it, more when what is started is computed or hidden. From `--threshold` on it is suspicious, if the change touched any of \
it. A package (directory) with two such files that are a tenth of it is suspicious, with any it wants a review.

Paths show how what is read may come to a program or a host. Exit code 1 means that something is suspicious.")]
pub struct AuditSupplyChain {
    /// The revision that the change starts from
    #[arg(long, value_name = "REV", required_unless_present = "scan_all")]
    #[serde(default)]
    pub base: Option<String>,
    /// Where the change ends; default HEAD
    #[arg(long, value_name = "REV")]
    #[serde(default)]
    pub head: Option<String>,
    /// Look at every file, not only at what changed
    #[arg(long)]
    #[serde(default)]
    pub scan_all: bool,
    /// The score from which a file is suspicious, 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = USUAL_THRESHOLD)]
    #[serde(default = "usual_threshold")]
    pub threshold: f64,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    #[serde(default)]
    pub format: AuditFormat,
}

const USUAL_THRESHOLD: f64 = 0.3;

fn usual_threshold() -> f64 {
    USUAL_THRESHOLD
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AuditFormat {
    #[default]
    Text,
    Json,
    /// SARIF 2.1.0, for services that show findings beside the code
    Sarif,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditSupplyChainReply {
    #[serde(flatten)]
    pub tree: Tree,
    /// The commit that the change starts from; none when every file was looked at and no change was named.
    pub base: Option<String>,
    pub head: String,
    pub threshold: f64,
    pub verdict: Verdict,
    /// Files that were looked at.
    pub audited: usize,
    /// Files that are suspicious.
    pub suspicious: usize,
    /// Files that can do something, the most suspicious first.
    pub files: Vec<AuditedFile>,
    pub total: usize,
    /// Packages with suspicious files.
    pub packages: Vec<AuditedPackage>,
    /// How what is read from the environment may come to a program or a host.
    pub paths: Vec<CapabilityPath>,
    /// Changed files that could not be looked at.
    pub unread: Vec<UnreadFile>,
    #[serde(flatten)]
    pub page: Page,
    /// What the user should know.
    pub notes: Vec<String>,
    /// SARIF went to the output already.
    #[serde(skip)]
    pub is_written: bool,
}

paged!(AuditSupplyChainReply: files, packages, paths, unread);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Clean,
    Review,
    Suspicious,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Clean => "clean",
            Verdict::Review => "review",
            Verdict::Suspicious => "suspicious",
        }
    }
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditedFile {
    pub file: String,
    pub package: String,
    /// `added`, `changed` or `unchanged`.
    pub change: &'static str,
    /// 0 to 1.
    pub score: f64,
    pub verdict: Verdict,
    /// Things that count.
    pub dangerous: usize,
    /// Symbols of unchanged code that use it.
    pub inbound: usize,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// `reads_env`, `executes_process`, `consumes_endpoint`, `install_script` or `dynamic_evaluation`.
    pub kind: &'static str,
    /// The variable, program, host, script or function; `?` where it is computed.
    pub what: String,
    pub line: u32,
    /// What it stands in; none at the top of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The change touched what it stands in.
    #[serde(rename = "new")]
    pub is_new: bool,
    /// What is run was decoded, decrypted or fetched in the same breath.
    pub hidden: bool,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AuditedPackage {
    /// A directory.
    pub package: String,
    pub verdict: Verdict,
    pub suspicious: usize,
    /// Files of the package, tests apart.
    pub files: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CapabilityPath {
    /// The variable.
    pub source: String,
    /// The program or host.
    pub target: String,
    pub steps: Vec<CapabilityStep>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CapabilityStep {
    pub symbol: String,
    /// The kind of the edge that led there; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UnreadFile {
    pub file: String,
    pub reason: String,
}

pub(crate) fn run(cx: &mut Cx<'_>, arguments: &AuditSupplyChain) -> Result<AuditSupplyChainReply> {
    if !(0.0..=1.0).contains(&arguments.threshold) {
        let message = format!("threshold `{}` is not between 0 and 1", arguments.threshold);
        return Err(Error::new(
            ErrorKind::Usage,
            message,
            "leave it out, or give for example `--threshold 0.3`",
        ));
    }
    if arguments.base.is_none() && !arguments.scan_all {
        let message = "neither a base revision nor `scan_all` is given";
        return Err(Error::new(ErrorKind::Usage, message, "say where the change starts with `--base REV`"));
    }
    let mut pages = cx.pages("audit_supply_chain", arguments, 1_000)?;
    let head = arguments.head.as_deref().unwrap_or("HEAD");
    let (base, changed) = match &arguments.base {
        Some(base) => {
            let fork = fork_point(cx, base, head)?;
            let changed = changed_between(cx, &fork, head)?;
            (Some(fork), changed)
        }
        None => (None, BTreeMap::new()),
    };
    let opened = cx.open_commit(head)?;
    let place = cx.place()?;
    let opened = pages.settle(opened)?;
    let view = opened.view()?;
    let audit = Audit { view: &view, place: &place, changed: &changed, arguments };
    let mut reply = audit.reply(&opened, base)?;
    if arguments.format == AuditFormat::Sarif {
        let written = serde_json::to_writer_pretty(&mut *cx.output, &sarif::sarif(&reply));
        written.map_err(|it| Error::of_output(&it.into()))?;
        writeln!(cx.output).map_err(|it| Error::of_output(&it))?;
        reply.is_written = true;
        return Ok(reply);
    }
    reply.files = pages.of(reply.files);
    reply.packages = pages.of(reply.packages);
    reply.paths = pages.of(reply.paths);
    reply.unread = pages.of(reply.unread);
    pages.finish(&mut reply)?;
    Ok(reply)
}

/// A file that changed: what it is now, and which lines are others.
struct ChangedFile {
    is_added: bool,
    /// None for what is no text, or is too large.
    text: Option<Vec<u8>>,
    lines: Option<Vec<(u32, u32)>>,
}

/// Larger files are not audited; they are listed.
const MAX_BYTES: u64 = 4 << 20;
const MAX_FILES: usize = 20_000;

fn changed_between(cx: &Cx<'_>, fork: &str, head: &str) -> Result<BTreeMap<String, ChangedFile>> {
    let place = cx.place()?;
    let Place::Git(checkout) = &place else { return Ok(BTreeMap::new()) };
    let (from, to) = (checkout.resolve(fork)?, checkout.resolve(head)?);
    let wanted = Wanted { path: &|_| true, max_files: MAX_FILES, max_bytes: MAX_BYTES };
    let files = match checkout.differ().changes_between(from, to, wanted)? {
        Changes::Files(files) => files,
        Changes::TooMany { .. } => {
            let message = format!("more than {MAX_FILES} files changed since `{fork}`");
            return Err(Error::new(ErrorKind::Limit, message, "take a later base, or use `--scan-all`"));
        }
        Changes::Missing => {
            let message = format!("what changed since `{fork}` is not in this clone");
            return Err(Error::new(ErrorKind::BadInput, message, "fetch it, or use `--scan-all`"));
        }
    };
    // A file that has another name and the same text was changed by nobody.
    let is_moved = |it: &knowing_vcs::FileChange| it.old_path.is_some() && it.text.is_none();
    let there = files.into_iter().filter(|it| it.kind != ChangeKind::Deleted && !is_moved(it));
    let file = |it: knowing_vcs::FileChange| {
        let is_added = it.kind == ChangeKind::Added;
        let lines = it.text.as_ref().filter(|_| !is_added).map(changed_lines);
        (it.path, ChangedFile { is_added, lines, text: it.text.map(|it| it.new) })
    };
    Ok(there.map(file).collect())
}

struct Audit<'a> {
    view: &'a View<'a>,
    place: &'a Place,
    changed: &'a BTreeMap<String, ChangedFile>,
    arguments: &'a AuditSupplyChain,
}

impl Audit<'_> {
    fn reply(&self, opened: &Opened, base: Option<String>) -> Result<AuditSupplyChainReply> {
        let rows: Vec<FileRow> = self.view.reader().files()?;
        let mut known: BTreeMap<&str, &FileRow> = BTreeMap::new();
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            known.insert(&row.path, row);
            if row.skip_reason.is_none() && !row.flags.contains(NodeFlags::TEST) {
                *sizes.entry(&row.package).or_default() += 1;
            }
        }
        let mut paths: BTreeSet<&str> = self.changed.keys().map(String::as_str).collect();
        if self.arguments.scan_all {
            paths.extend(rows.iter().map(|it| it.path.as_str()));
        }
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        let (mut n_audited, mut audited_nodes) = (0, BTreeSet::new());
        for path in paths {
            let row = known.get(path).copied();
            if row.is_some_and(|it| it.flags.contains(NodeFlags::TEST)) {
                continue;
            }
            let reason = match row.and_then(|it| it.skip_reason.clone()) {
                // Who audits a vendored copy changes nothing about it; who changes it does.
                Some(reason) if self.changed.contains_key(path) => Some(reason),
                Some(_) => continue,
                None => None,
            };
            let Some(text) = self.text(path, row) else {
                let reason = reason.unwrap_or_else(|| "no_text".to_owned());
                unread.push(UnreadFile { file: path.to_owned(), reason });
                continue;
            };
            if let Some(reason) = reason.filter(|it| it != "vendored") {
                unread.push(UnreadFile { file: path.to_owned(), reason });
                continue;
            }
            n_audited += 1;
            let at = self.view.names()?.find_file(path);
            audited_nodes.extend(at.into_iter().flat_map(|it| self.nodes(it)));
            let package = row.map_or_else(|| directory_of(path), |it| it.package.clone());
            let language = row.map_or("", |it| it.language.as_str());
            files.extend(self.file(path, package, language, &text, at)?);
        }
        files.sort_by(|a: &AuditedFile, b| b.score.total_cmp(&a.score).then_with(|| a.file.cmp(&b.file)));
        let mut suspicious_in: BTreeMap<&str, usize> = BTreeMap::new();
        for it in files.iter().filter(|it| it.verdict == Verdict::Suspicious) {
            *suspicious_in.entry(&it.package).or_default() += 1;
        }
        let package = |(package, suspicious): (&&str, &usize)| {
            let n_files = sizes.get(*package).copied().unwrap_or(0).max(*suspicious);
            let verdict = score::verdict(*suspicious, n_files);
            AuditedPackage {
                package: (*package).to_owned(),
                verdict,
                suspicious: *suspicious,
                files: n_files,
            }
        };
        let packages: Vec<AuditedPackage> = suspicious_in.iter().map(package).collect();
        let suspicious = suspicious_in.values().sum();
        let (paths, is_cut) = self.paths(&audited_nodes)?;
        let mut notes = Vec::new();
        if is_cut {
            notes.push("the search for paths was ended early: there may be more".to_owned());
        }
        if !unread.is_empty() {
            notes.push(format!("{} changed files could not be looked at", unread.len()));
        }
        Ok(AuditSupplyChainReply {
            tree: self.view.tree().clone(),
            base,
            head: knowing_model::hex(&opened.snapshot.commit),
            threshold: self.arguments.threshold,
            verdict: packages.iter().map(|it| it.verdict).max().unwrap_or(Verdict::Clean),
            audited: n_audited,
            suspicious,
            total: files.len(),
            files,
            packages,
            paths,
            unread,
            page: Page::default(),
            notes,
            is_written: false,
        })
    }

    fn text(&self, path: &str, row: Option<&FileRow>) -> Option<Vec<u8>> {
        match self.changed.get(path) {
            Some(changed) => changed.text.clone(),
            None => row.and_then(|it| self.place.blob(&it.blob, path)),
        }
    }

    /// None for a file that can do nothing.
    fn file(
        &self,
        path: &str,
        package: String,
        language: &str,
        text: &[u8],
        at: Option<FileIndex>,
    ) -> Result<Option<AuditedFile>> {
        let counts = |it: &Capability| match it.kind {
            CapabilityKind::ReadsEnv => !lists::is_benign_variable(&it.what),
            CapabilityKind::ExecutesProcess => !lists::is_benign_program(language, &it.what),
            _ => true,
        };
        let found: Vec<Capability> = capabilities(path, text).into_iter().filter(counts).collect();
        if found.is_empty() {
            return Ok(None);
        }
        let inbound = at.map_or(0, |it| self.inbound(it));
        let score = score::score(&found, inbound);
        let changed = self.changed.get(path);
        let mut findings = Vec::new();
        for it in found {
            let symbol = at.and_then(|at| self.symbol_at(at, it.line));
            findings.push(Finding {
                kind: it.kind.name(),
                is_new: changed.is_none_or(|changed| self.touches(changed, at, symbol, it.line)),
                line: it.line,
                symbol: symbol.map(|it| self.view.qualified_name(it)).transpose()?,
                hidden: it.hidden,
                what: it.what,
            });
        }
        let is_suspicious =
            score.value + 1e-9 >= self.arguments.threshold && findings.iter().any(|it| it.is_new);
        Ok(Some(AuditedFile {
            file: path.to_owned(),
            package,
            change: match changed {
                Some(it) if it.is_added => "added",
                Some(_) => "changed",
                None => "unchanged",
            },
            score: rounded(score.value),
            verdict: if is_suspicious { Verdict::Suspicious } else { Verdict::Clean },
            dangerous: score.dangerous,
            inbound,
            findings,
        }))
    }

    fn nodes(&self, file: FileIndex) -> Vec<NodeIndex> {
        let names = self.view.names().map(|it| it.in_file(file).to_vec()).unwrap_or_default();
        names.into_iter().map(NodeIndex).collect()
    }

    /// Symbols of code that did not change and is no test, which use something of a file.
    fn inbound(&self, file: FileIndex) -> usize {
        use EdgeKind::{
            AccessesField, Calls, Decorates, Extends, HandlesRoute, Implements, Imports, Overrides,
            References, TypeHintOf,
        };
        const USES: [EdgeKind; 10] = [
            AccessesField,
            Calls,
            Decorates,
            Extends,
            HandlesRoute,
            Implements,
            Imports,
            Overrides,
            References,
            TypeHintOf,
        ];
        let (graph, Ok(names)) = (self.view.graph(), self.view.names()) else { return 0 };
        let is_unchanged = |it: &NodeIndex| {
            let is_test = graph.node(*it).flags().contains(NodeFlags::TEST);
            let other = names.file(it.0).filter(|it| *it != file);
            !is_test && other.is_some_and(|it| !self.changed.contains_key(names.path(it)))
        };
        let own = self.nodes(file);
        let edges = own.iter().flat_map(|it| graph.incoming(*it));
        let users: BTreeSet<NodeIndex> =
            edges.filter(|it| USES.contains(&it.kind())).map(|it| it.other()).filter(is_unchanged).collect();
        users.len()
    }

    /// The innermost symbol around a line.
    fn symbol_at(&self, file: FileIndex, line: u32) -> Option<NodeIndex> {
        let names = self.view.names().ok()?;
        let holds = |it: &NodeIndex| {
            let (first, last) = names.lines(it.0);
            first <= line && line <= last && self.view.graph().node(*it).kind() != NodeKind::File
        };
        let size = |it: &NodeIndex| {
            let (first, last) = names.lines(it.0);
            (last - first, *it)
        };
        self.nodes(file).into_iter().filter(holds).min_by_key(size)
    }

    /// Whether a change touched what a line stands in: its symbol, or of the rest of the file any line.
    fn touches(
        &self,
        changed: &ChangedFile,
        file: Option<FileIndex>,
        symbol: Option<NodeIndex>,
        line: u32,
    ) -> bool {
        let Some(lines) = &changed.lines else { return true };
        let Ok(names) = self.view.names() else { return true };
        if let Some(symbol) = symbol {
            let (first, last) = names.lines(symbol.0);
            return lines.iter().any(|&(from, to)| first <= to && from <= last);
        }
        let Some(file) = file else { return true };
        let is_outside = |line: u32| self.symbol_at(file, line).is_none();
        lines.iter().any(|&(from, to)| (from..=to).contains(&line) || is_outside(from) || is_outside(to))
    }

    fn paths(&self, audited: &BTreeSet<NodeIndex>) -> Result<(Vec<CapabilityPath>, bool)> {
        let (graph, names) = (self.view.graph(), self.view.names()?);
        let is_source = |it: NodeIndex| !lists::is_benign_variable(names.symbol(it.0));
        let is_target = |it: NodeIndex| match graph.node(it).kind() {
            NodeKind::Process => !lists::is_benign_program("", names.symbol(it.0)),
            NodeKind::Endpoint => {
                let host = names.symbol(it.0).split('/').next().unwrap_or_default();
                knowing_extract::is_foreign(host)
            }
            _ => false,
        };
        let is_variable = |it: NodeIndex| matches!(graph.node(it).kind(), NodeKind::Var | NodeKind::Const);
        let place = |it: NodeIndex| match names.file(it.0).filter(|_| is_variable(it)) {
            Some(file) => {
                let own = names.in_file(file).iter().map(|it| NodeIndex(*it));
                own.into_iter().find(|it| graph.node(*it).kind() == NodeKind::File).unwrap_or(it)
            }
            None => it,
        };
        let parts = |it: NodeIndex| match names.file(it.0) {
            Some(file) if graph.node(it).kind() == NodeKind::File => {
                let own = names.in_file(file).iter().map(|it| NodeIndex(*it));
                own.filter(|other| *other == it || is_variable(*other)).collect()
            }
            _ => vec![it],
        };
        let ends = paths::Ends { is_source: &is_source, is_target: &is_target, place: &place, parts: &parts };
        let is_test = |it: NodeIndex| graph.node(it).flags().contains(NodeFlags::TEST);
        let (found, is_cut) = paths::paths(graph, audited, &ends);
        let mut listed = Vec::new();
        for path in found {
            if path.steps.iter().any(|it| is_test(it.0)) {
                continue;
            }
            let mut steps = Vec::new();
            for (node, kind) in path.steps {
                let info = self.view.info(node)?;
                let kind = kind.map(EdgeKind::name);
                steps.push(CapabilityStep {
                    symbol: info.qualified_name,
                    kind,
                    file: info.file,
                    line: info.line,
                });
            }
            let end = |it: Option<&CapabilityStep>| it.map(|it| it.symbol.clone()).unwrap_or_default();
            listed.push(CapabilityPath { source: end(steps.first()), target: end(steps.last()), steps });
        }
        Ok((listed, is_cut))
    }
}

fn directory_of(path: &str) -> String {
    path.rsplit_once('/').map_or(".", |it| it.0).to_owned()
}
