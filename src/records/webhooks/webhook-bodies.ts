/** What a webhook of a call says. It is made when it is sent: of what the records have, redacted as they are. */
import type { MessageTarget } from '../../calls/app/message-webhooks.ts';
import { CallTranscripts } from '../../calls/call-transcripts.ts';
import type { FlowMessageEvent } from '../../calls/feed/events.ts';
import { callerBetween } from '../../calls/feed/said-between.ts';
import { inOrder } from '../../calls/feed/transcript.ts';
import { speakersOf } from '../../calls/feed/transcript-formats.ts';
import { splitFeedId } from '../feed-id.ts';
import type { RecordsDatabase } from '../records-database.ts';
import type { StoredCalls } from '../stored-calls.ts';
import { eventOfWebhook } from './store-webhooks.ts';

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
   * The body for a webhook of CALL_WEBHOOK_URL: `{type, timestamp, data: {event}}`, for `call.ended` also `data.call`
   * and `data.transcript` (null = it is too long). Null = its event is not stored any more.
   */
  async make(id: string): Promise<string | null> {
    const stored = await this.#find(id);
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

  /** The body for a webhook that a flow sends of a message. Null = the message is not stored any more. */
  async makeMessage(id: string, { hasText }: Pick<MessageTarget, 'hasText'>): Promise<string | null> {
    const stored = await this.#find(id);
    if (stored === undefined) return null;
    const { callId, flow, step, message, startMs, endMs } = JSON.parse(stored.content) as FlowMessageEvent;
    const found = hasText ? await this.#transcripts.transcript(callId) : undefined;
    return JSON.stringify({
      type: 'flow.message',
      at: new Date(stored.at_ms).toISOString(),
      callId,
      flow,
      step,
      message,
      from: stored.from_party,
      to: stored.to_party,
      startMs,
      endMs,
      text: hasText ? callerBetween(found?.items ?? [], startMs, endMs) : null,
      sound: `/v1/calls/${encodeURIComponent(callId)}/messages/${message}/sound`,
    });
  }

  #find(id: string) {
    const { epoch, number } = splitFeedId(eventOfWebhook(id));
    return this.#database.reader
      .selectFrom('events')
      .innerJoin('calls', 'calls.seq', 'events.call_seq')
      .select(['events.content', 'events.type', 'events.at_ms', 'calls.id as call_id', 'from_party', 'to_party'])
      .where('epoch', '=', epoch)
      .where('number', '=', number)
      .executeTakeFirst();
  }

  async #transcriptOf(callId: string): Promise<unknown[]> {
    const found = await this.#transcripts.transcript(callId);
    if (found === undefined) return [];
    const speakerOf = speakersOf(found.names);
    return inOrder(found.items).map((item) => ({ ...item, speaker: speakerOf(item) }));
  }
}
