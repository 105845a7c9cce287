//! What searching promises: scores as defined, to the last bit, however the collection came to be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use knowing_model::facts::FileFacts;
use knowing_model::{Hash, NodeId, NodeKind, SnapshotId};
use proptest::prelude::*;

use crate::blocks::best_in_parts;
use crate::{
    Answer, Collection, DocIndex, Error, Evaluation, FileTerms, Hit, ImageHead, Index, IndexBuilder,
    N_FIELDS, Overlay, Query, QueryTerm, Scoring, Searcher, TermBag, Tokenizer, View, tokens,
};

/// A document as tests see it: terms of each field with their counts, and its history.
type Fields = [BTreeMap<String, u32>; N_FIELDS];
type Documents = BTreeMap<u8, Fields>;

const HEAD: ImageHead = ImageHead {
    snapshot: SnapshotId(Hash([7; 32])),
    history_digest: Hash([8; 32]),
    commit_time: 1_700_000_000,
};

/// Ids that do not ascend as their numbers do.
fn node(number: u8) -> NodeId {
    let mut id = [number; 32];
    id[0] = number.wrapping_mul(149);
    NodeId(Hash(id))
}

fn build(documents: &Documents, order: impl Iterator<Item = u8>) -> Index {
    let mut builder = IndexBuilder::new();
    for number in order {
        let bags: Vec<_> = documents[&number]
            .iter()
            .map(|field| {
                let terms = field.iter().map(|(term, &count)| (builder.intern(term), count)).collect();
                TermBag::new(terms)
            })
            .collect();
        builder.add_bags(node(number), &bags).unwrap();
    }
    builder.finish(&HEAD).unwrap()
}

fn scratch(documents: &Documents) -> Index {
    build(documents, documents.keys().copied())
}

/// BM25F word by word: every document, every term, every field.
fn brute_force(
    documents: &Documents,
    query: &Query,
    scoring: &Scoring,
    limit: usize,
) -> Vec<Vec<(NodeId, u64)>> {
    let n = documents.len() as f64;
    let length = |it: &Fields, field: usize| it[field].values().map(|&it| u64::from(it)).sum::<u64>();
    let average: Vec<f64> = (0..N_FIELDS)
        .map(|field| documents.values().map(|it| length(it, field)).sum::<u64>() as f64 / n)
        .collect();
    let mut answer = Vec::new();
    for (number, view) in query.views().iter().enumerate() {
        let mut scores: Vec<(NodeId, f64)> = Vec::new();
        for (&document, fields) in documents {
            let mut score = 0.0;
            for asked in query.terms() {
                let df =
                    documents.values().filter(|it| it.iter().any(|it| it.contains_key(&asked.term))).count()
                        as f64;
                let idf = libm::log(1.0 + (n - df + 0.5) / (df + 0.5));
                let mut x = 0.0;
                for field in 0..N_FIELDS {
                    let tf = fields[field].get(&asked.term).copied().unwrap_or(0);
                    if tf > 0 && view.weights[field] > 0.0 {
                        let b = scoring.b[field];
                        let divisor = 1.0 - b + b * length(fields, field) as f64 / average[field];
                        x += view.weights[field] * (f64::from(tf) / divisor);
                    }
                }
                if x > 0.0 {
                    score += (asked.counts[number] * idf) * (x / (scoring.k1 + x));
                }
            }
            if score > 0.0 {
                scores.push((node(document), score));
            }
        }
        scores.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        scores.truncate(limit);
        answer.push(scores.into_iter().map(|it| (it.0, it.1.to_bits())).collect());
    }
    answer
}

fn bits(searcher: &impl Searcher, hits: Vec<Vec<Hit>>) -> Vec<Vec<(NodeId, u64)>> {
    let bits = |it: Hit| (searcher.node(it.document), it.score.to_bits());
    hits.into_iter().map(|it| it.into_iter().map(bits).collect()).collect()
}

fn fields() -> impl Strategy<Value = Fields> {
    let field = prop::collection::btree_map(term(), prop_oneof![4 => 1_u32..4, 1 => 10_u32..400], 0..6);
    prop::array::uniform8(field)
}

/// Few terms, so that documents share them.
fn term() -> impl Strategy<Value = String> {
    "[a-f]|[ab]{2,3}|ä"
}

fn documents() -> impl Strategy<Value = Documents> {
    prop::collection::btree_map(any::<u8>(), fields(), 0..40)
}

