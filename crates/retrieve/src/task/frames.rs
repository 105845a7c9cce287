//! Stack frames in the common shapes of each language, and what the program said with them.
//!
//! Some languages print the innermost frame first, some last; here it is always last within a trace, and a
//! cause (`Caused by:`) comes after what it caused.

use super::messages::{self, Said};
use super::paths;
use super::shapes::{
    go_function, go_location, is_script, java_frame, location, plain_function, python_frame, ruby_frame,
    rust_name, script_language,
};

/// One call on a stack, as far as the text says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// With `/`, without the folder packages are installed in.
    pub file: String,
    pub line: Option<u32>,
    /// As the language writes it, without arguments; none for a module's top level or a closure.
    pub function: Option<String>,
    /// `python`, `go`, `javascript`, `typescript`, `rust`, `java`, `csharp`, `ruby`.
    pub language: &'static str,
}

/// Everything read from traces.
#[derive(Default)]
pub(super) struct Traces {
    pub(super) frames: Vec<Frame>,
    /// For each line of the text.
    pub(super) is_trace: Vec<bool>,
    pub(super) messages: Vec<String>,
    pub(super) exceptions: Vec<String>,
}

pub(super) fn read(lines: &[&str]) -> Traces {
    let mut reader = Reader { lines, is_trace: vec![false; lines.len()], ..Reader::default() };
    for index in 0..lines.len() {
        reader.line(index);
    }
    reader.close_group();
    Traces {
        frames: reader.frames,
        is_trace: reader.is_trace,
        messages: reader.said.messages,
        exceptions: reader.said.exceptions,
    }
}

#[derive(Default)]
struct Reader<'a> {
    lines: &'a [&'a str],
    is_trace: Vec<bool>,
    frames: Vec<Frame>,
    said: Said,
    /// Where the frames of the trace at hand start, and whether they come innermost first.
    group: usize,
    innermost_first: bool,
    /// A Python trace is open: its last line is still to come.
    python: bool,
    /// The last line was the location of a Python frame; its source line follows.
    source_follows: bool,
    /// IPython shows several source lines with numbers.
    numbered: bool,
    /// A Rust panic's message stands in the next line.
    panic_follows: bool,
    last: usize,
}

