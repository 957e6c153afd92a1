/**
 * Loaded before a built gateway and its engines (`NODE_OPTIONS`): adds the recogniser `dictation`, which hears tones as
 * digits that are said. 400 Hz is "zero", 600 Hz "one", up to 2200 Hz; above that come "card" and "number".
 */
import { MODEL_TABLE } from '../../dist/engine/models/model-table.js';
import { toneAsr } from '../../dist/engine/models/tone.js';

const WORDS = 'zero one two three four five six seven eight nine card number'.split(' ');

const asr = {
  ...toneAsr,
  name: 'dictation',
  async *transcribe(...request) {
    const heard = yield* toneAsr.transcribe(...request);
    return { ...heard, text: heard.tokens.map((token) => WORDS[token]).join(' ') };
  },
};

const tone = MODEL_TABLE.find(({ kind, name }) => kind === 'recogniser' && name === 'tone');
MODEL_TABLE.push({ ...tone, name: 'dictation', load: async () => ({ asr, warning: null }) });
