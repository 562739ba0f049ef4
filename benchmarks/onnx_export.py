"""Do exported models predict what ours predict, through onnxruntime?

    python benchmarks/onnx_export.py             100 random models, 10,000 rows each: some minutes
    python benchmarks/onnx_export.py --quick     does it run

Models of all kinds that are exported are trained on random tables and asked about rows with missing values, infinities and categories that
training never saw. Compared are raw scores and predictions in float64, in float32, and with sums in any order. It needs onnx and
onnxruntime: pip install 'woodwind[onnx]'.
"""

from __future__ import annotations

import time
import warnings
from collections import defaultdict
from typing import Any

import numpy as np

from common import Report, arguments

MODELS, ROWS = 100, 10_000


def session_of(made: Any, threads: int) -> Any:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, 3
    return ort.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])


def answers(model: Any, table: Any, threads: int, **how: Any) -> tuple[dict[str, Any], float]:
    """What onnxruntime gives by name, and how long it takes."""
    session = session_of(model.to_onnx(**how), threads)
    inputs = model.onnx_inputs(table, dtype=how.get("dtype", "float64"))
    began = time.perf_counter()
    found = session.run(None, inputs)
    taken = time.perf_counter() - began
    return {one.name: values for one, values in zip(session.get_outputs(), found, strict=True)}, taken


def relative(found: Any, wanted: Any) -> float:
    """The largest difference, in units of the largest number of its row or of one, whichever is larger."""
    size = np.maximum(np.abs(wanted).max(axis=1, keepdims=True), 1.0)
    return float((np.abs(found.astype(np.float64) - wanted) / size).max())


def single(table: Any) -> Any:
    """The table with numbers that single precision has."""
    return table.apply(lambda column: column.astype("float32") if column.dtype.kind == "f" else column)


def main() -> None:
    options = arguments(__doc__ or "")
    from tests.reference.exported_models import expected, is_exact, random_case

    report = Report("onnx_export", "Exported models through onnxruntime", options)
    import onnx
    import onnxruntime

    report.say(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}.\n")
    models, rows = (6, 300) if options.quick else (MODELS, ROWS)
    kinds: dict[str, list[tuple[bool, float, float, float, float, float]]] = defaultdict(list)
    labels = times = times_any = 0.0
    for seed in range(models):
        model, table = random_case(seed, rows)
        wanted = expected(model, table)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, taken = answers(model, table, options.threads)
            loose, taken_any = answers(model, table, options.threads, exact_sums=False)
            narrow = single(table)
            small, _ = answers(model, narrow, options.threads, dtype="float32")
            of_narrow = expected(model, narrow)
        times, times_any = times + taken, times_any + taken_any
        if "label" in wanted:
            labels += float((found["label"] != wanted["label"]).sum())
        numbers = [name for name in wanted if name != "label"]
        raw = "raw_score" if "raw_score" in wanted else "probabilities"
        kinds[type(model).__name__].append((
            is_exact(model), float(np.abs(found[raw] - wanted[raw]).max()), relative(found[raw], wanted[raw]),
            max(relative(found[name], wanted[name]) for name in numbers), max(relative(small[name], of_narrow[name]) for name in numbers),
            max(relative(loose[name], wanted[name]) for name in numbers),
        ))  # fmt: skip
    report.say(
        f"{models} random models, {rows:,} rows each. Differences are the largest, relative ones to the larger of one and the row.\n"
    )
    lines = []
    for name, found_all in sorted(kinds.items()):
        worst = [f"{max(one[k] for one in found_all):.1e}".replace("0.0e+00", "0") for k in range(1, 6)]
        lines.append([name, str(len(found_all)), *worst])
    columns = ["estimator", "models", "raw score, float64", "relative", "predictions", "predictions, float32", "sums in any order"]
    report.table(columns, lines)
    every = [one for found_all in kinds.values() for one in found_all]
    exact = [one for one in every if one[0]]
    report.say(
        f"{sum(one[1] == 0.0 for one in every)} of {len(every)} models have the same bits in all raw scores; of the {len(exact)} that "
        f"add up nothing but trees and members, {sum(one[1] == 0.0 for one in exact)}. Labels that differ: {labels:.0f}. "
        f"All models together took {times:.1f} s, with sums in any order {times_any:.1f} s, on a busy machine.\n"
    )
    report.goal("largest difference of raw scores of trees in float64", max(one[1] for one in exact), 0.0, unit="", at_most=True)
    report.goal("largest relative difference in float32", max(one[4] for one in every), 1e-6, unit="", at_most=True)
    report.save()


if __name__ == "__main__":
    main()
