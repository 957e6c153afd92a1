import { describe, expect, it } from 'vitest';
import { FreeSwitchDialect } from '../../../../src/carriers/freeswitch/wire/freeswitch.ts';
import type { FreeSwitchQuery } from '../../../../src/carriers/freeswitch/wire/query.ts';
import { eventsOf, WireFixtures } from '../../wire-fixtures.ts';

const open = (query: FreeSwitchQuery = {}) => new FreeSwitchDialect({ streamId: 'ours', ...query });
const fixtures = new WireFixtures({ carrier: 'freeswitch', open });

fixtures.describe();

/** A stream that has begun. */
function started(query: FreeSwitchQuery): FreeSwitchDialect {
  const dialect = open(query);
  dialect.receive('{}');
  return dialect;
}

const parsed = (messages: readonly unknown[]) => messages.map((message) => JSON.parse(String(message)));

describe('what begins a stream of FreeSWITCH', () => {
  it('is the metadata, which name the call and its parties; the rest are parameters', () => {
    expect(fixtures.startOf()).toMatchObject({
      carrier: 'freeswitch',
      callId: '7dd5e34e-5db4-4edb-a166-757e5d29b941',
      streamId: 'ours',
      from: '+15005550006',
      to: '+15005550001',
      tracks: ['inbound'],
      codec: { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 },
      playback: 'none',
    });
    expect({ ...fixtures.startOf().parameters }).toEqual({
      uuid: '7dd5e34e-5db4-4edb-a166-757e5d29b941',
      from: '+15005550006',
      to: '+15005550001',
      welcomeGreeting: 'Hello!',
      try: '2',
    });
  });

  it.each([
    ['good/start-jambonz.json', 'c9b1f6a0-0001'],
    ['good/start-odd-call.json', 'ours'],
    ['good/start-text.json', 'ours'],
  ])('names the call, or we do: %s', (file, callId) => {
    expect(fixtures.startOf(file)).toMatchObject({ callId });
  });

  it('may be any words, which are a parameter', () => {
    expect({ ...fixtures.startOf('good/start-text.json').parameters }).toEqual({
      metadata: 'the second lamp from the left',
    });
  });

  it.each([
    [{ rate: '16k' }, 16_000, 'none', false],
    [{ rate: '16000', play: 'binary' }, 16_000, 'paced', false],
    [{ rate: '8k', play: 'playAudio' }, 8000, 'buffered', true],
    [{ play: 'streamAudio' }, 8000, 'buffered', true],
  ] as const)('has rate and way back of its URL: %o', (query, rateHz, playback, wholeSounds) => {
    const [event] = eventsOf(open(query), '{}');
    expect(event).toMatchObject({ type: 'start', start: { codec: { rateHz }, playback } });
    expect(event?.type === 'start' && (event.start.wholeSounds ?? false)).toBe(wholeSounds);
  });

  it.each(['stereo', 'mixed'] as const)('is no way back into both parties: %s', (mix) => {
    expect(() => open({ mix, play: 'binary' })).toThrow('expected mix=mono');
  });
});

describe('the sound of a stream of FreeSWITCH', () => {
  it('is two tracks where both parties come, the caller first', () => {
    const dialect = started({ mix: 'stereo' });
    const both = Buffer.from(Int16Array.of(1, -1, 2, -2).buffer);
    expect(eventsOf(dialect, both)).toEqual([
      { type: 'audio', track: 'inbound', bytes: Buffer.from(Int16Array.of(1, 2).buffer), atMs: null, sequence: 1 },
      { type: 'audio', track: 'outbound', bytes: Buffer.from(Int16Array.of(-1, -2).buffer), atMs: null, sequence: 1 },
    ]);
  });

  it('keeps the parties apart where a message ends within a sample', () => {
    const dialect = started({ mix: 'stereo' });
    const both = Buffer.from(Int16Array.of(1, -1, 2, -2).buffer);
    const events = [both.subarray(0, 3), both.subarray(3, 5), both.subarray(5)].flatMap((part) =>
      eventsOf(dialect, part),
    );
    const caller = events.flatMap((event) =>
      event.type === 'audio' && event.track === 'inbound' ? [event.bytes] : [],
    );
    expect(events[0]).toEqual({ type: 'ignored', what: 'part_of_sample' });
    expect(Buffer.concat(caller)).toEqual(Buffer.from(Int16Array.of(1, 2).buffer));
  });

  it('of both parties mixed is one track', () => {
    const dialect = open({ mix: 'mixed' });
    const [, audio] = eventsOf(dialect, new Uint8Array(320));
    expect(audio).toMatchObject({ type: 'audio', track: 'inbound', sequence: 1 });
  });
});

describe('what goes back to FreeSWITCH', () => {
  const bytes = new Uint8Array(320);

  it('is frames as they are where its module mixes them in, without marks', () => {
    const dialect = started({ play: 'binary' });
    expect(dialect.format({ type: 'audio', bytes })).toEqual([bytes]);
    expect(dialect.format({ type: 'mark', name: 's1' })).toEqual([]);
    expect(parsed(dialect.format({ type: 'clear' }))).toEqual([{ type: 'killAudio' }]);
  });

  it.each([
    ['playAudio', { audioContentType: 'raw', sampleRate: 8000, queuePlay: true, id: 's1', audioContent: 'AQICAw==' }],
    ['streamAudio', { audioDataType: 'raw', sampleRate: 8000, id: 's1', audioData: 'AQICAw==' }],
  ] as const)('is a file for each sentence, which its mark names: %s', (play, data) => {
    const dialect = started({ play });
    expect(dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) })).toEqual([]);
    expect(dialect.format({ type: 'audio', bytes: Uint8Array.of(2, 3) })).toEqual([]);
    expect(parsed(dialect.format({ type: 'mark', name: 's1' }))).toEqual([{ type: play, data }]);
  });

  it('is several files for a sentence of more than ten seconds, of which the last one has the name', () => {
    const dialect = started({ play: 'playAudio', rate: '16k' });
    const second = new Uint8Array(32_000);
    const files = Array.from({ length: 12 }, () => parsed(dialect.format({ type: 'audio', bytes: second }))).flat();
    files.push(...parsed(dialect.format({ type: 'mark', name: 's1' })));
    expect(files.map(({ data }) => [data.id, Buffer.from(data.audioContent, 'base64').length / 32_000])).toEqual([
      [undefined, 10],
      ['s1', 2],
    ]);
  });

  it('is nothing of a sentence that was interrupted before its end', () => {
    const dialect = started({ play: 'streamAudio' });
    dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) });
    expect(parsed(dialect.format({ type: 'clear' }))).toEqual([{ type: 'killAudio' }]);
    dialect.format({ type: 'audio', bytes: Uint8Array.of(3, 4) });
    const [file] = parsed(dialect.format({ type: 'mark', name: 's2' }));
    expect(file.data.audioData).toBe('AwQ=');
  });

  it('are final captions, and that we end the call', () => {
    const dialect = started({});
    const caption = { track: 'inbound', text: 'hello', startMs: 100, endMs: 900, confidence: 0.9 } as const;
    expect(parsed([dialect.transcript(caption)])).toEqual([{ type: 'transcription', data: caption }]);
    expect(parsed([dialect.signal('hangup')])).toEqual([{ type: 'disconnect' }]);
    expect(dialect.signal('probe')).toBe(null);
  });

  it('is no sound into a stream that only listens, and nothing before the first message', () => {
    expect(() => started({}).format({ type: 'audio', bytes })).toThrow('play=binary');
    expect(() => open({ play: 'binary' }).format({ type: 'audio', bytes })).toThrow('before the first message');
  });
});
