import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { StreamSocket } from '../../../src/clients/deepgram/stream-socket.ts';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import type { Failures } from '../../../src/http/server/errors.ts';
import { FakeClock } from '../../fakes/clock.ts';

const TIMEOUT_MS = 1000;
const SLICE_BYTES = 4096;

class FakeSocket extends EventEmitter {
  isPaused = false;
  closes: [number, string | undefined][] = [];

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  pings = 0;

  ping(): void {
    this.pings++;
  }

  close(code: number, reason?: string): void {
    this.closes.push([code, reason]);
  }
}

function open({ areMessagesWhole = false, timeoutMs = TIMEOUT_MS } = {}) {
  const socket = new FakeSocket();
  const clock = new FakeClock();
  const got: (number | string)[] = [];
  const stream = new StreamSocket({
    socket: socket as unknown as WebSocket,
    request: {} as FastifyRequest,
    settings: { MEDIA_TIMEOUT_MS: timeoutMs, SEND_BUFFER_MAX_BYTES: 1e6 },
    clock,
    failures: { note: (error: unknown) => error } as unknown as Failures,
    mustSend: true,
    areMessagesWhole,
    onAudio: (bytes) => got.push(bytes.length),
    onText: (text) => got.push(text),
    onOver: () => got.push('over'),
  });
  const send = (data: Buffer | string) => socket.emit('message', Buffer.from(data), typeof data !== 'string');
  return { socket, clock, got, stream, send };
}

describe('the socket of a Deepgram client', () => {
  it('passes a long message on in slices, between which other work runs, and reads no more meanwhile', async () => {
    const { socket, got, send } = open();
    send(Buffer.alloc(2.5 * SLICE_BYTES));
    send('CloseStream');
    expect(got).toEqual([SLICE_BYTES]);
    expect(socket.isPaused).toBe(true);
    await nextTurn();
    expect(got).toEqual([SLICE_BYTES, SLICE_BYTES]);
    await nextTurn();
    expect(got).toEqual([SLICE_BYTES, SLICE_BYTES, SLICE_BYTES / 2, 'CloseStream']);
    expect(socket.isPaused).toBe(false);
  });

  it('cuts no message that has to come whole', () => {
    const { got, send } = open({ areMessagesWhole: true });
    send(Buffer.alloc(2.5 * SLICE_BYTES));
    expect(got).toEqual([2.5 * SLICE_BYTES]);
  });

  it('keeps what comes while its taker is full, in order, and does not take that for silence', async () => {
    const { socket, clock, got, stream, send } = open();
    stream.setFull(true);
    expect(socket.isPaused).toBe(true);
    await clock.run(TIMEOUT_MS - 10);
    send(Buffer.alloc(10));
    send('Finalize');
    expect(got).toEqual([]);
    await clock.run(TIMEOUT_MS - 10);
    stream.setFull(false);
    expect(got).toEqual([10, 'Finalize']);
    expect(socket.isPaused).toBe(false);
    await clock.run(TIMEOUT_MS - 10);
    expect(socket.closes).toEqual([]);
    await clock.run(20);
    expect(socket.closes).toEqual([[1011, 'NET-0001']]);
  });

  it('is written to while it is not read, so that it is seen when the client has gone', async () => {
    const { socket, clock, stream } = open({ timeoutMs: 60_000 });
    stream.setFull(true);
    await clock.run(11_000);
    expect(socket.pings).toBe(2);
    stream.setFull(false);
    await clock.run(11_000);
    stream.setFull(true);
    stream.finish();
    await clock.run(11_000);
    expect(socket.pings).toBe(2);
  });

  it('says in its close what was wrong with the audio, within what a close may hold, and reads on', () => {
    const { socket, got, stream, send } = open();
    stream.setFull(true);
    stream.fail(new TrunklineError('audio_unreadable', `got “it”, expected ${'more '.repeat(50)}`));
    const [[code, reason] = []] = socket.closes;
    expect(code).toBe(1008);
    expect(reason).toMatch(/^DATA-0000: got {2}it , expected more more/);
    expect(reason).toHaveLength(123);
    expect(socket.isPaused).toBe(false);
    send(Buffer.alloc(10));
    expect(got).toEqual(['over']);
  });
});
