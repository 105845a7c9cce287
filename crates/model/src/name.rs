//! How things are named: containers, packages, qualified names, and what may be typed to mean a symbol.

use std::borrow::Cow;

use crate::hash::Hasher;

/// What holds a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ContainerClass {
    /// A file, by its path with extension.
    File = 1,
    /// A directory: Go's packages, and package nodes of every language.
    Dir = 2,
    /// Something without a place in the repository.
    Virtual = 3,
}

impl ContainerClass {
    pub fn name(self) -> &'static str {
        match self {
            ContainerClass::File => "file",
            ContainerClass::Dir => "dir",
            ContainerClass::Virtual => "virtual",
        }
    }

    pub fn id(self) -> u8 {
        self as u8
    }

    pub fn from_id(id: u8) -> Option<ContainerClass> {
        [ContainerClass::File, ContainerClass::Dir, ContainerClass::Virtual]
            .into_iter()
            .find(|it| it.id() == id)
    }
}

/// The package of a container: the unit of roots and of expiry. `.` is the top of the repository.
pub fn package_of(class: ContainerClass, container: &str) -> &str {
    match class {
        ContainerClass::Virtual => "_virtual",
        ContainerClass::Dir if container.is_empty() => ".",
        ContainerClass::Dir => container,
        ContainerClass::File => container.rsplit_once('/').map_or(".", |(directory, _)| directory),
    }
}

/// What holds the declarations of a file: a directory where a language's packages are directories, else the file.
pub fn container_of<'a>(language: &str, path: &'a str) -> (ContainerClass, &'a str) {
    match language {
        "go" => (ContainerClass::Dir, path.rsplit_once('/').map_or("", |(directory, _)| directory)),
        _ => (ContainerClass::File, path),
    }
}

/// Whether a language is one of code: documents speak of what its files declare.
pub fn is_code(language: &str) -> bool {
    matches!(
        language,
        "c" | "cpp" | "csharp" | "go" | "java" | "kotlin" | "php" | "python" | "ruby" | "rust" | "typescript"
    )
}

/// A symbol path that several files of one directory declare, told apart by the file: `init#server`, `init#server#2`.
pub fn in_file(symbol: &str, path: &str) -> String {
    let mark = mark_of(path.rsplit('/').next().unwrap_or(path));
    match symbol.rsplit_once('#') {
        Some((before, number)) if !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()) => {
            format!("{before}#{mark}#{number}")
        }
        _ => format!("{symbol}#{mark}"),
    }
}

/// What tells a file from the others of its directory: no two have the same, and none looks like the number of a repeated
/// definition. `b.pb.go` is `b--pb`; names of digits alone or with other characters end in `~` and more.
fn mark_of(file: &str) -> String {
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '.');
    let mark = stem.replace(|it| !is_plain(it), "-").replace('.', "--");
    if !stem.chars().all(is_plain) || stem.contains("--") {
        let digest = Hasher::new("file").field(file.as_bytes()).finish().to_string();
        return format!("{mark}~{}", &digest[..16]);
    }
    if stem.bytes().all(|it| it.is_ascii_digit()) { format!("{mark}~{extension}") } else { mark }
}

/// The printed form: `{repo}://{container}.{symbol}`, without what is empty.
pub fn qualified_name(repo: &str, container: &str, symbol: &str) -> String {
    let dot = if container.is_empty() || symbol.is_empty() { "" } else { "." };
    format!("{repo}://{container}{dot}{symbol}")
}

/// Longest name that is kept whole, in bytes.
pub const MAX_NAME: usize = 512;

/// A name longer than 512 bytes is cut and gets `~` and 8 hex digits of its hash, so that it stays itself.
pub fn bounded(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME {
        return name.into();
    }
    let digest = Hasher::new("name").field(name.as_bytes()).finish().to_string();
    let kept = &name[..name.floor_char_boundary(MAX_NAME)];
    format!("{kept}~{}", &digest[..8]).into()
}

/// A symbol path without what tells overloads and repeated definitions apart: `f(int,T)`, `f#2`.
pub fn without_suffix(symbol: &str) -> &str {
    let mut symbol = symbol;
    while let Some((before, after)) = symbol.rsplit_once('#')
        && !after.is_empty()
        && !after.contains(['.', '/', ':'])
        // `C.#field` is a name of its own.
        && !before.is_empty()
        && !before.ends_with('.')
    {
        symbol = before;
    }
    if symbol.ends_with(')')
        && let Some(open) = symbol.find('(')
        && open > 0
        && symbol.as_bytes()[open - 1] != b' '
    {
        return &symbol[..open];
    }
    symbol
}

/// What stands for a list of parameter types that is too long to be read.
const ANY_LIST: &str = "(…)";

