//! Fixed cases, and a comparison with the yardsticks' own `score.py` on names drawn at random.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Judged, Named, bare, judge, lenient, norm, strict};

fn named(name: &str, file: &str) -> Named {
    Named { name: name.to_owned(), file: Some(file.to_owned()).filter(|it| !it.is_empty()) }
}

#[track_caller]
fn check_close(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-12, "{one} {other}");
}

#[test]
fn names_are_brought_to_what_follows_the_file() {
    for (name, expected) in [
        ("github.com/a/b://pkg/cart.py.Cart.total", "Cart.total"),
        ("pkg/cart.rs.Cart::total", "Cart.total"),
        ("pkg/cart.Cart.total", "Cart.total"),
        ("pkg/cart", "cart"),
        ("a.b.Cart.total", "Cart.total"),
        ("a.b.total", "total"),
        ("Cart#total", "Cart.total"),
        ("total(", "total"),
        ("  total. ", "total"),
        ("", ""),
    ] {
        assert_eq!(norm(name), expected, "{name}");
    }
}

#[test]
fn overloads_are_told_apart_by_nothing() {
    for (name, expected) in [
        ("f(int,T)", "f"),
        ("f(Map(K,V))", "f"),
        ("f#2", "f"),
        ("f(int)#2", "f"),
        ("f(a)(b)", "f(a)"),
        ("f(a)b", "f(a)b"),
        ("f(((a)))", "f(((a)))"),
        ("f((a)", "f("),
        ("f#", "f#"),
        ("f#a#b-c.d", "f#a"),
        ("", ""),
    ] {
        assert_eq!(bare(name), expected, "{name}");
    }
}

#[test]
fn strict_wants_the_last_name_the_owner_and_the_file() {
    let file = Some("a.py");
    assert!(strict("u://a.py.Cart.total", "Cart.total", file, file));
    assert!(
        strict("u://a.py.Cart.total", "total", file, file),
        "an owner that one side lacks does not count"
    );
    assert!(!strict("u://a.py.Cart.total", "Cart.total", Some("b.py"), file));
    assert!(!strict("u://a.py.Basket.total", "Cart.total", file, file));
    assert!(!strict("u://a.py.Cart.total", "Cart.add", file, file));
    assert!(
        strict("u://b.py.Cart.total", "Cart.total", Some("b.py"), None),
        "a truth without a file has any"
    );
    assert!(strict("cart.TOTAL", "Cart.total", None, None), "case does not count");
}

#[test]
fn lenient_takes_members_for_their_class() {
    assert!(lenient("a.py.Cart.total", "Cart"));
    assert!(lenient("a.py.Cart", "Cart.total"));
    assert!(lenient("a.py.Cart.total", "total"));
    assert!(!lenient("a.py.Cart.total", "Basket.total"));
    assert!(!lenient("a.py.Cart.total", "Cart.add"));
    assert!(!lenient("", "Cart"));
}

#[test]
fn each_truth_counts_once() {
    let truth = [named("Cart.total", "a.py"), named("price", "b.py")];
    let results =
        ["Cart.total", "Cart.total#2", "Cart.add"].map(|it| named(&format!("u://a.py.{it}"), "a.py"));
    let judged = judge(&results, &truth);
    check_close(judged.p10_lenient, 0.2);
    check_close(judged.r10, 0.5);
    check_close(judged.mrr, 1.0);
    check_close(judged.ndcg10, 1.0 / (1.0 + 1.0 / 3.0_f64.log2()));
    assert_eq!((judged.acc10, judged.any10), (0.0, 1.0));
    assert_eq!((judged.file_r10, judged.file_acc5), (Some(0.5), Some(0.0)));
    let both = [&results[..], &[named("u://b.py.price", "b.py")]].concat();
    let judged = judge(&both, &truth);
    assert_eq!(
        (judged.acc10, judged.r10, judged.file_r10, judged.file_acc5),
        (1.0, 1.0, Some(1.0), Some(1.0))
    );
}

#[test]
fn only_the_first_ten_count_for_symbols_and_the_first_five_files() {
    let truth = [named("wanted", "w.py")];
    let results = |rank: usize| {
        let mut list: Vec<Named> =
            (0..20).map(|it| named(&format!("u://f{it}.py.x{it}"), &format!("f{it}.py"))).collect();
        list[rank] = named("u://w.py.wanted", "w.py");
        list
    };
    let tenth = judge(&results(9), &truth);
    assert_eq!((tenth.r10, tenth.mrr, tenth.file_r10, tenth.file_acc5), (1.0, 0.1, Some(1.0), Some(0.0)));
    assert_eq!(
        judge(&results(10), &truth),
        Judged { file_r10: Some(0.0), file_acc5: Some(0.0), ..Judged::default() }
    );
    assert_eq!(judge(&results(4), &truth).file_acc5, Some(1.0));
    assert_eq!(judge(&results(5), &truth).file_acc5, Some(0.0));
    let anywhere = [named("wanted", "")];
    assert_eq!(judge(&results(0), &anywhere).file_r10, None);
    assert_eq!(judge(&[], &truth).r10, 0.0);
}

