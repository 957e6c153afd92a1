import { describe, expect, it, vi } from 'vitest';
import { readWyomingText, WyomingError, WyomingReader, wyomingRequest } from '../../../src/protocols/remote/wyoming.ts';

const line = (event: object): Buffer => Buffer.from(`${JSON.stringify(event)}\n`);

/** The types of the events in a request, and the bytes of sound. */
function readRequest(request: Uint8Array): { types: string[]; data: unknown; soundBytes: number } {
  const bytes = Buffer.from(request);
  const found = { types: [] as string[], data: null as unknown, soundBytes: 0 };
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const event = JSON.parse(bytes.subarray(at, end).toString()) as {
      type: string;
      data: object;
      payload_length?: number;
    };
    if (found.types.at(-1) !== event.type) found.types.push(event.type);
    if (event.type === 'transcribe') found.data = event.data;
    found.soundBytes += event.payload_length ?? 0;
    at = end + 1 + (event.payload_length ?? 0);
  }
  return found;
}

describe('a request in Wyoming', () => {
  it('names the language, and has all of the sound in chunks', () => {
    expect(readRequest(wyomingRequest(new Int16Array(10_001), 'de-AT'))).toEqual({
      types: ['transcribe', 'audio-start', 'audio-chunk', 'audio-stop'],
      data: { language: 'de' },
      soundBytes: 20_002,
    });
    expect(readRequest(wyomingRequest(new Int16Array(1), undefined)).data).toEqual({});
  });
});

describe('what a server sends in Wyoming', () => {
  it('is read however it is cut, its data in the line and behind it', () => {
    const more = Buffer.from('{"text":"Hello."}');
    const head = line({ type: 'transcript', data: { a: 1 }, data_length: more.length, payload_length: 3 });
    const sent = Buffer.concat([line({ type: 'info' }), head, more, Buffer.from('xyz'), line({ type: 'end' })]);
    for (let size = 1; size < sent.length; size += 3) {
      const reader = new WyomingReader();
      const events = [];
      for (let at = 0; at < sent.length; at += size) events.push(...reader.read(sent.subarray(at, at + size)));
      expect(events).toEqual([
        { type: 'info', data: {} },
        { type: 'transcript', data: { a: 1, text: 'Hello.' } },
        { type: 'end', data: {} },
      ]);
    }
  });

  it.each([
    ['no JSON', Buffer.from('hello\n')],
    ['a list', Buffer.from('[]\n')],
    ['an event without a type', line({ data: {} })],
    ['a length below nothing', line({ type: 'a', data_length: -1 })],
    ['a length that is a text', line({ type: 'a', payload_length: '5' })],
    ['a part of a gigabyte', line({ type: 'a', payload_length: 1e9 })],
    ['a line without an end', Buffer.alloc(70_000, 'a')],
    ['data that is no JSON', Buffer.concat([line({ type: 'a', data_length: 3 }), Buffer.from('abc')])],
  ])('is refused when it is %s', (_what, sent) => {
    expect(() => new WyomingReader().read(sent)).toThrow(WyomingError);
  });

  it('is a transcript when it has a text', () => {
    expect(readWyomingText({ type: 'transcript', data: { text: ' Hello. ' } }, 16_000)).toBe('Hello.');
    expect(readWyomingText({ type: 'transcript', data: {} }, 16_000)).toBeNull();
  });
});

it('an event that comes byte by byte is parsed once', () => {
  const payload = 'x'.repeat(2000);
  const data = JSON.stringify({ text: 'Heard.' });
  const sizes = { data_length: data.length, payload_length: payload.length };
  const sent = Buffer.from(`${JSON.stringify({ type: 'transcript', ...sizes })}\n${data}${payload}`);
  const parse = vi.spyOn(JSON, 'parse');
  const reader = new WyomingReader();
  const events = Array.from(Buffer.concat([sent, sent]), (_byte, at) =>
    reader.read(Buffer.concat([sent, sent]).subarray(at, at + 1)),
  ).flat();
  expect(parse).toHaveBeenCalledTimes(4);
  parse.mockRestore();
  expect(events).toEqual([
    { type: 'transcript', data: { text: 'Heard.' } },
    { type: 'transcript', data: { text: 'Heard.' } },
  ]);
});
