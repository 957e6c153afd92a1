/** The page's requests to the server. */

/** The server wants a key. */
export class KeyWanted extends Error {}

/** The server cannot be reached. */
export class NoAnswer extends Error {}

/** @param {string} id @returns {string} the path of a call in the API */
export function callPath(id) {
  return `/v1/calls/${encodeURIComponent(id)}`;
}

/**
 * What the server answers to a GET of `path`, parsed.
 * Throws KeyWanted or NoAnswer, or an Error with the server's own words.
 * @param {string} path
 * @returns {Promise<any>}
 */
export async function getJson(path) {
  const response = await ask(path, { headers: { accept: 'application/json' }, cache: 'no-store' });
  return response.json();
}

/**
 * What the server answers to a POST of `body` to `path`, parsed. Throws like {@link getJson}.
 * @param {string} path @param {object} body
 * @returns {Promise<any>}
 */
export async function postJson(path, body) {
  const response = await post(path, body);
  return response.json();
}

/**
 * Gives the key for a cookie that opens the API to this browser for a while.
 * Throws KeyWanted when it is not a key, else like {@link getJson}.
 * @param {string} key
 */
export async function openSession(key) {
  await post('/v1/session', { key });
}

/** @param {string} path @param {object} body */
function post(path, body) {
  return ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

/** @param {string} path @param {RequestInit} request @returns {Promise<Response>} */
async function ask(path, request) {
  const response = await fetch(path, request).catch(() => null);
  if (response === null) throw new NoAnswer();
  if (response.status === 401) throw new KeyWanted();
  if (!response.ok) throw new Error(await readProblem(response));
  return response;
}

/** @param {Response} response @returns {Promise<string>} */
async function readProblem(response) {
  const body = await response.json().catch(() => null);
  return body?.error?.message ?? `The server answered with status ${response.status}.`;
}
