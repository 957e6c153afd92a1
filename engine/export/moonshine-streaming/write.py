"""Writes a model's graphs: traced, folded, as 8-bit weights where asked, and as .onnx or .ort."""

import json
from pathlib import Path

import onnx
import onnxruntime
import torch
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from checkpoint import lookahead
from graphs import (
    FRONTEND_INPUTS,
    FRONTEND_OUTPUTS,
    FRONTEND_WEIGHTS,
    Adapter,
    CrossKv,
    Decoder,
    Encoder,
    Frontend,
)

# The front end's products see few channels and are cheap; in 8 bits they cost accuracy.
FLOAT_GRAPHS = ("frontend", "frontend.weights", "frontend.model")


def trace(module, arguments, path, inputs, outputs, dynamic):
    torch.onnx.export(
        module.eval(),
        arguments,
        str(path),
        input_names=inputs,
        output_names=outputs,
        dynamic_axes=dynamic,
        opset_version=17,
        dynamo=False,
    )


def trace_frontend(model, folder: Path, split: bool) -> list[str]:
    config = model.config.encoder_config
    width, one = config.hidden_size, torch.zeros(1, dtype=torch.long)
    buffers = (torch.zeros(1, 79), one + 3, torch.zeros(1, width, 4), torch.zeros(1, 2 * width, 4), one + 2)
    sound = torch.randn(1, 6405)
    dynamic = {"audio_chunk": {1: "n"}, "features": {1: "T"}}
    if not split:
        trace(Frontend(model), (sound, *buffers), folder / "frontend.onnx", FRONTEND_INPUTS, FRONTEND_OUTPUTS, dynamic)
        return ["frontend"]
    write_weights(Frontend(model), folder / "frontend.weights.onnx")
    inputs = [*FRONTEND_INPUTS, *FRONTEND_WEIGHTS]
    arguments = (sound, *buffers, *Frontend(model).weights())
    trace(Frontend(model), arguments, folder / "frontend.model.onnx", inputs, FRONTEND_OUTPUTS, dynamic)
    return ["frontend.weights", "frontend.model"]


def write_weights(frontend: Frontend, path: Path) -> None:
    """A graph without inputs: the front end's large weights, for the layout that keeps them apart."""
    constants = [numpy_helper.from_array(weights.detach().numpy(), f"{name}_value")
                 for name, weights in zip(FRONTEND_WEIGHTS, frontend.weights())]
    nodes = [helper.make_node("Identity", [f"{name}_value"], [name]) for name in FRONTEND_WEIGHTS]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, constant.dims)
               for name, constant in zip(FRONTEND_WEIGHTS, constants)]
    graph = helper.make_graph(nodes, "frontend.weights", [], outputs, constants)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))


def trace_encoder(model, folder: Path) -> list[str]:
    width, one = model.config.encoder_config.hidden_size, torch.zeros(1, dtype=torch.long)
    frames = {1: "T"}
    trace(Encoder(model), (torch.randn(1, 40, width),), folder / "encoder.onnx", ["features"], ["encoded"],
          {"features": frames, "encoded": frames})
    trace(Adapter(model), (torch.randn(1, 7, width), one + 5), folder / "adapter.onnx", ["encoded", "pos_offset"],
          ["memory"], {"encoded": frames, "memory": frames})
    trace(CrossKv(model), (torch.randn(1, 9, model.config.hidden_size),), folder / "cross_kv.onnx", ["memory"],
          ["k_cross", "v_cross"], {"memory": frames, "k_cross": {3: "T"}, "v_cross": {3: "T"}})
    return ["encoder", "adapter", "cross_kv"]


def trace_decoder(model, folder: Path, quantised: bool, with_attention: bool) -> list[str]:
    config = model.config
    keys, values = CrossKv(model)(torch.randn(1, 9, config.hidden_size))
    past = torch.zeros(config.num_hidden_layers, 1, config.num_attention_heads, 2, config.head_dim)
    name = "decoder_kv_with_attention" if with_attention else "decoder_kv"
    inputs = ["token", "k_self", "v_self", "out_k_cross", "out_v_cross"]
    outputs = ["logits", "out_k_self", "out_v_self"]
    dynamic = {
        "token": {1: "S"}, "k_self": {3: "P"}, "v_self": {3: "P"}, "out_k_cross": {3: "T"}, "out_v_cross": {3: "T"},
        "logits": {1: "S"}, "out_k_self": {3: "Q"}, "out_v_self": {3: "Q"},
    }
    if with_attention:
        attentions = [f"cross_attentions.{layer}" for layer in range(config.num_hidden_layers)]
        outputs += attentions
        dynamic |= {attention: {2: "S", 3: "T"} for attention in attentions}
    decoder = Decoder(model, quantised, with_attention)
    trace(decoder, (torch.tensor([[1, 5, 7]]), past, past, keys, values), folder / f"{name}.onnx", inputs, outputs,
          dynamic)
    return [name]


def fold(path: Path) -> None:
    """Computes what is constant. Without this nothing is quantised: weights are transposed when the graph runs."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    folded = path.with_suffix(".folded")
    options.optimized_model_filepath = str(folded)
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    folded.replace(path)


def quantise(path: Path) -> None:
    """8-bit weights with a scale for each column: one for all of them costs a third of the accuracy."""
    whole = path.with_suffix(".whole")
    path.replace(whole)
    quantize_dynamic(str(whole), str(path), weight_type=QuantType.QInt8, per_channel=True,
                     op_types_to_quantize=["MatMul"])
    whole.unlink()


def to_ort(path: Path) -> None:
    """The same graph in onnxruntime's own format, optimised for any processor."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path.with_suffix(".ort"))
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    path.unlink()


def write_graphs(model, folder: Path, *, int8: bool, ort: bool, split: bool, attention: bool) -> None:
    """Writes every graph of the layout into `folder`."""
    with torch.no_grad():
        model.requires_grad_(False)
        names = trace_frontend(model, folder, split) + trace_encoder(model, folder)
        names += trace_decoder(model, folder, int8, False)
        if attention:
            names += trace_decoder(model, folder, int8, True)
    for name in names:
        path = folder / f"{name}.onnx"
        fold(path)
        if int8 and name not in FLOAT_GRAPHS:
            quantise(path)
        if ort:
            to_ort(path)


def write_config(model, folder: Path) -> None:
    """`streaming_config.json`, with the publisher's properties."""
    config, encoder = model.config, model.config.encoder_config
    values = {
        "encoder_dim": encoder.hidden_size,
        "decoder_dim": config.hidden_size,
        "depth": config.num_hidden_layers,
        "encoder_depth": encoder.num_hidden_layers,
        "nheads": config.num_attention_heads,
        "head_dim": config.head_dim,
        "vocab_size": config.vocab_size,
        "bos_id": 1,
        "eos_id": 2,
        "frame_len": 80,
        "total_lookahead": lookahead(config),
        "d_model_frontend": encoder.hidden_size,
        "c1": 2 * encoder.hidden_size,
        "c2": encoder.hidden_size,
        "max_seq_len": 448,
    }
    (folder / "streaming_config.json").write_text(json.dumps(values, indent=2) + "\n")
