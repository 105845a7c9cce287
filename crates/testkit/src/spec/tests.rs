use super::*;

const SPEC: &str = "\
# Go

## Methods belong to their receiver

Prose with `ticks`.

```go path=shop/cart.go
package shop
func (c *Cart) Total() int { return sum(c) }
```

```facts
method shop.Cart.Total           line 2
call   shop.Cart.Total -> sum    2:37
```

## Nothing is called

````go
var x = `
```
`
````

```facts
no call
```
";

fn facts_of(case: &Case) -> Vec<String> {
    let facts: &[&str] = match case.heading.as_str() {
        "Methods belong to their receiver" => {
            &["call shop.Cart.Total -> sum 2:37", "package shop", "method shop.Cart.Total line 2"]
        }
        _ => &["variable x"],
    };
    facts.iter().map(|it| (*it).to_owned()).collect()
}

#[track_caller]
fn report(change: impl Fn(&Case, &mut Vec<String>)) -> Outcome {
    compare(SPEC, Path::new("spec.md"), |case| {
        let mut facts = facts_of(case);
        change(case, &mut facts);
        facts
    })
    .unwrap()
}

#[test]
fn a_case_has_heading_language_path_source_and_facts() {
    let cases = parse(SPEC, Path::new("spec.md")).unwrap();
    assert_eq!(cases.len(), 2);
    assert_eq!(cases[0].heading, "Methods belong to their receiver");
    assert_eq!(cases[0].language, "go");
    assert_eq!(cases[0].path.as_deref(), Some("shop/cart.go"));
    assert_eq!(cases[0].source, "package shop\nfunc (c *Cart) Total() int { return sum(c) }\n");
    assert_eq!(cases[0].line, 7);
    assert_eq!(cases[0].expected[1], (14, "call shop.Cart.Total -> sum 2:37".to_owned()));
    assert_eq!(cases[1].source, "var x = `\n```\n`\n");
    assert_eq!(cases[1].path, None);
}

#[test]
fn order_white_space_and_words_that_are_not_asked_do_not_matter() {
    let outcome = report(|_, _| {});
    assert_eq!(outcome.report, "");
    assert_eq!(outcome.updated, SPEC);
}

#[test]
fn a_surplus_fact_fails() {
    let outcome = report(|case, facts| {
        if case.line == 7 {
            facts.push("call shop.Cart.Total -> len 2:40".to_owned());
        }
    });
    assert_eq!(
        outcome.report,
        "spec.md:7: Methods belong to their receiver\n  + call shop.Cart.Total -> len 2:40\n\n"
    );
}

#[test]
fn a_missing_fact_fails() {
    let outcome = report(|_, facts| facts.retain(|it| !it.starts_with("call")));
    assert_eq!(
        outcome.report,
        "spec.md:7: Methods belong to their receiver\n  - call shop.Cart.Total -> sum 2:37    (line 14)\n\n"
    );
}

#[test]
fn a_fact_that_comes_twice_must_stand_twice() {
    let outcome = report(|_, facts| facts.extend_from_within(..1));
    assert!(outcome.report.contains("  + call shop.Cart.Total -> sum 2:37\n"), "{}", outcome.report);
}

#[test]
fn an_absent_word_fails_when_it_is_there_and_all_cases_are_reported() {
    let outcome = report(|_, facts| facts.push("call a -> b 1:1".to_owned()));
    assert!(outcome.report.contains("spec.md:7: Methods"), "{}", outcome.report);
    assert!(
        outcome.report.contains("spec.md:19: Nothing is called\n  + call a -> b 1:1\n"),
        "{}",
        outcome.report
    );
}

#[test]
fn an_update_rewrites_only_blocks_that_differ_and_keeps_their_words() {
    let outcome = report(|case, facts| {
        if case.line == 7 {
            facts.retain(|it| !it.starts_with("call"));
        }
    });
    let old = "method shop.Cart.Total           line 2\ncall   shop.Cart.Total -> sum    2:37\n";
    assert_eq!(outcome.updated, SPEC.replace(old, "method shop.Cart.Total line 2\nno call\n"));
}

#[test]
fn an_empty_block_fails_and_an_update_fills_it() {
    let text = "```go\nx\n```\n```facts\n```\n";
    let outcome = compare(text, Path::new("spec.md"), |_| vec!["call a".to_owned()]).unwrap();
    assert!(outcome.report.contains("is empty"), "{}", outcome.report);
    assert_eq!(outcome.updated, "```go\nx\n```\n```facts\ncall a\n```\n");
}

#[test]
fn broken_form_is_named_with_its_line() {
    let problem = |text| parse(text, Path::new("spec.md")).unwrap_err();
    assert_eq!(problem("```go\nx\n```\n"), "spec.md:1: a snippet without facts");
    assert_eq!(problem("\n```facts\n```\n"), "spec.md:2: facts without a snippet");
    assert_eq!(problem("```go\nx\n"), "spec.md:1: a fence without an end");
    assert_eq!(problem("# only words\n"), "spec.md:1: no case at all");
}

#[test]
#[should_panic(expected = "+ call surplus")]
fn check_spec_panics_with_the_differences() {
    check_spec("```go\nx\n```\n```facts\nno call\n```\n", Path::new("spec.md"), |_| {
        vec!["call surplus".to_owned()]
    });
}
