"""Linear layers and tables in the four kinds of weights: f32, f16, int8, int4."""

import numpy as np

BLOCK = 32
# The masked places of an attention: in float16 the least number that stays finite.
MASKED = -60_000.0
# As transformers has it: outputs of the encoder's layers stay 1000 below the greatest float16.
CLAMP = 65_504.0 - 1000
# Rows of activations in 8 bits: -127 to 127 steps around 128.
ROW_STEP = np.array(1 / 127, np.float32)
ROW_ZERO = np.array(128, np.uint8)
LEAST = 1e-20


class Products:
    """Writes what multiplies into graphs; `dtype` is the kind of weights. Weights of 8 bits may be `unsigned`."""

    def __init__(self, dtype, unsigned=False):
        self.dtype, self.unsigned = dtype, unsigned
        self.real = np.float16 if dtype == "f16" else np.float32

    @property
    def kind(self):
        """What config.json calls the weights."""
        return "uint8" if self.dtype == "int8" and self.unsigned else self.dtype

    def casts(self, graph):
        """What makes a value narrow, as weights are, and what makes it float32."""
        if self.real == np.float32:
            return (lambda value: value), (lambda value: value)
        return (lambda value: graph.cast(value, self.real)), (lambda value: graph.cast(value, np.float32))

    def linear(self, graph, x, weight, bias=None):
        """x · weightᵀ + bias, for `weight` [out, in] as PyTorch has it."""
        if self.dtype == "int8":
            return self.eight_bits(graph, x, weight, bias)
        if self.dtype == "int4":
            y = self.four_bits(graph, x, weight)
        else:
            y = graph.add("MatMul", [x, graph.weights.add(weight.T.astype(self.real))])
        return y if bias is None else graph.add("Add", [y, graph.weights.add(bias.astype(self.real))])

    def eight_bits(self, graph, x, weight, bias):
        """Signed weights with a scale for each column; onnxruntime quantises what comes, for the whole tensor."""
        constants = [*self.quantised(weight), *([] if bias is None else [bias.astype(np.float32)])]
        inputs = [x, *(graph.weights.add(each) for each in constants)]
        return graph.add("DynamicQuantizeMatMul", inputs, microsoft=True)

    def quantised(self, weight):
        """[in, out] with a scale and a zero point for each column. Signed weights are twice as fast where a processor
        has VNNI, and wrong where it has not: their products overflow."""
        scales = row_scales(weight, 127)
        whole = np.rint(weight / scales[:, None]).T
        dtype, zero = (np.uint8, 128) if self.unsigned else (np.int8, 0)
        return (whole + zero).astype(dtype), scales, np.full(len(scales), zero, dtype)

    def feed(self, graph, x):
        """What `multiply` takes: the rows of `x`, in 8 bits with a scale each where weights have 8 bits. Text has a few
        tokens whose numbers are a thousand times as large as others', so one scale for all would leave those nothing;
        and with its own a row is the same with any others beside it, be they a draft or a batch."""
        if self.dtype != "int8":
            return [x]
        greatest = graph.add("ReduceMax", [graph.add("Abs", [x]), graph.constant([-1])], keepdims=1)
        greatest = graph.add("Max", [greatest, graph.constant(LEAST, np.float32)])
        step, zero = graph.weights.add(ROW_STEP), graph.weights.add(ROW_ZERO)
        return [graph.add("QuantizeLinear", [graph.add("Div", [x, greatest]), step, zero]), greatest]

    def multiply(self, graph, fed, weight, scaled=True):
        """x · weightᵀ for each row of `feed`; without `scaled` a row may be larger by a factor than it should be."""
        if self.dtype != "int8":
            return self.linear(graph, fed[0], weight)
        whole, scales, zeros = self.quantised(weight)
        inputs = [fed[0], *(graph.weights.add(each) for each in (whole, ROW_STEP, scales, ROW_ZERO, zeros))]
        y = graph.add("MatMulIntegerToFloat", inputs, microsoft=True)
        return graph.add("Mul", [y, fed[1]]) if scaled else y

    def four_bits(self, graph, x, weight):
        """Blocks of 32 with a scale each; the greatest number of a block is -8 scales."""
        rows, columns = weight.shape
        blocks = -(-columns // BLOCK)
        padded = np.zeros((rows, blocks * BLOCK), np.float32)
        padded[:, :columns] = weight
        padded = padded.reshape(rows, blocks, BLOCK)
        greatest = np.take_along_axis(padded, np.abs(padded).argmax(2)[..., None], 2)
        scales = np.where(greatest == 0, 1, greatest / -8).astype(np.float32)
        quantised = np.clip(np.rint(padded / scales) + 8, 0, 15).astype(np.uint8)
        packed = quantised[..., 0::2] | quantised[..., 1::2] << 4
        inputs = [x, graph.weights.add(packed), graph.weights.add(scales.reshape(-1))]
        return graph.add(
            "MatMulNBits", inputs, microsoft=True, K=columns, N=rows, bits=4, block_size=BLOCK, accuracy_level=4
        )

    def table(self, graph, weight):
        """A table of embeddings for `rows`: the names of its weights."""
        if self.dtype in ("f32", "f16"):
            return [graph.weights.add(weight.astype(self.real))]
        scales = row_scales(weight, 127)
        quantised = np.rint(weight / scales[:, None]).astype(np.int8)
        return [graph.weights.add(quantised), graph.weights.add(scales[:, None])]

    def rows(self, graph, table, identities):
        """Rows of a table, as floats."""
        found = [graph.add("Gather", [weights, identities], axis=0) for weights in table]
        return found[0] if len(found) == 1 else graph.add("Mul", [graph.cast(found[0], np.float32), found[1]])

    def head(self, graph, x, weight, table=None):
        """Logits in float32; with float weights `table` serves, where the model ties the two."""
        if table is None or len(table) > 1:
            logits = self.multiply(graph, self.feed(graph, x), weight)
        else:
            logits = graph.add("FusedMatMul", [x, table[0]], microsoft=True, transB=1)
        return logits if self.real == np.float32 else graph.cast(logits, np.float32)


def row_scales(weight, greatest):
    """Of each row, so that its greatest number becomes `greatest`."""
    return np.maximum(np.abs(weight).max(1) / greatest, 1e-12).astype(np.float32)
