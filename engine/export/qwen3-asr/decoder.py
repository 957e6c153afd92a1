"""decoder_loop.onnx: a prompt, the audio's features and a draft to tokens, in one run."""

from dataclasses import dataclass

import numpy as np

from builder import Graph
from encoder import numbers
from products import MASKED

NOTHING = -1


@dataclass
class Shape:
    """The sizes of a language model, as its checkpoint has them."""

    layers: int
    hidden: int
    heads: int
    key_value_heads: int
    head_size: int
    vocabulary: int
    theta: float
    epsilon: float

    @staticmethod
    def of(config):
        theta = (getattr(config, "rope_parameters", None) or {}).get("rope_theta", 1_000_000.0)
        return Shape(
            config.num_hidden_layers, config.hidden_size, config.num_attention_heads, config.num_key_value_heads,
            config.head_dim, config.vocab_size, float(theta), float(config.rms_norm_eps),
        )


def build_decoder(model, products, weights, audio_pad):
    """The graph; `model` is Qwen3ASRForConditionalGeneration."""
    language = model.model.language_model
    shape = Shape.of(language.config)
    graph = Graph("decoder_loop", weights)
    fed = add_inputs(graph, shape, products)
    table = products.table(graph, numbers(language.embed_tokens.weight))
    x = add_embeddings(graph, products, table, fed, audio_pad)
    carried = {"x": x, **start_state(graph, fed)}
    for kind in ("keys", "values"):
        layers = graph.split(fed[f"past_{kind}"], [1] * shape.layers, 0)
        layers = [layers] if isinstance(layers, str) else layers
        carried |= {f"{kind}{index}": graph.add("Squeeze", [layer, graph.constant([0])])
                    for index, layer in enumerate(layers)}
    body = build_body(graph, model, shape, products, table, fed)
    always = graph.weights.add(np.array(True))
    results = graph.add(
        "Loop", [fed["max_new_tokens"], always, *carried.values()], count=len(carried) + 2, body=body.finish()
    )
    add_outputs(graph, shape, products, fed, dict(zip([*carried, "tokens", "logprobs"], results, strict=True)))
    return graph


def add_inputs(graph, shape, products):
    cache = [shape.layers, "batch", shape.key_value_heads, "past", shape.head_size]
    inputs = {
        "prompt_ids": (np.int64, ["batch", "prompt"]),
        "pads": (np.int64, ["batch"]),
        "draft_ids": (np.int64, ["batch", "draft"]),
        "draft_lengths": (np.int64, ["batch"]),
        "audio_features": (products.real, ["audio", shape.hidden]),
        "past_keys": (products.real, cache),
        "past_values": (products.real, cache),
        "max_new_tokens": (np.int64, []),
        "eos_ids": (np.int64, ["ends"]),
    }
    return {name: graph.input(name, dtype, dims) for name, (dtype, dims) in inputs.items()}


def add_embeddings(graph, products, table, fed, audio_pad):
    """[B, S+D, hidden] in float32, with the audio's features where the prompt has room for them."""
    drafted = graph.add("Max", [fed["draft_ids"], graph.constant(0)])
    identities = graph.add("Concat", [fed["prompt_ids"], drafted], axis=1)
    x = products.rows(graph, table, identities)
    audio = graph.add("Equal", [fed["prompt_ids"], graph.constant(audio_pad)])
    places = graph.add("Transpose", [graph.add("NonZero", [audio])], perm=[1, 0])
    x = graph.add("ScatterND", [x, places, fed["audio_features"]])
    return x if products.real == np.float32 else graph.cast(x, np.float32)


def start_state(graph, fed):
    """What the first turn of the loop begins with; everything has one row for each of the batch."""
    past, prompt, draft = (graph.length(fed[name], axis) for name, axis in
                           (("past_keys", 3), ("prompt_ids", 1), ("draft_ids", 1)))
    pads, lengths = (graph.unsqueeze(fed[name], [1]) for name in ("pads", "draft_lengths"))
    columns = graph.numbers(graph.add("Add", [graph.add("Add", [past, prompt]), draft]))
    places = graph.add("Sub", [columns, pads])
    zeros = graph.add("Mul", [pads, graph.constant(0)])
    nothing = graph.add("Add", [zeros, graph.constant(NOTHING)])
    known = graph.add("Less", [graph.numbers(draft), lengths])
    expected = graph.add("Where", [known, fed["draft_ids"], graph.constant(NOTHING)])
    valid = graph.add("GreaterOrEqual", [places, graph.constant(0)])
    return {
        "positions": graph.slice(graph.add("Max", [places, graph.constant(0)]), 1, past),
        "valid_past": graph.slice(valid, 1, 0, past),
        "valid_new": graph.slice(valid, 1, past),
        # Behind the draft's last token nothing is expected.
        "expected": graph.add("Concat", [expected, nothing], axis=1),
        "agreed": zeros,
        "draft_logprobs": graph.slice(graph.cast(zeros, np.float32), 1, 0, 0),
        "ended": graph.cast(zeros, np.bool_),
        "last": zeros,
    }


