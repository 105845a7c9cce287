"""A clone's history, read with as few git processes as possible: commits, patches, blobs and the spans of symbols."""
import os, re, subprocess


class Hunk:
    def __init__(self, old, n_old, new, n_new):
        self.old, self.n_old, self.new, self.n_new = old, n_old, new, n_new
        self.added = []


class Repository:
    def __init__(self, git_dir, spans):
        self.git_dir, self.spans_of, self.known = git_dir, spans, {}
        self.batch = subprocess.Popen(["git", "--git-dir", git_dir, "cat-file", "--batch"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def git(self, *args, stdin=None):
        run = subprocess.run(["git", "--git-dir", self.git_dir, "-c", "core.quotepath=off", *args],
                             input=stdin, capture_output=True)
        return run.stdout.decode("utf8", "replace")

    def blob(self, oid):
        self.batch.stdin.write(oid.encode() + b"\n")
        self.batch.stdin.flush()
        head = self.batch.stdout.readline().split()
        if len(head) != 3:
            return b""
        size = int(head[2])
        data = self.batch.stdout.read(size)
        self.batch.stdout.read(1)
        return data if head[1] == b"blob" else b""

    def spans(self, path, oid):
        key = (oid, os.path.splitext(path)[1])
        if key not in self.known:
            self.known[key] = self.spans_of(path, self.blob(oid))
        return self.known[key]

    def tree(self, commit):
        """{path: blob id} of a commit."""
        out = {}
        for line in self.git("ls-tree", "-r", commit).split("\n"):
            if line[:6] in ("100644", "100755"):
                head, path = line.split("\t", 1)
                out[path] = head.split()[2]
        return out

    def bases(self, distances):
        """First-parent commits with about so many ordinary commits after them, nearest first."""
        chain = self.git("rev-list", "--first-parent", "HEAD").split()
        total = int(self.git("rev-list", "--no-merges", "--count", "HEAD") or 0)
        out, last = [], 0
        for wanted in distances:
            wanted = min(wanted, int(total * 0.85))
            if out and wanted < 1.4 * last:
                break
            last = wanted
            low, high = 0, len(chain) - 1
            while low < high:
                middle = (low + high) // 2
                after = int(self.git("rev-list", "--no-merges", "--count", f"{chain[middle]}..HEAD"))
                if after < wanted:
                    low = middle + 1
                else:
                    high = middle
            if chain[low] not in out:
                out.append(chain[low])
        return out

    def commits(self, span):
        """(id, message, [(status, path, old blob)]) of the ordinary commits of a range, oldest first."""
        text = self.git("log", "--no-merges", "--reverse", "--raw", "-r", "--no-renames", "--abbrev=40",
                        "--format=%x01%H%x02%P%x02%B%x03", span)
        for record in text.split("\x01")[1:]:
            head, _, raw = record.partition("\x03")
            commit, parents, message = (head.split("\x02", 2) + ["", ""])[:3]
            if not parents:
                continue
            changes = []
            for line in raw.split("\n"):
                if line.startswith(":"):
                    meta, _, path = line.partition("\t")
                    meta = meta.split()
                    changes.append((meta[4], path, meta[2]))
            yield commit, message.strip(), changes

    def patches(self, commits):
        """{commit: {path: [Hunk]}} without context lines."""
        text = self.git("diff-tree", "--stdin", "-r", "-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff",
                        stdin=("\n".join(commits) + "\n").encode())
        out, files, hunks, hunk, left, right = {}, None, None, None, 0, 0
        for line in text.split("\n"):
            if hunk is not None and (left or right):
                if line.startswith("-"):
                    left -= 1
                elif line.startswith("+"):
                    right -= 1
                    hunk.added.append(line[1:])
                continue
            if line.startswith("@@ ") and hunks is not None:
                m = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
                hunk = Hunk(int(m[1]), int(m[2] or 1), int(m[3]), int(m[4] or 1))
                left, right = hunk.n_old, hunk.n_new
                hunks.append(hunk)
            elif line.startswith("diff --git "):
                hunks, hunk, old = None, None, None
            elif line.startswith("--- "):
                old = line[6:].rstrip("\t")
            elif line.startswith("+++ "):
                path = old if line == "+++ /dev/null" else line[6:].rstrip("\t")
                hunks = files.setdefault(path, [])
            elif re.fullmatch(r"[0-9a-f]{40}", line):
                files = out.setdefault(line, {})
        return out

    def close(self):
        self.batch.stdin.close()
        self.batch.wait()
