//! Which programs of the project itself a file starts, as far as its text says it: by name, by the path of a script, by a
//! module, by the package that is built. Whether the project has such a program is found out when files are resolved.

use knowing_model::facts::{Call, Certainty, DeclId, LinkEnd, SiteKind};
use knowing_model::{EdgeKind, NodeFlags, Position};
use rustc_hash::FxHashSet;

use super::requests::assigned;
use super::{Arg, Found, FoundEnd, FoundLink, Pass, innermost, split_list};

/// The program of the own package.
const OWN: &str = ".";

/// One word of a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    Text(String),
    /// A path from the top of the repository.
    Path(String),
    /// What runs this code: `sys.executable`, `process.execPath`.
    Interpreter,
    Computed,
}

pub(super) fn find(pass: &Pass<'_>, found: &mut Found) {
    let mut seen: FxHashSet<(Option<DeclId>, String)> = FxHashSet::default();
    let mut add = |decl: Option<DeclId>, program: String, certainty: Certainty, position: Position| {
        if program.len() > 256 || !seen.insert((decl, program.clone())) {
            return;
        }
        let from = decl.map_or(LinkEnd::File, LinkEnd::Decl);
        let to = FoundEnd::Program(program);
        found.links.push(FoundLink { from, to, kind: EdgeKind::ExecutesProcess, certainty, position });
    };
    let mut sites: FxHashSet<Position> = FxHashSet::default();
    for site in pass.facts.sites.iter().filter(|it| it.kind == SiteKind::StartsProcess) {
        sites.insert(site.position);
        let words = words_of_call(pass, site.decl, site.position);
        let written = site.name.map(|it| pass.facts.text(it).to_owned());
        let program = program(pass, &words).or_else(|| written.filter(|it| !is_launcher(it)));
        if let Some(program) = program {
            add(site.decl, program, Certainty::SurePattern, site.position);
        }
    }
    let is_test = pass.facts.flags.contains(NodeFlags::TEST);
    for call in &pass.facts.calls {
        let name = pass.called(call);
        if sites.contains(&call.position) {
            continue;
        }
        let known = match pass.facts.language.as_str() {
            "rust" => of_rust(pass, call, name),
            "go" if matches!(name, "Build" | "BuildIn") && is_of(pass, call, "gexec") => first(pass, call),
            "python" if name == "run_module" && is_of(pass, call, "runpy") => {
                first(pass, call).map(|it| format!("-m {it}"))
            }
            _ => None,
        };
        if let Some(program) = known.or_else(|| path_of_program(pass, call, name)) {
            add(call.decl, program, Certainty::SurePattern, call.position);
            continue;
        }
        if is_test && let Some(path) = place_of_program(pass, call, name) {
            let decl = call.decl.or_else(|| innermost(pass.facts, pass.offset(call.position)));
            add(decl, path, Certainty::SurePattern, call.position);
        }
        let is_in_test =
            is_test || call.decl.is_some_and(|it| pass.facts.decl(it).flags.contains(NodeFlags::TEST));
        if is_in_test && is_runner(name) {
            let words = words_of_call(pass, call.decl, call.position);
            // A word alone may be anything; a command line has more of them.
            if words.len() > 1
                && let Some(program) = program(pass, &words)
            {
                add(call.decl, program, Certainty::Pattern, call.position);
            }
        }
    }
    if is_test && pass.facts.language == "python" {
        for (offset, module) in modules_run(pass.bytes) {
            add(
                innermost(pass.facts, offset),
                format!("-m {module}"),
                Certainty::Pattern,
                pass.position(offset),
            );
        }
    }
}

