/** What parts may use of the gateway. */
import type { OneUseStore, UsedKeys } from '../calls/admission/shared-one-use.ts';
import type { CallFlows } from '../calls/app/call-flows.ts';
import type { AppServices } from '../calls/app/services.ts';
import type { CallView } from '../calls/call-view.ts';
import type { Feed } from '../calls/feed/feed.ts';
import type { CallRegistry } from '../calls/registry.ts';
import type { WebSocketCalls } from '../calls/socket-admission.ts';
import type { Engine } from '../engine-client/engine.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Lead } from '../foundation/leadership.ts';
import type { Log } from '../foundation/log/log.ts';
import type { Metrics } from '../foundation/metrics.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Access } from '../http/access/access.ts';
import type { CallVisibility } from '../http/access/call-visibility.ts';
import type { AuditTrail } from '../http/calls/audit-trail.ts';
import type { FeedReaders } from '../http/calls/readers.ts';
import type { Forwarding } from '../http/forward/forwarding.ts';
import type { ClientFamilies } from '../http/server/client-families.ts';
import type { Failures } from '../http/server/errors.ts';
import type { SpeechContext } from '../http/speech/send-speech.ts';
import type { Listeners } from '../listening/listeners.ts';
import type { Recordings } from '../recordings/recordings.ts';
import type { Translator } from '../recordings/translate.ts';
import type { CallUpkeep } from '../records/call-upkeep.ts';
import type { Speech } from '../speech/speech.ts';

/** Whose calls and rows they are, as long as a gateway has one tenant. */
export const MAIN_TENANT = 'main';

/** Something of which each tenant has its own. */
export interface OfTenants<T> {
  of(tenant: string): T;
}

/** One object for all parts of a gateway. */
export interface Services {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Makes this gateway the only one of several that does something; null = it is alone. */
  readonly lead: Lead | null;
  /** What may be used once, shared with other gateways; null = there are none. */
  readonly oneUse: (OneUseStore & UsedKeys) | null;
  readonly engine: Engine;
  /** All calls: who comes in, and who is there. */
  readonly registry: Pick<CallRegistry, 'accept' | 'admit' | 'callsMax' | 'parameters' | 'tokens'>;
  /** Calls whose sound comes on a WebSocket, in some dialect. */
  readonly webSockets: WebSocketCalls;
  readonly feed: OfTenants<Feed>;
  /** What is kept of calls, with what deletes of it; null = nothing is kept. */
  readonly store: OfTenants<CallUpkeep | null>;
  readonly speech: Speech;
  /** What apps answer to webhooks. */
  readonly apps: Pick<AppServices, 'twiml' | 'handovers'>;
  /** Those of FLOWS_DIR, known when all parts are open; null = there are none. */
  readonly flows: CallFlows | null;
  /** Counts and admits sessions for live sound that are no calls. */
  readonly listeners: Listeners;
  readonly recordings: Recordings;
  readonly translator: Translator;
  /** A call, live or stored. */
  findCall(id: string): Promise<CallView | undefined>;
  isDraining(): boolean;
}

/** What routes of parts may use of the server. */
export interface HttpServices {
  readonly access: Access;
  readonly visibility: CallVisibility;
  /** Who did what in calls. */
  readonly trail: AuditTrail;
  /** To other gateways; null = there are none. */
  readonly forwarding: Forwarding | null;
  readonly readers: FeedReaders;
  readonly failures: Failures;
  /** Clients of other servers on paths of OpenAI's. */
  readonly families: ClientFamilies;
  /** Turns text into sound. */
  readonly speech: SpeechContext;
  /** What can speak, and what it has kept. */
  readonly voices: Pick<Speech, 'awaitVoiceNames' | 'clearPrompts'>;
  readonly translator: Translator;
  /** The recogniser of finals. */
  recogniserName(): string;
}
