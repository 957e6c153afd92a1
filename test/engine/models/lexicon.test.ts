import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Lexicon, readLexicon, respelling } from '../../../engine/models/lexicon.ts';
import { LexiconError, parseLexicon } from '../../../engine/models/lexicon-file.ts';
import type { Tts } from '../../../engine/models/model.ts';
import { speakWhole } from '../../../engine/models/speak-whole.ts';
import { Refusal } from '../../../engine/refusal.ts';
import { finish } from '../speech.ts';

const lexiconOf = (text: string): Lexicon => new Lexicon(parseLexicon(text));

describe('a file of pronunciations', () => {
  it('has phonemes, respellings, languages and comments', () => {
    const text =
      '\ufeff# ours\r\n\r\nTrunkline  /tɹˈʌŋklˌIn/\nSQL = sequel\n' +
      '[en-GB] schedule /ʃˈɛdjuːl/\n[de] SQL = ess kuh ell\n';
    expect(parseLexicon(text)).toEqual([
      { words: 'Trunkline', language: 'en', kind: 'phonemes', said: 'tɹˈʌŋklˌIn', line: 3 },
      { words: 'SQL', language: 'en', kind: 'respelling', said: 'sequel', line: 4 },
      { words: 'schedule', language: 'en-gb', kind: 'phonemes', said: 'ʃˈɛdjuːl', line: 5 },
      { words: 'SQL', language: 'de', kind: 'respelling', said: 'ess kuh ell', line: 6 },
    ]);
  });

  it('takes what dictionaries write in the International Phonetic Alphabet', () => {
    const said = parseLexicon('a /ˈtʃeɪn.dʒər/\nb /ˈboʊɡən ˈɡəʊ/\nc /bʌtn̩/\nd /kaʊ tɔɪ maɪ ren ɡɜːl/').map(
      (entry) => entry.said,
    );
    expect(said).toEqual(['ˈʧAnʤəɹ', 'ˈbOɡən ˈɡQ', 'bʌtᵊn', 'kW tY mI ɹɛn ɡɜːl']);
  });

  it.each([
    ['Trunkline', 'line 1: got "Trunkline", expected "word /phonemes/" or "word = respelling"'],
    ['\n[english] x = y', 'line 2: got "[english] x = y", expected "word /phonemes/" or "word = respelling"'],
    ['= y', /^line 1: got the word "", expected letters and digits/],
    ['@home = at home', /^line 1: got the word "@home", expected letters and digits/],
    ['x =', 'line 1: got "", expected words to say behind "="'],
    ['x = !?', 'line 1: got "!?", expected words to say behind "="'],
    ['x /a', 'line 1: got "/a", expected /phonemes/ and no more'],
    ['x /a/ b', 'line 1: got "/a/ b", expected /phonemes/ and no more'],
    ['x //', 'line 1: got no phonemes, expected some between the slashes'],
    ['x /ˈ ˌ/', 'line 1: got no phonemes, expected some between the slashes'],
    ['x /aç/', /^line 1: got the phoneme "c" \(U\+0063\), expected those of AIO/],
    ["x /'æpəl/", /^line 1: got the phoneme "'" \(U\+0027\)/],
    ['x = y\nX = y\nx /a/', 'line 3: "x" is in line 1 already'],
    [`${'x'.repeat(81)} = y`, 'line 1: the word has 81 characters, expected at most 80'],
    [`x = ${'y'.repeat(201)}`, 'line 1: the respelling has 201 characters, expected at most 200'],
    [`x /${'a'.repeat(201)}/`, 'line 1: got 201 phonemes, expected at most 200'],
    [Array.from({ length: 10_001 }, (_, i) => `w${i} = y`).join('\n'), 'line 10001: expected at most 10000 entries'],
  ])('is refused with its line: %j', (text, message) => {
    expect(() => parseLexicon(text)).toThrow(LexiconError);
    expect(() => parseLexicon(text)).toThrow(message);
  });
});

