/** Requests of commands to a running server. */
import { z } from 'zod';
import { hideCredentials } from '../foundation/urls.ts';

/** How long a server may take to answer. Passwords take seconds on a busy one. */
const ANSWER_MAX_MS = 30_000;
const ERROR_MAX_CHARS = 500;

const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** The server refused a request, or cannot be reached; `code` is that of docs/reference/errors.md, or null. */
export class ServerRefused extends Error {
  readonly code: string | null;

  constructor(message: string, code: string | null = null) {
    super(hideCredentials(message));
    this.name = 'ServerRefused';
    this.code = code;
  }
}

/** A server, and the key that it asks for. */
export class ServerClient {
  readonly url: string;
  readonly #key: string;

  /** `url` = `http://host:port`; an empty `key` sends none. */
  constructor({ url, key }: { url: string; key: string }) {
    this.url = url.replace(/\/+$/, '');
    this.#key = key;
  }

  /** Whether a Trunkline answers there within `withinMs`. */
  async isThere(withinMs: number): Promise<boolean> {
    try {
      const answer = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(withinMs), redirect: 'error' });
      return z.object({ status: z.literal('ok') }).safeParse(await answer.json()).success;
    } catch {
      return false;
    }
  }

  /**
   * The answer's JSON, checked against `schema`.
   * @throws ServerRefused
   */
  async ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown): Promise<T> {
    const answer = await this.#send(method, path, body);
    const json: unknown = await answer.json().catch(() => null);
    if (!answer.ok) {
      const { data } = refusal.safeParse(json);
      if (data === undefined) throw new ServerRefused(`${this.url} answered ${answer.status}`);
      throw new ServerRefused(`${data.error.message.slice(0, ERROR_MAX_CHARS)} (${data.error.code})`, data.error.code);
    }
    const parsed = schema.safeParse(json);
    if (!parsed.success) throw new ServerRefused(`${this.url} answered something else than expected: is it Trunkline?`);
    return parsed.data;
  }

  async #send(method: string, path: string, body: unknown): Promise<Response> {
    const headers = {
      ...(this.#key !== '' && { authorization: `Bearer ${this.#key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    try {
      return await fetch(`${this.url}${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MAX_MS),
        redirect: 'error',
      });
    } catch (error) {
      const cause = error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined) : undefined;
      throw new ServerRefused(`${this.url} does not answer (${cause?.code ?? String(error)})`);
    }
  }
}
