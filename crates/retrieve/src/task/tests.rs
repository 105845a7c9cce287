//! Tasks as people write them, and what is read from them.

use proptest::prelude::*;

use super::{Keyword, Place, Task};

fn texts(keywords: &[Keyword]) -> Vec<&str> {
    keywords.iter().map(|it| it.text.as_str()).collect()
}

#[track_caller]
fn subject(text: &str, scope: Option<&str>, expected: &str) {
    let task = Task::parse(text);
    assert_eq!((task.scope.as_deref(), task.subject.as_str()), (scope, expected));
}

#[track_caller]
fn exact(text: &str, expected: &[&str]) {
    assert_eq!(texts(&Task::parse(text).keywords.exact), expected);
}

#[track_caller]
fn compounds(text: &str, expected: &[&str]) {
    assert_eq!(texts(&Task::parse(text).keywords.compounds), expected);
}

#[track_caller]
fn components(text: &str, expected: &[&str]) {
    assert_eq!(texts(&Task::parse(text).keywords.components), expected);
}

/// Each as `text`, `text()` when called, with the place after `@`.
#[track_caller]
fn identifiers(text: &str, expected: &[&str]) {
    let task = Task::parse(text);
    let found: Vec<String> = task
        .identifiers
        .iter()
        .map(|it| format!("{}{}@{:?}", it.text, if it.called { "()" } else { "" }, it.place))
        .collect();
    assert_eq!(found, expected);
}

/// Each as `file:line function`.
#[track_caller]
fn frames(text: &str, language: &str, expected: &[&str]) {
    let task = Task::parse(text);
    let found: Vec<String> = task
        .frames
        .iter()
        .map(|it| {
            let line = it.line.map_or(String::new(), |it| format!(":{it}"));
            format!("{}{line} {}", it.file, it.function.as_deref().unwrap_or("-"))
        })
        .collect();
    assert_eq!(found, expected);
    assert!(task.frames.iter().all(|it| it.language == language), "{:?}", task.frames);
}

#[track_caller]
fn messages(text: &str, exceptions: &[&str], expected: &[&str]) {
    let task = Task::parse(text);
    assert_eq!(task.exceptions, exceptions);
    assert_eq!(task.messages, expected);
}

