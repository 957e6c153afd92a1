/** Tries once whether the app of the settings can be reached, without a call. */

import { WebSocket } from 'ws';
import type { Clock } from '../../foundation/clock.ts';
import { guardedFetch, withinTime } from '../../foundation/guarded-fetch.ts';
import { operatorTargets } from '../../foundation/outbound-targets.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { appSignatures } from './app-socket.ts';
import { reasonOf } from './connection.ts';
import type { AppReachability } from './reachability.ts';

/** How the attempt went. `detail` is for people and holds nothing secret. */
export interface AppTestResult {
  readonly reachable: boolean;
  readonly detail: string;
  readonly tookMs: number;
}

interface AppTestOptions {
  readonly settings: Pick<
    Settings,
    'APP_URL' | 'APP_TWIML_URL' | 'OUTBOUND_ALLOW' | 'APP_SIGNING_KEY' | 'APP_CONNECT_TIMEOUT_MS'
  >;
  readonly reachability: AppReachability;
  readonly clock: Clock;
}

/**
 * Opens a connection as a call does and closes it at once, without a session; of a webhook only whether it answers.
 * Null = the settings name no app. What came of it is noted.
 */
export async function testApp({ settings, reachability, clock }: AppTestOptions): Promise<AppTestResult | null> {
  const { APP_URL, APP_TWIML_URL } = settings;
  const url = APP_TWIML_URL || APP_URL;
  if (url === '') return null;
  const startMs = clock.nowMs();
  const attempt = APP_TWIML_URL === '' ? openOnce(url, settings, clock) : askOnce(url, settings, clock);
  const { reachable, detail } = await attempt;
  reachability.note(url, reachable ? 'connected' : 'refused', reachable ? null : detail);
  return { reachable, detail, tookMs: Math.round(clock.nowMs() - startMs) };
}

type Outcome = Pick<AppTestResult, 'reachable' | 'detail'>;

function openOnce(url: string, settings: AppTestOptions['settings'], clock: Clock): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, {
      headers: appSignatures(url, settings.APP_SIGNING_KEY),
      perMessageDeflate: false,
      handshakeTimeout: settings.APP_CONNECT_TIMEOUT_MS,
    });
    socket.on('open', () => {
      resolve({ reachable: true, detail: 'it takes connections' });
      closeSoon(socket, settings.APP_CONNECT_TIMEOUT_MS, clock);
    });
    socket.on('unexpected-response', (request, answer) => {
      answer.resume();
      request.destroy();
      resolve({ reachable: false, detail: `it answers ${answer.statusCode}, expected a WebSocket (101)` });
    });
    socket.on('error', (error) => resolve({ reachable: false, detail: reasonOf(error) }));
  });
}

function closeSoon(socket: WebSocket, limitMs: number, clock: Clock): void {
  const timer = clock.after(limitMs, () => socket.terminate(), true);
  socket.on('close', () => timer.cancel());
  socket.close(1000, 'only a test');
}

/** A real request would begin a session, so the webhook is only asked by GET; any answer shows that it is there. */
async function askOnce(url: string, settings: AppTestOptions['settings'], clock: Clock): Promise<Outcome> {
  const { OUTBOUND_ALLOW, APP_CONNECT_TIMEOUT_MS: timeoutMs } = settings;
  const allowPrivate = operatorTargets(OUTBOUND_ALLOW, 'apps');
  try {
    const { response } = await withinTime({ clock, timeoutMs, signal: new AbortController().signal }, (signal) =>
      guardedFetch({ url, allowPrivate, signal, redirectsMax: 0 }),
    );
    response.destroy();
    const status = response.statusCode ?? 0;
    return { reachable: status < 500, detail: `it answers a GET with ${status}` };
  } catch (error) {
    return { reachable: false, detail: reasonOf(error as Error) };
  }
}
