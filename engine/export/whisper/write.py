"""Graphs as they are kept: folded, with weights of 8 or 16 bits where asked, and with short names."""

import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.float16 import convert_float_to_float16

# A graph with more than this lies beside its weights: protobuf ends at 2 GB.
INLINE_MAX_BYTES = 1_800_000_000
# The publisher quantises convolutions, too.
PUBLISHED_OPERATORS = ["MatMul", "Gather", "Conv"]


def fold(path):
    """Computes what is constant. Without this nothing is quantised: weights are transposed when the graph runs."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    folded = path.with_suffix(".folded")
    options.optimized_model_filepath = str(folded)
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", folded.name + ".data")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    model = onnx.load(folded)
    (path.parent / (folded.name + ".data")).unlink(missing_ok=True)
    folded.unlink()
    save(model, path)


def save(model, path):
    """With its weights in it, or beside it where they are too large."""
    beside = path.with_name(path.name + ".data")
    beside.unlink(missing_ok=True)
    if sum(len(tensor.raw_data) for tensor in model.graph.initializer) < INLINE_MAX_BYTES:
        onnx.save(model, path)
    else:
        onnx.save(model, path, save_as_external_data=True, location=beside.name, convert_attribute=False)


def quantise(path, to, operators=("MatMul",), kind=QuantType.QInt8, per_channel=True):
    """8-bit weights with a scale for each column: one for all of them costs accuracy."""
    quantize_dynamic(
        str(path), str(to), weight_type=kind, per_channel=per_channel, op_types_to_quantize=list(operators)
    )


def quantise_as_published(path, to):
    quantise(path, to, PUBLISHED_OPERATORS, QuantType.QUInt8, per_channel=False)


def halve(path):
    """16-bit weights and sums; inputs and outputs stay float."""
    save(convert_float_to_float16(onnx.load(path), keep_io_types=True, disable_shape_infer=True), path)


def shorten_names(path):
    """Makes the names of nodes and inner values short: those of tiny models take more space than the weights."""
    model = onnx.load(path)
    kept = {value.name for value in [*model.graph.input, *model.graph.output]}
    shorten(model.graph, kept, {"": ""})
    onnx.save(model, path)


def shorten(graph, kept, short):
    def name(value):
        return value if value in kept else short.setdefault(value, f"v{len(short)}")

    for tensor in graph.initializer:
        tensor.name = name(tensor.name)
    for node in graph.node:
        node.name, node.doc_string = "", ""
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                shorten(attribute.g, kept, short)
        node.input[:] = [name(value) for value in node.input]
        node.output[:] = [name(value) for value in node.output]
    for value in graph.output:
        value.name = name(value.name)
    del graph.value_info[:]
