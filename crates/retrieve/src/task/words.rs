//! The word lists a task is read with. All are matched on whole lower-case words, never on parts of words.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// English, programming talk, or an action verb: says nothing about which symbol is meant.
pub(crate) fn is_stop_word(lower: &str) -> bool {
    STOP.contains(lower) || is_action_verb(lower)
}

/// English glue alone ("the", "of"), for the places where programming words still count.
pub(crate) fn is_english(lower: &str) -> bool {
    ENGLISH_SET.contains(lower)
}

/// What people ask for: "add", "fixes", "refactoring". Inflected forms count.
pub(crate) fn is_action_verb(lower: &str) -> bool {
    with_stems(lower, |it| ACTION_SET.contains(it))
}

/// A verb that may open a task, wider than the stop list: "validate", "parse" are real words elsewhere.
pub(crate) fn is_leading_verb(lower: &str) -> bool {
    with_stems(lower, |it| ACTION_SET.contains(it) || LEADING_SET.contains(it))
}

/// Words of the languages themselves: no identifier of a program.
pub(crate) fn is_language_keyword(text: &str) -> bool {
    KEYWORD_SET.contains(text)
}

/// Products whose names look like code ("GitHub", "Node.js") and mean no symbol.
pub(crate) fn is_product(lower: &str) -> bool {
    PRODUCT_SET.contains(lower)
}

/// Whether a word means what is written for people.
pub(crate) fn speaks_of_documents(lower: &str) -> bool {
    matches!(
        lower,
        "doc"
            | "docs"
            | "document"
            | "documents"
            | "documented"
            | "documentation"
            | "readme"
            | "changelog"
            | "tutorial"
    )
}

/// Whether a word asks for all callables of one name.
pub(crate) fn speaks_of_overloads(lower: &str) -> bool {
    matches!(lower, "overload" | "overloads" | "overloaded" | "overloading")
}

/// Words of who wants to understand something.
pub(crate) fn asks(lower: &str) -> bool {
    with_stems(lower, |it| {
        matches!(
            it,
            "how"
                | "what"
                | "where"
                | "why"
                | "which"
                | "who"
                | "explain"
                | "trace"
                | "understand"
                | "describe"
        )
    })
}

/// Words of who wants something that is not there yet.
pub(crate) fn adds(lower: &str) -> bool {
    with_stems(lower, |it| {
        matches!(
            it,
            "add"
                | "implement"
                | "support"
                | "new"
                | "create"
                | "introduce"
                | "allow"
                | "enable"
                | "expose"
                | "provide"
                | "custom"
        )
    })
}

/// Words of who finds something wrong.
pub(crate) fn complains(lower: &str) -> bool {
    with_stems(lower, |it| {
        matches!(
            it,
            "fix"
                | "bug"
                | "error"
                | "fail"
                | "failure"
                | "crash"
                | "regress"
                | "regression"
                | "broken"
                | "wrong"
                | "incorrect"
                | "incorrectly"
                | "avoid"
                | "prevent"
                | "issue"
                | "handle"
                | "ensure"
                | "miss"
                | "missing"
                | "should"
                | "cannot"
                | "don"
                | "doesn"
        )
    })
}

/// Words that make a task one about tests.
pub(crate) fn speaks_of_tests(lower: &str) -> bool {
    matches!(
        lower,
        "test" | "tests" | "testing" | "spec" | "specs" | "fixture" | "mock" | "assert" | "coverage"
    )
}

/// The other spellings of a word: `ctx` for `context` and back.
pub(crate) fn abbreviations(lower: &str) -> impl Iterator<Item = &'static str> {
    ABBREVIATIONS.iter().filter_map(move |(short, long)| {
        if *short == lower {
            Some(*long)
        } else if *long == lower {
            Some(*short)
        } else {
            None
        }
    })
}

