"""The public layout: `encoder_model` with the positions of 30 s, and `decoder_model_merged`, one graph of two branches
as Hugging Face optimum merges them. Names of inputs and outputs are those of the onnx-community folders."""

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import graphs

BRANCHES = ("next", "first")


def trace_published(model, folder, with_attention):
    """Writes both graphs; their names without `.onnx`."""
    config = model.config
    layers, heads = config.decoder_layers, config.decoder_attention_heads
    graphs.trace(
        graphs.Encoder(model, published=True),
        (torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions),),
        folder / "encoder_model.onnx",
        ["input_features"],
        ["last_hidden_state"],
        {"input_features": {2: "encoder_sequence_length"}, "last_hidden_state": {1: "positions"}},
    )
    hidden = torch.randn(1, 5, config.d_model)
    cache = torch.randn(1, heads, 3, config.d_model // heads)
    attentions = [f"cross_attentions.{layer}" for layer in range(layers)] if with_attention else []
    text_out, speech_out = graphs.present_names(layers, "decoder"), graphs.present_names(layers, "encoder")
    text_in, speech_in = graphs.past_names(layers, "decoder"), graphs.past_names(layers, "encoder")
    axes = {"input_ids": {1: "tokens"}, "encoder_hidden_states": {1: "positions"}, "logits": {1: "tokens"}}
    axes |= {name: {2: "past"} for name in text_in} | {name: {2: "positions"} for name in [*speech_in, *speech_out]}
    axes |= {name: {2: "present"} for name in text_out} | {name: {2: "tokens", 3: "positions"} for name in attentions}
    all_out = ["logits", *graphs.interleaved(text_out, speech_out), *attentions]
    graphs.trace(graphs.FirstDecoder(model, with_attention), (torch.tensor([[1, 2, 3]]), hidden), folder / "first.onnx",
                 ["input_ids", "encoder_hidden_states"], all_out, axes)
    names_in = ["input_ids", *graphs.interleaved(text_in, speech_in)]
    graphs.trace(graphs.NextDecoder(model, with_attention), (torch.tensor([[1]]), *[cache] * (4 * layers)),
                 folder / "next.onnx", names_in, ["logits", *text_out, *attentions], axes)
    return ["encoder_model", "first", "next"]


def merge(folder, suffix=""):
    """Makes decoder_model_merged of both branches, which share equal weights, and removes those."""
    models = {branch: onnx.load(folder / f"{branch}{suffix}.onnx") for branch in BRANCHES}
    outputs = list(models["first"].graph.output)
    shared = {}
    branches = [branch_of(branch, models[branch], outputs, shared) for branch in BRANCHES]
    chosen = helper.make_node("If", ["use_cache_branch"], [value.name for value in outputs], name="optimum::if",
                              then_branch=branches[0], else_branch=branches[1])
    inputs = {value.name: value for model in models.values() for value in model.graph.input}
    flag = helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1])
    graph = helper.make_graph([chosen], "merged", [*inputs.values(), flag], outputs, list(shared.values()))
    opsets = {(each.domain, each.version) for model in models.values() for each in model.opset_import}
    imports = [helper.make_opsetid(*each) for each in sorted(opsets)]
    merged = helper.make_model(graph, ir_version=8, opset_imports=imports)
    onnx.save(merged, folder / f"decoder_model_merged{suffix}.onnx")
    for branch in BRANCHES:
        (folder / f"{branch}{suffix}.onnx").unlink()


def branch_of(branch, model, outputs, shared):
    """A graph within a graph: it reads the inputs of that, and its weights are there."""
    taken = {value.name for value in model.graph.input}
    renamed = {name: name for name in taken}
    for tensor in model.graph.initializer:
        key = (tensor.data_type, tuple(tensor.dims), numpy_helper.to_array(tensor).tobytes())
        kept = shared.setdefault(key, tensor)
        name = kept.name if kept is not tensor else f"{branch}/{tensor.name}"
        renamed[tensor.name] = name
        kept.name = name
    rename = lambda name: name if name == "" else renamed.get(name, f"{branch}/{name}")
    for node in model.graph.node:
        node.name = f"{branch}/{node.name}"
        node.input[:] = [rename(name) for name in node.input]
        node.output[:] = [rename(name) for name in node.output]
    made = {value.name for value in model.graph.output}
    nodes, values = list(model.graph.node), []
    for value in outputs:
        name = f"{branch}/{value.name}"
        if value.name not in made:
            # The branch with a past has no new caches of the speech.
            dims = [axis.dim_value or 1 for axis in value.type.tensor_type.shape.dim]
            empty = numpy_helper.from_array(np.zeros([0, *dims[1:]], np.float32))
            nodes.append(helper.make_node("Constant", [], [name], value=empty))
        values.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return helper.make_graph(nodes, branch, [], values)
