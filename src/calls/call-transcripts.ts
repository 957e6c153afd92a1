import type { CallNames } from './call-names.ts';
import type { CallSummary } from './call-summary.ts';
import type { FeedArchive } from './feed/archive.ts';
import type { TranscriptItem } from './feed/transcript.ts';
import { TranscriptBuilder } from './feed/transcript-builder.ts';

/** Stored events that are read at once. */
const PAGE_EVENTS = 500;
/** Items of a stored call: a day of talk. More would be a mistake of somebody's, and is cut. */
const ITEMS_MAX = 100_000;

/** What was said in a call, as its items came, and by whom. */
export interface CallTranscript {
  readonly items: readonly TranscriptItem[];
  readonly names: CallNames;
}

interface TranscriptsOptions {
  /** The calls in memory. */
  readonly calls: { summary(id: string): CallSummary | undefined };
  /** Null = nothing is stored. */
  readonly archive: Pick<FeedArchive, 'after'> | null;
}

/** Transcripts of live calls and of stored ones. */
export class CallTranscripts {
  readonly #options: TranscriptsOptions;

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** Undefined = there is no such call, neither in memory nor stored. */
  async transcript(id: string): Promise<CallTranscript | undefined> {
    const { calls, archive } = this.#options;
    const summary = calls.summary(id);
    const inMemory = summary && { items: summary.transcript, names: summary.beginning.parameters.names };
    if (archive === null || (inMemory !== undefined && summary?.dropped === 0)) return inMemory;
    return (await readStored(archive, id)) ?? inMemory;
  }
}

async function readStored(archive: Pick<FeedArchive, 'after'>, callId: string): Promise<CallTranscript | undefined> {
  const builder = new TranscriptBuilder({ itemsMax: ITEMS_MAX });
  let names: CallNames = { inbound: null, outbound: null };
  let last: string | null = null;
  for (let isWhole = false; !isWhole; ) {
    const { entries, complete } = await archive.after(last, { callId }, PAGE_EVENTS);
    for (const { event } of entries) {
      if (event.type === 'call.started') names = event.names;
      builder.add(event);
    }
    last = entries.at(-1)?.id ?? last;
    isWhole = complete || entries.length === 0;
  }
  return last === null ? undefined : { items: builder.items, names };
}
