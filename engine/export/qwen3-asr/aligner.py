"""aligner/classifier.onnx: when the words of a text were said."""

import numpy as np

from builder import Graph
from decoder import Shape, add_embeddings, add_norm, add_transformer
from encoder import numbers


def build_classifier(model, products, weights):
    """prompt_ids [1, S], audio_features [A, H] -> classes [K], the likeliest one at each time mark of the prompt."""
    language = model.model.language_model
    shape = Shape.of(language.config)
    graph = Graph("classifier", weights)
    prompt = graph.input("prompt_ids", np.int64, [1, "prompt"])
    audio = graph.input("audio_features", products.real, ["audio", shape.hidden])
    table = products.table(graph, numbers(language.embed_tokens.weight))
    x = add_embeddings(graph, products, table, prompt, prompt, audio, model.config.audio_token_id)
    count = graph.length(prompt, 1)
    places = graph.unsqueeze(graph.numbers(count), [0])
    nothing = graph.weights.add(np.zeros((1, shape.key_value_heads, 0, shape.head_size), products.real))
    turn = {
        "x": x,
        "positions": places,
        "valid_past": graph.slice(graph.add("Less", [places, graph.constant(0)]), 1, 0, 0),
        "valid_new": graph.add("GreaterOrEqual", [places, graph.constant(0)]),
    }
    turn |= {f"{kind}{index}": nothing for kind in ("keys", "values") for index in range(shape.layers)}
    x, _ = add_transformer(graph, language, shape, products, turn, None)
    marks = graph.add("Equal", [graph.reshape(prompt, [-1]), graph.constant(model.config.timestamp_token_id)])
    marks = graph.reshape(graph.add("NonZero", [marks]), [-1])
    x = graph.add("Gather", [graph.reshape(x, [-1, shape.hidden]), marks], axis=0)
    x = products.casts(graph)[0](add_norm(graph, x, language.norm, shape.epsilon))
    bias = None if model.score.bias is None else numbers(model.score.bias)
    logits = products.casts(graph)[1](products.linear(graph, x, numbers(model.score.weight), bias))
    graph.output(graph.add("ArgMax", [logits], axis=-1, keepdims=0), "classes", np.int64, ["marks"])
    return graph
