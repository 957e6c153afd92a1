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
    drafted = graph.add("Max", [fed["draft_ids"], graph.constant(0)])
    identities = graph.add("Concat", [fed["prompt_ids"], drafted], axis=1)
    x = add_embeddings(graph, products, table, identities, fed["prompt_ids"], fed["audio_features"], audio_pad)
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


def add_embeddings(graph, products, table, identities, prompt, features, audio_pad):
    """[B, S+D, hidden] in float32, with the audio's features where the prompt has room for them."""
    x = products.rows(graph, table, identities)
    audio = graph.add("Equal", [prompt, graph.constant(audio_pad)])
    places = graph.add("Transpose", [graph.add("NonZero", [audio])], perm=[1, 0])
    x = graph.add("ScatterND", [x, places, features])
    return products.casts(graph)[1](x)


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
    x, caches = add_transformer(body, model.model.language_model, shape, products, turn, before)
    x = products.casts(body)[0](add_norm(body, x, model.model.language_model.norm, shape.epsilon))
    is_tied = model.lm_head.weight.data_ptr() == model.model.language_model.embed_tokens.weight.data_ptr()
    logits = products.head(body, x, numbers(model.lm_head.weight), table if is_tied else None)
    said = add_choice(body, turn, logits)
    after = add_end(body, turn, said, fed["eos_ids"])
    x = products.rows(body, table, after["token"])
    after["x"] = products.casts(body)[1](x)
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
    differs = body.cast(body.add("Not", [body.add("Equal", [choices, turn["expected"]])]), np.float32)
    agreed = body.add("ArgMax", [differs], axis=1, keepdims=1)

    def share_of(tokens):
        found = body.add("GatherElements", [shares, body.unsqueeze(tokens, [2])], axis=2)
        return body.add("Squeeze", [found, body.constant([2])])

    return {
        "agreed": agreed,
        "token": body.add("GatherElements", [choices, agreed], axis=1),
        "logprob": body.add("GatherElements", [share_of(choices), agreed], axis=1),
        "draft_logprobs": body.slice(share_of(body.add("Max", [turn["expected"], body.constant(0)])), 1, 0, -1),
    }


def add_end(body, turn, said, ends):
    """Rows that have ended repeat their end token while others go on."""
    token = body.add("Where", [turn["ended"], turn["last"], said["token"]])
    is_end = body.cast(body.add("Equal", [token, ends]), np.float32)
    is_end = body.cast(body.add("ReduceMax", [is_end, body.constant([1])], keepdims=1), np.bool_)
    ended = body.add("Or", [turn["ended"], is_end])
    all_ended = body.add("ReduceMin", [body.cast(ended, np.float32), body.constant([0, 1])], keepdims=0)
    return {
        "goes_on": body.add("Not", [body.cast(all_ended, np.bool_)]),
        "token": token,
        "last": token,
        "logprob": body.add("Where", [turn["ended"], body.constant(0, np.float32), said["logprob"]]),
        "ended": ended,
        "agreed": body.add("Add", [turn["agreed"], said["agreed"]]),
        "draft_logprobs": body.add("Concat", [turn["draft_logprobs"], said["draft_logprobs"]], axis=1),
        "expected": body.add("Sub", [body.add("Mul", [said["agreed"], body.constant(0)]), body.constant(1)]),
    }


@dataclass
class Attended:
    """What the tokens of a turn attend to, and where they stand."""

    # 0, or a large negative number: [B, 1, rows, columns], the rows once for each head that shares keys with others.
    mask: str
    # Where each key and each query stands in the tables, and those.
    keys: list
    queries: list
    # In the last layer, where the rows begin that are asked for what comes next: no others are needed.
    last: str | None = None


