/** The progress of a batch as Server-Sent Events: what it is now, each file that comes to its end, and its own end. */
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Batch } from '../../jobs/batch.ts';
import type { Batches } from '../../jobs/batches.ts';

/** Proxies drop a connection that is silent for long. */
const HEARTBEAT_MS = 15_000;

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
  connection: 'close',
};

interface BatchEventsOptions {
  readonly batches: Batches;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'FEED_READERS_MAX' | 'SEND_BUFFER_MAX_BYTES'>;
}

/** The open readers of batches. */
export class BatchEvents {
  readonly #options: BatchEventsOptions;
  readonly #open = new Set<() => void>();

  constructor(options: BatchEventsOptions) {
    this.#options = options;
  }

  /**
   * Answers with events until the batch ends, the reader goes or falls behind. @throws TrunklineError
   * `too_many_readers`
   */
  stream(batch: Batch, reply: FastifyReply): void {
    const { batches, clock, settings } = this.#options;
    if (this.#open.size >= settings.FEED_READERS_MAX) {
      throw new TrunklineError(
        'too_many_readers',
        `${settings.FEED_READERS_MAX} readers follow batches, which is the most allowed (FEED_READERS_MAX)`,
      );
    }
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { ...reply.getHeaders(), ...SSE_HEADERS } as Record<string, string>);
    const write = (text: string): void => {
      raw.write(text);
      if (raw.writableLength > settings.SEND_BUFFER_MAX_BYTES) raw.destroy();
    };
    const say = (event: string, data: unknown): void => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const end = (): void => void raw.end();
    const sayBatch = (): void => say(batch.state === 'running' ? 'batch' : 'end', batches.view(batch));
    sayBatch();
    if (batch.state !== 'running') {
      end();
      return;
    }
    const beat = clock.every(HEARTBEAT_MS, () => write(':\n\n'), true);
    const stop = batches.watch(batch.id, (news) => {
      if (news.type !== 'end') return say(news.type, batches.viewFile(news.file));
      sayBatch();
      end();
    });
    this.#open.add(end);
    raw.once('close', () => {
      beat.cancel();
      stop();
      this.#open.delete(end);
    });
  }

  /** Ends all. */
  close(): void {
    for (const end of this.#open) end();
  }
}
