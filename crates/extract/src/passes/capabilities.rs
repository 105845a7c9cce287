//! What a file can do to the machine it runs on: variables it reads, programs it starts, hosts it talks to, code it runs on
//! installation, and text it turns into code.
//!
//! Nothing here becomes an edge: who audits a change asks for it, of the files that changed.

use knowing_model::facts::{Call, DeclId, Expr, LinkEnd, SiteKind};
use knowing_model::{EdgeKind, Position};

use super::requests::{self, Request};
use super::{Arg, Modules, Pass};
use crate::extractor::extract;

/// One thing that a file can do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Capability {
    pub kind: CapabilityKind,
    /// The variable, program, host, script or function; `?` where it is computed.
    pub what: String,
    pub line: u32,
    /// What is run was hidden: decoded, decrypted or fetched in the same breath.
    pub hidden: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CapabilityKind {
    ReadsEnv,
    ExecutesProcess,
    /// Talks to a host that is written in the file.
    ConsumesEndpoint,
    /// Runs when the package is installed or built by others.
    InstallScript,
    DynamicEvaluation,
}

impl CapabilityKind {
    pub fn name(self) -> &'static str {
        match self {
            CapabilityKind::ReadsEnv => "reads_env",
            CapabilityKind::ExecutesProcess => "executes_process",
            CapabilityKind::ConsumesEndpoint => "consumes_endpoint",
            CapabilityKind::InstallScript => "install_script",
            CapabilityKind::DynamicEvaluation => "dynamic_evaluation",
        }
    }
}

/// What a file can do, by line; each once for the declaration it stands in.
pub fn capabilities(path: &str, bytes: &[u8]) -> Vec<Capability> {
    let facts = extract(path, bytes);
    let mut found: Vec<(Option<DeclId>, Capability)> = Vec::new();
    let mut add = |decl: Option<DeclId>, kind, what: &str, position: Position, hidden: bool| {
        let what = knowing_model::name::bounded(what).into_owned();
        found.push((decl, Capability { kind, what, line: position.line, hidden }));
    };
    for site in &facts.sites {
        let kind = match site.kind {
            SiteKind::ReadsEnv => CapabilityKind::ReadsEnv,
            SiteKind::StartsProcess => CapabilityKind::ExecutesProcess,
        };
        add(site.decl, kind, site.name.map_or("?", |it| facts.text(it)), site.position, false);
    }
    for link in facts.links.iter().filter(|it| it.kind == EdgeKind::ExecutesProcess) {
        let LinkEnd::Outside { name, .. } = link.to else { continue };
        let decl = match link.from {
            LinkEnd::Decl(decl) => Some(decl),
            _ => None,
        };
        add(decl, CapabilityKind::ExecutesProcess, facts.text(name), link.position, false);
    }
    for (what, line) in install_scripts(path, bytes) {
        add(None, CapabilityKind::InstallScript, &what, Position { line, column: 0 }, false);
    }
    let code = crate::registry::code_of(path, bytes);
    let pass = Pass::new(&facts, path, &code, Modules::of(&facts));
    for Request { decl, host, position, .. } in requests::all(&pass) {
        if let Some(host) = host.filter(|it| is_foreign(it)) {
            add(decl, CapabilityKind::ConsumesEndpoint, &host, position, false);
        }
    }
    for call in &facts.calls {
        if let Some((what, hidden)) = evaluated(&pass, call) {
            add(call.decl, CapabilityKind::DynamicEvaluation, &what, call.position, hidden);
        }
    }
    found.sort_by(|a, b| (a.1.line, &a.1).cmp(&(b.1.line, &b.1)));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|(decl, it)| seen.insert((*decl, it.kind, it.what.clone(), it.hidden)));
    found.into_iter().map(|it| it.1).collect()
}