/// A path beside a test file that may be the script of a program, wherever it goes from there:
/// `const CLI = path.resolve(__dirname, "../bin/cli.js")`. Counts when a project file names the script.
fn place_of_program(pass: &Pass<'_>, call: &Call, name: &str) -> Option<String> {
    if pass.facts.language != "typescript" || !matches!(name, "join" | "resolve" | "URL") {
        return None;
    }
    let args = pass.arguments(call.position);
    let (first, last) = (args.first()?, args.last()?);
    let written = pass.text(first.from, last.to);
    let is_resolve = is_of(pass, call, "require");
    let path =
        if is_resolve { beside(pass, &format!("require.resolve({written}")) } else { beside(pass, &written) };
    path.map(|it| format!("={it}"))
}

/// Modules behind `"-m"` in lists of words, with their offsets.
fn modules_run(bytes: &[u8]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for mark in [&b"\"-m\","[..], &b"'-m',"[..]] {
        for at in memchr::memmem::find_iter(bytes, mark) {
            let rest = &bytes[at + mark.len()..];
            let n_blank = rest.iter().take_while(|it| it.is_ascii_whitespace()).count();
            let Some((quote @ (b'"' | b'\''), rest)) = rest[n_blank..].split_first() else { continue };
            let n =
                rest.iter().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'.')).count();
            if n > 0 && rest.get(n) == Some(quote) {
                found.push((at, String::from_utf8_lossy(&rest[..n]).into_owned()));
            }
        }
    }
    found.sort();
    found
}

/// Helpers of tests that take a command line.
fn is_runner(name: &str) -> bool {
    const VERBS: [&str; 8] = ["run", "exec", "execute", "spawn", "shell", "sh", "cmd", "system"];
    const REST: [&str; 10] =
        ["", "cli", "command", "cmd", "sync", "script", "process", "program", "shell", "async"];
    // Told by the first letter, most names are never written anew.
    let first = name.bytes().find(|it| *it != b'_').map(|it| it.to_ascii_lowercase());
    if !matches!(first, Some(b'r' | b'e' | b's' | b'c')) {
        return false;
    }
    let lower = name.to_ascii_lowercase().replace('_', "");
    VERBS.iter().any(|it| lower.strip_prefix(it).is_some_and(|rest| REST.contains(&rest)))
}

fn is_of(pass: &Pass<'_>, call: &Call, module: &str) -> bool {
    pass.receiver(call.callee).is_some_and(|it| pass.last_name(it) == module)
}

fn first(pass: &Pass<'_>, call: &Call) -> Option<String> {
    pass.first_literal(&pass.arguments(call.position))
}

/// What Cargo says to tests where the programs of their package are.
fn of_rust(pass: &Pass<'_>, call: &Call, name: &str) -> Option<String> {
    match name {
        "env" | "option_env" | "var" | "var_os" => {
            first(pass, call)?.strip_prefix("CARGO_BIN_EXE_").map(str::to_owned)
        }
        "cargo_bin" | "cargo_bin_cmd" | "cargo_bin_str" | "get_test_bin" => {
            let args = pass.arguments(call.position);
            let Some(arg) = args.first() else { return Some(OWN.to_owned()) };
            let text = pass.text(arg.from, arg.to);
            if text.contains("CARGO_PKG_NAME") || text.contains("crate_name!") {
                return Some(OWN.to_owned());
            }
            pass.literal(arg)
        }
        // `escargot::CargoBuild::new().bin("tool")`
        "bin" if memchr::memmem::find(pass.bytes, b"escargot").is_some() => first(pass, call),
        // Command lines in files beside the test, each with a program of the package.
        "new" if is_of(pass, call, "TestCases") => {
            let is_it = pass.modules.has("trycmd") || pass.chain(call.callee).starts_with("trycmd.");
            is_it.then(|| OWN.to_owned())
        }
        _ => None,
    }
}

