/** Where the messages of callers are told, until the record of them is written: then the outbox knows. */
import type { MessageTarget, MessageWebhooks } from '../../calls/app/message-webhooks.ts';
import type { FeedEvent } from '../../calls/feed/events.ts';

/** Messages whose event was announced and never came. */
const EXPECTED_MAX = 1000;

export class MessageTargets implements MessageWebhooks {
  readonly #expected = new Map<string, MessageTarget>();

  expect(callId: string, message: string, target: MessageTarget): void {
    this.#expected.set(keyOf(callId, message), target);
    const [oldest] = this.#expected.keys();
    if (this.#expected.size > EXPECTED_MAX && oldest !== undefined) this.#expected.delete(oldest);
  }

  /** Where an event is sent beside CALL_WEBHOOK_URL, as {@link readTarget} reads it; null = nowhere. Forgets it. */
  take(event: FeedEvent): string | null {
    if (event.type !== 'flow.message') return null;
    const key = keyOf(event.callId, event.message);
    const target = this.#expected.get(key);
    this.#expected.delete(key);
    return target === undefined ? null : JSON.stringify(target);
  }
}

/** What {@link MessageTargets.take} wrote. */
export function readTarget(target: string): MessageTarget {
  return JSON.parse(target) as MessageTarget;
}

function keyOf(callId: string, message: string): string {
  return `${message} ${callId}`;
}
