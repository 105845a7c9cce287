//! Bytes to tokens, as coarse as the fitting needs them. Comments are left out; a directive is one token.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Token {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    Word,
    /// A number, a string or a character.
    Literal,
    /// `::`
    Scope,
    /// Any other character, one by one.
    Mark(u8),
    /// From `#` to the end of the line, continued lines included.
    Directive,
}

impl Token {
    pub(super) fn text<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[self.from as usize..self.to as usize]
    }

    pub(super) fn is(&self, mark: u8) -> bool {
        self.kind == TokenKind::Mark(mark)
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == TokenKind::Word
    }
}

pub(super) fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut scan = Scan { bytes, at: 0, fresh: true };
    // A token is six bytes long, about.
    let mut tokens = Vec::with_capacity(bytes.len() / 6);
    while let Some(token) = scan.next() {
        tokens.push(token);
    }
    tokens
}

struct Scan<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Nothing but white space stands before on this line.
    fresh: bool,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<Token> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            let from = self.at;
            match byte {
                b'\n' => {
                    self.fresh = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                // A continued line outside of directives.
                b'\\' => self.at += 1,
                b'/' if self.starts(b"//") => self.line_comment(),
                b'/' if self.starts(b"/*") => self.block_comment(),
                b'#' if self.fresh => {
                    self.directive();
                    return Some(self.token(from, TokenKind::Directive));
                }
                _ => {
                    self.fresh = false;
                    let kind = self.plain(byte);
                    return Some(self.token(from, kind));
                }
            }
        }
    }

    fn token(&self, from: usize, kind: TokenKind) -> Token {
        let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        Token { from: number(from), to: number(self.at), kind }
    }

    fn starts(&self, text: &[u8]) -> bool {
        self.bytes[self.at..].starts_with(text)
    }

    fn plain(&mut self, byte: u8) -> TokenKind {
        match byte {
            b'"' => {
                self.quoted(b'"');
                TokenKind::Literal
            }
            b'\'' => {
                self.quoted(b'\'');
                TokenKind::Literal
            }
            b'0'..=b'9' => {
                self.number();
                TokenKind::Literal
            }
            b':' if self.starts(b"::") => {
                self.at += 2;
                TokenKind::Scope
            }
            _ if is_name(byte) => {
                let from = self.at;
                while self.bytes.get(self.at).is_some_and(|it| is_name(*it)) {
                    self.at += 1;
                }
                let is_raw = matches!(&self.bytes[from..self.at], b"R" | b"LR" | b"uR" | b"UR" | b"u8R");
                if is_raw && self.starts(b"\"") && self.raw_string() {
                    return TokenKind::Literal;
                }
                TokenKind::Word
            }
            _ => {
                self.at += 1;
                TokenKind::Mark(byte)
            }
        }
    }

    fn line_comment(&mut self) {
        while let Some(end) = memchr::memchr(b'\n', &self.bytes[self.at..]) {
            self.at += end;
            if !self.is_continued() {
                return;
            }
            self.at += 1;
        }
        self.at = self.bytes.len();
    }

    /// Whether the line break at `at` is escaped.
    fn is_continued(&self) -> bool {
        let line = &self.bytes[..self.at];
        line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\")
    }

    fn block_comment(&mut self) {
        let inside = &self.bytes[self.at + 2..];
        self.at = match memchr::memmem::find(inside, b"*/") {
            Some(end) => self.at + 2 + end + 2,
            None => self.bytes.len(),
        };
    }

    /// A string or character ends with its line, if not before.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\\' if self.bytes[self.at..].starts_with(b"\\\r\n") => self.at += 3,
                b'\\' => self.at = (self.at + 2).min(self.bytes.len()),
                b'\n' => return,
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
    }

    /// Digits, and the `'` between them.
    fn number(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let separates =
                byte == b'\'' && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_alphanumeric);
            if !(is_name(byte) || byte == b'.' || separates) {
                return;
            }
            self.at += 1;
        }
    }

    /// `"x(...)x"` after `R`.
    fn raw_string(&mut self) -> bool {
        let rest = &self.bytes[self.at + 1..];
        let Some(open) = rest.iter().take(17).position(|it| *it == b'(') else { return false };
        let close = [b")", &rest[..open], b"\""].concat();
        let end = memchr::memmem::find(rest, &close);
        self.at = end.map_or(self.bytes.len(), |it| self.at + 1 + it + close.len());
        true
    }

    fn directive(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' if !self.is_continued() => return,
                b'/' if self.starts(b"//") => {
                    self.line_comment();
                    return;
                }
                b'/' if self.starts(b"/*") => self.block_comment(),
                b'"' => self.quoted(b'"'),
                _ => self.at += 1,
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
