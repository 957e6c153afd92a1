"""tokenizer.bin: for each token a length and its bytes. Lengths from 128 on take two bytes: the low 7 bits with the
high bit set, then the rest. A space is U+2581, `<0x41>` is the byte 0x41, other tokens in angle brackets are controls."""

import json
from pathlib import Path

SPACE = "\u2581"
CONTROLS = ["<unk>", "<s>", "</s>"]
# Words for random models: enough of them that texts have words, cut anywhere as real ones are.
SYLLABLES = ["ka", "lo", "mi", "tu", "ne", "ra", "so", "vi", "be", "do", "fi", "ga", "hu", "je", "pa", "ze"]


def pieces_of(folder: Path, tokens: int) -> list[str]:
    """The pieces of a checkpoint's tokenizer.json, in order; numbers without a piece write nothing."""
    model = json.loads((folder / "tokenizer.json").read_text())
    pieces = [""] * tokens
    for piece, number in model["model"]["vocab"].items():
        pieces[number] = piece
    for added in model.get("added_tokens", []):
        if added["id"] < tokens:
            pieces[added["id"]] = added["content"]
    # Whatever else has no piece is a control token, as those of the publisher are.
    return [piece or f"<<{number}>>" for number, piece in enumerate(pieces)]


def random_pieces(tokens: int) -> list[str]:
    """Pieces of a model that was never trained. Each is made of two before it, as in a vocabulary that was learnt."""
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)] + [",", ".", "?", "-", SPACE]
    starts = [f"{SPACE}{syllable}" for syllable in SYLLABLES]
    pieces = [*CONTROLS, *(f"<0x{byte:02X}>" for byte in (0xC3, 0xA9, 0xE6, 0x9D, 0xB1)), *letters, *SYLLABLES, *starts]
    for number, (first, second) in enumerate((a, b) for a in SYLLABLES for b in SYLLABLES):
        pieces.append(f"{SPACE if number % 3 else ''}{first}{second}")
    return (pieces + [f"{SPACE}{number}" for number in range(len(pieces), tokens)])[:tokens]


def write_tokenizer(pieces: list[str], folder: Path) -> None:
    """Writes tokenizer.bin."""
    written = bytearray()
    for piece in pieces:
        data = piece.encode()
        written += bytes([len(data)]) if len(data) < 128 else bytes([len(data) % 128 + 128, len(data) // 128])
        written += data
    (folder / "tokenizer.bin").write_bytes(written)
