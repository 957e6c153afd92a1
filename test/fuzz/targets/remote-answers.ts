import assert from 'node:assert/strict';
import { readTranscription } from '../../../src/protocols/remote/openai-transcription.ts';
import { readRetryAfter } from '../../../src/protocols/remote/retry-after.ts';
import type { FuzzTarget } from '../fuzz.ts';

const SAMPLES = 16_000;

/** What servers of ASR_URL answer. */
export const target: FuzzTarget = {
  name: 'remote-answers',
  seeds: [
    '{"text": " Hello there.", "usage": {"type": "duration", "seconds": 1}}',
    '{"text": "language English<asr_text>Hello."}',
    '{"text": "<|en|>Hi<|endoftext|>\\ud800"}',
    '{"error": {"message": "no"}}',
    '17',
    'Wed, 21 Oct 2026 07:28:30 GMT',
  ].map((text) => Buffer.from(text)),
  words: ['"text":', '<asr_text>', 'language ', '<|', '|>', '\\u202e', '\\u0000', '\\ud800', 'GMT', '{', '}', '"'],
  run(input) {
    const answer = Buffer.from(input).toString('utf8');
    const text = readTranscription(answer, SAMPLES);
    if (text !== null) {
      assert(text.length <= 260 && text === text.trim());
      assert(!/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u.test(text));
    }
    const waitMs = readRetryAfter(answer, 'Wed, 21 Oct 2026 07:28:00 GMT');
    assert(waitMs === null || waitMs >= 0);
  },
};
