/** What a webhook of a call says. It is made when it is sent: of what the records have, redacted as they are. */
import { CallTranscripts } from '../../calls/call-transcripts.ts';
import { inOrder } from '../../calls/feed/transcript.ts';
import { speakersOf } from '../../calls/feed/transcript-formats.ts';
import { splitFeedId } from '../feed-id.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { StoredCalls } from '../stored-calls.ts';

/** With a transcript that makes it longer, a body goes without it. Four hours of talk have room. */
export const BODY_MAX_BYTES = 1_048_576;

/** Makes bodies from the records. */
export class WebhookBodies {
  readonly #database: RecordsDatabase;
  readonly #calls: StoredCalls;
  readonly #transcripts: CallTranscripts;

  constructor(database: RecordsDatabase, calls: StoredCalls) {
    this.#database = database;
    this.#calls = calls;
    this.#transcripts = new CallTranscripts({ calls: { summary: () => undefined }, archive: calls });
  }

  /**
   * The body for the event with this id in the feed: `{type, timestamp, data: {event}}`, for `call.ended` also
   * `data.call` and `data.transcript` (null = it is too long). Null = the event is not stored any more.
   */
  async make(id: string): Promise<string | null> {
    const { epoch, number } = splitFeedId(id);
    const stored = await this.#database.reader
      .selectFrom('events')
      .innerJoin('calls', 'calls.seq', 'events.call_seq')
      .select(['events.content', 'events.type', 'events.at_ms', 'calls.id as call_id'])
      .where('epoch', '=', epoch)
      .where('number', '=', number)
      .executeTakeFirst();
    if (stored === undefined) return null;
    const { content, type, at_ms: atMs, call_id: callId } = stored;
    const head = { type, timestamp: new Date(atMs).toISOString() };
    const event: unknown = JSON.parse(content);
    if (type !== 'call.ended') return JSON.stringify({ ...head, data: { event } });
    const call = await this.#calls.get(callId);
    const transcript = await this.#transcriptOf(callId);
    const whole = JSON.stringify({ ...head, data: { event, call, transcript } });
    if (Buffer.byteLength(whole) <= BODY_MAX_BYTES) return whole;
    return JSON.stringify({ ...head, data: { event, call, transcript: null } });
  }

  async #transcriptOf(callId: string): Promise<unknown[]> {
    const found = await this.#transcripts.transcript(callId);
    if (found === undefined) return [];
    const speakerOf = speakersOf(found.names);
    return inOrder(found.items).map((item) => ({ ...item, speaker: speakerOf(item) }));
  }
}
