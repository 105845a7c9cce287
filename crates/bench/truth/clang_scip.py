#!/usr/bin/env python3
"""What clang says of a C or C++ repository, as a SCIP index for `knowing-bench edges`.

    apt-get install clang python3-clang
    cmake -S REPO -B BUILD -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    clang_scip.py REPO OUT.scip BUILD/compile_commands.json
    clang_scip.py REPO OUT.scip -- -Isrc -Ideps/lua/src     the same options for every source file

A name counts where it is written: what a macro makes of its arguments is left out, and so is code that the
preprocessor drops. Declarations and definitions of one symbol are all places of it. A header is read as the first
file that includes it sees it.
"""

import glob
import json
import os
import sys

from clang.cindex import CursorKind, Index, TranslationUnit, _CXString, conf

SOURCES = (".c", ".cc", ".cpp", ".cxx")
CALLABLE = {
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE, CursorKind.MACRO_DEFINITION,
}
TYPE = {
    CursorKind.STRUCT_DECL, CursorKind.UNION_DECL, CursorKind.CLASS_DECL, CursorKind.ENUM_DECL,
    CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL, CursorKind.CLASS_TEMPLATE, CursorKind.TYPE_ALIAS_TEMPLATE_DECL,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
}
VALUE = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL, CursorKind.ENUM_CONSTANT_DECL}
USE = {
    CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.MEMBER_REF, CursorKind.TYPE_REF,
    CursorKind.TEMPLATE_REF, CursorKind.CALL_EXPR, CursorKind.MACRO_INSTANTIATION,
}


class Writer:
    """Occurrences by file, and the few messages of SCIP that hold them."""

    def __init__(self):
        self.files = {}

    def add(self, path, line, column, length, symbol, is_definition):
        occurrence = (line - 1, column - 1, column - 1 + length, symbol, is_definition)
        self.files.setdefault(path, set()).add(occurrence)

    def write(self, out, version):
        def varint(n):
            made = bytearray()
            while n > 127:
                made.append(n & 127 | 128)
                n >>= 7
            made.append(n)
            return bytes(made)

        def part(tag, body):
            return varint(tag << 3 | 2) + varint(len(body)) + body

        tool = part(1, b"clang") + part(2, version.encode())
        index = part(1, part(2, tool))
        for path, occurrences in sorted(self.files.items()):
            document = part(1, path.encode()) + varint(6 << 3) + varint(1)
            for line, begin, end, symbol, is_definition in sorted(occurrences):
                body = part(1, varint(line) + varint(begin) + varint(end)) + part(2, symbol.encode())
                document += part(2, body + (varint(3 << 3) + varint(1) if is_definition else b""))
            index += part(2, document)
        with open(out, "wb") as file:
            file.write(index)


