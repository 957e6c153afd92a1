"""A tiny random model in the two layouts that others publish: names, shapes and types as their exporters write them."""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

import export
import public_graphs as graphs
import reference
import vocabulary

OPSET = 17
ROOM = 512
TOLERANCE = 1e-4
EXTERNAL_MIN_BYTES = 1024
SHARED = "decoder_weights.data"


def write_split(model, tokenizer, out):
    """Weights of both decoders lie in one file; those of the encoder in the graph."""
    out.mkdir(parents=True)
    hidden, config = model.config.text_config.hidden_size, model.config.text_config
    cache = torch.zeros(config.num_hidden_layers, 1, config.num_key_value_heads, 7, config.head_dim)
    write(out / "encoder.onnx", graphs.MelEncoder(model), (torch.zeros(1, 128, 237),), ["mel"], ["audio_features"],
          {"mel": {2: "time"}, "audio_features": {1: "enc_time"}})
    decoded, both = ["logits", "present_keys", "present_values"], {1: "batch", 3: "seq_len"}
    init = write(
        None, graphs.DecoderInit(model),
        (torch.zeros(1, 9, dtype=torch.int64), torch.arange(9)[None], torch.zeros(1, 5, hidden), torch.tensor([2])),
        ["input_ids", "position_ids", "audio_features", "audio_offset"], decoded,
        {"input_ids": {0: "batch", 1: "seq_len"}, "position_ids": {0: "batch", 1: "seq_len"},
         "audio_features": {0: "batch", 1: "audio_len"}, "logits": {0: "batch", 1: "seq_len"},
         "present_keys": both, "present_values": both},
    )
    past, total = {1: "batch", 3: "past_seq_len"}, {1: "batch", 3: "total_seq_len"}
    step = write(
        None, graphs.DecoderStep(model),
        (torch.zeros(1, 1, hidden), torch.tensor([[7]]), cache, cache),
        ["input_embeds", "position_ids", "past_keys", "past_values"], decoded,
        {"input_embeds": {0: "batch"}, "position_ids": {0: "batch"}, "past_keys": past, "past_values": past,
         "logits": {0: "batch"}, "present_keys": total, "present_values": total},
    )
    share(out, {"decoder_init.onnx": init, "decoder_step.onnx": step})
    table = model.model.language_model.embed_tokens.weight.numpy().astype(np.float16)
    table.tofile(out / "embed_tokens.bin")
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    (out / "config.json").write_text(json.dumps(split_config(model), indent=2) + "\n", encoding="utf-8")


def share(out, models):
    """Large constants of the first graph lie in a file, and so do those of the others that are equal."""
    data, known = bytearray(), {}
    for name, model in models.items():
        is_first = not known
        for tensor in model.graph.initializer:
            raw = onnx.numpy_helper.to_array(tensor).tobytes()
            if is_first and len(raw) >= EXTERNAL_MIN_BYTES and raw not in known:
                known[raw] = len(data)
                data += raw
            if raw not in known:
                continue
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", SHARED), ("offset", known[raw]), ("length", len(raw))):
                tensor.external_data.add(key=key, value=str(value))
        (out / name).write_bytes(model.SerializeToString())
    (out / SHARED).write_bytes(data)


def split_config(model):
    """As export.py and convert_embed_fp16.py of that exporter write it; of the numbers those of this model."""
    audio, text = model.config.audio_config, model.config.text_config
    ends = reference.ends_of(model.config)
    return {
        "model_type": "qwen3_asr",
        "encoder": {"num_layers": audio.encoder_layers, "hidden_size": audio.d_model,
                    "num_heads": audio.encoder_attention_heads, "ffn_dim": audio.encoder_ffn_dim,
                    "conv_channels": audio.downsample_hidden_size, "output_dim": text.hidden_size,
                    "downsample_factor": 8, "num_mel_bins": audio.num_mel_bins},
        "decoder": {"num_layers": text.num_hidden_layers, "hidden_size": text.hidden_size,
                    "num_attention_heads": text.num_attention_heads, "num_key_value_heads": text.num_key_value_heads,
                    "head_dim": text.head_dim, "intermediate_size": text.intermediate_size,
                    "vocab_size": text.vocab_size, "rope_theta": text.rope_parameters["rope_theta"],
                    "rms_norm_eps": text.rms_norm_eps, "tie_word_embeddings": True,
                    "rope_scaling": {"mrope_section": [24, 20, 20], "interleaved": True}},
        "mel": {"sample_rate": 16000, "n_fft": 400, "hop_length": 160, "n_mels": 128, "fmin": 0, "fmax": 8000},
        # That exporter writes the numbers of the published tokenizer here, whatever the model's are.
        "special_tokens": {"eos_token_ids": [151643, 151645], "pad_token_id": ends[0], "audio_pad_token_id": 151676},
        "embed_tokens_dtype": "float16",
    }


