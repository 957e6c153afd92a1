"""8-bit weights, as the published files have them: activations are quantised while the graph runs."""

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

# A graph with more than this lies beside its weights: protobuf ends at 2 GB.
INLINE_MAX_BYTES = 1_800_000_000


def quantise(folder, name):
    """Writes `name`.int8.onnx beside `name`.onnx."""
    is_encoder = name.startswith("encoder")
    quantize_dynamic(
        str(folder / f"{name}.onnx"),
        str(folder / f"{name}.int8.onnx"),
        # Unsigned weights for the products of the encoder: signed ones overflow on processors without VNNI.
        weight_type=QuantType.QUInt8 if is_encoder else QuantType.QInt8,
        per_channel=is_encoder,
        op_types_to_quantize=["MatMul", "Conv"] if is_encoder else ["MatMul", "LSTM", "Gather"],
        use_external_data_format=False,
    )


def gather_weights(folder, name):
    """Makes one file of the many that a large export lies in: `name`.onnx, or that and `name`.onnx.data."""
    path = folder / f"{name}.onnx"
    model = onnx.load(path)
    pieces = {
        entry.value
        for tensor in model.graph.initializer
        for entry in tensor.external_data
        if entry.key == "location"
    } | {file.name for file in folder.iterdir() if file.suffix == "" and file.is_file()}
    size = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
    for piece in pieces:
        (folder / piece).unlink(missing_ok=True)
    if size < INLINE_MAX_BYTES:
        onnx.save(model, path)
        return
    location = f"{name}.onnx.data"
    onnx.save(model, path, save_as_external_data=True, location=location, convert_attribute=False)


def shorten_names(path):
    """Makes the names of nodes and inner values short: those of tiny models take more space than the weights."""
    model = onnx.load(path)
    kept = {value.name for value in [*model.graph.input, *model.graph.output]}
    short = {}

    def name(value):
        return value if value in kept or value == "" else short.setdefault(value, f"v{len(short)}")

    for tensor in model.graph.initializer:
        tensor.name = name(tensor.name)
    for node in model.graph.node:
        node.name, node.doc_string = "", ""
        node.input[:] = [name(value) for value in node.input]
        node.output[:] = [name(value) for value in node.output]
    del model.graph.value_info[:]
    onnx.save(model, path)


def describe(path, numbers):
    """Writes what sherpa-onnx wants to know of a model into its file."""
    model = onnx.load(path, load_external_data=False)
    del model.metadata_props[:]
    for key, value in numbers.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, str(value)
    path.write_bytes(model.SerializeToString())


def described(path):
    """The numbers among what describe() wrote."""
    entries = {entry.key: entry.value for entry in onnx.load(path, load_external_data=False).metadata_props}
    return {key: int(value) for key, value in entries.items() if value.isdecimal()}
