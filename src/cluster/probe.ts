/** Asks another gateway at its GATEWAY_URL whether it lives, as a request is passed on to it. */
import { z } from 'zod';
import type { ForwardClient } from './forward/forward-client.ts';
import type { Owner } from './forward/owners.ts';

/** Where each gateway says who it is. */
export const PROBE_PATH = '/v1/cluster/gateway';

/** What it says. */
export const probeAnswer = z.object({ id: z.string().describe('Of this run of the program, as in `GET /v1/system`') });

/** How long the answer may take. */
const ANSWER_MS = 2000;
const ANSWER_MAX_BYTES = 10_000;
/** Who asks, where a user would be named. */
const PRINCIPAL = JSON.stringify({ name: 'cluster', role: 'app', agent: null, tenant: 'cluster' });

/**
 * Whether the gateway `member` answers at its address: that one, and not another that was started there since. Never
 * rejects.
 */
export async function isReached(client: Pick<ForwardClient, 'send'>, member: Owner): Promise<boolean> {
  try {
    const answer = await client.send(member, {
      method: 'GET',
      path: PROBE_PATH,
      headers: { accept: 'application/json' },
      body: null,
      principal: PRINCIPAL,
      signal: AbortSignal.timeout(2 * ANSWER_MS),
      answerMs: ANSWER_MS,
    });
    let text = '';
    for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk;
      if (text.length > ANSWER_MAX_BYTES) return false;
    }
    return answer.statusCode === 200 && probeAnswer.parse(JSON.parse(text)).id === member.id;
  } catch {
    return false;
  }
}