def write_static(model, tokenizer, out):
    """The layout of sherpa-onnx."""
    (out / "tokenizer").mkdir(parents=True)
    config = model.config.text_config
    hidden, width = config.hidden_size, model.config.audio_config.d_model
    heard = {0: "batch", 1: "n_audio_tokens"}
    write(out / "conv_frontend.onnx", graphs.ConvFrontend(model), (torch.zeros(1, 237, 128),), ["input_features"],
          ["conv_output"], {"input_features": {0: "batch", 1: "n_frames"}, "conv_output": heard})
    write(out / "encoder.onnx", graphs.MaskedEncoder(model), (torch.zeros(1, 39, width), torch.arange(39)[None] < 31),
          ["input_features", "feature_attention_mask"], ["audio_features"],
          {"input_features": heard, "feature_attention_mask": heard, "audio_features": heard})
    layers, rows = range(config.num_hidden_layers), {0: "batch", 1: "seq"}
    caches = [f"cache_{kind}_{layer}" for layer in layers for kind in ("key", "value")]
    deltas = [f"{kind}_delta_{layer}" for layer in layers for kind in ("key", "value")]
    room = [torch.zeros(1, ROOM, config.num_key_value_heads, config.head_dim) for _ in caches]
    axes = {"input_ids": rows, "audio_features": heard, "attention_mask": rows, "logits": rows}
    axes["cache_position"] = {0: "seq"}
    axes |= {name: {0: "batch", 1: "max_total_len"} for name in caches} | {name: rows for name in deltas}
    ids = torch.zeros(1, 9, dtype=torch.int64)
    write(out / "decoder.onnx", graphs.DeltaDecoder(model),
          (ids, torch.zeros(1, 5, hidden), torch.ones_like(ids), torch.arange(9), *room),
          ["input_ids", "audio_features", "attention_mask", "cache_position", *caches], ["logits", *deltas], axes)
    write_tokenizer(tokenizer, out / "tokenizer")


def write_tokenizer(tokenizer, out):
    """The files that Qwen publishes: what is added to the vocabulary is in the third."""
    parts = json.loads(tokenizer.to_str())
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in parts["model"]["merges"]]
    added = {str(token.pop("id")): token for token in parts["added_tokens"]}
    write_json = lambda name, value: (out / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    write_json("vocab.json", parts["model"]["vocab"])
    (out / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]) + "\n", encoding="utf-8")
    write_json("tokenizer_config.json", {"add_prefix_space": False, "added_tokens_decoder": added, "bos_token": None,
                                         "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
                                         "tokenizer_class": "Qwen2Tokenizer", "unk_token": None})


def write(path, module, inputs, names, outputs, axes):
    """Traces a graph. @returns it; writes it too where there is a path"""
    file = Path(f"{path or 'graph'}.tmp") if path else Path("/dev/shm") / f"{id(module)}.onnx"
    torch.onnx.export(module.eval(), inputs, str(file), input_names=names, output_names=outputs, dynamic_axes=axes,
                      opset_version=OPSET, dynamo=False)
    model = onnx.load(str(file))
    file.unlink()
    shrink(model.graph)
    if path is not None:
        path.write_bytes(model.SerializeToString())
    return model


def shrink(graph):
    """Leaves out what is there twice: numbers, and the table of embeddings, which is turned round for the logits."""
    same, known, nodes = {}, {}, []
    for node in graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
        node.input[:] = [same.get(name, name) for name in node.input]
        if node.op_type == "Constant":
            kept = known.setdefault(node.attribute[0].SerializeToString(), node.output[0])
            if kept != node.output[0]:
                same[node.output[0]] = kept
                continue
        nodes.append(node)
    tables = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    tables = {name: table for name, table in tables.items() if table.ndim == 2}
    for name, table in tables.items():
        twin = next((each for each in tables if each < name and np.array_equal(tables[each].T, table)), None)
        if twin is not None:
            graph.initializer.remove(next(tensor for tensor in graph.initializer if tensor.name == name))
            nodes.insert(0, onnx.helper.make_node("Transpose", [twin], [name], perm=[1, 0]))
    graph.ClearField("node")
    graph.node.extend(nodes)