impl Reader<'_> {
    fn line(&mut self, index: usize) {
        let raw = without_prefix(self.lines[index]);
        let text = raw.trim();
        if text.is_empty() || text.len() > 2000 {
            return;
        }
        let before = if index > 0 { without_prefix(self.lines[index - 1]) } else { "" };
        // A gap of more than a few lines ends a trace.
        if index > self.last + 8 {
            self.close_group();
            self.python = false;
            self.numbered = false;
        }
        if self.panic_follows {
            self.panic_follows = false;
            self.said.message(text);
            self.mark(index);
        } else if self.opening(text) || self.python(index, text) || self.located(index, text, before) {
            self.mark(index);
        } else if self.source_follows {
            self.source_follows = false;
            self.mark(index);
        } else if self.python && self.inside_python(raw, text) {
            self.mark(index);
        }
    }

    fn mark(&mut self, index: usize) {
        self.is_trace[index] = true;
        self.last = index;
    }

    fn close_group(&mut self) {
        if self.innermost_first {
            self.frames[self.group..].reverse();
        }
        self.group = self.frames.len();
        self.innermost_first = false;
    }

    fn push(&mut self, file: &str, line: Option<u32>, function: Option<String>, language: &'static str) {
        let innermost_first = !matches!(language, "python");
        if self.frames.len() > self.group
            && self.frames.last().is_some_and(|it| family(it.language) != family(language))
        {
            self.close_group();
        }
        if self.frames.len() == self.group {
            self.innermost_first = innermost_first && !(language == "ruby" && self.python);
        }
        let file = tidy(file);
        if file.is_empty() || file.starts_with('<') {
            return;
        }
        let frame = Frame { file, line, function, language };
        if self.frames[self.group..].last() != Some(&frame) {
            self.frames.push(frame);
        }
    }

    /// Lines that open a trace or say what happened, apart from frames.
    fn opening(&mut self, text: &str) -> bool {
        if text.starts_with("Traceback (most recent call last)")
            || text.ends_with("Traceback (most recent call last)")
        {
            self.close_group();
            self.python = true;
            self.source_follows = false;
            self.numbered = !text.starts_with("Traceback");
            return true;
        }
        if text.starts_with("During handling of the above exception")
            || text.starts_with("The above exception was the direct cause")
            || text == "stack backtrace:"
            || text.starts_with("--- End of ") && text.ends_with(" ---")
        {
            return true;
        }
        if text.starts_with("goroutine ") && text.ends_with("]:") {
            self.close_group();
            return true;
        }
        if let Some(at) = text.find(" panicked at ") {
            return text.starts_with("thread ") && self.panic(&text[at + 13..]);
        }
        for opening in ["panic: ", "fatal error: ", "runtime error: "] {
            if let Some(message) = text.strip_prefix(opening) {
                self.close_group();
                self.said.message(message);
                return true;
            }
        }
        for opening in [
            "Caused by: ",
            "Exception in thread ",
            "Unhandled exception. ",
            "Unhandled Exception: ",
            "Uncaught ",
        ] {
            if let Some(rest) = text.strip_prefix(opening) {
                let rest = rest.strip_prefix("(in promise) ").unwrap_or(rest);
                // Exception in thread "main" a.b.C: message
                let rest =
                    rest.strip_prefix('"').and_then(|it| it.split_once("\" ")).map_or(rest, |(_, it)| it);
                if self.said.exception_line(rest) {
                    self.close_group();
                    return true;
                }
            }
        }
        text.starts_with("... ") && text.ends_with(" more")
    }

    /// `'message', src/main.rs:2:5` of old, `src/main.rs:2:5:` and the message below of today.
    fn panic(&mut self, rest: &str) -> bool {
        self.close_group();
        if let Some((message, place)) = rest.strip_prefix('\'').and_then(|it| it.rsplit_once("', ")) {
            self.said.message(message);
            if let Some((file, line)) = location(place) {
                self.push(file, line, None, "rust");
            }
            return true;
        }
        if let Some((file, line)) = location(rest.trim_end_matches(':')) {
            self.push(file, line, None, "rust");
            self.panic_follows = true;
            return true;
        }
        false
    }

    /// `File "x.py", line 3, in f`, `File ~/x.py:3, in f(a)`, `x.py:3: in f`, `x.py in f(a)`.
    fn python(&mut self, index: usize, text: &str) -> bool {
        let Some((file, line, function)) = python_frame(text) else {
            return self.numbered && self.source_line(text);
        };
        if !self.python && self.lines[index].contains(".py in ") || self.lines[index].contains(".pyc in ") {
            self.numbered = true;
        }
        self.python = true;
        self.source_follows = !self.numbered;
        self.push(file, line, function, "python");
        if text.ends_with(|it: char| it.is_alphanumeric())
            && let Some((_, name)) = text.rsplit_once(": ")
            && messages::is_exception_name(name)
        {
            self.said.exception(name);
        }
        true
    }

    /// `--> 636     return self.x` and the lines around it.
    fn source_line(&mut self, text: &str) -> bool {
        let is_arrow = text.starts_with("--") && text.contains("> ");
        let numbered = text.trim_start_matches(['-', '>', ' ']);
        let Some(line) = paths::number(numbered) else { return false };
        if is_arrow
            && let Some(frame) = self.frames[self.group..].last_mut()
            && frame.line.is_none()
        {
            frame.line = Some(line);
        }
        true
    }

    fn inside_python(&mut self, raw: &str, text: &str) -> bool {
        if self.said.exception_line(text) || self.said.exception_alone(text) {
            self.python = false;
            self.numbered = false;
            self.close_group();
            return true;
        }
        let is_pointer = text.bytes().all(|it| b"^~- |".contains(&it));
        let is_hidden = text.starts_with("<frozen ") || text.starts_with("<ipython-input");
        let is_pytest = raw.starts_with("E   ") || raw.starts_with(">   ");
        if let Some(message) = raw.strip_prefix("E   ") {
            self.said.exception_line(message.trim());
        }
        if is_pointer || is_hidden || is_pytest || raw.starts_with("  ") || raw.starts_with('\t') {
            return true;
        }
        self.python = false;
        self.numbered = false;
        self.close_group();
        false
    }

    /// Frames that carry a location in one line, or in the line after the name.
    fn located(&mut self, index: usize, text: &str, before: &str) -> bool {
        if let Some(rest) = text.strip_prefix("at ") {
            return self.at(index, rest, before);
        }
        if let Some(((file, line, function), message)) = ruby_frame(text) {
            self.push(file, line, function, "ruby");
            if let Some(message) = message {
                self.said.ruby(message);
            }
            return true;
        }
        if let Some((file, line)) = go_location(self.lines[index], text) {
            let function = go_function(before.trim());
            if index > 0 && function.is_some() {
                self.is_trace[index - 1] = true;
            }
            self.push(file, line, function, "go");
            return true;
        }
        if let Some((name, place)) = text.split_once('@')
            && place.contains("://")
            && let Some((file, line)) = location(place)
            && is_script(file)
        {
            self.push(file, line, plain_function(name), script_language(file));
            return true;
        }
        rust_name(text).is_some() && self.frames.last().is_none_or(|it| it.language == "rust")
    }

    fn at(&mut self, index: usize, rest: &str, before: &str) -> bool {
        let starts = self.frames.len() == self.group;
        let done = if let Some((call, place)) = rest.split_once(") in ") {
            let Some((file, line)) = place.rsplit_once(":line ") else { return false };
            let name = call.split('(').next().unwrap_or(call);
            self.push(file, paths::number(line), plain_function(name), "csharp");
            true
        } else if let Some((file, line, function)) = java_frame(rest) {
            self.push(&file, line, function, "java");
            true
        } else if let Some((file, line)) = location(rest).filter(|(file, _)| file.ends_with(".rs")) {
            self.push(file, line, rust_name(before.trim()), "rust");
            true
        } else {
            self.script(rest)
        };
        if done && starts && self.said.exception_line(before.trim()) {
            // The line above the first frame says what happened.
            self.is_trace[index - 1] = true;
        }
        done || rest.ends_with(')') && !rest.contains(' ') && rest.contains('.')
    }

    /// `fn (file.js:1:2)`, `async a.b (file.js:1:2)`, `file.js:1:2`.
    fn script(&mut self, rest: &str) -> bool {
        let (name, place) = match rest.strip_suffix(')').and_then(|it| it.rsplit_once('(')) {
            Some((name, place)) => (name.trim(), place),
            None => ("", rest.strip_prefix("async ").unwrap_or(rest)),
        };
        let Some((file, line)) = location(place) else { return place == "<anonymous>" || place == "native" };
        if !is_script(file) {
            return false;
        }
        let name = name.strip_prefix("async ").unwrap_or(name);
        let name = name.strip_prefix("new ").unwrap_or(name);
        let name = name.split(" [as ").next().unwrap_or(name);
        self.push(file, line, plain_function(name), script_language(file));
        true
    }
}