def body_inputs(body, shape, products):
    body.input("turn", np.int64, [])
    body.input("goes_on", np.bool_, [])
    cache = ["batch", shape.key_value_heads, "past", shape.head_size]
    inputs = {
        "x": (np.float32, ["batch", "new", shape.hidden]),
        "positions": (np.int64, ["batch", "new"]),
        "valid_past": (np.bool_, ["batch", "past"]),
        "valid_new": (np.bool_, ["batch", "new"]),
        "expected": (np.int64, ["batch", "rows"]),
        "agreed": (np.int64, ["batch", 1]),
        "draft_logprobs": (np.float32, ["batch", "verified"]),
        "ended": (np.bool_, ["batch", 1]),
        "last": (np.int64, ["batch", 1]),
    }
    inputs |= {f"{kind}{index}": (products.real, cache) for kind in ("keys", "values") for index in range(shape.layers)}
    return {name: body.input(f"turn_{name}", dtype, dims) for name, (dtype, dims) in inputs.items()}


def build_body(graph, model, shape, products, table, fed):
    """One turn: the prompt with its draft at first, then a token each."""
    body = Graph("turn", graph.weights, outer=graph)
    turn = body_inputs(body, shape, products)
    rows = body.length(turn["expected"], 1)
    before = body.add("Neg", [rows])
    x, caches = add_transformer(body, model.model.language_model, shape, products, turn)
    x = add_norm(body, body.slice(x, 1, before), model.model.language_model.norm, shape.epsilon)
    x = x if products.real == np.float32 else body.cast(x, products.real)
    is_tied = model.lm_head.weight.data_ptr() == model.model.language_model.embed_tokens.weight.data_ptr()
    logits = products.head(body, x, numbers(model.lm_head.weight), table if is_tied else None)
    said = add_choice(body, turn, logits)
    after = add_end(body, turn, said, fed["eos_ids"])
    x = products.rows(body, table, after["token"])
    after["x"] = x if products.real == np.float32 else body.cast(x, np.float32)
    place = body.add("GatherElements", [body.slice(turn["positions"], 1, before), said["agreed"]], axis=1)
    after["positions"] = body.add("Add", [place, body.constant(1)])
    new = body.length(turn["valid_new"], 1)
    right = body.add("Add", [body.add("Sub", [new, rows]), said["agreed"]])
    kept = body.add("LessOrEqual", [body.numbers(new), right])
    kept = body.add("And", [turn["valid_new"], kept])
    after["valid_past"] = body.add("Concat", [turn["valid_past"], kept], axis=1)
    after["valid_new"] = body.add("GreaterOrEqual", [said["agreed"], body.constant(0)])
    after |= caches
    body.output(after["goes_on"], "next_goes_on", np.bool_, [])
    for name, value in zip(turn, list(body.inputs)[2:], strict=True):
        dims = [dim.dim_value or f"next_{dim.dim_param}" for dim in value.type.tensor_type.shape.dim]
        dtype = {"keys": products.real, "valu": products.real}.get(name[:4]) or BODY_TYPES[name]
        body.output(after[name], f"next_{name}", dtype, dims)
    body.output(body.add("Squeeze", [after["token"], body.constant([1])]), "token", np.int64, ["batch"])
    body.output(body.add("Squeeze", [after["logprob"], body.constant([1])]), "logprob", np.float32, ["batch"])
    return body


BODY_TYPES = {
    "x": np.float32, "positions": np.int64, "valid_past": np.bool_, "valid_new": np.bool_, "expected": np.int64,
    "agreed": np.int64, "draft_logprobs": np.float32, "ended": np.bool_, "last": np.int64,
}