def self_test(model, tokenizer, out):
    """Compares the graphs with transformers on three clips. @raises SystemExit when they differ"""
    worst, ends = 0.0, reference.ends_of(model.config)
    split = {name: open_graph(out / "split" / f"{name}.onnx") for name in ("encoder", "decoder_init", "decoder_step")}
    static = {name: open_graph(out / "static" / f"{name}.onnx") for name in ("conv_frontend", "encoder", "decoder")}
    for index, seconds in enumerate(reference.SELF_TEST_SECONDS):
        features, mask = reference.features_of(reference.make_clip(index, seconds))
        expected = reference.audio_of(model, features, mask).numpy()
        mel = features[:, :, : int(mask.sum())].numpy()
        convolved = static["conv_frontend"](input_features=mel.transpose(0, 2, 1))[0]
        heard = np.arange(convolved.shape[1])[None] < len(expected)
        audio = split["encoder"](mel=mel)[0]
        masked = static["encoder"](input_features=convolved, feature_attention_mask=heard)[0]
        prompt = vocabulary.prompt_of(tokenizer, len(expected))
        tokens, _, _ = reference.generate(model, prompt, features, mask, reference.SELF_TEST_TOKENS)
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([prompt + tokens]), input_features=features, input_features_mask=mask,
                           attention_mask=torch.ones(1, len(prompt + tokens))).logits.numpy()
        differences = [audio[0] - expected, masked[0, : len(expected)] - expected,
                       split_logits(split, model, prompt, tokens, audio) - logits[0, len(prompt) - 1 :],
                       static_logits(static, prompt, tokens, audio) - logits[0, len(prompt) - 1 :]]
        worst = max(worst, *(float(np.abs(each).max()) for each in differences))
    print(f"features and logits differ from those of transformers by {worst:.1e}")
    if worst > TOLERANCE:
        raise SystemExit("the graphs do not hear or say what transformers does")


def split_logits(graphs, model, prompt, tokens, audio):
    """Behind the prompt, and behind each of `tokens`, one after the other."""
    ids, at = np.array([prompt]), np.arange(len(prompt))[None]
    offset = np.array([prompt.index(model.config.audio_token_id)])
    found, keys, values = graphs["decoder_init"](
        input_ids=ids, position_ids=at, audio_features=audio, audio_offset=offset
    )
    rows, table = [found[0, -1]], model.model.language_model.embed_tokens.weight.numpy()
    for place, token in enumerate(tokens, len(prompt)):
        found, keys, values = graphs["decoder_step"](
            input_embeds=table[None, [token]], position_ids=np.array([[place]]), past_keys=keys, past_values=values
        )
        rows.append(found[0, 0])
    return np.stack(rows)


def static_logits(graphs, prompt, tokens, audio):
    """Behind the prompt; half of `tokens` one after the other, the rest in one run, as a draft."""
    run, names = graphs["decoder"], graphs["decoder"].names
    shape = graphs["decoder"].shapes["cache_key_0"]
    kept = [name for name in names if name.startswith("cache_") and name[-1].isdigit()]
    cache = {name: np.zeros((1, ROOM, *shape[2:]), np.float32) for name in kept}
    rows, at, half = [], 0, len(tokens) // 2
    for ids in [prompt, *([token] for token in tokens[:half]), tokens[half:]]:
        places = np.arange(at, at + len(ids))
        found = run(input_ids=np.array([ids]), audio_features=audio, attention_mask=np.ones((1, len(ids)), np.int64),
                    cache_position=places, **cache)
        for name, new in zip(cache, found[1:], strict=True):
            cache[name][:, places] = new
        rows += list(found[0][0])[len(ids) - 1 if at == 0 else 0 :]
        at += len(ids)
    return np.stack(rows)


def open_graph(path):
    """A graph as a function of its inputs."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    run = lambda **inputs: session.run(None, inputs)
    run.shapes = {value.name: value.shape for value in session.get_inputs()}
    run.names = list(run.shapes)
    return run


def main():
    parser = argparse.ArgumentParser(prog="public_layouts.py", description=__doc__)
    parser.add_argument("out", type=Path, help="gets the folders split and static")
    parser.add_argument("--seed", type=int, default=0, help="as of export.py --random tiny")
    arguments = parser.parse_args()
    model, tokenizer, _ = export.load(argparse.Namespace(random="tiny", layers=None, seed=arguments.seed))
    write_split(model, tokenizer, arguments.out / "split")
    write_static(model, tokenizer, arguments.out / "static")
    self_test(model, tokenizer, arguments.out)
    for folder in ("split", "static"):
        size = sum(path.stat().st_size for path in (arguments.out / folder).rglob("*"))
        print(f"{folder}: {size:,} bytes")


if __name__ == "__main__":
    main()
