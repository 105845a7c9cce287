//! Text made fit for the grammars, byte for byte in its place.
//!
//! What the preprocessor would do cannot be known from one file, and the grammars know no macros. Two kinds of text make
//! them lose whole declarations: conditionals that tear a statement or a block apart, and macros that stand where the
//! language has no place for a name (`class API Shop {`, `API void f()`). The first branch of what is torn is kept, and
//! such macros are blanked out. Nothing moves: positions hold, and texts are read from the file itself.

mod attributes;
mod conditionals;
mod dialect;
mod scan;

pub(crate) use dialect::is_cpp;

/// The text to parse in place of the file's own; none when that is fit.
pub(crate) fn fitted(bytes: &[u8]) -> Option<Vec<u8>> {
    let tokens = scan::tokens(bytes);
    let mut changes = Changes::default();
    let dead = conditionals::torn(bytes, &tokens, &mut changes);
    attributes::misplaced(bytes, &tokens, &dead, &mut changes);
    changes.apply(bytes)
}

#[derive(Default)]
struct Changes {
    /// Ranges that become blank.
    blanks: Vec<(u32, u32)>,
    /// White space that becomes a semicolon.
    ends: Vec<u32>,
    /// Blanks that become a parameter of a template.
    parameters: Vec<u32>,
}

impl Changes {
    const PARAMETER: &[u8] = b"int";

    fn blank(&mut self, from: u32, to: u32) {
        self.blanks.push((from, to));
    }

    fn apply(self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.blanks.is_empty() && self.ends.is_empty() {
            return None;
        }
        let mut text = bytes.to_vec();
        for (from, to) in self.blanks {
            for byte in &mut text[from as usize..to as usize] {
                if !matches!(byte, b'\n' | b'\r') {
                    *byte = b' ';
                }
            }
        }
        for at in self.ends {
            text[at as usize] = b';';
        }
        for at in self.parameters {
            text[at as usize..][..Self::PARAMETER.len()].copy_from_slice(Self::PARAMETER);
        }
        Some(text)
    }
}
