import { describe, expect, it } from 'vitest';
import { frameBytes } from '../../../../src/audio/frames.ts';
import { ExotelDialect, exotelRateHz } from '../../../../src/carriers/exotel/wire/exotel.ts';
import { WireFixtures } from '../../wire-fixtures.ts';

const fixtures = new WireFixtures({ carrier: 'exotel', open: () => new ExotelDialect() });

fixtures.describe();

describe('what an Exotel start tells', () => {
  it('names stream, call, parties, codec and parameters', () => {
    expect(fixtures.startOf()).toMatchObject({
      carrier: 'exotel',
      callId: 'call-0001',
      streamId: 'stream-0001',
      from: '+15005550006',
      to: '+15005550001',
      tracks: ['inbound'],
      codec: { name: 'pcm16', rateHz: 8000, channels: 1, bytesPerSample: 2 },
      playback: 'buffered',
      parameters: { app: 'wss://app.example.com/calls' },
    });
  });

  it.each([
    ['good/start-mulaw.json', 'mulaw', 8000],
    ['good/start-l16.json', 'pcm16', 16_000],
  ])('knows the formats that can be chosen: %s', (file, name, rateHz) => {
    expect(fixtures.startOf(file)).toMatchObject({ codec: { name, rateHz } });
  });

  it('leaves empty what is not told', () => {
    expect(fixtures.startOf('good/start-bare.json')).toMatchObject({ from: null, to: null, parameters: {} });
  });

  it.each(['good/start-top.json', 'good/start-camel.json', 'good/start-camel-format.json', 'good/start-flat.json'])(
    'finds stream and call wherever they stand, in both spellings: %s',
    (file) => {
      expect(fixtures.startOf(file)).toMatchObject({ callId: 'call-0001', streamId: 'stream-0001' });
    },
  );

  it('has the rate that the URL asked for where the start tells none, and the start’s where it does', () => {
    const open = () => new ExotelDialect({ rateHz: 24_000 });
    const wideband = new WireFixtures({ carrier: 'exotel', open });
    const ratesHz = ['good/start-camel.json', 'good/start.json'].map((file) => wideband.startOf(file).codec.rateHz);
    expect(ratesHz).toEqual([24_000, 8000]);
    expect(fixtures.startOf('good/start-camel.json').codec).toMatchObject({ name: 'pcm16', rateHz: 8000 });
  });

  it.each([
    ['16000', 16_000],
    ['24000', 24_000],
    ['11025', 8000],
    [undefined, 8000],
  ])('takes ?sample-rate=%s for %i Hz', (asked, rateHz) => {
    expect(exotelRateHz(asked)).toBe(rateHz);
  });

  it.each(['good/start.json', 'good/start-16k.json', 'good/start-24k.json', 'good/start-mulaw.json'])(
    'asks for messages of at least 3200 bytes in whole 320s, and no longer than need be: %s',
    (file) => {
      const { codec, framesPerMessage = 1 } = fixtures.startOf(file);
      const bytes = framesPerMessage * frameBytes(codec);
      expect(bytes % 320).toBe(0);
      expect(bytes).toBeGreaterThanOrEqual(3200);
      expect(bytes - frameBytes(codec)).toBeLessThan(3200);
    },
  );
});

describe('an Exotel stream', () => {
  it('has one track, which its media need not name', () => {
    expect(fixtures.eventOf('good/media.json')).toEqual({
      type: 'audio',
      track: 'inbound',
      bytes: Buffer.alloc(1600),
      atMs: 0,
      sequence: 1,
    });
  });

  it('is sent media, marks and clears under its own name for the stream', () => {
    const dialect = fixtures.started();
    const stream_sid = 'stream-0001';
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) }),
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
    ];
    expect(sent.map((message) => JSON.parse(String(message)))).toEqual([
      { event: 'media', stream_sid, media: { payload: 'AQI=', chunk: '1', timestamp: '0', sequenceNumber: '1' } },
      { event: 'mark', stream_sid, mark: { name: 's1' } },
      { event: 'clear', stream_sid },
    ]);
  });

  it('is sent them in the spelling of its start', () => {
    const dialect = fixtures.started('good/start-camel.json');
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) }),
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
    ].map((message) => JSON.parse(String(message)));
    expect(sent.map(({ streamSid, stream_sid }) => [streamSid, stream_sid])).toEqual(
      Array(3).fill(['stream-0001', undefined]),
    );
  });

  it('is sent media with their number and the time of the sound before them', () => {
    const dialect = fixtures.started();
    const media = [1, 2].map(() => JSON.parse(String(dialect.format({ type: 'audio', bytes: new Uint8Array(3200) }))));
    expect(media.map(({ media: { chunk, timestamp } }) => [chunk, timestamp])).toEqual([
      ['1', '0'],
      ['2', '200'],
    ]);
  });
});
