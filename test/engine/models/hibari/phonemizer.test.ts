import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPhonemizer, type Phonemizer } from '../../../../engine/models/hibari/phonemes/phonemizer.ts';
import { findInstalled } from '../../../../engine/models/installed.ts';
import type { Accent } from '../../../../engine/models/phoneme-symbols.ts';
import { Refusal } from '../../../../engine/refusal.ts';
import { TEST_MODELS_DIR, whyNotRun } from '../../../helpers/installed-models.ts';

const reason = whyNotRun('hibari');
const folder = findInstalled(TEST_MODELS_DIR, 'hibari')[0]?.folder ?? '';

/** Lines with the phonemes of the reference, made by make_phoneme_cases.py. */
function readCases(accent: Accent): [text: string, phonemes: string][] {
  const packed = readFileSync(join(import.meta.dirname, `phoneme-cases-${accent}.json.gz`));
  return JSON.parse(gunzipSync(packed).toString('utf8'));
}

/** Of a voice that reads what it is given, these take the longest. */
const LONG_TEXTS = ['a-', '(', 'a.b.', "a'", 'aB', '5+', '-_', '1,', '😀', 'مرحبا ', '\ud800', 'ß', 'e\u0301'].map(
  (unit) => unit.repeat(1000 / unit.length),
);
const LONG_TEXT_MAX_MS = 2000;

describe.skipIf(reason !== '')(`the phonemizer${reason}`, () => {
  let us: Phonemizer;

  beforeAll(async () => {
    us = await openPhonemizer({ folder, accent: 'us' });
  });

  it.each(['us', 'gb'] as const)('reads every line as the reference does (%s)', async (accent) => {
    const phonemizer = await openPhonemizer({ folder, accent });
    const cases = readCases(accent);
    const wrong: string[] = [];
    for (const [text, expected] of cases) {
      const phonemes = await phonemizer.phonemize(text);
      if (phonemes !== expected) wrong.push(`${text}: ${phonemes}, expected ${expected}`);
    }
    expect(wrong).toEqual([]);
    expect(cases.length).toBeGreaterThan(1000);
  });

  it('says the words of the operator’s lexicon as they are there', async () => {
    const overrides = new Map([
      ['Trunkline', 'tɹˈʌŋklˌIn'],
      ['new york', 'nˈOɹk'],
      ['SQL', 'sˈikwəl'],
    ]);
    const phonemizer = await openPhonemizer({ folder, accent: 'us', overrides });
    const said = await phonemizer.phonemize("The Trunkline's (New York) S Q L’s in SQL, trunkline.");
    expect(said).toBe('ðə tɹˈʌŋklˌInz (nˈOɹk) sˈikwəlz ɪn sˈikwəl, tɹˈʌŋklIn.');
  });

  it('spells what our normaliser has written apart', async () => {
    expect(await us.phonemize('At nine a m, by A T M.')).toBe('ˌæt nˈIn ˌAˈɛm, bI ˌAtˌiˈɛm.');
  });

  it('cuts a line behind its marks, and longer clauses anywhere', async () => {
    const text = 'Yes, we are open: from nine to five; and you?  ';
    const clauses = await us.phonemizeClauses(text);
    expect(clauses.map((clause) => clause.text)).toEqual([
      'Yes, ',
      'we are open: ',
      'from nine to five; ',
      'and you? ',
    ]);
    expect(clauses.map(({ phonemes }) => phonemes).join('')).toBe(await us.phonemize(text));
    const short = await us.phonemizeClauses(text, 9);
    expect(short.every(({ phonemes }) => phonemes.length <= 9)).toBe(true);
    expect(short.map(({ phonemes }) => phonemes).join('')).toBe(await us.phonemize(text));
  });

  it('says nothing where there is nothing to say', async () => {
    expect(await Promise.all(['', '  ', '😀', '\ud800'].map((text) => us.phonemize(text)))).toEqual(['', '', '', '']);
  });

  it.each(LONG_TEXTS)('is done soon with 1000 characters of %.2s', async (text) => {
    const before = process.cpuUsage();
    const clauses = await us.phonemizeClauses(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(LONG_TEXT_MAX_MS);
    expect(clauses.every(({ phonemes }) => phonemes.length <= 400)).toBe(true);
  });
});

it('is not opened without its files', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'phonemes-'));
  const opening = openPhonemizer({ folder: empty, accent: 'gb' });
  await expect(opening).rejects.toThrow(Refusal);
  await expect(opening).rejects.toThrow(/oov_gb\.onnx is missing|cannot be read: ENOENT/);
  await rm(empty, { recursive: true });
});
