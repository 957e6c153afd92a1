"""Reads tiny models as transformers writes checkpoints and as Qwen publishes them, and compares the weights."""

import json
import re
import tempfile
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import PreTrainedTokenizerFast

import checkpoint
import vocabulary

TEXTS = [vocabulary.AUDIO_PAD + "language English<asr_text>hello, it's the 2nd call\n", "<timestamp>\u00e9\u6771"]
THINKER = {"audio_token_id": vocabulary.AUDIO_PAD, "timestamp_token_id": vocabulary.TIMESTAMP}


def write_transformers(model, tokenizer, folder):
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer).save_pretrained(folder)


def write_published(model, tokenizer, folder):
    """Names and config.json as in the repositories of Qwen, the tokenizer as vocab.json and merges.txt."""
    weights = {published_name(name): value.clone() for name, value in model.named_parameters()}
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    audio, text = model.config.audio_config.to_dict(), model.config.text_config.to_dict()
    text["rope_theta"] = text.pop("rope_parameters")["rope_theta"]
    text["rope_scaling"] = {"mrope_interleaved": True, "mrope_section": [24, 20, 20], "rope_type": "default"}
    audio.pop("max_position_embeddings")
    thinker = {name: vocabulary.identity_of(tokenizer, token) for name, token in THINKER.items()}
    thinker |= {"audio_config": dict(audio, max_source_positions=1500), "text_config": text}
    if hasattr(model, "score"):
        thinker["classify_num"] = model.score.out_features
    config = {"architectures": ["Qwen3ASRForConditionalGeneration"], "model_type": "qwen3_asr"}
    (folder / "config.json").write_text(json.dumps(dict(config, thinker_config=thinker)))
    tokenizer.model.save(str(folder))
    added = {
        str(identity): {"content": token.content, "special": token.special, "normalized": False, "lstrip": False,
                        "rstrip": False, "single_word": False}
        for identity, token in tokenizer.get_added_tokens_decoder().items()
    }
    written = {"tokenizer_class": "Qwen2Tokenizer", "eos_token": vocabulary.ENDS[0], "added_tokens_decoder": added}
    (folder / "tokenizer_config.json").write_text(json.dumps(written))


def published_name(name):
    name = re.sub(r"^model\.multi_modal_projector\.linear_", "thinker.audio_tower.proj", name)
    name = re.sub(r"^model\.audio_tower\.", "thinker.audio_tower.", name)
    name = re.sub(r"^model\.language_model\.", "thinker.model.", name)
    return re.sub(r"^(lm_head|score)\.", "thinker.lm_head.", name)


def check(shape, write):
    """@raises SystemExit when what is read is not what was written."""
    model, tokenizer = checkpoint.random_model(shape, None, 0)
    with tempfile.TemporaryDirectory() as name:
        write(model, tokenizer, Path(name))
        read, read_tokenizer = checkpoint.read_checkpoint(Path(name), is_aligner=shape.endswith("aligner"))
    same = dict(read.named_parameters())
    for parameter, value in model.named_parameters():
        if not torch.equal(same[parameter], value):
            raise SystemExit(f"{write.__name__}, {shape}: {parameter} is another one")
    for text in TEXTS:
        if read_tokenizer.encode(text).ids != tokenizer.encode(text).ids:
            raise SystemExit(f"{write.__name__}, {shape}: the tokenizer is another one")
    for key in ("audio_token_id", "timestamp_token_id", "eos_token_id"):
        if write is write_transformers and getattr(read.config, key) != getattr(model.config, key):
            raise SystemExit(f"{write.__name__}, {shape}: {key} is {getattr(read.config, key)}")
    print(f"{write.__name__}: {shape} is read as it was written")


def main():
    for write in (write_transformers, write_published):
        for shape in ("tiny", "tiny-aligner"):
            check(shape, write)


if __name__ == "__main__":
    main()
