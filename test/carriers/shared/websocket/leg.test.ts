import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { LegEnd, TransferOutcome } from '../../../../src/calls/leg.ts';
import type { TransferCall } from '../../../../src/calls/socket-admission.ts';
import { AsteriskDialect } from '../../../../src/carriers/asterisk/wire/chan-websocket.ts';
import type { LegLimits } from '../../../../src/carriers/shared/leg-limits.ts';
import { WebSocketLeg } from '../../../../src/carriers/shared/websocket/leg.ts';
import { TwilioDialect } from '../../../../src/carriers/shared/wire/twilio-media.ts';
import { TrunklineError } from '../../../../src/foundation/errors.ts';
import type { CarrierEvent } from '../../../../src/protocols/dialect.ts';
import { CarrierSocket } from '../../../fakes/carrier-socket.ts';
import { FakeClock } from '../../../fakes/clock.ts';

const LIMITS: LegLimits = { startTimeoutMs: 10_000, mediaTimeoutMs: 60_000, sendBufferMaxBytes: 65_536 };
const MESSAGE_MAX_BYTES = 4096;
const START = JSON.stringify({
  event: 'start',
  streamSid: 'MZ1',
  start: {
    callSid: 'CA1',
    tracks: ['inbound'],
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  },
});

function mark(name: string): string {
  return JSON.stringify({ event: 'mark', streamSid: 'MZ1', mark: { name } });
}

/** A leg on a real socket, and the carrier at its other end. */
class Line {
  readonly clock = new FakeClock();
  readonly events: CarrierEvent[] = [];
  readonly ends: LegEnd[] = [];
  readonly carrier: WebSocket;
  readonly leg: WebSocketLeg;
  /** What the handlers do on top of noting the event. */
  onEvent: (event: CarrierEvent) => void = () => {};
  /** How the carrier transfers. */
  transfer: TransferCall = async () => 'unsupported';
  #wake: () => void = () => {};

  constructor(socket: WebSocket, carrier: WebSocket) {
    this.carrier = carrier;
    this.leg = new WebSocketLeg({
      socket,
      dialect: new TwilioDialect(),
      limits: LIMITS,
      clock: this.clock,
      transfer: (start, request) => this.transfer(start, request),
      handlers: {
        onEvent: (event) => {
          this.events.push(event);
          this.#wake();
          this.onEvent(event);
        },
        onClosed: (end) => {
          this.ends.push(end);
          this.#wake();
        },
      },
    });
  }

  /** Resolves when `condition` holds, looked at after each event of the leg. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async start(): Promise<void> {
    this.carrier.send(START);
    await this.until(() => this.events.length > 0);
  }

  async end(): Promise<LegEnd> {
    await this.until(() => this.ends.length > 0);
    return this.ends[0] as LegEnd;
  }

  /** Code and reason of the close that the carrier sees. */
  async closeSeen(): Promise<{ code: number; reason: string }> {
    const [code, reason] = await once(this.carrier, 'close');
    return { code, reason: String(reason) };
  }
}

let server: WebSocketServer;
let line: Line;

beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: MESSAGE_MAX_BYTES });
  await once(server, 'listening');
  const carrier = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [[socket]] = await Promise.all([once(server, 'connection'), once(carrier, 'open')]);
  line = new Line(socket, carrier);
});

afterEach(async () => {
  line.carrier.terminate();
  for (const socket of server.clients) socket.terminate();
  await line.end();
  expect(line.ends).toHaveLength(1);
  expect(line.clock.pending).toBe(0);
  await new Promise((resolve) => server.close(resolve));
});

describe('a leg', () => {
  it('hands each message on as the event that it is', async () => {
    line.carrier.send(START);
    line.carrier.send(mark('a'));
    await line.until(() => line.events.length === 2);
    expect(line.events).toMatchObject([{ type: 'start' }, { type: 'mark', name: 'a' }]);
  });

  it('sends commands in the words of its dialect', async () => {
    await line.start();
    const received = once(line.carrier, 'message');
    line.leg.send({ type: 'mark', name: 'greeting' });
    const [data, isBinary] = await received;
    expect(isBinary).toBe(false);
    expect(JSON.parse(String(data))).toEqual({ event: 'mark', streamSid: 'MZ1', mark: { name: 'greeting' } });
  });

  it('lets a command that the stream cannot take fail in its sender, and stays open', async () => {
    expect(() => line.leg.send({ type: 'clear' })).toThrow('before start');
    await line.start();
    expect(line.ends).toEqual([]);
  });

  it('reads nothing while paused', async () => {
    await line.start();
    line.leg.pause();
    await new Promise((resolve) => line.carrier.send(mark('a'), resolve));
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(line.events).toHaveLength(1);
    line.leg.resume();
    await line.until(() => line.events.length === 2);
  });
});

