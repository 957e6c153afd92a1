/** The progress of a batch as Server-Sent Events: what it is now, each file that comes to its end, and its own end. */
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../foundation/clock.ts';
import { TrunklineError } from '../../foundation/errors.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { beginEvents, formatEvent, HEARTBEAT, HEARTBEAT_MS } from '../../http/server/server-sent-events.ts';
import type { BatchView } from '../batch.ts';
import type { BatchNews, BatchService } from '../batch-service.ts';

interface BatchEventsOptions {
  readonly batches: BatchService;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'FEED_READERS_MAX' | 'SEND_BUFFER_MAX_BYTES'>;
}

/** The open readers of batches. */
export class BatchEvents {
  readonly #options: BatchEventsOptions;
  readonly #open = new Set<() => void>();
  /** Readers whose batch is looked up. */
  #opening = 0;

  constructor(options: BatchEventsOptions) {
    this.#options = options;
  }

  /**
   * Answers with events until the batch ends, the reader goes or falls behind.
   * @throws TrunklineError `too_many_readers`, `batch_not_found`
   */
  async stream(tenant: string, id: string, reply: FastifyReply): Promise<void> {
    const { batches, settings } = this.#options;
    if (this.#open.size + this.#opening >= settings.FEED_READERS_MAX) {
      throw new TrunklineError(
        'too_many_readers',
        `${settings.FEED_READERS_MAX} readers follow batches, which is the most allowed (a fifth of CONNECTIONS_MAX)`,
      );
    }
    // What happens while the batch is looked up comes behind it.
    const early: BatchNews[] = [];
    let take = (news: BatchNews): void => void early.push(news);
    let stop = (): void => undefined;
    this.#opening++;
    try {
      stop = await batches.watch(id, (news) => take(news));
      const { batch } = await batches.get(tenant, id);
      take = this.#follow(batch, reply, stop);
    } catch (error) {
      stop();
      throw error;
    } finally {
      this.#opening--;
    }
    for (const news of early) take(news);
  }

  /** Begins the answer. Returns what takes further news. */
  #follow(batch: BatchView, reply: FastifyReply, stop: () => void): (news: BatchNews) => void {
    const { clock, settings } = this.#options;
    const raw = beginEvents(reply);
    const write = (text: string): void => {
      if (raw.writableEnded) return;
      raw.write(text);
      if (raw.writableLength > settings.SEND_BUFFER_MAX_BYTES) raw.destroy();
    };
    const say = (type: string, data: unknown): void => write(formatEvent(JSON.stringify(data), { type }));
    const end = (): void => void raw.end();
    const isRunning = batch.state === 'running';
    say(isRunning ? 'batch' : 'end', batch);
    const beat = clock.every(HEARTBEAT_MS, () => write(HEARTBEAT), true);
    this.#open.add(end);
    raw.once('close', () => {
      beat.cancel();
      stop();
      this.#open.delete(end);
    });
    if (!isRunning) end();
    return (news) => {
      say(news.type, news.type === 'end' ? news.batch : news.file);
      if (news.type === 'end') end();
    };
  }

  /** Ends all. */
  close(): void {
    for (const end of this.#open) end();
  }
}
