/** Asks the server why a call ended. */
import { sleep, systemClock } from '../../foundation/clock.ts';

/** After the caller is gone, the server still captions the last words. */
const ATTEMPTS = 10;
const PAUSE_MS = 300;
const TIMEOUT_MS = 2000;

/**
 * Why the call at `url` (`…/v1/calls/<id>`) ended, as in `call.ended`; null when the server does not say: it wants
 * another key, is gone, or takes longer than some seconds. Never rejects.
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
