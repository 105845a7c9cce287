//! Reads the ranker's model file, line by line; every error names its line.

use super::{Model, Node, together::Together};

/// The first line of a model file.
const HEADER: &str = "knowing-ranker 1";

/// More trees or leaves than any model we would ship; a damaged file must not make us reserve memory for it.
const MOST_TREES: usize = 10_000;
const MOST_LEAVES: usize = 4_096;

/// The model in a text, or what is wrong with it.
pub(super) fn model(text: &str) -> Result<Model, String> {
    Parser::new(text).model()
}

struct Parser<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// The number of the line that was read last, from 1.
    line: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Parser { lines: text.lines().enumerate(), line: 0 }
    }

    fn model(&mut self) -> Result<Model, String> {
        let header = self.next()?;
        if header != HEADER {
            return Err(self.wrong(&format!("expected `{HEADER}`, found `{}`", short(header))));
        }
        let features: Vec<String> =
            self.after("features")?.split_ascii_whitespace().map(str::to_owned).collect();
        if features.is_empty() || features.len() > usize::from(u16::MAX) {
            return Err(self.wrong("a model needs between 1 and 65535 features"));
        }
        for (i, name) in features.iter().enumerate() {
            if features[..i].contains(name) {
                return Err(self.wrong(&format!("feature `{}` is there twice", short(name))));
            }
        }
        let n_trees = self.count("trees", MOST_TREES)?;
        let mut model = Model {
            features,
            nodes: Vec::new(),
            values: Vec::new(),
            starts: vec![0],
            base: 0.0,
            together: Together::default(),
        };
        for _ in 0..n_trees {
            self.tree(&mut model)?;
        }
        while let Some((number, line)) = self.lines.next() {
            self.line = number + 1;
            if !line.trim().is_empty() {
                return Err(self.wrong("there is more after the last tree"));
            }
        }
        model.together = Together::of(model.trees());
        Ok(model)
    }

    fn tree(&mut self, model: &mut Model) -> Result<(), String> {
        let n_leaves = self.count("tree", MOST_LEAVES)?;
        let start = model.nodes.len();
        // Splits whose right side has not begun yet.
        let mut open: Vec<usize> = Vec::new();
        let mut found = 0;
        for at in 0.. {
            let line = self.next()?;
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("split") => {
                    let feature = self.index(words.next(), model.features.len())?;
                    let number = self.number(words.next())?;
                    let value = self.number(words.next())?;
                    model.nodes.push(Node { number, feature, right: 0 });
                    model.values.push(value);
                    open.push(start + at);
                    // Every open split still needs a leaf, and so does the one being read.
                    if found + open.len() >= n_leaves {
                        return Err(self.wrong(&format!("the tree has more than its {n_leaves} leaves")));
                    }
                }
                Some("leaf") => {
                    let number = self.number(words.next())?;
                    model.nodes.push(Node { number, feature: 0, right: 0 });
                    model.values.push(number);
                    found += 1;
                    match open.pop() {
                        Some(split) => {
                            model.nodes[split].right =
                                u16::try_from(at + 1).expect("a tree has fewer than 65536 nodes");
                        }
                        None => break,
                    }
                }
                _ => return Err(self.wrong(&format!("expected `split` or `leaf`, found `{}`", short(line)))),
            }
            if words.next().is_some() {
                return Err(self.wrong("there is more on this line than belongs there"));
            }
        }
        if found != n_leaves {
            return Err(self.wrong(&format!("the tree has {found} leaves, not {n_leaves}")));
        }
        model.base += model.values[start];
        model.starts.push(u32::try_from(model.nodes.len()).expect("the trees have fewer than 2^32 nodes"));
        Ok(())
    }

    fn next(&mut self) -> Result<&'a str, String> {
        match self.lines.next() {
            Some((number, line)) => {
                self.line = number + 1;
                Ok(line.trim_end())
            }
            None => Err(format!("the ranker's model ends after line {}", self.line)),
        }
    }

    fn after(&mut self, word: &str) -> Result<&'a str, String> {
        let line = self.next()?;
        match line.split_once(' ') {
            Some((first, rest)) if first == word => Ok(rest),
            _ => Err(self.wrong(&format!("expected `{word}`, found `{}`", short(line)))),
        }
    }

    fn count(&mut self, word: &str, most: usize) -> Result<usize, String> {
        let text = self.after(word)?;
        match text.parse() {
            Ok(n) if (1..=most).contains(&n) => Ok(n),
            _ => Err(self.wrong(&format!("`{}` is no number between 1 and {most}", short(text)))),
        }
    }

    fn index(&self, word: Option<&str>, limit: usize) -> Result<u16, String> {
        let word = word.unwrap_or_default();
        match word.parse::<u16>() {
            Ok(index) if usize::from(index) < limit => Ok(index),
            _ => Err(self.wrong(&format!("`{}` is no feature's number below {limit}", short(word)))),
        }
    }

    fn number(&self, word: Option<&str>) -> Result<f64, String> {
        let word = word.unwrap_or_default();
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.wrong(&format!("`{}` is no finite number", short(word)))),
        }
    }

    fn wrong(&self, what: &str) -> String {
        format!("line {} of the ranker's model: {what}", self.line)
    }
}

/// The beginning of a text, short enough for a message.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
