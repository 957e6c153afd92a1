/** Tells a server of a message that a caller left. */
import { randomUUID } from 'node:crypto';
import { sleep } from '../../foundation/clock.ts';
import { sendWebhook } from '../../foundation/webhooks/send-webhook.ts';
import type { StepTools } from './step.ts';

/** After the first attempt, and after the second. */
const PAUSES_MS = [2000, 20_000];

interface MessageNews {
  readonly url: string;
  readonly tools: StepTools;
  readonly callId: string;
  readonly name: string;
  /** In ms of the call. */
  readonly startMs: number;
  readonly endMs: number;
  /** Null = without its words. */
  readonly text: Promise<string> | null;
}

/** Sends the webhook, three times at most. Never rejects. */
export async function tellMessage(news: MessageNews): Promise<void> {
  const { tools, url, callId, name, startMs, endMs } = news;
  const { call, flow, step, world } = tools;
  const { clock, settings } = call.context;
  // What is kept of it is redacted later: here it would go out as it was said.
  const text = settings.REDACT === 'store' ? null : await news.text;
  const { from, to } = call.start;
  const sound = `/v1/calls/${encodeURIComponent(callId)}/messages/${name}/sound`;
  const at = clock.wall().toISOString();
  const message = {
    type: 'flow.message',
    at,
    callId,
    flow,
    step,
    message: name,
    from,
    to,
    startMs,
    endMs,
    text,
    sound,
  };
  const body = JSON.stringify(message);
  const id = `msg_${randomUUID()}`;
  const { signal } = new AbortController();
  if (world.request !== undefined) {
    const headers = { 'content-type': 'application/json' };
    await world.request({ url, method: 'POST', headers, body }, signal).catch(() => undefined);
    return;
  }
  const secret = settings.FLOW_SIGNING_KEY || settings.WEBHOOK_SECRET;
  for (let tries = 0; ; tries++) {
    const allowPrivate = settings.FLOW_HTTP_ALLOW_PRIVATE;
    const { isDelivered, answer } = await sendWebhook({ url, id, body, secret, allowPrivate, clock, signal });
    if (isDelivered) return;
    const pauseMs = PAUSES_MS[tries];
    call.log.warn({ flow, step, answer, isLast: pauseMs === undefined }, 'a webhook of a message was not taken');
    if (pauseMs === undefined) return;
    await sleep(clock, pauseMs);
  }
}
