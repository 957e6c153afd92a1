"""Compares a folder of fixtures with one that was made anew: graphs by their nodes and weights, tables by their numbers.
Processors round differently, so numbers may differ by a little; hashes of files then differ, too, and are left out."""

import argparse
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

TOLERANCE = 1e-3
LEFT_OUT = {"README.md"}
# Files of numbers alone, by their endings or names.
NUMBERS = {".f32": "<f4", ".data": "<f4", "embed_tokens.bin": "<f2"}
HASH = re.compile(r"^[0-9a-f]{64}$")


def differs(old, new):
    """Why two files are not alike; None = they are."""
    if old.read_bytes() == new.read_bytes():
        return None
    if old.suffix in (".onnx", ".ort"):
        return graph_differs(load(old), load(new))
    if old.suffix == ".json":
        return value_differs(json.loads(old.read_text("utf-8")), json.loads(new.read_text("utf-8")))
    kind = NUMBERS.get(old.suffix) or NUMBERS.get(old.name)
    if kind is not None:
        return numbers_differ(np.fromfile(old, kind), np.fromfile(new, kind))
    return "it has other bytes"


def load(path):
    """A graph; onnxruntime writes its own format, whose bytes differ from run to run, as .onnx."""
    if path.suffix == ".onnx":
        return onnx.load(path)
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.optimized_model_filepath = str(Path(folder, "graph.onnx"))
        options.log_severity_level = 3
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return onnx.load(options.optimized_model_filepath)


def graph_differs(old, new):
    if [node.op_type for node in old.graph.node] != [node.op_type for node in new.graph.node]:
        return "it has other operations"
    weights = [[numpy_helper.to_array(tensor) for tensor in model.graph.initializer] for model in (old, new)]
    if len(weights[0]) != len(weights[1]):
        return "it has other constants"
    return next((why for pair in zip(*weights, strict=True) if (why := numbers_differ(*pair))), None)


def numbers_differ(old, new):
    if old.shape != new.shape:
        return f"{new.shape} numbers instead of {old.shape}"
    # One step of an 8-bit weight is the least by which it can differ.
    allowed = 1 if old.dtype.itemsize == 1 else TOLERANCE
    worst = np.abs(old.astype(np.float64) - new.astype(np.float64)).max(initial=0)
    return None if worst <= allowed else f"numbers differ by {worst:.2g}"


def value_differs(old, new):
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        return next((f"{key}: {why}" for key in old if (why := value_differs(old[key], new[key]))), None)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return next((why for pair in zip(old, new, strict=True) if (why := value_differs(*pair))), None)
    if isinstance(old, float) and isinstance(new, (float, int)):
        return None if abs(old - new) <= TOLERANCE else f"{new} instead of {old}"
    if isinstance(old, str) and isinstance(new, str) and HASH.match(old) and HASH.match(new):
        return None
    return None if old == new else f"{str(new)[:60]} instead of {str(old)[:60]}"


def files_in(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.name not in LEFT_OUT}


def main():
    parser = argparse.ArgumentParser(prog="compare_fixtures.py", description=__doc__)
    parser.add_argument("kept", type=Path)
    parser.add_argument("made", type=Path)
    arguments = parser.parse_args()
    kept, made = files_in(arguments.kept), files_in(arguments.made)
    problems = [f"{path} is not made any more" for path in kept - made] + [f"{path} is new" for path in made - kept]
    for path in sorted(kept & made):
        why = differs(arguments.kept / path, arguments.made / path)
        if why is not None:
            problems.append(f"{path}: {why}")
    for problem in problems:
        print(problem)
    print(f"{arguments.kept}: {len(kept)} files, {len(problems)} problems")
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
