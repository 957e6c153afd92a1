/** Where one call comes from: its view, and all that was told of it, live or stored. */
import { callPath, getJson, Refusal } from '../gateway.js';

/** @typedef {import('../calls.js').CallView} CallView */

const PAGE_EVENTS = 1000;
/** Pages of one call; more than any call of 12 hours has. */
const PAGES_MAX = 100;
/** A server without records says so once. */
let keepsRecords = true;

/**
 * A call's view; undefined = the server does not know it. Throws as gateway.js.
 * @param {string} id @returns {Promise<CallView | undefined>}
 */
export async function loadCall(id) {
  try {
    return await getJson(callPath(id));
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/**
 * All that is kept of a call, in pieces, each an array of events or of items of its transcript. Throws as gateway.js.
 * @param {string} id @param {AbortSignal} signal
 * @returns {AsyncGenerator<readonly any[]>}
 */
export async function* loadEvents(id, signal) {
  const path = `${callPath(id)}/events?limit=${PAGE_EVENTS}`;
  let page = keepsRecords ? await firstPage(path, signal) : null;
  if (page === null || page.data.length === 0) {
    yield await loadTranscript(id, signal);
    return;
  }
  for (let pages = 1; ; pages++) {
    yield page.data.map((/** @type {any} */ entry) => entry.event ?? entry);
    if (page.next === null || page.next === undefined || pages >= PAGES_MAX) return;
    page = await getJson(`${path}&cursor=${encodeURIComponent(page.next)}`, signal);
  }
}

/** Null = there are no events of the call. @param {string} path @param {AbortSignal} signal */
async function firstPage(path, signal) {
  try {
    return await getJson(path, signal);
  } catch (error) {
    if (!(error instanceof Refusal) || (error.status !== 404 && error.status !== 501)) throw error;
    keepsRecords = error.status !== 501;
    return null;
  }
}

/** What a server has that keeps no events. @param {string} id @param {AbortSignal} signal */
async function loadTranscript(id, signal) {
  try {
    return (await getJson(`${callPath(id)}/transcript?format=json`, signal)).data;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return [];
    throw error;
  }
}
