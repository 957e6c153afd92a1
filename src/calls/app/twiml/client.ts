/**
 * Requests TwiML from an app as Twilio does (https://www.twilio.com/docs/usage/webhooks/voice-webhooks): a signed form,
 * with limits on time, size and private addresses. All calls share one client.
 */

import type { LookupFunction } from 'node:net';
import { PrivateAddressError } from '../../../foundation/addresses.ts';
import { type Clock, sleep } from '../../../foundation/clock.ts';
import { TrunklineError } from '../../../foundation/errors.ts';
import {
  FetchError,
  guardedFetch,
  type Hop,
  networkCode,
  readBody,
  withinTime,
} from '../../../foundation/guarded-fetch.ts';
import type { Log } from '../../../foundation/log/log.ts';
import type { Metrics } from '../../../foundation/metrics.ts';
import { namedTargets, operatorTargets } from '../../../foundation/outbound-targets.ts';
import type { Settings } from '../../../foundation/settings/settings.ts';
import { type FormFields, signTwilio } from '../../../protocols/twilio-signature.ts';
import { readTwiml, TWIML_MAX_BYTES, type TwimlDocument, type TwimlLink } from '../../../protocols/twiml/document.ts';
import { decodeXml, XmlError } from '../../../protocols/xml.ts';

/** A server that did not accept the connection may be restarting. */
const RETRY_DELAY_MS = 250;
/** After these errors the request never reached the app, so it can be sent again without being handled twice. */
const NOT_REACHED = ['ECONNREFUSED', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];
const REDIRECTED_AS_POST = [307, 308];
/** What servers answer where a path has another method, as Express and Flask do. */
const OTHER_METHOD = [404, 405];
const FORM = 'application/x-www-form-urlencoded';

/** How a request ended, for the counter. */
export type TwimlOutcome = 'answered' | 'unreachable' | 'refused' | 'private' | 'late' | 'too_large' | 'malformed';

interface ClientOptions {
  readonly settings: Pick<Settings, 'APP_SIGNING_KEY' | 'APP_TWIML_TIMEOUT_MS' | 'OUTBOUND_ALLOW' | 'APP_TWIML_URL'>;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Resolves host names where private addresses are not allowed. */
  readonly lookup?: LookupFunction;
}

/** One request for a document. */
export interface TwimlRequest {
  readonly link: TwimlLink;
  /** As Twilio names them. */
  readonly fields: FormFields;
  readonly signal: AbortSignal;
  /** Names the call's trace to the app; left out = it has none. */
  readonly traceparent?: string | undefined;
}

class TwimlError extends Error {
  readonly outcome: TwimlOutcome;

  constructor(outcome: TwimlOutcome, message: string) {
    super(message);
    this.outcome = outcome;
  }
}

export class TwimlClient {
  readonly #options: ClientOptions;
  readonly #underWay = new Set<Promise<TwimlDocument>>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * The document that the app answers. A failure is logged once, with its reason.
   * @throws TrunklineError `twiml_failed`; the reason of the signal
   */
  fetch(request: TwimlRequest): Promise<TwimlDocument> {
    const answer = this.#fetch(request);
    this.#underWay.add(answer);
    const settle = (): void => void this.#underWay.delete(answer);
    answer.then(settle, settle);
    return answer;
  }

