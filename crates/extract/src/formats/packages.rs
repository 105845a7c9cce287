//! Files that say what a project depends on and are no code: requirements, Maven, .NET projects.

use knowing_model::facts::{AskedVersion, Import, ImportKind, LinkEnd, Str};
use knowing_model::{EdgeKind, NodeKind, Position, Range};
use rustc_hash::FxHashMap;

use super::{Format, Sheet};
use crate::languages::csharp::imports::STATIC_LEVEL;

pub(crate) const REQUIREMENTS: Format = Format {
    name: "requirements",
    accepts: |_, name| name.starts_with("requirements") && (name.ends_with(".txt") || name.ends_with(".in")),
    takes: &["requirements*.txt", "requirements*.in"],
    read: read_requirements,
};

pub(crate) const MAVEN: Format =
    Format { name: "maven", accepts: |_, name| name == "pom.xml", takes: &["pom.xml"], read: read_maven };

pub(crate) const DOTNET: Format = Format {
    name: "dotnet",
    accepts: |_, name| {
        [".csproj", ".fsproj", ".vbproj"].iter().any(|it| name.ends_with(it))
            || DIRECTORY_FILES.contains(&name)
    },
    takes: &[
        "*.csproj",
        "*.fsproj",
        "*.vbproj",
        "Directory.Build.props",
        "Directory.Build.targets",
        "Directory.Packages.props",
    ],
    read: read_dotnet,
};

/// What holds for all projects below.
const DIRECTORY_FILES: &[&str] =
    &["Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props"];

pub(crate) const GRADLE: Format = Format {
    name: "gradle",
    accepts: |_, name| name == "build.gradle",
    takes: &["build.gradle"],
    read: read_gradle,
};

/// Words of Gradle before what is depended on; a source set may stand before the last part: `debugImplementation`.
const GRADLE_WORDS: &[&str] = &[
    "implementation",
    "api",
    "compileonly",
    "compileonlyapi",
    "runtimeonly",
    "annotationprocessor",
    "kapt",
    "ksp",
    "classpath",
    "compile",
    "developmentonly",
];

/// `implementation "group:artifact:1.0"`, `api(project(":core"))`, `runtimeOnly group: "g", name: "a"`.
fn read_gradle(sheet: &mut Sheet<'_>) {
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        let body = line.trim_start();
        let n = body.bytes().take_while(|it| it.is_ascii_alphanumeric()).count();
        let (word, rest) = body.split_at(n);
        let lower = word.to_ascii_lowercase();
        let is_whole = rest.starts_with([' ', '(', '\t']);
        if !is_whole || !GRADLE_WORDS.iter().any(|it| lower.ends_with(it)) {
            continue;
        }
        let position = Position { line: number, column: (line.len() - body.len()) as u32 };
        let n_quotes = |quote: u8| rest.bytes().filter(|it| *it == quote).count();
        if (n_quotes(b'"') + n_quotes(b'\'')) % 2 == 1 {
            sheet.partial(number);
        }
        let quoted = |text: &str| {
            let quote = text.trim_start_matches([' ', '(', '\t']).chars().next()?;
            let mut parts = text.split(quote).skip(1);
            let inner = parts.next().filter(|_| matches!(quote, '"' | '\''))?;
            parts.next().map(|_| inner.to_owned())
        };
        if let Some((_, path)) = rest.split_once("project(") {
            let path = path.split(['"', '\'']).nth(1).unwrap_or_default();
            let path = format!("{}/build.gradle", path.trim_start_matches(':').replace(':', "/"));
            let to = LinkEnd::Path(sheet.str(&path));
            sheet.link(LinkEnd::File, EdgeKind::DependsOn, to, position);
        } else if let (Some((_, group)), Some((_, name))) =
            (rest.split_once("group:"), rest.split_once("name:"))
        {
            if let (Some(group), Some(name)) = (quoted(group), quoted(name)) {
                let version = rest.split_once("version:").and_then(|it| quoted(it.1)).unwrap_or_default();
                depends(sheet, LinkEnd::File, "maven", &format!("{group}:{name}"), &version, position);
            }
        } else if let Some(text) = quoted(rest).filter(|it| it.contains(':')) {
            let name = text.split(':').take(2).collect::<Vec<_>>().join(":");
            if !name.contains('$') {
                let version = text.split(':').nth(2).unwrap_or_default();
                depends(sheet, LinkEnd::File, "maven", &name, version, position);
            }
        }
    }
}

