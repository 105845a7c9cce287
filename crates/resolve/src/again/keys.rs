//! What can be looked up, as hashes that mean the same in every run: they are made of paths and names, not of numbers.
//!
//! A key is cut to 32 bits where it is kept. Two keys that fall together cost a file that is resolved again in vain, and
//! nothing else. Digests of answers have 64 bits, for there a collision would hide a change.

/// Grows whenever a hash, or what is recorded, may come out otherwise.
pub(crate) const VERSION: u32 = 7;

/// What a look-up is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Door {
    /// All facts of a file.
    File = 1,
    /// What a file says of itself: language, marks, wildcards, exports.
    Top,
    /// A name in a scope.
    Scope,
    /// A declaration without its body.
    Decl,
    /// What a declaration gives back.
    Body,
    /// Members of types by name, wherever they stand.
    Members,
    /// Whether a text is a name at all.
    Word,
    /// Whether there is a file at a path.
    Path,
    Direct,
    Linear,
    Interfaces,
    /// Types that have a module among their ancestors, or got its members themselves.
    MixedInto,
    ExtendedBy,
    /// What the `impl` blocks of a file are for.
    Targets,
    ImplMembers,
    ExternalMembers,
    BlanketMembers,
    /// The files that a file imports.
    Imports,
    /// Which file says first that a type fulfils an interface.
    Stated,
    /// A module below a module.
    Child,
    /// The file of a module.
    ModuleFile,
    /// Packages by name.
    Package,
    /// Where absolute imports begin.
    Roots,
    /// Whether a project file names a dependency.
    Dependency,
    /// What stands around a module, and the package it is of.
    Around,
    /// What the name of a crate means in a package.
    Crate,
    /// Macros by name.
    Macro,
    /// All parts of a type.
    Parts,
    /// Whether other files of its directory declare the same.
    Repeated,
    CppIncluded,
    CppVisible,
    CppIncluders,
    CppSeesOutside,
    CppSpace,
    CppDeclared,
    CppNested,
    CppUsings,
    CppKnown,
    CsharpNamespace,
    CsharpTypes,
    CsharpExtensions,
    CsharpFiles,
    CsharpUsings,
    GoPackageOf,
    GoFirstFile,
    GoTargets,
    GoDeclared,
    GoRequired,
    PackageOf,
    PackageMembers,
    PhpName,
    /// Which namespaces are the project's own.
    PhpOwn,
    RubyConstantOf,
    RubyWhole,
    RubyParts,
    RubyMade,
    RubyOpened,
    RubyMembers,
    RubyFields,
    RubyFunctions,
    RubyFiles,
    RubyStem,
    RubyGem,
    TypeScriptTargets,
    TypeScriptProjects,
    /// The routes that a file registers.
    Routes,
    /// Routes by method and pattern.
    RouteKey,
    /// What files offer under a name.
    Offered,
    /// Declarations by bare name, for what texts mention.
    Mentioned,
    /// Whether a directory holds files.
    Directory,
    /// All paths together.
    Paths,
    /// Programs by name, by directory, or of a package.
    Program,
}

/// Instead of the hash of a path, for what is looked up for all files together.
pub(crate) const ALL_FILES: u64 = 1;

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// One more word. For one state a bijection of the word, so that different words give different states.
#[inline]
pub(crate) const fn mix(state: u64, word: u64) -> u64 {
    let product = (state.rotate_left(23) ^ word).wrapping_mul(ODD);
    product ^ (product >> 29)
}

pub(crate) fn text(seed: u64, text: &str) -> u64 {
    let mut state = mix(seed, text.len() as u64);
    let mut words = text.as_bytes().chunks_exact(8);
    for word in &mut words {
        state = mix(state, u64::from_le_bytes(word.try_into().expect("chunks of eight bytes")));
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        state = mix(state, u64::from_le_bytes(last));
    }
    mix(state, ODD)
}

/// A name by itself.
pub(crate) fn name(name: &str) -> u64 {
    text(0, name)
}

pub(crate) fn file(path: &str) -> u64 {
    text(1, path)
}

/// A declaration by its file and symbol path.
pub(crate) fn decl(file: u64, path: &str) -> u64 {
    text(file, path)
}

#[inline]
pub(crate) const fn through(door: Door, of: u64) -> u64 {
    mix(door as u64, of)
}

/// A key as it is kept.
#[inline]
pub(crate) const fn cut(key: u64) -> u32 {
    (mix(key, 0) >> 32) as u32
}
