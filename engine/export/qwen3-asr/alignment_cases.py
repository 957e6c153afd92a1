"""alignment_cases.py OUT: how transformers mends times and cuts words for the forced aligner, as
fixtures/models/qwen3-asr/alignment.json has it."""
import json
import random
import sys

import numpy as np
from transformers.models.qwen3_asr import processing_qwen3_asr as reference

TEXTS = [
    "Hello, world!", "It's 5 o'clock - don't be late.", "  ", "", "你好,世界", "我在Apple工作2年了。", "Ça va? L'été—déjà…",
    "ООО «Ромашка», дом 5", "one  two\tthree\nfour", "a-b c_d e/f", "3.14 and 1,000", '"quoted" (bracketed)',
    "ß STRASSE Straße",
    "«»", "'", "'tis the season", "𠮷野家", "naïve café", "x²+y³", "½ cup", "№ 5", "٣ apples", "hello世界hello", "😀 smile",
    "e\u0301te\u0301",
]
CASES = 60
CLASS_MS = 80


def told_times(draw):
    """Times that mostly rise, some of them wrong, in ms."""
    count = 2 * draw.choice([1, 2, 3, 5, 8, 13, 24])
    classes, last = [], 0
    for _ in range(count):
        last += draw.choice([0, 0, 1, 2, 5])
        classes.append(last)
    for _ in range(draw.choice([0, 0, 1, 2, count // 3, count])):
        classes[draw.randrange(count)] = draw.randrange(max(last, 1) + 20)
    return [CLASS_MS * each for each in classes]


def main(path):
    draw = random.Random(4)
    times = [told_times(draw) for _ in range(CASES)]
    cases = {
        "times": [[told, reference._fix_timestamps(np.array(told, dtype=np.float32))] for told in times],
        "words": [[text, reference.Qwen3ASRProcessor.split_words_for_alignment(None, text)] for text in TEXTS],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cases, file, ensure_ascii=False, separators=(",", ":"))


main(sys.argv[1])