/// Tries the word and what is left of it without `s`, `es`, `ed`, `d`, `ing`, also with a doubled consonant undone.
fn with_stems(lower: &str, known: impl Fn(&str) -> bool) -> bool {
    if known(lower) {
        return true;
    }
    for ending in ["s", "es", "ed", "d", "ing"] {
        let Some(stem) = lower.strip_suffix(ending) else { continue };
        if stem.len() < 2 {
            continue;
        }
        if known(stem) {
            return true;
        }
        if ending == "ing" || ending == "ed" {
            // "making" -> "make", "setting" -> "set", "applied" -> "apply"
            if known(&format!("{stem}e")) {
                return true;
            }
            let mut letters = stem.chars().rev();
            if let (Some(last), Some(before)) = (letters.next(), letters.next())
                && last == before
                && known(&stem[..stem.len() - last.len_utf8()])
            {
                return true;
            }
        }
        if let Some(root) = stem.strip_suffix('i')
            && known(&format!("{root}y"))
        {
            return true;
        }
    }
    false
}

type Words = LazyLock<FxHashSet<&'static str>>;

static STOP: Words =
    LazyLock::new(|| ENGLISH.split_whitespace().chain(PROGRAMMING.split_whitespace()).collect());
static ENGLISH_SET: Words = LazyLock::new(|| ENGLISH.split_whitespace().collect());
static ACTION_SET: Words = LazyLock::new(|| ACTION.split_whitespace().collect());
static LEADING_SET: Words = LazyLock::new(|| LEADING.split_whitespace().collect());
static KEYWORD_SET: Words = LazyLock::new(|| KEYWORDS.split_whitespace().collect());
static PRODUCT_SET: Words = LazyLock::new(|| PRODUCTS.split_whitespace().collect());

const ENGLISH: &str = "
a about above actually after again against all almost along already also although always am among an and another any
anybody anyone anything anyway anywhere are aren around as at away back be became because become becomes been before
being below besides best better between beyond both but by came can cannot cant come comes could couldn currently
did didn different do does doesn doing don done down due during each easily easy e.g eg either else enough especially
etc even ever every everyone everything exactly except few find finally first following for from fully further gave
general get gets getting give given gives go goes going gone good got had hadn happen happened happens has hasn have
haven having he hello help hence her here hi his how however i i.e ie if im in indeed instead into is isn it its
itself ive just keep kind know known last later latest least less let lets like likely little ll long look looks lot
lots made mainly many may maybe me mean means might mine more most mostly much must my myself near nearly necessary
need needed needs neither never new next no nobody non none nor not nothing now nowhere obvious of off often oh ok
okay old on once one ones only onto or other others otherwise ought our ours out over own particular particularly
per perhaps please possible possibly pretty probably quite rather re really recently regarding right same say says
see seem seemed seems seen several shall she should shouldn show shows similar simple simply since so some somehow
someone something sometimes somewhere soon sorry still such sure t take taken takes tell than thank thanks that thats
the their them then there therefore these they thing things think this those though through thus time times to
together too took toward towards tried tries truly try trying two under unless unlike until up upon us useful usual
usually ve very via want wanted wants was wasn way ways we well went were weren what whatever when whenever where
whereas wherever whether which while who whole whom whose why will with within without won wont would wouldn yes yet
you your yours three";

const PROGRAMMING: &str = "
application behavior behaviour bug bugs case cases code codebase correct correctly def example examples expected
fail fails failing failed failure feature features file files func function functionality functions implementation
incorrect incorrectly issue issues line lines logic method methods number object objects operation output problem
problems program project properly purpose reproduce repository result results run running runs script snippet step
steps support supports thing todo unexpected usage user-defined value values variable variables version versions
wrong wrongly invalid work working works class classes code-base library package expect actual current existing
proper specific";

const ACTION: &str = "
add adjust allow apply avoid bump call change clean cleanup convert correct create delete deprecate disable do drop
enable ensure enhance expose extend extract fix follow generalize get give handle implement improve include
introduce investigate keep let make migrate modify move optimise optimize permit port prevent provide reduce refactor
reimplement remove rename reorganize replace reorder restore restructure return revert rewrite set show simplify
speed split stop switch support trace tweak understand unify update upgrade use write";

const LEADING: &str = "
accept build check configure define detect dispatch document emit encode decode explain expand filter find force
generate group hide ignore initialize inject limit list load log map mark mask merge mock open override parse pass
preserve print propagate raise read register render reset resolve respect retry reuse save schedule send serialize
skip sort store strip sync test throw track transform validate verify wire wrap";

