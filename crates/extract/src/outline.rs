//! Which lines begin declarations, told from the line alone: for versions of files that are not worth parsing.
//!
//! One small recogniser serves all languages. What it misses or mistakes costs a line of history its right place,
//! nothing else.

/// How declarations of a file look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outline(Family);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    /// A word says what follows: `def`, `fn`, `class`.
    Keywords,
    /// As `Keywords`, and a type may be declared as any other.
    Go,
    /// Methods have no word of their own: `public int size() {`.
    Methods,
    /// As `Methods`, with pointers in types and classes before names: `int *Shop::size() {`.
    C,
}

/// What a line declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Declared<'a> {
    /// The type a method is declared for, where the line says it: Go's receiver.
    pub owner: Option<&'a str>,
    pub name: &'a str,
}

impl Outline {
    /// None for a file that is no code. More languages than are extracted, so that what is learnt of old versions holds
    /// when they are.
    pub fn of(path: &str) -> Option<Outline> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (_, extension) = name.rsplit_once('.')?;
        match extension {
            "py" | "pyi" | "rs" | "rb" | "kt" | "kts" => Some(Outline(Family::Keywords)),
            "go" => Some(Outline(Family::Go)),
            "ts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "java" | "cs" | "php" => {
                Some(Outline(Family::Methods))
            }
            "c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Some(Outline(Family::C)),
            _ => None,
        }
    }

    /// The declaration that a line begins.
    pub fn declaration(self, line: &str) -> Option<Declared<'_>> {
        let mut rest = line.trim();
        let mut has_modifier = false;
        loop {
            let (word, after) = split_word(rest);
            if MODIFIERS.contains(&word) {
                // A modifier in front of what it modifies, not a name that reads alike.
                let after = skip_group(after);
                if !after.starts_with(char::is_whitespace) {
                    break;
                }
                let after = after.trim_start();
                // `extern "C" fn`.
                rest = after
                    .strip_prefix('"')
                    .and_then(|it| it.split_once('"'))
                    .map_or(after, |it| it.1)
                    .trim_start();
                has_modifier = true;
            } else if KEYWORDS.contains(&word) {
                let named = self.keyword(word, after);
                return if self.0 == Family::C { named.or_else(|| c_function(after)) } else { named };
            } else if rest.starts_with('@') && self.0 == Family::Methods {
                // `@Override public void run() {`
                rest = skip_group(split_word(&rest[1..]).1).trim_start();
            } else {
                break;
            }
        }
        match self.0 {
            Family::C => return c_function(rest),
            Family::Methods => assigned_function(rest).or_else(|| method(rest, has_modifier)),
            Family::Keywords | Family::Go => None,
        }
        .map(|name| Declared { owner: None, name })
    }

    fn keyword<'a>(self, word: &str, after: &'a str) -> Option<Declared<'a>> {
        let plain = |name: &'a str| (!name.is_empty()).then_some(Declared { owner: None, name });
        match word {
            "impl" => plain(type_of_impl(after)?),
            "macro_rules" => plain(split_word(after.strip_prefix('!')?.trim_start()).0),
            "func" => {
                let after = after.trim_start();
                let Some(receiver) = after.strip_prefix('(') else { return plain(split_word(after).0) };
                let (receiver, after) = receiver.split_once(')')?;
                let of = receiver.split('[').next()?.rsplit([' ', '*', '\t']).find(|it| !it.is_empty())?;
                let name = split_word(after.trim_start()).0;
                (!name.is_empty()).then_some(Declared { owner: Some(of), name })
            }
            // `fun <T> List<T>.second(`
            "fun" => {
                let after = after.strip_prefix(char::is_whitespace)?.trim_start();
                if split_word(after).0 == "interface" {
                    return self.keyword("interface", split_word(after).1);
                }
                let head = after.split('(').next()?;
                plain(head.trim_end().rsplit(['.', ' ', '>']).next().map(|it| it.trim_matches('`'))?)
            }
            "def" | "fn" | "function" => {
                let after = after.strip_prefix('*').unwrap_or(after);
                let name = after.strip_prefix(char::is_whitespace)?.trim_start();
                plain(split_word(name.strip_prefix("self.").unwrap_or(name)).0)
            }
            _ => {
                let after = after.strip_prefix(char::is_whitespace)?.trim_start();
                let (name, rest) = split_word(after);
                if KEYWORDS.contains(&name) {
                    // `enum class`, `record struct`.
                    return self.keyword(name, rest);
                }
                (self.0 == Family::Go || follows_a_name(rest)).then(|| plain(name))?
            }
        }
    }
}

