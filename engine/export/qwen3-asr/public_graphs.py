"""Graphs with the inputs and outputs of the two layouts of Qwen3-ASR that others publish, for fixtures.

Split decoder: https://github.com/andrewleech/qwen3-asr-onnx (src/encoder_wrapper.py, src/decoder_wrapper.py).
Static cache: https://github.com/Wasser1462/Qwen3-ASR-onnx (conv_frontend.py, encoder.py, decoder.py), for sherpa-onnx.
"""

import torch
from torch import nn
from torch.nn import functional

CHUNK_FRAMES = 100
CHUNK_TOKENS = 13
WINDOW_TOKENS = 104
MASKED = -1e4


class Front(nn.Module):
    """The convolutions of an encoder: [C, bands, 100] -> [C, 13, width]."""

    def __init__(self, model):
        super().__init__()
        self.tower = model.model.audio_tower

    def forward(self, chunks):
        tower = self.tower
        x = chunks.unsqueeze(1)
        for layer in (tower.conv2d1, tower.conv2d2, tower.conv2d3):
            x = functional.gelu(layer(x))
        return tower.conv_out(x.permute(0, 3, 1, 2).flatten(2))


class Back(nn.Module):
    """The layers of an encoder: [N, width] and how many of these tokens are heard -> [N, hidden]."""

    def __init__(self, model):
        super().__init__()
        self.tower, self.projector = model.model.audio_tower, model.model.multi_modal_projector

    def forward(self, x, count):
        tower, rows, width = self.tower, x.shape[0], x.shape[1]
        x = functional.pad(x, (0, 0, 0, (WINDOW_TOKENS - rows % WINDOW_TOKENS) % WINDOW_TOKENS))
        x = x.reshape(-1, WINDOW_TOKENS, width)
        places = torch.arange(x.shape[0] * WINDOW_TOKENS).reshape(-1, 1, 1, WINDOW_TOKENS)
        mask = (places >= count).to(x.dtype) * MASKED
        for layer in tower.layers:
            x = x + self.attend(layer.self_attn, layer.self_attn_layer_norm(x), mask)
            x = x + layer.fc2(functional.gelu(layer.fc1(layer.final_layer_norm(x))))
        x = tower.ln_post(x.reshape(-1, width)[:rows])
        return self.projector.linear_2(functional.gelu(self.projector.linear_1(x)))

    def attend(self, attention, x, mask):
        heads = lambda y: y.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
        q, k, v = heads(attention.q_proj(x)), heads(attention.k_proj(x)), heads(attention.v_proj(x))
        scores = torch.softmax(q @ k.transpose(2, 3) * attention.scaling + mask, -1)
        return attention.out_proj((scores @ v).transpose(1, 2).flatten(2))


class MelEncoder(nn.Module):
    """encoder.onnx of the split layout: mel [1, bands, T] -> audio_features [1, N, hidden]."""

    def __init__(self, model):
        super().__init__()
        self.front, self.back = Front(model), Back(model)
        self.places = model.model.audio_tower.positional_embedding.positional_embedding[:CHUNK_TOKENS].clone()

    def forward(self, mel):
        frames = mel.shape[2]
        mel = functional.pad(mel, (0, (CHUNK_FRAMES - frames % CHUNK_FRAMES) % CHUNK_FRAMES))
        chunks = mel[0].unflatten(-1, (-1, CHUNK_FRAMES)).transpose(0, 1)
        rest = frames % CHUNK_FRAMES
        for _ in range(3):
            rest = (rest + 1) // 2
        count = frames // CHUNK_FRAMES * CHUNK_TOKENS + rest
        x = (self.front(chunks) + self.places).flatten(0, 1)[:count]
        return self.back(x, count).unsqueeze(0)


class ConvFrontend(nn.Module):
    """conv_frontend.onnx of sherpa-onnx: input_features [B, T, bands] -> conv_output [B, N, width]."""

    def __init__(self, model):
        super().__init__()
        self.front = Front(model)

    def forward(self, mel):
        rows, frames, bands = mel.shape[0], mel.shape[1], mel.shape[2]
        mel = functional.pad(mel, (0, 0, 0, (CHUNK_FRAMES - frames % CHUNK_FRAMES) % CHUNK_FRAMES))
        x = self.front(mel.reshape(-1, CHUNK_FRAMES, bands).transpose(1, 2))
        return x.reshape(rows, -1, x.shape[-1])


class MaskedEncoder(nn.Module):
    """encoder.onnx of sherpa-onnx: input_features [B, N, width], feature_attention_mask [B, N] -> [B, N, hidden]."""

    def __init__(self, model):
        super().__init__()
        self.back = Back(model)
        self.places = model.model.audio_tower.positional_embedding.positional_embedding[:CHUNK_TOKENS].clone()

    def forward(self, features, mask):
        heard = mask.unsqueeze(-1).to(features.dtype)
        places = self.places[torch.arange(features.shape[1]) % CHUNK_TOKENS]
        x = ((features + places) * heard)[0]
        return self.back(x, mask.to(torch.int64).sum()).unsqueeze(0) * heard


