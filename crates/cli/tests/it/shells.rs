//! Completions and the manual say all that the help says; text is plain where nobody looks at a terminal.

use crate::session::{Session, shop};

/// Every command and, for each, its options as the help shows them.
fn verbs_and_flags(session: &Session) -> Vec<(String, Vec<String>)> {
    let directory = session.file("");
    let flags = |text: &str| -> Vec<String> {
        let words = text.split(|it: char| it.is_whitespace() || ",[]=.;:`'".contains(it));
        let mut flags: Vec<String> =
            words.filter(|it| it.len() > 2 && it.starts_with("--")).map(str::to_owned).collect();
        flags.retain(|it| it[2..].chars().all(|it| it.is_ascii_alphanumeric() || it == '-'));
        flags.sort();
        flags.dedup();
        flags
    };
    let options = |text: &str| -> String {
        // Options stand first on their line; what examples say is another matter.
        let lines = text.lines().filter(|it| it.trim_start().starts_with('-'));
        lines.map(|it| it.trim_start().split("  ").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    };
    // Wide enough that no line is broken.
    let main = session.command(&directory).arg("--help").env("COLUMNS", "200").output().unwrap();
    let main = String::from_utf8(main.stdout).unwrap();
    let lines = main.lines().skip_while(|it| *it != "Commands:").skip(1).take_while(|it| !it.is_empty());
    // A line that goes on is indented further.
    let verbs = lines.filter(|it| !it.starts_with("   ")).filter_map(|it| it.split_whitespace().next());
    verbs
        .filter(|it| *it != "help")
        .map(|verb| (verb.to_owned(), flags(&options(&session.text(&directory, &["help", verb])))))
        .collect()
}

#[test]
fn c3_completions_and_the_manual_hold_every_verb_and_flag() {
    let session = Session::new();
    let directory = session.file("");
    let all = verbs_and_flags(&session);
    assert!(all.len() > 25 && all.iter().any(|it| it.1.contains(&"--token-file".to_owned())), "{all:?}");
    let mut pages: Vec<(&str, String)> = ["bash", "zsh", "fish", "powershell"]
        .iter()
        .map(|shell| (*shell, session.text(&directory, &["completions", shell])))
        .collect();
    // The manual writes a hyphen so that it is one.
    pages.push(("man", session.text(&directory, &["man"]).replace("\\-", "-")));
    for (page, text) in &pages {
        for (verb, flags) in &all {
            assert!(text.contains(verb.as_str()), "{page}: {verb}");
            for flag in flags {
                let written = if *page == "fish" { format!("-l {}", &flag[2..]) } else { flag.clone() };
                assert!(text.contains(&written), "{page}: {verb} {flag}");
            }
        }
    }
    assert_eq!(session.run(&directory, &["completions", "tcsh"]).code, 2);
}

#[test]
fn c3_text_that_is_piped_is_plain_and_data_alone() {
    let (session, repo) = (Session::new(), shop());
    for arguments in [
        &["index"][..],
        &["stats"],
        &["query", "*"],
        &["context", "the total of a cart"],
        &["doctor"],
        &["init", "--agent", "claude", "--dry-run"],
        &["man"],
    ] {
        for no_color in ["", "1"] {
            let mut command = session.command(repo.path());
            let output = command
                .args(arguments)
                .env("NO_COLOR", no_color)
                .env("CLICOLOR_FORCE", "1")
                .output()
                .unwrap();
            assert!(output.status.success(), "{arguments:?}");
            for text in [&output.stdout, &output.stderr] {
                assert!(!text.contains(&0x1b), "{arguments:?}: {}", String::from_utf8_lossy(text));
            }
        }
    }
    let ran = session.run(repo.path(), &["stats", "--json"]);
    assert!(serde_json::from_str::<serde_json::Value>(&ran.stdout).is_ok());
}