def add_choice(body, turn, logits):
    """The likeliest token behind each of the last rows, how many of the draft they are, and what comes then."""
    shares = body.add("LogSoftmax", [logits], axis=-1)
    choices = body.add("ArgMax", [logits], axis=-1, keepdims=0)
    best = body.add("ReduceMax", [shares, body.constant([2])], keepdims=0)
    differs = body.cast(body.add("Not", [body.add("Equal", [choices, turn["expected"]])]), np.float32)
    agreed = body.add("ArgMax", [differs], axis=1, keepdims=1)
    wanted = body.unsqueeze(body.add("Max", [turn["expected"], body.constant(0)]), [2])
    wanted = body.add("Squeeze", [body.add("GatherElements", [shares, wanted], axis=2), body.constant([2])])
    return {
        "agreed": agreed,
        "token": body.add("GatherElements", [choices, agreed], axis=1),
        "logprob": body.add("GatherElements", [best, agreed], axis=1),
        "draft_logprobs": body.slice(wanted, 1, 0, -1),
    }


def add_end(body, turn, said, ends):
    """Rows that have ended repeat their end token while others go on."""
    token = body.add("Where", [turn["ended"], turn["last"], said["token"]])
    is_end = body.cast(body.add("Equal", [token, ends]), np.float32)
    is_end = body.cast(body.add("ReduceMax", [is_end, body.constant([1])], keepdims=1), np.bool_)
    ended = body.add("Or", [turn["ended"], is_end])
    all_ended = body.cast(body.add("ReduceMin", [body.cast(ended, np.float32), body.constant([0, 1])], keepdims=0), np.bool_)
    return {
        "goes_on": body.add("Not", [all_ended]),
        "token": token,
        "last": token,
        "logprob": body.add("Where", [turn["ended"], body.constant(0, np.float32), said["logprob"]]),
        "ended": ended,
        "agreed": body.add("Add", [turn["agreed"], said["agreed"]]),
        "draft_logprobs": body.add("Concat", [turn["draft_logprobs"], said["draft_logprobs"]], axis=1),
        "expected": body.add("Sub", [body.add("Mul", [said["agreed"], body.constant(0)]), body.constant(1)]),
    }


def add_transformer(body, language, shape, products, turn):
    """What the layers make of `turn`, and the caches with it."""
    x, caches = turn["x"], {}
    valid = body.add("Concat", [turn["valid_past"], turn["valid_new"]], axis=1)
    columns = body.numbers(body.length(valid, 1))
    first = body.length(turn["valid_past"], 1)
    own = body.add("Add", [body.numbers(body.length(x, 1)), first])
    earlier = body.add("LessOrEqual", [columns, body.unsqueeze(own, [1])])
    seen = body.add("And", [body.unsqueeze(valid, [1, 2]), earlier])
    mask = body.add("Where", [seen, body.constant(0, products.real), body.constant(MASKED, products.real)])
    rotary = add_rotary_tables(body, shape, turn["positions"])
    for index, layer in enumerate(language.layers):
        past = [turn[f"{kind}{index}"] for kind in ("keys", "values")]
        x, keys, values = add_layer(body, shape, products, x, layer, past, mask, rotary)
        caches |= {f"keys{index}": keys, f"values{index}": values}
    return x, caches


def add_rotary_tables(body, shape, positions):
    """Where each token stands in the tables, and the cosines and sines of all positions, one row each."""
    frequencies = 1.0 / shape.theta ** (np.arange(0, shape.head_size, 2, dtype=np.float32) / shape.head_size)
    flat = body.reshape(body.cast(positions, np.float32), [-1, 1])
    angles = body.add("Mul", [flat, body.constant(frequencies.astype(np.float32), np.float32)])
    rows = body.numbers(body.length(flat, 0))
    rows = body.add("Reshape", [rows, body.add("Shape", [positions])])
    return [rows, body.add("Cos", [angles]), body.add("Sin", [angles])]


def add_norm(body, x, norm, epsilon):
    scale = body.weights.add(numbers(norm.weight))
    return body.add("SimplifiedLayerNormalization", [x, scale], axis=-1, epsilon=epsilon, stash_type=1)


