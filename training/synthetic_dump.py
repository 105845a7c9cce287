"""A small made-up dump in the form of `knowing-bench features`, to try `train.py` without any index.

usage: synthetic_dump.py OUT [TASKS]
"""
import json, os, sys
import numpy as np

out, n_tasks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
os.makedirs(out, exist_ok=True)
draw = np.random.default_rng(5)
names = ["bm25_name", "bm25_body", "bm25_history", "name_exact", "name_coverage", "path_match", "kind_function", "size_lines"]
json.dump({"format": 1, "features": names}, open(os.path.join(out, "features.json"), "w"))
first = 0
with open(os.path.join(out, "features.bin"), "wb") as rows, open(os.path.join(out, "tasks.jsonl"), "w") as tasks:
    for i in range(n_tasks):
        n = int(draw.integers(20, 120))
        matrix = draw.exponential(1.0, (n, len(names)))
        matrix[:, 3] = draw.random(n) < 0.1
        matrix[:, 6] = draw.random(n) < 0.7
        matrix = matrix[np.argsort(-(matrix[:, 0] + matrix[:, 1]), kind="stable")].astype("<f4")
        hidden = matrix[:, 0] * (1 + matrix[:, 3]) + 0.5 * matrix[:, 1] + np.minimum(matrix[:, 2], 1)
        true = sorted(int(r) for r in np.argsort(-(hidden + draw.normal(0, 0.7, n)))[:int(draw.integers(1, 4))]) if draw.random() > 0.1 else []
        truth = [{"name": f"symbol_{r}", "file": f"src/file_{r // 5}.py"} for r in true] or [{"name": "absent", "file": "src/absent.py"}]
        rows.write(matrix.tobytes())
        tasks.write(json.dumps({"id": f"t{i}", "repo": f"owner/repo{i % 12}", "kind": ("commit", "issue", "docs")[i % 3], "first_row": first,
                                "n_rows": n, "n_truth": len(truth), "hits": [[r, t] for t, r in enumerate(true)], "truth": truth,
                                "names": [f"symbol_{r}" for r in range(n)], "files": [f"src/file_{r // 5}.py" for r in range(n)]}) + "\n")
        first += n