fn query() -> impl Strategy<Value = Query> {
    let weight = || prop_oneof![Just(0.0), Just(1.0), 0.1..9.0_f64];
    let views = prop::collection::vec(prop::array::uniform8(weight()), 1..4);
    let terms = prop::collection::vec((term(), prop::collection::vec(weight(), 3)), 0..8);
    (views, terms).prop_map(|(views, terms)| {
        let views: Vec<View> = views.into_iter().map(|weights| View { weights }).collect();
        let terms: BTreeMap<_, _> = terms.into_iter().collect();
        let terms = terms.into_iter().rev().map(|(term, counts)| QueryTerm { term, counts }).collect();
        Query::new(views, terms)
    })
}

fn scoring() -> impl Strategy<Value = Scoring> {
    (0.1..3.0_f64, prop::array::uniform8(0.0..=1.0_f64)).prop_map(|(k1, b)| Scoring { k1, b })
}

/// What was done to a collection: documents put in or taken out.
fn changes() -> impl Strategy<Value = Vec<(u8, Option<Fields>)>> {
    prop::collection::vec((any::<u8>(), prop::option::weighted(0.7, fields())), 0..20)
}

/// The collection after changes, and the overlay that stands for it. Small numbers collide more often with what is there.
fn overlaid(before: &Documents, changes: &[(u8, Option<Fields>)]) -> (Documents, Overlay) {
    let mut after = before.clone();
    let mut touched = BTreeSet::new();
    let present: Vec<u8> = before.keys().copied().collect();
    for (number, fields) in changes {
        let number = match present.get(usize::from(number / 2)) {
            Some(&it) => it,
            None => *number,
        };
        touched.insert(number);
        match fields {
            Some(fields) => after.insert(number, fields.clone()),
            None => after.remove(&number),
        };
    }
    let changed: Documents = after
        .iter()
        .filter(|it| touched.contains(it.0))
        .map(|(number, fields)| (*number, fields.clone()))
        .collect();
    let removed = touched.iter().filter(|it| !after.contains_key(it)).map(|&it| node(it));
    let overlay = Overlay::new(Arc::new(scratch(before)), Arc::new(scratch(&changed)), removed);
    (after, overlay)
}

