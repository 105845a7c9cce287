//! What a client shows when others can reach the server.

use http::{HeaderMap, header};

pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new(text: &str) -> Token {
        Token(text.trim().to_owned())
    }

    /// In the time that comparing all of it takes, so that the time says nothing of how much was right.
    pub(crate) fn is_shown_by(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).map(|it| it.as_bytes()).unwrap_or_default();
        let shown = match shown.split_at_checked(SCHEME.len()) {
            Some((scheme, shown)) if scheme.eq_ignore_ascii_case(SCHEME) => shown.trim_ascii(),
            _ => return false,
        };
        let difference = shown.iter().zip(self.0.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        difference == 0 && shown.len() == self.0.len()
    }
}

const SCHEME: &[u8] = b"Bearer ";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shown: &str, expect: bool) {
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, shown.parse().unwrap())]);
        assert_eq!(Token::new("secret\n").is_shown_by(&headers), expect, "{shown}");
    }

    #[test]
    fn only_the_whole_token_opens() {
        check("Bearer secret", true);
        check("bearer secret", true);
        for shown in
            ["Bearer secre", "Bearer secrets", "Bearer ", "Basic secret", "secret", "Bearer Secret", ""]
        {
            check(shown, false);
        }
        assert!(!Token::new("secret").is_shown_by(&HeaderMap::new()));
    }
}
