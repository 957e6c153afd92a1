"""Qwen3-ASR as the folder that Trunkline reads. It works offline."""

import argparse
import hashlib
import json
from pathlib import Path

import cases
import checkpoint
import reference
import vocabulary
from builder import Weights
from decoder import Shape, build_decoder
from encoder import build_encoder, chunk_tokens
from products import Products

# More than this lies beside its graph: protobuf ends at 2 GB, and programs map what is in a file of its own.
INSIDE_MAX_BYTES = 16_000_000
MAX_NEW_TOKENS = 512
BATCH_MAX = 16


def read_arguments():
    parser = argparse.ArgumentParser(prog="export.py", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="checkpoint with config.json, weights and tokenizer")
    parser.add_argument("out", type=Path, help="where to write; is made, must be empty")
    parser.add_argument("--random", choices=["tiny", "0.6b", "1.7b"], help="random weights instead of a checkpoint")
    parser.add_argument("--layers", type=int, default=None, help="at most so many layers of a random model")
    parser.add_argument("--seed", type=int, default=0, help="first seed; usable tiny models are looked for")
    parser.add_argument("--dtype", choices=["f32", "f16", "int8", "int4"], default="int8")
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
    for seed in range(arguments.seed, arguments.seed + 400):
        model, tokenizer = checkpoint.random_model("tiny", arguments.layers, seed)
        clips = cases.clips_of(model, tokenizer)
        if clips is not None:
            print(f"random weights of seed {seed}")
            return model, tokenizer, clips
    raise SystemExit("no seed gives a model that says enough different tokens")


def weights_for(out, name, model):
    """Where the constants of a graph go."""
    size = 4 * sum(parameter.numel() for parameter in model.parameters())
    return Weights(out / f"{name}.onnx.data" if size > INSIDE_MAX_BYTES else None)


def write_graphs(out, model, dtype):
    """One graph after the other; only one layer at a time is in memory twice."""
    products = Products(dtype)
    build_encoder(model.model, products, weights_for(out, "encoder", model)).save(out / "encoder.onnx")
    decoder = build_decoder(model, products, weights_for(out, "decoder_loop", model), model.config.audio_token_id)
    decoder.save(out / "decoder_loop.onnx")


def write_config(out, model, dtype):
    """The numbers that a program needs to run the graphs."""
    audio, shape = model.config.audio_config, Shape.of(model.config.text_config)
    frames = 2 * audio.n_window
    tokens = chunk_tokens(frames)
    config = {
        "model": "qwen3-asr", "format": 1, "dtype": dtype,
        "vocabularySize": shape.vocabulary, "hiddenSize": shape.hidden, "layers": shape.layers,
        "keyValueHeads": shape.key_value_heads, "headSize": shape.head_size,
        "melBins": audio.num_mel_bins, "chunkFrames": frames, "chunkTokens": tokens,
        "windowTokens": tokens * audio.n_window_infer // frames,
        "audioPadToken": model.config.audio_token_id, "endTokens": reference.ends_of(model.config),
        "maxNewTokens": MAX_NEW_TOKENS, "languages": list(vocabulary.LANGUAGES.values()), "batchMax": BATCH_MAX,
    }
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def write_bridge(arguments):
    """Writes what Trunkline reads of a folder, with the SHA-256 of every other file."""
    out = arguments.out
    files = {path.relative_to(out).as_posix(): sha256_of(path) for path in sorted(out.rglob("*")) if path.is_file()}
    bridge = {
        "format": 1, "family": "qwen3-asr", "name": arguments.name, "version": arguments.version,
        "languages": list(vocabulary.LANGUAGES), "licence": arguments.licence, "files": files,
    }
    (out / "bridge.json").write_text(json.dumps(bridge, indent=2) + "\n", encoding="utf-8")


def sha256_of(path):
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def main():
    arguments = read_arguments()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise SystemExit(f"{out} is not empty")
    model, tokenizer, clips = load(arguments)
    write_graphs(out, model, arguments.dtype)
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    write_config(out, model, arguments.dtype)
    write_bridge(arguments)
    if not arguments.skip_self_test:
        reference.self_test(model.float(), tokenizer, reference.Graphs(out), arguments.dtype)
    if arguments.cases is not None:
        found = cases.cases(model, clips or cases.clips_of(model, tokenizer))
        arguments.cases.write_text(json.dumps(found) + "\n", encoding="utf-8")
    print(f"{out}: {sum(path.stat().st_size for path in out.rglob('*')):,} bytes")


if __name__ == "__main__":
    main()
