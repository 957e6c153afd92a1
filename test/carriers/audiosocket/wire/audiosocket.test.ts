import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameBytes } from '../../../../src/audio/frames.ts';
import { encodeG711 } from '../../../../src/audio/g711.ts';
import { AudioSocketReader } from '../../../../src/carriers/audiosocket/simulator/reader.ts';
import {
  AudioSocketDialect,
  AudioSocketFramer,
  type AudioSocketMessage,
} from '../../../../src/carriers/audiosocket/wire/audiosocket.ts';
import { type Codec, FRAME_MS, MULAW_8K, msToSamples } from '../../../../src/foundation/units.ts';
import type { CarrierEvent } from '../../../../src/protocols/dialect.ts';
import { codeOf } from '../../../helpers/codes.ts';
import { summary } from '../../summary.ts';
import { hear, readRecording, readTable, recordingNames, replay } from './audiosocket-recordings.ts';

const UUID = '40325ec2-5efd-4bd3-805f-53576e581d13';
const NAMED = message(0x01, Buffer.from(UUID.replaceAll('-', ''), 'hex'));
const LINEAR_8K: Codec = { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 };
const ALAW: Codec = { ...MULAW_8K, name: 'alaw' };

function message(kind: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  return Buffer.concat([Buffer.from([kind, payload.length >> 8, payload.length & 0xff]), payload]);
}

function tone(samples: number, level = 3000): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) => level * Math.sin(i / 4));
}

function named(): AudioSocketDialect {
  const dialect = new AudioSocketDialect('s1');
  dialect.receive({ kind: 0x01, payload: NAMED.subarray(3) });
  return dialect;
}

/** What comes of `payload` under `kind` as the first sound of a call. */
function soundOf(kind: number, payload: Uint8Array, dialect = named()): { rateHz: number; samples: number } {
  const events = dialect.receive({ kind, payload });
  const bytes = events.flatMap((event) => (event.type === 'audio' ? [event.bytes.length] : []));
  return { rateHz: dialect.codec?.rateHz ?? 0, samples: (bytes[0] ?? 0) / 2 };
}

describe('what a real Asterisk said', () => {
  it('is all in the table', () => {
    expect(new Set(readTable().map(([name]) => name))).toEqual(new Set(recordingNames()));
  });

  it.each(readTable())('%s → %s', (name, gives) => {
    expect(summary(replay(name))).toBe(gives);
  });

  it('is the same however TCP splits it', () => {
    const names = ['e3-app-dtmf.jsonl', 'e8-channel-slin16.jsonl', 'e8-channel-ulaw.jsonl'];
    const whole = new Map(names.map((name) => [name, replay(name)]));
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 1, maxLength: 8 }),
        (name, splits) => {
          expect(replay(name, splits)).toEqual(whole.get(name));
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(['ulaw', 'alaw', 'slin'])('under the kind of 8 kHz lasts as long as it did: %s', (codec) => {
    const audio = replay(`e8-channel-${codec}.jsonl`).flatMap((event) =>
      'type' in event && event.type === 'audio' ? [event.bytes] : [],
    );
    const samples = audio.reduce((sum, bytes) => sum + bytes.length / 2, 0);
    expect(samples).toBe(43 * 160 + 18);
  });
});

describe('what was said to a real Asterisk', () => {
  it.each([
    ['e4-app-we-hang-up', 'hangup'],
    ['e10-channel-burst', 'hangup'],
    ['e6-app-play', null],
    ['e7-app-bad-frames', 'error'],
    ['e7b-app-frame-1-len16', 'error'],
    ['e7c-app-frame-3-len1', 'error'],
    ['e7d-app-frame-ff-len1', 'error'],
    ['e7e-app-frame-10-len0', 'error'],
    ['e7f-app-frame-12-len640', null],
    ['e7g-app-frame-10-len321', null],
  ])('%s has the same end at our simulated one', (name, end) => {
    const { messages, endedAtMs } = readRecording(`${name}.jsonl`);
    const reader = new AudioSocketReader({ onFrame: () => undefined });
    const said = messages.filter(({ fromAsterisk }) => !fromAsterisk);
    for (const { bytes } of said) reader.receive(bytes);
    expect(reader.end).toBe(end);
    if (end !== null) expect(endedAtMs - (said.at(-1)?.atMs ?? 0)).toBeLessThan(10);
  });
});

describe('messages', () => {
  it('are cut out of any pieces', () => {
    const kinds = fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 700 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(kinds, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (said, splits) => {
        const bytes = Buffer.concat([NAMED, ...said.map(([kind, payload]) => message(kind, payload))]);
        const framer = new AudioSocketFramer(1024);
        const heard: AudioSocketMessage[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = splits[turn % splits.length] ?? 1;
          for (const each of framer.push(bytes.subarray(at, at + size))) heard.push(each);
          at += size;
        }
        expect(heard.slice(1).map(({ kind, payload }) => [kind, [...payload]])).toEqual(
          said.map(([kind, payload]) => [kind, [...payload]]),
        );
        expect(framer.isBetweenMessages).toBe(true);
      }),
    );
  });

  it('keep nothing of the memory that they came in', () => {
    const framer = new AudioSocketFramer(1024);
    const socketMemory = Buffer.concat([NAMED, message(0x03, Buffer.from('5')).subarray(0, 3)]);
    expect([...framer.push(socketMemory)]).toHaveLength(1);
    socketMemory.fill(0xee);
    expect([...framer.push(Buffer.from('5'))]).toEqual([{ kind: 0x03, payload: new Uint8Array(Buffer.from('5')) }]);
  });

  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n')],
    ['one byte of another protocol', Buffer.from('G')],
    ['sound', message(0x10, new Uint8Array(320))],
    ['a call id of another length', message(0x01, new Uint8Array(17))],
    ['a long call id that never comes', Buffer.from([0x01, 0xff, 0xff])],
  ])('begin with a call id: %s is refused at once', (_what, bytes) => {
    expect(codeOf(() => [...new AudioSocketFramer(65_536).push(bytes)])).toBe('message_malformed');
  });

  it('have a limit, by which they are refused before they are there', () => {
    const framer = new AudioSocketFramer(1024);
    expect([...framer.push(Buffer.concat([NAMED, message(0x10, new Uint8Array(1021))]))]).toHaveLength(2);
    expect(codeOf(() => [...framer.push(Buffer.from([0x10, 0x03, 0xfe]))])).toBe('message_too_large');
  });
});