fn read_requirements(sheet: &mut Sheet<'_>) {
    for (number, line) in (1_u32..).zip(sheet.text.lines()) {
        let body = line.split(" #").next().unwrap_or_default().trim();
        let position = Position { line: number, column: 0 };
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        let file = ["-r ", "--requirement ", "-c "].iter().find_map(|it| body.strip_prefix(it));
        if let Some(file) = file {
            if let Some(to) = sheet.path_end(file.trim()) {
                sheet.link(LinkEnd::File, EdgeKind::Imports, to, position);
            }
            continue;
        }
        let name: String = body
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.'))
            .collect();
        let is_path = body.starts_with(['-', '.', '/', '$']) || body.contains("://");
        if name.is_empty() && !is_path {
            sheet.partial(number);
            continue;
        }
        if name.is_empty() || body.starts_with('-') || body.contains("://") && !body.contains('@') {
            continue;
        }
        // `name[extra] >= 2 ; marker --hash=...`
        let rest = body[name.len()..].trim_start();
        let rest = rest.strip_prefix('[').map_or(rest, |it| it.split_once(']').map_or("", |it| it.1));
        let version = rest.split([';', '\\']).next().unwrap_or_default();
        let version = version.split(" --").next().unwrap_or_default().trim();
        let version = if version.starts_with(['<', '>', '=', '~', '!', '(']) { version } else { "" };
        depends(sheet, LinkEnd::File, "pypi", &name, version, position);
    }
}

/// Something depends on a package; the version is empty where none is asked for, or where it is computed.
pub(crate) fn depends(
    sheet: &mut Sheet<'_>,
    from: LinkEnd,
    ecosystem: &str,
    name: &str,
    version: &str,
    position: Position,
) {
    let package = format!("{ecosystem}/{name}");
    let to = sheet.outside(NodeKind::External, &package, "");
    sheet.link(from, EdgeKind::DependsOn, to, position);
    if !version.is_empty() && !version.contains('$') {
        let (package, version) = (sheet.str(&package), sheet.str(version));
        sheet.facts.versions.push(AskedVersion { package, version });
    }
}

/// Start tags, texts and end tags of an XML text, enough for project files; a tag that does not end makes it partial.
fn tags<'s>(sheet: &mut Sheet<'s>) -> Vec<(&'s str, &'s str, usize)> {
    let text = sheet.text;
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('<').map(|it| at + it) {
        if text[open..].starts_with("<!--") {
            at = text[open..].find("-->").map_or(text.len(), |it| open + it + 3);
            continue;
        }
        let Some(close) = text[open..].find('>').map(|it| open + it) else {
            let position = sheet.position(open);
            sheet.partial(position.line);
            break;
        };
        let next = text[close..].find('<').map_or(text.len(), |it| close + it);
        out.push((&text[open + 1..close], text[close + 1..next].trim(), open));
        at = next.max(close + 1);
    }
    out
}

