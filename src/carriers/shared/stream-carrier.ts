/** What a carrier says of itself that streams calls over WebSocket as Twilio does. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Origins } from '../../http/access/origin.ts';
import type { Dialect } from '../../protocols/dialect.ts';

/** Refuses a handshake whose signature does not fit. */
export type CheckSignature = (
  request: FastifyRequest,
  by: { readonly settings: Settings; readonly origins: Origins },
) => void;

/** What is known of a socket before its first message. */
interface DialectOptions {
  /** L16_BYTE_ORDER says so. */
  readonly bigEndian: boolean;
  /** The checked query of its URL: what {@link StreamCarrier.query} names. */
  readonly query: Readonly<Record<string, unknown>>;
}

/** Makes the dialect of one socket. */
export type OpenDialect = (options: DialectOptions) => Dialect;

/** A carrier. Its route is `/<name>/media`. */
export interface StreamCarrier {
  /** As calls name it, and its folder. */
  readonly name: string;
  /** As people name it. */
  readonly people: string;
  /** What the carrier calls its streams, for the reference. */
  readonly summary: string;
  /** How it sends CARRIER_TOKEN, for the reference. */
  readonly token: string;
  /** A header of the carrier's own in which it can send the token. */
  readonly tokenHeader?: string;
  /** What the URL may say beside the token and the flow; absent = nothing. */
  readonly query?: Readonly<Record<string, z.ZodType>>;
  /** Whether it is sent silence while nothing is said; absent = it is not. */
  readonly fillSilence?: boolean;
  /** The setting with the secret of its own that signs handshakes; absent = it sends CARRIER_TOKEN. */
  readonly protects?: keyof Settings;
  load(): Promise<OpenDialect>;
  /** How a signature is checked, where `protects` is set. */
  loadSignature?(): Promise<CheckSignature>;
}
