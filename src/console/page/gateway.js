/** The page's requests to the server. */

/** The server wants a key. */
export class KeyWanted extends Error {}

/** The server cannot be reached. */
export class NoAnswer extends Error {
  /** @param {string} method */
  constructor(method) {
    super('the server does not answer');
    /** Somebody wanted something done, and has to be told that it was not. */
    this.isDeed = method !== 'GET';
  }
}

/** The server refuses, in its own words. */
export class Refusal extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    /** The HTTP status. */
    this.status = status;
    /** A code of docs/reference/errors.md; empty where none came. */
    this.code = code;
  }
}

/** @param {string} id @returns {string} the path of a call in the API */
export function callPath(id) {
  return `/v1/calls/${encodeURIComponent(id)}`;
}

/**
 * What the server answers to a GET of `path`, parsed.
 * Throws KeyWanted, NoAnswer or Refusal.
 * @param {string} path @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function getJson(path, signal) {
  const response = await ask(path, {
    headers: { accept: 'application/json' },
    cache: 'no-store',
    signal: signal ?? null,
  });
  return response.json();
}

/**
 * What the server answers to a GET of `path`, as text. Throws like {@link getJson}.
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function getText(path) {
  const response = await ask(path, { cache: 'no-store' });
  return response.text();
}

/**
 * What the server answers to a POST of `body` to `path`, parsed; null where it answers nothing. Throws like
 * {@link getJson}.
 * @param {string} path @param {object} [body]
 * @returns {Promise<any>}
 */
export function postJson(path, body) {
  return send('POST', path, body);
}

/**
 * As {@link postJson}, with the method PATCH. @param {string} path @param {object} body @returns {Promise<any>}
 */
export function patchJson(path, body) {
  return send('PATCH', path, body);
}

/** As {@link postJson}, with the method DELETE. @param {string} path @returns {Promise<any>} */
export function deleteJson(path) {
  return send('DELETE', path);
}

/**
 * As {@link postJson}, with a form and its files.
 * @param {string} path @param {FormData} form @returns {Promise<any>}
 */
export async function postForm(path, form) {
  const response = await ask(path, { method: 'POST', body: form });
  return response.json();
}

/** What went wrong, for people. @param {unknown} error @returns {string} */
export function explainError(error) {
  if (error instanceof NoAnswer) return 'The server does not answer. Try again in a moment.';
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} method @param {string} path @param {object} [body] */
async function send(method, path, body) {
  const content =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await ask(path, { method, ...content });
  return response.status === 204 ? null : response.json();
}

/** @param {string} path @param {RequestInit} request @returns {Promise<Response>} */
async function ask(path, request) {
  const response = await fetch(path, request).catch((error) => {
    if (error.name === 'AbortError') throw error;
    return null;
  });
  if (response === null) throw new NoAnswer(request.method ?? 'GET');
  if (response.status === 401) throw new KeyWanted();
  if (!response.ok) throw await readRefusal(response);
  return response;
}

/** @param {Response} response @returns {Promise<Refusal>} */
async function readRefusal(response) {
  const body = await response.json().catch(() => null);
  const { message = `The server answered with status ${response.status}.`, code = '' } = body?.error ?? {};
  return new Refusal(response.status, code, message);
}
