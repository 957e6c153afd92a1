import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TwilioDialect } from '../../../../src/carriers/shared/wire/twilio-media.ts';
import { outcome, WireFixtures } from '../../wire-fixtures.ts';

const fixtures = new WireFixtures({ carrier: 'twilio', open: () => new TwilioDialect() });
const read = (file: string) => fixtures.read(file);
const START = read('good/start.json');
const SILENCE = Buffer.alloc(160, 0xff);

function started(start = START): TwilioDialect {
  const dialect = new TwilioDialect();
  dialect.receive(start);
  return dialect;
}

fixtures.describe();

describe('what the events hold', () => {
  it('start names call, stream, numbers, tracks and codec', () => {
    const event = new TwilioDialect().receive(START);
    expect(event).toMatchObject({
      type: 'start',
      start: {
        carrier: 'twilio',
        callId: 'CA00000000000000000000000000000001',
        streamId: 'MZ00000000000000000000000000000001',
        from: '+15005550006',
        to: '+15005550001',
        tracks: ['inbound'],
        codec: { name: 'mulaw', rateHz: 8000, channels: 1 },
        playback: 'buffered',
        parameters: { token: 'abc' },
      },
    });
  });

  it('start names who speaks the dialect, when it is not Twilio', () => {
    expect(new TwilioDialect('browser').receive(START)).toMatchObject({ start: { carrier: 'browser' } });
  });

  it.each(['good/start-no-format.json', 'good/start-empty-format.json', 'good/start-no-stream.json'])(
    'start has what Twilio documents where a simulator leaves it out: %s',
    (file) => {
      const codec = { name: 'mulaw', rateHz: 8000, channels: 1 };
      expect(fixtures.startOf(file)).toMatchObject({ codec, tracks: ['inbound'], playback: 'buffered' });
    },
  );

  it('a stream without a name has the name of its call', () => {
    const { streamId, callId } = fixtures.startOf('good/start-no-stream.json');
    expect(streamId).toBe(callId);
  });

  it('media without a time have none, and without a number are counted', () => {
    const dialect = started();
    const bare = read('good/media-payload-only.json');
    const event = { type: 'audio', track: 'inbound', bytes: SILENCE };
    expect(dialect.receive(bare)).toEqual({ ...event, atMs: null, sequence: 1 });
    expect(dialect.receive(read('good/media-numbers.json'))).toMatchObject({ atMs: 125, sequence: 7 });
    expect(dialect.receive(bare)).toEqual({ ...event, atMs: null, sequence: 8 });
  });

  it('each track has a count of its own', () => {
    const dialect = started(read('good/start-both-tracks.json'));
    const send = (track: string) =>
      dialect.receive(JSON.stringify({ event: 'media', media: { track, payload: '//8=' } }));
    expect(['inbound', 'outbound', 'inbound'].map(send)).toMatchObject([
      { sequence: 1 },
      { sequence: 1 },
      { sequence: 2 },
    ]);
  });

  it('numbers that no parameter tells are null', () => {
    expect(new TwilioDialect().receive(read('good/start-both-tracks.json'))).toMatchObject({
      start: { from: null, to: null },
    });
  });

  it('a parameter called __proto__ is a parameter', () => {
    const event = new TwilioDialect().receive(read('once-broke-us/parameter-proto.json'));
    expect(event.type === 'start' && Object.entries(event.start.parameters)).toEqual([
      ['__proto__', 'x'],
      ['from', '+15005550006'],
    ]);
  });

  it('media gives the bytes, their time and their number', () => {
    const event = started().receive(read('good/media.json'));
    expect(event).toEqual({ type: 'audio', track: 'inbound', bytes: SILENCE, atMs: 5, sequence: 1 });
  });

  it('numbers may be numbers', () => {
    expect(started().receive(read('good/media-numbers.json'))).toMatchObject({ atMs: 125, sequence: 7 });
  });

  it('dtmf and mark give digit and name', () => {
    expect(started().receive(read('good/dtmf.json'))).toEqual({ type: 'dtmf', track: 'inbound', digit: '1' });
    expect(started().receive(read('good/mark.json'))).toEqual({ type: 'mark', name: 'my label' });
  });

  it('any payload arrives as it was sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        const json = JSON.parse(read('good/media.json'));
        json.media.payload = Buffer.from(bytes).toString('base64');
        expect(started().receive(JSON.stringify(json))).toMatchObject({ type: 'audio', bytes: Buffer.from(bytes) });
      }),
    );
  });
});

describe('what is refused', () => {
  it('a binary message', () => {
    expect(outcome(started(), Buffer.from(read('good/media.json')))).toBe('message_binary');
  });

  it('the message says what came and what was expected, and repeats no payload', () => {
    const payload = 'c2VjcmV0IHNwZWVjaA'; // unpadded
    const message = read('good/media.json').replace(/"payload":"[^"]*"/, `"payload":"${payload}"`);
    expect(() => started().receive(message)).toThrow(
      'media.payload: got a string of 13 characters, expected padded base64',
    );
    expect(() => new TwilioDialect().receive(read('bad/start-pcm.json'))).toThrow(
      'start.mediaFormat: got encoding "audio/l16", sampleRate the number 16000, channels the number 1, ' +
        'expected audio/x-mulaw, 8000, 1',
    );
  });

  it('a refused start leaves the stream unstarted', () => {
    const dialect = new TwilioDialect();
    expect(outcome(dialect, read('bad/start-pcm.json'))).toBe('codec_unsupported');
    expect(outcome(dialect, START)).toBe('start');
  });
});

describe('what is sent', () => {
  const streamSid = 'MZ00000000000000000000000000000001';

  it('audio, mark and clear have the shapes that Twilio takes', () => {
    const dialect = started();
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(0xff, 0x7f) }),
      dialect.format({ type: 'mark', name: 'a "quoted" name' }),
      dialect.format({ type: 'clear' }),
    ];
    expect(sent.map((message) => JSON.parse(message))).toEqual([
      { event: 'media', streamSid, media: { payload: '/38=' } },
      { event: 'mark', streamSid, mark: { name: 'a "quoted" name' } },
      { event: 'clear', streamSid },
    ]);
  });

  it('a view into a larger buffer sends its own bytes only', () => {
    const message = started().format({ type: 'audio', bytes: SILENCE.subarray(10, 13) });
    expect(JSON.parse(message).media.payload).toBe('////');
  });

  it('nothing before start', () => {
    expect(() => new TwilioDialect().format({ type: 'clear' })).toThrow('before start');
  });

  it('nothing to a stream that only listens', () => {
    expect(() => started(read('good/start-both-tracks.json')).format({ type: 'clear' })).toThrow('only listens');
  });
});
