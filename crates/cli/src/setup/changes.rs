//! Changes to files of people, and how they are taken back.
//!
//! What was put in is remembered word for word beside the data, with the file as it was. Taking back a file that nobody
//! touched since gives those bytes again; in one that was edited only our words are taken out.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::agents::{Entry, Syntax};
use super::jsonc;

/// One file that is to be different.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) file: PathBuf,
    pub(super) before: Option<String>,
    pub(super) after: String,
    /// What was put in, word for word.
    pub(super) pieces: Vec<String>,
    /// Where our member is; none for text between markers.
    pub(super) member: Option<Vec<String>>,
    pub(super) is_toml: bool,
}

/// What a plan found at a file.
#[derive(Debug)]
pub(super) enum Planned {
    Change(Box<Change>),
    /// An entry of ours is there as it should be.
    Done,
    /// Someone wrote an entry of their own; it is theirs.
    Theirs,
}

pub(super) const BEGIN: &str = "<!-- knowing: begin -->";
pub(super) const END: &str = "<!-- knowing: end -->";

/// What to change so that an agent finds the server.
pub(super) fn of_entry(entry: &Entry) -> Result<Planned, String> {
    let before = text_of(&entry.file)?;
    let text = before.clone().unwrap_or_default();
    let (after, pieces) = match entry.syntax {
        Syntax::Json => {
            // An empty file is as good as none.
            let base = if text.trim().is_empty() { "{}\n" } else { text.as_str() };
            if let Some(found) = jsonc::value(base, entry.path)? {
                return Ok(if found == entry.value { Planned::Done } else { Planned::Theirs });
            }
            let insertions = jsonc::insert(base, entry.path, &entry.value)?;
            let pieces = insertions.iter().map(|it| it.text.clone()).collect();
            (jsonc::apply(base, &insertions), pieces)
        }
        Syntax::Toml => match toml(&text, entry)? {
            Ok(appended) => (format!("{text}{appended}"), vec![appended]),
            Err(planned) => return Ok(planned),
        },
    };
    Ok(Planned::Change(Box::new(Change {
        file: entry.file.clone(),
        before,
        after,
        pieces,
        member: Some(entry.path.iter().map(|it| (*it).to_owned()).collect()),
        is_toml: entry.syntax == Syntax::Toml,
    })))
}

