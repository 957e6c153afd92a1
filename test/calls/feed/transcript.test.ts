import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FinalCaption,
  formatTranscript,
  sortByTime,
  TRANSCRIPT_TEXT_FORMATS,
  type TranscriptGap,
} from '../../../src/calls/feed/transcript.ts';

const HELLO: FinalCaption = {
  kind: 'caption',
  track: 'inbound',
  utterance: 1,
  text: 'Hello there.',
  startMs: 1280,
  endMs: 2320,
};
const LOST: TranscriptGap = { kind: 'gap', track: 'outbound', startMs: 12_000, endMs: 15_500, reason: 'overload' };
const ANSWER: FinalCaption = {
  kind: 'caption',
  track: 'outbound',
  utterance: 1,
  text: 'How can I help?',
  startMs: 3_723_004,
  endMs: 3_724_000,
};

interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  readonly track: string;
  readonly text: string;
}

const CUE_TIME = /^(\d{2,}):([0-5]\d):([0-5]\d)[.,](\d{3})$/;

function parseTime(time: string): number {
  const parts = CUE_TIME.exec(time);
  if (parts === null) throw new Error(`not a cue time: ${time}`);
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = parts.slice(1).map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function parseTiming(line: string): { startMs: number; endMs: number } {
  const [start = '', end = ''] = line.split(' --> ');
  return { startMs: parseTime(start), endMs: parseTime(end) };
}

/** Reads WebVTT as a player does: blocks between blank lines, a timing line, a voice span, character references. */
function parseVtt(vtt: string): Cue[] {
  const [header, ...blocks] = vtt.slice(0, -1).split('\n\n');
  expect(header).toBe('WEBVTT');
  return blocks.map((block) => {
    const [timing = '', payload = '', ...more] = block.split('\n');
    expect(more).toEqual([]);
    const voice = /^<v (\w+)>([^<]*)$/.exec(payload);
    expect(payload).not.toContain('-->');
    const text = (voice?.[2] ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    return { ...parseTiming(timing), track: voice?.[1] ?? '', text };
  });
}

/** Reads SubRip: numbered blocks between blank lines. */
function parseSrt(srt: string): Cue[] {
  if (srt === '') return [];
  return srt
    .slice(0, -1)
    .split('\n\n')
    .map((block, index) => {
      const [number, timing = '', payload = '', ...more] = block.split('\n');
      expect(number).toBe(String(index + 1));
      expect(more).toEqual([]);
      expect(timing).not.toContain('.');
      const [track = '', ...text] = payload.split(': ');
      return { ...parseTiming(timing), track, text: text.join(': ') };
    });
}

const anyFinal: fc.Arbitrary<FinalCaption> = fc
  .record({
    track: fc.constantFrom('inbound' as const, 'outbound' as const),
    utterance: fc.integer({ min: 1, max: 1000 }),
    text: fc.oneof(fc.string(), fc.constantFrom('a --> b', '<v x>&amp;', 'two\n\nlines', 'R&D <b>now</b>', 'a: b')),
    startMs: fc.integer({ min: 0, max: 40_000_000 }),
    lengthMs: fc.integer({ min: 0, max: 30_000 }),
  })
  .map(({ lengthMs, ...rest }) => ({ kind: 'caption', ...rest, endMs: rest.startMs + lengthMs }));

const asCue = ({ track, text, startMs, endMs }: FinalCaption): Cue => ({
  track,
  text: text.replace(/\s+/g, ' ').trim(),
  startMs,
  endMs: Math.max(endMs, startMs + 1),
});

const byTime = (a: FinalCaption, b: FinalCaption) => a.startMs - b.startMs || a.endMs - b.endMs;

describe('formatTranscript', () => {
  it('writes lines of text with time and track, in the order of their start', () => {
    expect(formatTranscript([ANSWER, HELLO], 'text')).toBe(
      '[00:01.280] inbound: Hello there.\n[01:02:03.004] outbound: How can I help?\n',
    );
  });

  it('writes SubRip', () => {
    expect(formatTranscript([HELLO, ANSWER], 'srt')).toBe(
      '1\n00:00:01,280 --> 00:00:02,320\ninbound: Hello there.\n\n2\n01:02:03,004 --> ' +
        '01:02:04,000\noutbound: How can I help?\n',
    );
  });

  it('writes WebVTT with a voice for each track', () => {
    expect(formatTranscript([HELLO], 'vtt')).toBe('WEBVTT\n\n00:00:01.280 --> 00:00:02.320\n<v inbound>Hello there.\n');
  });

  it('names speakers as it is told to, or not at all', () => {
    expect(formatTranscript([HELLO], 'vtt', () => 'Ann')).toContain('<v Ann>Hello there.');
    expect(formatTranscript([HELLO], 'vtt', () => null)).toContain('\nHello there.');
    expect(formatTranscript([HELLO], 'srt', () => null)).toContain('\nHello there.');
    expect(formatTranscript([HELLO], 'text', () => 'Ann')).toMatch(/^\[00:01\.280\] Ann: Hello there\.$/m);
  });

  it('sorts items by their start', () => {
    expect(sortByTime([ANSWER, LOST, HELLO])).toEqual([HELLO, LOST, ANSWER]);
  });

  it('marks what is missing where it is missing, in words that readers of subtitles know', () => {
    const items = [ANSWER, LOST, HELLO];
    expect(formatTranscript(items, 'text')).toBe(
      '[00:01.280] inbound: Hello there.\n[00:12.000] outbound: [missing ' +
        '00:12.000–00:15.500]\n[01:02:03.004] outbound: How can I help?\n',
    );
    expect(formatTranscript([LOST], 'srt')).toBe('1\n00:00:12,000 --> 00:00:15,500\noutbound: [missing]\n');
    expect(formatTranscript([LOST], 'vtt')).toBe('WEBVTT\n\n00:00:12.000 --> 00:00:15.500\n<v outbound>[missing]\n');
  });

  it('says nothing well-formed about a call without words', () => {
    expect(TRANSCRIPT_TEXT_FORMATS.map((format) => formatTranscript([], format))).toEqual(['', '', 'WEBVTT\n']);
  });

  it('leaves the order of what it was given alone', () => {
    const finals = [ANSWER, HELLO];
    sortByTime(finals);
    expect(finals).toEqual([ANSWER, HELLO]);
  });

  it('reads back the same from every format, whatever was said', () => {
    fc.assert(
      fc.property(fc.array(anyFinal, { maxLength: 8 }), (finals) => {
        const cues = finals.toSorted(byTime).map(asCue);
        expect(parseVtt(formatTranscript(finals, 'vtt'))).toEqual(cues);
        expect(parseSrt(formatTranscript(finals, 'srt'))).toEqual(cues);
        expect(formatTranscript(finals, 'text').split('\n').length).toBe(finals.length + 1);
      }),
    );
  });
});
