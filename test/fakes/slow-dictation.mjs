/**
 * As dictation.mjs, and adds the recogniser `slow-dictation`: it hears the same as digits in capitals, has tokens of
 * its own, and blocks its thread for SLOW_MS in each job (300), in steps of SLOW_STEP_MS (30). A job with more than
 * SLOW_DIES_OVER_S seconds of sound ends its process (never).
 */
import { MODEL_TABLE } from '../../dist/engine/models/model-table.js';
import { toneAsr } from '../../dist/engine/models/tone.js';
import './dictation.mjs';

const { SLOW_MS = '300', SLOW_STEP_MS = '30', SLOW_DIES_OVER_S = '1000' } = process.env;
const WORDS = 'ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE CARD NUMBER'.split(' ');
const FIRST_TOKEN = 100;

function block(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const asr = {
  ...toneAsr,
  name: 'slow-dictation',
  vocabularySize: FIRST_TOKEN + WORDS.length,
  async *transcribe(samples, draft, options) {
    if (draft.some((token) => token < FIRST_TOKEN)) throw new Error('a draft of another recogniser');
    if (samples.length > Number(SLOW_DIES_OVER_S) * 16_000) process.kill(process.pid, 'SIGKILL');
    for (let ms = 0; ms < Number(SLOW_MS); ms += Number(SLOW_STEP_MS)) {
      block(Number(SLOW_STEP_MS));
      yield;
    }
    const heard = yield* toneAsr.transcribe(samples, [], options);
    const text = heard.tokens.map((token) => WORDS[token]).join(' ');
    return { ...heard, text, tokens: heard.tokens.map((token) => token + FIRST_TOKEN) };
  },
};

const tone = MODEL_TABLE.find(({ kind, name }) => kind === 'recogniser' && name === 'tone');
const cost = { perJobMs: Number(SLOW_MS), perSecondMs: 1 };
const abilities = { ...tone.abilities, drafts: true };
MODEL_TABLE.push({
  ...tone,
  name: 'slow-dictation',
  languages: ['en', 'de'],
  abilities,
  cost,
  load: async () => ({ asr, warning: null }),
});