fn assert_same_collection(one: &impl Searcher, other: &impl Searcher, documents: &Documents) {
    assert_eq!(one.n_documents(), other.n_documents());
    assert_eq!(one.total_lengths(), other.total_lengths());
    let terms: BTreeSet<&String> = documents.values().flatten().flat_map(BTreeMap::keys).collect();
    for term in terms {
        assert_eq!(one.document_frequency(term), other.document_frequency(term));
        assert_eq!(one.idf(term).to_bits(), other.idf(term).to_bits());
    }
    for number in 0..=255 {
        let places = [one.document(node(number)), other.document(node(number))];
        assert_eq!(places.map(|it| it.is_some()), [documents.contains_key(&number); 2]);
        let [Some(here), Some(there)] = places else { continue };
        assert_eq!([one.node(here), other.node(there)], [node(number); 2]);
        assert_eq!(one.lengths(here), other.lengths(there));
        for (term, field) in [("a", 0), ("ab", 5), ("ä", 7)] {
            let expected = documents[&number][field].get(term).copied().unwrap_or(0);
            assert_eq!(one.has_term(here, term).map_or(0, |it| it[field]), expected);
            assert_eq!(one.has_term(here, term), other.has_term(there, term));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn s7_scores_equal_brute_force_to_the_last_bit(
        documents in documents(), query in query(), scoring in scoring(), limit in 0_usize..50,
    ) {
        let expected = brute_force(&documents, &query, &scoring, limit);
        let index = scratch(&documents);
        prop_assert_eq!(&bits(&index, index.search(&query, &scoring, limit)), &expected);
        let prepared = index.prepare(&query, &scoring);
        for n_parts in 2..5 {
            let in_parts = prepared.joined(limit, |it| best_in_parts(&prepared, it, limit, n_parts));
            prop_assert_eq!(&in_parts, &prepared.answer(limit));
            prop_assert_eq!(&bits(&index, in_parts.hits), &expected);
        }
        let other_order = build(&documents, documents.keys().rev().copied());
        prop_assert_eq!(&bits(&other_order, other_order.search(&query, &scoring, limit)), &expected);

        let directory = tempfile::tempdir().unwrap();
        let (path, again) = (directory.path().join("a/one.search"), directory.path().join("two.search"));
        index.write(&path).unwrap();
        other_order.write(&again).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&again).unwrap());
        let opened = Index::open(&path, HEAD.snapshot).unwrap();
        opened.verify().unwrap();
        prop_assert_eq!(&bits(&opened, opened.search(&query, &scoring, limit)), &expected);
        prop_assert!(!opened.is_damaged());
    }

    #[test]
    fn s3_scores_do_not_depend_on_documents_that_are_gone(
        before in documents(), changes in changes(), query in query(), scoring in scoring(), limit in 0_usize..50,
    ) {
        let (after, overlay) = overlaid(&before, &changes);
        let expected = brute_force(&after, &query, &scoring, limit);
        prop_assert_eq!(bits(&overlay, overlay.search(&query, &scoring, limit)), expected);
        assert_same_collection(&overlay, &scratch(&after), &after);
        // Every third node is none of the graph's.
        let mut ids: Vec<NodeId> = (0..=255).filter(|it| it % 3 != 0).map(node).collect();
        ids.sort();
        let collection = Collection::Changes(Box::new(overlay));
        let joined = crate::Documents::new(&collection, ids.iter().map(|it| it.as_bytes()));
        for (at, &id) in (0..).zip(&ids) {
            prop_assert_eq!(joined.of(at), collection.document(id));
            prop_assert!(joined.of(at).is_none_or(|it| joined.node(it) == Some(at)));
        }
        let n_joined = (0..300).filter(|&it| joined.node(DocIndex(it)).is_some()).count();
        prop_assert_eq!(n_joined, after.keys().filter(|it| *it % 3 != 0).count());
    }

    #[test]
    fn parts_are_those_of_the_score(
        before in documents(), changes in changes(), query in query(), scoring in scoring(),
    ) {
        let (after, overlay) = overlaid(&before, &changes);
        let index = scratch(&after);
        let prepared = overlay.prepare(&query, &scoring);
        let mut evaluation = Evaluation::default();
        let Answer { hits, scores } = prepared.answer(300);
        for (document, score) in (0..).map(DocIndex).zip(scores) {
            prepared.evaluate(document, &mut evaluation);
            prop_assert_eq!(evaluation.views[0].to_bits(), score.to_bits());
        }
        for (view, hits) in hits.into_iter().enumerate() {
            for hit in hits {
                let parts = overlay.parts(&query, view, &scoring, hit.document);
                prop_assert_eq!(parts.score.to_bits(), hit.score.to_bits());
                prop_assert!((parts.fields.iter().sum::<f64>() - hit.score).abs() <= 1e-9 * hit.score);
                prop_assert!((parts.matched.iter().map(|it| it.1).sum::<f64>() - hit.score).abs() <= 1e-9 * hit.score);
                let there = index.document(overlay.node(hit.document)).unwrap();
                prepared.evaluate(hit.document, &mut evaluation);
                prop_assert_eq!(evaluation.views[view].to_bits(), hit.score.to_bits());
                if view == 0 {
                    prop_assert_eq!(evaluation.parts, parts.fields);
                }
                prop_assert_eq!(index.parts(&query, view, &scoring, there), parts);
            }
        }
    }

    #[test]
    fn s4_any_text_is_a_query(text in any::<String>(), documents in documents()) {
        let terms: Vec<_> = tokens(&text).into_iter().map(|term| QueryTerm { term, counts: vec![1.0] }).collect();
        for it in &terms {
            prop_assert!(!it.term.is_empty() && it.term.len() <= 64);
        }
        let view = View { weights: [1.0; N_FIELDS] };
        let hits = scratch(&documents).search(&Query::new(vec![view], terms), &Scoring::default(), 10);
        prop_assert_eq!(hits.len(), 1);
        crate::parts(&text);
    }

    #[test]
    fn damaged_images_are_refused_or_searched_without_harm(
        documents in documents(), query in query(), at in any::<prop::sample::Index>(), bit in 0_u8..8,
        cut in any::<prop::sample::Index>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.search");
        scratch(&documents).write(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();

        std::fs::write(&path, &whole[..cut.index(whole.len())]).unwrap();
        prop_assert!(matches!(Index::open(&path, HEAD.snapshot), Err(Error::Damaged(_))));

        let mut flipped = whole.clone();
        flipped[at.index(whole.len())] ^= 1 << bit;
        std::fs::write(&path, &flipped).unwrap();
        if let Ok(index) = Index::open(&path, HEAD.snapshot) {
            prop_assert!(index.verify().is_err());
            ask_everything(&index, &query);
            ask_everything(&Overlay::new(Arc::new(index), Arc::new(scratch(&documents)), [node(3)]), &query);
        }
    }
}

fn ask_everything(searcher: &impl Searcher, query: &Query) {
    for hit in searcher.search(query, &Scoring::default(), 300).into_iter().flatten() {
        searcher.parts(query, 0, &Scoring::default(), hit.document);
        searcher.has_term(hit.document, "a");
        searcher.last_commit(hit.document);
    }
}

#[test]
fn many_documents_are_ranked_across_blocks() {
    let mut builder = IndexBuilder::new();
    let (common, rare) = (builder.intern("common"), builder.intern("rare"));
    let node = |number: u32| {
        let mut id = [0; 32];
        id[..4].copy_from_slice(&number.to_be_bytes());
        NodeId(Hash(id))
    };
    for number in 0..20_000 {
        let mut bags = vec![TermBag::default(); N_FIELDS];
        let rare = (number % 5_000 == 4_999).then_some((rare, 1));
        bags[5] = TermBag::new([(common, 1 + number % 3)].into_iter().chain(rare).collect());
        builder.add_bags(node(number), &bags).unwrap();
    }
    let index = builder.finish(&HEAD).unwrap();
    let term = |it: &str| QueryTerm { term: it.to_owned(), counts: vec![1.0] };
    let query = Query::new(
        vec![View { weights: [1.0; N_FIELDS] }],
        vec![term("rare"), term("common"), term("absent")],
    );
    let hits = index.search(&query, &Scoring::default(), 5).remove(0);
    let mut rare: Vec<_> = hits[..4].iter().map(|it| index.node(it.document)).collect();
    rare.sort();
    assert_eq!(rare, [4_999, 9_999, 14_999, 19_999].map(node));
    let prepared = index.prepare(&query, &Scoring::default());
    let in_parts = prepared.joined(5, |it| best_in_parts(&prepared, it, 5, 3));
    assert_eq!(in_parts.hits[0], hits, "parts begin within blocks");
    // Of all that have but the common term, the first of those that have it alone and most often.
    assert_eq!(index.node(hits[4].document), node(2));
}

#[test]
fn an_image_is_of_its_snapshot_and_a_node_has_one_document() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image.search");
    let index = scratch(&Documents::new());
    index.write(&path).unwrap();
    assert!(matches!(Index::open(&path, SnapshotId(Hash([1; 32]))), Err(Error::Damaged(_))));
    let opened = Index::open(&path, HEAD.snapshot).unwrap();
    assert_eq!((opened.n_documents(), opened.commit_time()), (0, HEAD.commit_time));
    assert_eq!((opened.snapshot(), opened.history_digest()), (HEAD.snapshot, HEAD.history_digest));

    let mut builder = IndexBuilder::new();
    builder.add_bags(node(1), &[]).unwrap();
    builder.add_bags(node(1), &[]).unwrap();
    assert!(matches!(builder.finish(&HEAD), Err(Error::Input(_))));
}

