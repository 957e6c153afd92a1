/** Asks a running server, for the commands that work through one. */
import { readServerAddress } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';

const ANSWER_WITHIN_MS = 120_000;

/** A server and a key for it; null = it needs none. */
export interface ServerAddress {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly key: string | null;
}

/** What a command was given: `--url` and `--key`. */
export interface ServerFlags {
  readonly url?: string;
  readonly key?: string;
}

/** The server that the flags or the environment name; null = they name none. */
export function serverOf(flags: ServerFlags): ServerAddress | null {
  const { url, key } = readServerAddress();
  const named = flags.url ?? url;
  return named === null ? null : { url: named.replace(/\/+$/, ''), key: flags.key ?? key };
}

/** The server with these settings on this machine. */
export function serverWith({ HOST, PORT, API_KEYS }: Pick<Settings, 'HOST' | 'PORT' | 'API_KEYS'>): ServerAddress {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`, key: API_KEYS[0] ?? null };
}

/**
 * The answer of a server to a request without a body.
 * @throws Error that says what it answered instead, or that it cannot be reached
 */
export async function askServer<T>({ url, key }: ServerAddress, method: 'GET' | 'POST', path: string): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, {
      method,
      headers: key === null ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
    throw new Error(`no server answers at ${url} (${reason}): name it with --url`);
  }
  const body = (await response.json().catch(() => null)) as (T & { error?: { message?: string } }) | null;
  if (response.ok && body !== null) return body;
  throw new Error(`the server at ${url} answered ${response.status}: ${body?.error?.message ?? 'no reason was given'}`);
}