const KEYWORDS: &[&str] = &[
    "class",
    "def",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "macro_rules",
    "mod",
    "module",
    "namespace",
    "object",
    "record",
    "struct",
    "trait",
    "type",
    "union",
];

const MODIFIERS: &[&str] = &[
    "abstract",
    "async",
    "const",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "get",
    "inline",
    "internal",
    "native",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "set",
    "static",
    "strictfp",
    "synchronized",
    "unsafe",
    "virtual",
];

/// Words that begin statements, so that what is called in them is not declared.
const STATEMENTS: &[&str] = &[
    "assert",
    "await",
    "case",
    "catch",
    "delete",
    "do",
    "else",
    "for",
    "foreach",
    "goto",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "lock",
    "new",
    "of",
    "package",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "try",
    "typeof",
    "using",
    "var",
    "while",
    "with",
    "yield",
];

/// Prose begins with such words too: after a name there is something that code has there.
fn follows_a_name(rest: &str) -> bool {
    let rest = rest.trim_start();
    let (word, _) = split_word(rest);
    match word {
        "" => rest.is_empty() || rest.starts_with(['(', '<', '{', ':', ';', '[', '=', ',', '.', '/', '#']),
        _ => matches!(word, "extends" | "for" | "implements" | "permits" | "where" | "with"),
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '$')).unwrap_or(text.len());
    let is_number = text.starts_with(|it: char| it.is_ascii_digit());
    if is_number { ("", text) } else { text.split_at(end) }
}

/// Without a group in parentheses at its begin: `pub(crate)`.
fn skip_group(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|it| it.split_once(')')) {
        Some((_, rest)) => rest,
        None => text,
    }
}

/// `<T> Interface<T> for a::Type<T> where ...` gives `Type`.
fn type_of_impl(after: &str) -> Option<&str> {
    let after = skip_generics(after);
    let after = after.strip_prefix(char::is_whitespace)?;
    let after = after.split(" where ").next()?;
    let of = after.split_once(" for ").map_or(after, |it| it.1).trim_start();
    let of = of.trim_start_matches(['&', '*']).trim_start_matches("dyn ").trim_start_matches("mut ");
    let path = of.split(['<', '{', '(', ' ']).next()?;
    Some(split_word(path.rsplit("::").next()?).0)
}

