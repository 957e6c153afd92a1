"""The graphs of the publisher's folders, as modules that torch can trace.

Names and shapes of inputs and outputs are the publisher's; docs/internals/graphs.md lists them."""

import torch
import torch.nn as nn
import torch.nn.functional as F

FRAME_SAMPLES = 80
FRONTEND_INPUTS = ["audio_chunk", "sample_buffer", "sample_len", "conv1_buffer", "conv2_buffer", "frame_count"]
FRONTEND_OUTPUTS = ["features", *(f"{name}_out" for name in FRONTEND_INPUTS[1:])]
FRONTEND_WEIGHTS = ["linear_weight", "conv1_weight", "conv2_weight"]
MASKED = -1e9


def asinh(x):
    """torch's own has no counterpart in the tracer."""
    return torch.sign(x) * torch.log(x.abs() + (x * x + 1).sqrt())


class Frontend(nn.Module):
    """Samples to features, 50 for each second. What an output depends on of earlier samples travels in buffers."""

    def __init__(self, model):
        super().__init__()
        self.embedder = model.model.encoder.embedder

    def weights(self):
        e = self.embedder
        return e.linear.weight, e.conv1.weight, e.conv2.weight

    def forward(self, audio, samples, count, first, second, frames, *weights):
        e = self.embedder
        linear, conv1, conv2 = weights or self.weights()
        sound = torch.cat([samples[:, : count[0]], audio], 1)
        whole = sound.shape[1] // FRAME_SAMPLES
        rest = sound[:, whole * FRAME_SAMPLES :]
        cut = sound[:, : whole * FRAME_SAMPLES].reshape(1, -1, FRAME_SAMPLES)
        hidden = F.silu(F.linear(asinh(torch.exp(e.comp.log_k) * e.cmvn(cut)), linear)).transpose(1, 2)
        a = torch.cat([first, hidden], 2)
        # Every second frame begins an output: which ones depends on how many frames there were.
        middle = F.silu(F.conv1d(a[:, :, frames[0] % 2 :], conv1, e.conv1.bias, stride=2))
        b = torch.cat([second, middle], 2)
        out = F.conv1d(b[:, :, ((frames[0] + 1) // 2) % 2 :], conv2, e.conv2.bias, stride=2)
        kept = F.pad(rest, (0, FRAME_SAMPLES - 1))[:, : FRAME_SAMPLES - 1]
        left = torch.zeros_like(count) + rest.shape[1]
        return out.transpose(1, 2), kept, left, a[:, :, -4:], b[:, :, -4:], frames + whole


class Encoder(nn.Module):
    """Features to encoded frames. Each layer sees its own window of frames."""

    def __init__(self, model):
        super().__init__()
        self.encoder = model.model.encoder
        self.config = model.config.encoder_config

    def forward(self, features):
        x = features
        index = torch.arange(x.shape[1])
        distance = index[:, None] - index[None]
        for layer, (left, right) in zip(self.encoder.layers, self.config.sliding_windows):
            seen = ((distance >= 0) & (distance < left)) | ((distance < 0) & (-distance < right))
            x = x + self.attend(layer.self_attn, layer.input_layernorm(x), torch.where(seen, 0.0, MASKED))
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.encoder.final_norm(x)

    def attend(self, attention, x, bias):
        heads = lambda t: t.view(1, -1, self.config.num_attention_heads, attention.head_dim).transpose(1, 2)
        queries, keys, values = heads(attention.q_proj(x)), heads(attention.k_proj(x)), heads(attention.v_proj(x))
        shares = torch.softmax(queries @ keys.transpose(2, 3) * attention.scaling + bias, -1)
        return attention.o_proj((shares @ values).transpose(1, 2).flatten(2))


class Adapter(nn.Module):
    """Encoded frames to the decoder's memory: adds where each frame stands."""

    def __init__(self, model):
        super().__init__()
        self.decoder = model.model.decoder

    def forward(self, encoded, offset):
        places = self.decoder.pos_emb(torch.arange(encoded.shape[1]) + offset[0])
        return self.decoder.proj(encoded + places[None])


class CrossKv(nn.Module):
    """Memory to the keys and values of every decoder layer's attention to the speech."""

    def __init__(self, model):
        super().__init__()
        self.layers = model.model.decoder.layers
        self.shape = (1, -1, model.config.num_attention_heads, model.config.head_dim)

    def forward(self, memory):
        heads = lambda t: t.view(*self.shape).transpose(1, 2)
        keys = [heads(layer.encoder_attn.k_proj(memory)) for layer in self.layers]
        values = [heads(layer.encoder_attn.v_proj(memory)) for layer in self.layers]
        return torch.stack(keys), torch.stack(values)


class Decoder(nn.Module):
    """Tokens to logits, with the caches of the tokens before."""

    def __init__(self, model, quantised: bool, with_attention: bool = False):
        super().__init__()
        self.decoder, self.head = model.model.decoder, model.proj_out
        self.heads, self.head_size = model.config.num_attention_heads, model.config.head_dim
        self.turns = self.decoder.rotary_emb.inv_freq.float()
        self.with_attention = with_attention
        table = self.decoder.embed_tokens.weight
        # One scale for each row: a row is read alone, so nothing else shares its range.
        scales = table.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        self.rows = torch.round(table / scales).to(torch.int8) if quantised else None
        self.scales = scales

    def embed(self, tokens):
        if self.rows is None:
            return self.decoder.embed_tokens(tokens)
        return self.rows[tokens].float() * self.scales[tokens]

    def rotate(self, x, cosines, sines):
        """Turns pairs of neighbours; what is behind the last frequency stays as it is."""
        turned = self.turns.numel() * 2
        a, b = x[..., :turned], x[..., turned:]
        half = torch.stack([-a[..., 1::2], a[..., 0::2]], -1).flatten(-2)
        return torch.cat([a * cosines + half * sines, b], -1)

    def attend(self, queries, keys, values, bias):
        shares = torch.softmax(queries @ keys.transpose(2, 3) * self.head_size**-0.5 + bias, -1)
        return (shares @ values).transpose(1, 2).flatten(2), shares

    def forward(self, tokens, past_keys, past_values, cross_keys, cross_values):
        past, count = past_keys.shape[3], tokens.shape[1]
        heads = lambda t: t.view(1, -1, self.heads, self.head_size).transpose(1, 2)
        angles = (torch.arange(count) + past).float()[:, None] * self.turns[None]
        twice = lambda t: torch.stack([t, t], -1).flatten(-2)[None, None]
        cosines, sines = twice(angles.cos()), twice(angles.sin())
        later = torch.arange(past + count)[None] > (torch.arange(count) + past)[:, None]
        bias = torch.where(later, MASKED, 0.0)
        x = self.embed(tokens)
        all_keys, all_values, attentions = [], [], []
        for index, layer in enumerate(self.decoder.layers):
            own, normed = layer.self_attn, layer.input_layernorm(x)
            keys = torch.cat([past_keys[index], self.rotate(heads(own.k_proj(normed)), cosines, sines)], 2)
            values = torch.cat([past_values[index], heads(own.v_proj(normed))], 2)
            queries = self.rotate(heads(own.q_proj(normed)), cosines, sines)
            x = x + own.o_proj(self.attend(queries, keys, values, bias)[0])
            speech, normed = layer.encoder_attn, layer.post_attention_layernorm(x)
            queries = heads(speech.q_proj(normed))
            attended, shares = self.attend(queries, cross_keys[index], cross_values[index], torch.zeros(1))
            x = x + speech.o_proj(attended)
            x = x + layer.mlp(layer.final_layernorm(x))
            all_keys.append(keys)
            all_values.append(values)
            attentions.append(shares)
        outputs = self.head(self.decoder.norm(x)), torch.stack(all_keys), torch.stack(all_values)
        return (*outputs, *attentions) if self.with_attention else outputs
