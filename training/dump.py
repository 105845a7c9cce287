"""The candidates of many tasks with their features, as `knowing-bench features` writes them."""
import json, os
import numpy as np


class Task:
    def __init__(self, record, dump, truth, kind, is_type):
        self.id, self.repo, self.kind, self.dump = record["id"], record["repo"], record.get("kind") or kind, dump
        self.first, self.n_rows, self.n_truth = record["first_row"], record["n_rows"], record["n_truth"]
        self.names, self.files, self.truth = record["names"], record["files"], truth
        self.labels = np.zeros(self.n_rows, np.int8)
        for row, _ in record["hits"]:
            self.labels[row] = 1
        self.n_found = len({truth for _, truth in record["hits"]})
        self.order, self.scores = None, None
        # The column that says so.
        self.is_type = is_type

    @property
    def features(self):
        return self.dump[self.first:self.first + self.n_rows]

    def graded(self):
        """2 for a hit, 1 for its relatives: the members of a type that is one, the type of a member that is one."""
        labels = self.labels * 2
        hits = [self.names[i] for i in np.flatnonzero(labels)]
        types = np.asarray(self.features[:, self.is_type]) > 0
        for i in np.flatnonzero(labels == 0):
            name = self.names[i]
            if any(name.startswith(hit + ".") or types[i] and hit.startswith(name + ".") for hit in hits):
                labels[i] = 1
        return labels


def read(folders, task_files):
    """(names of the features, tasks). The truth is in the dump or, by id, in the task files."""
    truth = {}
    for path in task_files:
        for line in open(path):
            task = json.loads(line)
            truth[task["id"]] = task["truth"]
    names, tasks = None, []
    for folder in folders:
        head = json.load(open(os.path.join(folder, "features.json")))
        if head["format"] != 1:
            raise SystemExit(f"{folder}: format {head['format']} of the dump is not known")
        if names not in (None, head["features"]):
            raise SystemExit(f"{folder}: other features than in {folders[0]}")
        names = head["features"]
        path = os.path.join(folder, "features.bin")
        if os.path.getsize(path) % (4 * len(names)):
            raise SystemExit(f"{path}: not a whole number of rows")
        matrix = np.memmap(path, "<f4", "r").reshape(-1, len(names)) if os.path.getsize(path) else np.zeros((0, len(names)), "<f4")
        for line in open(os.path.join(folder, "tasks.jsonl")):
            record = json.loads(line)
            told = record.get("truth") or truth.get(record["id"])
            if told is None:
                raise SystemExit(f"{folder}: the truth of task {record['id']} is neither in the dump nor in --tasks")
            truths, kind = [(t["name"], t.get("file")) for t in told], os.path.basename(os.path.normpath(folder))
            tasks.append(Task(record, matrix, truths, kind, names.index("is_type")))
    return names, tasks


def order_by(model, names, tasks):
    """Gives each task the scores of its candidates by a ranker, and their order."""
    if model.features != names:
        raise SystemExit("the ranker that orders the candidates is of other features than the dump")
    for start in range(0, len(tasks), 200):
        some = [t for t in tasks[start:start + 200] if t.n_rows]
        scores = model.score(np.concatenate([np.asarray(t.features) for t in some])) if some else np.zeros(0)
        for task, own in zip(some, np.split(scores, np.cumsum([t.n_rows for t in some])[:-1])):
            task.order, task.scores = np.argsort(-own, kind="stable"), own


def rows(tasks, columns, most_rows, graded):
    """(matrix, labels, rows of each task, tasks) of the tasks that have anything to learn from. Of a task's candidates those
    that hit are kept and `most_rows` others: two thirds from the top, the rest evenly from below, which must be seen too.
    What is at the top is the dump's order or, better, that of an earlier ranker: what misled it teaches most."""
    kept, picks, told = [], [], []
    for task in tasks:
        if task.labels.any():
            told.append(task.graded() if graded else task.labels)
            pick = np.arange(task.n_rows) if task.order is None else task.order
            if most_rows and task.n_rows > most_rows:
                first = most_rows * 2 // 3
                below = pick[np.linspace(first, task.n_rows - 1, most_rows - first).astype(int)]
                pick = np.union1d(np.union1d(pick[:first], below), np.flatnonzero(told[-1]))
            kept.append(task)
            picks.append(pick)
    total = sum(len(p) for p in picks)
    matrix, labels, at = np.empty((total, len(columns)), np.float32), np.empty(total, np.int8), 0
    for task, pick, own in zip(kept, picks, told):
        block = np.asarray(task.features)[pick]
        matrix[at:at + len(pick)] = block if len(columns) == block.shape[1] else block[:, columns]
        labels[at:at + len(pick)] = own[pick]
        at += len(pick)
    return matrix, labels, picks, kept