/// A host of others: not this machine, not a private network, not a name that is reserved for examples and tests.
pub fn is_foreign(host: &str) -> bool {
    const RESERVED: [&str; 9] = [
        "localhost",
        "local",
        "test",
        "example",
        "invalid",
        "internal",
        "example.com",
        "example.net",
        "example.org",
    ];
    let is_reserved =
        |it: &str| host.strip_suffix(it).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if !host.contains('.') || RESERVED.into_iter().any(is_reserved) {
        return false;
    }
    let parts: Vec<u8> = host.split('.').filter_map(|it| it.parse().ok()).collect();
    match parts[..] {
        // The address of cloud metadata, from which keys are read, is none of these.
        [0 | 10 | 127, _, _, _] | [192, 168, _, _] | [172, 16..=31, _, _] => false,
        _ => true,
    }
}

/// Functions that turn text or bytes into code or objects: the last name, and what it is a member of (`*`: anything, ``:
/// nothing), for the languages that have it.
const EVALUATING: &[(&[&str], &str, &str)] = &[
    (&["python", "typescript", "ruby", "php"], "eval", ""),
    (&["python"], "exec", ""),
    (&["python"], "loads", "pickle"),
    (&["python"], "load", "pickle"),
    (&["python"], "loads", "cPickle"),
    (&["python"], "loads", "dill"),
    (&["python"], "loads", "marshal"),
    (&["python"], "load", "marshal"),
    (&["python"], "eval", "builtins"),
    (&["python"], "exec", "builtins"),
    (&["python"], "FunctionType", "types"),
    (&["typescript"], "Function", ""),
    (&["typescript"], "runInThisContext", "vm"),
    (&["typescript"], "runInNewContext", "vm"),
    (&["typescript"], "runInContext", "vm"),
    (&["typescript"], "Script", "vm"),
    (&["typescript"], "_compile", "*"),
    (&["ruby"], "eval", "Kernel"),
    (&["ruby"], "eval", "binding"),
    (&["ruby"], "instance_eval", "*"),
    (&["ruby"], "class_eval", "*"),
    (&["ruby"], "module_eval", "*"),
    (&["ruby"], "load", "Marshal"),
    (&["php"], "create_function", ""),
    (&["php"], "unserialize", ""),
    (&["php"], "assert", ""),
    (&["go"], "Open", "plugin"),
    (&["rust"], "new", "Library"),
    (&["java", "kotlin"], "forName", "Class"),
    (&["java", "kotlin"], "defineClass", "*"),
    (&["java", "kotlin"], "readObject", "*"),
    (&["csharp"], "Load", "Assembly"),
    (&["csharp"], "LoadFrom", "Assembly"),
    (&["csharp"], "EvaluateAsync", "CSharpScript"),
    (&["csharp"], "Deserialize", "BinaryFormatter"),
];

/// Words of what hides code: decoding, decrypting, decompressing, fetching.
const HIDING: &[&str] = &[
    "b64decode",
    "base64",
    "atob",
    "buffer.from",
    "fromcharcode",
    "unhexlify",
    "fromhex",
    "decompress",
    "codecs.decode",
    "rot13",
    "unescape(",
    "decode64",
    "unpack1",
    "unpack(",
    "gzinflate",
    "inflate(",
    "decrypt",
    "fernet",
    "urlopen",
    "requests.get",
    "httpx.get",
    "net::http",
    "uri.open",
    "fetch(",
    "\\x",
];

/// The function, and whether what it is given was hidden.
fn evaluated(pass: &Pass<'_>, call: &Call) -> Option<(String, bool)> {
    let name = pass.called(call);
    let language = pass.facts.language.as_str();
    let rows = EVALUATING.iter().filter(|it| it.1 == name && it.0.contains(&language));
    let of = pass.receiver(call.callee).map(|it| pass.chain(it));
    let last = of.as_deref().map(|it| it.rsplit('.').next().unwrap_or_default());
    let row = rows.into_iter().find(|it| match (it.2, last) {
        // A bare call of Ruby is one of the object itself.
        ("", None | Some("" | "&" | "self")) if last.is_none() || language == "ruby" => {
            is_of_language(pass, call)
        }
        ("*", _) => true,
        (wanted, Some(last)) => wanted == last,
        _ => false,
    })?;
    let mut args = pass.arguments(call.position);
    let behind = pass.offset(call.position) + name.len();
    if args.is_empty() && pass.text(behind, behind + 4).trim_start().starts_with("<<") {
        args.push(Arg { from: behind, to: behind + 4, name: None });
    }
    // A block is code that is written there; so is a class that is named.
    let first = args.first()?;
    let written = pass.text(first.from, first.to);
    if matches!(row.1, "forName" | "Open" | "new") && pass.literal(first).is_some() {
        return None;
    }
    if language == "ruby" && written.starts_with('&') {
        return None;
    }
    let whole = pass.text(first.from, args.last().map_or(first.to, |it| it.to)).to_ascii_lowercase();
    let source = requests::assigned(pass, call.decl, &written).unwrap_or_default().to_ascii_lowercase();
    let hidden = HIDING.iter().any(|it| whole.contains(it) || source.contains(it));
    let what = match row.2 {
        "" | "*" => name.to_owned(),
        of => format!("{of}.{name}"),
    };
    Some((what, hidden))
}