class Reader:
    def __init__(self, root, writer):
        self.root = os.path.realpath(root)
        self.writer = writer
        self.read = set()
        self.lines = {}

    def path(self, file):
        """From the top of the repository; none for what lies outside."""
        path = os.path.realpath(file.name) if file else ""
        return os.path.relpath(path, self.root) if path.startswith(self.root + os.sep) else None

    def line(self, path, line):
        if path not in self.lines:
            with open(os.path.join(self.root, path), "rb") as file:
                self.lines[path] = file.read().split(b"\n")
        lines = self.lines[path]
        return lines[line - 1] if line <= len(lines) else b""

    def written(self, cursor, name):
        """Where the name of a cursor is written; none where it is not."""
        location = cursor.location
        path = self.path(location.file)
        if path is None or not name:
            return None
        text, begin = self.line(path, location.line), location.column - 1
        end = begin + len(name.encode())
        is_word = lambda it: it.isalnum() or it == b"_"
        if text[begin:end] != name.encode() or is_word(text[end:end + 1]):
            return None
        return path, location.line, location.column, end - begin

    def symbol(self, cursor):
        # A definition may say `const bool` where its declaration says `bool`.
        usr = cursor.canonical.get_usr() or ""
        if not usr:
            return None
        # The last sign says what it is; blanks and backquotes mean something in SCIP.
        name = "clang . . . `" + usr.replace("`", "") + "`"
        if cursor.kind == CursorKind.CONSTRUCTOR:
            return name + "#`<constructor>`()."
        if cursor.kind in CALLABLE:
            return name + "()."
        if cursor.kind in TYPE:
            return name + "#"
        return name + "." if cursor.kind in VALUE else None

    def translation_unit(self, unit):
        new = set()
        for cursor in unit.cursor.get_children():
            path = self.path(cursor.location.file)
            if path is None or path in self.read:
                continue
            new.add(path)
            for below in cursor.walk_preorder():
                self.cursor(below)
        self.read |= new

    def cursor(self, cursor):
        kind = cursor.kind
        if kind == CursorKind.CONSTRUCTOR or kind in CALLABLE or kind in TYPE or kind in VALUE:
            self.place(cursor, cursor)
            template = conf.lib.clang_getSpecializedCursorTemplate(cursor)
            if template is not None and template.kind != CursorKind.INVALID_FILE:
                self.place(cursor, template)
        if kind not in USE:
            return
        target = cursor.referenced
        if target is None:
            return
        made_of = conf.lib.clang_getSpecializedCursorTemplate(target)
        if made_of is not None and made_of.get_usr():
            target = made_of
        name = target.spelling.split("<")[0]
        if kind == CursorKind.MACRO_INSTANTIATION:
            name = cursor.spelling
        at = self.written(cursor, name)
        if not at or is_implicit(target, name):
            return
        meant = [target]
        if target.kind in (CursorKind.TYPEDEF_DECL, CursorKind.TYPE_ALIAS_DECL):
            # Who makes a value of an alias makes one of its class; and `typedef struct cart cart;` is the struct.
            of = target.underlying_typedef_type.get_declaration()
            made_of = conf.lib.clang_getSpecializedCursorTemplate(of)
            of = made_of if made_of is not None and made_of.get_usr() else of
            meant = [of] if of.spelling == name else [target, of]
        for target in meant:
            symbol = self.symbol(target) if target.kind != CursorKind.NO_DECL_FOUND else None
            if symbol:
                self.writer.add(*at, symbol, False)
                # A declaration that no file of this build defines stands where it is declared.
                self.place(target, target)

    def place(self, cursor, symbol_of):
        symbol, at = self.symbol(symbol_of), self.written(cursor, cursor.spelling.split("<")[0])
        if symbol and at:
            self.writer.add(*at, symbol, True)


def is_implicit(cursor, name):
    """A function that nobody declares, as C takes it to be declared where it is called."""
    extent = cursor.extent
    length = extent.end.offset - extent.start.offset
    return cursor.kind == CursorKind.FUNCTION_DECL and length <= len(name.encode())


def units(root, given):
    """Source files and what to compile each with."""
    if given[0] == "--":
        for name in sorted(glob.glob(os.path.join(root, "**", "*"), recursive=True)):
            if name.endswith(SOURCES):
                yield root, name, given[1:]
        return
    with open(given[0]) as file:
        for entry in json.load(file):
            arguments = entry.get("arguments") or entry["command"].split()
            name = os.path.join(entry["directory"], entry["file"])
            takes = [it for it in arguments[1:] if it not in ("-c", entry["file"]) and not it.endswith(".o")]
            yield entry["directory"], name, [it for it in takes if it != "-o"]


def version():
    conf.lib.clang_getClangVersion.restype = _CXString
    conf.lib.clang_getClangVersion.errcheck = _CXString.from_result
    words = conf.lib.clang_getClangVersion().split()
    return words[words.index("version") + 1]


def main():
    root, out, given = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
    index, writer = Index.create(), Writer()
    reader = Reader(root, writer)
    n_units = n_failed = 0
    for directory, name, arguments in units(os.path.realpath(root), given):
        os.chdir(directory)
        # What gcc takes a file for when nothing is said.
        if not name.endswith(".c") and not any(it.startswith("-std") for it in arguments):
            arguments = arguments + ["-std=gnu++17"]
        try:
            options = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
            unit = index.parse(name, args=arguments + ["-ferror-limit=0"], options=options)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            n_failed += 1
            continue
        faults = [it for it in unit.diagnostics if it.severity >= 3]
        if faults:
            print(f"{name}: {len(faults)} errors, the first: {faults[0]}", file=sys.stderr)
        if any(it.severity >= 4 for it in faults):
            # A header is missing: too much of the file means nothing.
            n_failed += 1
            continue
        reader.translation_unit(unit)
        n_units += 1
    writer.write(out, version())
    print(f"{n_units} files, {n_failed} not read, {sum(map(len, writer.files.values()))} occurrences", file=sys.stderr)


if __name__ == "__main__":
    main()
