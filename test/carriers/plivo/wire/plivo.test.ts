import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlivoDialect } from '../../../../src/carriers/plivo/wire/plivo.ts';
import { eventsOf, WireFixtures } from '../../wire-fixtures.ts';

const open = () => new PlivoDialect({ bigEndian: false });
const fixtures = new WireFixtures({ carrier: 'plivo', open });
const streamId = '20170ada-f610-433b-8758-c02a2aab3662';

fixtures.describe();

describe('what a Plivo start tells', () => {
  it.each(['good/start.json', 'good/start-headers-comma.json'])(
    'names stream and call, and the parties that the extra headers tell: %s',
    (file) => {
      expect(fixtures.startOf(file)).toMatchObject({
        carrier: 'plivo',
        callId: '12345678-1234-1234-1234-123456789abc',
        streamId,
        from: '15005550006',
        to: '15005550001',
        tracks: ['inbound'],
        codec: { name: 'mulaw', rateHz: 8000 },
        playback: 'buffered',
        parameters: { from: '15005550006', to: '15005550001' },
      });
    },
  );

  it('makes nothing of headers that are none', () => {
    expect(fixtures.startOf('good/start-headers-odd.json')).toMatchObject({ from: null, parameters: {} });
  });

  it('keeps every header that can be written, and only those', () => {
    const word = fc.stringMatching(/^[A-Za-z0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.dictionary(word, word), fc.constantFrom(',', ';', ', ', '; '), (headers, separator) => {
        const extra_headers = Object.entries(headers)
          .map(([name, value]) => `${name}=${value}`)
          .join(separator);
        const event = open().receive(
          JSON.stringify({ ...JSON.parse(fixtures.read('good/start.json')), extra_headers }),
        );
        expect(event.type === 'start' && { ...event.start.parameters }).toEqual({ ...headers });
      }),
    );
  });

  it('takes no sound for a stream of both tracks', () => {
    expect(fixtures.startOf('good/start-both-tracks.json')).toMatchObject({
      tracks: ['inbound', 'outbound'],
      playback: 'none',
    });
  });
});

describe('a Plivo stream', () => {
  it('counts the time of its media from the first of them, and back to it for one that comes late', () => {
    const dialect = fixtures.started();
    const media = JSON.parse(fixtures.read('good/media.json'));
    const times = [100, 120, 90, 1100].map((ms, index) => {
      media.media = { ...media.media, chunk: index + 1, timestamp: String(1_705_312_200_000 + ms) };
      const [event] = eventsOf(dialect, JSON.stringify(media));
      return event?.type === 'audio' ? event.atMs : null;
    });
    expect(times).toEqual([0, 20, 0, 1000]);
  });

  it.each([
    ['good/start.json', { contentType: 'audio/x-mulaw', sampleRate: 8000 }],
    ['good/start-l16.json', { contentType: 'audio/x-l16', sampleRate: 16_000 }],
  ])('is sent sound with its type, checkpoints and clears: %s', (file, type) => {
    const dialect = fixtures.started(file);
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(0xff, 0x7f) }),
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
    ];
    expect(sent.map((message) => JSON.parse(String(message)))).toEqual([
      { event: 'playAudio', media: { ...type, payload: '/38=' } },
      { event: 'checkpoint', streamId, name: 's1' },
      { event: 'clearAudio', streamId },
    ]);
  });

  it('takes the short name of that event, too', () => {
    expect(fixtures.eventOf('good/played-short.json')).toEqual(fixtures.eventOf('good/played.json'));
  });

  it('tells which checkpoint was played', () => {
    expect(fixtures.eventOf('good/played.json')).toEqual({ type: 'mark', name: 's1' });
  });
});