/// A bare name that the file itself does not declare.
fn is_of_language(pass: &Pass<'_>, call: &Call) -> bool {
    let Expr::Name { name, .. } = pass.facts.expr(call.callee) else { return true };
    !pass.facts.decls.iter().any(|it| it.name == name)
}

/// What runs when others install or build the package, with its line.
fn install_scripts(path: &str, bytes: &[u8]) -> Vec<(String, u32)> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]);
    let line_of = |wanted: &str| {
        let at = text.find(wanted).unwrap_or(0);
        1 + u32::try_from(text[..at].bytes().filter(|it| *it == b'\n').count()).unwrap_or(u32::MAX - 1)
    };
    let of_json = |keys: &[&str]| -> Vec<(String, u32)> {
        let Ok(document) = serde_json::from_str::<serde_json::Value>(&text) else { return Vec::new() };
        let scripts = document.get("scripts").and_then(serde_json::Value::as_object);
        let of = |key: &&str| {
            let command = scripts?.get(*key)?;
            let command = match command {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some((format!("{key}: {command}"), line_of(&format!("\"{key}\""))))
        };
        keys.iter().filter_map(of).collect()
    };
    match name {
        "package.json" => of_json(&["preinstall", "install", "postinstall"]),
        "composer.json" => of_json(&[
            "pre-install-cmd",
            "post-install-cmd",
            "pre-update-cmd",
            "post-update-cmd",
            "post-autoload-dump",
            "post-package-install",
        ]),
        "setup.py" => setup_commands(&text),
        "build.rs" | "extconf.rb" => vec![(name.to_owned(), 1)],
        "sitecustomize.py" | "usercustomize.py" => vec![(name.to_owned(), 1)],
        // Commands in it are run when native code is configured.
        "binding.gyp" if text.contains("<!") => vec![("binding.gyp command".to_owned(), line_of("<!"))],
        "tasks.json" if text.contains("\"folderOpen\"") => {
            vec![("runs when the folder is opened".to_owned(), line_of("\"folderOpen\""))]
        }
        "pyproject.toml" if text.contains("\nbackend-path") => {
            vec![("backend-path".to_owned(), line_of("\nbackend-path") + 1)]
        }
        // Every start of the interpreter runs such a line.
        _ if name.ends_with(".pth") => {
            let lines = (1..)
                .zip(text.lines())
                .filter(|it| it.1.starts_with("import ") || it.1.starts_with("import\t"));
            lines.map(|(at, _)| ("import line of a .pth file".to_owned(), at)).collect()
        }
        _ => Vec::new(),
    }
}

/// Commands of `setup.py` that every installation runs and that the file replaces.
fn setup_commands(text: &str) -> Vec<(String, u32)> {
    const RUN: [&str; 4] = ["install", "develop", "egg_info", "build_py"];
    let Some(at) = text.find("cmdclass") else { return Vec::new() };
    let behind = &text[at..text[at..].find('}').map_or(text.len(), |it| at + it)];
    let mut found = Vec::new();
    for command in RUN {
        let is_named = [format!("'{command}'"), format!("\"{command}\""), format!("{command}=")];
        if is_named.iter().any(|it| behind.contains(it.as_str())) {
            let line = 1 + text[..at].bytes().filter(|it| *it == b'\n').count();
            found.push((format!("cmdclass: {command}"), u32::try_from(line).unwrap_or(u32::MAX)));
        }
    }
    found
}
