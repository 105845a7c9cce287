"""Draws call sites of a C# repository at random, as lines `path line column name`.

    draw_csharp.py GIT_DIRECTORY SEED NUMBER [declared]

With `declared`, only sites whose called name some method or type of the repository has.
"""
import random
import subprocess
import sys

import tree_sitter
import tree_sitter_c_sharp

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))
DECLARATIONS = {"method_declaration", "class_declaration", "struct_declaration", "record_declaration",
                "delegate_declaration", "local_function_statement"}


def blobs(repository):
    lines = subprocess.run(["git", "-C", repository, "ls-tree", "-r", "HEAD"], capture_output=True, text=True)
    rows = [line.split("\t") for line in lines.stdout.splitlines()]
    rows = sorted((path, about.split()[2]) for about, path in rows if path.endswith(".cs"))
    reader = subprocess.Popen(["git", "-C", repository, "cat-file", "--batch"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for path, blob in rows:
        reader.stdin.write((blob + "\n").encode())
        reader.stdin.flush()
        size = int(reader.stdout.readline().split()[2])
        data = reader.stdout.read(size)
        reader.stdout.read(1)
        yield path, data


def name_of(node):
    """The identifier that a callee or type ends with."""
    if node is None or node.type == "identifier":
        return node
    if node.type == "generic_name":
        return node.children[0]
    if node.type in ("member_access_expression", "qualified_name", "alias_qualified_name"):
        return name_of(node.child_by_field_name("name"))
    if node.type == "conditional_access_expression":
        for child in node.children:
            if child.type == "member_binding_expression":
                return name_of(child.child_by_field_name("name"))
    return None


def read(path, data, sites, declared):
    text = lambda node: data[node.start_byte:node.end_byte].decode()
    found, stack = [], [PARSER.parse(data).root_node]
    while stack:
        node = stack.pop()
        called = None
        if node.type == "invocation_expression":
            called = name_of(node.child_by_field_name("function"))
        elif node.type == "object_creation_expression":
            called = name_of(node.child_by_field_name("type"))
        elif node.type in DECLARATIONS and node.child_by_field_name("name"):
            declared.add(text(node.child_by_field_name("name")))
        if called is not None and text(called) != "nameof":
            found.append((called.start_point[0] + 1, called.start_point[1], text(called)))
        stack.extend(reversed(node.children))
    sites += [(path, *site) for site in sorted(found)]


def main():
    repository, seed, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sites, declared = [], set()
    for path, data in blobs(repository):
        read(path, data, sites, declared)
    if "declared" in sys.argv[4:]:
        sites = [site for site in sites if site[3] in declared]
    random.seed(seed)
    for site in sorted(random.sample(sites, number)):
        print("\t".join(map(str, site)))


main()