/// `path.join("tool")` in a function that finds an executable: the last part of a path is the program.
fn path_of_program(pass: &Pass<'_>, call: &Call, name: &str) -> Option<String> {
    if !matches!(name, "join" | "push" | "Join" | "resolve" | "joinpath") {
        return None;
    }
    let decl = pass.facts.decl(call.decl?);
    let range = decl.range;
    let says = |text: &str| {
        const WORDS: [&str; 6] = ["exe", "bin", "binary", "executable", "exepath", "binpath"];
        text.split(|it: char| !it.is_ascii_alphanumeric())
            .flat_map(humps)
            .any(|it| WORDS.contains(&it.to_ascii_lowercase().as_str()))
    };
    let is_meant = says(pass.facts.text(decl.name)) || {
        let body = pass.bytes.get(range.from as usize..range.to as usize).unwrap_or_default();
        let has = |it: &&str| memchr::memmem::find(body, it.as_bytes()).is_some();
        body.len() < 4_096 && ["current_exe", "EXE_SUFFIX"].iter().any(has)
    };
    if !is_meant {
        return None;
    }
    let args = pass.arguments(call.position);
    let arg = args.last()?;
    let text = match pass.literal(arg) {
        Some(text) => text,
        // `format!("../tool{}", EXE_SUFFIX)`
        None => {
            let text = pass.text(arg.from, arg.to);
            let inner = text.strip_prefix("format!(")?.trim_start().strip_prefix('"')?;
            inner.split(['{', '"']).next()?.to_owned()
        }
    };
    let last = text.rsplit(['/', '\\']).next()?;
    let last = last.strip_suffix(".exe").unwrap_or(last);
    let is_name =
        !last.is_empty() && last.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_'));
    is_name.then(|| last.to_owned())
}

/// `buildBinPath` to `build`, `Bin`, `Path`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            .skip(1)
            .zip(rest.chars())
            .find(|((_, it), before)| it.is_ascii_uppercase() && before.is_ascii_lowercase())
            .map_or(rest.len(), |((at, _), _)| at);
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some(word)
    })
}

/// The command line that a call is given: as one text, as a list, as a program and a list, or word by word.
fn words_of_call(pass: &Pass<'_>, decl: Option<DeclId>, position: Position) -> Vec<Word> {
    let args = pass.arguments(position);
    let plain: Vec<&Arg> = args.iter().filter(|it| it.name.is_none()).collect();
    let mut words = Vec::new();
    for (at, arg) in plain.into_iter().enumerate() {
        let text = pass.text(arg.from, arg.to);
        // `exec.CommandContext(ctx, "x")`, `system({ "A" => "b" }, "x")`.
        if at == 0 && (text == "ctx" || text.ends_with("Context()") || text.contains("=>")) {
            continue;
        }
        words.extend(words_of(pass, decl, &text, words.is_empty()));
        if words.len() > 64 {
            break;
        }
    }
    words
}

fn words_of(pass: &Pass<'_>, decl: Option<DeclId>, text: &str, is_first: bool) -> Vec<Word> {
    if let Some(list) = text.strip_prefix('[').or_else(|| text.strip_prefix("vec![")) {
        let list = list.strip_suffix(']').unwrap_or(list);
        return split_list(list, &pass.facts.language)
            .into_iter()
            .take(64)
            .map(|it| word_of(pass, decl, it, 0))
            .collect();
    }
    if is_first
        && let Some(line) = pass.literal_text(text)
        && line.trim().contains(char::is_whitespace)
    {
        return line.split_whitespace().take(64).map(|it| Word::Text(it.to_owned())).collect();
    }
    // `f"{sys.executable} -m tool"`
    if is_first && pass.facts.language == "python" && text.starts_with(['f', 'F']) {
        let inner = text.trim_start_matches(['f', 'F']).trim_matches(['"', '\'']);
        if let Some(rest) = inner.strip_prefix("{sys.executable}") {
            let rest = rest.split_whitespace().take(64).map(|it| match it.contains('{') {
                true => Word::Computed,
                false => Word::Text(it.to_owned()),
            });
            return std::iter::once(Word::Interpreter).chain(rest).collect();
        }
    }
    vec![word_of(pass, decl, text, 0)]
}