def add_layer(body, shape, products, x, layer, past, mask, rotary):
    """One layer: its output, keys and values. The stream, norms and rotations are float32 in every kind of weights."""
    is_half = products.real == np.float16
    narrow = (lambda value: body.cast(value, np.float16)) if is_half else (lambda value: value)
    wide = (lambda value: body.cast(value, np.float32)) if is_half else (lambda value: value)
    attention, size, heads, few = layer.self_attn, shape.head_size, shape.heads, shape.key_value_heads
    parts = (attention.q_proj, attention.k_proj, attention.v_proj)
    weight = np.concatenate([numbers(part.weight) for part in parts])
    h = narrow(add_norm(body, x, layer.input_layernorm, shape.epsilon))
    joined = products.linear(body, h, weight)
    queries, keys, values = body.split(joined, [heads * size, few * size, few * size])
    turned = []
    for part, norm, count in ((queries, attention.q_norm, heads), (keys, attention.k_norm, few)):
        part = add_norm(body, body.reshape(wide(part), [0, 0, count, size]), norm, shape.epsilon)
        part = body.add("RotaryEmbedding", [body.reshape(part, [0, 0, count * size]), *rotary], microsoft=True)
        turned.append(part)
    # Queries are scaled here: their norm would take a scale out of the weights.
    queries = narrow(body.add("Mul", [turned[0], body.constant(size**-0.5, np.float32)]))
    apart = lambda part, count: body.add("Transpose", [body.reshape(part, [0, 0, count, size])], perm=[0, 2, 1, 3])
    keys = body.add("Concat", [past[0], apart(narrow(turned[1]), few)], axis=2)
    values = body.add("Concat", [past[1], apart(values, few)], axis=2)
    # Heads that share keys are one product.
    queries = body.reshape(apart(queries, heads), [0, few, -1, size])
    scores = body.add("MatMul", [queries, body.add("Transpose", [keys], perm=[0, 1, 3, 2])])
    scores = body.add("Add", [body.reshape(scores, [0, heads, -1, 0]), mask])
    shares = body.reshape(body.add("Softmax", [scores], axis=-1), [0, few, -1, 0])
    heard = body.reshape(body.add("MatMul", [shares, values]), [0, heads, -1, size])
    heard = body.reshape(body.add("Transpose", [heard], perm=[0, 2, 1, 3]), [0, 0, heads * size])
    x = body.add("Add", [x, wide(products.linear(body, heard, numbers(attention.o_proj.weight)))])
    h = narrow(add_norm(body, x, layer.post_attention_layernorm, shape.epsilon))
    weight = np.concatenate([numbers(layer.mlp.gate_proj.weight), numbers(layer.mlp.up_proj.weight)])
    gate, up = body.split(products.linear(body, h, weight), [len(weight) // 2] * 2)
    gate = body.add("Mul", [gate, body.add("Sigmoid", [gate])])
    inner = products.linear(body, body.add("Mul", [gate, up]), numbers(layer.mlp.down_proj.weight))
    return body.add("Add", [x, wide(inner)]), keys, values


def add_outputs(graph, shape, products, fed, results):
    """Tokens row by row, and the caches without the columns of the draft that no row agreed with."""
    flat = lambda value: graph.add("Squeeze", [value, graph.constant([1])])
    graph.output(flat(results["agreed"]), "agreed", np.int64, ["batch"])
    graph.output(results["draft_logprobs"], "draft_logprobs", np.float32, ["batch", "draft"])
    for name, dtype in (("tokens", np.int64), ("logprobs", np.float32)):
        graph.output(graph.add("Transpose", [results[name]], perm=[1, 0]), name, dtype, ["batch", "said"])
    past, prompt, draft = (graph.length(fed[name], axis) for name, axis in
                           (("past_keys", 3), ("prompt_ids", 1), ("draft_ids", 1)))
    begun = graph.add("Add", [past, prompt])
    longest = graph.add("ReduceMax", [results["agreed"], graph.constant([0, 1])], keepdims=0)
    kept = graph.add("Add", [begun, graph.unsqueeze(longest, [0])])
    later = graph.add("Add", [begun, draft])
    dims = [shape.layers, "batch", shape.key_value_heads, "present", shape.head_size]
    for kind in ("keys", "values"):
        layers = [graph.unsqueeze(results[f"{kind}{index}"], [0]) for index in range(shape.layers)]
        whole = graph.add("Concat", layers, axis=0)
        parts = [graph.slice(whole, 3, 0, kept), graph.slice(whole, 3, later)]
        graph.output(graph.add("Concat", parts, axis=3), f"present_{kind}", products.real, dims)
