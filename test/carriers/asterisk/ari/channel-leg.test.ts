import { describe, expect, it } from 'vitest';
import type { CallLeg, LegEnd, LegHandlers } from '../../../../src/calls/leg.ts';
import { ChannelLeg } from '../../../../src/carriers/asterisk/ari/channel-leg.ts';
import { AsteriskDialect } from '../../../../src/carriers/asterisk/wire/chan-websocket.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import type { CallStart, CarrierEvent, Track } from '../../../../src/protocols/dialect.ts';
import { readRecording } from '../wire/asterisk-recordings.ts';

const IDENTITY = { callId: '1.1', streamId: 's', from: '100', to: '600', parameters: { orderId: '7' } };
const CLOSED: LegEnd = { reason: 'closed', code: null, error: null };

/** A leg on wires in the hand of the test. */
function open(tracks: readonly Track[], playback: CallStart['playback'] = 'none') {
  const told: (CarrierEvent | LegEnd)[] = [];
  const done: string[] = [];
  const wires = new Map<Track, LegHandlers>();
  const wire =
    (track: Track) =>
    (handlers: LegHandlers): CallLeg => {
      wires.set(track, handlers);
      const did = (what: string) => () => void done.push(`${track} ${what}`);
      return { send: did('send'), close: did('close'), fail: did('fail'), pause: did('pause'), resume: did('resume') };
    };
  const leg = new ChannelLeg({
    wires: tracks.map((track) => ({ track, connect: wire(track) })),
    identity: IDENTITY,
    playback,
    transfer: async () => 'unsupported',
    handlers: { onEvent: (event) => told.push(event), onClosed: (end) => told.push(end) },
  });
  const on = (track: Track): LegHandlers => wires.get(track) ?? expect.fail(`there is no wire for ${track}`);
  return { leg, told, done, on };
}

function start(format = 'slin16'): CarrierEvent {
  return new AsteriskDialect().receive(
    `MEDIA_START connection_id:c channel:WebSocket/INCOMING/0x1 channel_id:m format:${format} ptime:20`,
  );
}

describe('two WebSockets of one channel', () => {
  it('are one call with two tracks, as a real Asterisk brings them', () => {
    const { told, on } = open(['inbound', 'outbound']);
    const messages = (['inbound', 'outbound'] as const).flatMap((track) => {
      const dialect = new AsteriskDialect();
      return readRecording(`u3-agent-assist-${track}.jsonl`)
        .filter(({ fromAsterisk }) => fromAsterisk)
        .map(({ atMs, message }) => ({ atMs, track, dialect, message }));
    });
    for (const { track, dialect, message } of messages.sort((a, b) => a.atMs - b.atMs))
      on(track).onEvent(dialect.receive(message));
    const kinds = told.map((event) =>
      'type' in event ? (event.type === 'audio' ? event.track : event.type) : 'closed',
    );
    const after = kinds.slice(kinds.indexOf('start') + 1);
    expect(kinds.filter((kind) => kind === 'start')).toHaveLength(1);
    expect([
      after.filter((kind) => kind === 'inbound').length,
      after.filter((kind) => kind === 'outbound').length,
    ]).toEqual([435, 443]);
    expect(told.find((event) => 'type' in event && event.type === 'start')).toMatchObject({
      start: {
        ...IDENTITY,
        carrier: 'asterisk',
        tracks: ['inbound', 'outbound'],
        playback: 'none',
        codec: { rateHz: 16_000 },
      },
    });
  });

  it('must be in the same codec', () => {
    const { on } = open(['inbound', 'outbound']);
    on('inbound').onEvent(start());
    expect(() => on('outbound').onEvent(start('ulaw'))).toThrow('expected pcm16');
  });

  it('are over together, once, and the other one is closed', () => {
    const { told, done, on } = open(['inbound', 'outbound']);
    on('inbound').onEvent(start());
    on('outbound').onEvent(start());
    on('outbound').onClosed(CLOSED);
    on('inbound').onEvent(start());
    on('inbound').onClosed(CLOSED);
    expect(told.slice(1)).toEqual([CLOSED]);
    expect(done).toContain('inbound close');
  });

  it('are paused, resumed, closed and failed together', () => {
    const { leg, done } = open(['inbound', 'outbound']);
    leg.pause();
    leg.resume();
    leg.close(1000, 'over');
    leg.fail(new TrunklineError('internal', 'over'));
    const both = ['pause', 'resume', 'close', 'fail'].flatMap((what) => [`inbound ${what}`, `outbound ${what}`]);
    expect(done).toEqual(both);
  });
});

describe('one WebSocket of a channel', () => {
  it('brings keys and marks, and takes what is said', () => {
    const { leg, told, done, on } = open(['inbound'], 'buffered');
    const events: CarrierEvent[] = [
      start(),
      { type: 'dtmf', track: 'inbound', digit: '5' },
      { type: 'mark', name: 's1' },
    ];
    for (const event of events) on('inbound').onEvent(event);
    leg.send({ type: 'clear' });
    expect(told).toMatchObject([{ type: 'start', start: { playback: 'buffered' } }, ...events.slice(1)]);
    expect(done).toEqual(['inbound send']);
  });
});