fn word_of(pass: &Pass<'_>, decl: Option<DeclId>, text: &str, depth: usize) -> Word {
    let text = text.trim();
    if let Some(literal) = pass.literal_text(text) {
        return Word::Text(literal);
    }
    if ["sys.executable", "process.execPath", "process.argv[0]"].contains(&text) {
        return Word::Interpreter;
    }
    if let Some(path) = beside(pass, text) {
        return Word::Path(path);
    }
    if depth < 3
        && let Some(value) = assigned(pass, decl, text)
    {
        return word_of(pass, decl, &value, depth + 1);
    }
    Word::Computed
}

/// A path that begins where the file is: `path.join(__dirname, "..", "bin", "x.js")`, `Path(__file__).parent / "x.py"`,
/// `new URL("../bin/x.js", import.meta.url)`, `require.resolve("../bin/x")`.
fn beside(pass: &Pass<'_>, text: &str) -> Option<String> {
    const FILES: [&str; 3] = ["__file__", "__FILE__", "import.meta.filename"];
    const PLACES: [&str; 5] =
        ["__dirname", "__dir__", "import.meta.url", "import.meta.dirname", "require.resolve("];
    let is_of_file = FILES.iter().any(|it| text.contains(it));
    if text.len() > 512 || !is_of_file && !PLACES.iter().any(|it| text.contains(it)) {
        return None;
    }
    let mut directory: Vec<&str> = pass.path.split('/').collect();
    directory.pop();
    // Each step up after the first leads out of one directory more; Ruby counts from the file itself.
    let n_up = text.matches(".parent").count() + text.matches("dirname(").count();
    let n_up = if is_of_file { n_up.saturating_sub(1) } else { n_up };
    for _ in 0..n_up {
        directory.pop()?;
    }
    let mut parts: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(['"', '\'']) {
        let quote = rest[begin..].chars().next()?;
        let (part, behind) = rest[begin + 1..].split_once(quote)?;
        parts.extend(part.split('/').map(str::to_owned));
        rest = behind;
    }
    if text.contains("${") || parts.is_empty() {
        return None;
    }
    if text.contains("__FILE__") && parts.first().is_some_and(|it| it == "..") {
        parts.remove(0);
    }
    for part in &parts {
        match part.as_str() {
            "" | "." => {}
            ".." => {
                directory.pop()?;
            }
            part => directory.push(part),
        }
    }
    Some(format!("/{}", directory.join("/")))
}

/// Programs that run others.
fn is_launcher(name: &str) -> bool {
    const LAUNCHERS: [&str; 26] = [
        "python", "python3", "python2", "py", "node", "nodejs", "bun", "deno", "tsx", "ts-node", "ruby",
        "go", "cargo", "npx", "bunx", "yarn", "pnpm", "npm", "poetry", "uv", "pipenv", "hatch", "bundle",
        "env", "sudo", "coverage",
    ];
    LAUNCHERS.contains(&name)
}

