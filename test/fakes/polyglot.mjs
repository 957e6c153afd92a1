/**
 * Loaded before a built gateway and its engines (`NODE_OPTIONS`): adds the recogniser `polyglot`, which hears tones as
 * digits. Where nobody names the language it is English below 1400 Hz ("five") and German from there on, by the first.
 */
import { MODEL_TABLE } from '../../dist/engine/models/model-table.js';
import { toneAsr } from '../../dist/engine/models/tone.js';

const WORDS = {
  en: 'zero one two three four five six seven eight nine'.split(' '),
  de: 'null eins zwei drei vier fünf sechs sieben acht neun'.split(' '),
};
const FIRST_GERMAN = 5;

const asr = {
  ...toneAsr,
  name: 'polyglot',
  async *transcribe(samples, draft, options = {}) {
    const heard = yield* toneAsr.transcribe(samples, draft, options);
    const found = (heard.tokens[0] ?? 0) < FIRST_GERMAN ? 'en' : 'de';
    const text = heard.tokens.map((token) => WORDS[options.language ?? found][token]).join(' ');
    return { ...heard, text, ...(options.language === undefined && { language: found }) };
  },
};

const tone = MODEL_TABLE.find(({ kind, name }) => kind === 'recogniser' && name === 'tone');
MODEL_TABLE.push({
  ...tone,
  name: 'polyglot',
  languages: ['en', 'de'],
  abilities: { ...tone.abilities, languageGuess: true },
  load: async () => ({ asr, warning: null }),
});