describe('the words of an operator', () => {
  it('are for English voices unless they name a language, and those for a region go first', () => {
    const lexicon = lexiconOf('schedule = skedule\n[en-GB] schedule = shedule\n[de] schedule = Termin');
    const said = ['en-US', 'en-GB', 'de', 'de-AT', 'fr', 'en'].map((language) => lexicon.respell('schedule', language));
    expect(said).toEqual(['skedule', 'shedule', 'Termin', 'Termin', 'schedule', 'skedule']);
  });

  it('have the phonemes of the accent', () => {
    const lexicon = lexiconOf('tomato /təmˈɑːtoʊ/\n[en-US] tomato /təmˈAɾO/\nbath /bˈæθ/\nlot = lott');
    expect(Object.fromEntries(lexicon.phonemes('us'))).toEqual({ tomato: 'təmˈAɾO', bath: 'bˈæθ' });
    expect(Object.fromEntries(lexicon.phonemes('gb'))).toEqual({ tomato: 'təmˈɑːtQ', bath: 'bˈaθ' });
  });

  it('change the revision of the languages that they are for, and only of those', () => {
    const [first, same, other] = ['SQL = sequel', '# why\nSQL  =  sequel', 'SQL = squeal'].map(lexiconOf);
    expect(first?.revision('en-US')).toMatch(/^[0-9a-f]{8}$/);
    expect(same?.revision('en-US')).toBe(first?.revision('en-US'));
    expect(other?.revision('en-US')).not.toBe(first?.revision('en-US'));
    expect(first?.revision('de')).toBe('');
  });

  it('do not let a text grow without end', () => {
    const lexicon = lexiconOf(`x = ${'long '.repeat(40)}`);
    expect(lexicon.respell('x '.repeat(500), 'en').length).toBeLessThan(3000);
  });

  it('are respelt before any synthesizer sees them', async () => {
    const texts: string[] = [];
    const voice = { name: 'v', language: 'en-US', rateHz: 8000, model: 'fake-1', licence: 'MIT', cost: null };
    const fake: Tts = {
      name: 'fake',
      voices: [voice, { ...voice, name: 'w', language: 'de' }],
      // biome-ignore lint/correctness/useYield: it has one step
      async *speak({ text }) {
        texts.push(text);
        return { samples: new Int16Array(0), rateHz: 8000 };
      },
    };
    const tts = respelling(fake, lexiconOf('SQL = sequel'));
    await finish(speakWhole(tts, { text: 'Use S Q L or SQL.', voice: 'v', speed: 1 }));
    await finish(speakWhole(tts, { text: 'Use SQL.', voice: 'w', speed: 1 }));
    expect(texts).toEqual(['Use sequel or sequel.', 'Use SQL.']);
    expect(tts.voices.map(({ model }) => model)).toEqual([expect.stringMatching(/^fake-1\+lexicon-\w{8}$/), 'fake-1']);
  });
});

describe('LEXICON_FILE', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lexicon-'));
  });

  afterAll(() => rm(folder, { recursive: true }));

  async function read(content: string | Uint8Array): Promise<Lexicon> {
    const path = join(folder, 'words.txt');
    await writeFile(path, content);
    return readLexicon(path);
  }

  it('may be left out', async () => {
    expect((await readLexicon('')).revision('en-US')).toBe('');
  });

  it('is read', async () => {
    expect((await read('SQL = sequel\n')).respell('SQL', 'en-US')).toBe('sequel');
  });

  it.each([
    ['a wrong line', 'x = y\nz', /LEXICON_FILE \/.*words\.txt: line 2: got "z", expected "word \/phonemes\/" or/],
    ['other encodings', Uint8Array.of(0x78, 0xff), /words\.txt: cannot be read: it is not UTF-8/],
    ['too much', ' '.repeat(1_048_577), /words\.txt: cannot be read: expected at most 1048576 bytes/],
  ])('refuses the engine its start with %s', async (_, content, message) => {
    const reading = read(content);
    await expect(reading).rejects.toThrow(Refusal);
    await expect(reading).rejects.toThrow(message);
  });

  it('that is missing refuses the engine its start', async () => {
    await expect(readLexicon(join(folder, 'none.txt'))).rejects.toThrow(/none\.txt: cannot be read: ENOENT/);
  });
});
