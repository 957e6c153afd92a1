/** Batches as clients use them, whoever does the work: this gateway alone, or all gateways of a cluster. */
import type { RecordingTranscript } from '../recordings/transcribe.ts';
import type { Batch, BatchView, FileView, ResultLine, ResultsFrom, WholeBatchView } from './batch.ts';
import type { Draft } from './batch-index.ts';
import type { Batches, BatchRequest } from './batches.ts';

/** What happens to a batch: progress of a file, the end of a file, or its own end, after which nothing comes. */
export type BatchNews =
  | { readonly type: 'progress' | 'file'; readonly file: FileView }
  | { readonly type: 'end'; readonly batch: BatchView };

/** The transcript of a file, and what its batch asked for. */
export interface FileResult extends Pick<Batch, 'channels' | 'targetLanguage'> {
  readonly transcript: RecordingTranscript;
  /** It is not translated, because that was asked for or because the batch wants no translation. */
  readonly isSpoken: boolean;
}

/** The results of a whole batch. */
export interface BatchResults extends Pick<Batch, 'channels' | 'targetLanguage'> {
  readonly isSpoken: boolean;
  readonly lines: AsyncGenerator<ResultLine, void, undefined>;
}

/** All batches. Tenants see only their own. All methods may reject with an error of the disk or the database. */
export interface BatchService {
  /**
   * Reserves a place for one more batch.
   * @throws TrunklineError `draining`, `too_many_batches`, `disk_full`
   */
  draft(tenant: string): Promise<Draft>;
  /** Removes a draft and its files. Does nothing when its batch has begun. */
  discard(draft: Draft): Promise<void>;
  /**
   * Begins a batch. A repeated request with the same idempotency key gets the batch of the first one.
   * @throws TrunklineError `idempotency_conflict`, `unsupported_model`, `invalid_request`
   */
  begin(draft: Draft, request: BatchRequest): Promise<{ readonly batch: BatchView; readonly isNew: boolean }>;
  /** The tenant's batches, the newest first. */
  list(tenant: string): Promise<readonly BatchView[]>;
  /** @throws TrunklineError `batch_not_found` */
  get(tenant: string, id: string): Promise<WholeBatchView>;
  /** @throws TrunklineError `batch_not_found`, `result_not_ready` */
  result(tenant: string, id: string, number: number, asSpoken: boolean): Promise<FileResult>;
  /**
   * What the transcripts of a batch are of, and its files from one on, in order. They are read while they are taken.
   * @throws TrunklineError `batch_not_found`
   */
  results(tenant: string, id: string, where: ResultsFrom): Promise<BatchResults>;
  /**
   * Cancels a running batch and keeps its finished transcripts, or removes a batch that has ended.
   * @throws TrunklineError `batch_not_found`
   */
  cancel(tenant: string, id: string): Promise<BatchView>;
  /**
   * Tells `listener` what happens to a batch from now on, that is, from the end of the promise at the latest, until the
   * function is called that it resolves with.
   */
  watch(id: string, listener: (news: BatchNews) => void): Promise<() => void>;
}

/** The batches of one gateway that works alone. */
export function serviceOf(batches: Batches): BatchService {
  return {
    draft: (tenant) => batches.draft(tenant),
    discard: (draft) => batches.discard(draft),
    begin: async (draft, request) => {
      const { batch, isNew } = await batches.begin(draft, request);
      return { batch: batches.view(batch), isNew };
    },
    list: async (tenant) => batches.list(tenant).map((batch) => batches.view(batch)),
    get: async (tenant, id) => {
      const batch = batches.get(tenant, id);
      return { batch: batches.view(batch), files: batches.viewFiles(batch) };
    },
    result: async (tenant, id, number, asSpoken) => {
      const { channels, targetLanguage } = batches.get(tenant, id);
      const isSpoken = asSpoken || targetLanguage === '';
      const transcript = await batches.result(tenant, id, number, isSpoken);
      return { transcript, isSpoken, channels, targetLanguage };
    },
    results: async (tenant, id, where) => {
      const { channels, targetLanguage } = batches.get(tenant, id);
      const isSpoken = where.asSpoken || targetLanguage === '';
      return { channels, targetLanguage, isSpoken, lines: batches.results(tenant, id, where) };
    },
    cancel: async (tenant, id) => batches.view(await batches.cancel(tenant, id)),
    watch: async (id, listener) =>
      batches.watch(id, (news) => {
        if (news.type === 'end') listener({ type: 'end', batch: batches.view(news.batch) });
        else listener({ type: news.type, file: batches.viewFile(news.file) });
      }),
  };
}
