"""Tasks from commits that add code: the message is the task, the existing symbols that the new code leans on are the truth.

A name counts only where the new code says whose it is: through an import of the project's own, a definition in the same
file, a named owner, or a method's name that the whole project has once and the standard library does not have; so in Python
and Rust. Elsewhere imports are not read, and a name counts that the project, or the directory, defines once. What one must
*see* to write the code is wanted, so base classes and imported names come before calls on unknown receivers.
"""
import bisect, builtins, collections, importlib, os, re

from reports import first_test_line

MOST_FILES, FEWEST_LINES, MOST_LINES = 6, 12, 400
FEWEST, MOST_TRUTHS, TOO_WIDE, MOST_EDITED = 2, 8, 16, 2
MOVED = re.compile(r"^\W*(tst|maint|sty|cln|typ)\b|\b(refactor\w*|renam\w+|mov(e|es|ed|ing)|"
                   r"rewrit\w+|split\w*|extract\w*|reorgani[sz]\w+|port(ed|ing)?|typing|type hints?|"
                   r"annotat\w+|mypy|pyupgrade|moderni[sz]e|clean\w*|simplif\w+|deduplicat\w+|docstrings?|wip)\b", re.I)
TESTS = re.compile(r"^t/|(^|/)conftest\.py$|_test\.go$|(^|/)src/test/|Tests?\.(java|cs)$|\.(test|spec)\.[jt]sx?$|(^|/)zz_generated|\.pb\.go$|\.d\.ts$")
TEMPLATE = re.compile(r"<!--.*?-->|^#+ (Tests \+ Formatting|After Submitting|Checklist)\b.*\Z", re.S | re.M | re.I)
WEIGHT = {"base": 6, "decorator": 3, "import": 3, "call": 2, "type": 2, "method": 1}
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{3,}")
PYTHON_IMPORT = re.compile(r"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|^[ \t]*import[ \t]+([^\n(]+)", re.M)
RUST_IMPORT = re.compile(r"^[ \t]*((?:pub(?:\([^)]*\))?[ \t]+)?)use\s+([^;]+);", re.M)
CAPITAL = re.compile(r"_*[A-Z]\w*[a-z]")
STANDARD_MODULES = ("os os.path sys re io json logging collections itertools functools pathlib argparse threading asyncio socket ssl time datetime "
                    "subprocess shutil tempfile inspect types contextlib copy pickle email.message http.client http.cookies urllib.parse "
                    "urllib.request random math unittest.mock unittest sqlite3 csv queue ast dis weakref zipfile tarfile hashlib struct enum "
                    "configparser html.parser xml.etree.ElementTree string decimal fractions uuid traceback warnings importlib.metadata "
                    "selectors multiprocessing concurrent.futures difflib dataclasses").split()
RUST_STANDARD = set("""as_bytes as_deref as_deref_mut as_mut as_path as_ptr as_ref as_slice as_str as_os_str and_then append binary_search borrow
    borrow_mut bytes chain char_indices chars checked_add checked_sub chunks clear clone cloned cmp collect concat contains contains_key copied
    copy_from_slice count create dedup display drain elapsed ends_with entry enumerate eq_ignore_ascii_case exists expect extend extend_from_slice
    file_name file_stem fill filter filter_map find find_map finish first flat_map flatten flush fold for_each fract from_str from_utf8 get_mut
    get_or_insert get_or_insert_with hash insert insert_str into_bytes into_inner into_iter into_owned into_string is_absolute is_alphabetic
    is_alphanumeric is_ascii is_dir is_empty is_err is_file is_none is_numeric is_ok is_relative is_some is_some_and is_whitespace iter iter_mut
    join keys kind last len lines lock make_ascii_lowercase map map_err map_or map_or_else matches metadata next next_back nth ok_or ok_or_else
    open or_default or_else or_insert or_insert_with parent parse partial_cmp partition peek peekable poll pop pop_front position push push_back
    push_front push_str read read_dir read_line read_to_end read_to_string recv remove repeat replace reserve resize retain rev rfind rposition
    rsplit saturating_add saturating_sub send set_len set_extension skip skip_while sort sort_by sort_by_key sort_unstable spawn split split_at
    split_first split_last split_off split_once split_whitespace splitn starts_with step_by store strip_prefix strip_suffix sum swap take
    take_while then then_some then_with to_ascii_lowercase to_bytes to_lowercase to_owned to_path_buf to_str to_string to_string_lossy to_uppercase
    to_vec trim trim_end trim_end_matches trim_matches trim_start trim_start_matches truncate try_from try_into unwrap unwrap_err unwrap_or
    unwrap_or_default unwrap_or_else unzip update values values_mut wait wake wake_by_ref windows with_capacity with_extension wrapping_add
    write write_all write_fmt write_str zip into_boxed_slice into_boxed_str field debug_struct debug_tuple debug_list debug_map entries to_tokens span
    to_compile_error serialize deserialize serialize_field fetch_add fetch_sub load compare_exchange swap_remove is_char_boundary
    with_context context encode decode status headers body uri method path query build default_value""".split())


