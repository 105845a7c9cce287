//! Names that Kotlin gives a meaning of its own.

/// Types that need no import, and what they are: those of the JDK where the compiler maps them.
pub(super) const TYPES: &[(&str, &str)] = &[
    ("Any", "java.lang.Object"),
    ("Boolean", "boolean"),
    ("Byte", "byte"),
    ("Char", "char"),
    ("CharSequence", "java.lang.CharSequence"),
    ("Collection", "java.util.Collection"),
    ("Comparable", "java.lang.Comparable"),
    ("Comparator", "java.util.Comparator"),
    ("Double", "double"),
    ("Float", "float"),
    ("HashMap", "java.util.HashMap"),
    ("HashSet", "java.util.HashSet"),
    ("ArrayList", "java.util.ArrayList"),
    ("LinkedHashMap", "java.util.LinkedHashMap"),
    ("LinkedHashSet", "java.util.LinkedHashSet"),
    ("Int", "int"),
    ("Iterable", "java.lang.Iterable"),
    ("Iterator", "java.util.Iterator"),
    ("Lazy", "kotlin.Lazy"),
    ("List", "java.util.List"),
    ("Long", "long"),
    ("Map", "java.util.Map"),
    ("MutableCollection", "java.util.Collection"),
    ("MutableIterable", "java.lang.Iterable"),
    ("MutableIterator", "java.util.Iterator"),
    ("MutableList", "java.util.List"),
    ("MutableMap", "java.util.Map"),
    ("MutableSet", "java.util.Set"),
    ("Nothing", "kotlin.Nothing"),
    ("Number", "java.lang.Number"),
    ("Pair", "kotlin.Pair"),
    ("Result", "kotlin.Result"),
    ("Sequence", "kotlin.sequences.Sequence"),
    ("Set", "java.util.Set"),
    ("Short", "short"),
    ("String", "java.lang.String"),
    ("Throwable", "java.lang.Throwable"),
    ("Triple", "kotlin.Triple"),
    ("Unit", "kotlin.Unit"),
];

/// Arrays by the type of their elements.
pub(super) const ARRAYS: &[(&str, &str)] = &[
    ("BooleanArray", "boolean"),
    ("ByteArray", "byte"),
    ("CharArray", "char"),
    ("DoubleArray", "double"),
    ("FloatArray", "float"),
    ("IntArray", "int"),
    ("LongArray", "long"),
    ("ShortArray", "short"),
];

/// What every value has, extensions of the standard library among it.
pub(super) const ANY: &[&str] = &[
    "also",
    "apply",
    "equals",
    "getClass",
    "hashCode",
    "javaClass",
    "let",
    "run",
    "takeIf",
    "takeUnless",
    "to",
    "toString",
];

/// What a data class has without declaring it.
pub(super) const DATA: &[&str] = &["copy"];
