//! `knowing init` and `knowing uninstall`: agents learn of the server, and forget it again.

mod agents;
mod changes;
mod doctor;
mod jsonc;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use knowing_ops::{Error, ErrorKind, SCHEMA};
use serde_json::{Value, json};

use self::agents::{Agent, Places, shown};
use self::changes::{Change, Planned, Restored};
pub(crate) use self::doctor::{Doctor, doctor};
use crate::style::Style;

/// Set up agents for this repository: index it and enter the server where each agent looks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing init                             for the agents that seem to be used here
  knowing init --agent claude,codex
  knowing init --dry-run                   show what would change
  knowing init --agent zed --print-config  show what to enter by hand
  knowing init --instructions              tell agents in AGENTS.md or CLAUDE.md when to ask

Files are changed key by key, comments stay, and `knowing uninstall` takes it all back.")]
pub(crate) struct Init {
    /// For which agents; default those that seem to be used here
    #[arg(long, value_enum, value_delimiter = ',', value_name = "AGENT,...")]
    agent: Vec<Agent>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Show what to enter where, and change nothing
    #[arg(long, conflicts_with = "dry_run")]
    print_config: bool,
    /// Tell agents in AGENTS.md or CLAUDE.md when to ask
    #[arg(long)]
    instructions: bool,
    /// Do not index
    #[arg(long)]
    no_index: bool,
}

/// Take back what `knowing init` changed in this repository and for its agents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing uninstall
  knowing uninstall --dry-run

A file that was not touched since is as it was before, byte for byte; in one that was, only the entry goes. The index
stays: `knowing untrack-repo` removes it.")]
pub(crate) struct Uninstall {
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What the set-up works on.
pub(crate) struct Setup {
    /// The top of the checkout.
    pub(crate) project: PathBuf,
    /// Where data of programs lies.
    pub(crate) data: PathBuf,
    pub(crate) json: bool,
    pub(crate) style: Style,
}

const INSTRUCTIONS: &str = "\
## Finding your way in this code

The MCP server `knowing` has a graph of this repository: who calls, imports, extends and tests whom. Ask it before you
search text.

- Before a task: `context_for_task` with the task in a sentence; it returns the symbols that matter, ranked.
- Before you change a symbol: `blast_radius`; `unresolved` are calls whose target is not known, so look at those too.
- To find a symbol or what is around it: `graph_query` with a name, a pattern or `path:line`.
";

impl Setup {
    fn places(&self) -> Places {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
        Places { project: self.project.clone(), home: home.map(PathBuf::from).filter(|it| it.is_absolute()) }
    }

    fn records(&self) -> PathBuf {
        self.data.join("knowing").join("agents.json")
    }

    /// What lies at home serves several repositories: the record says which.
    fn join(&self, record: &mut Value) {
        let mut projects = self.others(record);
        projects.push(json!(self.project));
        record["projects"] = Value::Array(projects);
    }

    /// The other repositories that a record is of, those that are still there.
    fn others(&self, record: &Value) -> Vec<Value> {
        let projects = record["projects"].as_array().into_iter().flatten();
        let path = |it: &Value| it.as_str().map(PathBuf::from);
        let is_there = |it: &&Value| path(it).is_some_and(|it| it != self.project && it.is_dir());
        projects.filter(is_there).cloned().collect()
    }

