"""Qwen3-ASR as the folder that Trunkline reads. It works offline."""

import argparse
import json
import sys
from pathlib import Path

import cases
import checkpoint
import layout
import reference
import vocabulary
from products import Products

sys.path.append(str(Path(__file__).parent.parent / "common"))
from folders import write_bridge  # noqa: E402

SEEDS = 400


def read_arguments():
    parser = argparse.ArgumentParser(prog="export.py", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="checkpoint with config.json, weights and tokenizer")
    parser.add_argument("out", type=Path, help="where to write; is made, must be empty")
    parser.add_argument("--random", choices=["tiny", "0.6b", "1.7b"], help="random weights instead of a checkpoint")
    parser.add_argument("--aligner", help="folder of Qwen3-ForcedAligner, or random; it goes into OUT/aligner")
    parser.add_argument("--layers", type=int, default=None, help="at most so many layers of a random model")
    parser.add_argument("--seed", type=int, default=0, help="first seed; usable tiny models are looked for")
    parser.add_argument("--dtype", choices=["f32", "f16", "int8", "int4"], default="int8")
    parser.add_argument("--unsigned", action="store_true", help="8-bit weights for processors without VNNI")
    parser.add_argument("--name", default="qwen3-asr", help="the model's name in bridge.json")
    parser.add_argument("--version", default="1", help="its version there")
    parser.add_argument("--licence", default="Apache-2.0")
    parser.add_argument("--cases", type=Path, help="file for what transformers makes of some clips")
    parser.add_argument("--skip-self-test", action="store_true", help="do not compare the graphs with transformers")
    arguments = parser.parse_args()
    if (arguments.folder is None) == (arguments.random is None):
        parser.error("expected a checkpoint's folder, or --random")
    return arguments


def load(arguments):
    """The model, its tokenizer, and what transformers makes of the clips of a tiny one."""
    if arguments.random is None:
        return *checkpoint.read_checkpoint(arguments.folder), None
    if arguments.random != "tiny":
        return *checkpoint.random_model(arguments.random, arguments.layers, arguments.seed), None
    return usable(arguments, "tiny", cases.clips_of)


def load_aligner(arguments):
    """The same for the aligner, with how long its classes are."""
    if arguments.aligner != "random":
        folder = Path(arguments.aligner)
        return *checkpoint.read_checkpoint(folder, is_aligner=True), None, class_ms(folder)
    if arguments.random != "tiny":
        return *checkpoint.random_model("aligner", arguments.layers, arguments.seed), None, layout.CLASS_MS
    return *usable(arguments, "tiny-aligner", cases.alignments_of), layout.CLASS_MS


def usable(arguments, shape, cases_of):
    """A tiny model of the first seed whose cases are clear."""
    for seed in range(arguments.seed, arguments.seed + SEEDS):
        model, tokenizer = checkpoint.random_model(shape, arguments.layers, seed)
        found = cases_of(model, tokenizer)
        if found is not None:
            print(f"{shape}: random weights of seed {seed}")
            return model, tokenizer, found
    raise SystemExit(f"no seed gives a model {shape} that says enough different things")


def class_ms(folder):
    """Milliseconds of a class, as the checkpoint has them."""
    for name in ("processor_config.json", "config.json"):
        path = folder / name
        found = json.loads(path.read_text("utf-8")).get("timestamp_segment_time") if path.exists() else None
        if found is not None:
            return found
    return layout.CLASS_MS


def main():
    arguments = read_arguments()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise SystemExit(f"{out} is not empty")
    model, tokenizer, clips = load(arguments)
    products = Products(arguments.dtype, arguments.unsigned)
    layout.write_recogniser(out, model, tokenizer, products)
    if not arguments.skip_self_test:
        reference.self_test(model.float(), tokenizer, reference.Graphs(out), arguments.dtype)
    config, alignments = model.config, None
    del model
    if arguments.aligner is not None:
        model, tokenizer, alignments, milliseconds = load_aligner(arguments)
        layout.write_aligner(out / "aligner", model, tokenizer, products, milliseconds)
        if not arguments.skip_self_test:
            cases.test_aligner(model.float(), tokenizer, out / "aligner", arguments.dtype)
    languages = list(vocabulary.LANGUAGES)
    write_bridge(out, "qwen3-asr", arguments.name, arguments.version, languages, arguments.licence)
    if arguments.cases is not None:
        if clips is None:
            raise SystemExit("cases are made of --random tiny only")
        found = cases.cases(config, clips, alignments)
        arguments.cases.write_text(json.dumps(found) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"{out}: {size:,} bytes")


if __name__ == "__main__":
    main()