/// A name as people are shown it: lists of parameter types that tell overloads apart are left out where they are long. What
/// is left can be typed where a symbol is asked for.
pub fn abridged(name: &str) -> Cow<'_, str> {
    const LONG: usize = 32;
    let mut out = String::new();
    let mut rest = name;
    while let Some(open) = rest.find('(') {
        let mut depth = 0_usize;
        let close = rest[open..].char_indices().find_map(|(at, it)| {
            depth = match it {
                '(' => depth + 1,
                ')' => depth - 1,
                _ => depth,
            };
            (depth == 0).then_some(open + at + 1)
        });
        let Some(close) = close else { break };
        let is_list = open > 0 && !rest[..open].ends_with([' ', '/']);
        if is_list && close - open > LONG {
            out.push_str(&rest[..open]);
            out.push_str(ANY_LIST);
        } else {
            out.push_str(&rest[..close]);
        }
        rest = &rest[close..];
    }
    if out.is_empty() {
        return name.into();
    }
    out.push_str(rest);
    out.into()
}

/// What may be typed where a symbol is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolQuery {
    pub form: SymbolForm,
    /// From a closing `@kind`.
    pub kind: Option<crate::NodeKind>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SymbolForm {
    /// 8 to 64 hex digits. A prefix that fits no single node is read again as a suffix.
    Id(String),
    /// A whole qualified name.
    Qualified(String),
    /// The innermost symbol around a position.
    Position { path: String, line: u32, column: Option<u32> },
    /// The end of `container.symbol`, on segment borders.
    Suffix(String),
}

impl SymbolQuery {
    pub fn parse(text: &str) -> SymbolQuery {
        let text = text.trim();
        let (text, kind) = match text.rsplit_once('@') {
            Some((before, kind)) if !before.is_empty() => match crate::NodeKind::from_name(kind) {
                Some(kind) => (before, Some(kind)),
                None => (text, None),
            },
            _ => (text, None),
        };
        let text = text.strip_suffix(ANY_LIST).filter(|it| !it.is_empty()).unwrap_or(text);
        SymbolQuery { form: SymbolForm::parse(text), kind }
    }
}

impl SymbolForm {
    fn parse(text: &str) -> SymbolForm {
        if (8..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit()) {
            return SymbolForm::Id(text.to_ascii_lowercase());
        }
        if text.contains("://") {
            return SymbolForm::Qualified(text.to_owned());
        }
        if let Some(position) = position(text) {
            return position;
        }
        SymbolForm::Suffix(text.to_owned())
    }
}

