//! Command lines that run selected tests, by what the repository's own project files say.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::place::Place;
use crate::test_scope::{TestFunction, TestRun};
use crate::view::View;

/// A test to run.
#[derive(Clone, Copy)]
pub(crate) struct Selected<'a> {
    language: &'a str,
    file: &'a str,
    line: u32,
    /// Owners and name, outermost first.
    path: &'a str,
    name: &'a str,
}

impl<'a> Selected<'a> {
    pub(crate) fn of(test: &'a TestFunction) -> Option<Selected<'a>> {
        let symbol = &test.symbol;
        let file = symbol.file.as_deref()?;
        // What follows the file in the name; of languages whose names begin with a directory, what follows that.
        let rest = symbol.short_name();
        let directory = file.rsplit_once('/').map_or("", |it| it.0);
        let path = rest.strip_prefix(file).or_else(|| rest.strip_prefix(directory)).unwrap_or(&symbol.name);
        Some(Selected {
            language: symbol.language.as_deref()?,
            file,
            line: symbol.line.unwrap_or(1),
            path: path.trim_start_matches(['.', '/']),
            name: &symbol.name,
        })
    }

    fn directory(&self) -> &'a str {
        self.file.rsplit_once('/').map_or("", |it| it.0)
    }

    fn owner(&self) -> Option<&'a str> {
        self.path.strip_suffix(self.name)?.strip_suffix('.').filter(|it| !it.is_empty())
    }
}

/// What is known of how the repository is built.
pub(crate) struct Project {
    files: BTreeSet<String>,
    /// Project files that say more than their names.
    texts: BTreeMap<String, String>,
}

const READ: &[&str] = &["package.json", "Cargo.toml", "composer.json", "Gemfile"];

impl Project {
    pub(crate) fn of(view: &View<'_>, place: Option<&Place>) -> Result<Project> {
        let mut project = Project { files: BTreeSet::new(), texts: BTreeMap::new() };
        for file in view.reader().files()? {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            if READ.contains(&name)
                && let Some(text) = place.and_then(|it| it.blob(&file.blob, &file.path))
            {
                project.texts.insert(file.path.clone(), String::from_utf8_lossy(&text).into_owned());
            }
            project.files.insert(file.path);
        }
        Ok(project)
    }

