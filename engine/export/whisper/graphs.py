"""Whisper's networks as modules that torch can trace, for our layout and for the public one.

Caches have the public names: `past_key_values.N.decoder.key` and so on, and `present.N…` for those that come out."""

import torch
import torch.nn as nn
import torch.nn.functional as F

OPSET = 17
MASKED = -1e9
KINDS = ("key", "value")


def past_names(layers, of):
    """Of the caches of `decoder` or `encoder`, layer by layer."""
    return [f"past_key_values.{layer}.{of}.{kind}" for layer in range(layers) for kind in KINDS]


def present_names(layers, of):
    return [name.replace("past_key_values", "present") for name in past_names(layers, of)]


def attend(queries, keys, values, bias=None):
    """What is attended to, and how much of each position. [1, heads, positions, head size]"""
    scores = queries * queries.shape[-1] ** -0.5 @ keys.transpose(2, 3)
    shares = torch.softmax(scores if bias is None else scores + bias, -1)
    return (shares @ values).transpose(1, 2).flatten(2), shares


class Encoder(nn.Module):
    """Features [1, bands, frames] of any length -> hidden states [1, frames / 2, width]. As it is published, its
    positions are those of 30 s, whatever comes."""

    def __init__(self, model, published=False):
        super().__init__()
        self.encoder, self.heads = model.model.encoder, model.config.encoder_attention_heads
        self.published = published

    def forward(self, features):
        encoder = self.encoder
        x = F.gelu(encoder.conv2(F.gelu(encoder.conv1(features)))).transpose(1, 2)
        places = encoder.embed_positions.weight
        x = x + (places if self.published else places[: x.shape[1]])
        split = lambda t: t.view(1, -1, self.heads, t.shape[-1] // self.heads).transpose(1, 2)
        for layer in encoder.layers:
            own, normed = layer.self_attn, layer.self_attn_layer_norm(x)
            attended, _ = attend(*(split(project(normed)) for project in (own.q_proj, own.k_proj, own.v_proj)))
            x = x + own.out_proj(attended)
            x = x + layer.fc2(F.gelu(layer.fc1(layer.final_layer_norm(x))))
        return encoder.layer_norm(x)


class CrossEncoder(nn.Module):
    """Features -> keys and values of each decoder layer's attention to the speech, key before value."""

    def __init__(self, model):
        super().__init__()
        self.encoder, self.decoder = Encoder(model), Decoder(model)

    def forward(self, features):
        return self.decoder.speech_caches(self.encoder(features))


class Decoder(nn.Module):
    """Tokens -> logits behind each of them, and the caches.

    `rows`: the embedding in 8 bits, which a product of matrices cannot be quantised with."""

    def __init__(self, model, quantised=False):
        super().__init__()
        self.decoder, self.head, self.heads = model.model.decoder, model.proj_out, model.config.decoder_attention_heads
        table = self.decoder.embed_tokens.weight
        self.scales = table.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        self.rows = torch.round(table / self.scales).to(torch.int8) if quantised else None

    def embed(self, tokens):
        if self.rows is None:
            return self.decoder.embed_tokens(tokens)
        return self.rows[tokens].float() * self.scales[tokens]

    def split(self, t):
        return t.view(1, -1, self.heads, t.shape[-1] // self.heads).transpose(1, 2)

    def speech_caches(self, hidden):
        return tuple(
            self.split(project(hidden))
            for layer in self.decoder.layers
            for project in (layer.encoder_attn.k_proj, layer.encoder_attn.v_proj)
        )

    def decode(self, tokens, past, speech, masked=True):
        """`past` and `speech`: caches, key before value; past = [] without a text before. Logits, the caches of the
        text, and each layer's shares of attention to the speech."""
        begin, count = past[0].shape[2] if past else 0, tokens.shape[1]
        x = self.embed(tokens) + self.decoder.embed_positions.weight[begin : begin + count]
        bias = None
        if masked:
            later = torch.arange(begin + count)[None] > (torch.arange(count) + begin)[:, None]
            bias = torch.where(later, MASKED, 0.0)
        caches, attentions = [], []
        for index, layer in enumerate(self.decoder.layers):
            own, normed = layer.self_attn, layer.self_attn_layer_norm(x)
            queries, keys, values = (self.split(project(normed)) for project in (own.q_proj, own.k_proj, own.v_proj))
            if past:
                keys = torch.cat([past[2 * index], keys], 2)
                values = torch.cat([past[2 * index + 1], values], 2)
            x = x + own.out_proj(attend(queries, keys, values, bias)[0])
            other, normed = layer.encoder_attn, layer.encoder_attn_layer_norm(x)
            attended, shares = attend(self.split(other.q_proj(normed)), speech[2 * index], speech[2 * index + 1])
            x = x + other.out_proj(attended)
            x = x + layer.fc2(F.gelu(layer.fc1(layer.final_layer_norm(x))))
            caches += [keys, values]
            attentions.append(shares)
        return self.head(self.decoder.layer_norm(x)), caches, attentions


class StepDecoder(nn.Module):
    """Ours: any number of tokens behind any number before. `alignment`: how much the heads that follow the speech
    attend to each frame, [heads, tokens, frames]."""

    def __init__(self, model, quantised, aligning):
        super().__init__()
        self.decoder, self.layers, self.aligning = Decoder(model, quantised), model.config.decoder_layers, aligning

    def forward(self, tokens, *caches):
        past, speech = list(caches[: 2 * self.layers]), list(caches[2 * self.layers :])
        logits, present, attentions = self.decoder.decode(tokens, past, speech)
        alignment = torch.stack([attentions[layer][0, head] for layer, head in self.aligning])
        return (logits, *present, alignment)


class FirstDecoder(nn.Module):
    """The public layout's branch without a past."""

    def __init__(self, model, with_attention):
        super().__init__()
        self.decoder, self.with_attention = Decoder(model), with_attention

    def forward(self, tokens, hidden):
        speech = self.decoder.speech_caches(hidden)
        logits, present, attentions = self.decoder.decode(tokens, [], speech)
        return logits, *interleaved(present, speech), *(attentions if self.with_attention else [])


class NextDecoder(nn.Module):
    """The public layout's branch with a past. It was traced with one token, which needs no mask: of several, each would
    see those behind it."""

    def __init__(self, model, with_attention):
        super().__init__()
        self.decoder, self.layers, self.with_attention = Decoder(model), model.config.decoder_layers, with_attention

    def forward(self, tokens, *caches):
        past = [cache for layer in range(self.layers) for cache in caches[4 * layer : 4 * layer + 2]]
        speech = [cache for layer in range(self.layers) for cache in caches[4 * layer + 2 : 4 * layer + 4]]
        logits, present, attentions = self.decoder.decode(tokens, past, speech, masked=False)
        return logits, *present, *(attentions if self.with_attention else [])


def interleaved(text, speech):
    """Layer by layer: key and value of the text, key and value of the speech."""
    return [cache for at in range(0, len(text), 2) for cache in (*text[at : at + 2], *speech[at : at + 2])]


def trace(module, inputs, path, names_in, names_out, axes):
    torch.onnx.export(
        module.eval(),
        inputs,
        str(path),
        input_names=names_in,
        output_names=names_out,
        dynamic_axes=axes,
        opset_version=OPSET,
        dynamo=False,
    )


def trace_ours(model, folder, quantised, aligning):
    """Writes encoder_cross.onnx and decoder_step.onnx; their names without `.onnx`."""
    config = model.config
    layers, size = config.decoder_layers, config.d_model // config.decoder_attention_heads
    features = torch.randn(1, config.num_mel_bins, 400)
    speech = present_names(layers, "encoder")
    trace(CrossEncoder(model), (features,), folder / "encoder_cross.onnx", ["input_features"], speech,
          {"input_features": {2: "frames"}, **{name: {2: "positions"} for name in speech}})
    past = torch.zeros(1, config.decoder_attention_heads, 3, size)
    heard = torch.zeros(1, config.decoder_attention_heads, 200, size)
    names_in = ["input_ids", *past_names(layers, "decoder"), *past_names(layers, "encoder")]
    names_out = ["logits", *present_names(layers, "decoder"), "alignment"]
    axes = {"input_ids": {1: "tokens"}, "logits": {1: "tokens"}, "alignment": {1: "tokens", 2: "positions"}}
    axes |= {name: {2: "past"} for name in past_names(layers, "decoder")}
    axes |= {name: {2: "positions"} for name in past_names(layers, "encoder")}
    axes |= {name: {2: "present"} for name in present_names(layers, "decoder")}
    inputs = (torch.tensor([[1, 2]]), *[past] * (2 * layers), *[heard] * (2 * layers))
    trace(StepDecoder(model, quantised, aligning), inputs, folder / "decoder_step.onnx", names_in, names_out, axes)
    return ["encoder_cross", "decoder_step"]