def standard_names():
    names = set()
    for module in [builtins] + [importlib.import_module(m) for m in STANDARD_MODULES]:
        for name, value in vars(module).items():
            names.add(name)
            if isinstance(value, type):
                names |= set(dir(value))
    # What the libraries that nearly every project leans on call their methods.
    return names | set("""reshape astype groupby iterrows to_numpy to_dict to_list to_frame to_string dropna fillna reset_index set_index value_counts
        sort_values drop_duplicates isnull notnull flatten ravel transpose squeeze add_argument parse_args status_code raise_for_status
        filter exclude order_by save delete all first values values_list annotate prefetch_related select_related get_or_create save_m2m
        is_valid full_clean as_view as_sql get_queryset get_context_data get_absolute_url get_object connect execute fetchone fetchall
        commit rollback write_text invoke echo assert_called_once addCallback addErrback""".split())


STANDARD = {".py": standard_names(), ".rs": RUST_STANDARD}
FAMILIES = {".py": ".py", ".rs": ".rs", ".go": ".go", ".java": ".java", ".cs": ".cs", ".rb": ".rb",
            ".ts": ".ts", ".tsx": ".ts", ".js": ".ts", ".jsx": ".ts"}
NAMES = ("identifier", "type_identifier", "constant", "property_identifier", "field_identifier", "method_identifier")
HERITAGE = ("superclass", "super_interfaces", "extends_interfaces", "class_heritage", "extends_clause", "implements_clause", "base_list")
DEFINES = re.compile(r"(declaration|declarator|definition|_spec|signature|_elem)$|^(method|class|module|singleton_method)$")


def family(path):
    """Files whose names mean the same."""
    return FAMILIES.get(os.path.splitext(path)[1], "")


# What a task is made by: the same for every kind that comes from commits.
Rules = collections.namedtuple("Rules", "noise dull cleaned edited_symbols chance parsers")


