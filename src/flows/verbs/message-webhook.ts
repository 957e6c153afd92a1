/** Tells a server of a message that a caller left. */
import type { FlowMessageEvent } from '../../calls/feed/events.ts';
import type { StepTools } from './step.ts';

interface MessageNews {
  readonly url: string;
  readonly tools: StepTools;
  readonly callId: string;
  /** Of the call, in ms. */
  readonly message: Pick<FlowMessageEvent, 'message' | 'startMs' | 'endMs'>;
  readonly hasText: boolean;
  /** What was said; used where a test stands in for the network. */
  text(): Promise<string | null>;
}

/**
 * Has the webhook sent; to be called before the record is told of the message. In tests of flows it goes out at once.
 */
export function tellMessage({ url, tools, callId, message, hasText, text }: MessageNews): void {
  const { world, call, flow, step } = tools;
  if (world.request !== undefined) void tellTest({ url, tools, callId, message, hasText, text });
  else if (call.context.messageWebhooks) call.context.messageWebhooks.expect(callId, message.message, { url, hasText });
  else call.log.warn({ flow, step }, 'the webhook of a message is not sent: there are no records to keep it in');
}

async function tellTest({ url, tools, callId, message, hasText, text }: MessageNews): Promise<void> {
  const { call, flow, step, world } = tools;
  const { from, to } = call.start;
  const sound = `/v1/calls/${encodeURIComponent(callId)}/messages/${message.message}/sound`;
  const at = world.wall().toISOString();
  const words = hasText ? await text() : null;
  const content = { type: 'flow.message', at, callId, flow, step, ...message, from, to, text: words, sound };
  const headers = { 'content-type': 'application/json' };
  const { signal } = new AbortController();
  await world
    .request?.({ url, method: 'POST', headers, body: JSON.stringify(content) }, signal)
    .catch((error: Error) =>
      call.log.warn({ flow, step, reason: error.message }, 'a webhook of a message was not taken'),
    );
}
