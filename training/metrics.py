"""Tables of quality: the yardstick's own judgement of ranked candidates, by any grouping of tasks."""
import numpy as np

COLUMNS = (("r10", "R@10"), ("mrr", "MRR"), ("ndcg10", "NDCG@10"), ("acc10", "Acc@10"), ("p10_lenient", "P@10 len."),
           ("file_r10", "file R@10"), ("file_acc5", "file Acc@5"), ("found", "cand. recall"))


def judged(score, task, order):
    """One row of figures for a task whose candidates are ranked in the given order (row numbers, best first)."""
    ranked = [(task.names[i], task.files[i]) for i in order]
    row = score.judge(ranked[:10], task.truth)
    wanted = {f for _, f in task.truth if f}
    first = list(dict.fromkeys(f for _, f in ranked))[:5]
    row["file_acc5"] = float(wanted <= set(first)) if wanted else None
    row["found"] = task.n_found / max(1, task.n_truth)
    return row


def best_first(scores):
    """Ties keep the order of the dump, which is the order of the formula."""
    return np.argsort(-scores, kind="stable")


def mean(rows, key):
    values = [r[key] for r in rows if r[key] is not None]
    return sum(values) / len(values) if values else None


def interval(rows, key="r10", times=500):
    """Half of the width of the 95 % bootstrap interval."""
    values = np.array([r[key] for r in rows if r[key] is not None])
    if len(values) < 2:
        return 0.0
    draws = np.random.default_rng(1).choice(values, (times, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return (high - low) / 2


def table(title, groups):
    """Markdown; `groups` is [(label, rows)]."""
    out = [f"| {title} | tasks | " + " | ".join(label for _, label in COLUMNS) + " |", "|---" * (len(COLUMNS) + 2) + "|"]
    for label, rows in groups:
        cells = []
        for key, _ in COLUMNS:
            value = mean(rows, key) if rows else None
            text = "" if value is None else f"{value:.3f}"
            cells.append(text + (f" ± {interval(rows):.3f}" if key == "r10" and rows else ""))
        out.append(f"| {label} | {len(rows)} | " + " | ".join(cells) + " |")
    return "\n".join(out)
