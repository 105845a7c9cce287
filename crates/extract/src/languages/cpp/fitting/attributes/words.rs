//! Words of the language, by what may stand around them.

pub(super) fn begins_declaration(word: &[u8]) -> bool {
    matches!(word, b"concept" | b"namespace" | b"template" | b"typedef" | b"using")
}

pub(super) fn is_access_word(word: &[u8]) -> bool {
    matches!(word, b"public" | b"private" | b"protected")
}

pub(super) fn is_specifier(word: &[u8]) -> bool {
    matches!(
        word,
        b"static"
            | b"extern"
            | b"inline"
            | b"const"
            | b"volatile"
            | b"constexpr"
            | b"consteval"
            | b"constinit"
            | b"virtual"
            | b"explicit"
            | b"mutable"
            | b"register"
            | b"typedef"
            | b"friend"
            | b"typename"
            | b"thread_local"
            | b"_Thread_local"
            | b"_Noreturn"
            | b"__extension__"
            | b"__inline"
            | b"__inline__"
            | b"__forceinline"
            | b"restrict"
            | b"__restrict"
            | b"__restrict__"
            | b"final"
            | b"_Atomic"
            | b"__thread"
            | b"__const"
            | b"__volatile__"
    )
}

pub(super) fn is_type_word(word: &[u8]) -> bool {
    matches!(
        word,
        b"void"
            | b"int"
            | b"char"
            | b"short"
            | b"long"
            | b"float"
            | b"double"
            | b"bool"
            | b"unsigned"
            | b"signed"
            | b"wchar_t"
            | b"char8_t"
            | b"char16_t"
            | b"char32_t"
            | b"auto"
            | b"_Bool"
    )
}

/// Words after which nothing is a declaration of the kind that is looked for.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    matches!(
        word,
        b"using"
            | b"namespace"
            | b"return"
            | b"if"
            | b"else"
            | b"for"
            | b"while"
            | b"do"
            | b"switch"
            | b"case"
            | b"default"
            | b"goto"
            | b"break"
            | b"continue"
            | b"static_assert"
            | b"_Static_assert"
            | b"asm"
            | b"public"
            | b"private"
            | b"protected"
            | b"requires"
            | b"concept"
            | b"sizeof"
            | b"new"
            | b"delete"
            | b"throw"
            | b"try"
            | b"catch"
            | b"this"
            | b"decltype"
            | b"export"
            | b"import"
            | b"module"
            | b"typeof"
            | b"__typeof__"
    ) || is_specifier(word)
        || is_type_word(word)
}

/// What may stand after the parameters of a function.
pub(super) fn follows_parameters(word: &[u8]) -> bool {
    matches!(
        word,
        b"const"
            | b"noexcept"
            | b"override"
            | b"final"
            | b"volatile"
            | b"throw"
            | b"try"
            | b"requires"
            | b"__attribute__"
            | b"asm"
            | b"__asm__"
            | b"__asm"
    )
}