fn skip_generics(text: &str) -> &str {
    if !text.starts_with('<') {
        return text;
    }
    let mut depth = 0;
    let mut before = ' ';
    for (at, it) in text.char_indices() {
        match it {
            '<' => depth += 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
        before = it;
    }
    ""
}

/// `name = (a) => {`, `const name = async function () {`, `name: function () {`.
fn assigned_function(text: &str) -> Option<&str> {
    let (word, after) = split_word(text);
    let (name, after) = match word {
        "let" | "var" | "const" => split_word(after.trim_start()),
        _ => (word, after),
    };
    let after = after.trim_start();
    let value = match after.strip_prefix(':') {
        Some(value) if value.trim_start().starts_with("function") => value,
        _ => {
            let (type_, value) = after.split_once('=')?;
            let is_type = type_.trim().is_empty() || type_.starts_with(':');
            (is_type && !value.starts_with(['=', '>'])).then_some(value)?
        }
    };
    let value = value.trim_start();
    let value = value.strip_prefix("async").unwrap_or(value).trim_start();
    let is_function = value.starts_with("function") || value.contains("=>") && begins_parameters(value);
    (is_function && !name.is_empty()).then_some(name)
}

/// `(a, b) =>`, `a =>`, `<T>(a) =>`.
fn begins_parameters(value: &str) -> bool {
    let (word, after) = split_word(value);
    value.starts_with(['(', '<']) || !word.is_empty() && after.trim_start().starts_with("=>")
}

/// `int size() {`; after a modifier or with a body also `size() {`.
fn method(text: &str, has_modifier: bool) -> Option<&str> {
    let text = skip_generics(text).trim_start();
    let (head, arguments) = text.split_once('(')?;
    // `size<T>(`
    let head = match head.strip_suffix('>') {
        Some(_) => &head[..head.rfind('<')?],
        None => head,
    };
    let begin = head
        .rfind(|it: char| !(it.is_alphanumeric() || it == '_' || it == '$'))
        .map_or(0, |at| at + head[at..].chars().next().map_or(0, char::len_utf8));
    let (type_, name) = head.split_at(begin);
    let is_type = |it: char| it.is_alphanumeric() || " _$<>,.?[]&:\t".contains(it);
    if split_word(name).0 != name || name.is_empty() || !type_.chars().all(is_type) {
        return None;
    }
    let first = split_word(text).0;
    if STATEMENTS.contains(&first) || STATEMENTS.contains(&name) {
        return None;
    }
    let has_type = type_.ends_with([' ', '\t', '>', ']']) && !first.is_empty();
    match (has_type, type_.is_empty()) {
        (true, _) => Some(name),
        (false, true) => {
            let has_body = arguments.ends_with('{') && is_closed(arguments) && !arguments.contains("=>");
            (has_modifier || has_body).then_some(name)
        }
        (false, false) => None,
    }
}

/// `struct cart *cart_open(int n)`, `Shop::Shop(int n) {`: a type or a class before the name, nothing else.
fn c_function(text: &str) -> Option<Declared<'_>> {
    let head = text.split_once('(')?.0.trim_end();
    let begin = head.rfind(|it: char| !(it.is_alphanumeric() || it == '_')).map_or(0, |at| at + 1);
    let (before, name) = head.split_at(begin);
    let first = split_word(text.trim_start()).0;
    let is_type = |it: char| it.is_alphanumeric() || " _<>,*&:~\t".contains(it);
    if name.is_empty() || split_word(name).0 != name || !before.chars().all(is_type) {
        return None;
    }
    if STATEMENTS.contains(&first) || STATEMENTS.contains(&name) {
        return None;
    }
    let owner = before.trim_end_matches('~').strip_suffix("::").map(|it| {
        let begin = it.rfind(|it: char| !(it.is_alphanumeric() || it == '_')).map_or(0, |at| at + 1);
        &it[begin..]
    });
    let owner = owner.filter(|it| !it.is_empty());
    let has_type = before.ends_with([' ', '*', '&', '\t', '>']) && !first.is_empty();
    (has_type || owner.is_some() && !text.trim_end().ends_with(';')).then_some(Declared { owner, name })
}

