//! Words that say nothing about a piece of code: English ones, and keywords that stand in every body.

pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= LONGEST && STOP_WORDS.binary_search(&word).is_ok()
}

const LONGEST: usize = 7;

/// Sorted. `s` and `t` are what contractions leave.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "but", "by", "can", "cls",
    "could", "def", "did", "do", "does", "doesn", "don", "elif", "else", "end", "false", "fn", "for", "from", "func",
    "had", "has", "have", "he", "her", "his", "how", "i", "if", "impl", "in", "into", "is", "isn", "it", "its",
    "just", "let", "me", "mut", "my", "nil", "no", "none", "not", "null", "of", "on", "or", "our", "pub", "return",
    "s", "self", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "true", "us", "var", "was", "we", "were", "what", "when", "where",
    "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_its_longest_word_known() {
        assert!(STOP_WORDS.is_sorted_by(|one, other| one < other));
        assert_eq!(STOP_WORDS.iter().map(|it| it.len()).max(), Some(LONGEST));
    }
}
