/** Server-Sent Events (WHATWG HTML §9.2): how an answer of events begins, and how each event is written. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';

/** Proxies drop a connection that is silent for long: many after 60 s, some after 30. */
export const HEARTBEAT_MS = 15_000;

/** A comment, which readers ignore. */
export const HEARTBEAT = ':\n\n';

/** A proxy that compresses (`no-transform`) or buffers (nginx: `X-Accel-Buffering`) would hold events back. */
export const SSE_HEADERS = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-store, no-transform',
  'x-accel-buffering': 'no',
});

/** Answers with 200 and the headers of events. The caller writes the events to the result, and ends it. */
export function beginEvents(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...SSE_HEADERS });
  raw.flushHeaders();
  return raw;
}

/** One event; `data` is a single line. */
export function formatEvent(data: string, { id, type }: { readonly id?: string; readonly type?: string } = {}): string {
  const fields = [id === undefined ? '' : `id: ${id}\n`, type === undefined ? '' : `event: ${type}\n`];
  return `${fields.join('')}data: ${data}\n\n`;
}
