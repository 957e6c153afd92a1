/**
 * All http and https requests to URLs that a client, a document, an app or an operator gave. Private addresses are
 * refused unless they are allowed. They are checked in the URL, in every redirect and again at connection time: the
 * socket connects to exactly the address that the checked lookup returned.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { lookupPublic, refusePrivateAddress } from './addresses.ts';
import { readBounded } from './bounded-body.ts';
import type { Clock } from './clock.ts';
import type { PrivateTargets } from './outbound-targets.ts';

/** The user-agent header of requests by this server. */
export const USER_AGENT = 'trunkline';

const REDIRECTS_MAX = 3;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/**
 * Why a request failed: `scheme` = the URL is neither http nor https; `redirects` = too many of them; `location` = a
 * redirect to something that is not a URL; `too_large`, `late` = a limit was exceeded; `unreachable` = the network or
 * the server failed.
 */
export type FetchFailure = 'scheme' | 'redirects' | 'location' | 'too_large' | 'late' | 'unreachable';

/** A failed request. `message` names no host, path or credential, so it may be shown. */
export class FetchError extends Error {
  readonly failure: FetchFailure;

  constructor(failure: FetchFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** One HTTP request; a redirect leads to another one. */
export interface Hop {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request and its limits. */
export interface GuardedRequest {
  readonly url: string;
  /** Which loopback, private and link-local addresses are allowed: all, none, or some. */
  readonly allowPrivate: boolean | PrivateTargets;
  readonly signal: AbortSignal;
  /**
   * How many redirects are followed, by default 3. After more the request fails. With 0 a redirect is returned as the
   * response.
   */
  readonly redirectsMax?: number;
  /**
   * Builds the request for `url`, by default a GET. `status` = that of the redirect to it; null = the first request.
   */
  prepare?(url: URL, status: number | null): Hop;
  /** Resolves host names unless all addresses are allowed; by default as `allowPrivate` says. */
  readonly lookup?: LookupFunction;
}

/** A response whose body the caller must read or destroy. `url` = where it came from, after redirects. */
export interface GuardedAnswer {
  readonly response: IncomingMessage;
  readonly url: URL;
}

/**
 * Sends a request and follows its redirects, each over a new connection.
 * @throws PrivateAddressError; {@link FetchError} `scheme`, `redirects`, `location`; errors of the network; the reason
 * of the signal
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
    if (!URL.canParse(location, url.href))
      throw new FetchError('location', 'its server redirects to something that is not a URL');
    url = new URL(location, url);
  }
  throw new FetchError('redirects', `its server redirects more than ${redirectsMax} times`);
}

function plainGet(url: URL): Hop {
  return { url, method: 'GET', headers: {} };
}

function send(
  { url, method, headers, body }: Hop,
  { allowPrivate, signal, lookup }: GuardedRequest,
): Promise<IncomingMessage> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new FetchError('scheme', `its URL begins with ${url.protocol}, expected http: or https:`);
  }
  if (allowPrivate === false) refusePrivateAddress(url.hostname);
  if (typeof allowPrivate === 'object') allowPrivate.check(url.hostname);
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const options = {
    agent: false,
    signal,
    method,
    headers: { 'accept-encoding': 'identity', 'user-agent': USER_AGENT, ...headers },
    ...(allowPrivate === true
      ? {}
      : { lookup: lookup ?? (allowPrivate === false ? lookupPublic : allowPrivate.lookup) }),
  };
  return new Promise((resolve, reject) => {
    request(url, options, resolve)
      .on('upgrade', (response, socket) => {
        // Without this listener, an unrequested protocol upgrade would yield neither a response nor an error.
        socket.destroy();
        resolve(response);
      })
      .on('error', reject)
      .end(body);
  });
}

/**
 * Reads the body into a buffer of its own.
 * @throws FetchError `too_large` when the body or its announced length exceeds `maxBytes`; errors of the network
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = Number(response.headers['content-length'] ?? 0);
  const body = announced > maxBytes ? null : await readBounded(response, maxBytes);
  response.destroy();
  if (body === null) throw new FetchError('too_large', `it has more than ${maxBytes} bytes`);
  return body;
}

interface TimeLimit {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * The result of `run`, if it comes in time. `run` gets a signal that aborts at the time limit and when `signal` does.
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

/** A code such as `ECONNREFUSED`. The error's message is not used: it may contain private hosts and paths. */
export function networkCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no code';
}