/// Whether the parenthesis that was opened before the text is closed in it.
fn is_closed(text: &str) -> bool {
    let n_open = text.bytes().filter(|it| *it == b'(').count();
    text.bytes().filter(|it| *it == b')').count() == n_open + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, cases: &[(&str, &str)]) {
        let outline = Outline::of(path).expect("the path is one of code");
        for (line, expect) in cases {
            let found = outline.declaration(line).map(|it| match it.owner {
                Some(owner) => format!("{owner}.{}", it.name),
                None => it.name.to_owned(),
            });
            assert_eq!(found.unwrap_or_default(), *expect, "{line}");
        }
    }

    #[test]
    fn c_and_cpp() {
        let cases = [
            ("static int total(struct cart *cart)", "total"),
            ("struct cart *cart_open(int n)", "cart_open"),
            ("struct cart {", "cart"),
            ("class Shop : public Base {", "Shop"),
            ("void Shop::open(int hour) const {", "Shop.open"),
            ("Shop::Shop(int n) : n_(n) {", "Shop.Shop"),
            ("namespace shop {", "shop"),
            ("const char *name(void);", "name"),
            ("    total(cart);", ""),
            ("    return total(cart);", ""),
            ("    int n = total(cart);", ""),
            ("    Shop::open(cart);", ""),
            ("    if (x) {", ""),
        ];
        check("a.c", &cases);
        check("b/a.hpp", &cases);
    }

    #[test]
    fn python_and_ruby() {
        let cases = [
            ("class Shop(Base):", "Shop"),
            ("    async def open(self,", "open"),
            ("class Cart:", "Cart"),
            ("type Pair[T] = tuple[T, T]", "Pair"),
            ("class of objects that are kept", ""),
            ("type error when the cart is empty", ""),
            ("type(x)", ""),
            ("object = type", ""),
            ("define(x)", ""),
            ("default = def_(x)", ""),
            ("return f(x)", ""),
            ("print(x)", ""),
        ];
        check("a/b.py", &cases);
        check(
            "a.rb",
            &[
                ("  def self.make(x)", "make"),
                ("class A < B", "A"),
                ("module Shop", "Shop"),
                ("def f a, b", "f"),
            ],
        );
    }

    #[test]
    fn rust() {
        let cases = [
            ("pub(crate) const fn size(&self) -> usize {", "size"),
            ("pub unsafe extern \"C\" fn go() {", "go"),
            ("fn generic<T: Into<String>>(x: T) {", "generic"),
            ("pub struct Point(f32, f32);", "Point"),
            ("enum Kind {", "Kind"),
            ("impl Point {", "Point"),
            ("impl<'a, T: Fn() -> u8> fmt::Display for crate::shapes::Point<'a, T> where T: X {", "Point"),
            ("unsafe impl Send for Point {}", "Point"),
            ("mod tests {", "tests"),
            ("macro_rules! check {", "check"),
            ("trait Shape: Sized {", "Shape"),
            ("const LIMIT: usize = 3;", ""),
            ("let f = |x| x;", ""),
            ("match size(x) {", ""),
            ("/// type of a thing", ""),
        ];
        check("src/lib.rs", &cases);
    }

    #[test]
    fn go() {
        let cases = [
            ("func main() {", "main"),
            ("func (s *Store[K]) Put(key string) error {", "Store.Put"),
            ("func (Store) Close() {", "Store.Close"),
            ("type Store struct {", "Store"),
            ("type Weight float64", "Weight"),
            ("	x := f(func(a int) int {", ""),
        ];
        check("store.go", &cases);
    }

    #[test]
    fn java_csharp_and_typescript() {
        let cases = [
            ("public class Shop extends Base implements Runnable {", "Shop"),
            ("  @Override public void run() {", "run"),
            ("  private static <T> Map<String, List<T>> group(List<T> all) throws IOException {", "group"),
            ("  int size();", "size"),
            ("  public Shop(int size) {", "Shop"),
            ("  public async Task<int> LoadAsync()", "LoadAsync"),
            ("namespace Acme.Shop;", "Acme"),
            ("  return size(x);", ""),
            ("  else close();", ""),
            ("  shop.open(x);", ""),
            ("  int n = size(x);", ""),
            ("  new Shop(x) {", ""),
            ("  if (size(x)) {", ""),
            ("  } else if (x) {", ""),
        ];
        check("Shop.java", &cases);
        check("Shop.cs", &cases);
        let cases = [
            ("export default async function load<T>(x: T) {", "load"),
            ("export function* items() {", "items"),
            ("  async open(", "open"),
            ("  total(x: number): number {", "total"),
            ("export const add = (a: number) => {", "add"),
            ("const pick = async x => x", "pick"),
            ("  handler: function (event) {", "handler"),
            ("  onClick = (event) => {", "onClick"),
            ("export type Pair = [number, number];", "Pair"),
            ("  describe('shop', () => {", ""),
            ("  it('works', function () {", ""),
            ("  while (x) {", ""),
            ("const total = sum(x)", ""),
            ("module.exports = x", ""),
        ];
        check("shop.ts", &cases);
    }

    #[test]
    fn only_code_has_an_outline() {
        for path in ["README.md", "Makefile", "a.pyc", "py", "a/rs"] {
            assert_eq!(Outline::of(path), None, "{path}");
        }
        assert!(Outline::of("src/App.vue").is_some());
    }
}
