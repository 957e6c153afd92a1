"""The graphs of the two public layouts, traced from transformers' ParakeetForTDT."""

import torch
from torch import nn

OPSET = 17
STATES_IN = ["input_states_1", "input_states_2"]
STATES_OUT = ["output_states_1", "output_states_2"]


class Encoder(nn.Module):
    """[1, bands, frames] and their number -> [1, width, frames / 8] and their number."""

    def __init__(self, model):
        super().__init__()
        self.encoder = model.encoder

    def forward(self, audio_signal, length):
        hidden = self.encoder(audio_signal.transpose(1, 2), attention_mask=None).last_hidden_state
        return hidden.transpose(1, 2), (length + 7) // 8


class Decoder(nn.Module):
    """The last token and the states of the LSTM -> [1, width, 1] and the next states."""

    def __init__(self, model):
        super().__init__()
        self.embedding, self.lstm = model.decoder.embedding, model.decoder.lstm

    def forward(self, targets, target_length, states_1, states_2):
        hidden, (next_1, next_2) = self.lstm(self.embedding(targets.long()), (states_1, states_2))
        return hidden.transpose(1, 2), target_length, next_1, next_2


class Joiner(nn.Module):
    """A frame and what the decoder made of the last token -> [1, 1, 1, tokens + durations]."""

    def __init__(self, model):
        super().__init__()
        self.projectors = nn.ModuleList([model.encoder_projector, model.decoder.decoder_projector])
        self.joint = model.joint

    def forward(self, encoder_outputs, decoder_outputs):
        frame, text = (
            project(value.transpose(1, 2))
            for project, value in zip(self.projectors, (encoder_outputs, decoder_outputs), strict=True)
        )
        return self.joint(text[:, None], frame[:, :, None])


class DecoderJoint(nn.Module):
    """Both in one graph."""

    def __init__(self, model):
        super().__init__()
        self.decoder, self.joiner = Decoder(model), Joiner(model)

    def forward(self, encoder_outputs, targets, target_length, states_1, states_2):
        text, length, next_1, next_2 = self.decoder(targets, target_length, states_1, states_2)
        return self.joiner(encoder_outputs, text), length, next_1, next_2


def export_graphs(model, folder, layout):
    """Writes the float graphs of `layout` (`istupakov` or `sherpa`) to `folder`; their names without `.onnx`."""
    config = model.config
    width, hidden = config.encoder_config.hidden_size, config.decoder_hidden_size
    state = torch.zeros(config.num_decoder_layers, 1, hidden)
    token = (torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, dtype=torch.int32), state, state)
    signal = (torch.randn(1, config.encoder_config.num_mel_bins, 317), torch.tensor([317]))
    frame = torch.randn(1, width, 1)
    encoder = (
        Encoder(model),
        signal,
        ["audio_signal", "length"],
        ["outputs", "encoded_lengths"],
        {"audio_signal": {2: "frames"}, "outputs": {2: "encoded"}},
    )
    if layout == "istupakov":
        graphs = {
            "encoder-model": encoder,
            "decoder_joint-model": (
                DecoderJoint(model),
                (frame, *token),
                ["encoder_outputs", "targets", "target_length", *STATES_IN],
                ["outputs", "prednet_lengths", *STATES_OUT],
                {},
            ),
        }
    else:
        graphs = {
            "encoder": encoder,
            "decoder": (
                Decoder(model),
                token,
                ["targets", "target_length", "states.1", "onnx::Slice_3"],
                ["outputs", "prednet_lengths", "states", "162"],
                {},
            ),
            "joiner": (
                Joiner(model),
                (frame, torch.randn(1, hidden, 1)),
                ["encoder_outputs", "decoder_outputs"],
                ["outputs"],
                {},
            ),
        }
    for name, (module, inputs, inputs_names, outputs_names, axes) in graphs.items():
        torch.onnx.export(
            module.eval(),
            inputs,
            str(folder / f"{name}.onnx"),
            input_names=inputs_names,
            output_names=outputs_names,
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
    return list(graphs)
