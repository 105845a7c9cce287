//! Many tasks in one process: a line of JSON each, in the order of the file.

use std::io::BufRead as _;
use std::path::Path;
use std::rc::Rc;

use knowing_index::Carried;
use serde::{Deserialize, Serialize};

use super::engine::{Asked, Engine, Images, Wanted};
use super::{BatchReply, ContextOptions, Extent, PackReply, check_task, reply};
use crate::cx::{Cx, Opened, Target};
use crate::error::{Error, ErrorKind, Result};

/// What is read of a task, and nothing else.
#[derive(Deserialize)]
struct Line {
    id: serde_json::Value,
    description: String,
    #[serde(default)]
    base: Option<String>,
}

#[derive(Serialize)]
struct Answered<'a> {
    id: &'a serde_json::Value,
    #[serde(flatten)]
    pack: &'a PackReply,
}

#[derive(Serialize)]
struct Failed<'a> {
    id: &'a serde_json::Value,
    error: &'a Error,
}

pub(super) fn run(cx: &mut Cx<'_>, file: &Path, options: &ContextOptions) -> Result<BatchReply> {
    let path = cx.environment.working_directory.join(file);
    let unreadable = |error: std::io::Error| {
        let message = format!("cannot read `{}`: {error}", file.display());
        Error::new(ErrorKind::BadInput, message, "give a file with one JSON object a line")
    };
    let wanted = options.wanted(&Asked::Task(String::new()), None)?;
    let mut counts = BatchReply { tasks: 0, failed: 0 };
    let (mut target, mut standing) = (None, None);
    // Tasks about many commits of one repository: each index goes on from the one before.
    let mut carried = Carried::default();
    let input = std::io::BufReader::new(std::fs::File::open(&path).map_err(unreadable)?);
    for (number, line) in input.split(b'\n').enumerate() {
        let line = line.map_err(unreadable)?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        counts.tasks += 1;
        let nameless = serde_json::Value::from(number + 1);
        let (id, outcome) = match serde_json::from_slice::<Line>(&line) {
            Ok(task) => {
                let outcome = one(cx, &task, &wanted, (&mut target, &mut standing), &mut carried);
                (task.id, outcome)
            }
            Err(error) => {
                let message = format!("line {} is no task: {error}", number + 1);
                let id = id_of(&line).unwrap_or(nameless);
                (id, Err(Error::new(ErrorKind::BadInput, message, "a task has `id` and `description`")))
            }
        };
        let written = match &outcome {
            Ok(answer) => serde_json::to_string(&Answered { id: &id, pack: answer }),
            Err(error) => {
                counts.failed += 1;
                serde_json::to_string(&Failed { id: &id, error })
            }
        };
        let text = written.map_err(|error| Error::of_output(&error.into()))?;
        writeln!(cx.output, "{text}").map_err(|error| Error::of_output(&error))?;
    }
    carried.let_go();
    cx.output.flush().map_err(|error| Error::of_output(&error))?;
    Ok(counts)
}

fn id_of(line: &[u8]) -> Option<serde_json::Value> {
    serde_json::from_slice::<serde_json::Value>(line).ok()?.get("id").cloned()
}

/// Where the last task was answered.
struct Standing {
    base: Option<String>,
    opened: Opened,
    images: Rc<Images>,
}

/// Tasks about one commit share what was opened for the first of them.
fn one(
    cx: &mut Cx<'_>,
    task: &Line,
    wanted: &Wanted,
    (target, standing): (&mut Option<Target>, &mut Option<Standing>),
    carried: &mut Carried,
) -> Result<PackReply> {
    check_task(&task.description)?;
    if standing.as_ref().is_none_or(|it| it.base != task.base) {
        let opened = match &task.base {
            Some(base) => {
                // A repository without a remote is named by its first commit: found once.
                if target.is_none() {
                    *target = Some(cx.target()?);
                }
                let target = target.as_ref().expect("it was just set");
                cx.open_next_commit(target, base, carried)?
            }
            None => cx.open_fresh()?.0,
        };
        let images = Rc::new(Images::open(&opened)?);
        *standing = Some(Standing { base: task.base.clone(), opened, images });
    }
    let Standing { opened, images, .. } = standing.as_ref().expect("it was just set");
    let engine = Engine::with(opened, Rc::clone(images), cx.place().ok())?;
    let pack = engine.answer(&Asked::Task(task.description.clone()), wanted);
    let of = Extent { total: pack.symbols.len(), truncated: false, is_first: true };
    Ok(reply(pack, wanted, of))
}
