//! `init`, `uninstall` and `doctor` on the files of real agents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use knowing_testkit::Fixture;
use serde_json::{Value, json};

use crate::session::{Ran, Session, shop};

const ALL: &str = "claude,codex,cursor,gemini,opencode,vscode,zed";

fn files_of(session: &Session, repo: &Fixture) -> BTreeMap<&'static str, PathBuf> {
    let at = |name: &str| repo.path().join(name);
    BTreeMap::from([
        ("claude", at(".mcp.json")),
        ("codex", session.file(".codex/config.toml")),
        ("cursor", at(".cursor/mcp.json")),
        ("gemini", at(".gemini/settings.json")),
        ("opencode", at("opencode.json")),
        ("vscode", at(".vscode/mcp.json")),
        ("zed", at(".zed/settings.json")),
    ])
}

#[track_caller]
fn init(session: &Session, repo: &Path, arguments: &[&str]) -> Ran {
    let mut command = session.command(repo);
    let output = command.arg("init").args(arguments).env_remove("CODEX_HOME").output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[track_caller]
fn uninstall(session: &Session, repo: &Path) {
    let output = session.command(repo).arg("uninstall").env_remove("CODEX_HOME").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Files as people have them.
fn lived_in(session: &Session, repo: &Fixture) -> BTreeMap<PathBuf, String> {
    let files = files_of(session, repo);
    let texts = [
        ("claude", "{\"mcpServers\": {\"other\": {\"command\": \"x\", \"args\": []}}}"),
        ("codex", "# mine\nmodel = \"best\"\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n"),
        ("cursor", "{}\n"),
        ("gemini", "{\n\t\"theme\": \"dark\", // at night\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}\n"),
        ("opencode", "{\r\n  \"$schema\": \"https://opencode.ai/config.json\"\r\n}\r\n"),
        ("vscode", "// servers\n{\n  \"inputs\": [],\n  \"servers\": {},\n}"),
        ("zed", "// Zed settings\n{\n  \"tab_size\": 2, /* two */\n  // the end\n}\n"),
    ];
    let mut before = BTreeMap::new();
    for (agent, text) in texts {
        write(&files[agent], text);
        before.insert(files[agent].clone(), text.to_owned());
    }
    for (name, text) in [("AGENTS.md", "# Agents\n\nBe kind."), ("CLAUDE.md", "# Claude\n")] {
        write(&repo.path().join(name), text);
        before.insert(repo.path().join(name), text.to_owned());
    }
    before
}

#[test]
fn p3_uninstall_leaves_every_file_byte_equal_to_before() {
    let (session, repo) = (Session::new(), shop());
    let before = lived_in(&session, &repo);
    repo.commit("settings");
    let ran = init(&session, repo.path(), &["--agent", ALL, "--instructions", "--no-index"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for (file, text) in &before {
        assert_ne!(read(file), *text, "{} was changed", file.display());
        assert!(read(file).contains("knowing"), "{}", file.display());
    }
    // Twice is as good as once.
    assert_eq!(init(&session, repo.path(), &["--agent", ALL, "--instructions", "--no-index"]).code, 0);
    uninstall(&session, repo.path());
    for (file, text) in &before {
        assert_eq!(read(file), *text, "{}", file.display());
    }
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    uninstall(&session, repo.path());
}

#[test]
fn p3_files_that_were_not_there_are_gone_again() {
    let (session, repo) = (Session::new(), shop());
    let ran = init(&session, repo.path(), &["--agent", ALL, "--instructions"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for (agent, file) in files_of(&session, &repo) {
        assert!(file.exists(), "{agent}");
    }
    assert_eq!(
        session.json(repo.path(), &["stats"])["repo"].as_str().map(str::is_empty),
        Some(false),
        "it was indexed"
    );
    uninstall(&session, repo.path());
    for (agent, file) in files_of(&session, &repo) {
        assert!(!file.exists(), "{agent}");
        assert!(
            agent == "claude" || agent == "opencode" || !file.parent().unwrap().exists(),
            "{agent}: its directory"
        );
    }
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
}

#[test]
fn p3_what_people_changed_meanwhile_stays() {
    let (session, repo) = (Session::new(), shop());
    lived_in(&session, &repo);
    let files = files_of(&session, &repo);
    assert_eq!(init(&session, repo.path(), &["--agent", ALL, "--instructions", "--no-index"]).code, 0);
    let edit = |file: &Path, from: &str, to: &str| {
        let text = read(file);
        assert!(text.contains(from), "{text}");
        write(file, &text.replacen(from, to, 1));
    };
    edit(&files["claude"], "\"x\"", "\"y\"");
    edit(&files["codex"], "best", "cheap");
    edit(&files["gemini"], "\"theme\": \"dark\"", "\"theme\": \"light\"");
    // A member behind ours, and ours changed.
    edit(&files["cursor"], "\"core\"", "\"all\"");
    edit(&files["cursor"], "\n    }\n  }\n}", "\n    },\n    \"new\": {}\n  }\n}");
    edit(&repo.path().join("AGENTS.md"), "Be kind.", "Be kind!");
    uninstall(&session, repo.path());
    assert_eq!(read(&files["claude"]), "{\"mcpServers\": {\"other\": {\"command\": \"y\", \"args\": []}}}");
    assert!(
        read(&files["codex"])
            .starts_with("# mine\nmodel = \"cheap\"\n\n[mcp_servers.other]\ncommand = \"x\" # keep\n")
    );
    assert_eq!(
        read(&files["gemini"]),
        "{\n\t\"theme\": \"light\", // at night\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}\n"
    );
    let cursor: Value = serde_json::from_str(&read(&files["cursor"])).unwrap();
    assert_eq!(cursor, json!({"mcpServers": {"new": {}}}));
    assert_eq!(read(&repo.path().join("AGENTS.md")), "# Agents\n\nBe kind!");
    for file in files.values() {
        assert!(!read(file).contains("knowing"), "{}", read(file));
    }
}

#[test]
fn each_agent_finds_the_server_where_it_looks() {
    let (session, repo) = (Session::new(), shop());
    assert_eq!(init(&session, repo.path(), &["--agent", ALL, "--no-index"]).code, 0);
    let files = files_of(&session, &repo);
    let json_of = |agent: &str| -> Value { serde_json::from_str(&read(&files[agent])).unwrap() };
    let arguments = json!(["mcp", "--tools", "core"]);
    for (agent, pointer) in [
        ("claude", "/mcpServers/knowing"),
        ("cursor", "/mcpServers/knowing"),
        ("gemini", "/mcpServers/knowing"),
        ("vscode", "/servers/knowing"),
        ("zed", "/context_servers/knowing"),
    ] {
        let entry = json_of(agent).pointer(pointer).cloned().unwrap();
        assert_eq!(entry["args"], arguments, "{agent}");
        assert!(Path::new(entry["command"].as_str().unwrap()).ends_with("knowing"), "{agent}: {entry}");
    }
    assert_eq!(json_of("vscode")["servers"]["knowing"]["type"], "stdio");
    let opencode = &json_of("opencode")["mcp"]["knowing"];
    assert_eq!((&opencode["type"], &opencode["command"][1]), (&json!("local"), &json!("mcp")));
    let codex: toml::Table = read(&files["codex"]).parse().unwrap();
    assert_eq!(codex["mcp_servers"]["knowing"]["args"][0].as_str(), Some("mcp"));
    assert!(!repo.path().join("AGENTS.md").exists(), "instructions only when asked for");
    // What it starts is a server.
    let command = json_of("claude")["mcpServers"]["knowing"]["command"].as_str().unwrap().to_owned();
    let mut server = std::process::Command::new(command);
    server.args(["mcp", "--tools", "core"]).current_dir(repo.path()).stdin(std::process::Stdio::null());
    let output = server.output().unwrap();
    assert!(output.status.success());
}

#[test]
fn showing_changes_nothing() {
    let (session, repo) = (Session::new(), shop());
    let shown = init(&session, repo.path(), &["--agent", "claude,codex", "--dry-run", "--instructions"]);
    assert_eq!(shown.code, 0);
    assert!(
        shown.stdout.contains("create claude: .mcp.json") && shown.stdout.contains("~/.codex/config.toml"),
        "{}",
        shown.stdout
    );
    let printed = init(&session, repo.path(), &["--agent", ALL, "--print-config"]);
    assert!(printed.stdout.contains("[mcp_servers.knowing]") && printed.stdout.contains("context_servers"));
    let told = init(&session, repo.path(), &["--agent", "claude", "--dry-run", "--json"]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&told["dry_run"], &told["changes"][0]["change"]), (&json!(true), &json!("create")));
    assert_eq!(repo.git(&["status", "--porcelain", "--ignored"]), "");
    assert!(!session.file(".codex").exists());
    // Nobody is used here.
    let none = init(&session, repo.path(), &[]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("--agent"), "{}", none.stderr);
    assert_eq!(init(&session, repo.path(), &["--agent", "nobody"]).code, 2);
    assert!(session.text(repo.path(), &["uninstall"]).contains("nothing was set up"));
}

#[test]
fn files_that_cannot_be_read_and_entries_of_others_are_left_alone() {
    let (session, repo) = (Session::new(), shop());
    let files = files_of(&session, &repo);
    for text in ["{\"mcpServers\": ", "[]", "{\"mcpServers\": 3}", "\u{1}"] {
        write(&files["claude"], text);
        let ran = init(&session, repo.path(), &["--agent", "claude", "--no-index"]);
        assert_eq!(ran.code, 2, "{text}");
        assert!(ran.stderr.contains(".mcp.json"), "{}", ran.stderr);
        assert_eq!(read(&files["claude"]), text);
    }
    let own = "{\"mcpServers\": {\"knowing\": {\"command\": \"mine\"}}}";
    write(&files["claude"], own);
    assert_eq!(init(&session, repo.path(), &["--agent", "claude", "--no-index"]).code, 0);
    uninstall(&session, repo.path());
    assert_eq!(read(&files["claude"]), own);
}

#[test]
fn doctor_says_what_is_wrong() {
    let (session, repo) = (Session::new(), shop());
    let told = |expected: i32| {
        let ran = session.run(repo.path(), &["doctor", "--json"]);
        assert_eq!(ran.code, expected, "{}", ran.stdout);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        let of = |name: &str| {
            let check = told["checks"].as_array().unwrap().iter().find(|it| it["check"] == name).cloned();
            check.map(|it| it["state"].as_str().unwrap().to_owned()).unwrap_or_default()
        };
        [of("git"), of("data"), of("database"), of("claude")]
    };
    assert_eq!(told(0), ["ok", "ok", "note", ""]);
    assert_eq!(init(&session, repo.path(), &["--agent", "claude"]).code, 0);
    assert_eq!(told(0), ["ok", "ok", "ok", "ok"]);
    write(&repo.path().join(".mcp.json"), "{");
    assert_eq!(told(1), ["ok", "ok", "ok", "wrong"]);
    assert!(session.run(repo.path(), &["doctor"]).stdout.contains("wrong claude"));
}

#[test]
fn p3_an_entry_at_home_stays_until_the_last_repository_is_done_with_it() {
    let (session, first, second) = (Session::new(), Fixture::new(), Fixture::new());
    let settings = session.file(".codex/config.toml");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    std::fs::write(&settings, "model = \"best\"\n").unwrap();
    for repo in [&first, &second] {
        repo.write("a.py", "def f(): pass\n");
        repo.commit("first");
        session.text(repo.path(), &["init", "--agent", "codex", "--no-index"]);
    }
    let told = session.text(first.path(), &["uninstall"]);
    assert!(told.contains("kept for other repositories"), "{told}");
    assert!(read(&settings).contains("mcp_servers.knowing"));
    assert!(session.text(first.path(), &["uninstall"]).contains("nothing was set up here"));
    session.text(second.path(), &["uninstall"]);
    assert_eq!(read(&settings), "model = \"best\"\n");
    // A repository that is gone has no say.
    session.text(first.path(), &["init", "--agent", "codex", "--no-index"]);
    session.text(second.path(), &["init", "--agent", "codex", "--no-index"]);
    drop(second);
    session.text(first.path(), &["uninstall"]);
    assert_eq!(read(&settings), "model = \"best\"\n");
}
