/** Deletes calls with all that is kept of them. */
import type { SpokenEvent } from '../../calls/feed/events.ts';
import type { Feed } from '../../calls/feed/feed.ts';
import type { BackupCopies } from '../backup-copies.ts';
import type { RefusedEvents } from '../refused-events.ts';
import { wordsOf } from '../search/search-words.ts';
import type { TextSearch } from '../search/text-search.ts';
import { deleteCallRows, emptyLog, type RowsDatabase } from './call-rows.ts';

/** A call that is deleted. */
export interface RemovedCall {
  readonly id: string;
  /** Its number in the tables; null = it is not stored. */
  readonly seq: number | null;
  /** Ms since 1970. */
  readonly startedMs: number;
  /** It leaves the copies of the database as well; else they keep it until they are deleted themselves. */
  readonly leavesCopies?: boolean;
}

/** The recorded sound of calls. */
export interface SoundRemover {
  /** Removes a call's sound, if there is any. Resolves with the bytes that were freed. */
  remove(call: { readonly callId: string; readonly startedMs: number }): Promise<number>;
}

/** The cache of spoken sentences. */
export interface SentenceCache {
  /** The sentences of a text that may be forgotten one by one. */
  sentencesOf(text: string): string[];
  /** Resolves when they are gone, also from disk. */
  forget(sentences: readonly string[]): Promise<number>;
}

/** Sentences that are looked for in other calls; those of a longer talk are all forgotten, and made again. */
const SENTENCES_COMPARED_MAX = 200;
/** Longer ones are in no other call. */
const SENTENCE_WORDS_MAX = 32;
const EVENTS_PER_READ = 500;

interface CallRemovalOptions {
  readonly database: RowsDatabase & { readonly reader: RowsDatabase['db'] };
  readonly search: TextSearch;
  readonly feed: Pick<Feed, 'forget' | 'publish'>;
  /** Null = nothing is recorded. */
  readonly sound: SoundRemover | null;
  readonly sentences: SentenceCache;
  /** Null = there are none, or they are not ours. */
  readonly copies: Pick<BackupCopies, 'mark'> | null;
  /** What the database refused of it; null = there is no folder for that. */
  readonly refused: Pick<RefusedEvents, 'remove'> | null;
}

/** The one that deletes calls, for people and for the clock. */
export class CallRemoval {
  readonly #options: CallRemovalOptions;

  constructor(options: CallRemovalOptions) {
    this.#options = options;
  }

  /**
   * Deletes a call that is over: its sound, its rows with the full-text index and the webhooks that wait, its events in
   * memory, and the sentences that were made for it alone. Its words are out of the database's log only after
   * {@link finish}. May be repeated where it failed.
   * @throws the error of the database or of the file system
   */
  async remove({ id, seq, startedMs, leavesCopies = false }: RemovedCall): Promise<{ readonly soundBytes: number }> {
    const { database, sound, feed, copies, refused } = this.#options;
    const spoken = seq === null ? [] : await this.#spokenIn(seq);
    const soundBytes = (await sound?.remove({ callId: id, startedMs })) ?? 0;
    if (seq !== null && leavesCopies) await copies?.mark({ id, startedMs });
    if (seq !== null) await deleteCallRows(database, seq);
    await refused?.remove(id);
    await this.#forgetSentences(spoken);
    feed.forget(id);
    feed.publish({ type: 'call.deleted', callId: id });
    return { soundBytes };
  }

  /** Takes what was deleted out of the database's log. @throws the error of the database */
  async finish(): Promise<void> {
    await emptyLog(this.#options.database);
  }

  /** What was to be said in a call, text by text. */
  async #spokenIn(seq: number): Promise<string[]> {
    const texts: string[] = [];
    for (let after = 0; ; ) {
      const rows = await this.#options.database.reader
        .selectFrom('events')
        .select(['position', 'type', 'content'])
        .where('call_seq', '=', seq)
        .where('position', '>', after)
        .orderBy('position')
        .limit(EVENTS_PER_READ)
        .execute();
      for (const { type, content } of rows)
        if (type === 'spoken') texts.push((JSON.parse(content) as SpokenEvent).text);
      const last = rows.at(-1);
      if (last === undefined || rows.length < EVENTS_PER_READ) return texts;
      after = last.position;
    }
  }

  /** A greeting that other calls heard too stays: it tells nothing of this one, and callers would wait for it. */
  async #forgetSentences(spoken: readonly string[]): Promise<void> {
    const { sentences } = this.#options;
    const all = [...new Set(spoken.flatMap((text) => sentences.sentencesOf(text)))];
    const own: string[] = all.slice(SENTENCES_COMPARED_MAX);
    for (const sentence of all.slice(0, SENTENCES_COMPARED_MAX))
      if (!(await this.#isKnownFromOthers(sentence))) own.push(sentence);
    if (own.length > 0) await sentences.forget(own);
  }

  /** Whether the same words were said in a call that is still there. */
  async #isKnownFromOthers(sentence: string): Promise<boolean> {
    const words = wordsOf(sentence).map(({ word }) => word);
    if (words.length === 0 || words.length > SENTENCE_WORDS_MAX) return false;
    const query = { required: [[{ words, isPrefix: false }]], excluded: [] };
    for await (const found of this.#options.search.find({ query, filter: {}, belowSeq: null }))
      if (found.length > 0) return true;
    return false;
  }
}
