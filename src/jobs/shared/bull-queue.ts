/** The jobs of all gateways in BullMQ on PostgreSQL. https://docs.bullmq.io/guide/postgresql */
import { createHash } from 'node:crypto';
import {
  createPostgresBackend,
  DelayedError,
  type Job,
  type JobProgress,
  type PgPool,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
  Queue,
  runMigrations,
  WaitingError,
  Worker,
} from 'bullmq';
import pg from 'pg';
import type { Clock } from '../../foundation/clock.ts';
import { createClient, StorableClient } from '../../foundation/database/postgres.ts';
import { describeTrouble } from '../../foundation/database/trouble.ts';
import type { Log } from '../../foundation/log/log.ts';
import { settlesWithin } from '../../foundation/settles-within.ts';
import type { JobQueue, JobWork, QueuedJob } from './job-queue.ts';

/** BullMQ has its tables in a schema of this name. */
const SCHEMA = 'bullmq';

/** The jobs that any gateway may do. */
const ANYWHERE = 'files';

/** A gateway that died gives its jobs up after this long. */
const LOCK_MS = 10_000;
const LOST_JOBS_PERIOD_MS = 5000;
/** How often gateways may die over one job before its own table is asked again. */
const LOSSES_MAX = 3;

/** Two of them listen. The rest is for queries. */
const CONNECTIONS_MAX = 6;
/** As for other connections: a server that answers nothing for this long is taken for gone. */
const QUERY_TIMEOUT_MS = 30_000;

interface BullQueueOptions {
  /** A database without a pooler in between: it is listened to. */
  readonly url: string;
  /** The address of this gateway, by which others give it jobs of its own. */
  readonly address: string;
  /** Jobs in work at once. */
  readonly jobsMax: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** A queue of BullMQ may not have all characters of an address in its name. */
function queueOf(address: string): string {
  return `files-${createHash('sha256').update(address).digest('hex').slice(0, 16)}`;
}

function idOf(job: QueuedJob): string {
  return job.kind === 'file' ? `file-${job.batchId}-${job.number}` : `webhook-${job.batchId}`;
}

/** How long the end waits for what is in work to be handed over. */
const CLOSE_MAX_MS = 5000;

const ignore = (): void => undefined;

/** What we need of a worker of BullMQ. */
interface Closable {
  waitUntilReady(): Promise<unknown>;
  pause(doNotWaitActive: boolean): Promise<void>;
  close(): Promise<void>;
}

type PostgresQueue = ReturnType<typeof openQueue>;

function openQueue(name: string, connection: PostgresConnectionOptions) {
  return new Queue<QueuedJob, void, string, QueuedJob, void, string, PostgresQueueBackend, PostgresConnectionOptions>(
    name,
    { connection },
    createPostgresBackend,
  );
}

/** Opened by {@link BullQueue.open}. */
export class BullQueue implements JobQueue {
  readonly #options: BullQueueOptions;
  readonly #pool: pg.Pool;
  /** By name. */
  readonly #queues = new Map<string, PostgresQueue>();
  readonly #life = new AbortController();
  readonly #clients = new Set<pg.PoolClient>();
  readonly #inWork = new Set<Promise<void>>();
  #workers: readonly Closable[] = [];
  #isTroubled = false;
  #closed: Promise<void> | null = null;