fn position(text: &str) -> Option<SymbolForm> {
    let (before, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    if let Some((path, line)) = before.rsplit_once(':')
        && let Ok(line) = line.parse()
        && !path.is_empty()
    {
        return Some(SymbolForm::Position { path: path.to_owned(), line, column: Some(last) });
    }
    (!before.is_empty() && !before.ends_with(':')).then(|| SymbolForm::Position {
        path: before.to_owned(),
        line: last,
        column: None,
    })
}

/// Whether `wanted` is the end of `full` (`container.symbol`) on a segment border, `::` and `#` read as `.`, overload
/// suffixes left out of `full` when `wanted` has none.
pub fn is_suffix(full: &str, wanted: &str, case: Case) -> bool {
    let wanted = canonical(wanted, case);
    if wanted.is_empty() {
        return false;
    }
    let full = canonical(full, case);
    ends_on_border(&full, &wanted) || ends_on_border(without_suffix(&full), &wanted)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    Exact,
    Ignored,
}

fn canonical(text: &str, case: Case) -> String {
    let text = text.replace("::", ".");
    match case {
        Case::Exact => text,
        Case::Ignored => text.to_lowercase(),
    }
}

fn ends_on_border(full: &str, wanted: &str) -> bool {
    let Some(before) = full.strip_suffix(wanted) else { return false };
    before.is_empty() || before.ends_with(['.', '/', '#']) || wanted.starts_with(['.', '/', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_directories() {
        assert_eq!(package_of(ContainerClass::File, "src/a/b.py"), "src/a");
        assert_eq!(package_of(ContainerClass::File, "setup.py"), ".");
        assert_eq!(package_of(ContainerClass::Dir, "internal/store"), "internal/store");
        assert_eq!(package_of(ContainerClass::Dir, ""), ".");
        assert_eq!(package_of(ContainerClass::Virtual, "pypi/requests"), "_virtual");
    }

    #[test]
    fn printed_names_leave_out_what_is_empty() {
        assert_eq!(qualified_name("h/r", "a.py", "C.f"), "h/r://a.py.C.f");
        assert_eq!(qualified_name("h/r", "a.py", ""), "h/r://a.py");
        assert_eq!(qualified_name("env", "", "HOME"), "env://HOME");
    }

    #[test]
    fn long_names_are_cut_and_stay_distinct() {
        let one = bounded(&"x".repeat(600)).into_owned();
        let other = bounded(&"x".repeat(601)).into_owned();
        assert_eq!(one.len(), MAX_NAME + 9);
        assert_ne!(one, other);
        assert_eq!(bounded("short"), "short");
    }

    #[test]
    fn long_lists_of_parameter_types_are_abridged() {
        let long = "str|list|None,Callable|None,Dependencies|None";
        for (name, shown) in [
            (format!("a.py.C.f({long})"), "a.py.C.f(…)"),
            (format!("a.py.f({long}).inner({long})#2"), "a.py.f(…).inner(…)#2"),
            (format!("a.py.f(int).g({long},fn(int))"), "a.py.f(int).g(…)"),
            (format!("a.py.f(fn({long}),int)"), "a.py.f(…)"),
            ("a.py.f(int)".to_owned(), "a.py.f(int)"),
            (format!("a.py.f({long}"), &format!("a.py.f({long}")),
            (format!("GET /users/({long})"), &format!("GET /users/({long})")),
            (format!("a.py.f)({long})("), "a.py.f)(…)("),
            (String::new(), ""),
        ] {
            assert_eq!(abridged(&name), shown);
        }
        assert_eq!(SymbolQuery::parse("C.f(…)"), SymbolQuery::parse("C.f"));
        assert_eq!(SymbolQuery::parse("f(…)@method"), SymbolQuery::parse("f@method"));
        assert_eq!(SymbolQuery::parse("(…)").form, SymbolForm::Suffix("(…)".to_owned()));
    }

    #[test]
    fn suffixes_of_overloads_come_off() {
        for (symbol, bare) in [
            ("C.f(int,T)", "C.f"),
            ("C.f#2", "C.f"),
            ("f(A)#2", "f"),
            ("init#server#2", "init"),
            ("GET /users/{id}", "GET /users/{id}"),
            ("Type.Trait<A>.m", "Type.Trait<A>.m"),
        ] {
            assert_eq!(without_suffix(symbol), bare);
        }
    }

    #[test]
    fn a_directory_holds_what_its_go_files_declare() {
        assert_eq!(container_of("go", "a/b/c.go"), (ContainerClass::Dir, "a/b"));
        assert_eq!(container_of("go", "main.go"), (ContainerClass::Dir, ""));
        assert_eq!(container_of("python", "a/b.py"), (ContainerClass::File, "a/b.py"));
        assert_eq!(in_file("open", "a/open_linux.go"), "open#open_linux");
        assert_eq!(in_file("init#2", "a/b.pb.go"), "init#b--pb#2");
        assert_eq!(in_file("main", "a/2.go"), "main#2~go");
    }

    #[test]
    fn m3_files_of_odd_names_are_told_apart() {
        let files = [
            ".a.go", "_a.go", "-a.go", "a.b.go", "a_b.go", "a-b.go", "a#b.go", "2.go", "2.2.go", "a b.go",
            "a(b.go", "a--b.go",
        ];
        let mut marks: Vec<String> = files.iter().map(|it| in_file("main", it)).collect();
        // The second of one file.
        marks.push("main#2".to_owned());
        assert!(marks.iter().all(|it| without_suffix(it) == "main"), "{marks:?}");
        marks.sort();
        marks.dedup();
        assert_eq!(marks.len(), files.len() + 1, "{marks:?}");
    }

    #[test]
    fn the_four_forms_of_a_symbol_argument() {
        let form = |text: &str| SymbolQuery::parse(text).form;
        assert_eq!(form("DEADBEEF01"), SymbolForm::Id("deadbeef01".into()));
        assert_eq!(form("h/r://a.py.C"), SymbolForm::Qualified("h/r://a.py.C".into()));
        assert_eq!(
            form("src/a.py:12"),
            SymbolForm::Position { path: "src/a.py".into(), line: 12, column: None }
        );
        assert_eq!(
            form("a.py:12:3"),
            SymbolForm::Position { path: "a.py".into(), line: 12, column: Some(3) }
        );
        assert_eq!(form("C.f"), SymbolForm::Suffix("C.f".into()));
        assert_eq!(form("a::b"), SymbolForm::Suffix("a::b".into()));
        assert_eq!(SymbolQuery::parse("C.f@method").kind, Some(crate::NodeKind::Method));
        assert_eq!(SymbolQuery::parse("@acme/payments").kind, None);
    }

    #[test]
    fn a_suffix_ends_on_segment_borders() {
        let full = "src/flask/app.py.Flask.run";
        for wanted in ["run", "Flask.run", "Flask::run", "app.py.Flask.run", "flask/app.py.Flask.run", full] {
            assert!(is_suffix(full, wanted, Case::Exact), "{wanted}");
        }
        for wanted in ["un", "lask.run", "flask.run", ""] {
            assert!(!is_suffix(full, wanted, Case::Exact), "{wanted}");
        }
        assert!(is_suffix(full, "flask.RUN", Case::Ignored));
        assert!(is_suffix("a.py.f(int)", "f", Case::Exact));
        assert!(is_suffix("a.py.f(int)", "f(int)", Case::Exact));
        assert!(is_suffix("a.py.f#2", "f", Case::Exact));
    }
}
