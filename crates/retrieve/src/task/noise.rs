//! What stands in a task and says nothing about the code: markup, templates, environments, versions, addresses.
//!
//! Whole lines go only when all of the line is known noise; everything else loses single words at most.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Unix line ends, no control sequences, no `<!-- comments -->`.
pub(super) fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\u{1b}', '\0', '<', '\u{feff}']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("<!--") {
            // Without an end it is no comment, and neither is any later one.
            let Some(end) = after.find("-->") else { break };
            out.push(' ');
            rest = &after[end + 3..];
        } else if let Some(after) = rest.strip_prefix("\u{1b}[") {
            let end = after.find(|it: char| !(it.is_ascii_digit() || it == ';')).unwrap_or(after.len());
            let tail = &after[end..];
            rest = tail.strip_prefix(|it: char| it.is_ascii_alphabetic()).unwrap_or(tail);
        } else {
            let first = rest.chars().next().expect("`find` stopped at a character");
            match first {
                '<' => out.push('<'),
                '\r' if rest.as_bytes().get(1) != Some(&b'\n') => out.push('\n'),
                '\0' => out.push(' '),
                _ => {}
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    out.push_str(rest);
    out
}

/// The whole line is template, environment, trailer or installer talk.
pub(super) fn is_noise_line(line: &str) -> bool {
    let line = line.trim();
    let bare = line.trim_start_matches(['-', '*', '+', ' ', '>']);
    if bare.starts_with("[ ]") || starts_with_ignoring_case(bare, "[x]") {
        return true;
    }
    if !line.is_empty() && !line.contains(char::is_alphanumeric) {
        return true;
    }
    if line.len() > 2000 {
        return installer(line);
    }
    let title = title(line);
    TEMPLATES.contains(title.as_str())
        || installer(line)
        || trailer(bare, &title)
        || pinned_package(bare)
        || environment_entry(bare)
}

/// The heading of a listing of machine, versions or packages: what follows is about the reporter, not the code.
pub(super) fn opens_environment(line: &str) -> bool {
    line.len() < 120 && ENVIRONMENTS.contains(title(line).as_str())
}

/// `#`, `**bold**` or a known title: a section ends here.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
        || line.len() > 4 && line.starts_with("**") && line.trim_end_matches(':').ends_with("**")
        || line.len() < 120 && {
            let title = title(line);
            TEMPLATES.contains(title.as_str()) || ENVIRONMENTS.contains(title.as_str())
        }
}

/// Prose without addresses, versions, hashes, issue numbers and tags; single spaces.
pub(super) fn clean_prose(line: &str) -> String {
    let line = without_urls(line);
    let line = without_tags(&line);
    let mut out = String::with_capacity(line.len());
    for token in line.split_whitespace() {
        let core =
            token.trim_matches(|it: char| !it.is_alphanumeric() && it != '`' && it != '#' && it != '_');
        let kept = if token.contains('`') || !is_noise_word(core) {
            token
        } else {
            let end = token.trim_end_matches(['.', ',', ';', ':', '!', '?']);
            &token[end.len()..]
        };
        if kept.is_empty() {
            continue;
        }
        if !out.is_empty() && kept.contains(|it: char| it.is_alphanumeric() || !".,;:!?".contains(it)) {
            out.push(' ');
        }
        out.push_str(kept);
    }
    out
}

/// Code keeps its shape; only addresses and long hashes go.
pub(super) fn clean_code(line: &str) -> String {
    without_urls(line.trim_end())
}

/// `1.2.3`, `v2.0`, `3.7.0rc1`, `1.11.1-1`.
pub(super) fn is_version(word: &str) -> bool {
    let word = word.strip_prefix(['v', 'V']).unwrap_or(word);
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || word.len() > 40 || word.as_bytes().get(digits) != Some(&b'.') {
        return false;
    }
    word[digits + 1..].starts_with(|it: char| it.is_ascii_digit() || it == 'x' || it == '*')
        && word.bytes().all(|it| it.is_ascii_alphanumeric() || b".-+*_".contains(&it))
}

fn is_noise_word(core: &str) -> bool {
    is_version(core) || is_hash(core) || is_email(core) || is_issue_number(core) || core.starts_with("www.")
}

fn is_hash(word: &str) -> bool {
    (7..=64).contains(&word.len())
        && word.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it))
        && word.bytes().any(|it| it.is_ascii_digit())
        && (word.len() >= 32 || word.bytes().any(|it| it.is_ascii_alphabetic()))
}

fn is_email(word: &str) -> bool {
    let Some((name, host)) = word.split_once('@') else { return false };
    !name.is_empty() && host.contains('.') && !host.contains(['@', '(', '/'])
}