class Layers(nn.Module):
    """The layers of a decoder; keys and values are [1, heads, positions, size]."""

    def __init__(self, model):
        super().__init__()
        self.language, self.head = model.model.language_model, model.lm_head
        config = model.config.text_config
        self.size, self.count = config.head_dim, config.num_key_value_heads
        self.groups = config.num_attention_heads // config.num_key_value_heads
        theta = config.rope_parameters["rope_theta"]
        self.frequencies = 1 / theta ** (torch.arange(0, self.size, 2, dtype=torch.float32) / self.size)

    def forward(self, x, places, past, mask):
        """x [1, S, hidden], places [S], past: pairs by layer or None -> logits, pairs of what is new."""
        angles = places.to(torch.float32).unsqueeze(-1) * self.frequencies
        angles = torch.cat((angles, angles), -1)
        turn = angles.cos(), angles.sin()
        new = []
        for index, layer in enumerate(self.language.layers):
            y, keys, values = self.attend(layer.self_attn, layer.input_layernorm(x), turn, past and past[index], mask)
            new.append((keys, values))
            x = x + y
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.head(self.language.norm(x)), new

    def attend(self, attention, x, turn, past, mask):
        heads = lambda y: y.unflatten(-1, (-1, self.size))
        q = rotate(attention.q_norm(heads(attention.q_proj(x))).transpose(1, 2), turn)
        keys = rotate(attention.k_norm(heads(attention.k_proj(x))).transpose(1, 2), turn)
        values = heads(attention.v_proj(x)).transpose(1, 2)
        k, v = (keys, values) if past is None else (torch.cat((a, b), 2) for a, b in zip(past, (keys, values)))
        k, v = k.repeat_interleave(self.groups, 1), v.repeat_interleave(self.groups, 1)
        scores = q @ k.transpose(2, 3) * attention.scaling
        scores = torch.softmax(scores if mask is None else scores + mask, -1)
        return attention.o_proj((scores @ v).transpose(1, 2).flatten(2)), keys, values


def rotate(x, turn):
    half = x.shape[-1] // 2
    return x * turn[0] + torch.cat((-x[..., half:], x[..., :half]), -1) * turn[1]


def causal(rows, columns):
    """Position r of `rows` that end with `columns` sees those up to its own."""
    sees = torch.arange(columns) <= torch.arange(rows).unsqueeze(1) + (columns - rows)
    return torch.where(sees, 0.0, MASKED)


class DecoderInit(nn.Module):
    """decoder_init.onnx: a prompt of which `audio_features` are a stretch -> logits of every position, cache."""

    def __init__(self, model):
        super().__init__()
        self.layers = Layers(model)

    def forward(self, input_ids, position_ids, audio_features, audio_offset):
        x = self.layers.language.embed_tokens(input_ids)
        places = torch.arange(audio_features.shape[1]) + audio_offset[0]
        x = x.scatter(1, places.reshape(1, -1, 1).expand_as(audio_features), audio_features)
        rows = x.shape[1]
        logits, new = self.layers(x, position_ids[0], None, causal(rows, rows))
        return logits, *(torch.stack(each) for each in zip(*new))


class DecoderStep(nn.Module):
    """decoder_step.onnx: the embedding of one token -> its logits, the cache with it."""

    def __init__(self, model):
        super().__init__()
        self.layers = Layers(model)

    def forward(self, input_embeds, position_ids, past_keys, past_values):
        past = [(past_keys[index], past_values[index]) for index in range(past_keys.shape[0])]
        logits, new = self.layers(input_embeds, position_ids[0], past, None)
        keys, values = (torch.stack(each) for each in zip(*new))
        return logits, torch.cat((past_keys, keys), 3), torch.cat((past_values, values), 3)


class DeltaDecoder(nn.Module):
    """decoder.onnx of sherpa-onnx: tokens at `cache_position`, a cache with room -> logits, and what is new in it."""

    def __init__(self, model):
        super().__init__()
        self.layers, self.pad = Layers(model), model.config.audio_token_id

    def forward(self, input_ids, audio_features, attention_mask, cache_position, *cache):
        is_audio = input_ids == self.pad
        place = (is_audio.to(torch.int64).cumsum(1) - 1).clamp(min=0)
        heard = audio_features.gather(1, place.unsqueeze(-1).expand(-1, -1, audio_features.shape[2]))
        x = torch.where(is_audio.unsqueeze(-1), heard, self.layers.language.embed_tokens(input_ids))
        # As the published one, it looks at this input without a use for it.
        x = x + attention_mask.to(x.dtype).sum() * 0
        before = cache_position[0]
        past = [tuple(each[:, :before].transpose(1, 2) for each in pair) for pair in zip(cache[::2], cache[1::2])]
        rows = input_ids.shape[1]
        logits, new = self.layers(x, cache_position, past, causal(rows, before + rows))
        return logits, *(each.transpose(1, 2) for pair in new for each in pair)