    fn read_records(&self) -> Vec<Value> {
        let text = std::fs::read(self.records()).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Only the user may read it: settings hold keys.
    fn write_records(&self, records: &[Value]) -> Result<(), Error> {
        let file = self.records();
        let written = (|| -> io::Result<()> {
            if records.is_empty() {
                return match std::fs::remove_file(&file) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                };
            }
            let directory = file.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(directory)?;
            let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
            serde_json::to_writer_pretty(&mut temporary, records)?;
            temporary.persist(&file).map_err(|it| it.error)?;
            Ok(())
        })();
        written.map_err(|error| {
            let message = format!("cannot remember in `{}` what was changed: {error}", file.display());
            Error::new(ErrorKind::Io, message, "check that the data directory may be written")
        })
    }
}

/// Whether to index afterwards.
pub(crate) fn init(setup: &Setup, arguments: &Init, output: &mut dyn Write) -> Result<bool, Error> {
    let places = setup.places();
    let agents = chosen(arguments, &places)?;
    let command = agents::command();
    if arguments.print_config {
        print_config(&agents, &places, &command, setup.json, output)?;
        return Ok(false);
    }
    let planned = plan(&agents, &places, &command, arguments.instructions)?;
    if setup.json {
        let rows: Vec<Value> = planned.iter().map(|it| row(it, &places)).collect();
        let told = json!({ "schema": SCHEMA, "dry_run": arguments.dry_run, "changes": rows });
        writeln!(output, "{told}").map_err(|it| written(&it))?;
    } else {
        show(&planned, &places, setup.style, output).map_err(|it| written(&it))?;
    }
    if arguments.dry_run {
        return Ok(false);
    }
    let mut records = setup.read_records();
    for (_, planned) in &planned {
        let Planned::Change(change) = planned else { continue };
        // An earlier change of ours is what is taken back last.
        let record = apply(setup, change)?;
        records.push(record);
        setup.write_records(&records)?;
    }
    let at_home = agents.iter().filter_map(|it| it.entry(&places, &command)).map(|it| it.file);
    for file in at_home.filter(|it| !it.starts_with(&setup.project)) {
        let ours = records.iter_mut().filter(|it| it["file"].as_str().map(Path::new) == Some(&file));
        ours.for_each(|it| setup.join(it));
        setup.write_records(&records)?;
    }
    Ok(!arguments.no_index)
}

fn apply(setup: &Setup, change: &Change) -> Result<Value, Error> {
    let told = |error: io::Error| {
        let message = format!("cannot change `{}`: {error}", change.file.display());
        Error::new(
            ErrorKind::Io,
            message,
            "check that it may be written; `knowing uninstall` takes back the others",
        )
    };
    let backup =
        change.before.as_ref().map(|text| backup(setup, &change.file, text)).transpose().map_err(told)?;
    let made = change.apply().map_err(told)?;
    Ok(change.record(&made, backup.as_deref()))
}

/// The file as it was, for people.
fn backup(setup: &Setup, file: &Path, text: &str) -> io::Result<PathBuf> {
    let directory = setup.data.join("knowing").join("backups");
    std::fs::create_dir_all(&directory)?;
    let name: String =
        file.display().to_string().chars().map(|it| if it.is_alphanumeric() { it } else { '-' }).collect();
    let mut temporary = tempfile::NamedTempFile::new_in(&directory)?;
    temporary.write_all(text.as_bytes())?;
    let backup = directory.join(format!("{}.before", name.trim_matches('-')));
    temporary.persist(&backup).map_err(|it| it.error)?;
    Ok(backup)
}

fn chosen(arguments: &Init, places: &Places) -> Result<Vec<Agent>, Error> {
    let mut agents = arguments.agent.clone();
    if agents.is_empty() {
        agents = Agent::ALL.iter().copied().filter(|it| it.is_used(places)).collect();
    }
    agents.sort();
    agents.dedup();
    if agents.is_empty() {
        let names: Vec<&str> = Agent::ALL.iter().map(|it| it.name()).collect();
        let hint = format!("name some with `--agent`: `{}`", names.join("`, `"));
        return Err(Error::new(ErrorKind::Usage, "no agent seems to be used here", hint));
    }
    Ok(agents)
}

type Plan = (String, Planned);

fn plan(agents: &[Agent], places: &Places, command: &str, instructions: bool) -> Result<Vec<Plan>, Error> {
    let unreadable = |file: &Path, problem: String| {
        let message = format!("`{}` cannot be changed: {problem}", shown(file, places));
        Error::new(ErrorKind::BadInput, message, "repair it, or enter what `--print-config` shows by hand")
    };
    let mut planned = Vec::new();
    for agent in agents {
        let Some(entry) = agent.entry(places, command) else {
            let message = format!("`{}` keeps its settings at home, and `HOME` is not set", agent.name());
            return Err(Error::new(ErrorKind::Io, message, "set `HOME`"));
        };
        let found = changes::of_entry(&entry).map_err(|it| unreadable(&entry.file, it))?;
        planned.push((describe(&entry.file, agent.name(), places), found));
    }
    let mut files: Vec<&str> = agents.iter().map(|it| it.instructions()).filter(|_| instructions).collect();
    files.sort_unstable();
    files.dedup();
    for name in files {
        let file = places.project.join(name);
        let found = changes::of_instructions(&file, INSTRUCTIONS).map_err(|it| unreadable(&file, it))?;
        planned.push((describe(&file, "instructions", places), found));
    }
    Ok(planned)
}

fn describe(file: &Path, what: &str, places: &Places) -> String {
    format!("{what}: {}", shown(file, places))
}

fn row((what, planned): &Plan, places: &Places) -> Value {
    match planned {
        Planned::Change(change) => json!({
            "what": what,
            "file": shown(&change.file, places),
            "change": if change.before.is_some() { "edit" } else { "create" },
            "adds": change.pieces.concat(),
        }),
        Planned::Done => json!({ "what": what, "change": "none" }),
        Planned::Theirs => json!({ "what": what, "change": "kept" }),
    }
}

fn show(planned: &[Plan], _places: &Places, style: Style, output: &mut dyn Write) -> io::Result<()> {
    for (what, planned) in planned {
        match planned {
            Planned::Change(change) => {
                let verb = if change.before.is_some() { "edit" } else { "create" };
                writeln!(output, "{} {}", style.bold(verb), style.plain(what))?;
                for line in change.pieces.concat().lines().filter(|it| !it.trim().is_empty()) {
                    writeln!(output, "  + {}", style.plain(line))?;
                }
            }
            Planned::Done => writeln!(output, "{} {}", style.dim("as it should be"), style.plain(what))?,
            Planned::Theirs => {
                writeln!(output, "{} {} has an entry of its own", style.yellow("kept"), style.plain(what))?;
            }
        }
    }
    Ok(())
}

fn print_config(
    agents: &[Agent],
    places: &Places,
    command: &str,
    is_json: bool,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let mut rows = Vec::new();
    for agent in agents {
        let Some(entry) = agent.entry(places, command) else { continue };
        let empty = agents::Entry { file: PathBuf::new(), ..entry };
        let text = match changes::of_entry(&empty) {
            Ok(Planned::Change(change)) => change.after,
            _ => continue,
        };
        let file = agent.entry(places, command).map(|it| shown(&it.file, places)).unwrap_or_default();
        rows.push((agent.name(), file, text));
    }
    let told = match is_json {
        true => {
            let rows: Vec<Value> = rows
                .iter()
                .map(|(agent, file, text)| json!({ "agent": agent, "file": file, "text": text }))
                .collect();
            writeln!(output, "{}", json!({ "schema": SCHEMA, "agents": rows }))
        }
        false => rows
            .iter()
            .try_for_each(|(agent, file, text)| writeln!(output, "# {agent}: {file}\n{}\n", text.trim())),
    };
    told.map_err(|it| written(&it))
}

pub(crate) fn uninstall(setup: &Setup, arguments: &Uninstall, output: &mut dyn Write) -> Result<(), Error> {
    let places = setup.places();
    let is_here = |it: &Value| {
        let file = it["file"].as_str().map(Path::new);
        // What lies at home belongs to every repository.
        file.is_some_and(|it| it.starts_with(&setup.project) || !is_in_other_project(it, &places))
    };
    let (here, mut elsewhere): (Vec<Value>, Vec<Value>) = setup.read_records().into_iter().partition(is_here);
    let mut rows = Vec::new();
    // What serves other repositories, too, stays for them.
    let (shared, here): (Vec<Value>, Vec<Value>) =
        here.into_iter().partition(|it| !setup.others(it).is_empty());
    for mut record in shared {
        let others = setup.others(&record);
        let is_ours = record["projects"].as_array().is_some_and(|it| it.contains(&json!(setup.project)));
        if is_ours {
            let name = shown(Path::new(record["file"].as_str().unwrap_or_default()), &places);
            rows.push((KEPT, name));
        }
        record["projects"] = Value::Array(others);
        elsewhere.push(record);
    }
    if !rows.is_empty() && !arguments.dry_run {
        setup.write_records(&elsewhere.iter().chain(&here).cloned().collect::<Vec<_>>())?;
    }
    if here.is_empty() && rows.is_empty() && !setup.json {
        writeln!(output, "nothing was set up here").map_err(|it| written(&it))?;
    }
    let mut left = here.clone();
    // The last change first, so that each finds the file as it left it.
    while let Some(record) = left.last() {
        let file = record["file"].as_str().unwrap_or_default().to_owned();
        let name = shown(Path::new(&file), &places);
        if !arguments.dry_run {
            let restored = changes::take_back(record).map_err(|problem| {
                let message = format!("`{name}` cannot be restored: {problem}");
                Error::new(ErrorKind::Io, message, "take the entry `knowing` out by hand")
            })?;
            let done = match restored {
                Restored::Whole => "restored",
                Restored::Removed => "removed",
                Restored::Ours => "entry removed",
                Restored::Nothing => "nothing left to do",
            };
            rows.push((done, name));
        } else {
            rows.push(("would restore", name));
        }
        let gone = left.pop();
        if !arguments.dry_run {
            let records: Vec<Value> = elsewhere.iter().chain(&left).cloned().collect();
            setup.write_records(&records)?;
            let backup = gone.as_ref().and_then(|it| it["backup"].as_str());
            if let Some(backup) = backup {
                let _ = std::fs::remove_file(backup);
            }
        }
    }
    let told = match setup.json {
        true => {
            let rows: Vec<Value> =
                rows.iter().map(|(done, file)| json!({ "file": file, "done": done })).collect();
            writeln!(output, "{}", json!({ "schema": SCHEMA, "dry_run": arguments.dry_run, "files": rows }))
        }
        false => {
            rows.iter().try_for_each(|(done, file)| writeln!(output, "{done} {}", setup.style.plain(file)))
        }
    };
    told.map_err(|it| written(&it))
}

/// An entry at home that other repositories were set up with, too.
const KEPT: &str = "kept for other repositories";

/// Whether a file lies in a checkout that is not this one.
fn is_in_other_project(file: &Path, places: &Places) -> bool {
    let home = places.home.as_deref();
    file.ancestors().skip(1).take_while(|it| Some(*it) != home).any(|it| it.join(".git").exists())
}

fn written(error: &io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write the answer: {error}"), "check what reads it")
}
