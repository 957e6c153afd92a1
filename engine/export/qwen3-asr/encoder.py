"""encoder.onnx: log-mel frames to audio features."""

import numpy as np

from builder import Graph
from products import CLAMP, MASKED


def numbers(parameter):
    """A parameter as float32."""
    return parameter.detach().float().numpy()


def build_encoder(model, products, weights):
    """mel [128, C*100], tokens [N], windows [N] -> audio_features [N, H]."""
    tower = model.audio_tower
    graph = Graph("encoder", weights)
    config = tower.config
    frames = 2 * config.n_window
    mel = graph.input("mel", np.float32, [config.num_mel_bins, "frames"])
    tokens = graph.input("tokens", np.int64, ["count"])
    windows = graph.input("windows", np.int64, ["count"])
    x = add_convolutions(graph, tower, products, mel, frames)
    x = graph.add("Gather", [x, tokens], axis=0)
    x = products.linear(graph, x, numbers(tower.conv_out.weight))
    places = numbers(tower.positional_embedding.positional_embedding).astype(products.real)
    place = graph.add("Mod", [tokens, graph.constant(chunk_tokens(frames))])
    x = graph.add("Add", [x, graph.add("Gather", [graph.weights.add(places), place], axis=0)])
    mask = add_mask(graph, products, windows)
    for layer in tower.layers:
        x = add_layer(graph, products, x, layer, mask)
    x = add_norm(graph, products, x, tower.ln_post)
    projector = model.multi_modal_projector
    x = add_gelu(graph, add_linear(graph, products, x, projector.linear_1))
    x = add_linear(graph, products, x, projector.linear_2)
    graph.output(x, "audio_features", products.real, ["count", config.output_dim])
    return graph


def chunk_tokens(frames):
    """Tokens of a chunk of so many frames: three convolutions with stride 2."""
    for _ in range(3):
        frames = (frames + 1) // 2
    return frames


def add_convolutions(graph, tower, products, mel, frames):
    """[128, C*100] -> [C*13, channels * 16]"""
    config = tower.config
    x = mel if products.real == np.float32 else graph.cast(mel, products.real)
    x = graph.reshape(x, [config.num_mel_bins, -1, frames])
    x = graph.unsqueeze(graph.add("Transpose", [x], perm=[1, 0, 2]), [1])
    for layer in (tower.conv2d1, tower.conv2d2, tower.conv2d3):
        constants = [graph.weights.add(numbers(value).astype(products.real)) for value in (layer.weight, layer.bias)]
        x = graph.add("Conv", [x, *constants], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        x = add_gelu(graph, x)
    x = graph.add("Transpose", [x], perm=[0, 3, 1, 2])
    return graph.reshape(x, [-1, tower.conv_out.in_features])


def add_gelu(graph, x):
    return graph.add("Gelu", [x], approximate="none")


def add_linear(graph, products, x, layer):
    bias = None if layer.bias is None else numbers(layer.bias)
    return products.linear(graph, x, numbers(layer.weight), bias)


def add_norm(graph, products, x, norm):
    constants = [graph.weights.add(numbers(value).astype(products.real)) for value in (norm.weight, norm.bias)]
    return graph.add("LayerNormalization", [x, *constants], axis=-1, epsilon=norm.eps)


def add_mask(graph, products, windows):
    """What keeps tokens within their window: 0 or a large negative number, [N, N]."""
    same = graph.add("Equal", [graph.unsqueeze(windows, [1]), graph.unsqueeze(windows, [0])])
    return graph.add("Where", [same, graph.constant(0, products.real), graph.constant(MASKED, products.real)])


def add_layer(graph, products, x, layer, mask):
    """Attention, then the feed-forward part."""
    attention = layer.self_attn
    heads, size = attention.num_heads, attention.head_dim
    parts = [attention.q_proj, attention.k_proj, attention.v_proj]
    weight, bias = [np.concatenate([numbers(getattr(part, name)) for part in parts]) for name in ("weight", "bias")]
    # The queries' scale is a part of their weights.
    weight[: heads * size] *= attention.scaling
    bias[: heads * size] *= attention.scaling
    joined = products.linear(graph, add_norm(graph, products, x, layer.self_attn_layer_norm), weight, bias)
    joined = graph.add("Transpose", [graph.reshape(joined, [0, 3, heads, size])], perm=[1, 2, 0, 3])
    parts = graph.split(joined, [1, 1, 1], 0)
    queries, keys, values = (graph.add("Squeeze", [part, graph.constant([0])]) for part in parts)
    scores = graph.add("MatMul", [queries, graph.add("Transpose", [keys], perm=[0, 2, 1])])
    shares = graph.add("Softmax", [graph.add("Add", [scores, mask])], axis=-1)
    heard = graph.add("Transpose", [graph.add("MatMul", [shares, values])], perm=[1, 0, 2])
    heard = graph.reshape(heard, [0, heads * size])
    x = graph.add("Add", [x, add_linear(graph, products, heard, attention.out_proj)])
    inner = add_linear(graph, products, add_norm(graph, products, x, layer.final_layer_norm), layer.fc1)
    inner = add_gelu(graph, inner)
    x = graph.add("Add", [x, add_linear(graph, products, inner, layer.fc2)])
    if products.real == np.float16:
        x = graph.add("Clip", [x, graph.constant(-CLAMP, np.float16), graph.constant(CLAMP, np.float16)])
    return x
