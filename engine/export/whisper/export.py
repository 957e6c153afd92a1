"""Whisper and distil-Whisper as folders that Trunkline reads: our layout, whose window is as long as the speech, or the
public one of two graphs. It works offline."""

import argparse
import json
import sys
from pathlib import Path

import torch

import checkpoint
import fixture
import graphs
import published
import reference
import write

sys.path.append(str(Path(__file__).parent.parent / "common"))
from folders import write_bridge  # noqa: E402

SELF_TEST_SECONDS = (0.7, 2.5, 6)


def read_arguments():
    parser = argparse.ArgumentParser(prog="export.py", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where to write; is made, must be empty")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--checkpoint", type=Path, metavar="FOLDER", help="of Hugging Face transformers")
    source.add_argument("--random", choices=["fixture", *checkpoint.SHAPES], help="random weights")
    parser.add_argument("--seed", type=int, default=0, help="of a random model")
    parser.add_argument("--layout", choices=["ours", "published"], default="ours")
    parser.add_argument("--weights", choices=["float", "f16", "int8"], default="int8")
    parser.add_argument("--attention", action="store_true", help="published: with attention, for word times")
    parser.add_argument("--name", default="whisper", help="the model's name in bridge.json")
    parser.add_argument("--version", default="1", help="its version there")
    parser.add_argument("--languages", default="", help="BCP-47, with commas; otherwise the vocabulary's")
    parser.add_argument("--licence", default="MIT")
    parser.add_argument("--cases", type=Path, help="file for what transformers makes of some clips")
    parser.add_argument("--skip-self-test", action="store_true", help="do not compare the graphs with transformers")
    return parser.parse_args()


def load(arguments):
    """The model and its tokenizer.json, both written but for the weights."""
    out = arguments.out
    if arguments.random is not None:
        model, vocabulary = checkpoint.random_model(arguments.random, arguments.seed)
        checkpoint.write_texts(model, vocabulary, out)
        return model, vocabulary
    model = checkpoint.read_checkpoint(arguments.checkpoint)
    checkpoint.copy_texts(arguments.checkpoint, out)
    return model, json.loads((arguments.checkpoint / "tokenizer.json").read_text(encoding="utf-8"))


def aligning_heads(model):
    """Of the decoder: those that its publisher names, or all of the upper half, as OpenAI's program takes them."""
    config = model.config
    named = getattr(model.generation_config, "alignment_heads", None)
    if named:
        return [tuple(pair) for pair in named]
    layers = range(config.decoder_layers // 2, config.decoder_layers)
    return [(layer, head) for layer in layers for head in range(config.decoder_attention_heads)]


def write_ours(arguments, model):
    is_int8 = arguments.weights == "int8"
    for name in graphs.trace_ours(model, arguments.out, is_int8, aligning_heads(model)):
        path = arguments.out / f"{name}.onnx"
        write.fold(path)
        if is_int8:
            whole = path.with_suffix(".whole.onnx")
            path.replace(whole)
            write.quantise(whole, path)
            whole.unlink()
        if arguments.weights == "f16":
            write.halve(path)
        if arguments.random == "fixture":
            write.shorten_names(path)


def write_published(arguments, model):
    folder = arguments.out / "onnx"
    folder.mkdir()
    names = published.trace_published(model, folder, arguments.attention)
    suffix = {"float": "", "int8": "_quantized", "f16": "_fp16"}[arguments.weights]
    for name in names:
        path = folder / f"{name}.onnx"
        write.fold(path)
        if suffix == "":
            continue
        to = folder / f"{name}{suffix}.onnx"
        if arguments.weights == "int8":
            write.quantise_as_published(path, to)
            path.unlink()
        else:
            path.replace(to)
            write.halve(to)
    published.merge(folder, suffix)
    if arguments.random == "fixture":
        for path in folder.glob("*.onnx"):
            write.shorten_names(path)


def test(arguments, model, vocabulary):
    ids = reference.ids_of(vocabulary)
    if "<|en|>" in ids:
        prompt = reference.prompt_of(ids)
    else:
        prompt = [ids["<|startoftranscript|>"], ids["<|notimestamps|>"]]
    return reference.check(model, arguments.out, prompt, SELF_TEST_SECONDS, arguments.weights == "float")


def main():
    arguments = read_arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if any(arguments.out.iterdir()):
        raise SystemExit(f"{arguments.out} is not empty")
    with torch.no_grad():
        model, vocabulary = load(arguments)
        (write_ours if arguments.layout == "ours" else write_published)(arguments, model)
        problems = []
        if arguments.layout == "ours" and not arguments.skip_self_test:
            problems = test(arguments, model, vocabulary)
        if arguments.cases is not None:
            fixture.write_cases(model, vocabulary, arguments.cases)
    languages = [language for language in arguments.languages.split(",") if language]
    write_bridge(arguments.out, "whisper", arguments.name, arguments.version, languages, arguments.licence)
    size = sum(path.stat().st_size for path in arguments.out.rglob("*") if path.is_file())
    print(f"{arguments.out}: {size:,} bytes")
    for problem in problems:
        print(problem, file=sys.stderr)
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