def add_transformer(body, language, shape, products, turn, last):
    """What the layers make of the rows of `turn` from `last` on, or of all, and the caches with it."""
    x, caches = turn["x"], {}
    valid = body.add("Concat", [turn["valid_past"], turn["valid_new"]], axis=1)
    columns = body.numbers(body.length(valid, 1))
    first = body.length(turn["valid_past"], 1)
    own = body.add("Add", [body.numbers(body.length(x, 1)), first])
    earlier = body.add("LessOrEqual", [columns, body.unsqueeze(own, [1])])
    seen = body.add("And", [body.unsqueeze(valid, [1, 2]), earlier])
    mask = body.add("Where", [seen, body.constant(0, products.real), body.constant(MASKED, products.real)])
    shared = shape.heads // shape.key_value_heads
    repeated = lambda rows: body.add("Concat", [rows] * shared, axis=2)
    rows, *tables = add_rotary_tables(body, shape, turn["positions"])
    attended = Attended(repeated(mask), [rows, *tables], [rows, *tables])
    for index, layer in enumerate(language.layers):
        past = [turn[f"{kind}{index}"] for kind in ("keys", "values")]
        if last is not None and index == shape.layers - 1:
            queries = [body.slice(rows, 1, last), *tables]
            attended = Attended(repeated(body.slice(mask, 2, last)), attended.keys, queries, last)
        x, keys, values = add_layer(body, shape, products, x, layer, past, attended)
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


def add_norm(body, x, norm, epsilon, scale=1.0):
    scale = body.weights.add(numbers(norm.weight) * np.float32(scale))
    return body.add("SimplifiedLayerNormalization", [x, scale], axis=-1, epsilon=epsilon, stash_type=1)


def add_layer(body, shape, products, x, layer, past, attended):
    """One layer: its output, keys and values. The stream, norms and rotations are float32 in every kind of weights."""
    narrow, wide = products.casts(body)
    attention, size, heads, few = layer.self_attn, shape.head_size, shape.heads, shape.key_value_heads
    linear = lambda fed, part, scaled=True: products.multiply(body, fed, numbers(part.weight), scaled)
    feed = lambda value: products.feed(body, value)
    apart = lambda part, count: body.add("Transpose", [body.reshape(part, [0, 0, count, size])], perm=[0, 2, 1, 3])

    def turned(part, norm, count, rotary, scale=1.0):
        part = add_norm(body, apart(wide(part), count), norm, shape.epsilon, scale)
        return narrow(body.add("RotaryEmbedding", [part, *rotary], microsoft=True))

    h = feed(narrow(add_norm(body, x, layer.input_layernorm, shape.epsilon)))
    # Norms take a row's factor out.
    keys = turned(linear(h, attention.k_proj, scaled=False), attention.k_norm, few, attended.keys)
    keys = body.add("Concat", [past[0], keys], axis=2)
    values = body.add("Concat", [past[1], apart(linear(h, attention.v_proj), few)], axis=2)
    if attended.last is not None:
        x, *h = (body.slice(value, 1, attended.last) for value in (x, *h))
    # What multiplies the scores is a part of the queries' norm.
    queries = turned(linear(h, attention.q_proj, scaled=False), attention.q_norm, heads, attended.queries, size**-0.5)
    # Heads that share keys are one product.
    queries = body.reshape(queries, [0, few, -1, size])
    scores = body.add("MatMul", [queries, body.add("Transpose", [keys], perm=[0, 1, 3, 2])])
    shares = body.add("Softmax", [body.add("Add", [scores, attended.mask])], axis=-1)
    heard = body.reshape(body.add("MatMul", [shares, values]), [0, heads, -1, size])
    heard = body.reshape(body.add("Transpose", [heard], perm=[0, 2, 1, 3]), [0, 0, heads * size])
    x = body.add("Add", [x, wide(linear(feed(heard), attention.o_proj))])
    h = feed(narrow(add_norm(body, x, layer.post_attention_layernorm, shape.epsilon)))
    gate = linear(h, layer.mlp.gate_proj)
    gate = body.add("Mul", [gate, body.add("Sigmoid", [gate])])
    inner = body.add("Mul", [gate, linear(h, layer.mlp.up_proj)])
    return body.add("Add", [x, wide(linear(feed(inner), layer.mlp.down_proj))]), keys, values


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
