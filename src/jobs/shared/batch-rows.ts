/** The rows of shared batches: src/records/migrations/0004-cluster.ts makes their tables. */
import type { Kysely, Selectable } from 'kysely';
import type { Batch, BatchFile, Webhook } from '../batch.ts';

interface BatchesTable {
  readonly id: string;
  readonly tenant: string;
  /** The address of the gateway that took the request: the uploads are on its disk. */
  readonly home: string;
  readonly state: Batch['state'];
  /** JSON of {@link Asked}. */
  readonly request: string;
  readonly idempotency_key: string | null;
  readonly idempotency_hash: string | null;
  readonly webhook_url: string | null;
  readonly webhook_state: Webhook['state'] | null;
  readonly webhook_attempts: number;
  readonly created_ms: number;
  readonly ended_ms: number | null;
}

interface FilesTable {
  readonly batch_id: string;
  readonly number: number;
  readonly name: string;
  /** JSON. */
  readonly source: string;
  readonly state: BatchFile['state'];
  /** 1 = the queue has it, or had it. */
  readonly is_queued: number;
  /** How often a gateway has begun with it. */
  readonly tries: number;
  /** From 0 to 1; null = it is not in work. */
  readonly share: number | null;
  readonly duration_ms: number | null;
  /** JSON. */
  readonly error: string | null;
  /** JSON, in the language that the batch asks for. */
  readonly transcript: string | null;
  /** The same as it was spoken, where that differs. */
  readonly spoken: string | null;
}

interface GatewaysTable {
  readonly address: string;
  readonly seen_ms: number;
}

/** The tables, as Kysely wants them: an interface would not do. */
export type BatchTablesOf = {
  readonly batches: BatchesTable;
  readonly batch_files: FilesTable;
  readonly gateways: GatewaysTable;
};

/** The database of shared batches. */
export type BatchDatabase = Kysely<BatchTablesOf>;

/** What a client asked for, as it is stored. */
type Asked = Pick<Batch, 'channels' | 'language' | 'hotWords' | 'targetLanguage'>;

/** A batch without its files. */
export interface StoredBatch {
  readonly batch: Omit<Batch, 'files'>;
  /** The address of the gateway that has its uploads. */
  readonly home: string;
}

/** A file, and how much of it is done: from 0 to 1, null = it is not in work. */
export interface StoredFile {
  readonly file: BatchFile;
  readonly share: number | null;
}

/** A file to be queued. */
export interface FileToQueue {
  readonly batchId: string;
  readonly number: number;
  /** The address of the only gateway that can do it; undefined = any can. */
  readonly only: string | undefined;
}

/** What a file's row has for clients. */
export const FILE_COLUMNS = ['number', 'name', 'source', 'state', 'share', 'duration_ms', 'error'] as const;

/** PostgreSQL takes every character but one. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

/** The row of a new batch. */
export function batchRowOf(batch: Batch, home: string): Selectable<BatchesTable> {
  const { id, tenant, state, createdMs, endedMs, webhook, idempotency } = batch;
  const { channels, language, hotWords, targetLanguage } = batch;
  const asked: Asked = {
    channels,
    targetLanguage,
    ...(language !== undefined && { language }),
    ...(hotWords !== undefined && { hotWords }),
  };
  return {
    id,
    tenant,
    home,
    state,
    request: JSON.stringify(asked),
    idempotency_key: idempotency?.key ?? null,
    idempotency_hash: idempotency?.hash ?? null,
    webhook_url: webhook && storable(webhook.url),
    webhook_state: webhook?.state ?? null,
    webhook_attempts: webhook?.attempts ?? 0,
    created_ms: createdMs,
    ended_ms: endedMs,
  };
}

/** The row of a new file. */
export function fileRowOf(batchId: string, { number, name: given, source, state }: BatchFile) {
  const name = storable(given);
  return { batch_id: batchId, number, name, source: JSON.stringify(source), state, is_queued: 0, tries: 0 };
}

/** A batch from its row. */
export function batchOf(row: Selectable<BatchesTable>): StoredBatch {
  const { id, tenant, state, home, idempotency_key: key, idempotency_hash: hash, webhook_url: url } = row;
  const webhook = url === null ? null : { url, state: row.webhook_state ?? 'waiting', attempts: row.webhook_attempts };
  return {
    home,
    batch: {
      ...(JSON.parse(row.request) as Asked),
      id,
      tenant,
      state,
      createdMs: row.created_ms,
      endedMs: row.ended_ms,
      webhook,
      idempotency: key === null || hash === null ? null : { key, hash },
    },
  };
}

/** A file from its row. */
export function fileOf(row: Pick<Selectable<FilesTable>, (typeof FILE_COLUMNS)[number]>): StoredFile {
  const { number, name, source, state, share, duration_ms: durationMs, error } = row;
  return {
    share,
    file: {
      number,
      name,
      source: JSON.parse(source) as BatchFile['source'],
      state,
      durationMs,
      error: error === null ? null : (JSON.parse(error) as BatchFile['error']),
    },
  };
}

/** A file to be queued, from its row. */
export function toQueue(row: { batch_id: string; number: number; source: string; home: string }): FileToQueue {
  const { kind } = JSON.parse(row.source) as BatchFile['source'];
  return { batchId: row.batch_id, number: row.number, only: kind === 'url' ? undefined : row.home };
}
