"""The ranker's text file: written from a LightGBM booster, read and applied with numpy."""
import numpy as np

HEADER = "knowing-ranker 1"


def export(boosters, features, path):
    """The trees of some boosters, one after the other: (text, what its leaves are multiplied by, a power of two so that it
    is exact). One line a node, in preorder; thresholds and leaves as the shortest decimal that reads back the same."""
    trees = [tree for text, weight in boosters for tree in trees_of(text, weight)]
    out = [HEADER, "features " + " ".join(features), f"trees {len(trees)}"]
    for tree in trees:
        out += tree
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n")


def trees_of(text, weight=1.0):
    """The lines of each tree of a booster's text, its leaves multiplied."""
    out = []
    for block in text.split("\nTree=")[1:]:
        tree = dict(line.split("=", 1) for line in block.split("\n\n", 1)[0].split("\n") if "=" in line)
        out.append(_tree({**tree, "leaf_value": " ".join(repr(weight * float(it)) for it in tree["leaf_value"].split())}))
    return out


def _tree(tree):
    numbers = lambda key, kind: [kind(x) for x in tree[key].split()] if tree.get(key) else []
    leaves, n = numbers("leaf_value", float), int(tree["num_leaves"])
    if n == 1:
        return ["tree 1", f"leaf {leaves[0]!r}"]
    feature, threshold, decision = numbers("split_feature", int), numbers("threshold", float), numbers("decision_type", int)
    left, right = numbers("left_child", int), numbers("right_child", int)
    weight = numbers("leaf_count", float)
    if any(d & 1 or (d >> 2) & 3 for d in decision):
        raise SystemExit("the model has categorical splits or treats missing values: train with use_missing=false")
    mean = {}

    def below(node):
        if node < 0:
            return weight[~node], weight[~node] * leaves[~node]
        (a, x), (b, y) = below(left[node]), below(right[node])
        mean[node] = (x + y) / max(a + b, 1.0)
        return a + b, x + y

    below(0)
    out, todo = [f"tree {n}"], [0]
    while todo:
        node = todo.pop()
        if node < 0:
            out.append(f"leaf {leaves[~node]!r}")
        else:
            out.append(f"split {feature[node]} {threshold[node]!r} {float(f'{mean[node]:.6g}')!r}")
            todo += [right[node], left[node]]
    return out


class Model:
    def __init__(self, path):
        lines = open(path).read().split("\n")
        if lines[0] != HEADER:
            raise SystemExit(f"{path}: not a ranker of this format")
        self.features = lines[1].split()[1:]
        self.trees, at = [], 3
        for _ in range(int(lines[2].split()[1])):
            at += 1
            feature, number, right, open_splits = [], [], [], []
            while True:
                words = lines[at].split()
                at += 1
                if words[0] == "split":
                    open_splits.append(len(feature))
                    feature.append(int(words[1])), number.append(float(words[2])), right.append(0)
                else:
                    feature.append(0), number.append(float(words[1])), right.append(0)
                    if not open_splits:
                        break
                    right[open_splits.pop()] = len(feature)
            self.trees.append((np.array(feature), np.array(number), np.array(right)))

    def score(self, matrix, first=0, end=None):
        """By all trees, or by those of a range."""
        scores, index = np.zeros(len(matrix)), np.arange(len(matrix))
        for feature, number, right in self.trees[first:end]:
            at = np.zeros(len(matrix), np.int64)
            active = index
            while len(active):
                active = active[right[at[active]] > 0]
                here = at[active]
                goes_left = matrix[active, feature[here]].astype(np.float64) <= number[here]
                at[active] = np.where(goes_left, here + 1, right[here])
            scores += number[at]
        return scores