describe('a call', () => {
  it('is named by its UUID and begins with its first sound, which shows the rate', () => {
    expect(hear(Buffer.concat([NAMED, message(0x12, encodeG711(tone(320), LINEAR_8K))]))).toEqual([
      { type: 'ignored', what: 'uuid' },
      {
        type: 'start',
        start: {
          carrier: 'audiosocket',
          callId: UUID,
          streamId: 's1',
          from: null,
          to: null,
          tracks: ['inbound'],
          codec: { ...LINEAR_8K, rateHz: 16_000 },
          playback: 'paced',
          parameters: {},
        },
      },
      { type: 'audio', track: 'inbound', bytes: expect.any(Uint8Array), atMs: null, sequence: 1 },
    ]);
  });

  it.each(
    [8000, 12_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000].map((rateHz, index) => [
      0x10 + index,
      rateHz,
    ]),
  )('may have sound of kind %i: %i Hz', (kind, rateHz) => {
    const samples = msToSamples(FRAME_MS, rateHz);
    expect(soundOf(kind, encodeG711(tone(samples), LINEAR_8K))).toEqual({ rateHz, samples });
  });

  it('begins once it is told to when no sound comes, at 8 kHz, and not before it has a name', () => {
    expect(new AudioSocketDialect('s1').begin()).toEqual([]);
    const dialect = named();
    expect(dialect.begin()).toMatchObject([{ type: 'start', start: { codec: LINEAR_8K } }]);
    expect(dialect.begin()).toEqual([]);
  });

  it('keeps its rate when sound of another comes', () => {
    const dialect = named();
    dialect.begin();
    const heard = Array.from({ length: 50 }, () => soundOf(0x12, encodeG711(tone(320), LINEAR_8K), dialect).samples);
    expect(heard.reduce((sum, samples) => sum + samples, 0)).toBeGreaterThan(49 * 160);
    expect(Math.max(...heard)).toBeLessThanOrEqual(161);
  });

  it('begins with a key, too', () => {
    const events = named().receive({ kind: 0x03, payload: Buffer.from('#') });
    expect(events.map(({ type }) => type)).toEqual(['start', 'dtmf']);
  });

  it.each([
    [0x00, '', { type: 'stop' }],
    [0x03, 'D', { type: 'dtmf', track: 'inbound', digit: 'D' }],
    [0x03, '!', { type: 'ignored', what: 'strange_key' }],
    [0x02, '', { type: 'ignored', what: 'silence' }],
    [0xff, '\u0001', { type: 'ignored', what: 'error' }],
    [0x10, '', { type: 'ignored', what: 'empty_audio' }],
    [0x19, 'anything', { type: 'ignored', what: 'unknown_kind' }],
    [0x55, '', { type: 'ignored', what: 'unknown_kind' }],
  ] satisfies [number, string, CarrierEvent][])('kind %i with %j is %j', (kind, payload, event) => {
    const dialect = named();
    dialect.begin();
    expect(dialect.receive({ kind, payload: Buffer.from(payload, 'latin1') })).toEqual([event]);
  });

  it('has one id, and keys of one byte', () => {
    expect(codeOf(() => named().receive({ kind: 0x01, payload: new Uint8Array(16) }))).toBe('start_repeated');
    expect(codeOf(() => named().receive({ kind: 0x03, payload: Buffer.from('12') }))).toBe('message_malformed');
  });
});