fn is_issue_number(word: &str) -> bool {
    let number =
        word.strip_prefix('#').or_else(|| word.strip_prefix("GH-")).or_else(|| word.strip_prefix("gh-"));
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

/// Removes `scheme://...` and turns `[text](address)` into `text`.
fn without_urls(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let scheme = rest[..at].bytes().rev().take(12).take_while(u8::is_ascii_alphabetic).count();
        out.push_str(&rest[..at - scheme]);
        let tail = &rest[at..];
        let end = tail
            .find(|it: char| it.is_whitespace() || "<>\"'`|{}^".contains(it) || it == ')' || it == ']')
            .unwrap_or(tail.len());
        rest = &tail[end..];
        if out.ends_with("](") {
            out.truncate(out.len() - 2);
            if let Some(back) = out.bytes().rev().take(400).position(|it| it == b'[') {
                out.remove(out.len() - 1 - back);
            }
            rest = rest.strip_prefix(')').unwrap_or(rest);
        }
    }
    out.push_str(rest);
    out
}

const TAGS: &[&str] = &[
    "a",
    "b",
    "br",
    "blockquote",
    "code",
    "details",
    "div",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "hr",
    "i",
    "img",
    "kbd",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "ul",
];

/// Removes the tags that GitHub renders; `<uuid:user_id>` and `<Foo>` stay.
fn without_tags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let name = tail.strip_prefix('/').unwrap_or(tail);
        let length = name.bytes().take(12).take_while(u8::is_ascii_alphanumeric).count();
        let is_tag = TAGS.contains(&&name[..length]) && name[length..].starts_with(['>', ' ', '/']);
        if !is_tag {
            out.push('<');
            rest = tail;
            continue;
        }
        // Without a closing bracket there is no later tag either; looking again and again would not be linear.
        let Some(end) = tail.find('>') else {
            rest = &rest[at..];
            break;
        };
        out.push(' ');
        rest = &tail[end + 1..];
    }
    out.push_str(rest);
    out
}

/// A line as a title: lower case, without marks around it.
fn title(line: &str) -> String {
    let bare = line.trim_matches(|it: char| !it.is_alphanumeric());
    bare.to_lowercase().replace(['’', '\''], "")
}

fn installer(line: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "Installing collected packages",
        "Successfully installed",
        "Successfully uninstalled",
        "Requirement already satisfied",
        "Collecting ",
        "Downloading ",
        "Using cached ",
        "platform linux",
        "platform darwin",
        "platform win32",
        "rootdir:",
        "plugins:",
        "cachedir:",
        "collected ",
        "collecting ",
        "note: run with `RUST_BACKTRACE",
        "note: Some details are omitted",
        "npm ERR! A complete log",
        "Merge pull request",
        "Merge branch",
        "(cherry picked from",
        "(last modified by",
        "INSTALLED VERSIONS",
        "Compiling ",
        "Finished ",
        "Downloaded ",
    ];
    let line = line.trim_start();
    // "Collecting" or "Finished" open real sentences too; then a version or size stands in the line.
    OPENINGS.iter().any(|it| line.starts_with(it))
        && (line.len() > 200
            || !line.starts_with(['C', 'D', 'F', 'U'])
            || line.contains(|it: char| it.is_ascii_digit()))
}

fn trailer(bare: &str, title: &str) -> bool {
    const TRAILERS: &[&str] = &[
        "reviewers:",
        "reviewed-by:",
        "co-authored-by:",
        "signed-off-by:",
        "change-id:",
        "cc:",
        "acked-by:",
        "tested-by:",
        "reported-by:",
        "pr-url:",
        "suggested-by:",
        "reviewed by:",
        "approved-by:",
    ];
    if TRAILERS.iter().any(|it| starts_with_ignoring_case(bare, it)) {
        return true;
    }
    let n_words = title.split_whitespace().count();
    if title.starts_with("thank") && n_words <= 20 {
        return true;
    }
    // "Closes #12, #13."
    const CLOSINGS: &[&str] =
        &["close", "closes", "closed", "fixes", "fixed", "fix", "resolves", "refs", "see", "ref"];
    let mut words = title.split_whitespace();
    words.next().is_some_and(|it| CLOSINGS.contains(&it))
        && n_words > 1
        && words
            .all(|it| is_issue_number(it.trim_matches([',', '.', ';'])) || it == "and" || it.contains("://"))
}

/// `name==1.2`, `name 1.2.3`, `name-1.2.3`.
fn pinned_package(bare: &str) -> bool {
    if let Some((name, version)) = bare.split_once("==") {
        return is_package_name(name)
            && version.starts_with(|it: char| it.is_ascii_digit())
            && !version.contains(' ');
    }
    let mut words = bare.split_whitespace();
    let (Some(name), Some(version), third) = (words.next(), words.next(), words.next()) else { return false };
    third.is_none() && is_package_name(name) && is_version(version)
}

fn is_package_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
}

/// `OS: Ubuntu 20.04`, `python version = 3.9`, `libhdf5: 1.10.4`.
fn environment_entry(bare: &str) -> bool {
    let Some((key, value)) = bare.split_once([':', '=']) else { return false };
    let (key, value) = (title(key), value.trim_matches(|it: char| !it.is_alphanumeric()));
    if value.split_whitespace().count() > 8 || key.split_whitespace().count() > 4 {
        return false;
    }
    ENVIRONMENT_KEYS.contains(key.as_str()) && (value.is_empty() || !value.ends_with(")"))
        || is_version(value) && bare.contains(':') && !key.is_empty()
}

