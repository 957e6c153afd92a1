"""Writes the files of a model's folder."""

import json

import reference
import vocabulary
from aligner import build_classifier
from builder import Weights
from decoder import Shape, build_decoder
from encoder import build_encoder, chunk_tokens

# More than this lies beside its graph: protobuf ends at 2 GB, and programs map what is in a file of its own.
INSIDE_MAX_BYTES = 16_000_000
MAX_NEW_TOKENS = 512
BATCH_MAX = 16
# What a class of the aligner stands for; processor_config.json may say otherwise.
CLASS_MS = 80
# transformers, FORCED_ALIGNER_LANGUAGES of processing_qwen3_asr.py; Japanese and Korean need programs for their words.
ALIGNER_LANGUAGES = (
    "Cantonese Chinese English French German Italian Japanese Korean Portuguese Russian Spanish"
).split()


def weights_for(out, name, model):
    """Where the constants of a graph go."""
    size = 4 * sum(parameter.numel() for parameter in model.parameters())
    return Weights(out / f"{name}.onnx.data" if size > INSIDE_MAX_BYTES else None)


def write_recogniser(out, model, tokenizer, products):
    """One graph after the other; only one matrix at a time is in memory twice."""
    write_encoder(out, model, products)
    decoder = build_decoder(model, products, weights_for(out, "decoder_loop", model), model.config.audio_token_id)
    decoder.save(out / "decoder_loop.onnx")
    shape = Shape.of(model.config.text_config)
    write_config(out, tokenizer, {
        **common(model, "qwen3-asr", products.kind),
        "layers": shape.layers, "keyValueHeads": shape.key_value_heads, "headSize": shape.head_size,
        "endTokens": reference.ends_of(model.config), "maxNewTokens": MAX_NEW_TOKENS,
        "languages": list(vocabulary.LANGUAGES.values()), "batchMax": BATCH_MAX,
    })


def write_aligner(out, model, tokenizer, products, class_ms):
    """The same for a model that says when words were said."""
    out.mkdir()
    write_encoder(out, model, products)
    build_classifier(model, products, weights_for(out, "classifier", model)).save(out / "classifier.onnx")
    write_config(out, tokenizer, {
        **common(model, "qwen3-asr-aligner", products.kind),
        "timestampToken": model.config.timestamp_token_id, "classes": model.score.out_features, "classMs": class_ms,
        "languages": ALIGNER_LANGUAGES,
    })


def write_encoder(out, model, products):
    build_encoder(model.model, products, weights_for(out, "encoder", model)).save(out / "encoder.onnx")


def common(model, name, dtype):
    """The numbers that both kinds of models have."""
    audio, shape = model.config.audio_config, Shape.of(model.config.text_config)
    frames = 2 * audio.n_window
    tokens = chunk_tokens(frames)
    return {
        "model": name, "format": 1, "dtype": dtype, "vocabularySize": shape.vocabulary, "hiddenSize": shape.hidden,
        "melBins": audio.num_mel_bins, "chunkFrames": frames, "chunkTokens": tokens,
        "windowTokens": tokens * audio.n_window_infer // frames, "audioPadToken": model.config.audio_token_id,
    }


def write_config(out, tokenizer, config):
    tokenizer.save(str(out / "tokenizer.json"), pretty=False)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