fn read_maven(sheet: &mut Sheet<'_>) {
    let all = tags(sheet);
    let mut stack: Vec<&str> = Vec::new();
    let (mut group, mut artifact, mut version) = ("", "", "");
    let mut properties: FxHashMap<&str, &str> = FxHashMap::default();
    let mut project: Option<knowing_model::facts::DeclId> = None;
    for (tag, text, offset) in &all {
        let name = tag.split([' ', '/', '\n', '\r', '\t']).find(|it| !it.is_empty()).unwrap_or_default();
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            if stack.pop() != Some(name) {
                let position = sheet.position(*offset);
                sheet.partial(position.line);
            }
            if name == "dependency" && !artifact.is_empty() && !stack.contains(&"dependencyManagement") {
                let position = sheet.position(*offset);
                let from = project.map_or(LinkEnd::File, LinkEnd::Decl);
                let property = version.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
                let version = property.map_or(version, |it| properties.get(it).copied().unwrap_or_default());
                depends(sheet, from, "maven", &format!("{group}:{artifact}"), version, position);
            }
            continue;
        }
        match (name, stack.as_slice()) {
            ("groupId", [.., "dependency"]) => group = text,
            ("artifactId", [.., "dependency"]) => artifact = text,
            ("version", [.., "dependency"]) => version = text,
            (name, ["project", "properties"]) => drop(properties.insert(name, text)),
            ("artifactId", ["project"]) => {
                let position = sheet.position(*offset);
                project = sheet.declare(NodeKind::Package, text, position, sheet.facts.n_lines, text);
            }
            ("module", [.., "modules"]) => {
                if let Some(to) = sheet.path_end(&format!("{text}/pom.xml")) {
                    let position = sheet.position(*offset);
                    sheet.link(LinkEnd::File, EdgeKind::DependsOn, to, position);
                }
            }
            ("dependency", _) => (group, artifact, version) = ("", "", ""),
            _ => {}
        }
        if !tag.ends_with('/') {
            stack.push(name);
        }
    }
    if !stack.is_empty() {
        sheet.partial(sheet.facts.n_lines.max(1));
    }
}

fn read_dotnet(sheet: &mut Sheet<'_>) {
    let all = tags(sheet);
    let file = sheet.path.rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |it| it.0).to_owned();
    let own = match file.ends_with("proj") {
        true => sheet.declare(
            NodeKind::Package,
            &stem,
            Position { line: 1, column: 0 },
            sheet.facts.n_lines,
            &stem,
        ),
        false => None,
    };
    let from = own.map_or(LinkEnd::File, LinkEnd::Decl);
    for (tag, _, offset) in all {
        let attribute = |name: &str| {
            let begin = tag.find(&format!("{name}=\""))? + name.len() + 2;
            let end = tag[begin..].find('"')? + begin;
            Some(&tag[begin..end])
        };
        let position = sheet.position(offset);
        if tag.starts_with("PackageReference") || tag.starts_with("PackageVersion") {
            if let Some(name) = attribute("Include") {
                let version = attribute("Version").unwrap_or_default();
                depends(sheet, from, "nuget", name, version, position);
            }
        } else if tag.starts_with("ProjectReference")
            && let Some(path) = attribute("Include")
            && let Some(to) = sheet.path_end(&path.replace('\\', "/"))
        {
            sheet.link(from, EdgeKind::DependsOn, to, position);
        } else if tag.starts_with("Using ")
            && let Some(names) = attribute("Include")
        {
            let is_static = attribute("Static").is_some_and(|it| it.eq_ignore_ascii_case("true"));
            for name in names.split(';').map(str::trim).filter(|it| !it.is_empty() && !it.contains('$')) {
                using(sheet, name, is_static, attribute("Alias"), position);
            }
        }
    }
}

/// `<Using Include="A.B" />`: `global using A.B;` in every file of the project.
fn using(sheet: &mut Sheet<'_>, path: &str, is_static: bool, alias: Option<&str>, position: Position) {
    let mut module: Vec<Str> = path.split('.').map(|it| sheet.str(it)).collect();
    let kind = match alias {
        Some(alias) => {
            let Some(name) = module.pop() else { return };
            ImportKind::Member { name, alias: sheet.str(alias) }
        }
        None => ImportKind::Wildcard,
    };
    let visible = Range { from: 0, to: u32::try_from(sheet.text.len()).unwrap_or(u32::MAX) };
    let level = if is_static { STATIC_LEVEL } else { 0 };
    sheet.facts.imports.push(Import { decl: None, module, level, kind, reexport: true, visible, position });
}
