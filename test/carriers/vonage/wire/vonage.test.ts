import { describe, expect, it } from 'vitest';
import { VonageDialect } from '../../../../src/carriers/vonage/wire/vonage.ts';
import { outcome, WireFixtures } from '../../wire-fixtures.ts';

const open = () => new VonageDialect({ streamId: 'ours' });
const fixtures = new WireFixtures({ carrier: 'vonage', open, start: 'good/connected.json' });

fixtures.describe();

describe('what Vonage’s first message tells', () => {
  it('is the codec, and whatever the NCCO put among the headers', () => {
    expect(fixtures.startOf()).toMatchObject({
      carrier: 'vonage',
      callId: '63f61863-4a51-4f6b-86e1-46edebcf9356',
      streamId: 'ours',
      from: '15005550006',
      to: '15005550001',
      tracks: ['inbound'],
      codec: { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 },
      playback: 'buffered',
      parameters: { uuid: '63f61863-4a51-4f6b-86e1-46edebcf9356', from: '15005550006', to: '15005550001' },
    });
  });

  it.each([
    ['good/connected-8k.json', 8000, 'ours'],
    ['good/connected-24k.json', 24_000, 'CON-0001'],
    ['good/connected-odd-headers.json', 16_000, 'ours'],
  ])('has the rate and the name of the call, or ours: %s', (file, rateHz, callId) => {
    expect(fixtures.startOf(file)).toMatchObject({ callId, codec: { rateHz } });
  });

  it('reads a content type with parameters, in any order and case', () => {
    expect(fixtures.startOf('good/connected-parameters.json')).toMatchObject({
      codec: { name: 'pcm16', rateHz: 16_000 },
    });
  });

  it('takes a header called __proto__ for a parameter', () => {
    expect(Object.entries(fixtures.startOf('good/connected-odd-headers.json').parameters)).toEqual([
      ['uuid', 'a b'],
      ['__proto__', 'x'],
    ]);
  });
});

describe('a Vonage stream', () => {
  it('gives each binary message as a chunk without a time, numbered as they come', () => {
    const dialect = fixtures.started();
    const bytes = Buffer.alloc(640, 1);
    expect([dialect.receive(bytes), dialect.receive(bytes)]).toEqual([
      { type: 'audio', track: 'inbound', bytes, atMs: null, sequence: 1 },
      { type: 'audio', track: 'inbound', bytes, atMs: null, sequence: 2 },
    ]);
  });

  it('is sent frames as they are, and asked to notify and to clear', () => {
    const dialect = fixtures.started();
    const bytes = new Uint8Array(640);
    expect(dialect.format({ type: 'audio', bytes })).toBe(bytes);
    expect(JSON.parse(String(dialect.format({ type: 'mark', name: 's1' })))).toEqual({
      action: 'notify',
      payload: { name: 's1' },
    });
    expect(JSON.parse(String(dialect.format({ type: 'clear' })))).toEqual({ action: 'clear' });
  });

  it('gives back the name of the mark that it was sent', () => {
    const dialect = fixtures.started();
    const { payload } = JSON.parse(String(dialect.format({ type: 'mark', name: 's7' })));
    expect(dialect.receive(JSON.stringify({ event: 'websocket:notify', payload }))).toEqual({
      type: 'mark',
      name: 's7',
    });
  });

  it('is sent nothing before its first message', () => {
    expect(() => open().format({ type: 'clear' })).toThrow('before websocket:connected');
  });

  it.each(['good/dtmf.json', 'good/dtmf-nested.json'])('tells keys wherever they are: %s', (file) => {
    expect(fixtures.eventOf(file)).toMatchObject({ type: 'dtmf', track: 'inbound' });
  });

  it('is not begun by a first message that is refused', () => {
    const dialect = open();
    expect(outcome(dialect, fixtures.read('bad/connected-mulaw.json'))).toBe('codec_unsupported');
    expect(outcome(dialect, fixtures.read('good/connected.json'))).toBe('start');
  });
});
