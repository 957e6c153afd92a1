/** The progress of a batch as Server-Sent Events: what it is now, each file that comes to its end, and its own end. */
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Batch } from '../../jobs/batch.ts';
import type { Batches } from '../../jobs/batches.ts';
import { beginEvents, formatEvent, HEARTBEAT, HEARTBEAT_MS } from '../server/server-sent-events.ts';

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
    const raw = beginEvents(reply);
    const write = (text: string): void => {
      raw.write(text);
      if (raw.writableLength > settings.SEND_BUFFER_MAX_BYTES) raw.destroy();
    };
    const say = (type: string, data: unknown): void => write(formatEvent(JSON.stringify(data), { type }));
    const end = (): void => void raw.end();
    const sayBatch = (): void => say(batch.state === 'running' ? 'batch' : 'end', batches.view(batch));
    sayBatch();
    if (batch.state !== 'running') {
      end();
      return;
    }
    const beat = clock.every(HEARTBEAT_MS, () => write(HEARTBEAT), true);
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
