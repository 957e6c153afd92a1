/**
 * A part of the gateway: a carrier, a family of other services' clients, or anything else that adds to the core
 * (calls, speech, transcription, HTTP, access). It is one folder and one line in `src/gateway/parts.ts`. Whatever lists
 * parts to people is made of their descriptions: ways in, filters, checks, the reference.
 */
import type { FastifyInstance } from 'fastify';
import type { CallFlows } from '../calls/app/call-flows.ts';
import type { CallTracer } from '../calls/call-tracer.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Dialer } from '../http/calls/dial.ts';
import type { ClientFamily } from '../http/server/client-families.ts';
import type { WayInRow } from '../http/system/ways-in.ts';
import type { HttpServices, Services } from './services.ts';

/** A carrier as calls name it (`carrier`), and as people do. */
export interface CarrierName {
  readonly id: string;
  readonly name: string;
}

/** What is known of a part without loading it. */
export interface Part {
  /** One word, as its folder. */
  readonly name: string;
  /** Whether the settings want it; one that they do not want is not loaded. Absent = it is always on. */
  isOn?(settings: Settings): boolean;
  /** What the calls are named that it brings; absent = it brings none. */
  readonly carriers?: readonly CarrierName[];
  /** The rows of *Ways in*; absent = none. */
  readonly waysIn?: readonly WayInRow[];
  /** Its lines of `trunkline doctor`, where no gateway runs; never rejects. Absent = none. */
  check?(settings: Settings): Promise<Finding[]>;
  /** Loads and builds it. Nothing listens yet. @throws ConfigError where its settings cannot be used */
  open(services: Services): Promise<OpenPart>;
}

/** A part that runs. What it leaves out it does not have. */
export interface OpenPart {
  /** Opens routes that protect themselves, each with a secret of its own. */
  carrierRoutes?(app: FastifyInstance, http: HttpServices): void;
  /** Opens routes where a key is asked for; each names its permission. */
  routes?(app: FastifyInstance, http: HttpServices): void;
  /** Whose clients come to paths of OpenAI's, and what they expect there. */
  readonly family?: ClientFamily;
  /** A path with its query as another path of ours, which then answers; null = it is as it stands. */
  rewrite?(url: string): string | null;
  /** The flows that calls may follow. */
  readonly flows?: CallFlows | null;
  /** Follows calls in time. */
  readonly tracer?: CallTracer;
  /** Makes outgoing calls. */
  readonly dialer?: Dialer;
  /** Continues what a run before this one began; nothing listens yet. @throws ConfigError; the error of the database */
  resume?(): Promise<void>;
  /** Listens on ports of its own. @throws ListenError */
  listen?(): Promise<void>;
  /** Begins what goes on by itself, as soon as the server listens. */
  begin?(): void;
  /** Takes no new work; live calls go on. */
  drain?(): void;
  /** Resolves when carriers have taken their leave of calls that have ended; it is waited for some seconds. */
  goodbye?(): Promise<void>;
  /** Ends its ports and connections; the server still answers. */
  close?(): Promise<void> | void;
  /** Ends what requests use, when the server has ended; engines and records are still there. */
  release?(): Promise<void> | void;
}