    pub(crate) fn commands(&self, tests: &[Selected<'_>]) -> Vec<TestRun> {
        let mut by_language: BTreeMap<&str, Vec<Selected<'_>>> = BTreeMap::new();
        for test in tests {
            let language = match test.language {
                "typescript" | "tsx" | "javascript" | "jsx" => "javascript",
                other => other,
            };
            by_language.entry(language).or_default().push(*test);
        }
        let mut runs = Vec::new();
        for (language, tests) in by_language {
            let found = match language {
                "go" => self.go(&tests),
                "python" => self.python(&tests),
                "javascript" => self.javascript(&tests),
                "rust" => self.rust(&tests),
                "java" | "kotlin" | "scala" => self.jvm(language, &tests),
                "csharp" => self.csharp(&tests),
                "ruby" => self.ruby(&tests),
                "php" => self.php(&tests),
                _ => Vec::new(),
            };
            runs.extend(found.into_iter().map(|it| TestRun {
                language: language.to_owned(),
                runner: it.runner.to_owned(),
                command: it.command,
                tests: it.tests,
            }));
        }
        runs
    }

    /// The nearest directory above a file that has one of these files; empty is the top.
    fn above(&self, file: &str, names: &[&str]) -> Option<(String, String)> {
        let mut directory = file;
        loop {
            directory = directory.rsplit_once('/').map_or("", |it| it.0);
            for name in names {
                let path =
                    if directory.is_empty() { (*name).to_owned() } else { format!("{directory}/{name}") };
                if self.files.contains(&path) {
                    return Some((directory.to_owned(), path));
                }
            }
            if directory.is_empty() {
                return None;
            }
        }
    }

    fn go(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let mut packages: BTreeMap<(String, &str), BTreeSet<&str>> = BTreeMap::new();
        for test in tests {
            let module = self.above(test.file, &["go.mod"]).map(|it| it.0).unwrap_or_default();
            packages.entry((module, test.directory())).or_default().insert(test.name);
        }
        let command = |((module, directory), names): ((String, &str), BTreeSet<&str>)| {
            let inside = below(directory, &module);
            let package = if inside.is_empty() { ".".to_owned() } else { format!("./{inside}") };
            let change = if module.is_empty() { String::new() } else { format!(" -C {}", quoted(&module)) };
            let pattern = format!("^({})$", names.iter().map(|it| literal(it)).collect::<Vec<_>>().join("|"));
            let command = format!("go{change} test {} -run {}", quoted(&package), quoted(&pattern));
            Run { runner: "go test", command, tests: names.len() }
        };
        packages.into_iter().map(command).collect()
    }

    fn python(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let id = |test: &Selected<'_>| quoted(&format!("{}::{}", test.file, test.path.replace('.', "::")));
        let ids: Vec<String> = tests.iter().map(id).collect();
        vec![Run {
            runner: "pytest",
            command: format!("python -m pytest {}", ids.join(" ")),
            tests: ids.len(),
        }]
    }

    fn javascript(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let mut groups: BTreeMap<(String, &'static str), Vec<Selected<'_>>> = BTreeMap::new();
        for test in tests {
            let (directory, runner) = self.javascript_runner(test.file);
            groups.entry((directory, runner)).or_default().push(*test);
        }
        let command = |((directory, runner), tests): ((String, &'static str), Vec<Selected<'_>>)| {
            let files: BTreeSet<&str> = tests.iter().map(|it| below(it.file, &directory)).collect();
            let files: Vec<String> = files.into_iter().map(quoted).collect();
            let names: BTreeSet<String> = tests.iter().map(|it| literal(it.name)).collect();
            let names = quoted(&names.into_iter().collect::<Vec<_>>().join("|"));
            let files = files.join(" ");
            let command = match runner {
                "vitest" => format!("npx vitest run {files} -t {names}"),
                "mocha" => format!("npx mocha {files} -g {names}"),
                "playwright" => format!("npx playwright test {files} -g {names}"),
                "bun" => format!("bun test {files} -t {names}"),
                "node" => format!("node --test --test-name-pattern={names} {files}"),
                _ => format!("npx jest {files} -t {names}"),
            };
            let command = match directory.is_empty() {
                true => command,
                false => format!("(cd {} && {command})", quoted(&directory)),
            };
            Run { runner, command, tests: tests.len() }
        };
        groups.into_iter().map(command).collect()
    }

    /// The directory to run in, and what runs tests there: what the nearest package that names a runner says.
    fn javascript_runner(&self, file: &str) -> (String, &'static str) {
        const RUNNERS: &[&str] = &["vitest", "jest", "mocha", "playwright"];
        let mut at = file.to_owned();
        let mut nearest = None;
        while let Some((directory, path)) = self.above(&at, &["package.json"]) {
            let text = self.texts.get(&path).map_or("", String::as_str);
            let named = RUNNERS
                .iter()
                .find(|it| text.contains(&format!("\"{it}\"")) || text.contains(&format!("{it} run")));
            let named = named
                .copied()
                .or_else(|| RUNNERS.iter().copied().find(|it| text.contains(&format!("\"test\": \"{it}"))));
            let named = named.or_else(|| text.contains("bun test").then_some("bun"));
            let named = named.or_else(|| text.contains("node --test").then_some("node"));
            if let Some(runner) = named {
                return (directory, runner);
            }
            nearest = nearest.or(Some(directory.clone()));
            if directory.is_empty() {
                break;
            }
            at = directory;
        }
        (nearest.unwrap_or_default(), "jest")
    }

    fn rust(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let mut groups: BTreeMap<(Option<String>, Option<String>), BTreeSet<&str>> = BTreeMap::new();
        for test in tests {
            let manifest = self.above(test.file, &["Cargo.toml"]);
            let package =
                manifest.as_ref().and_then(|it| self.texts.get(&it.1)).and_then(|it| crate_name(it));
            let directory = manifest.map(|it| it.0).unwrap_or_default();
            // A file right in `tests`, or a directory there, is a program of its own.
            let inside = below(test.file, &directory).strip_prefix("tests/");
            let program =
                inside.and_then(|it| it.split('/').next()).map(|it| it.trim_end_matches(".rs").to_owned());
            groups.entry((package, program)).or_default().insert(test.name);
        }
        let command = |((package, program), names): ((Option<String>, Option<String>), BTreeSet<&str>)| {
            let package = package.map(|it| format!(" -p {}", quoted(&it))).unwrap_or_default();
            let program = program.map(|it| format!(" --test {}", quoted(&it))).unwrap_or_default();
            let filters: Vec<String> = names.iter().map(|it| quoted(it)).collect();
            let command = format!("cargo test{package}{program} -- {}", filters.join(" "));
            Run { runner: "cargo test", command, tests: names.len() }
        };
        groups.into_iter().map(command).collect()
    }

    fn jvm(&self, language: &str, tests: &[Selected<'_>]) -> Vec<Run> {
        let gradle = ["build.gradle", "build.gradle.kts"];
        let mut groups: BTreeMap<(String, bool), Vec<Selected<'_>>> = BTreeMap::new();
        for test in tests {
            let by_gradle = self.above(test.file, &gradle);
            let by_maven = self.above(test.file, &["pom.xml"]);
            // The nearer of the two; a package may be built by both.
            let is_maven = match (&by_gradle, &by_maven) {
                (Some(gradle), Some(maven)) => maven.0.len() > gradle.0.len(),
                (None, Some(_)) => true,
                _ => false,
            };
            let directory = if is_maven { by_maven } else { by_gradle }.map(|it| it.0).unwrap_or_default();
            groups.entry((directory, is_maven)).or_default().push(*test);
        }
        let command = |((directory, is_maven), tests): ((String, bool), Vec<Selected<'_>>)| {
            let command =
                if is_maven { self.maven(&directory, &tests) } else { self.gradle(&directory, &tests) };
            let runner = if is_maven { "mvn" } else { "gradle" };
            Run { runner, command, tests: tests.len() }
        };
        let _ = language;
        groups.into_iter().map(command).collect()
    }

    fn gradle(&self, directory: &str, tests: &[Selected<'_>]) -> String {
        let program = if self.files.contains("gradlew") { "./gradlew" } else { "gradle" };
        let task = match directory {
            "" => "test".to_owned(),
            directory => format!(":{}:test", directory.replace('/', ":")),
        };
        let filters: BTreeSet<String> =
            tests.iter().map(|it| format!(" --tests {}", quoted(&qualified(it)))).collect();
        format!("{program} {}{}", quoted(&task), filters.into_iter().collect::<String>())
    }

    fn maven(&self, directory: &str, tests: &[Selected<'_>]) -> String {
        let program = if self.files.contains("mvnw") { "./mvnw" } else { "mvn" };
        let module = match directory {
            "" => String::new(),
            directory => format!(" -pl {}", quoted(directory)),
        };
        let mut classes: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for test in tests {
            let class = test.owner().unwrap_or_default().replace('.', "$");
            classes.entry(class).or_default().insert(test.name);
        }
        let filter = |(class, names): (String, BTreeSet<&str>)| {
            let names = names.into_iter().collect::<Vec<_>>().join("+");
            format!("{class}#{names}")
        };
        let filters: Vec<String> = classes.into_iter().map(filter).collect();
        format!("{program}{module} test -Dtest={}", quoted(&filters.join(",")))
    }

    fn csharp(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for test in tests {
            let path = match test.owner() {
                Some(owner) => format!("{}.{}", owner.rsplit('.').next().unwrap_or(owner), test.name),
                None => test.name.to_owned(),
            };
            let filter = format!("FullyQualifiedName~{path}");
            groups.entry(self.csharp_project(test.file).unwrap_or_default()).or_default().insert(filter);
        }
        let command = |(project, filters): (String, BTreeSet<String>)| {
            let project = if project.is_empty() { String::new() } else { format!(" {}", quoted(&project)) };
            let tests = filters.len();
            let filter = quoted(&filters.into_iter().collect::<Vec<_>>().join("|"));
            Run { runner: "dotnet test", command: format!("dotnet test{project} --filter {filter}"), tests }
        };
        groups.into_iter().map(command).collect()
    }

    /// The nearest `*.csproj` above a file.
    fn csharp_project(&self, file: &str) -> Option<String> {
        let mut directory = file;
        loop {
            directory = directory.rsplit_once('/').map_or("", |it| it.0);
            let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            let inside = self.files.range(prefix.clone()..).take_while(|it| it.starts_with(&prefix));
            let found =
                inside.clone().find(|it| it.ends_with(".csproj") && !it[prefix.len()..].contains('/'));
            if let Some(found) = found {
                return Some(found.clone());
            }
            if directory.is_empty() {
                return None;
            }
        }
    }

    fn ruby(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let (specs, others): (Vec<Selected<'_>>, Vec<Selected<'_>>) =
            tests.iter().partition(|it| it.file.ends_with("_spec.rb"));
        let places = |tests: &[Selected<'_>]| {
            let places: BTreeSet<String> =
                tests.iter().map(|it| format!("{}:{}", it.file, it.line)).collect();
            places.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ")
        };
        let mut runs = Vec::new();
        if !specs.is_empty() {
            let bundle = if self.files.contains("Gemfile") { "bundle exec " } else { "" };
            let command = format!("{bundle}rspec {}", places(&specs));
            runs.push(Run { runner: "rspec", command, tests: specs.len() });
        }
        if !others.is_empty() && self.files.contains("config/application.rb") {
            let command = format!("bin/rails test {}", places(&others));
            runs.push(Run { runner: "rails test", command, tests: others.len() });
        } else if !others.is_empty() {
            let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
            for test in others {
                files.entry(test.file).or_default().insert(literal(test.name));
            }
            for (file, names) in files {
                let tests = names.len();
                let pattern = format!("/^({})$/", names.into_iter().collect::<Vec<_>>().join("|"));
                let command = format!("ruby -Ilib -Itest {} -n {}", quoted(file), quoted(&pattern));
                runs.push(Run { runner: "minitest", command, tests });
            }
        }
        runs
    }

    fn php(&self, tests: &[Selected<'_>]) -> Vec<Run> {
        let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for test in tests {
            files.entry(test.file).or_default().insert(literal(test.name));
        }
        let is_pest = self
            .texts
            .iter()
            .any(|(path, text)| path.ends_with("composer.json") && text.contains("pestphp/pest"));
        let (runner, program) =
            if is_pest { ("pest", "vendor/bin/pest") } else { ("phpunit", "vendor/bin/phpunit") };
        let command = |(file, names): (&str, BTreeSet<String>)| {
            let tests = names.len();
            let pattern = format!("/({})( .*)?$/", names.into_iter().collect::<Vec<_>>().join("|"));
            Run {
                runner,
                command: format!("{program} --filter {} {}", quoted(&pattern), quoted(file)),
                tests,
            }
        };
        files.into_iter().map(command).collect()
    }
}

struct Run {
    runner: &'static str,
    command: String,
    tests: usize,
}

/// What of a path follows a directory.
fn below<'a>(path: &'a str, directory: &str) -> &'a str {
    match directory {
        "" => path,
        directory => path.strip_prefix(directory).unwrap_or(path).trim_start_matches('/'),
    }
}

/// `com.shop.CartTest.adds`, from the directory below the sources' root.
fn qualified(test: &Selected<'_>) -> String {
    let directory = test.directory();
    let roots = ["/java/", "/kotlin/", "/scala/", "/groovy/"];
    let package =
        roots.iter().find_map(|it| format!("{directory}/").split_once(it).map(|it| it.1.to_owned()));
    let package = package.unwrap_or_default().trim_end_matches('/').replace('/', ".");
    let path = match test.owner() {
        // A class in a class is joined by `$`.
        Some(owner) => format!("{}.{}", owner.replace('.', "$"), test.name),
        None => test.path.to_owned(),
    };
    if package.is_empty() { format!("*{path}") } else { format!("{package}.{path}") }
}

/// The name in a crate's own manifest; none for a workspace alone.
fn crate_name(manifest: &str) -> Option<String> {
    let own = manifest.split("[package]").nth(1)?;
    let own = own.split("\n[").next().unwrap_or(own);
    let line = own.lines().find(|it| it.trim_start().starts_with("name"))?;
    Some(line.split_once('=')?.1.trim().trim_matches('"').to_owned())
}

/// A name as a part of a regular expression.
fn literal(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        if r"\.+*?()|[]{}^$/".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A word of a command line, as any shell of POSIX reads it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./:=@%+,".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_patterns_are_quoted() {
        assert_eq!(quoted("a/b.py::T::t"), "a/b.py::T::t");
        assert_eq!(quoted("adds 2 items"), "'adds 2 items'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(literal("a (b)"), r"a \(b\)");
        assert_eq!(
            crate_name("[package]\nname = \"shop\"\n[dependencies]\nname = \"x\""),
            Some("shop".to_owned())
        );
        assert_eq!(crate_name("[workspace]\nmembers = []"), None);
    }
}