describe('sound under the kind of 8 kHz', () => {
  const lengthsMs = [10, 20, 30, 40, 60];
  const codecs = [LINEAR_8K, MULAW_8K, ALAW];

  it.each(lengthsMs.flatMap((ms) => codecs.map((codec) => [codec.name, ms, codec] as const)))(
    'is told to be %s in messages of %i ms',
    (_name, ms, codec) => {
      for (const level of [0, 5, 300, 8000]) {
        const dialect = named();
        const durations = Array.from({ length: 10 }, (_, i) => {
          const samples = tone(8 * ms * (i + 1), level).subarray(8 * ms * i);
          return soundOf(0x10, encodeG711(samples, codec), dialect).samples / 8;
        });
        // The first message of pure µ-law silence may be taken for linear silence half as long.
        expect(durations.slice(1), `level ${level}`).toEqual(Array.from({ length: 9 }, () => ms));
      }
    },
  );

  it('is handed on without a copy when it is linear', () => {
    const payload = encodeG711(tone(160), LINEAR_8K);
    const [, audio] = named().receive({ kind: 0x10, payload });
    expect(audio?.type === 'audio' && audio.bytes).toBe(payload);
  });

  it('stays what it was found to be, however loud it becomes', () => {
    const dialect = named();
    for (let i = 0; i < 3; i++) soundOf(0x10, encodeG711(tone(160, 20), LINEAR_8K), dialect);
    const noise = Int16Array.from({ length: 80 }, (_, i) => ((i * 2_654_435_761) & 0xffff) - 32_768);
    expect(soundOf(0x10, encodeG711(noise, LINEAR_8K), dialect).samples).toBe(80);
  });
});

describe('what we send', () => {
  it.each([8000, 16_000, 44_100, 192_000])(
    'is sound of the kind of its rate, header and payload in one: %i Hz',
    (rateHz) => {
      const dialect = named();
      dialect.begin(rateHz);
      const heard: [number, number][] = [];
      const reader = new AudioSocketReader({ onFrame: (bytes, rate) => heard.push([bytes.length, rate]) });
      const size = frameBytes({ ...LINEAR_8K, rateHz });
      reader.receive(dialect.format({ type: 'audio', bytes: new Uint8Array(size).fill(7) }));
      reader.receive(dialect.silence());
      expect(heard).toEqual([
        [size, rateHz],
        [size, rateHz],
      ]);
      reader.receive(dialect.hangup());
      expect([reader.end, reader.error]).toEqual(['hangup', '']);
    },
  );

  it('is nothing that would end the call', () => {
    const dialect = named();
    expect(codeOf(() => dialect.format({ type: 'audio', bytes: new Uint8Array(320) }))).toBe('invalid_request');
    dialect.begin();
    for (const bytes of [new Uint8Array(0), new Uint8Array(65_536)])
      expect(codeOf(() => dialect.format({ type: 'audio', bytes }))).toBe('invalid_request');
    expect(codeOf(() => dialect.format({ type: 'clear' }))).toBe('invalid_request');
    expect(codeOf(() => dialect.format({ type: 'mark', name: 's1' }))).toBe('invalid_request');
  });
});
