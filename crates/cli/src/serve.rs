//! `knowing mcp` and `knowing serve`: the operations for agents.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::PathBuf;

use knowing_mcp::{Listen, Listing, Options};
use knowing_ops::{Error, ErrorKind};

/// Serve the operations as tools to an agent, over standard input and output
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add knowing -- knowing mcp
  knowing --repo ~/src/flask mcp

An agent starts this command and speaks the Model Context Protocol with it. It ends when its input ends.")]
pub(crate) struct Mcp {
    /// Which tools to list: `all`, `core`, or names; those that are not listed still answer
    #[arg(long, default_value = "all", value_delimiter = ',', value_name = "TOOL,...")]
    tools: Vec<String>,
}

/// Serve the operations as tools to several agents, over HTTP at `/mcp`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  knowing serve
  knowing --repo ~/src/flask serve --port 8000
  knowing serve --address 0.0.0.0 --token-file ~/.knowing-token

Without `--address` only programs of this machine can reach it. At any other address clients have to show a token:
`Authorization: Bearer ...`. It runs until it is stopped.")]
pub(crate) struct Serve {
    /// Where to listen; default 127.0.0.1 and ::1
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,
    /// The port; 0 lets the system choose
    #[arg(long, default_value_t = Listen::PORT)]
    port: u16,
    /// A file with the token that clients have to show; else `KNOWING_TOKEN`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Which tools to list: `all`, `core`, or names; those that are not listed still answer
    #[arg(long, default_value = "all", value_delimiter = ',', value_name = "TOOL,...")]
    tools: Vec<String>,
}

/// What both servers are told on the command line of every command.
pub(crate) struct From {
    pub(crate) database: Option<PathBuf>,
    pub(crate) repo: Option<String>,
    pub(crate) quiet: bool,
}

pub(crate) fn mcp(from: From, arguments: Mcp) -> Result<(), Error> {
    let options = Options { database: from.database, repo: from.repo, tools: listing(arguments.tools)? };
    let told = |message| Error::new(ErrorKind::Io, message, "start it from a client of the protocol");
    knowing_mcp::serve_stdio(options).map_err(told)
}

pub(crate) fn http(from: From, arguments: Serve) -> Result<(), Error> {
    let listen = Listen {
        address: arguments.address,
        port: arguments.port,
        token: token(arguments.token_file.as_deref())?,
    };
    if listen.is_reachable_by_others() && listen.token.is_none() {
        let message = format!(
            "others can reach `{}`, and anyone of them could ask",
            listen.address.map(|it| it.to_string()).unwrap_or_default()
        );
        let hint = "give a token with `--token-file FILE` or `KNOWING_TOKEN`, or leave out `--address`";
        return Err(Error::new(ErrorKind::Usage, message, hint));
    }
    let options = Options { database: from.database, repo: from.repo, tools: listing(arguments.tools)? };
    let quiet = from.quiet;
    let served = knowing_mcp::serve_http(options, listen, |addresses| {
        if !quiet {
            let at: Vec<String> = addresses.iter().map(|it| format!("http://{it}/mcp")).collect();
            let _ = writeln!(io::stderr().lock(), "serving at {}", at.join(" and "));
        }
    });
    let hint = "choose another `--port`, or end the program that listens there";
    served.map_err(|message| Error::new(ErrorKind::Io, message, hint))
}

fn token(file: Option<&std::path::Path>) -> Result<Option<String>, Error> {
    let text = match file {
        None => std::env::var("KNOWING_TOKEN").unwrap_or_default(),
        Some(file) => std::fs::read_to_string(file).map_err(|error| {
            let message = format!("cannot read the token from `{}`: {error}", file.display());
            Error::new(ErrorKind::Io, message, "name a file that holds the token and nothing else")
        })?,
    };
    let token = text.trim();
    if token.is_empty() && file.is_some() {
        let hint = "write one into it, such as 32 random letters";
        return Err(Error::new(ErrorKind::Usage, "the file holds no token", hint));
    }
    Ok(Some(token.to_owned()).filter(|it| !it.is_empty()))
}

fn listing(tools: Vec<String>) -> Result<Listing, Error> {
    let names: Vec<&str> = tools.iter().map(String::as_str).collect();
    match names[..] {
        ["all"] => return Ok(Listing::All),
        ["core"] => return Ok(Listing::Core),
        _ => {}
    }
    let known: Vec<&str> = knowing_ops::tools().iter().map(|it| it.name).collect();
    match tools.iter().find(|it| !known.contains(&it.as_str())) {
        None => Ok(Listing::Named(tools)),
        Some(name) => {
            let hint = format!("give `all`, `core`, or some of `{}`", known.join("`, `"));
            Err(Error::new(ErrorKind::Usage, format!("no tool is called `{name}`"), hint))
        }
    }
}
