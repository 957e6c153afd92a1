/**
 * The body of an answer that is made while it is sent: no faster than it is read, and no longer than somebody reads it.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** A reader that takes nothing for this long is cut off. */
export const READER_STALL_MS = 60_000;

/** What proxies must know: nothing of this may be held back. */
const STREAM_HEADERS = { 'x-accel-buffering': 'no' };

/** A piece of a body. */
export type Chunk = Uint8Array | string;

interface DeliveryOptions {
  readonly reply: FastifyReply;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncGenerator<Chunk, void, undefined>;
  readonly clock: Clock;
  /** The first chunk is there and leaves. */
  onFirst(): void;
  /**
   * The chunks failed after the first: what is to be sent before the connection ends properly, or null to break it,
   * which tells the reader.
   */
  onFailure(error: unknown): Chunk | null;
}

/**
 * Answers with 200 and `chunks`. Resolves with how it went: `finished`, `failed` or, when the reader went away or took
 * nothing more, `gone`. Rejects with what the first chunk fails with: then nothing has been sent, and the answer can
 * still be an error.
 */
export async function deliver(options: DeliveryOptions): Promise<'finished' | 'failed' | 'gone'> {
  const { reply, headers, chunks, onFirst } = options;
  const first = await chunks.next();
  onFirst();
  reply.hijack();
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS, ...headers });
  const reader = new Reader(reply.raw, options.clock);
  try {
    for (let next = first; next.done !== true && !reader.gone; next = await chunks.next())
      await reader.write(next.value);
  } catch (error) {
    await reader.give(options.onFailure(error));
    return 'failed';
  } finally {
    await chunks.return();
  }
  await reader.end();
  return reader.gone ? 'gone' : 'finished';
}

class Reader {
  readonly #raw: ServerResponse;
  readonly #clock: Clock;

  constructor(raw: ServerResponse, clock: Clock) {
    this.#raw = raw;
    this.#clock = clock;
  }

  get gone(): boolean {
    return this.#raw.destroyed && !this.#raw.writableFinished;
  }

  /** Resolves when the network has taken it, or the reader has gone. */
  write(chunk: Chunk): Promise<void> {
    return this.#untilTaken((done) => this.#raw.write(chunk, done));
  }

  /** Ends the body after `last`; with null it breaks off. */
  async give(last: Chunk | null): Promise<void> {
    if (last === null) {
      this.#raw.destroy();
      return;
    }
    await this.write(last);
    await this.end();
  }

  end(): Promise<void> {
    return this.#untilTaken((done) => this.#raw.end(done));
  }

  #untilTaken(give: (done: () => void) => void): Promise<void> {
    if (this.#raw.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#raw.off('close', done);
        resolve();
      };
      const timer: Timer = this.#clock.after(READER_STALL_MS, () => this.#raw.destroy(), true);
      this.#raw.once('close', done);
      give(done);
    });
  }
}