  /** Resolves when no request is running: at most APP_TWIML_TIMEOUT_MS from now, unless new ones are made. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #fetch(request: TwimlRequest): Promise<TwimlDocument> {
    const { metrics, log } = this.#options;
    try {
      const document = await this.#fetchInTime(request);
      metrics.twimlRequests.inc({ outcome: 'answered' });
      return document;
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      const { outcome, message } = this.#explain(error);
      metrics.twimlRequests.inc({ outcome });
      const { CallSid: callId } = Object.fromEntries(request.fields);
      // The path of the URL may be a secret.
      log.warn(
        { callId, app: new URL(request.link.url).origin, outcome },
        `the app's TwiML could not be fetched: ${message}`,
      );
      throw new TrunklineError('twiml_failed', `the app's TwiML could not be fetched: ${message}`);
    }
  }

  #fetchInTime(request: TwimlRequest): Promise<TwimlDocument> {
    const { clock, settings } = this.#options;
    return withinTime({ clock, timeoutMs: settings.APP_TWIML_TIMEOUT_MS, signal: request.signal }, async (signal) => {
      try {
        return await this.#ask({ ...request, signal });
      } catch (error) {
        if (!NOT_REACHED.includes(networkCode(error))) throw error;
      }
      await sleep(clock, RETRY_DELAY_MS);
      signal.throwIfAborted();
      return await this.#ask({ ...request, signal });
    });
  }

  async #ask({ link, fields, signal, traceparent }: TwimlRequest): Promise<TwimlDocument> {
    const { settings, lookup } = this.#options;
    const { response, url } = await guardedFetch({
      url: link.url,
      // Another URL is one that a document of the app named.
      allowPrivate: (link.url === settings.APP_TWIML_URL ? operatorTargets : namedTargets)(
        settings.OUTBOUND_ALLOW,
        'apps',
      ),
      signal,
      prepare: (to, status) =>
        hop(to, isAskedByGet(link, status) ? 'GET' : 'POST', { fields, traceparent, key: settings.APP_SIGNING_KEY }),
      ...(lookup === undefined ? {} : { lookup }),
    });
    const status = response.statusCode ?? 0;
    if (link.orGet && OTHER_METHOD.includes(status)) {
      response.destroy();
      return await this.#ask({ link: { url: link.url, method: 'GET' }, fields, signal, traceparent });
    }
    if (status < 200 || status > 299) {
      response.destroy();
      throw new TwimlError('refused', `its server answered ${status}, expected 200`);
    }
    const body = await readBody(response, TWIML_MAX_BYTES);
    return readTwiml(decodeXml(body, response.headers['content-type']), url.href);
  }

  #explain(error: unknown): { outcome: TwimlOutcome; message: string } {
    if (error instanceof TwimlError) return { outcome: error.outcome, message: error.message };
    if (error instanceof XmlError) return { outcome: 'malformed', message: error.message };
    if (error instanceof PrivateAddressError) {
      return {
        outcome: 'private',
        message: 'its host is in a private network, expected a public address (OUTBOUND_ALLOW)',
      };
    }
    if (error instanceof FetchError) {
      const outcome = error.failure === 'late' || error.failure === 'too_large' ? error.failure : 'refused';
      return { outcome, message: error.failure === 'late' ? `${error.message} (APP_TWIML_TIMEOUT_MS)` : error.message };
    }
    return { outcome: 'unreachable', message: `its server cannot be reached (${networkCode(error)})` };
  }
}

/** A redirect is followed by GET, as browsers do, unless its status asks to send the form again. */
function isAskedByGet({ method }: TwimlLink, redirectedBy: number | null): boolean {
  return method === 'GET' || (redirectedBy !== null && !REDIRECTED_AS_POST.includes(redirectedBy));
}

/** What is sent; `key` = empty: it is not signed. */
interface HopContent {
  readonly fields: FormFields;
  readonly traceparent: string | undefined;
  readonly key: string;
}

/** One request. The fields go into the body, or with GET into the query. We sign exactly what we send. */
function hop(to: URL, method: 'GET' | 'POST', { fields, traceparent, key }: HopContent): Hop {
  const form = new URLSearchParams([...fields].map(([name, value]): [string, string] => [name, value]));
  const url = new URL(to);
  url.hash = '';
  if (method === 'GET')
    for (const [name, value] of form) if (!url.searchParams.has(name)) url.searchParams.append(name, value);
  const headers = {
    accept: 'application/xml, text/xml, */*;q=0.1',
    ...signatures(url, method === 'GET' ? [] : form, key),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  if (method === 'GET') return { url, method, headers };
  return { url, method, headers: { ...headers, 'content-type': `${FORM}; charset=UTF-8` }, body: form.toString() };
}

/**
 * One signature under both header names. It does not cover user and password: they travel in a header of their own, so
 * the app's server does not see them in the URL.
 */
function signatures(url: URL, fields: FormFields, key: string): Record<string, string> {
  if (key === '') return {};
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  const signature = signTwilio(key, bare.href, fields);
  return { 'x-trunkline-signature': signature, 'x-twilio-signature': signature };
}