/// The same numbers on every machine.
struct Drawing(u64);

impl Drawing {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    fn file(&mut self) -> Option<String> {
        match self.below(4) {
            0 => None,
            _ => Some(self.one_of(&["a.py", "pkg/b.py", "src/c.rs", ""]).to_owned()),
        }
    }

    /// Few parts, so that names meet often; odd ends, so that every rule is used.
    fn name(&mut self) -> String {
        let mut name =
            self.one_of(&["", "", "u://", "h/o/r://pkg/b.py.", "src/c.rs.", "pkg/", "a.py."]).to_owned();
        for number in 0..=self.below(3) {
            if number > 0 {
                name += self.one_of(&[".", ".", "::", "#"]);
            }
            name += self.one_of(&["Cart", "cart", "total", "Add", "Éclair", "ß", "x_1", ""]);
        }
        name + self
            .one_of(&["", "", "", "(int,T)", "(A(B))", "#2", "(x)#3", "(", ".", "((y)", " ", "#", "(a)b"])
    }

    fn list(&mut self, most: usize) -> Vec<Named> {
        (0..1 + self.below(most)).map(|_| Named { name: self.name(), file: self.file() }).collect()
    }
}

/// `shared/bench` beside the workspace.
fn yardsticks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/bench")
}

const ASK: &str = "
import json, sys
import score
for line in sys.stdin:
    it = json.loads(line)
    one, other = it['pair']
    print(json.dumps({
        'judged': score.judge([tuple(x) for x in it['results']], [tuple(x) for x in it['truth']]),
        'bare': score.bare(one[0]),
        'norm': score.norm(one[0]),
        'lenient': score.lenient(one[0], other[0]),
        'strict': score.strict(one[0], other[0], one[1], other[1]),
    }))
";

fn python(directory: &Path, input: &str) -> Option<String> {
    if !directory.join("score.py").is_file() {
        return None;
    }
    // Nothing is written beside the yardsticks.
    let mut command = Command::new("python3");
    command.args(["-B", "-c", ASK]).env("PYTHONPATH", directory).env("PYTHONIOENCODING", "utf-8");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut to_child = child.stdin.take().expect("it is piped");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || to_child.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("it was started");
    writer.join().expect("it does not panic").expect("it reads all");
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).expect("it writes UTF-8"))
}

#[test]
fn it_judges_as_the_yardsticks_do() {
    let mut drawing = Drawing(7);
    let cases: Vec<(Vec<Named>, Vec<Named>)> =
        (0..400).map(|_| (drawing.list(14), drawing.list(5))).collect();
    let pair = |it: &Named| json!([it.name, it.file]);
    let pairs = |list: &[Named]| list.iter().map(pair).collect::<Vec<Value>>();
    let input: String = cases
        .iter()
        .map(|(results, truth)| {
            let both = [pair(&results[0]), pair(&truth[0])];
            json!({"results": pairs(results), "truth": pairs(truth), "pair": both}).to_string() + "\n"
        })
        .collect();
    let Some(output) = python(&yardsticks(), &input) else {
        // Past the capture of output, so that it is seen.
        let _ = writeln!(
            std::io::stderr(),
            "\n!! SKIPPED: judge was not compared with score.py; it needs python3 and {}\n",
            yardsticks().display()
        );
        return;
    };
    assert_eq!(output.lines().count(), cases.len());
    let (mut n_hits, mut n_lenient) = (0, 0);
    for ((results, truth), line) in cases.iter().zip(output.lines()) {
        let theirs: Value = serde_json::from_str(line).expect("a line is an object");
        let ours = judge(results, truth);
        let case = || format!("{results:?} {truth:?} {theirs}");
        for (name, value) in [
            ("p10_lenient", Some(ours.p10_lenient)),
            ("r10", Some(ours.r10)),
            ("mrr", Some(ours.mrr)),
            ("ndcg10", Some(ours.ndcg10)),
            ("acc10", Some(ours.acc10)),
            ("any10", Some(ours.any10)),
            ("file_r10", ours.file_r10),
        ] {
            match (theirs["judged"][name].as_f64(), value) {
                (Some(one), Some(other)) => {
                    assert!((one - other).abs() < 1e-12, "{name}: {other}: {}", case())
                }
                (one, other) => assert_eq!(one, other, "{name}: {}", case()),
            }
        }
        let (one, other) = (&results[0], &truth[0]);
        assert_eq!(theirs["bare"], bare(&one.name), "{}", case());
        assert_eq!(theirs["norm"], norm(&one.name), "{}", case());
        assert_eq!(theirs["lenient"], lenient(&one.name, &other.name), "{}", case());
        let ours_strict = strict(&one.name, &other.name, one.file.as_deref(), other.file.as_deref());
        assert_eq!(theirs["strict"], ours_strict, "{}", case());
        n_hits += usize::from(ours.any10 > 0.0);
        n_lenient += usize::from(ours.p10_lenient > 0.0);
    }
    assert!(n_hits > 50 && n_hits < 400 && n_lenient > n_hits, "the names meet often: {n_hits} {n_lenient}");
}
