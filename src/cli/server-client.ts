/** Requests of commands to a running server. */
import { WebSocket } from 'ws';
import { z } from 'zod';
import { readServerAddress } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { hideCredentials } from '../foundation/urls.ts';
import { printable } from './printable.ts';

/** How long a server may take to answer. Passwords take seconds on a busy one. */
const ANSWER_MAX_MS = 30_000;
const ERROR_MAX_CHARS = 500;

const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/**
 * The server refused a request, or cannot be reached. `code` is that of docs/reference/errors.md; it and the HTTP
 * `status` are null where there was no such answer.
 */
export class ServerRefused extends Error {
  readonly code: string | null;
  readonly status: number | null;

  constructor(
    message: string,
    { code = null, status = null }: { readonly code?: string | null; readonly status?: number | null } = {},
  ) {
    super(hideCredentials(message));
    this.name = 'ServerRefused';
    this.code = code;
    this.status = status;
  }
}

/** How a command names its server; what is missing comes from TRUNKLINE_URL and TRUNKLINE_KEY, then the settings. */
export interface ServerFlags {
  readonly url?: string;
  readonly key?: string;
}

/** A server's address, and the key that it is asked with; both may be empty. */
export interface ServerAddress {
  readonly url: string;
  readonly key: string;
}

/** The server that flags or the environment name, else an empty `url`; `key` may be the first one of the settings. */
export function namedServer({ url, key }: ServerFlags, { API_KEYS }: Pick<Settings, 'API_KEYS'>): ServerAddress {
  const named = readServerAddress();
  return { url: url ?? named.url, key: key ?? (named.key || (API_KEYS[0] ?? '')) };
}

/** The server that is meant: the named one, otherwise that of `settings` on this machine. */
export function serverOf(
  flags: ServerFlags,
  settings: Pick<Settings, 'HOST' | 'PORT' | 'TLS_CERT' | 'API_KEYS'>,
): ServerClient {
  const { url, key } = namedServer(flags, settings);
  return new ServerClient({ url: url || localUrl(settings), key });
}

/** Where the HTTP of a server with these settings is on `host`; an IPv6 address in brackets. */
export function originOn(host: string, { PORT, TLS_CERT }: Pick<Settings, 'PORT' | 'TLS_CERT'>): string {
  return `${TLS_CERT === '' ? 'http' : 'https'}://${host}:${PORT}`;
}

/** Where a server with these settings is reached on this machine. */
export function localUrl(settings: Pick<Settings, 'HOST' | 'PORT' | 'TLS_CERT'>): string {
  const { HOST } = settings;
  const reached = ['0.0.0.0', '::'].includes(HOST) ? '127.0.0.1' : HOST;
  return originOn(reached.includes(':') ? `[${reached}]` : reached, settings);
}

/** A server, and the key that it asks for. */
export class ServerClient {
  readonly url: string;
  readonly #key: string;

  /** `url` = `http://host:port`; an empty `key` sends none. */
  constructor({ url, key }: ServerAddress) {
    this.url = url.replace(/(?<!\/)\/+$/, '');
    this.#key = key;
  }

  /**
   * Whether a Trunkline answers there within `withinMs`.
   * @throws ServerRefused when somebody does whose certificate is not believed
   */
  async isThere(withinMs: number): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(withinMs), redirect: 'error' });
      return z.object({ status: z.literal('ok') }).safeParse(await answer.json()).success;
    } catch (error) {
      const hint = tlsHint(codeOf(error));
      if (hint !== '') throw new ServerRefused(`${this.url} does not answer${hint}`);
      return false;
    }
  }

  /**
   * The answer's JSON, checked against `schema`. A form goes as it is, another `body` as JSON.
   * @throws ServerRefused
   */
  async ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown): Promise<T> {
    const answer = await this.#send(method, path, { body, signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    if (!answer.ok) throw await this.#refusalOf(answer);
    const json: unknown = await answer.json().catch(() => null);
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw new ServerRefused(`${this.url} answered something else than expected: is it Trunkline?`);
    return parsed.data;
  }

  /**
   * The body of a long answer, piece by piece, until `signal` aborts.
   * @throws ServerRefused at once, or where the answer breaks off
   */
  async *stream(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const answer = await this.#send('GET', path, { signal });
    if (!answer.ok) throw await this.#refusalOf(answer);
    try {
      for await (const chunk of answer.body ?? []) yield chunk;
    } catch {
      throw new ServerRefused(`the answer of ${this.url} broke off before its end`);
    }
  }

  /** A WebSocket to `path`, on its way to be opened. */
  socket(path: string): WebSocket {
    return new WebSocket(`${this.url.replace(/^http/, 'ws')}${path}`, {
      headers: this.#headers(),
      handshakeTimeout: ANSWER_MAX_MS,
      perMessageDeflate: false,
    });
  }

  #headers(): Record<string, string> {
    return this.#key === '' ? {} : { authorization: `Bearer ${this.#key}` };
  }

  async #refusalOf(answer: Response): Promise<ServerRefused> {
    return refusalFrom(this.url, answer.status, await answer.json().catch(() => null));
  }

  async #send(
    method: string,
    path: string,
    { body, signal }: { readonly body?: unknown; readonly signal: AbortSignal },
  ): Promise<Response> {
    const isJson = body !== undefined && !(body instanceof FormData);
    const headers = { ...this.#headers(), ...(isJson && { 'content-type': 'application/json' }) };
    const sent = body instanceof FormData ? body : JSON.stringify(body);
    try {
      return await fetch(`${this.url}${path}`, {
        method,
        headers,
        body: body === undefined ? null : sent,
        signal,
        redirect: 'error',
      });
    } catch (error) {
      const code = codeOf(error);
      throw new ServerRefused(`${this.url} does not answer (${code ?? String(error)})${tlsHint(code)}`);
    }
  }
}

/** Of what `fetch` failed with. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined;
}

/** What helps when the certificate of the server is not believed. */
function tlsHint(code: string | undefined): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return ': its certificate is for another name; give TRUNKLINE_URL, or --url, with that name';
  if (code === 'CERT_HAS_EXPIRED') return ': its certificate has expired';
  if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)/.test(code ?? ''))
    return ': its certificate is self-signed, or signed by nobody known here; set NODE_EXTRA_CA_CERTS to its file';
  return '';
}

/** What the server at `url` said with `status`; `json` = its body, or null. */
export function refusalFrom(url: string, status: number, json: unknown): ServerRefused {
  const { data } = refusal.safeParse(json);
  if (data === undefined) return new ServerRefused(`${url} answered ${status}`, { status });
  const { code, message } = data.error;
  return new ServerRefused(`${printable(message).slice(0, ERROR_MAX_CHARS)} (${printable(code)})`, { code, status });
}
