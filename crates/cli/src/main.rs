//! The executable: parses a command line into an operation, runs it, and writes the answer; or serves agents.

mod context;
mod discovery;
mod progress;
mod render;
mod serve;
mod setup;
mod shells;
mod snapshots;
mod style;
mod supply_chain;
mod system;
mod upkeep;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser};
use knowing_ops::{
    ContextReply, Cx, Environment, Error, ErrorKind, Operation, Paging, Reply, SCHEMA, StalePolicy,
    TreeChoice, USUAL_TOKENS,
};

use crate::style::Style;

/// Know your code: what a task needs, who calls whom, and what a change may break
#[derive(Debug, Parser)]
#[command(name = "knowing", version, after_help = EXAMPLES, propagate_version = false, max_term_width = 110)]
#[command(next_help_heading = "Options of every command")]
struct CommandLine {
    /// The database to use, instead of the repository's own in the data directory
    #[arg(long, global = true, value_name = "FILE", env = "KNOWING_DB", hide_env_values = true)]
    db: Option<PathBuf>,
    /// The repository: a path (bare ones too), a url or the end of one; default the working directory
    #[arg(long, global = true, value_name = "REPO")]
    repo: Option<String>,
    /// Which state to answer from: `head`, `working`, a revision or a snapshot; what is not indexed is indexed first
    #[arg(long, global = true, value_name = "TREE", conflicts_with = "working_tree")]
    tree: Option<String>,
    /// Answer from the files as they lie there, committed or not; short for `--tree working`
    #[arg(long, global = true)]
    working_tree: bool,
    /// What to do when HEAD moved since it was indexed, or files were edited
    #[arg(long, global = true, value_name = "POLICY", value_enum, default_value_t)]
    stale_policy: StalePolicy,
    /// A name for a sequence of calls: what it was told is not told again (`--format gcf`)
    #[arg(long, global = true, value_name = "HANDLE")]
    session: Option<String>,
    /// How much of each list to give; 0 gives the numbers alone
    #[arg(long, global = true, value_name = "N")]
    limit: Option<usize>,
    /// Go on where an answer ended: its `next_cursor`, with the same arguments
    #[arg(long, global = true)]
    cursor: Option<String>,
    /// Size of an answer in JSON [default: 10000]
    #[arg(long, global = true, value_name = "TOKENS")]
    max_tokens: Option<usize>,
    /// Answer in JSON
    #[arg(long, global = true)]
    json: bool,
    /// No progress and no notes
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Say more: ids, times, every site
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// No colours
    #[arg(long, global = true)]
    no_color: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    #[command(flatten)]
    Operation(Operation),
    Mcp(serve::Mcp),
    Serve(serve::Serve),
    Init(setup::Init),
    Uninstall(setup::Uninstall),
    Doctor(setup::Doctor),
    Completions(shells::Completions),
    Man(shells::ManPage),
}

const EXAMPLES: &str = "\
Examples:
  knowing context 'retry uploads'      the symbols a task needs, best first; indexes when needed
  knowing why 'retry uploads' --symbol Client.send
  knowing index                        index the repository around the working directory
  knowing callers Flask.run            who calls a method
  knowing blast-radius Session.get     what a change of it may break
  knowing query 'get_*' --kinds method find symbols
  knowing prove serve make > p.json    that an edge exists, for someone who has only the file
  knowing export > graph.jsonl         everything, one JSON object a line

Exit codes: 0 done; 1 the answer is negative (not found, ambiguous, not indexed); 2 it could not be done.";

const USAGE: &str = "Usage: knowing [OPTIONS] <COMMAND>";

