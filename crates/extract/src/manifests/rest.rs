//! What is left of a broken project file. Lines stay where they are, so that what is kept has its true position; what
//! cannot be told from the rest is left out, never guessed.

use serde_json::Value;

/// Lines that are given up before the whole is.
const MAX_BROKEN: usize = 64;

/// A way to read a text: the line of the first trouble, if there is any.
type Trouble<'a> = &'a dyn Fn(&str) -> Option<u32>;

/// A list of directives without the lines that are none.
pub(super) fn of_lines(text: &str, trouble: Trouble<'_>) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..=MAX_BROKEN {
        let joined = lines.join("\n");
        let Some(line) = trouble(&joined) else { return Some(joined) };
        *lines.get_mut((line as usize).saturating_sub(1))? = "";
    }
    None
}

/// TOML: each table is read on its own, so that a line that belongs to none of its keys costs no other table anything.
pub(super) fn of_toml(text: &str, trouble: Trouble<'_>) -> Option<String> {
    let mut tables: Vec<Vec<&str>> = vec![Vec::new()];
    for line in text.lines() {
        if line.starts_with('[') {
            tables.push(Vec::new());
        }
        tables.last_mut().expect("there is one from the start").push(line);
    }
    let read_alone = |lines: Vec<&str>| {
        let n_lines = lines.len();
        let alone = lines.join("\n");
        let is_toml = |it: &str| super::parse_toml(it).err();
        // A table whose head is broken has no name, and its keys would be another's.
        let kept = of_lines(&alone, &is_toml)
            .filter(|kept| !alone.starts_with('[') || kept.lines().next().is_some_and(|it| !it.is_empty()));
        let mut kept: Vec<String> = kept.unwrap_or_default().lines().map(str::to_owned).collect();
        kept.resize(n_lines, String::new());
        kept.join("\n")
    };
    let tables: Vec<String> = tables.into_iter().filter(|it| !it.is_empty()).map(read_alone).collect();
    of_lines(&tables.join("\n"), trouble)
}

/// JSON: entries that can be told, whatever stands between them. A comma may be missing; of what is no entry the line is
/// given up, and what is left open at the end is closed there.
pub(super) fn of_json(text: &str) -> String {
    let plain = super::json::plain(text);
    let mut rest = Json { bytes: plain.as_bytes(), at: 0 };
    while rest.at < rest.bytes.len() && rest.bytes[rest.at] != b'{' {
        rest.at += 1;
    }
    rest.value(0).unwrap_or(Value::Null).to_string()
}

const MAX_DEPTH: usize = 64;

struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Json<'_> {
    fn blank(&mut self) {
        while self.bytes.get(self.at).is_some_and(|it| it.is_ascii_whitespace() || *it == b',') {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.blank();
        match self.bytes.get(self.at)? {
            b'{' if depth < MAX_DEPTH => {
                self.at += 1;
                let mut map = serde_json::Map::new();
                while self.goes_on(b'}') {
                    match self.entry(depth) {
                        Some((key, value)) => drop(map.entry(key).or_insert(value)),
                        None => self.line(),
                    }
                }
                Some(Value::Object(map))
            }
            b'[' if depth < MAX_DEPTH => {
                self.at += 1;
                let mut list = Vec::new();
                while self.goes_on(b']') {
                    match self.value(depth + 1) {
                        Some(value) => list.push(value),
                        None => self.line(),
                    }
                }
                Some(Value::Array(list))
            }
            _ => self.scalar(),
        }
    }

    /// Whether another item may follow; steps over the bracket that ends the list. One of the other kind ends it, too, and
    /// is left to whom it belongs.
    fn goes_on(&mut self, close: u8) -> bool {
        self.blank();
        match self.bytes.get(self.at) {
            None => false,
            Some(byte) if *byte == close => {
                self.at += 1;
                false
            }
            Some(b'}' | b']') => false,
            Some(_) => true,
        }
    }

    fn entry(&mut self, depth: usize) -> Option<(String, Value)> {
        let Value::String(key) = self.scalar()? else { return None };
        self.blank();
        if self.bytes.get(self.at) != Some(&b':') {
            return None;
        }
        self.at += 1;
        Some((key, self.value(depth + 1)?))
    }

    /// A text, a number or a word, on one line.
    fn scalar(&mut self) -> Option<Value> {
        let rest = &self.bytes[self.at..];
        let length = match rest.first()? {
            b'"' => {
                let mut at = 1;
                loop {
                    match rest.get(at)? {
                        b'\\' => at += 2,
                        b'"' => break at + 1,
                        b'\n' => return None,
                        _ => at += 1,
                    }
                }
            }
            _ => rest.iter().take_while(|it| it.is_ascii_alphanumeric() || b"+-.".contains(it)).count(),
        };
        let value = serde_json::from_slice(rest.get(..length)?).ok()?;
        self.at += length;
        Some(value)
    }

    fn line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |it| it + 1);
    }
}
