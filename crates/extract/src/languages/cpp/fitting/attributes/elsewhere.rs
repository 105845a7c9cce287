//! Macros that are no part of a declaration's head: before blocks in bodies, and among the parameters of templates.

use super::super::Changes;
use super::super::conditionals::is_constant_case;
use super::super::scan::TokenKind;
use super::Pass;

impl Pass<'_> {
    /// `TRY { ... } CATCH (error&) { ... }`: plain blocks.
    pub(super) fn block_macro(&mut self, statement: usize, brace: usize) {
        let word = self.text(statement);
        let is_try = statement + 1 == brace;
        let is_catch = memchr::memmem::find(word, b"CATCH").is_some()
            && self.closing(statement + 1).is_some_and(|it| it + 1 == brace);
        if is_constant_case(word) && (is_try || is_catch) {
            self.blank(statement, brace);
        }
    }

    /// `template <typename T, ENABLE_IF(is_thing<T>())>`: a parameter that a macro makes.
    pub(super) fn template_macros(&mut self, open: usize) {
        const MAX_TOKENS: usize = 300;
        if !self.is(open, b'<') {
            return;
        }
        let (mut at, mut depth) = (open, 0_usize);
        for _ in 0..MAX_TOKENS {
            let Some(token) = self.tokens.get(at) else { return };
            match token.kind {
                TokenKind::Mark(b'<') => depth += 1,
                TokenKind::Mark(b'>') if depth == 1 => return,
                TokenKind::Mark(b'>') => depth -= 1,
                TokenKind::Mark(b';' | b'{' | b'}') => return,
                TokenKind::Mark(b'(') => {
                    let Some(close) = self.closing(at) else { return };
                    let is_parameter = depth == 1
                        && is_constant_case(self.text(at - 1))
                        && self.text(at - 1).len() >= Changes::PARAMETER.len()
                        && (self.is(at - 2, b',') || self.is(at - 2, b'<'));
                    if is_parameter {
                        self.blank(at - 1, close + 1);
                        self.changes.parameters.push(self.tokens[at - 1].from);
                    }
                    at = close;
                }
                _ => {}
            }
            at += 1;
        }
    }
}
