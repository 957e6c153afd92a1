"""Puts the nodes of an ONNX graph together, and writes its weights beside it where they are large."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 10
MICROSOFT = "com.microsoft"
# Weights in a file of their own begin at pages, so that a program can map each of them.
PAGE_BYTES = 4096
# Smaller ones stay in the graph: onnxruntime looks into them to optimise it.
OUTSIDE_MIN_BYTES = 4096
SLICE_END = 2**62
TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.bool_): TensorProto.BOOL,
}


class Weights:
    """The constants of a graph and of the bodies inside it; `data` is the file for large ones, None = in the graph."""

    def __init__(self, data=None):
        self.tensors, self.known, self.count = [], {}, 0
        self.path = data
        self.file = None if data is None else data.open("wb")

    def add(self, array):
        """The name of a constant; equal small ones are kept once."""
        array = np.asarray(array, order="C")
        key = (array.dtype.str, array.shape, array.tobytes()) if array.nbytes <= 64 else None
        if key is not None and key in self.known:
            return self.known[key]
        name = f"w{len(self.tensors)}"
        if self.file is None or array.nbytes < OUTSIDE_MIN_BYTES:
            self.tensors.append(numpy_helper.from_array(array, name))
        else:
            self.tensors.append(self.write(array, name))
        if key is not None:
            self.known[key] = name
        return name

    def write(self, array, name):
        offset = -(-self.file.tell() // PAGE_BYTES) * PAGE_BYTES
        self.file.seek(offset)
        array.tofile(self.file)
        tensor = TensorProto(name=name, dims=array.shape, data_type=helper.np_dtype_to_tensor_dtype(array.dtype))
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", self.path.name), ("offset", offset), ("length", array.nbytes)):
            tensor.external_data.add(key=key, value=str(value))
        return tensor


class Graph:
    """A graph, or the body of a node in it when `outer` is given; a body uses the values and weights around it."""

    def __init__(self, name, weights, outer=None):
        self.name, self.weights, self.outer = name, weights, outer
        self.nodes, self.inputs, self.outputs, self.renamed = [], [], [], {}

    def fresh(self):
        self.weights.count += 1
        return f"v{self.weights.count}"

    def input(self, name, dtype, dims):
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], dims))
        return name

    def output(self, value, name, dtype, dims):
        """Renames a value: a node that only did so would copy it, in each turn of a loop. A second name is a node."""
        if value in self.renamed or not any(value in node.output for node in self.nodes):
            self.nodes.append(helper.make_node("Identity", [value], [name]))
        else:
            self.renamed[value] = name
        self.outputs.append(helper.make_tensor_value_info(name, TYPES[np.dtype(dtype)], dims))

    def constant(self, value, dtype=np.int64):
        return self.weights.add(np.asarray(value, dtype=dtype))

    def add(self, operation, inputs, count=1, microsoft=False, **attributes):
        """A node; the names of its outputs, or the name where there is one."""
        outputs = [self.fresh() for _ in range(count)]
        domain = MICROSOFT if microsoft else ""
        self.nodes.append(helper.make_node(operation, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if count == 1 else outputs

    def reshape(self, value, dims):
        """0 keeps a dimension, -1 takes what is left."""
        return self.add("Reshape", [value, self.constant(dims)])

    def slice(self, value, axis, start, end=SLICE_END):
        """From `start` to `end` along `axis`; both are numbers, or names of vectors of one number."""
        ends = [name if isinstance(name, str) else self.constant([name]) for name in (start, end)]
        return self.add("Slice", [value, *ends, self.constant([axis])])

    def split(self, value, sizes, axis=-1):
        return self.add("Split", [value, self.constant(sizes)], count=len(sizes), axis=axis)

    def cast(self, value, dtype):
        return self.add("Cast", [value], to=TYPES[np.dtype(dtype)])

    def length(self, value, axis):
        """The size of one dimension, a vector of one."""
        return self.add("Shape", [value], start=axis, end=axis + 1)

    def numbers(self, count):
        """0, 1 … for a vector of one."""
        end = self.add("Squeeze", [count, self.constant([0])])
        return self.add("Range", [self.constant(0), end, self.constant(1)])

    def unsqueeze(self, value, axes):
        return self.add("Unsqueeze", [value, self.constant(axes)])

    def finish(self):
        """As a body, or for `save`."""
        for node in self.nodes:
            node.input[:] = [self.renamed.get(name, name) for name in node.input]
            node.output[:] = [self.renamed.get(name, name) for name in node.output]
        tensors = self.weights.tensors if self.outer is None else []
        return helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, tensors)

    def save(self, path):
        """Writes the graph; its weights are in their file already."""
        if self.weights.file is not None:
            self.weights.file.close()
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(self.finish(), opset_imports=opsets, ir_version=IR_VERSION, producer_name="trunkline")
        onnx.save(model, str(path))
