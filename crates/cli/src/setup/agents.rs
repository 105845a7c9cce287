//! The agents that can be set up: where each keeps its servers, and in which shape.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Agent {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Vscode,
    Zed,
}

/// What is put where, for one agent.
pub(super) struct Entry {
    pub(super) file: PathBuf,
    pub(super) path: &'static [&'static str],
    pub(super) value: Value,
    pub(super) syntax: Syntax,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    Toml,
}

/// The directories that agents look in.
pub(super) struct Places {
    /// The top of the checkout.
    pub(super) project: PathBuf,
    pub(super) home: Option<PathBuf>,
}

/// How an agent starts the server.
pub(super) const ARGUMENTS: [&str; 3] = ["mcp", "--tools", "core"];

impl Agent {
    pub(super) const ALL: &[Agent] = &[
        Agent::Claude,
        Agent::Codex,
        Agent::Cursor,
        Agent::Gemini,
        Agent::Opencode,
        Agent::Vscode,
        Agent::Zed,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Cursor => "cursor",
            Agent::Gemini => "gemini",
            Agent::Opencode => "opencode",
            Agent::Vscode => "vscode",
            Agent::Zed => "zed",
        }
    }

    /// The file with instructions that it reads.
    pub(super) fn instructions(self) -> &'static str {
        match self {
            Agent::Claude => "CLAUDE.md",
            _ => "AGENTS.md",
        }
    }

    /// None where the agent keeps its servers at home, and there is none.
    pub(super) fn entry(self, places: &Places, command: &str) -> Option<Entry> {
        let local = json!({ "command": command, "args": ARGUMENTS });
        let project = |file: &str, path: &'static [&'static str], value: Value| {
            Some(Entry { file: places.project.join(file), path, value, syntax: Syntax::Json })
        };
        match self {
            Agent::Claude => project(".mcp.json", &["mcpServers", "knowing"], local),
            Agent::Cursor => project(".cursor/mcp.json", &["mcpServers", "knowing"], local),
            Agent::Gemini => project(".gemini/settings.json", &["mcpServers", "knowing"], local),
            Agent::Vscode => {
                let value = json!({ "type": "stdio", "command": command, "args": ARGUMENTS });
                project(".vscode/mcp.json", &["servers", "knowing"], value)
            }
            Agent::Zed => {
                let value = json!({ "source": "custom", "command": command, "args": ARGUMENTS, "env": {} });
                project(".zed/settings.json", &["context_servers", "knowing"], value)
            }
            Agent::Opencode => {
                let all: Vec<&str> = [command].into_iter().chain(ARGUMENTS).collect();
                let value = json!({ "type": "local", "command": all, "enabled": true });
                let with_comments = "opencode.jsonc";
                let file = match places.project.join(with_comments).exists() {
                    true => with_comments,
                    false => "opencode.json",
                };
                project(file, &["mcp", "knowing"], value)
            }
            Agent::Codex => Some(Entry {
                file: codex_home(places)?.join("config.toml"),
                path: &["mcp_servers", "knowing"],
                value: local,
                syntax: Syntax::Toml,
            }),
        }
    }

    /// Whether it seems to be used here.
    pub(super) fn is_used(self, places: &Places) -> bool {
        let here = |name: &str| places.project.join(name).exists();
        let home = |name: &str| places.home.as_ref().is_some_and(|it| it.join(name).exists());
        match self {
            Agent::Claude => {
                here(".mcp.json") || here("CLAUDE.md") || home(".claude") || home(".claude.json")
            }
            Agent::Codex => codex_home(places).is_some_and(|it| it.exists()),
            Agent::Cursor => here(".cursor") || home(".cursor"),
            Agent::Gemini => here(".gemini") || home(".gemini"),
            Agent::Opencode => here("opencode.json") || here("opencode.jsonc") || home(".config/opencode"),
            Agent::Vscode => here(".vscode"),
            Agent::Zed => here(".zed") || home(".config/zed"),
        }
    }
}

fn codex_home(places: &Places) -> Option<PathBuf> {
    let given = std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|it| it.is_absolute());
    given.or_else(|| Some(places.home.as_ref()?.join(".codex")))
}

/// What starts this program: its name where that finds it, else where it lies.
pub(super) fn command() -> String {
    let own = std::env::current_exe().and_then(|it| it.canonicalize());
    let Ok(own) = own else { return "knowing".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|it| it.join("knowing")).find(|it| it.is_file());
    match first.and_then(|it| it.canonicalize().ok()) {
        Some(found) if found == own => "knowing".to_owned(),
        _ => own.display().to_string(),
    }
}

/// A path as people know it.
pub(super) fn shown(path: &Path, places: &Places) -> String {
    if let Ok(inside) = path.strip_prefix(&places.project) {
        return inside.display().to_string();
    }
    match places.home.as_ref().and_then(|it| path.strip_prefix(it).ok()) {
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    }
}