fn main() -> ExitCode {
    let mut command_line = match CommandLine::try_parse() {
        Ok(it) => it,
        Err(error) => return usage(&error),
    };
    if let Command::Operation(operation) = &mut command_line.command {
        command_line.json |= context::is_json(operation) || supply_chain::is_json(operation);
    }
    let (json, no_color) = (command_line.json, command_line.no_color);
    match run(command_line) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Negative) => ExitCode::from(1),
        Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Told(error)) => {
            report(&error, json, no_color);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

enum Outcome {
    Done,
    /// Done, and the answer is no.
    Negative,
}

enum Failure {
    /// Whoever reads our output has seen enough.
    Closed,
    Told(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        if error.is_closed_output() { Failure::Closed } else { Failure::Told(error) }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::Closed;
        }
        let message = format!("cannot write the answer: {error}");
        Failure::Told(Error::new(ErrorKind::Io, message, "check the disk or the program that reads it"))
    }
}

fn run(command_line: CommandLine) -> Result<Outcome, Failure> {
    let CommandLine {
        db, repo, tree, working_tree, stale_policy, session, limit, cursor, max_tokens, ..
    } = command_line;
    let CommandLine { json, quiet, verbose, no_color, command, .. } = command_line;
    let tree = match tree {
        _ if working_tree => TreeChoice::Working,
        Some(tree) => TreeChoice::named(&tree),
        None => TreeChoice::Head,
    };
    let style = Style::new(!no_color && style::wanted(&io::stdout()), verbose, quiet);
    let mut operation = match command {
        Command::Operation(operation) => operation,
        Command::Mcp(arguments) => {
            serve::mcp(serve::From { database: db, repo, quiet }, arguments)?;
            return Ok(Outcome::Done);
        }
        Command::Serve(arguments) => {
            serve::http(serve::From { database: db, repo, quiet }, arguments)?;
            return Ok(Outcome::Done);
        }
        Command::Completions(arguments) => {
            shells::completions(CommandLine::command(), &arguments, &mut io::stdout().lock())?;
            return Ok(Outcome::Done);
        }
        Command::Man(_) => {
            shells::man(CommandLine::command(), &mut io::stdout().lock())?;
            return Ok(Outcome::Done);
        }
        Command::Init(arguments) => {
            let setup = setup_at(&db, &repo, json, style)?;
            if !setup::init(&setup, &arguments, &mut io::stdout().lock())? {
                return Ok(Outcome::Done);
            }
            Operation::Index(Default::default())
        }
        Command::Uninstall(arguments) => {
            let setup = setup_at(&db, &repo, json, style)?;
            setup::uninstall(&setup, &arguments, &mut io::stdout().lock())?;
            return Ok(Outcome::Done);
        }
        Command::Doctor(_) => {
            let setup = setup_at(&db, &repo, json, style)?;
            let mut cx = Cx {
                environment: environment(db)?,
                repo,
                tree,
                stale: stale_policy,
                session: None,
                paging: Paging::default(),
                progress: &knowing_ops::Silent,
                output: &mut io::sink(),
            };
            let is_fine = setup::doctor(&setup, &mut cx, &mut io::stdout().lock())?;
            return Ok(if is_fine { Outcome::Done } else { Outcome::Negative });
        }
    };
    let environment = environment(db)?;
    if json {
        context::for_programs(&mut operation);
    } else {
        if io::stdout().is_terminal() {
            context::refuse_bytes_on_terminal(&mut operation)?;
        }
        context::for_people(&mut operation);
    }
    upkeep::ask(&mut operation);
    // People scroll; programs that read JSON are told where to go on. A pack has a budget of its own.
    let usual = (json && !context::is_pack(&mut operation)).then_some(USUAL_TOKENS);
    let paging = Paging { limit, cursor, max_tokens: max_tokens.or(usual) };
    let progress = progress::of_terminal(quiet);
    let mut output = io::stdout().lock();
    let mut cx = Cx {
        environment,
        repo,
        tree,
        stale: stale_policy,
        session,
        paging,
        progress: progress.as_ref(),
        output: &mut output,
    };
    let reply = operation.run(&mut cx)?;
    if let Reply::Export(written) = &reply {
        let mut notes = io::stderr().lock();
        let style = Style::new(!no_color && style::wanted(&notes), verbose, quiet);
        let _ = render::staleness(&written.tree, style, &mut notes);
        if verbose {
            let _ = writeln!(
                notes,
                "{} nodes, {} edges, {} unresolved",
                written.nodes, written.edges, written.unresolved
            );
        }
        return Ok(Outcome::Done);
    }
    if let Reply::Context(ContextReply { batch: Some(batch), .. }) = &reply {
        if !quiet && batch.failed > 0 {
            let _ = writeln!(io::stderr().lock(), "{} of {} tasks failed", batch.failed, batch.tasks);
        }
        return Ok(Outcome::Done);
    }
    let is_written = matches!(&reply, Reply::AuditSupplyChain(it) if it.is_written);
    if is_written {
        // SARIF is the answer.
    } else if json {
        serde_json::to_writer(&mut output, &reply).map_err(io::Error::from)?;
        writeln!(output)?;
    } else {
        render::reply(&reply, style, &mut output)?;
    }
    output.flush()?;
    Ok(if reply.is_negative() { Outcome::Negative } else { Outcome::Done })
}

