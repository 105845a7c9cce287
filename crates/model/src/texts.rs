//! The texts of one file, one after the other: a file has hundreds, and one piece of memory for each would cost more than
//! all else of reading its facts.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Texts by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Texts {
    text: String,
    /// Where each ends; the next begins there. Invariant: ascending, borders of characters, the last is the end of `text`.
    ends: Vec<u32>,
}

impl Texts {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn get(&self, number: usize) -> Option<&str> {
        let end = *self.ends.get(number)? as usize;
        let from = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        Some(&self.text[from..end])
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.text[from..end as usize];
            from = end as usize;
            text
        })
    }

    /// Adds a text behind the others.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("facts are made of files below 4 GiB"));
    }

    /// All of them, in memory of just their size; this one keeps its room and has none.
    pub fn take_fitting(&mut self) -> Texts {
        let taken = self.clone();
        self.text.clear();
        self.ends.clear();
        taken
    }
}

impl Serialize for Texts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (&self.text, &self.ends).serialize(to)
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Texts, D::Error> {
        let (text, ends) = <(String, Vec<u32>)>::deserialize(from)?;
        let is_whole = ends.is_sorted()
            && ends.last().map_or(0, |it| *it as usize) == text.len()
            && ends.iter().all(|it| text.is_char_boundary(*it as usize));
        match is_whole {
            true => Ok(Texts { text, ends }),
            false => Err(D::Error::custom("texts do not fit together")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_given_back_by_number_and_in_order() {
        let mut texts = Texts::default();
        for text in ["a", "", "äö", "bc"] {
            texts.push(text);
        }
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "äö", "bc"]);
        assert_eq!((texts.get(2), texts.get(1), texts.get(4)), (Some("äö"), Some(""), None));
        assert_eq!((texts.len(), texts.is_empty(), Texts::default().is_empty()), (4, false, true));
    }
}
