/**
 * The body of a response that is made while it is sent: no faster than the client reads it, and only as long as it
 * does.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock, Timer } from '../../foundation/clock.ts';

/** A client that reads nothing for this long is disconnected. */
export const READER_STALL_MS = 60_000;

/** Tells proxies to pass every chunk on at once. */
const STREAM_HEADERS = { 'x-accel-buffering': 'no' };

export type Chunk = Uint8Array | string;

interface StreamOptions {
  readonly reply: FastifyReply;
  /** 200 unless said otherwise. */
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: AsyncGenerator<Chunk, void, undefined>;
  readonly clock: Clock;
  /** Called when the first chunk is about to be sent. */
  onFirst(): void;
  /**
   * Called when the chunks fail after the first. Returns the end of the body, or null to break the connection, which
   * tells the client.
   */
  onFailure(error: unknown): Chunk | null;
}

/**
 * Answers with `chunks`. Resolves with `finished`, `failed`, or `gone` when the client went away or stopped
 * reading. Rejects with what the first chunk fails with: nothing has been sent then, so the response can still be an
 * error.
 */
export async function sendStream(options: StreamOptions): Promise<'finished' | 'failed' | 'gone'> {
  const { reply, status = 200, headers, chunks, onFirst } = options;
  const first = await chunks.next();
  onFirst();
  reply.hijack();
  reply.raw.writeHead(status, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS, ...headers });
  const body = new Body(reply.raw, options.clock);
  try {
    for (let next = first; next.done !== true && !body.gone; next = await chunks.next()) await body.write(next.value);
  } catch (error) {
    await body.endWith(options.onFailure(error));
    return 'failed';
  } finally {
    await chunks.return();
  }
  await body.end();
  return body.gone ? 'gone' : 'finished';
}

class Body {
  readonly #raw: ServerResponse;
  readonly #clock: Clock;

  constructor(raw: ServerResponse, clock: Clock) {
    this.#raw = raw;
    this.#clock = clock;
  }

  get gone(): boolean {
    return this.#raw.destroyed && !this.#raw.writableFinished;
  }

  /** Resolves when the chunk has been sent, or the client has gone. */
  write(chunk: Chunk): Promise<void> {
    return this.#untilSent((done) => this.#raw.write(chunk, done));
  }

  /** Ends the body after `last`; null breaks the connection. */
  async endWith(last: Chunk | null): Promise<void> {
    if (last === null) {
      this.#raw.destroy();
      return;
    }
    await this.write(last);
    await this.end();
  }

  end(): Promise<void> {
    return this.#untilSent((done) => this.#raw.end(done));
  }

  #untilSent(send: (done: () => void) => void): Promise<void> {
    if (this.#raw.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel();
        this.#raw.off('close', done);
        resolve();
      };
      const timer: Timer = this.#clock.after(READER_STALL_MS, () => this.#raw.destroy(), true);
      this.#raw.once('close', done);
      send(done);
    });
  }
}