#[test]
fn path_history_and_neighbours_join_the_documents_of_a_file() {
    let facts = FileFacts::default();
    let file = FileTerms::of(&facts, b"open(\"cart\")", &mut Tokenizer::new());
    let mut builder = IndexBuilder::new();
    let (first, second) = (builder.bag("Fix carts of guests"), builder.bag("Open carts faster"));
    let name = builder.bag("checkOut");
    builder
        .add_file(&file, "shop/cart.py", |document, join| {
            assert_eq!((document.symbol(), document.kind()), ("", NodeKind::File));
            join.history(&first);
            join.history(&second);
            join.commits(2, Some(5));
            join.neighbour(&name);
            Some(node(1))
        })
        .unwrap();
    builder
        .add_file(&file, "shop/none.py", |_, join| {
            join.history(&first);
            None
        })
        .unwrap();
    builder.add_bags(node(2), &[]).unwrap();
    let index = builder.finish(&HEAD).unwrap();
    assert_eq!(index.n_documents(), 2);
    let document = index.document(node(1)).unwrap();
    assert_eq!(index.has_term(document, "cart"), Some([0, 0, 1, 0, 0, 1, 2, 0]));
    assert_eq!(index.has_term(document, "checkout"), Some([0, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(index.lengths(document), [0, 0, 3, 0, 0, 2, 6, 3]);
    assert_eq!((index.n_commits(document), index.last_commit(document)), (2, Some(5)));
    let bare = index.document(node(2)).unwrap();
    assert_eq!((index.lengths(bare), index.n_commits(bare), index.last_commit(bare)), ([0; 8], 0, None));
}