/// Without what runners and loggers put before each line: `INTERNALERROR> `, `web_1 | `.
fn without_prefix(line: &str) -> &str {
    let name =
        line.bytes().take(40).take_while(|it| it.is_ascii_alphanumeric() || b"_-.".contains(it)).count();
    let rest = &line[name..];
    let is_runner = name > 3 && line[..name].bytes().all(|it| it.is_ascii_uppercase());
    let after = match rest.strip_prefix('>') {
        Some(after) if is_runner => Some(after),
        _ => rest.trim_start().strip_prefix('|').filter(|_| name > 0 && rest.starts_with(' ')),
    };
    after.map_or(line, |it| it.strip_prefix(' ').unwrap_or(it))
}

fn family(language: &str) -> &str {
    if language == "typescript" { "javascript" } else { language }
}

fn tidy(file: &str) -> String {
    let file = file.trim().replace('\\', "/");
    let file = file.strip_prefix("file://").unwrap_or(&file);
    let file = match file.split_once("://") {
        // http://host:1/static/a.js, webpack:///./src/a.js
        Some((_, rest)) => rest.split_once('/').map_or(rest, |(_, path)| path),
        None => file,
    };
    let file = file.split(['?', '#']).next().unwrap_or(file);
    let file = file.trim_start_matches("./").trim_start_matches("~/");
    let file = if file.ends_with(".pyc") { &file[..file.len() - 1] } else { file };
    paths::installed(file).to_owned()
}
