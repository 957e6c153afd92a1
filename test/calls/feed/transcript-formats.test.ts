import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FinalCaption,
  inOrder,
  type PressedKeys,
  type SpokenItem,
  type TranscriptGap,
} from '../../../src/calls/feed/transcript.ts';
import {
  csvField,
  formatTranscript,
  speakersOf,
  TRANSCRIPT_TEXT_FORMATS,
} from '../../../src/calls/feed/transcript-formats.ts';

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

const SPOKEN: SpokenItem = {
  kind: 'spoken',
  track: 'outbound',
  utterance: 'u1',
  text: 'Your balance is forty-two dollars.',
  heardText: 'Your balance is',
  interrupted: true,
  startMs: 5000,
  endMs: 6000,
};
const KEYS: PressedKeys = { kind: 'dtmf', track: 'inbound', digits: '42#', startMs: 7000, endMs: 8000 };
const HELD: TranscriptGap = { kind: 'gap', track: 'inbound', startMs: 20_000, endMs: 30_000, reason: 'held' };

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
    const [timing = '', ...lines] = block.split('\n');
    expect(lines.length).toBeLessThanOrEqual(2);
    const payload = lines.join(' ');
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
      const [number, timing = '', ...lines] = block.split('\n');
      expect(number).toBe(String(index + 1));
      expect(lines.length).toBeLessThanOrEqual(2);
      expect(timing).not.toContain('.');
      const [track = '', ...text] = lines.join(' ').split(': ');
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

const CSV_HEADER = 'startMs,endMs,kind,track,speaker,text,heardText,interrupted,utterance,version,confidence,reason';

/** Reads CSV by RFC 4180. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  let row: string[] = [];
  for (let match = cell.exec(csv); match !== null; match = cell.exec(csv)) {
    const [, quoted, plain = '', end] = match;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(row);
    row = [];
    if (cell.lastIndex === csv.length) break;
  }
  return rows;
}

describe('formatTranscript', () => {
  it('writes what was said to the caller, what was not heard of it, keys and held time', () => {
    expect(formatTranscript([HELD, KEYS, SPOKEN], 'text')).toBe(
      '[00:05.000] outbound: Your balance is [not heard: forty-two dollars.]\n' +
        '[00:07.000] inbound: [keys 42#]\n[00:20.000] inbound: [held 00:20.000–00:30.000]\n',
    );
    expect(formatTranscript([{ ...SPOKEN, heardText: SPOKEN.text, interrupted: false }], 'srt')).toContain(
      'outbound: Your balance is forty-two\ndollars.',
    );
    expect(formatTranscript([{ ...SPOKEN, heardText: 'Your [number]' }], 'text')).toContain('Your [number] [cut off]');
    expect(formatTranscript([{ ...SPOKEN, heardText: '' }], 'text')).toContain(`[not heard: ${SPOKEN.text}]`);
  });

  it('names what was said behind the caller as background, also where the caller has a name', () => {
    const behind: FinalCaption = { ...ANSWER, track: 'inbound', startMs: 0, background: true };
    const speakers = speakersOf({ inbound: 'Maria K.', outbound: null });
    expect(formatTranscript([behind], 'text', speakers)).toMatch(/^\[00:00.000\] background: /);
  });

  it('names speakers where names were given, and prompts of a queue as such', () => {
    const speakers = speakersOf({ inbound: 'Maria K.', outbound: null });
    const prompt: FinalCaption = { ...ANSWER, startMs: 0, queued: true };
    expect(formatTranscript([HELLO, prompt, ANSWER], 'text', speakers)).toMatch(
      /^\[00:00.000\] queue: .*\n\[00:01.280\] Maria K\.: .*\n\[01:02:03.004\] outbound: .*\n$/,
    );
    expect(formatTranscript([HELLO], 'vtt', speakersOf({ inbound: 'A & <B> -->', outbound: null }))).toContain(
      '<v A &amp; &lt;B&gt; --&gt;>Hello there.',
    );
  });

  it('writes CSV that reads back, whatever was said', () => {
    fc.assert(
      fc.property(fc.array(anyFinal, { maxLength: 8 }), (finals) => {
        const rows = parseCsv(formatTranscript(finals, 'csv'));
        expect(rows[0]?.join(',')).toBe(CSV_HEADER);
        const texts = finals.toSorted(byTime).map(({ text }) => text);
        expect(rows.slice(1).map((row) => row[5]?.replace(/^'(?=[\s\p{Cc}]*[=+\-@＝＋－＠]|\p{Cc})/u, ''))).toEqual(
          texts,
        );
        expect(rows.every((row) => row.length === 12)).toBe(true);
      }),
    );
    expect(formatTranscript([SPOKEN, KEYS, LOST], 'csv').split('\r\n').slice(1)).toEqual([
      '5000,6000,spoken,outbound,outbound,Your balance is forty-two dollars.,Your balance is,true,u1,,,',
      '7000,8000,dtmf,inbound,inbound,42#,,,,,,',
      '12000,15500,gap,outbound,outbound,,,,,,,overload',
      '',
    ]);
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', ' =1', '\n=1', '＝1', '\u0000=1'])(
    'never gives a spreadsheet a formula: %j',
    (text) => {
      expect(csvField(text)).toMatch(/^"?'/);
    },
  );

  it('writes an item as JSON on each line, with its speaker', () => {
    const lines = formatTranscript([ANSWER, HELLO], 'jsonl').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...HELLO, speaker: 'inbound' },
      { ...ANSWER, speaker: 'outbound' },
    ]);
  });

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
    expect(inOrder([ANSWER, LOST, HELLO])).toEqual([HELLO, LOST, ANSWER]);
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
    expect(TRANSCRIPT_TEXT_FORMATS.map((format) => formatTranscript([], format))).toEqual([
      '',
      '',
      'WEBVTT\n',
      `${CSV_HEADER}\r\n`,
      '',
    ]);
  });

  it('leaves the order of what it was given alone', () => {
    const finals = [ANSWER, HELLO];
    inOrder(finals);
    expect(finals).toEqual([ANSWER, HELLO]);
  });

  it('reads back the same from every format, whatever was said', () => {
    fc.assert(
      fc.property(fc.array(anyFinal, { maxLength: 8 }), (finals) => {
        const cues = finals
          .toSorted(byTime)
          .map(asCue)
          .filter(({ text }) => text !== '');
        expect(parseVtt(formatTranscript(finals, 'vtt'))).toEqual(cues);
        expect(parseSrt(formatTranscript(finals, 'srt'))).toEqual(cues);
        expect(formatTranscript(finals, 'text').split('\n').length).toBe(finals.length + 1);
      }),
    );
  });

  it('writes a long utterance as subtitles of two lines that share its time', () => {
    const text =
      'I called last week about the invoice of March, which I had paid twice, and nobody has answered me since.';
    const long = { ...HELLO, text, endMs: HELLO.startMs + 8000 };
    expect(formatTranscript([long], 'vtt', () => null)).toBe(
      'WEBVTT\n\n00:00:01.280 --> 00:00:07.472\nI called last week about the invoice of\n' +
        'March, which I had paid twice, and nobody\n\n00:00:07.555 --> 00:00:09.280\nhas answered me since.\n',
    );
    const lines = formatTranscript([long], 'srt', () => 'Maria Kowalska').split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(42);
    const spoken = parseSrt(formatTranscript([long], 'srt')).map((cue) => cue.text);
    expect(spoken.join(' ')).toBe(text);
  });
});