/// Compares as ASCII; the opening is lower case.
pub(super) fn starts_with_ignoring_case(text: &str, opening: &str) -> bool {
    text.as_bytes().get(..opening.len()).is_some_and(|it| it.eq_ignore_ascii_case(opening.as_bytes()))
}

type Titles = LazyLock<FxHashSet<&'static str>>;

static TEMPLATES: Titles = LazyLock::new(|| lines_of(TEMPLATE_TITLES));
static ENVIRONMENTS: Titles = LazyLock::new(|| lines_of(ENVIRONMENT_TITLES));
static ENVIRONMENT_KEYS: Titles = LazyLock::new(|| lines_of(ENVIRONMENT_KEY_LIST));

fn lines_of(text: &'static str) -> FxHashSet<&'static str> {
    text.split(['\n', ',']).map(str::trim).filter(|it| !it.is_empty()).collect()
}

const TEMPLATE_TITLES: &str = "
description, bug, bug description, bug report, bug summary, summary, describe the bug, describe the issue, the bug,
describe the problem, what happened, what happens, what actually happened, what did you do, what did you expect,
what did you expect to happen, what did you expect to see, what did you see instead, what you expected to happen,
what i expected to happen, what happened instead, whats the problem this feature will solve,
actual behavior, actual behaviour, actual outcome, actual result, actual results, actual output, actual,
current behavior, current behaviour, expected, expected behavior, expected behaviour, expected outcome,
expected result, expected results, expected output, expected vs actual, observed behavior, observed behaviour,
how to reproduce, how to reproduce it, to reproduce, reproduce, reproduction, reproduction steps,
steps to reproduce, steps to reproduce the behavior, steps/code to reproduce, steps/code to reproduce the problem,
steps to reproduce the issue, minimal reproducible example, minimal example, minimal reproduction, mcve,
mcve code sample, code sample, code for reproduction, code sample to reproduce, reproducible example, mwe,
minimal complete verifiable example, minimal code example, example, example code, problem description,
additional context, additional information, additional details, additional notes, anything else,
anything else we need to know, more information, other information, context, notes, screenshots, screenshot,
possible solution, suggested solution, proposed solution, proposed fix, suggested fix, proposal, solution, motivation,
is your feature request related to a problem, is your feature request related to a problem? please describe,
describe the solution youd like, describe alternatives youve considered, alternatives, alternatives considered,
feature request, feature, proposed new feature or change, no response, relevant log output, relevant logs, logs,
log output, error output, error message, stack trace, stacktrace, traceback, full traceback, output, details,
checklist, checks, pre-submission checklist, test plan, testing plan, type of change, related issues, related issue,
overview, background, changes, whats changed, what changed, why, what, how, tl;dr, code of conduct, questions,
committer checklist excluded from commit message, steps, code, issue, problem, question, bug fix, n/a, none, tasks,
suggestion, implementation, references, related, links, hi, hello, regards, cheers, best regards";

const ENVIRONMENT_TITLES: &str = "
environment, environment info, environment information, environment details, your environment, my environment,
test environment, system, system info, system information, system details, operating system, os, platform, platforms,
version, versions, version information, version info, package version, package versions, python version,
installation, install method, versions of relevant libraries, output of xr.show_versions(),
output of xr.show_versions, output of pip list, output of pip freeze, pip list, pip freeze, conda list, pip packages,
installed versions, installed packages, dependencies versions, dependency versions, matplotlib version,
matplotlib backend, jupyter version, backend, node version, npm version, go version, rust version, rustc version,
cargo version, java version, ruby version, browser, browsers, device, desktop, smartphone, hardware,
environment (please complete the following information), desktop (please complete the following information),
astropy version, django version, flask version, library version, framework version, docker version, kubernetes version,
python and library versions, python dependencies, built with openmp, software versions, tool versions, env,
what version are you using, what operating system are you using, output of go env, go env output";

const ENVIRONMENT_KEY_LIST: &str = "
os, os version, operating system, platform, machine, processor, byteorder, lc_all, lang, locale, python, python version,
python-bits, os-release, python implementation, executable, pip, setuptools, cython, numpy, scipy, pandas, matplotlib,
node, node version, nodejs, npm, npm version, yarn, pnpm, browser, browser version, browsers, rustc, rustc version,
cargo, cargo version, go version, java version, java, jdk, ruby, ruby version, rails version, dotnet version,
.net version, version, versions, device, architecture, arch, cpu, gpu, ram, kernel, shell, terminal, docker version,
distribution, release, library version, matplotlib version, matplotlib backend, backend, libhdf5, libnetcdf, conda,
django version, flask version, pytest version, sphinx version, extra tools, sphinx extensions, installation,
jupyter version, how you installed, install method, commit, goos, goarch, gopath, goroot, system";
