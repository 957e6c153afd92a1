/** What the routes of listening sessions and of other services' speech work with. */
import type { CallView } from '../../calls/call-view.ts';
import type { Engine } from '../../engine-client/engine.ts';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Access } from '../../http/access/access.ts';
import type { CallVisibility } from '../../http/access/call-visibility.ts';
import type { FeedReaders } from '../../http/calls/readers.ts';
import type { Failures } from '../../http/server/errors.ts';
import type { SpeechContext } from '../../http/speech/send-speech.ts';
import type { Listeners } from '../../listening/listeners.ts';
import type { HttpServices, Services } from '../../parts/services.ts';
import type { Recordings } from '../../recordings/recordings.ts';

/** One for the whole server. */
export interface ListenContext extends Pick<HttpServices, 'families' | 'voices' | 'translator'> {
  readonly engine: Engine;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: Failures;
  readonly access: Access;
  /** Counts and admits sessions: `admit` before the handshake is answered, `enter` when the socket is open. */
  readonly listeners: Listeners;
  readonly recordings: Recordings;
  /** Turns text into sound. */
  readonly speech: SpeechContext;
  /** For sessions that show a live call. */
  readonly readers: FeedReaders;
  readonly visibility: CallVisibility;
  /** A call, live or stored. */
  readonly findCall: (id: string) => Promise<CallView | undefined>;
  /** The recogniser of finals. */
  recogniserName(): string;
  isDraining(): boolean;
}

/** What a part of the gateway gives its routes. */
export function listenContext(services: Services, http: HttpServices): ListenContext {
  return { ...services, ...http };
}
