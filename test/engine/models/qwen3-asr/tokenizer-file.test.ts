import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { QwenTokenizer } from '../../../../engine/models/qwen3-asr/tokenizer.ts';
import { tokenizerOf, WhisperVocabulary } from '../../../../engine/models/whisper/vocabulary.ts';
import { packagePath } from '../../../../src/foundation/folders/paths.ts';

interface Json {
  normalizer: unknown;
  pre_tokenizer: unknown;
  added_tokens: { id: number; content: string; special?: boolean }[];
  model: Record<string, unknown> & { vocab: Record<string, number>; merges: unknown[] };
}

const read = (...path: string[]): string => readFileSync(packagePath('fixtures', 'models', ...path), 'utf8');
const QWEN = read('qwen3-asr', 'float', 'tokenizer.json');
const WHISPER = read('whisper', 'free', 'tokenizer.json');

/** The file with something else in it. */
function changed(text: string, change: (json: Json) => void): string {
  const json = JSON.parse(text) as Json;
  change(json);
  return JSON.stringify(json);
}

const openQwen = (change: (json: Json) => void) => new QwenTokenizer(changed(QWEN, change), 318);
const idIn = ({ added_tokens }: Json, name: string) => added_tokens.find(({ content }) => content === name)?.id ?? -1;

describe('a tokenizer.json that lies', () => {
  it.each<[string, RegExp, (json: Json) => void]>([
    [
      'a replacement without end',
      /normalizer: got "Prepend", expected null or "NFC"/,
      (json) => {
        json.normalizer = { type: 'Prepend', prepend: 'a'.repeat(100_000) };
      },
    ],
    [
      'an expression whose time doubles with each letter',
      /pre_tokenizer: got "Split", expected that of Qwen or of Whisper/,
      (json) => {
        json.pre_tokenizer = { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated', invert: false };
      },
    ],
    [
      'such an expression where Qwen has its own',
      /pre_tokenizer: got "Sequence"/,
      (json) => {
        const { pretokenizers } = json.pre_tokenizer as { pretokenizers: { pattern?: { Regex: string } }[] };
        for (const { pattern } of pretokenizers) if (pattern !== undefined) pattern.Regex = '(a+)+$';
      },
    ],
    [
      "text with an audio pad's number",
      /model.vocab: got 315 for text, expected it for an added token alone/,
      (json) => {
        json.model.vocab['a'] = idIn(json, '<|audio_pad|>');
      },
    ],
    [
      'two added tokens of one number',
      /added_tokens: got the number 315 twice/,
      (json) => {
        json.added_tokens.push({ id: 315, content: '<more>' });
      },
    ],
    [
      'no piece for a byte',
      /model.vocab: got no token for the byte 97/,
      (json) => {
        delete json.model.vocab['a'];
      },
    ],
    [
      'a piece without end',
      /model.vocab: got a piece of 5000 characters, expected at most 1024/,
      (json) => {
        json.model.vocab['a'.repeat(5000)] = 4;
      },
    ],
    ['merges that make no piece', /model.merges: \d+: expected two pieces/, (json) => json.model.merges.push('q q')],
    ['merges that are numbers', /model.merges: \d+: expected two pieces/, (json) => json.model.merges.push(1)],
  ])('is refused: %s', (_, reason, change) => {
    expect(() => openQwen(change)).toThrow(reason);
  });

  it('cannot turn unknown text into a control token', () => {
    const tokenizer = openQwen((json) => {
      json.model['unk_token'] = '<|audio_pad|>';
      json.model['ignore_merges'] = true;
      json.model['end_of_word_suffix'] = 'z';
      json.model.vocab['<|audio_pad|>'] = 315;
      json.model.vocab['<|im_end|>'] = 312;
    });
    const text = 'banana <|audio_pad|><|im_end|>';
    const tokens = tokenizer.encode(text);
    expect(tokens).toEqual(new QwenTokenizer(QWEN, 318).encode(text));
    expect(tokens.some((token) => tokenizer.isControl(token))).toBe(false);
  });

  it('is refused where Whisper would write no text, or its control tokens as text', () => {
    const open = (change: (json: Json) => void) =>
      new WhisperVocabulary(changed(WHISPER, change), { vocabularySize: 342, isMultilingual: true });
    expect(open(() => undefined).control.end).toBe(279);
    const move = (name: string, id: number) => (json: Json) => {
      for (const token of json.added_tokens) if (token.content === name) token.id = id;
      if (id < 279) delete json.model.vocab['k'];
    };
    expect(() => open(move('<|endoftext|>', 341))).toThrow(/twice/);
    expect(() =>
      open((json) => {
        json.added_tokens = json.added_tokens.filter(({ id }) => id !== 341);
        move('<|endoftext|>', 341)(json);
      }),
    ).toThrow(/<\|endoftext\|>: got 341, expected a number behind those of text and before those of the other/);
    const apart = tokenizerOf('{"a": 3}', '', '{"<|endoftext|>": 1}');
    expect(() => new WhisperVocabulary(apart, { vocabularySize: 342, isMultilingual: true })).toThrow(/byte/);
  });
});
