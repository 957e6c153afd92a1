/** What the server says of a call that is over. */
import { sleep, systemClock } from '../../foundation/clock.ts';

/** A server still captions the last words when its caller is gone. */
const ATTEMPTS = 10;
const PAUSE_MS = 300;
const TIMEOUT_MS = 2000;

/**
 * Why the call at `url` (`…/v1/calls/<id>`) ended, as `call.ended` has it; null where the server does not say: because
 * it wants another key, is gone, or takes longer than some seconds. Never rejects.
 */
export async function askEndReason(url: string, key: string | undefined): Promise<string | null> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const view = await askCall(url, headers);
    if (view === null) return null;
    if (typeof view.endReason === 'string') return view.endReason;
    await sleep(systemClock, PAUSE_MS);
  }
  return null;
}

async function askCall(url: string, headers: Record<string, string>): Promise<{ readonly endReason?: unknown } | null> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body: unknown = await answer.json();
    return answer.ok && typeof body === 'object' && body !== null ? body : null;
  } catch {
    return null;
  }
}
