/** Legs of AudioHook whose client is away: nobody waits for real time here. */
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import type { LegEnd } from '../../../src/calls/leg.ts';
import { AudioHookConnection } from '../../../src/carriers/audiohook/connection.ts';
import { AudioHookLeg } from '../../../src/carriers/audiohook/leg.ts';
import { AudioHookSession } from '../../../src/carriers/audiohook/wire/session.ts';
import type { CarrierEvent } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';

const LIMITS = { startTimeoutMs: 10_000, mediaTimeoutMs: 60_000, sendBufferMaxBytes: 65_536 };
const AWAY_MS = 10_000;
const LOST = 1006;

class Socket extends EventEmitter {
  readonly OPEN = 1;
  readonly bufferedAmount = 0;
  readyState = 1;
  isPaused = false;
  readonly got: string[] = [];

  send(text: string): void {
    this.got.push(text);
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(): void {
    this.drop(1000);
  }
  terminate(): void {
    this.drop(LOST);
  }
  drop(code: number): void {
    if (this.readyState !== this.OPEN) return;
    this.readyState = 3;
    this.emit('close', code);
  }
  get types(): string[] {
    return this.got.map((text) => (JSON.parse(text) as { type: string }).type);
  }
}

let clock: FakeClock;
let live: Map<string, AudioHookLeg>;
let readers: Set<(event: FeedEvent) => void>;

beforeEach(() => {
  clock = new FakeClock();
  live = new Map();
  readers = new Set();
});

/** One client, which has opened session `id`. */
function openSession(id: string, parameters: object = {}) {
  const socket = new Socket();
  const session = new AudioHookSession({ streamId: 'stream', organizationId: null, languages: () => ['en'] });
  const [events, ends]: [CarrierEvent[], LegEnd[]] = [[], []];
  const leg = new AudioHookLeg({
    connection: new AudioHookConnection({
      socket: socket as unknown as WebSocket,
      session,
      clock,
      sendBufferMaxBytes: LIMITS.sendBufferMaxBytes,
    }),
    live,
    clock,
    limits: LIMITS,
    follow: (reader) => {
      readers.add(reader);
      return () => readers.delete(reader);
    },
    handlers: { onEvent: (event) => void events.push(event), onClosed: (end) => void ends.push(end) },
  });
  let seq = 0;
  const send = (type: string, told: object): void => {
    const common = { version: '2', id, type, seq: ++seq, serverseq: 0, position: 'PT0S', parameters: told };
    socket.emit('message', Buffer.from(JSON.stringify(common)), false);
  };
  const media = [{ type: 'audio', format: 'PCMU', channels: ['external'], rate: 8000 }];
  send('open', { conversationId: 'c', participant: { id: 'p', ani: '1', dnis: '2' }, media, ...parameters });
  return { socket, leg, events, ends, send };
}

const goingOn = (id: string) => ({ continuedSessions: [{ id, serverseq: 1, clientseq: 1 }] });

/** What the call's readers are told. */
function publish(event: object): void {
  for (const reader of [...readers]) reader(event as FeedEvent);
}

describe('a call whose connection broke', () => {
  it('ends as lost when no session goes on with it', () => {
    const { socket, ends } = openSession('a');
    socket.drop(LOST);
    clock.advance(AWAY_MS - 1);
    expect(ends).toEqual([]);
    clock.advance(1);
    expect(ends).toMatchObject([{ reason: 'lost' }]);
    expect(live.size).toBe(0);
  });

  it('ends at once when the client closed its socket itself', () => {
    const { socket, ends } = openSession('a');
    socket.drop(1000);
    expect(ends).toMatchObject([{ reason: 'closed' }]);
  });

  it('is ended from here while nobody is there', () => {
    const { socket, leg, ends } = openSession('a');
    socket.drop(LOST);
    leg.close();
    expect(ends).toEqual([]);
    clock.advance(0);
    expect(ends).toMatchObject([{ reason: 'closed' }]);
    clock.advance(AWAY_MS);
    expect(ends).toHaveLength(1);
  });

  it('goes on in the next session, with what was missed, and tells it what was said meanwhile', () => {
    const first = openSession('a');
    publish({ type: 'call.started', callId: 'a' });
    first.socket.emit('message', Buffer.alloc(1600), true);
    first.socket.drop(LOST);
    publish({ type: 'caption', callId: 'a', track: 'inbound', final: true, text: 'one', startMs: 0, endMs: 200 });
    clock.advance(3000);
    const next = openSession('b', goingOn('a'));
    expect([next.events, next.ends]).toMatchObject([[{ type: 'stop' }], [{ reason: 'closed' }]]);
    expect(next.socket.types).toEqual(['opened', 'event']);
    next.socket.emit('message', Buffer.alloc(160), true);
    expect(first.events.at(-1)).toMatchObject({ type: 'audio', atMs: 3200, sequence: 2 });
    clock.advance(AWAY_MS);
    expect(first.ends).toEqual([]);
    // And once more, by the name of the session before alone.
    next.socket.drop(LOST);
    const third = openSession('c', goingOn('b'));
    expect(third.socket.types).toEqual(['opened']);
    third.send('close', { reason: 'end' });
    expect(first.events.at(-1)).toEqual({ type: 'stop' });
    publish({ type: 'call.ended', callId: 'a' });
    expect(third.socket.types).toEqual(['opened', 'closed']);
    third.socket.drop(1005);
    expect(first.ends).toHaveLength(1);
    expect(live.size).toBe(0);
  });

  it('misses nothing while it is held', () => {
    const first = openSession('a');
    first.socket.emit('message', Buffer.alloc(1600), true);
    first.send('paused', {});
    first.socket.drop(LOST);
    clock.advance(5000);
    const next = openSession('b', goingOn('a'));
    expect(first.events.at(-1)).toEqual({ type: 'state', state: 'live' });
    next.socket.emit('message', Buffer.alloc(160), true);
    expect(first.events.at(-1)).toMatchObject({ type: 'audio', atMs: 200 });
  });

  it('stays unread in the next session while the engines are full', () => {
    const first = openSession('a');
    first.leg.pause();
    first.socket.drop(LOST);
    const next = openSession('b', goingOn('a'));
    expect(next.socket.isPaused).toBe(true);
    first.leg.resume();
    expect(next.socket.isPaused).toBe(false);
  });

  it('cuts a session off that the client has left and does not end', () => {
    const first = openSession('a');
    openSession('b', goingOn('a'));
    clock.advance(AWAY_MS);
    expect(first.socket.readyState).toBe(3);
    expect(first.ends).toEqual([]);
  });
});