  private constructor(options: BullQueueOptions) {
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: 'trunkline-jobs',
      options: `-c search_path=${SCHEMA}`,
      max: CONNECTIONS_MAX,
      Client: StorableClient,
      keepAlive: true,
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    // Each queue of BullMQ listens to it, and there is one for each gateway.
    this.#pool.setMaxListeners(0);
    // Unheard, the error of an idle connection would end the process. The next query makes another one.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined);
      this.#clients.add(client);
    });
    this.#pool.on('remove', (client) => void this.#clients.delete(client));
  }

  /** Makes BullMQ's tables where they are missing. @throws the error of the database */
  static async open(options: BullQueueOptions): Promise<BullQueue> {
    const client = createClient(options.url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      await runMigrations(client, SCHEMA);
    } finally {
      await client.end();
    }
    return new BullQueue(options);
  }

  async add(job: QueuedJob, only?: string): Promise<void> {
    const jobOptions = { jobId: idOf(job), removeOnComplete: true, removeOnFail: true };
    const queue = await this.#openedQueue(only === undefined ? ANYWHERE : queueOf(only));
    await queue.add(job.kind, job, jobOptions);
    this.#isTroubled = false;
  }

  async begin(work: JobWork): Promise<void> {
    const { address, jobsMax } = this.#options;
    this.#workers = [ANYWHERE, queueOf(address)].map((name) => this.#worker(name, jobsMax, work));
    await Promise.all(this.#workers.map((worker) => worker.waitUntilReady()));
  }

  async pause(): Promise<void> {
    const [anywhere] = this.#workers;
    await anywhere?.pause(true);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { clock } = this.#options;
    this.#life.abort(new Error('the server is shutting down'));
    const parts = [...this.#workers, ...this.#queues.values()];
    const closed = Promise.all([...this.#inWork, ...parts.map((part) => part.close())].map((end) => end.catch(ignore)));
    await settlesWithin(clock, closed, CLOSE_MAX_MS);
    // A worker may take a connection while it is closed, and keep it: the pool would wait for that without end.
    for (const client of this.#clients) client.connection.stream.destroy();
    await settlesWithin(clock, this.#pool.end(), CLOSE_MAX_MS);
  }

  /** BullMQ has narrower types of its own for what it needs of a pool. */
  get #connection(): PostgresConnectionOptions {
    return this.#pool as PgPool;
  }

  /** @throws the error of the database */
  async #openedQueue(name: string): Promise<PostgresQueue> {
    if (this.#life.signal.aborted) throw new Error('the queue of batches is closed');
    const queue = this.#queues.get(name) ?? this.#newQueue(name);
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (error) {
      // It remembers that the database was away when it was made, and fails for good.
      if (this.#queues.get(name) === queue) this.#queues.delete(name);
      void queue.close().catch(ignore);
      throw error;
    }
  }

  #newQueue(name: string): PostgresQueue {
    const queue = openQueue(name, this.#connection);
    queue.on('error', (error) => this.#tell(error));
    this.#queues.set(name, queue);
    return queue;
  }

  #worker(name: string, concurrency: number, work: JobWork): Closable {
    const worker = new Worker<QueuedJob, void, string, PostgresQueueBackend, JobProgress, PostgresConnectionOptions>(
      name,
      (job, token) => this.#follow(this.#do(job, token, work)),
      {
        connection: this.#connection,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: LOST_JOBS_PERIOD_MS,
        maxStalledCount: LOSSES_MAX,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
      createPostgresBackend,
    );
    worker.on('error', (error) => this.#tell(error));
    return worker;
  }

  #follow(doing: Promise<void>): Promise<void> {
    this.#inWork.add(doing);
    void doing.catch(ignore).then(() => this.#inWork.delete(doing));
    return doing;
  }

  async #do(job: Job<QueuedJob>, token: string | undefined, work: JobWork): Promise<void> {
    try {
      const outcome = await work(job.data, this.#life.signal);
      if (outcome === 'done') return;
      await job.moveToDelayed(this.#options.clock.wall().getTime() + outcome.againInMs, token);
      throw new DelayedError();
    } catch (error) {
      if (!this.#life.signal.aborted || error instanceof DelayedError) throw error;
      await job.moveToWait(token);
      throw new WaitingError();
    }
  }

  /** Its connections tell of the same trouble many times a second. */
  #tell(error: Error): void {
    if (this.#life.signal.aborted || this.#isTroubled) return;
    this.#isTroubled = true;
    const reason = describeTrouble(error);
    this.#options.log.warn({ reason }, 'the queue of batches has trouble with its database; it is tried again');
  }
}
