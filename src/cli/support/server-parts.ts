/** What a running server says of itself, and of one call. */
import { z } from 'zod';
import { type ServerClient, ServerRefused } from '../server-client.ts';
import type { BundlePart } from './bundle.ts';
import { withoutWords } from './call-events.ts';
import { type Hide, hideIn } from './hide.ts';

const ANSWER_MAX_BYTES = 2_097_152;
const ANSWER_MAX_MS = 30_000;
const EVENTS_MAX = 10_000;
const PAGE_EVENTS = 1000;

const eventPage = z.object({
  data: z.array(z.object({ id: z.string(), event: z.record(z.string(), z.unknown()) })),
  next: z.string().nullable(),
});

/** `GET /v1/system`. @throws ServerRefused */
export async function systemPart(server: ServerClient, hide: Hide): Promise<BundlePart> {
  const system = await server.ask('GET', '/v1/system', z.record(z.string(), z.unknown()));
  const text = `${JSON.stringify(hideIn(system, hide), null, 2)}\n`;
  return { name: 'system.json', what: 'what the server says of itself (GET /v1/system)', text };
}

/** `GET /metrics`. @throws ServerRefused */
export async function metricsPart(server: ServerClient, hide: Hide): Promise<BundlePart> {
  const stop = AbortSignal.timeout(ANSWER_MAX_MS);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of server.stream('/metrics', stop)) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > ANSWER_MAX_BYTES) break;
  }
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  const text = lines.map((line) => (line.startsWith('#') ? line : hideLabels(line, hide))).join('\n');
  return { name: 'metrics.txt', what: 'its metrics (GET /metrics)', text };
}

/** Values, and the bounds of histograms, are measures. The registry writes no quote inside of a name. */
function hideLabels(line: string, hide: Hide): string {
  return line
    .split('"')
    .map((piece, at, all) => (at % 2 === 0 || /[{,](?:le|quantile)=$/.test(all[at - 1] ?? '') ? piece : hide(piece)))
    .join('"');
}

/** The events of the call `id`, without words. @throws ServerRefused */
export async function callPart(server: ServerClient, id: string, hide: Hide): Promise<BundlePart> {
  const lines: string[] = [];
  let next: string | null = '';
  while (next !== null && lines.length < EVENTS_MAX) {
    const query = new URLSearchParams({ limit: String(PAGE_EVENTS), ...(next !== '' && { cursor: next }) });
    const path = `/v1/calls/${encodeURIComponent(id)}/events?${query}`;
    const page: z.infer<typeof eventPage> = await server.ask('GET', path, eventPage);
    lines.push(...page.data.map(({ event }) => JSON.stringify(withoutWords(event, hide))));
    next = page.next;
  }
  if (lines.length === 0) throw new ServerRefused(`${server.url} keeps no events of that call`);
  const cut = next === null ? '' : ', the first of them';
  return {
    name: 'call.jsonl',
    what: `${lines.length} events of the call${cut}, without words and numbers`,
    text: `${lines.join('\n')}\n`,
  };
}