fn environment(database: Option<PathBuf>) -> Result<Environment, Error> {
    Environment::of_process(database).map_err(|error| {
        let message = format!("there is no working directory: {error}");
        Error::new(ErrorKind::Io, message, "change to a directory that exists")
    })
}

/// The checkout around the working directory, or around the path that was given.
fn setup_at(
    database: &Option<PathBuf>,
    repo: &Option<String>,
    json: bool,
    style: Style,
) -> Result<setup::Setup, Error> {
    let environment = environment(database.clone())?;
    let start = repo
        .as_ref()
        .map_or(environment.working_directory.clone(), |it| environment.working_directory.join(it));
    let start = start.canonicalize().map_err(|error| {
        let message = format!("`{}` is no directory: {error}", start.display());
        Error::new(ErrorKind::BadInput, message, "give the path of a checkout")
    })?;
    let Some(data) = environment.data_directory else {
        let message = "there is no data directory: neither `XDG_DATA_HOME` nor `HOME` is set";
        return Err(Error::new(ErrorKind::Io, message, "set one of them"));
    };
    let project = start.ancestors().find(|it| it.join(".git").exists()).unwrap_or(&start).to_owned();
    Ok(setup::Setup { project, data, json, style })
}

/// Errors of people who type go to standard error; programs that asked for JSON get it where they read.
fn report(error: &Error, json: bool, no_color: bool) {
    if json {
        let mut output = io::stdout().lock();
        let _ = write!(output, "{{\"schema\":{SCHEMA},\"error\":");
        let _ = serde_json::to_writer(&mut output, error);
        let _ = writeln!(output, "}}");
        return;
    }
    let mut output = io::stderr().lock();
    let style = Style::new(!no_color && style::wanted(&output), false, false);
    let _ = render::error(error, style, &mut output);
}

/// Help and version are answers; the rest is a usage error, in JSON where that was asked for.
fn usage(error: &clap::Error) -> ExitCode {
    let asked_for_json = std::env::args_os().any(|it| it == "--json");
    if !error.use_stderr() || !asked_for_json {
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    let text = error.render().to_string();
    // What is wrong stands in the first paragraph; the line of usage is that of the command that was meant.
    let first: Vec<&str> = text.lines().take_while(|it| !it.is_empty()).map(str::trim).collect();
    let message = first.join(" ").trim_start_matches("error: ").to_owned();
    let usage = text.lines().find(|it| it.starts_with("Usage: ")).unwrap_or(USAGE);
    report(&Error::new(ErrorKind::Usage, message, format!("{usage}; see `knowing --help`")), true, true);
    ExitCode::from(2)
}

/// Whether a person watches our messages.
pub(crate) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}
