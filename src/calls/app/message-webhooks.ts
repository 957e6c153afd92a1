/** Where the messages of callers are told. */

/** Where a message is told, and how. */
export interface MessageTarget {
  readonly url: string;
  /** Whether what was said is told, too. */
  readonly hasText: boolean;
}

/** Delivers webhooks of messages, also after a restart. */
export interface MessageWebhooks {
  /** The event `flow.message` of this message, which is published next, is also sent to `target`. */
  expect(callId: string, message: string, target: MessageTarget): void;
}
