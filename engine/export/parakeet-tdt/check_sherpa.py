"""Loads a folder of the layout `sherpa` with sherpa-onnx itself, and compares what it says with our reading of the same
graphs. sherpa-onnx has features of its own, Kaldi's, so both are given those; it is no comparison with transformers."""

import argparse
from pathlib import Path

import kaldi_native_fbank
import numpy as np
import sherpa_onnx
from export import CASE_SECONDS
from quantise import described
from reference import RATE_HZ, SHERPA_PER_FRAME_MAX, Graphs, make_clip

# FeatureExtractorConfig of sherpa-onnx.
HIGH_FREQUENCY_HZ = -400
POWER_ADDED = 2**-24


def features_of(clip, bands):
    """[1, bands, frames], as sherpa-onnx computes them for models of NeMo."""
    options = kaldi_native_fbank.FbankOptions()
    options.frame_opts.dither = 0
    options.frame_opts.snip_edges = False
    options.frame_opts.remove_dc_offset = False
    options.mel_opts.num_bins = bands
    options.mel_opts.low_freq = 0
    options.mel_opts.high_freq = HIGH_FREQUENCY_HZ
    options.mel_opts.is_librosa = True
    options.use_log_fbank = False
    bank = kaldi_native_fbank.OnlineFbank(options)
    bank.accept_waveform(RATE_HZ, clip.tolist())
    bank.input_finished()
    power = np.stack([bank.get_frame(index) for index in range(bank.num_frames_ready)])
    frames = np.log(power + POWER_ADDED)
    deviation = np.sqrt(np.maximum((frames**2).mean(0) - frames.mean(0) ** 2, 0)) + 1e-5
    return ((frames - frames.mean(0)) / deviation).T[None].astype(np.float32)


def main():
    parser = argparse.ArgumentParser(prog="check_sherpa.py", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suffix", default="", help=".int8 for 8-bit weights")
    arguments = parser.parse_args()
    folder, suffix = arguments.folder, arguments.suffix
    files = {name: str(folder / f"{name}{suffix}.onnx") for name in ("encoder", "decoder", "joiner")}
    recognizer = sherpa_onnx.OfflineRecognizer.from_transducer(
        **files, tokens=str(folder / "tokens.txt"), feature_dim=128, model_type="nemo_transducer"
    )
    pieces = [line.rsplit(" ", 1)[0] for line in (folder / "tokens.txt").read_text("utf-8").splitlines()]
    graphs, numbers = Graphs(folder, "sherpa", suffix), described(folder / f"encoder{suffix}.onnx")
    same, distinct = 0, set()
    for index, seconds in enumerate(CASE_SECONDS):
        clip = make_clip(index, seconds).astype(np.float32) / 32768
        stream = recognizer.create_stream()
        stream.accept_waveform(RATE_HZ, clip)
        recognizer.decode_stream(stream)
        said = [token.replace(" ", "\u2581") for token in stream.result.tokens]
        encoded = graphs.encode(features_of(clip, numbers["feat_dim"]))
        tokens, _, _ = graphs.decode(encoded, numbers, SHERPA_PER_FRAME_MAX)
        same += said == [pieces[token] for token in tokens]
        distinct |= set(said)
    print(f"sherpa-onnx {sherpa_onnx.__version__} says the same in {same} of {len(CASE_SECONDS)} clips, "
          f"{len(distinct)} different tokens")
    if same < len(CASE_SECONDS):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
