import { describe, expect, it } from 'vitest';
import { SignalWireDialect } from '../../../../src/carriers/signalwire/wire/signalwire.ts';
import { WireFixtures } from '../../wire-fixtures.ts';

const open = () => new SignalWireDialect({ bigEndian: false });
const fixtures = new WireFixtures({ carrier: 'signalwire', open });

fixtures.describe();

describe('what a SignalWire start tells', () => {
  it('names stream and call, and the parties that the parameters tell', () => {
    expect(fixtures.startOf()).toMatchObject({
      carrier: 'signalwire',
      callId: '76ac3c36-56da-4a3e-a0d6-b5f8df6da9ad',
      streamId: '7d56cc11-536d-4a45-b4fb-ed3d55be843b',
      from: '+15005550006',
      to: '+15005550001',
      tracks: ['inbound'],
      codec: { name: 'mulaw', rateHz: 8000 },
      playback: 'buffered',
    });
  });

  it('takes linear samples at the rate that is declared', () => {
    expect(fixtures.startOf('good/start-l16.json').codec).toEqual({
      name: 'pcm16',
      rateHz: 24_000,
      channels: 1,
      bytesPerSample: 2,
    });
  });

  it('takes no sound for a stream of both tracks', () => {
    expect(fixtures.startOf('good/start-both-tracks.json')).toMatchObject({
      playback: 'none',
      from: null,
      parameters: {},
    });
    expect(() => fixtures.started('good/start-both-tracks.json').format({ type: 'clear' })).toThrow('only listens');
  });
});

describe('a SignalWire stream', () => {
  it('is sent what Twilio would be sent', () => {
    const dialect = fixtures.started();
    const streamSid = '7d56cc11-536d-4a45-b4fb-ed3d55be843b';
    const sent = [
      dialect.format({ type: 'audio', bytes: Uint8Array.of(0xff, 0x7f) }),
      dialect.format({ type: 'mark', name: 's1' }),
      dialect.format({ type: 'clear' }),
    ];
    expect(sent.map((message) => JSON.parse(String(message)))).toEqual([
      { event: 'media', streamSid, media: { payload: '/38=' } },
      { event: 'mark', streamSid, mark: { name: 's1' } },
      { event: 'clear', streamSid },
    ]);
  });

  it('turns linear samples round where they come with the high byte first', () => {
    const dialect = new SignalWireDialect({ bigEndian: true });
    dialect.receive(fixtures.read('good/start-l16.json'));
    expect(JSON.parse(String(dialect.format({ type: 'audio', bytes: Uint8Array.of(1, 2) })))).toMatchObject({
      media: { payload: 'AgE=' },
    });
  });

  it('tells a key without a track as the caller’s', () => {
    expect(fixtures.eventOf('good/dtmf.json')).toEqual({ type: 'dtmf', track: 'inbound', digit: '5' });
  });
});
