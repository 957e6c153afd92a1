"""Exports Moonshine streaming to a folder that Trunkline opens: the publisher's layout, with a bridge.json.

Nothing is fetched: the source is a local folder that has a checkpoint of transformers (config.json,
model.safetensors, tokenizer.json), or random weights in a true shape."""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from checkpoint import SHAPES, cut_positions, load_model, random_model  # noqa: E402
from compare import check  # noqa: E402
from vocabulary import pieces_of, random_pieces, write_tokenizer  # noqa: E402
from write import write_config, write_graphs  # noqa: E402


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--checkpoint", metavar="FOLDER", help="a local checkpoint of transformers")
    source.add_argument("--random", choices=SHAPES, help="random weights in this shape")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where to write; is made, must be empty")
    parser.add_argument("--seed", type=int, default=1, help="of random weights")
    parser.add_argument("--int8", action="store_true", help="weights in 8 bits: a quarter of the size, faster")
    parser.add_argument("--ort", action="store_true", help="onnxruntime's own format instead of .onnx")
    parser.add_argument("--split-frontend", action="store_true", help="the front end's weights in a file of their own")
    parser.add_argument("--attention", action="store_true", help="also the decoder that word times need")
    parser.add_argument("--positions", type=int, help="cut the table of positions: 50 for each second of sound")
    parser.add_argument("--name", default=None, help="as the model is to be called; the folder's name without it")
    parser.add_argument("--languages", default="en", help="BCP-47, with commas")
    parser.add_argument("--licence", default="MIT", help="of the weights")
    parser.add_argument("--version", default="1", help="of the weights")
    parser.add_argument("--skip-self-test", action="store_true", help="do not compare the graphs with transformers")
    return parser.parse_args()


def write_bridge(folder: Path, options: argparse.Namespace) -> None:
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}
    bridge = {
        "format": 1,
        "family": "moonshine-streaming",
        "name": options.name or folder.name,
        "version": options.version,
        "languages": options.languages.split(","),
        "licence": options.licence,
        "files": files,
    }
    (folder / "bridge.json").write_text(json.dumps(bridge, indent=2) + "\n")


def main() -> int:
    options = parse()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        print(f"{folder} is not empty", file=sys.stderr)
        return 1
    if options.random:
        model = random_model(options.random, options.seed, options.positions)
        pieces = random_pieces(model.config.vocab_size)
    else:
        model = cut_positions(load_model(options.checkpoint), options.positions)
        pieces = pieces_of(Path(options.checkpoint), model.config.vocab_size)
    write_graphs(model, folder, int8=options.int8, ort=options.ort, split=options.split_frontend,
                 attention=options.attention)
    write_config(model, folder)
    write_tokenizer(pieces, folder)
    problems = [] if options.skip_self_test else check(model, folder, options.int8)
    for problem in problems:
        print(problem, file=sys.stderr)
    write_bridge(folder, options)
    megabytes = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    print(f"{folder}: {megabytes:.1f} MB")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
