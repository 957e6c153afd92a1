import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../../src/audio/timeline.ts';
import { TelnyxDialect } from '../../../../src/carriers/telnyx/wire/telnyx.ts';
import { WireFixtures } from '../../wire-fixtures.ts';

const open = () => new TelnyxDialect({ bigEndian: false });
const fixtures = new WireFixtures({ carrier: 'telnyx', open });

fixtures.describe();

describe('what a Telnyx start tells', () => {
  it('names the call, its parties, codec and parameters; which tracks come it does not say', () => {
    expect(fixtures.startOf()).toEqual({
      carrier: 'telnyx',
      callId: 'v3:T02llQxIyaRkhfRKxgAP8nY511EhFLizdvdUKJiSw8d6A9BborherQ',
      streamId: '32de0dea-53cb-4b21-89a4-9e1819c043bc',
      from: '+15005550006',
      to: '+15005550001',
      tracks: ['inbound', 'outbound'],
      codec: { name: 'mulaw', rateHz: 8000, channels: 1, bytesPerSample: 1 },
      playback: 'buffered',
      parameters: { clientState: 'order 42', tags: 'support,en', bargeIn: 'any' },
    });
  });

  it.each([
    ['good/start-pcma.json', { name: 'alaw', rateHz: 8000, bytesPerSample: 1 }],
    ['good/start-l16.json', { name: 'pcm16', rateHz: 16_000, bytesPerSample: 2 }],
    ['good/start-old.json', { name: 'mulaw', rateHz: 8000, bytesPerSample: 1 }],
  ])('takes the codec as declared: %s', (file, codec) => {
    expect(fixtures.startOf(file).codec).toMatchObject(codec);
  });

  it('leaves empty what is not told', () => {
    expect(fixtures.startOf('good/start-old.json')).toMatchObject({ from: null, to: null, parameters: {} });
  });

  it('says what to set when the codec is one that is not taken', () => {
    expect(() => open().receive(fixtures.read('bad/start-opus.json'))).toThrow(
      'start.media_format: got encoding "OPUS", sampleRate the number 48000, channels the number 1, expected ' +
        'PCMU, 8000, 1; PCMA, 8000, 1; L16, 8000 to 48000, 1; audio/x-mulaw, 8000, 1: set stream_codec and ' +
        'stream_bidirectional_codec to PCMU',
    );
  });
});

describe('a Telnyx stream', () => {
  it('is put in order by the numbers of its chunks', () => {
    const dialect = open();
    const timeline = new Timeline({ rateHz: 8000, reorderMs: 60, gapMaxMs: 1000 });
    const order: number[] = [];
    for (const message of fixtures.messages('sessions/out-of-order.jsonl')) {
      const event = dialect.receive(message);
      if (event.type !== 'audio' || event.atMs === null) continue;
      const { atMs, sequence } = event;
      for (const [first] of timeline.push({ samples: new Int16Array(160).fill(sequence), atMs, sequence }))
        order.push(first ?? 0);
    }
    expect(order).toEqual([1, 2, 3, 4, 5, 6]);
    expect(timeline.stats).toMatchObject({ concealedMs: 0, silenceMs: 0, late: 0, reordered: 2 });
  });

  it('turns linear samples round both ways where they come with the high byte first', () => {
    const dialect = new TelnyxDialect({ bigEndian: true });
    dialect.receive(fixtures.read('good/start-l16.json'));
    const media = {
      track: 'inbound',
      chunk: '1',
      timestamp: '0',
      payload: Buffer.from([1, 2, 3, 4, 5]).toString('base64'),
    };
    expect(dialect.receive(JSON.stringify({ event: 'media', media }))).toMatchObject({
      bytes: Buffer.from([2, 1, 4, 3]),
    });
    const bytes = Uint8Array.of(1, 2);
    expect(JSON.parse(String(dialect.format({ type: 'audio', bytes })))).toMatchObject({ media: { payload: 'AgE=' } });
    expect(bytes).toEqual(Uint8Array.of(1, 2));
  });

  it('leaves companded samples as they are, whatever the byte order', () => {
    const dialect = new TelnyxDialect({ bigEndian: true });
    dialect.receive(fixtures.read('good/start.json'));
    expect(JSON.parse(String(dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) })))).toMatchObject({
      media: { payload: 'AQI=' },
    });
  });

  it('is sent media, marks and clears', () => {
    const dialect = fixtures.started();
    const stream_id = '32de0dea-53cb-4b21-89a4-9e1819c043bc';
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(0xff, 0x7f) }),
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
    ];
    expect(sent.map((message) => JSON.parse(String(message)))).toEqual([
      { event: 'media', stream_id, media: { payload: '/38=' } },
      { event: 'mark', stream_id, mark: { name: 's1' } },
      { event: 'clear', stream_id },
    ]);
    expect(() => open().format({ type: 'clear' })).toThrow('before start');
  });
});