#[track_caller]
fn paths(text: &str, expected: &[(&str, Option<u32>)]) {
    let task = Task::parse(text);
    let found: Vec<(&str, Option<u32>)> = task.paths.iter().map(|it| (it.path.as_str(), it.line)).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn imported(text: &str, expected: &[&str]) {
    let task = Task::parse(&format!("Something fails\n\n```\n{text}\n```\n"));
    let found: Vec<String> = task.imported.iter().map(|it| it.join(".")).collect();
    assert_eq!(found, expected);
}

/// What is left of the text under the subject.
#[track_caller]
fn left(text: &str, expected: &str) {
    let task = Task::parse(&format!("Subject line\n{text}"));
    assert_eq!(task.text.strip_prefix("Subject line").unwrap_or_default().trim_start(), expected);
}

// Subject and scope.

#[test]
fn a_conventional_prefix_is_split_off() {
    subject("fix(parser): accept tabs", Some("parser"), "accept tabs");
    subject("feat(api)!: drop v1", Some("api"), "drop v1");
    subject("feat: add dark mode", None, "add dark mode");
    subject("revert: fix(db): close pools", Some("db"), "close pools");
}

#[test]
fn a_package_before_a_colon_is_the_scope() {
    subject("reverse_proxy: use the new setting (#7157)", Some("reverse_proxy"), "use the new setting");
    subject("net/http: close idle connections", Some("net/http"), "close idle connections");
    subject("zoekt-index: usage message", Some("zoekt-index"), "usage message");
    subject("[network] retry twice", Some("network"), "retry twice");
}

#[test]
fn an_error_before_a_colon_is_no_scope() {
    subject("TypeError: x is not a function", None, "TypeError: x is not a function");
    subject("error: cannot find value", None, "error: cannot find value");
    subject("How does it work: a question", None, "How does it work: a question");
}

#[test]
fn labels_numbers_and_emoji_before_the_subject_go() {
    subject("[Bug]: Legend is cut off", None, "Legend is cut off");
    subject("Fixed #36519 -- Made center consistent.", None, "Made center consistent.");
    subject("KAFKA-16224: Do not retry committing (#15581)", None, "Do not retry committing");
    subject("🐛 Strip whitespaces", None, "Strip whitespaces");
    subject(":bug: Strip whitespaces", None, "Strip whitespaces");
    subject("\n\n## Crash on start\n\nIt crashes.", None, "Crash on start");
}

#[test]
fn a_first_line_that_looks_like_code_is_still_the_subject() {
    subject("rename merge_holes => merge_all_holes", None, "rename merge_holes => merge_all_holes");
    subject("foo.bar()", None, "foo.bar()");
}

#[test]
fn of_a_long_first_paragraph_the_first_sentence_is_the_subject() {
    let task = Task::parse(&format!(
        "The cache is never cleared after a write. {}",
        "It grows and grows. ".repeat(20)
    ));
    assert_eq!(task.subject, "The cache is never cleared after a write.");
    assert!(task.prose.starts_with("It grows"));
}

#[test]
fn a_task_of_code_alone_has_its_first_line_as_subject() {
    subject("```python\nparse_duration('1d')\n```", None, "parse_duration('1d')");
}

// Keywords.

#[test]
fn backticks_are_exact() {
    exact("Make `get_user` and ``Client.send()`` agree", &["get_user", "Client.send"]);
    exact("Add `--no-cache` and `<uuid:id>`", &["--no-cache", "<uuid:id>"]);
    exact("Run `git push` twice, `x`, `1.2.3`", &[]);
    exact(&format!("Too long `{}`", "a".repeat(101)), &[]);
}

#[test]
fn names_of_several_parts_and_their_last_part_are_compounds() {
    compounds("the app_list", &["app_list"]);
    compounds("HTTPServer", &["HTTPServer"]);
    compounds("it is in QuerySet.delete", &["QuerySet.delete", "delete"]);
    compounds("it is in tokio::sync::Mutex", &["tokio::sync::Mutex", "Mutex"]);
    compounds("slugify() is slow", &["slugify"]);
}

#[test]
fn versions_and_abbreviations_are_no_names() {
    compounds("since 1.2.3 and v2.0, e.g. here, i.e. there", &[]);
    compounds("GitHub and JavaScript on example.com", &[]);
}

#[test]
fn the_noun_after_a_leading_verb_comes_first() {
    let task = Task::parse("Fix the get_queryset of ModelAdmin");
    assert_eq!(texts(&task.keywords.compounds)[0], "get_queryset");
    let task = Task::parse("Add a before filter that checks authentication headers");
    assert_eq!(texts(&task.keywords.components)[0], "filter");
    assert_eq!(task.keywords.components[1].text, "authentication");
}

#[test]
fn adjacent_words_are_joined_in_both_spellings() {
    compounds("the rate limiter", &["RateLimiter", "rate_limiter"]);
    compounds("a rate-limiter", &["RateLimiter", "rate_limiter"]);
    compounds("rate, limiter", &[]);
    compounds("the ip set", &[]);
    // An action verb joins nothing.
    compounds("add limiter", &[]);
}

#[test]
fn components_are_words_and_parts_the_longest_first() {
    components("the HTTPServer of a socket", &["Server", "socket", "HTTP", "srv"]);
    components("The socket_timeout", &["timeout", "socket"]);
    components("on PostgreSQL", &["PostgreSQL"]);
}

#[test]
fn abbreviations_bring_the_long_form_and_back() {
    components("the ctx", &["context", "ctx"]);
    components("the context", &["context", "ctx"]);
}

#[test]
fn stop_words_match_whole_words_only() {
    components("the theory of fixtures", &["fixtures", "theory"]);
    components("add the function to the file", &[]);
}

#[test]
fn each_keyword_has_its_lower_case_form() {
    let task = Task::parse("Look at `MyClass`");
    let keyword = &task.keywords.exact[0];
    assert_eq!((keyword.text.as_str(), keyword.lower.as_str()), ("MyClass", "myclass"));
}

#[test]
fn a_name_in_backticks_is_not_repeated_as_a_compound() {
    let task = Task::parse("Fix `get_user` where get_user fails");
    assert_eq!(texts(&task.keywords.exact), ["get_user"]);
    assert!(!texts(&task.keywords.compounds).contains(&"get_user"));
}

#[test]
fn functions_of_frames_and_names_of_files_are_compounds() {
    let task = Task::parse(
        "Crash\n\nTraceback (most recent call last):\n  File \"a/b.py\", line 1, in compile_all\n    x()\nKeyError: 'a'\n\nsee src/widgets.py",
    );
    let found = texts(&task.keywords.compounds);
    for name in ["compile_all", "widgets.py", "widgets"] {
        assert!(found.contains(&name), "{name}: {found:?}");
    }
}

// Identifiers.

#[test]
fn a_dotted_call_has_segments() {
    let task = Task::parse("django.utils.text.slugify() is wrong");
    let it = &task.identifiers[0];
    assert_eq!(it.segments, ["django", "utils", "text", "slugify"]);
    assert_eq!(
        (it.text.as_str(), it.called, it.place, it.count),
        ("django.utils.text.slugify", true, Place::Subject, 1)
    );
}

#[test]
fn prose_gives_only_what_looks_like_code() {
    identifiers(
        "The Widget of MyForm().media, String#match?, a::b and name(s)",
        &["MyForm.media@Subject", "String#match@Subject", "a::b@Subject"],
    );
    identifiers("It ends.Then it starts. See the docs.", &[]);
    identifiers("Several things\n\n* fix(api): return twice", &[]);
}

#[test]
fn backticks_give_plain_names_too() {
    identifiers("Crash here\n\n`run` and `None` and `a-b` fail", &["run@Backtick"]);
    identifiers("Crash here\n\n`app.run(port=1)`", &["app.run()@Backtick", "port@Backtick"]);
}

#[test]
fn code_gives_every_name_but_keywords_strings_and_comments() {
    identifiers(
        "Crash here\n```python\ndef build(self, rows): # the usual words\n    return self.rows['some text']\n```",
        &["build()@Code", "rows@Code"],
    );
}

#[test]
fn output_within_a_fence_is_read_as_talk() {
    identifiers("Crash here\n```\nthe server was not able to start some_thing\n```", &["some_thing@Code"]);
}

#[test]
fn the_best_place_is_kept_and_uses_are_counted() {
    let task = Task::parse("Crash here\n```\nsend_all(x)\n```\nThe send_all fails, `send_all` too");
    let it = &task.identifiers[0];
    assert_eq!((it.text.as_str(), it.place, it.count, it.called), ("send_all", Place::Backtick, 3, true));
}

#[test]
fn names_between_other_scripts_are_found() {
    identifiers("调用get_user函数失败", &["get_user@Subject"]);
}

// Imports.

#[test]
fn imports_of_python() {
    imported("from django.db import models, utils as u", &["django.db.models", "django.db.utils"]);
    imported("import a.b as c, d", &["a.b", "d"]);
    imported("from .models import (\n    User,\n    Group,\n)", &["models.User", "models.Group"]);
    imported("from a.b import *", &["a.b"]);
    imported(">>> from a import b", &["a.b"]);
}

#[test]
fn imports_of_other_languages() {
    imported(
        "use tokio::sync::{mpsc, Mutex as M, watch::{self, Sender}};",
        &["tokio.sync.mpsc", "tokio.sync.Mutex", "tokio.sync.watch", "tokio.sync.watch.Sender"],
    );
    imported("use a::b::c;", &["a.b.c"]);
    imported("import { a, b as c } from './x/y';", &["x.y.a", "x.y.b"]);
    imported("import React from 'react'", &["react.React"]);
    imported("const fs = require('fs/promises');", &["fs.promises"]);
    imported("import java.util.List;", &["java.util.List"]);
    imported("import static a.B.c;", &["a.B.c"]);
    imported("using System.Text;", &["System.Text"]);
    imported("require 'active_model/errors'", &["active_model.errors"]);
    imported("import \"github.com/a/b\"", &["github.com.a.b"]);
}

#[test]
fn prose_about_imports_is_no_import() {
    let task = Task::parse("import of modules fails\nfrom the docs import nothing\nuse the thing");
    assert!(task.imported.is_empty(), "{:?}", task.imported);
}

// Paths.

#[test]
fn paths_with_and_without_lines() {
    paths("Fix aider/main.py and src/lib.rs:12:5", &[("aider/main.py", None), ("src/lib.rs", Some(12))]);
    paths("at \"a/b.py\" file, line 102, there", &[("a/b.py", Some(102))]);
    paths("see `models.py` line 7", &[("models.py", Some(7))]);
    paths("in \"src/app.ts\", line 3", &[("src/app.ts", Some(3))]);
    paths("D:\\shop\\app\\view.cs", &[("D:/shop/app/view.cs", None)]);
    paths("files under crates/store/src/ only", &[("crates/store/src/", None)]);
}

#[test]
fn what_is_no_path() {
    paths("django.db.models and/or read/write at /api/v1/users in Node.js 1.2/3", &[]);
    paths("call response.json() now", &[]);
    paths("on 24/Apr/2023 it failed", &[]);
}

#[test]
fn a_link_to_a_file_is_a_path() {
    paths("See https://github.com/a/b/blob/0123abc/src/x/y.py#L12-L14 there", &[("src/x/y.py", Some(12))]);
}

#[test]
fn a_diff_names_its_file() {
    paths("Crash here\n--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2", &[("src/x.py", None)]);
}

// Frames.

#[test]
fn frames_of_python() {
    frames(
        "Traceback (most recent call last):\n  File \"/usr/lib/python3.9/site-packages/django/db/models/query.py\", line 12, in get\n    return x\n  File \"/usr/lib/python3.9/asyncio/tasks.py\", line 3, in <module>\n    y\n           ^^^\nValueError: no",
        "python",
        &["django/db/models/query.py:12 get", "asyncio/tasks.py:3 -"],
    );
    frames(
        "tests/a.py:12: in test_it\n    foo()\nsrc/b.py:3: KeyError",
        "python",
        &["tests/a.py:12 test_it", "src/b.py:3 -"],
    );
    frames("File ~/app/x.py:12, in run(self, a)\n     11 a\n---> 12 b", "python", &["app/x.py:12 run"]);
    frames(
        "KeyError      Traceback (most recent call last)\n<ipython-input-1-ab> in <module>()\n----> 1 a()\n\n/lib/site-packages/pkg/art.pyc in draw(self)\n    634\n--> 636     return b\n\nKeyError: 'x'",
        "python",
        &["pkg/art.py:636 draw"],
    );
}

#[test]
fn frames_of_python_without_indentation() {
    let task = Task::parse(
        "It fails\nTraceback (most recent call last):\nFile \"a.py\", line 1, in f\ng()\nFile \"b.py\", line 2, in g\nraise X\nMyError: bad thing\nThen prose goes on here.",
    );
    assert_eq!(task.frames.len(), 2);
    assert_eq!((task.exceptions, task.messages), (vec!["MyError".to_owned()], vec!["bad thing".to_owned()]));
    assert_eq!(task.prose, "Then prose goes on here.");
}

#[test]
fn prefixes_of_runners_and_loggers_do_not_hide_a_trace() {
    frames(
        "Crash\nINTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"a/b.py\", line 1, in f\nINTERNALERROR>     g()\nINTERNALERROR> RuntimeError: no",
        "python",
        &["a/b.py:1 f"],
    );
    frames("Crash\nweb_1  |   File \"a/b.py\", line 1, in f", "python", &["a/b.py:1 f"]);
}

#[test]
fn frames_of_go() {
    frames(
        "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\ngithub.com/a/b/pkg.(*Server).handle(0xc0, 0x1)\n\t/home/u/go/pkg/mod/github.com/a/b@v1.2.3/pkg/server.go:42 +0x1d\nmain.main.func1()\n\t/app/main.go:7 +0x25\ncreated by main.main in goroutine 1\n\t/app/main.go:5 +0x1",
        "go",
        &["/app/main.go:5 main", "/app/main.go:7 main", "pkg/server.go:42 Server.handle"],
    );
}

#[test]
fn frames_of_javascript() {
    frames(
        "TypeError: x is not a function\n    at Parser.parse [as run] (/app/node_modules/lib/parse.js:10:5)\n    at async Object.load (file:///app/src/load.js:3:1)\n    at /app/index.js:1:1\n    at new Promise (<anonymous>)",
        "javascript",
        &["/app/index.js:1 -", "/app/src/load.js:3 Object.load", "lib/parse.js:10 Parser.parse"],
    );
    frames("    at run (webpack:///./src/app.tsx?ab:12:3)", "typescript", &["src/app.tsx:12 run"]);
    frames("go@http://localhost:8080/js/app.js:12:3", "javascript", &["js/app.js:12 go"]);
}

#[test]
fn frames_of_rust() {
    frames(
        "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/0123abc/library/std/src/panicking.rs:5:5\n   1: <app::Map<K> as app::Store>::find::{{closure}}\n             at ./src/store.rs:12:9\n   2: app::run::h0123456789abcdef\n             at /home/u/.cargo/registry/src/index.crates.io-6f/app-1.2.0/src/run.rs:7:1",
        "rust",
        &[
            "src/run.rs:7 app::run",
            "src/store.rs:12 app::Map::find",
            "library/std/src/panicking.rs:5 rust_begin_unwind",
            "src/main.rs:4 -",
        ],
    );
    messages(
        "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: 3",
        &[],
        &["index out of bounds: 3"],
    );
    messages("thread 'a' panicked at 'called on None', src/a.rs:1:2", &[], &["called on None"]);
}

#[test]
fn frames_of_java() {
    frames(
        "Exception in thread \"main\" java.lang.IllegalStateException: outer\n\tat org.app.Main.run(Main.java:10)\n\tat java.base/java.util.List.of(List.java:3)\nCaused by: org.app.DeepException: inner text\n\tat org.app.db.Pool$Entry.lambda$take$0(Pool.java:77) ~[app.jar:1.2]\n\t... 5 more",
        "java",
        &[
            "java/util/List.java:3 List.of",
            "org/app/Main.java:10 Main.run",
            "org/app/db/Pool.java:77 Pool.Entry.take",
        ],
    );
    messages(
        "Exception in thread \"main\" java.lang.IllegalStateException: outer\n\tat a.B.c(B.java:1)\nCaused by: a.DeepException: inner text",
        &["IllegalStateException", "DeepException"],
        &["outer", "inner text"],
    );
}

#[test]
fn frames_of_csharp() {
    frames(
        "Unhandled exception. System.InvalidOperationException: bad state\n   at App.Core.Loader.Load(String path) in C:\\src\\App\\Loader.cs:line 12\n   at App.Program.Main() in /src/App/Program.cs:line 3",
        "csharp",
        &["/src/App/Program.cs:3 App.Program.Main", "C:/src/App/Loader.cs:12 App.Core.Loader.Load"],
    );
}

#[test]
fn frames_of_ruby() {
    frames(
        "lib/a.rb:12:in `load': no such thing (NameError)\n\tfrom lib/b.rb:3:in 'block in Foo#run'\n\tfrom main.rb:1:in `<main>'",
        "ruby",
        &["main.rb:1 -", "lib/b.rb:3 Foo#run", "lib/a.rb:12 load"],
    );
    messages("Crash\nlib/a.rb:12:in `load': no such thing (NameError)", &["NameError"], &["no such thing"]);
}

#[test]
fn a_trace_is_neither_prose_nor_code() {
    let task = Task::parse(
        "It fails\n```\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nKeyError: 'x'\n```\nHelp is near.",
    );
    assert_eq!(task.code, "");
    assert_eq!(task.prose, "Help is near.");
    assert!(task.trace.starts_with("Traceback") && task.trace.ends_with("KeyError: 'x'"));
}

// Messages.

#[test]
fn messages_of_prose() {
    messages(
        "It prints \"could not open file\" and 'it's a bad day' but not \"no\"",
        &[],
        &["could not open file", "it's a bad day"],
    );
    messages("Fails with `TypeError: a is not b` here", &["TypeError"], &["a is not b"]);
    messages("Help\nerror[E0277]: the trait is missing", &[], &["the trait is missing"]);
    messages("Help\nerror: no such thing", &[], &["no such thing"]);
    messages("a django.db.utils.OperationalError is raised", &["OperationalError"], &[]);
    messages("Crash\nException Value: max() arg is empty", &[], &["max() arg is empty"]);
    messages("Crash\nInternal Server Error: /a/b/", &[], &[]);
    messages("Crash\n  File \"a.py\", line 1, in f\n    g()\na.b.DoesNotExist\n", &["DoesNotExist"], &[]);
    messages("don't and won't say it's wrong", &[], &[]);
}

// Noise.

#[test]
fn templates_go() {
    left(
        "### Expected Behavior\n<!-- say\nwhat -->\n- [x] I have read the rules\n_No response_\nThank you!",
        "",
    );
    left("**Describe the bug**\nIt hangs.", "It hangs.");
    left("Reviewers: A <a@b.org>\nCo-authored-by: B <b@c.org>\nCloses #12, #13.", "");
}

#[test]
fn environments_go() {
    left(
        "It hangs.\n### Operating system\n\nWindows 11\n\n### Python version\n\n3.9.16\n\n### Notes\n\nStill here.",
        "It hangs.\nStill here.",
    );
    left("numpy==1.2.3\npandas 1.0.1\nPython: 3.9.7\n- OS: Ubuntu 20.04", "");
    left("```\nSuccessfully installed a-1.2 b-2.0\n```", "");
}

#[test]
fn addresses_versions_and_hashes_go() {
    left(
        "See https://example.org/a?b=c and [the docs](https://x.y/z), since 1.2.3.",
        "See and the docs, since.",
    );
    left("Follow up to ceecd518b19044181a3598c55ebed7c2545963cc by a@b.org", "Follow up to by");
}

#[test]
fn a_settings_line_of_code_stays() {
    let task = Task::parse("Crash here\n```python\nversion = '1.2'\nx = compute(1.5)\n```");
    assert_eq!(task.code, "version = '1.2'\nx = compute(1.5)");
}

#[test]
fn bare_code_is_told_from_prose() {
    let task = Task::parse(
        "Crash here\nConsider this:\nfrom a import b\nclass Foo(Base):\n\tx = 1\nplt.show()\nfoo() fails (sometimes)\nIf you look (here): fine\n- item = thing",
    );
    assert_eq!(task.code, "from a import b\nclass Foo(Base):\n\tx = 1\nplt.show()");
    assert_eq!(
        task.prose,
        "Consider this:\nfoo() fails (sometimes)\nIf you look (here): fine\n- item = thing"
    );
}

#[test]
fn indented_code_and_prompts_are_code() {
    let task = Task::parse(
        "It fails\n\n    result = build(1)\n    check(result)\n\n>>> run()\nTrue\n\nAnd\n    so on it goes.",
    );
    assert_eq!(task.code, "    result = build(1)\n    check(result)\nrun()");
    assert_eq!(task.prose, "True\nAnd\nso on it goes.");
}

#[test]
fn a_diff_is_code() {
    let task = Task::parse(
        "It fails\ndiff --git i/x.py w/x.py\nindex f1b65f7d01..9ce4e32e14 100644\n--- i/x.py\n+++ w/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2",
    );
    assert_eq!((task.prose.as_str(), task.code.lines().count()), ("", 7));
    assert_eq!(task.paths[0].path, "x.py");
}

// Tests and size.

#[test]
fn tests_are_spoken_of_in_whole_words() {
    for (text, expected) in [
        ("Add a test for it", true),
        ("test(parser): more", true),
        ("Improve coverage.", true),
        ("the latest contest", false),
        ("the attestation", false),
    ] {
        assert_eq!(Task::parse(text).speaks_of_tests, expected, "{text}");
    }
}

#[test]
fn a_long_task_is_long() {
    assert!(!Task::parse("Fix the parser").is_long);
    assert_eq!(Task::parse("Fix the parser").n_words, 3);
    assert!(Task::parse(&"some words here\n".repeat(60)).is_long);
}

// Odd input.

#[test]
fn nothing_gives_nothing() {
    for text in ["", " \n\t ", "---", "the of and", "```", "<!--", "\0\u{1b}[31m", "fix: "] {
        let task = Task::parse(text);
        assert!(task.keywords.is_empty() && task.identifiers.is_empty(), "{text:?}: {task:?}");
    }
}

#[test]
fn odd_text_is_read() {
    for text in [
        "`unbalanced ``ticks ` and ```` more",
        "```\nnever closed\nfoo()",
        "Ошибка при чтении файла конфигурации",
        "🎉🎉 ’“”«» \u{202e}",
        "File \"",
        "  File \"x\", line , in",
        "thread 'x' panicked at ",
        "at (:1:1)",
        ":in `'",
        "a.rb:1:in '",
        "goroutine 1 [x]:\n\tx.go:1",
        "from  import ",
        "use ::{{{{{{{{{{{",
        "https://",
        "](https://a)",
        "\u{feff}bom\r\nline\rend",
    ] {
        let task = Task::parse(text);
        assert!(task.text.len() <= text.len() + 16, "{text:?}");
    }
    assert!(texts(&Task::parse("Ошибка чтения").keywords.components).contains(&"Ошибка"));
}

/// Lines that make scanners look twice, long enough that a quadratic one would be noticed by whoever runs this.
#[test]
fn much_of_anything_is_read() {
    for piece in [
        "`",
        "```\n",
        "<",
        "<p",
        "\"a ",
        "'a ",
        "](http://",
        "<!--",
        "a.",
        "::",
        "(",
        "File \"a\n",
        "[",
        "foo(",
        "#",
        "a = ",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let task = Task::parse(&text);
        assert!(task.text.len() <= text.len() + 16);
    }
}

fn size(task: &Task) -> usize {
    let keywords = &task.keywords;
    let sets = [&keywords.exact, &keywords.compounds, &keywords.components];
    sets.iter().flat_map(|it| it.iter()).map(|it| it.text.len()).sum::<usize>()
        + task.identifiers.iter().map(|it| it.text.len()).sum::<usize>()
        + task.frames.iter().map(|it| it.file.len()).sum::<usize>()
        + task.messages.iter().map(String::len).sum::<usize>()
        + task.imported.iter().flatten().map(String::len).sum::<usize>()
        + task.paths.iter().map(|it| it.path.len()).sum::<usize>()
        + task.text.len()
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        let task = Task::parse(&text);
        prop_assert!(size(&task) <= 40 * text.len() + 200);
    }

    #[test]
    fn any_lines_of_issues_are_read(pieces in proptest::collection::vec(prop_oneof![
        Just("```"), Just("`"), Just("\n"), Just(" "), Just("\t"), Just("File \"a.py\", line 1, in f"), Just(">>> "),
        Just("Traceback (most recent call last):"), Just("at a.b.C.m(C.java:1)"), Just("\n   at "), Just("(x.js:1:2)"),
        Just("from a import b"), Just("use a::{b, c}"), Just("panicked at "), Just("thread 'm'"), Just("a.rs:1:2"),
        Just("x.rb:1:in 'm'"), Just("goroutine 1 [r]:"), Just("\n\t/a/b.go:1 +0x1"), Just("Error: "), Just("é"), Just("“"),
        Just("snake_name"), Just("CamelName"), Just("a/b.py"), Just("<!--"), Just("-->"), Just("### Versions"), Just("\r"),
        Just("http://a.b/c"), Just("0: a::b"), Just("'"), Just("\""), Just("E   KeyError"), Just("--> 12 x"), Just("1.2.3"),
    ], 0..60)) {
        let text = pieces.concat();
        let task = Task::parse(&text);
        prop_assert!(size(&task) <= 40 * text.len() + 200);
    }

    #[test]
    fn reading_is_a_function_of_the_text(text in "[ -~\\n]{0,200}") {
        prop_assert_eq!(Task::parse(&text), Task::parse(&text));
    }
}

#[test]
fn who_asks_or_adds_wants_a_whole_and_who_complains_wants_a_place() {
    for task in [
        "How does the cart sum up its prices?",
        "Trace a request from the desk to the cart",
        "why are error pages cached",
        "Add gift wrapping to the cart",
        "implementing a custom currency filter",
        "feat(cart): allow prices without tax",
        "is a cart ever empty?",
    ] {
        assert!(Task::parse(task).wants_a_whole, "{task}");
    }
    let long = format!("Add a cart\n\n{}", "It holds what somebody buys. ".repeat(20));
    for task in [
        "",
        "Cart.total",
        "Fix the total of the cart",
        "fix(cart): support prices without tax",
        "Adding to the cart fails when it is empty",
        "the cart should allow prices without tax",
        "rename the cart",
        &long,
    ] {
        assert!(!Task::parse(task).wants_a_whole, "{task}");
    }
}
