import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Cue, formatSrt, formatVtt } from '../../src/transcription/cue-formats.ts';
import type { TimedWord } from '../../src/transcription/estimated-word-times.ts';
import { columnsOf, makeCues, retellCue, wrapText } from '../../src/transcription/subtitles.ts';
import { readSubtitles } from '../helpers/subtitles.ts';

const GAP_MS = 83;
const MIN_MS = 833;

const wordText = fc.constantFrom(
  'a',
  'caller',
  'the',
  'telephone.',
  'well,',
  'extraordinarily-long-hyphenated-word',
  '电',
  '話',
  '한국어',
  'né',
  '& <b>',
  '-->',
  '5',
);

const arbitraryWords = fc
  .array(
    fc.record({
      text: wordText,
      gapMs: fc.constantFrom(0, 0, 0, 30, 200, 499, 501, 3000),
      lengthMs: fc.integer({ min: 0, max: 900 }),
    }),
    { maxLength: 60 },
  )
  .map((parts) => {
    let nowMs = 0;
    return parts.map(({ text, gapMs, lengthMs }): TimedWord => {
      const startMs = nowMs + gapMs;
      nowMs = startMs + lengthMs;
      return { text, spaced: !/^[电話]/.test(text), startMs, endMs: nowMs };
    });
  });

const arbitraryRules = fc.record({
  maxLineColumns: fc.integer({ min: 10, max: 60 }),
  maxCueMs: fc.integer({ min: 1000, max: 8000 }),
});

const squeezed = (text: string) => text.replace(/\s/g, '');

describe('cues of any words', () => {
  it('keep to the line length, two lines, and the longest time', () => {
    fc.assert(
      fc.property(arbitraryWords, arbitraryRules, (words, rules) => {
        for (const { lines, startMs, endMs } of makeCues(words, rules)) {
          expect(lines.length).toBeGreaterThan(0);
          expect(lines.length).toBeLessThanOrEqual(2);
          for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(rules.maxLineColumns);
          expect(endMs - startMs).toBeLessThanOrEqual(rules.maxCueMs);
        }
      }),
    );
  });

  it('come in order, with a gap, and have every word once', () => {
    fc.assert(
      fc.property(arbitraryWords, arbitraryRules, (words, rules) => {
        const cues = makeCues(words, rules);
        cues.forEach((cue, index) => {
          expect(cue.endMs).toBeGreaterThan(cue.startMs);
          expect(cue.startMs).toBeGreaterThanOrEqual((cues[index - 1]?.endMs ?? -GAP_MS) + GAP_MS);
        });
        expect(squeezed(cues.flatMap(({ lines }) => lines).join(''))).toBe(
          squeezed(words.map(({ text }) => text).join('')),
        );
      }),
    );
  });

  it('stay long enough to be read wherever the next one leaves room', () => {
    fc.assert(
      fc.property(arbitraryWords, arbitraryRules, (words, rules) => {
        const cues = makeCues(words, rules);
        cues.forEach(({ startMs, endMs, lines }, index) => {
          const roomMs = (cues[index + 1]?.startMs ?? Number.POSITIVE_INFINITY) - GAP_MS - startMs;
          const readingMs = Math.floor((1000 * columnsOf(lines.join(' '))) / 17);
          const wantedMs = Math.min(Math.max(MIN_MS, readingMs), rules.maxCueMs);
          expect(endMs - startMs).toBeGreaterThanOrEqual(Math.min(wantedMs, roomMs));
        });
      }),
    );
  });
});

describe('makeCues', () => {
  const word = (text: string, startMs: number, endMs: number): TimedWord => ({ text, spaced: true, startMs, endMs });
  const rules = { maxLineColumns: 42, maxCueMs: 7000 };

  it('begins a new cue after a pause', () => {
    expect(makeCues([word('One', 0, 300), word('two', 900, 1200)], rules).map(({ lines }) => lines)).toEqual([
      ['One'],
      ['two'],
    ]);
  });

  it('gives East Asian characters two columns', () => {
    expect(columnsOf('电话 ab')).toBe(7);
    expect(wrapText('电话电话电话', 8)).toEqual(['电话电话', '电话']);
  });
});

describe('a cue with another text', () => {
  const cue = { startMs: 1000, endMs: 5000, lines: ['as it was'], speaker: null };

  it('keeps its time where two lines are enough, and is gone where nothing is said', () => {
    expect(retellCue(cue, 'so wie es\nwar', 42)).toEqual([{ ...cue, lines: ['so wie es war'] }]);
    expect(retellCue(cue, ' ', 42)).toEqual([]);
  });

  it('becomes as many as it takes, within its time, in order and with every word', () => {
    const texts = fc.array(wordText, { minLength: 1, maxLength: 15 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 10, max: 60 }),
        fc.integer({ min: 833, max: 8000 }),
        (text, maxLineColumns, lengthMs) => {
          const cues = retellCue({ ...cue, endMs: cue.startMs + lengthMs }, text, maxLineColumns);
          expect(squeezed(cues.flatMap(({ lines }) => lines).join(''))).toBe(squeezed(text));
          expect([cues[0]?.startMs, cues.at(-1)?.endMs]).toEqual([cue.startMs, cue.startMs + lengthMs]);
          let endMs = 0;
          for (const { lines, ...times } of cues) {
            expect(lines.length).toBeLessThanOrEqual(2);
            for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(maxLineColumns);
            expect(times.startMs).toBeGreaterThanOrEqual(endMs);
            expect(times.endMs).toBeGreaterThan(times.startMs);
            endMs = times.endMs;
          }
        },
      ),
    );
  });
});

describe('subtitle files', () => {
  const times = (cues: readonly Cue[]) => cues.map(({ startMs, endMs }) => ({ from: startMs, to: endMs }));

  it.each([
    ['SubRip', formatSrt],
    ['WebVTT', formatVtt],
  ])('%s is read back by a parser of others', (_name, format) => {
    fc.assert(
      fc.property(arbitraryWords, arbitraryRules, (words, rules) => {
        const cues = makeCues(words, rules);
        if (cues.length === 0) return;
        const entries = readSubtitles(format(cues));
        expect(entries.map(({ from, to }) => ({ from, to }))).toEqual(times(cues));
      }),
      { numRuns: 50 },
    );
  });

  it('name speakers, and say nothing that means something else in WebVTT', () => {
    const cue = { startMs: 3_661_001, endMs: 3_662_000, lines: ['a < b & c --> d'], speaker: 'channel 1' };
    expect(formatVtt([cue])).toBe(
      'WEBVTT\n\n01:01:01.001 --> 01:01:02.000\n<v channel 1>a &lt; b &amp; c --&gt; d\n\n',
    );
    expect(formatSrt([cue])).toBe('1\n01:01:01,001 --> 01:01:02,000\nchannel 1: a < b & c --> d\n\n');
  });
});