describe('a transfer', () => {
  const REQUEST = { to: '+4930', from: null, timeoutMs: 30_000, handoffData: null };

  it('that makes the carrier end the stream is told before that end', async () => {
    await line.start();
    let done: (outcome: TransferOutcome) => void = () => undefined;
    line.transfer = ({ callId }) => {
      expect(callId).toBe('CA1');
      return new Promise((resolve) => {
        done = resolve;
      });
    };
    const told: string[] = [];
    const transferred = line.leg.transfer(REQUEST).then((outcome) => told.push(outcome));
    line.onEvent = ({ type }) => void told.push(type);
    expect(await line.leg.transfer(REQUEST)).toBe('unsupported');
    line.carrier.send(JSON.stringify({ event: 'stop', streamSid: 'MZ1', stop: { callSid: 'CA1' } }));
    line.carrier.send(mark('after'));
    await line.until(() => told.length > 0);
    done('transferred');
    await transferred;
    await line.until(() => told.length > 2);
    expect(told).toEqual(['ignored', 'transferred', 'stop']);
  });

  it('is not possible before the start', async () => {
    expect(await line.leg.transfer(REQUEST)).toBe('unsupported');
  });
});

describe('the end', () => {
  it('closed by the carrier', async () => {
    line.carrier.close(1000);
    expect(await line.end()).toEqual({ reason: 'closed', code: null, error: null });
  });

  it('lost when the connection breaks', async () => {
    line.carrier.terminate();
    expect(await line.end()).toMatchObject({ reason: 'lost', code: null });
  });

  it('closed by us, once, whatever is asked for afterwards', async () => {
    const seen = line.closeSeen();
    line.leg.close(1000, 'done');
    line.leg.fail(new TrunklineError('internal', 'too late'));
    line.leg.send({ type: 'clear' });
    expect(await seen).toEqual({ code: 1000, reason: 'done' });
    expect(await line.end()).toEqual({ reason: 'closed', code: null, error: null });
  });

  it('ignores what still arrives after our close', async () => {
    line.carrier.pause();
    line.leg.close(1000, 'done');
    line.carrier.send(START);
    line.carrier.resume();
    await line.end();
    expect(line.events).toEqual([]);
  });

  it('cuts a carrier that does not answer the close after 2 s', async () => {
    line.carrier.pause();
    line.leg.close(1000, 'done');
    line.clock.advance(1999);
    expect(line.clock.pending).toBe(1);
    line.clock.advance(1);
    expect(await line.end()).toMatchObject({ reason: 'closed' });
  });

  it('comes through while the leg is paused', async () => {
    await line.start();
    line.leg.pause();
    line.leg.close(1000, 'done');
    expect(await line.end()).toMatchObject({ reason: 'closed' });
  });
});

describe('a carrier that breaks the rules is closed with the code of its error', () => {
  it.each<[string, string | Buffer, number, string]>([
    ['no JSON', '{', 1007, 'message_malformed'],
    ['binary', Buffer.from(START), 1003, 'message_binary'],
    ['media before start', JSON.stringify({ event: 'media', streamSid: 'MZ1', media: {} }), 4400, 'media_before_start'],
    ['another codec', START.replace('x-mulaw', 'l16'), 4402, 'codec_unsupported'],
    ['a message beyond the limit', 'x'.repeat(MESSAGE_MAX_BYTES + 1), 1009, 'message_too_large'],
  ])('%s', async (_, message, closeCode, code) => {
    const seen = line.closeSeen();
    line.carrier.send(message);
    expect((await seen).code).toBe(closeCode);
    const end = await line.end();
    expect(end).toMatchObject({ reason: 'error', code });
    expect(end.error).toBeInstanceOf(Error);
    expect(line.events).toEqual([]);
  });

  it('a reason too long for a close frame is cut, not inside a character', async () => {
    const seen = line.closeSeen();
    line.leg.fail(new TrunklineError('message_malformed', `x${'é'.repeat(200)}`));
    expect(await seen).toEqual({ code: 1007, reason: `x${'é'.repeat(61)}` });
  });

  it('a reader that does not read is cut off', async () => {
    await line.start();
    line.carrier.pause();
    const bytes = new Uint8Array(1_000_000);
    for (let sent = 0; sent < 64; sent++) line.leg.send({ type: 'audio', bytes });
    line.clock.advance(2000);
    expect(await line.end()).toMatchObject({ reason: 'error', code: 'reader_too_slow' });
  });
});

