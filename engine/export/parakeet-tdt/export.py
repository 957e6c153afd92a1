"""Parakeet TDT as the folders that Trunkline, onnx-asr and sherpa-onnx read. It works offline."""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import checkpoint
import graphs
import quantise
import reference

sys.path.append(str(Path(__file__).parent.parent / "common"))
from folders import write_bridge  # noqa: E402

SELF_TEST_SECONDS = (0.4, 1.3, 2.7, 5.0)
CASE_SECONDS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.3, 2.7, 3.1, 4, 5, 6.5, 8, 12, 20, 30)


def read_arguments():
    parser = argparse.ArgumentParser(prog="export.py", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where to write; is made, must be empty")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--checkpoint", type=Path, metavar="FOLDER", help="with config.json, model.safetensors, tokenizer.json")
    source.add_argument("--random", choices=["tiny", "0.6b"], help="random weights in a tiny or in the true shape")
    parser.add_argument("--layers", type=int, default=None, help="encoder layers of a random model (4; 24)")
    parser.add_argument("--seed", type=int, default=0, help="first seed of a random model; usable ones are looked for")
    parser.add_argument("--layout", choices=["istupakov", "sherpa"], default="istupakov")
    parser.add_argument("--weights", choices=["float", "int8", "both"], default="int8")
    parser.add_argument("--name", default="parakeet-tdt", help="the model's name in bridge.json")
    parser.add_argument("--version", default="1", help="its version there")
    parser.add_argument("--languages", default="", help="BCP-47, separated by commas")
    parser.add_argument("--licence", default="CC-BY-4.0")
    parser.add_argument("--cases", type=Path, help="file for what transformers makes of 22 clips of 0.4 to 30 s")
    parser.add_argument("--skip-self-test", action="store_true", help="do not compare the graphs with transformers")
    return parser.parse_args()


def load(arguments):
    """The model, its feature extractor, its pieces and the seed that it was made of."""
    if arguments.checkpoint is not None:
        return *checkpoint.read_checkpoint(arguments.checkpoint), None
    is_tiny = arguments.random == "tiny"
    layers = arguments.layers or (4 if is_tiny else 24)
    if not is_tiny:
        return *checkpoint.random_model("0.6b", layers, arguments.seed), arguments.seed
    for seed in range(arguments.seed, arguments.seed + 200):
        model, extractor, pieces = checkpoint.random_model("tiny", layers, seed)
        if reference.random_is_usable(model, extractor, CASE_SECONDS):
            return model, extractor, pieces, seed
    raise SystemExit("no seed gives a model that says 12 different tokens")


def write_layout(arguments, model, pieces):
    """Writes all files but bridge.json."""
    out = arguments.out
    with tempfile.TemporaryDirectory(dir=out) as temporary:
        folder = Path(temporary)
        names = graphs.export_graphs(model, folder, arguments.layout)
        for name in names:
            quantise.gather_weights(folder, name)
            if arguments.weights != "float":
                quantise.quantise(folder, name)
        kept = {"float": ["", ".data"], "int8": [], "both": ["", ".data"]}[arguments.weights]
        wanted = [f"{name}.onnx{end}" for name in names for end in kept]
        wanted += [] if arguments.weights == "float" else [f"{name}.int8.onnx" for name in names]
        if arguments.layout == "sherpa":
            for name in wanted:
                if name.startswith("encoder") and name.endswith(".onnx"):
                    quantise.describe(folder / name, reference.numbers_of(model))
        if arguments.random == "tiny":
            for name in wanted:
                if name.endswith(".onnx"):
                    quantise.shorten_names(folder / name)
        for name in wanted:
            if (folder / name).exists():
                shutil.move(folder / name, out / name)
    tokens = "vocab.txt" if arguments.layout == "istupakov" else "tokens.txt"
    lines = [f"{piece} {index}\n" for index, piece in enumerate([*pieces, checkpoint.BLANK])]
    (out / tokens).write_text("".join(lines), encoding="utf-8")
    if arguments.layout == "istupakov":
        config = {
            "model_type": "nemo-conformer-tdt",
            "features_size": model.config.encoder_config.num_mel_bins,
            "subsampling_factor": model.config.encoder_config.subsampling_factor,
        }
        (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def test(arguments, model, extractor):
    """Compares each kind of weights with transformers; float ones must agree."""
    for suffix in {"float": [""], "int8": [".int8"], "both": ["", ".int8"]}[arguments.weights]:
        exported = reference.Graphs(arguments.out, arguments.layout, suffix)
        worst, others, distinct = reference.compare(model, extractor, exported, SELF_TEST_SECONDS)
        kind = "int8" if suffix else "float"
        print(f"{kind}: frames differ by {worst:.1e}, {others} of {len(SELF_TEST_SECONDS)} clips differ in tokens, "
              f"{distinct} different tokens")
        if not suffix and (others > 0 or worst > reference.LOGITS_TOLERANCE):
            raise SystemExit("the graphs do not say what transformers says")


def main():
    arguments = read_arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if any(arguments.out.iterdir()):
        raise SystemExit(f"{arguments.out} is not empty")
    model, extractor, pieces, seed = load(arguments)
    if seed is not None:
        print(f"random weights of seed {seed}")
    write_layout(arguments, model, pieces)
    languages = [language for language in arguments.languages.split(",") if language]
    write_bridge(arguments.out, "parakeet-tdt", arguments.name, arguments.version, languages, arguments.licence)
    if not arguments.skip_self_test:
        test(arguments, model, extractor)
    if arguments.cases is not None:
        found = reference.cases(model, extractor, CASE_SECONDS)
        arguments.cases.write_text(json.dumps(found) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in arguments.out.iterdir())
    print(f"{arguments.out}: {size:,} bytes")


if __name__ == "__main__":
    main()