/// Keywords and constants of Python, Rust, Go, JavaScript, TypeScript, Java, C#, Ruby.
const KEYWORDS: &str = "
abstract and any as assert async await begin bool boolean break byte case catch chan char class const continue crate
cls debugger def default defer del delete do double dyn elif else elsif end ensure enum except export extends extern
fallthrough false False final finally float fn for foreach from func function global go goto if impl implements
import in include instanceof int interface internal is lambda let lock long loop map match mod module move mut
namespace native new nil None nonlocal not null object or out override package params pass private protected pub
public raise range readonly redo ref require rescue retry return sealed self Self short sizeof static str string
struct super switch synchronized then this throw throws trait transient true True try type typeof undef undefined
unless unsafe until use using usize i32 i64 u8 u32 u64 f32 f64 isize var virtual void volatile when where while with
yield print println printf echo args kwargs __name__ __main__ int32 int64 uint32 uint64 float64 byte rune error";

const PRODUCTS: &str = "
github gitlab bitbucket stackoverflow javascript typescript postgresql mysql mariadb mongodb sqlite macos osx ios
ipad iphone linux ubuntu windows freebsd openbsd macosx youtube linkedin node.js vue.js next.js nuxt.js express.js
react.js angular.js ember.js three.js d3.js backbone.js moment.js jquery nodejs pycharm vscode webstorm intellij
graphql openai chatgpt asp.net .net vb.net wifi iot phd readthedocs wordpress powershell oauth2 pypi devops
dotnet jupyterlab homebrew openssl";

const ABBREVIATIONS: &[(&str, &str)] = &[
    ("addr", "address"),
    ("alloc", "allocate"),
    ("app", "application"),
    ("arg", "argument"),
    ("args", "arguments"),
    ("async", "asynchronous"),
    ("attr", "attribute"),
    ("attrs", "attributes"),
    ("auth", "authentication"),
    ("authn", "authentication"),
    ("authz", "authorization"),
    ("buf", "buffer"),
    ("cert", "certificate"),
    ("cfg", "config"),
    ("char", "character"),
    ("cmd", "command"),
    ("col", "column"),
    ("conf", "config"),
    ("config", "configuration"),
    ("conn", "connection"),
    ("ctx", "context"),
    ("db", "database"),
    ("dep", "dependency"),
    ("deps", "dependencies"),
    ("desc", "description"),
    ("dest", "destination"),
    ("dict", "dictionary"),
    ("dir", "directory"),
    ("doc", "document"),
    ("docs", "documentation"),
    ("elem", "element"),
    ("env", "environment"),
    ("err", "error"),
    ("exc", "exception"),
    ("exec", "execute"),
    ("expr", "expression"),
    ("ext", "extension"),
    ("fmt", "format"),
    ("hdr", "header"),
    ("id", "identifier"),
    ("idx", "index"),
    ("img", "image"),
    ("impl", "implementation"),
    ("info", "information"),
    ("init", "initialize"),
    ("iter", "iterator"),
    ("len", "length"),
    ("lib", "library"),
    ("loc", "location"),
    ("max", "maximum"),
    ("mem", "memory"),
    ("msg", "message"),
    ("mgr", "manager"),
    ("min", "minimum"),
    ("obj", "object"),
    ("op", "operation"),
    ("opt", "option"),
    ("opts", "options"),
    ("param", "parameter"),
    ("params", "parameters"),
    ("perm", "permission"),
    ("pkg", "package"),
    ("pos", "position"),
    ("prev", "previous"),
    ("proc", "process"),
    ("prop", "property"),
    ("props", "properties"),
    ("proto", "protocol"),
    ("pwd", "password"),
    ("recv", "receive"),
    ("ref", "reference"),
    ("regex", "expression"),
    ("repo", "repository"),
    ("req", "request"),
    ("res", "response"),
    ("resp", "response"),
    ("sched", "scheduler"),
    ("sess", "session"),
    ("sig", "signature"),
    ("spec", "specification"),
    ("src", "source"),
    ("srv", "server"),
    ("stmt", "statement"),
    ("str", "string"),
    ("sync", "synchronize"),
    ("sys", "system"),
    ("temp", "temporary"),
    ("tmp", "temporary"),
    ("tx", "transaction"),
    ("txn", "transaction"),
    ("util", "utility"),
    ("val", "value"),
    ("var", "variable"),
];
