/**
 * The one way out over http and https to whatever a request, a document, an app or an operator names. Private addresses
 * are refused unless they are allowed: by name, at every redirect, and at the address that is really connected to, for
 * what the resolver answers here is what the socket goes to.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookupPublic, refusePrivateAddress } from './addresses.ts';
import { readBounded } from './bounded-body.ts';
import type { Clock } from './clock.ts';

/** What requests of ours say that they are. */
export const USER_AGENT = 'trunkline';

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/**
 * What went wrong: `scheme` = neither http nor https; `redirects` = more than three; `location` = a redirect to what is
 * no URL; `too_large`, `late` = a limit; `unreachable` = the network or the server.
 */
export type FetchFailure = 'scheme' | 'redirects' | 'location' | 'too_large' | 'late' | 'unreachable';

/** A request that brought nothing. `message` names no host, path or credential, so it may be shown. */
export class FetchError extends Error {
  readonly failure: FetchFailure;

  constructor(failure: FetchFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** One request on the way to an answer. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What is asked for, and within which bounds. */
export interface GuardedRequest {
  readonly url: string;
  /** Whether loopback, private and link-local addresses may be connected to. */
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /**
   * Redirects that are followed, 3 unless said otherwise. Beyond them it fails, with 0 the redirect itself is the
   * answer.
   */
  readonly redirectsMax?: number;
  /** How `url` is asked: by GET unless said otherwise. `status` = the redirect that led there, null = none did. */
  prepare?(url: URL, status: number | null): Hop;
  /** Finds the addresses of names where private ones are refused; {@link lookupPublic} unless said otherwise. */
  readonly lookup?: LookupFunction;
}

/** An answer: its head is there, its body is still to be read or destroyed. `url` is the one that gave it. */
export interface GuardedAnswer {
  readonly response: IncomingMessage;
  readonly url: URL;
}

/**
 * The answer to a request, each hop of it a connection of its own.
 * @throws PrivateAddressError; {@link FetchError} `scheme`, `redirects`, `location`; whatever the network or the signal
 * says
 */
export async function guardedFetch(asked: GuardedRequest): Promise<GuardedAnswer> {
  const { redirectsMax = REDIRECTS_MAX, prepare = plainGet } = asked;
  let url = new URL(asked.url);
  let status: number | null = null;
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    const hop: Hop = prepare(url, status);
    const response = await send(hop, asked);
    status = response.statusCode ?? 0;
    const { location } = response.headers;
    if (redirectsMax === 0 || !REDIRECT_STATUSES.includes(status) || location === undefined) return { response, url };
    response.destroy();
    if (!URL.canParse(location, url.href)) throw new FetchError('location', 'its server redirects to what is no URL');
    url = new URL(location, url);
  }
  throw new FetchError('redirects', `its server redirects more than ${redirectsMax} times`);
}

function plainGet(url: URL): Hop {
  return { url, method: 'GET', headers: {} };
}

function send(
  { url, method, headers, body }: Hop,
  { allowPrivate, signal, lookup = lookupPublic }: GuardedRequest,
): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('scheme', `its URL begins with ${url.protocol}, expected http: or https:`);
  }
  if (!allowPrivate) refusePrivateAddress(url.hostname);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const options = {
    agent: false,
    signal,
    method,
    headers: { 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...headers },
    ...(allowPrivate ? {} : { lookup }),
  };
  return new Promise((resolve, reject) => {
    request(url, options, resolve)
      .on('upgrade', (response, socket) => {
        // Nobody asked for another protocol. Unheard, such an answer would be neither a response nor an error.
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .end(body);
  });
}

/**
 * The body of an answer, in memory of its own.
 * @throws FetchError `too_large` beyond `maxBytes`, announced or sent; whatever the network says
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const body = announced > maxBytes ? null : await readBounded(response, maxBytes);
  response.destroy();
  if (body === null) throw new FetchError('too_large', `it has more than ${maxBytes} bytes`);
  return body;
}

/** How long something may take, and until when it is wanted. */
interface TimeLimit {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * What `run` brings within the time limit. The signal that it is given aborts with that limit and with `signal`.
 * @throws FetchError `late`; the reason of `signal`; what `run` throws
 */
export async function withinTime<T>(
  { clock, timeoutMs, signal }: TimeLimit,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort());
  try {
    return await run(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (late.signal.aborted) throw new FetchError('late', `it did not come within ${timeoutMs} ms`);
    throw error;
  } finally {
    timer.cancel();
  }
}

/** `ECONNREFUSED` and its like; hosts and paths may be private and are not repeated. */
export function networkCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no code';
}
