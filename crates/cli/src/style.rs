//! Colours, for terminals that want them.

use std::io::IsTerminal;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
    /// Say more.
    pub(crate) verbose: bool,
    /// No notes.
    pub(crate) quiet: bool,
}

/// Whether colours may be used on this stream: it is a terminal and `NO_COLOR` is not set.
pub(crate) fn wanted(stream: &impl IsTerminal) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|it| !it.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|it| it == "dumb");
    stream.is_terminal() && !refused && !dumb
}

impl Style {
    pub(crate) fn new(colour: bool, verbose: bool, quiet: bool) -> Style {
        Style { colour, verbose, quiet }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        // Text from repositories is data: a terminal must not take it for commands.
        let text: String = text.chars().map(|it| if it.is_control() { '\u{fffd}' } else { it }).collect();
        if self.colour && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text }
    }

    /// Text without colour, made safe.
    pub(crate) fn plain(self, text: &str) -> String {
        Style { colour: false, ..self }.paint("", text)
    }
}