describe('time', () => {
  it('a stream that does not start is closed', async () => {
    const seen = line.closeSeen();
    line.clock.advance(LIMITS.startTimeoutMs - 1);
    expect(line.ends).toEqual([]);
    line.clock.advance(1);
    expect((await seen).code).toBe(4408);
    expect(await line.end()).toMatchObject({ reason: 'timeout', code: 'start_timeout' });
  });

  it('messages other than start do not put that off', async () => {
    line.carrier.send(JSON.stringify({ event: 'connected' }));
    await line.until(() => line.events.length === 1);
    line.clock.advance(LIMITS.startTimeoutMs);
    expect(await line.end()).toMatchObject({ code: 'start_timeout' });
  });

  it('a stream that goes silent is closed; any message puts that off', async () => {
    await line.start();
    line.clock.advance(LIMITS.mediaTimeoutMs - 1);
    line.carrier.send(mark('still here'));
    await line.until(() => line.events.length === 2);
    line.clock.advance(LIMITS.mediaTimeoutMs - 1);
    expect(line.clock.pending).toBe(1);
    const seen = line.closeSeen();
    line.clock.advance(1);
    expect((await seen).code).toBe(4409);
    expect(await line.end()).toMatchObject({ reason: 'timeout', code: 'media_timeout' });
  });

  it('silence does not count while we do not read', async () => {
    await line.start();
    line.leg.pause();
    line.clock.advance(3 * LIMITS.mediaTimeoutMs);
    line.leg.resume();
    line.carrier.send(mark('was waiting'));
    await line.until(() => line.events.length === 2);
    line.clock.advance(LIMITS.mediaTimeoutMs);
    expect(await line.end()).toMatchObject({ code: 'media_timeout' });
  });
});

it('a handler that throws closes its own leg, and the error is told', async () => {
  const bug = new Error('a bug of ours');
  line.onEvent = () => {
    throw bug;
  };
  const seen = line.closeSeen();
  line.carrier.send(START);
  expect((await seen).code).toBe(1011);
  expect(await line.end()).toEqual({ reason: 'error', code: 'internal', error: bug });
});

it('a handler may refuse a call with a coded error', async () => {
  line.onEvent = () => {
    throw new TrunklineError('call_token_invalid', 'no such token');
  };
  const seen = line.closeSeen();
  line.carrier.send(START);
  expect(await seen).toEqual({ code: 4403, reason: 'no such token' });
  expect(await line.end()).toMatchObject({ reason: 'error', code: 'call_token_invalid' });
});

describe('a carrier that answers and brings no sound', () => {
  const HALF_MINUTE_MS = 30_000;

  it('is kept while the far side holds the call, for two hours, and gets its ten minutes after that', () => {
    const clock = new FakeClock();
    const socket = new CarrierSocket();
    let heldSinceMs: number | null = clock.nowMs();
    new WebSocketLeg({
      socket: socket.asWebSocket,
      dialect: new AsteriskDialect(),
      limits: LIMITS,
      clock,
      handlers: { onEvent: () => {}, onClosed: () => {} },
      heldSinceMs: () => heldSinceMs,
    });
    const answerFor = (minutes: number) => {
      for (let i = 0; i < minutes * 2; i++) {
        clock.advance(HALF_MINUTE_MS);
        socket.emit('message', Buffer.from('STATUS channel_id:1.2'), false);
      }
    };
    socket.emit('message', Buffer.from('MEDIA_START channel:WebSocket/a/0x7 channel_id:1.2 format:ulaw'), false);
    answerFor(110);
    heldSinceMs = null;
    answerFor(8);
    expect(socket.closedWith).toBeNull();
    heldSinceMs = clock.nowMs();
    answerFor(119);
    expect(socket.closedWith).toBeNull();
    answerFor(12);
    expect(socket.closedWith).toMatchObject({ code: 4409 });
  });
});