/// A table of its own at the end of the file.
fn toml(text: &str, entry: &Entry) -> Result<Result<String, Planned>, String> {
    let document: toml_edit::DocumentMut = text.parse().map_err(|it: toml_edit::TomlError| it.to_string())?;
    let found = entry.path.iter().try_fold(document.as_item(), |item, key| item.get(key));
    let mut wanted = toml_edit::Table::new();
    for (key, value) in entry.value.as_object().into_iter().flatten() {
        wanted[key.as_str()] = match value {
            Value::Array(items) => {
                let items: toml_edit::Array = items.iter().filter_map(Value::as_str).collect();
                toml_edit::value(items)
            }
            other => toml_edit::value(other.as_str().unwrap_or_default()),
        };
    }
    if let Some(found) = found {
        let is_same = |key: &str| found.get(key).map(|it| it.to_string().trim().to_owned());
        let same = wanted.iter().all(|(key, item)| is_same(key) == Some(item.to_string().trim().to_owned()));
        return Ok(Err(if same { Planned::Done } else { Planned::Theirs }));
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut appended = String::new();
    if !text.is_empty() {
        appended.push_str(if text.ends_with('\n') { newline } else { "\n\n" });
    }
    appended.push_str(&format!("[{}]{newline}", entry.path.join(".")));
    for (key, item) in &wanted {
        appended.push_str(&format!("{key} = {}{newline}", item.to_string().trim()));
    }
    // Where the table is written in a way that cannot be added to, people have to.
    let after = format!("{text}{appended}");
    after.parse::<toml_edit::DocumentMut>().map_err(|it| it.to_string())?;
    Ok(Ok(appended))
}

/// Text between markers, at the end of a file.
pub(super) fn of_instructions(file: &Path, text: &str) -> Result<Planned, String> {
    let before = text_of(file)?;
    let old = before.clone().unwrap_or_default();
    if old.contains(BEGIN) {
        return Ok(Planned::Done);
    }
    let gap = match old.as_str() {
        "" => "",
        it if it.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let piece = format!("{gap}{BEGIN}\n{}\n{END}\n", text.trim_end());
    Ok(Planned::Change(Box::new(Change {
        file: file.to_owned(),
        after: format!("{old}{piece}"),
        before,
        pieces: vec![piece],
        member: None,
        is_toml: false,
    })))
}

/// The text of a file of settings; none when it is not there.
fn text_of(file: &Path) -> Result<Option<String>, String> {
    match fs::read(file) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is no text".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

impl Change {
    /// Writes the file; the directories that had to be made for it.
    pub(super) fn apply(&self) -> io::Result<Vec<PathBuf>> {
        let mut made = Vec::new();
        let mut directory = self.file.parent();
        while let Some(it) = directory
            && !it.as_os_str().is_empty()
            && !it.exists()
        {
            made.push(it.to_owned());
            directory = it.parent();
        }
        for it in made.iter().rev() {
            fs::create_dir(it)?;
        }
        write(&self.file, &self.after)?;
        Ok(made)
    }

    /// As it is remembered, to be taken back.
    pub(super) fn record(&self, made: &[PathBuf], backup: Option<&Path>) -> Value {
        json!({
            "file": self.file,
            "before": self.before,
            "after": self.after,
            "pieces": self.pieces,
            "member": self.member,
            "toml": self.is_toml,
            "made": made,
            "backup": backup,
        })
    }
}

/// Under a temporary name, then renamed: it is the old file or the new one, never half of one. A link stays a link.
pub(super) fn write(file: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let directory = target.parent().unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    match fs::metadata(&target) {
        Ok(old) => temporary.as_file().set_permissions(old.permissions())?,
        Err(_) => readable(temporary.as_file())?,
    }
    temporary.persist(&target).map_err(|it| it.error)?;
    Ok(())
}

/// As any new file is, not as a temporary one.
#[cfg(unix)]
fn readable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable(_file: &fs::File) -> io::Result<()> {
    Ok(())
}

/// What taking back came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Restored {
    /// As it was before, byte for byte.
    Whole,
    Removed,
    /// It was edited since: only ours went.
    Ours,
    /// Nothing of ours is there any more.
    Nothing,
}

pub(super) fn take_back(record: &Value) -> Result<Restored, String> {
    let file = PathBuf::from(record["file"].as_str().ok_or("the record names no file")?);
    let Some(now) = text_of(&file)? else { return Ok(Restored::Nothing) };
    let before = record["before"].as_str();
    let is_untouched = Some(now.as_str()) == record["after"].as_str();
    let restored = match (is_untouched, before) {
        (true, Some(before)) => {
            write(&file, before).map_err(|it| it.to_string())?;
            Restored::Whole
        }
        (true, None) => {
            fs::remove_file(&file).map_err(|it| it.to_string())?;
            Restored::Removed
        }
        (false, _) => match without_ours(&now, record)? {
            None => Restored::Nothing,
            // What is left is what we made for our own sake.
            Some(left) if before.is_none() && is_empty(&left) => {
                fs::remove_file(&file).map_err(|it| it.to_string())?;
                Restored::Removed
            }
            Some(left) => {
                write(&file, &left).map_err(|it| it.to_string())?;
                Restored::Ours
            }
        },
    };
    if restored == Restored::Removed {
        for directory in record["made"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            // One that holds something by now is not ours any more.
            let _ = fs::remove_dir(directory);
        }
    }
    Ok(restored)
}

fn is_empty(text: &str) -> bool {
    let bare: String = text.chars().filter(|it| !it.is_whitespace()).collect();
    bare.is_empty() || bare == "{}"
}

/// A text that was edited, without what we put in.
fn without_ours(now: &str, record: &Value) -> Result<Option<String>, String> {
    let pieces: Vec<&str> =
        record["pieces"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    // The last is the member itself, or the text between markers; a comma may stand before it.
    let Some(last) = pieces.last() else { return Ok(None) };
    if pieces.len() == 1 && now.matches(last).count() == 1 {
        let left = now.replacen(last, "", 1);
        if is_whole(&left, record) {
            return Ok(Some(left));
        }
    }
    let member: Option<Vec<&str>> =
        record["member"].as_array().map(|it| it.iter().filter_map(Value::as_str).collect());
    let Some(member) = member else { return Ok(between_markers(now)) };
    if record["toml"] == Value::Bool(true) {
        let mut document: toml_edit::DocumentMut =
            now.parse().map_err(|it: toml_edit::TomlError| it.to_string())?;
        let (key, way) = member.split_last().ok_or("the record names no member")?;
        let table = way.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key));
        let gone = table.and_then(|it| it.as_table_like_mut()?.remove(key));
        return Ok(gone.map(|_| document.to_string()));
    }
    let Some(mut left) = jsonc::remove(now, &member)? else { return Ok(None) };
    let had_parent = record["before"].as_str().map(|it| jsonc::value(it, &member[..1]));
    if !matches!(had_parent, Some(Ok(Some(_)))) && jsonc::value(&left, &member[..1])? == Some(json!({})) {
        left = jsonc::remove(&left, &member[..1])?.unwrap_or(left);
    }
    Ok(Some(left))
}

/// Whether a text can still be read after a piece was cut out of it.
fn is_whole(text: &str, record: &Value) -> bool {
    match (&record["member"], &record["toml"]) {
        (Value::Null, _) => true,
        (_, Value::Bool(true)) => text.parse::<toml_edit::DocumentMut>().is_ok(),
        _ => text.trim().is_empty() || jsonc::value(text, &[]).is_ok(),
    }
}

fn between_markers(now: &str) -> Option<String> {
    let begin = now.find(BEGIN)?;
    let end = begin + now[begin..].find(END)? + END.len();
    let end = if now[end..].starts_with('\n') { end + 1 } else { end };
    let begin = if now[..begin].ends_with("\n\n") { begin - 1 } else { begin };
    Some(format!("{}{}", &now[..begin], &now[end..]))
}