class Base:
    """The names that a base's own source defines, where, and how often they are written."""

    def __init__(self, repository, tree, noise, counted):
        self.index, self.uses, roots = {}, collections.Counter(), set()
        self.tree = tree
        self.types = set()
        for path, oid in sorted(tree.items()):
            if path.endswith("Cargo.toml"):
                roots |= {m.decode().replace("-", "_") for m in re.findall(rb'(?m)^name\s*=\s*"([\w-]+)"', repository.blob(oid))}
            if not family(path) or noise.search(path) or TESTS.search(path):
                continue
            if path.endswith("/__init__.py") and f"{os.path.dirname(os.path.dirname(path))}/__init__.py".lstrip("/") not in tree:
                roots.add(path.split("/")[-2])
            if oid not in counted:
                data = repository.blob(oid)
                counted[oid] = collections.Counter(WORD.findall(data)), first_test_line(data) if path.endswith(".rs") else 1 << 40
            words, tests = counted[oid]
            self.uses.update(words)
            for first, _, name, kind in repository.spans(path, oid):
                if first < tests:
                    self.index.setdefault(name.rsplit(".", 1)[-1], {})[path, name] = kind
                    if kind == "type":
                        self.types.add((path, name))
        self.roots = roots
        ranked = sorted(self.index, key=lambda n: -self.count(n))
        callables = [n for n in ranked if "callable" in self.index[n].values()]
        types = [n for n in ranked if n not in set(callables)]
        self.common = set(callables[:min(100, len(callables) // 8)]) | set(types[:min(40, len(types) // 15)])

    def count(self, name):
        return self.uses[name.encode()]

    def named(self, name, where):
        """[(file, dotted name)] in one file, or in all those of a family."""
        return [p for p in self.index.get(name, ()) if where in (p[0], family(p[0]))]

    def top(self, name, where):
        """What stands outside any class or function under this name."""
        return [p for p in self.named(name, where) if p[1] == name]

    def methods(self, name, where):
        return [p for p in self.named(name, where) if "." in p[1]]

    def of_owner(self, owner, name):
        return [p for p in self.index.get(name, ()) if p[0] == owner[0] and p[1] == f"{owner[1]}.{name}"]


def placed(places, module):
    """The one place that a module's segments point to; among several, the one whose path agrees best."""
    segments = [s for s in module if s not in ("", "crate", "self", "super")]
    if len(places) == 1:
        return places[0]
    if not 2 <= len(places) <= 3 or not segments:
        return None

    def agreement(place):
        parts = [p.replace("-", "_") for p in os.path.splitext(place[0])[0].split("/") if p not in ("__init__", "mod", "lib", "src")]
        return 2 * (parts[-len(segments):] == segments) + (segments[-1] in parts)
    best = sorted(places, key=agreement, reverse=True)
    return best[0] if agreement(best[0]) > agreement(best[1]) else None


class Source:
    """One file after the commit: what its imports say, and which of its lines are new."""

    def __init__(self, base, path, data, root, added, before):
        self.before = set(re.findall(r"\w+", before.decode("utf8", "replace")))
        self.base, self.path, self.data, self.root, self.added = base, path, data, root, sorted(added)
        self.python = path.endswith(".py")
        self.standard = STANDARD.get(family(path), set())
        self.imports, self.globs = {}, False
        self.found = {}
        self.defined = set()
        text = data.decode("utf8", "replace")
        self.words = set(re.findall(r"\w+", text))
        readers = {".py": self.read_python_imports, ".rs": self.read_rust_imports}
        readers.get(family(path), lambda _: None)(text)

    def touched(self, node):
        at = bisect.bisect_left(self.added, node.start_point[0] + 1)
        return at < len(self.added) and self.added[at] <= node.end_point[0] + 1

    def new(self, node):
        at = bisect.bisect_left(self.added, node.start_point[0] + 1)
        return at < len(self.added) and self.added[at] == node.start_point[0] + 1

    def text(self, node):
        return self.data[node.start_byte:node.end_byte].decode("utf8", "replace")

    def read_python_imports(self, text):
        for m in PYTHON_IMPORT.finditer(text):
            names = re.sub(r"#[^\n]*", "", m[2] or m[3] or "").strip("() \n\\")
            for part in names.split(","):
                words = part.split()
                if not words or not re.fullmatch(r"[\w.]+", words[0]):
                    continue
                alias = words[2] if len(words) == 3 and words[1] == "as" else words[0]
                module = m[1].split(".") if m[1] else []
                self.imports[alias] = module + words[0].split(".")

    def read_rust_imports(self, text):
        def expand(prefix, tree):
            tree = tree.strip()
            head, brace, rest = tree.partition("{")
            if brace:
                depth, part = 0, ""
                for c in rest.rsplit("}", 1)[0] + ",":
                    depth += (c == "{") - (c == "}")
                    if c == "," and not depth:
                        expand(prefix + [s for s in head.strip().split("::") if s], part)
                        part = ""
                    else:
                        part += c
                return
            path, _, alias = tree.partition(" as ")
            segments = prefix + [s.strip() for s in path.split("::") if s.strip()]
            if not segments:
                return
            if segments[-1] == "*":
                self.globs |= self.internal(segments)
            else:
                if segments[-1] == "self":
                    segments.pop()
                if segments:
                    self.imports[alias.strip() or segments[-1]] = segments
        for m in RUST_IMPORT.finditer(re.sub(r"//[^\n]*", "", text)):
            expand([], m[2])

    def internal(self, segments):
        if self.python:
            return segments[0] == "" or segments[0] in self.base.roots
        return segments[0] in ("crate", "self", "super") or segments[0] in self.base.roots

    def see(self, place, how):
        if place and how == "import" and place[1] in self.before:
            return  # an import that is only written differently
        if place and WEIGHT[how] > WEIGHT.get(self.found.get(place), 0):
            self.found[place] = how

    def bare(self, name):
        """What a name that stands alone means in this file."""
        if name in self.imports:
            return self.by_path(self.imports[name])
        here = self.base.top(name, self.path)
        if here:
            return here[0] if len(here) == 1 else None
        if self.globs and not self.python:
            places = self.base.top(name, family(self.path))
            return places[0] if len(places) == 1 and name not in self.standard else None
        return None

    def by_path(self, segments):
        if not self.internal(segments):
            return None
        return placed(self.base.top(segments[-1], family(self.path)), segments[:-1])

    def path_use(self, segments, how):
        """`owner.name`, `module.name` or `a::b::name`, with the owner where the path names one."""
        name = segments[-1]
        if len(segments) == 1:
            return self.see(self.bare(name), how)
        if segments[0] in self.imports:
            segments = self.imports[segments[0]] + segments[1:]
            known = self.internal(segments)
        elif not self.python and self.internal(segments):
            known = True
        else:
            known = len(segments) == 2 and CAPITAL.match(segments[0])
            if not known:
                return
        if not known:
            return
        owner = segments[-2]
        if CAPITAL.match(owner):
            place = self.by_path(segments[:-1]) if len(segments) > 2 and self.internal(segments) else self.bare(owner)
            if place and place in self.base.types:
                self.see(place, "import" if how == "import" else "type" if how != "base" else "base")
                methods = self.base.of_owner(place, name)
                if len(methods) == 1 and how in ("call", "decorator"):
                    self.see(methods[0], "call")
            return
        place = self.by_path(segments)
        if place and (self.python or len(segments) > 1):
            self.see(place, how)

    def method_use(self, receiver, name):
        if receiver in ("self", "cls", "super()"):
            places = self.base.methods(name, self.path)
            if len(places) != 1:
                places = self.base.methods(name, family(self.path))
            if len(places) == 1 and name not in self.standard:
                self.see(places[0], "call")
            return
        places = self.base.named(name, family(self.path))
        if len(places) == 1 and "." in places[0][1] and name not in self.standard \
                and len(name) >= 6 and ("_" in name.strip("_") or len(name) >= 12):
            # A library's object may have a method of that name: the file must speak of the owner, or the receiver be called like it.
            owner = places[0][1].split(".")[-2]
            called = re.sub(r"\W|_", "", re.split(r"[.\s]", re.sub(r"\(.*\)|\?", "", receiver, flags=re.S).strip("."))[-1]).lower()
            if places[0][0] == self.path or owner in self.words or len(called) >= 3 and called in owner.lower():
                self.see(places[0], "method")

    def read(self):
        stack = [self.root]
        visit = {".py": self.python_node, ".rs": self.rust_node}.get(family(self.path), self.plain_node)
        while stack:
            node = stack.pop()
            if self.touched(node):
                if visit(node) is not False:
                    stack.extend(node.children)

    def python_node(self, node):
        kind = node.type
        if kind == "comment":
            return False
        if kind in ("function_definition", "class_definition"):
            name = node.child_by_field_name("name")
            if name is not None and self.new(name):
                self.defined.add(self.text(name))
                bases = node.child_by_field_name("superclasses")
                for base in bases.named_children if bases is not None else ():
                    if base.type == "subscript":
                        base = base.child_by_field_name("value")
                    if base.type in ("identifier", "attribute"):
                        self.path_use(self.text(base).split("."), "base")
        elif kind == "import_from_statement":
            if not self.path.endswith("__init__.py"):
                for child in node.children_by_field_name("name"):
                    if self.new(child):
                        alias = child.child_by_field_name("alias") or child
                        self.see(self.bare(self.text(alias)), "import")
            return False
        elif kind == "decorator" and self.new(node):
            inner = node.named_children[0]
            inner = inner.child_by_field_name("function") if inner.type == "call" else inner
            if inner.type in ("identifier", "attribute"):
                self.path_use(self.text(inner).split("."), "decorator")
        elif kind == "call":
            function = node.child_by_field_name("function")
            if not self.new(function) and not (function.type == "attribute" and self.new(function.child_by_field_name("attribute"))):
                return
            if function.type == "identifier":
                self.see(self.bare(self.text(function)), "call")
            elif function.type == "attribute":
                receiver, name = self.text(function.child_by_field_name("object")), self.text(function.child_by_field_name("attribute"))
                head = receiver.split(".")[0]
                if re.fullmatch(r"[\w.]+", receiver) and (head in self.imports or CAPITAL.match(head)):
                    self.path_use(receiver.split(".") + [name], "call")
                else:
                    self.method_use(re.sub(r"^super\(.*\)$", "super()", receiver), name)
        elif kind == "attribute" and self.new(node):
            text = self.text(node)
            if re.fullmatch(r"[\w.]+", text) and CAPITAL.match(text.rsplit(".", 1)[1]) and text.split(".")[0] in self.imports:
                self.path_use(text.split("."), "type")
        elif kind == "identifier" and self.new(node):
            name = self.text(node)
            if CAPITAL.match(name):
                place = self.bare(name)
                if place in self.base.types:
                    self.see(place, "type")

    def rust_node(self, node):
        kind = node.type
        if kind in ("line_comment", "block_comment", "string_literal", "raw_string_literal", "attribute_item", "inner_attribute_item"):
            return False
        if kind in ("function_item", "struct_item", "enum_item", "trait_item", "function_signature_item"):
            name = node.child_by_field_name("name")
            if name is not None and self.new(name):
                self.defined.add(self.text(name))
        elif kind == "use_declaration":
            if not re.search(r"(^|/)(lib|mod)\.rs$", self.path) and not self.text(node).startswith("pub"):
                for word in re.findall(r"\w+", "\n".join(self.text(node).split("\n"))) if self.new(node) else ():
                    if word in self.imports:
                        self.see(self.bare(word), "import")
            return False
        elif kind == "impl_item" and self.new(node):
            trait = node.child_by_field_name("trait")
            if trait is not None:
                self.path_use(re.sub(r"<.*", "", self.text(trait), flags=re.S).split("::"), "base")
            return
        elif kind == "call_expression":
            function = node.child_by_field_name("function")
            if function.type == "generic_function":
                function = function.child_by_field_name("function")
            if function.type == "identifier" and self.new(function):
                self.see(self.bare(self.text(function)), "call")
            elif function.type == "scoped_identifier" and self.new(function):
                self.scoped(function, "call")
            elif function.type == "field_expression":
                field = function.child_by_field_name("field")
                if field is not None and self.new(field):
                    self.method_use(self.text(function.child_by_field_name("value")), self.text(field))
        elif kind in ("scoped_identifier", "scoped_type_identifier") and self.new(node):
            self.scoped(node, "type")
            return False
        elif kind in ("type_identifier", "identifier") and self.new(node):
            name = self.text(node)
            if CAPITAL.match(name):
                place = self.bare(name)
                if place in self.base.types:
                    self.see(place, "type")

    def plain_node(self, node):
        """Languages whose imports are not read: a name counts that the project defines once, or once in this directory."""
        kind = node.type
        if "comment" in kind or "string" in kind and kind != "template_string" or kind in ("import_declaration", "using_directive"):
            return False
        if kind not in NAMES or not self.new(node):
            return
        name, parent = self.text(node), node.parent
        if DEFINES.search(parent.type) and parent.child_by_field_name("name") == node:
            self.defined.add(name)
            return
        places = self.base.named(name, family(self.path))
        beside = [p for p in places if os.path.dirname(p[0]) == os.path.dirname(self.path)]
        place = places[0] if len(places) == 1 else beside[0] if len(beside) == 1 else None
        if place in self.base.types:
            heir = parent.type in HERITAGE or parent.parent is not None and parent.parent.type in HERITAGE
            if len(name) >= 5 and self.base.count(name) >= 2:
                self.see(place, "base" if heir else "type")
        elif place and len(name) >= 8 and re.search(r"[a-z][A-Z]|_", name.strip("_")):
            is_called = self.data[node.end_byte:node.end_byte + 1] == b"(" or self.path.endswith(".rb")
            if is_called:
                self.see(place, "call" if "." not in place[1] else "method")

    def scoped(self, node, how):
        segments = re.sub(r"<.*?>", "", self.text(node), flags=re.S).split("::")
        segments = [s.strip() for s in segments if s.strip()]
        if segments and all(re.fullmatch(r"\w+", s) for s in segments) and segments[0] != "Self":
            if how == "type" and not CAPITAL.match(segments[-1]):
                return
            self.path_use(segments, how)
        elif len(segments) == 2 and segments[0] == "Self" and how == "call":
            self.method_use("self", segments[1])


def wanted(message, changes, dull, noise):
    """The source files that a commit changes or adds, or nothing where it is not of the kind that makes a task."""
    subject = message.split("\n", 1)[0]
    if len(subject) < 25 or dull.search(subject) or MOVED.search(subject):
        return []
    sources = [(status, path, old) for status, path, old in changes
               if family(path) and not noise.search(path) and not TESTS.search(path)]
    if any(status == "D" for status, *_ in sources) or not 1 <= len(sources) <= MOST_FILES:
        return []
    return sources


def leaned_on(repository, parsers, base, commit, sources, patch):
    """({place: how} that the added lines use, names that they define)."""
    found, defined, lines = {}, set(), 0
    for status, path, old in sources:
        added = {h.new + i for h in patch.get(path, ()) for i, text in enumerate(h.added) if text.strip()}
        if not added:
            continue
        data = repository.blob(f"{commit}:{path}")
        if path.endswith(".rs"):
            tests = first_test_line(data)
            added = {line for line in added if line < tests}
        lines += len(added)
        source = Source(base, path, data, parsers[os.path.splitext(path)[1]].parse(data).root_node, added,
                        repository.blob(old) if status == "M" else b"")
        source.read()
        defined |= source.defined
        for place, how in source.found.items():
            if WEIGHT[how] > WEIGHT.get(found.get(place), 0):
                found[place] = how
    return found, defined, lines


def most_edited(repository, sources, patch, edited):
    """Those that the commit adds most to come first."""
    def weight(place):
        old = next(old for _, path, old in sources if path == place[0])
        inside = [(first, last) for first, last, name, _ in repository.spans(place[0], old) if name == place[1]]
        return sum(h.n_new for h in patch[place[0]] if any(first <= h.old <= last for first, last in inside))
    return sorted(edited, key=weight, reverse=True)


def truths(base, found, defined, edited):
    kept = {}
    for (path, name), how in found.items():
        last = name.rsplit(".", 1)[-1]
        if len(last) < 4 or last.startswith("__") or last in defined or (last in base.common and how != "base"):
            continue
        kept[path, name] = how
    if not FEWEST <= len(kept) <= TOO_WIDE:
        return []
    edited = [place for place in edited if place not in kept and len(place[1].rsplit(".", 1)[-1]) >= 4
              and not place[1].rsplit(".", 1)[-1].startswith("__")][:MOST_EDITED]
    order = sorted(kept, key=lambda p: (base.count(p[1].rsplit(".", 1)[-1]) / WEIGHT[kept[p]], p))
    return order[:MOST_TRUTHS - len(edited)] + edited


def tasks(repository, name, base_id, span, most, counted, rules):
    """`counted` keeps what was counted in a blob from one base to the next."""
    base = Base(repository, repository.tree(base_id), rules.noise, counted)
    candidates = []
    for commit, message, changes in repository.commits(span):
        sources = wanted(message, changes, rules.dull, rules.noise)
        if sources:
            candidates.append((commit, message, sources))
    step = max(1, len(candidates) // (most * 12))
    candidates = candidates[::step]
    out = []
    for start in range(0, len(candidates), 60):
        chunk = candidates[start:start + 60]
        patches = repository.patches([c[0] for c in chunk])
        for commit, message, sources in chunk:
            patch = patches.get(commit, {})
            hunks = [h for _, path, _ in sources for h in patch.get(path, ())]
            plus, minus = sum(h.n_new for h in hunks), sum(h.n_old for h in hunks)
            if not FEWEST_LINES <= plus <= MOST_LINES or minus > plus * 0.5:
                continue
            found, defined, lines = leaned_on(repository, rules.parsers, base, commit, sources, patch)
            # Code that defines nothing new is an edit, which the other kind of task already tells of.
            if lines < FEWEST_LINES or not defined:
                continue
            edited = rules.edited_symbols(repository, base.tree, [(path, old) for status, path, old in sources if status == "M"], patch)
            truth = truths(base, found, defined, most_edited(repository, sources, patch, [(p, n) for p, n, _ in edited]))
            if truth:
                out.append({"id": f"{name}-{commit[:10]}-uses", "kind": "uses", "repo": name, "base": base_id, "commit": commit,
                            "description": rules.cleaned(TEMPLATE.sub("", message)), "truth": [{"file": p, "name": n} for p, n in truth],
                            "how": [found.get(p, "edited") for p in truth]})
    out.sort(key=lambda t: rules.chance(t["id"]))
    return out[:most]
