//! `knowing doctor`: whether all that is needed is there and in order.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use knowing_ops::{Cx, Error, ErrorKind, SCHEMA};
use serde_json::{Value, json};

use super::agents::{self, Agent, shown};
use super::changes::{self, Planned};
use super::{Setup, written};

/// Check what is needed: git, the data directory, the database, entries of agents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing doctor
  knowing doctor --json

Exit codes: 0 nothing is wrong; 1 something is.")]
pub(crate) struct Doctor {}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    /// Worth knowing.
    Note,
    Wrong,
}

struct Check {
    name: String,
    state: State,
    message: String,
}

impl Check {
    fn new(name: impl Into<String>, state: State, message: impl Into<String>) -> Check {
        Check { name: name.into(), state, message: message.into() }
    }
}

/// Whether nothing is wrong.
pub(crate) fn doctor(setup: &Setup, cx: &mut Cx<'_>, output: &mut dyn Write) -> Result<bool, Error> {
    let mut checks = vec![git(), data(&setup.data), program(), database(cx)];
    checks.extend(entries(setup));
    let is_fine = checks.iter().all(|it| it.state != State::Wrong);
    let state = |it: State| match it {
        State::Fine => "ok",
        State::Note => "note",
        State::Wrong => "wrong",
    };
    if setup.json {
        let rows: Vec<Value> = checks
            .iter()
            .map(|it| json!({ "check": it.name, "state": state(it.state), "message": it.message }))
            .collect();
        writeln!(output, "{}", json!({ "schema": SCHEMA, "ok": is_fine, "checks": rows }))
            .map_err(|it| written(&it))?;
        return Ok(is_fine);
    }
    for check in &checks {
        let word = format!("{:<5}", state(check.state));
        let word = match check.state {
            State::Fine => setup.style.cyan(&word),
            State::Note => setup.style.yellow(&word),
            State::Wrong => setup.style.red(&word),
        };
        let (name, message) = (setup.style.bold(&check.name), setup.style.plain(&check.message));
        writeln!(output, "{word} {name}: {message}").map_err(|it| written(&it))?;
    }
    Ok(is_fine)
}

fn git() -> Check {
    match Command::new("git").arg("--version").output() {
        Ok(ran) if ran.status.success() => {
            Check::new("git", State::Fine, String::from_utf8_lossy(&ran.stdout).trim().to_owned())
        }
        Ok(_) => Check::new("git", State::Wrong, "`git --version` fails; install git again"),
        Err(error) => Check::new("git", State::Wrong, format!("cannot be started: {error}; install git")),
    }
}

/// The nearest directory that is there: the rest is made when it is needed.
fn data(directory: &Path) -> Check {
    let own = directory.join("knowing");
    let there = own.ancestors().find(|it| it.is_dir()).unwrap_or(Path::new("/"));
    match tempfile::tempfile_in(there) {
        Ok(_) => Check::new("data", State::Fine, format!("`{}` may be written", own.display())),
        Err(error) => {
            let message = format!("`{}` may not be written: {error}; set `XDG_DATA_HOME`", there.display());
            Check::new("data", State::Wrong, message)
        }
    }
}

fn program() -> Check {
    match agents::command().as_str() {
        "knowing" => Check::new("program", State::Fine, "`knowing` is found by its name"),
        path => Check::new(
            "program",
            State::Note,
            format!("`PATH` does not lead to `{path}`; agents are given the path"),
        ),
    }
}

fn database(cx: &mut Cx<'_>) -> Check {
    let health = match knowing_ops::resources::index_health(cx) {
        Ok(health) => health,
        Err(error) => {
            let is_missing = matches!(error.kind, ErrorKind::NoIndex | ErrorKind::Usage);
            let state = if is_missing { State::Note } else { State::Wrong };
            return Check::new("database", state, format!("{}; {}", error.message, error.hint));
        }
    };
    let text = |name: &str| health[name].as_str().unwrap_or_default().to_owned();
    let (state, advice) = match text("status").as_str() {
        "healthy" => (State::Fine, ""),
        "stale" => (State::Note, "; run `knowing index`"),
        "partial" => (State::Note, "; a run was interrupted, run `knowing index`"),
        _ => (State::Wrong, "; see `knowing fsck`"),
    };
    let message = format!("{} at {}, {} files{advice}", text("status"), text("tree"), health["files"]);
    Check::new("database", state, message)
}

fn entries(setup: &Setup) -> Vec<Check> {
    let places = setup.places();
    let command = agents::command();
    let mut checks = Vec::new();
    for agent in Agent::ALL.iter().filter(|it| it.is_used(&places)) {
        let Some(entry) = agent.entry(&places, &command) else { continue };
        let file = shown(&entry.file, &places);
        let (state, message) = match changes::of_entry(&entry) {
            Ok(Planned::Done) => (State::Fine, format!("entered in `{file}`")),
            Ok(Planned::Theirs) => (State::Fine, format!("`{file}` has an entry of its own")),
            Ok(Planned::Change(_)) => {
                (State::Note, format!("not entered in `{file}`; run `knowing init --agent {}`", agent.name()))
            }
            Err(problem) => (State::Wrong, format!("`{file}` cannot be read: {problem}")),
        };
        checks.push(Check::new(agent.name(), state, message));
    }
    checks
}