/// The program that a command line means, in words that `LinkEnd::Program` explains.
fn program(pass: &Pass<'_>, words: &[Word]) -> Option<String> {
    let (first, rest) = words.split_first()?;
    let first = match first {
        Word::Path(path) => return Some(path.clone()),
        Word::Computed => return None,
        Word::Interpreter => match pass.facts.language.as_str() {
            "python" => "python",
            "ruby" => "ruby",
            _ => "node",
        },
        Word::Text(text) => text.as_str(),
    };
    match first {
        "python" | "python3" | "python2" | "py" | "coverage" => match behind_options(rest, &["-W", "-X"])? {
            (Word::Text(it), rest) if it == "-m" => match rest.first()? {
                // `python -m coverage run -m tool`
                Word::Text(it) if is_launcher(it) => program(pass, rest),
                Word::Text(it) => Some(format!("-m {it}")),
                _ => None,
            },
            (Word::Text(it), rest) if it == "run" => program(
                pass,
                &std::iter::once(Word::Interpreter).chain(rest.iter().cloned()).collect::<Vec<_>>(),
            ),
            (it, _) => script(it),
        },
        "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "ruby" => {
            let (it, rest) = behind_options(rest, &["-r", "--import", "--require", "--loader", "-I"])?;
            match it {
                Word::Text(it) if it == "run" => rest.first().and_then(script),
                it => script(it),
            }
        }
        "go" => of_go(pass, rest),
        "cargo" => of_cargo(rest),
        "npx" | "bunx" | "yarn" | "pnpm" | "poetry" | "uv" | "pipenv" | "hatch" | "bundle" | "sudo"
        | "env" => {
            let is_passed = |it: &Word| match it {
                Word::Text(it) => {
                    it.starts_with('-') || it.contains('=') || ["exec", "run", "dlx"].contains(&it.as_str())
                }
                _ => false,
            };
            let n = rest.iter().take_while(|it| is_passed(it)).count();
            program(pass, &rest[n..])
        }
        "npm" => None,
        name => {
            let is_name =
                |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.' | b'/' | b'+');
            let is_one = name.len() > 1 && !name.starts_with('-') && name.bytes().all(is_name);
            is_one.then(|| name.to_owned())
        }
    }
}

/// The first word that is no option of an interpreter, and what follows; `-m` is such a word.
fn behind_options<'w>(words: &'w [Word], with_value: &[&str]) -> Option<(&'w Word, &'w [Word])> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word {
            Word::Text(it) if it != "-m" && it.starts_with('-') => {
                at += if with_value.contains(&it.as_str()) { 2 } else { 1 };
            }
            _ => return Some((word, &words[at + 1..])),
        }
    }
    None
}

fn script(word: &Word) -> Option<String> {
    match word {
        Word::Path(path) => Some(path.clone()),
        Word::Text(text) if text.contains(['/', '.']) && !text.contains(char::is_whitespace) => {
            Some(if text.contains('/') { text.clone() } else { format!("./{text}") })
        }
        _ => None,
    }
}

/// `go build -o x ./cmd/tool`: the package that becomes a program. The tests of a package run in its directory.
fn of_go(pass: &Pass<'_>, words: &[Word]) -> Option<String> {
    let (verb, rest) = words.split_first()?;
    if !matches!(verb, Word::Text(it) if ["build", "run", "install"].contains(&it.as_str())) {
        return None;
    }
    let mut packages = Vec::new();
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        match word {
            Word::Text(it) if it.starts_with('-') => {
                let takes_value =
                    ["-o", "-ldflags", "-tags", "-mod", "-gcflags", "-C"].contains(&it.as_str());
                at += usize::from(takes_value);
            }
            Word::Text(it) if it.starts_with('.') || it.contains('/') => packages.push(it.as_str()),
            Word::Computed => return None,
            _ => {}
        }
        at += 1;
    }
    let package = match packages.as_slice() {
        [] => ".",
        [one, ..] => *one,
    };
    if !package.starts_with('.') {
        return Some(package.to_owned());
    }
    let mut directory: Vec<&str> = pass.path.split('/').collect();
    directory.pop();
    for part in package.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                directory.pop()?;
            }
            // A file of the package.
            part if part.ends_with(".go") => {}
            part => directory.push(part),
        }
    }
    Some(format!("/{}", directory.join("/")))
}

fn of_cargo(words: &[Word]) -> Option<String> {
    let text = |it: &Word| match it {
        Word::Text(it) => Some(it.clone()),
        _ => None,
    };
    if !matches!(words.first(), Some(Word::Text(it)) if ["run", "build", "r", "b"].contains(&it.as_str())) {
        return None;
    }
    let behind = |options: [&str; 2]| {
        let at =
            words.iter().position(|it| matches!(it, Word::Text(it) if options.contains(&it.as_str())))?;
        words.get(at + 1).and_then(text)
    };
    behind(["--bin", "--bin"]).or_else(|| behind(["-p", "--package"]))
}
