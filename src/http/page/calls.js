/** The list of calls: a button for each, live ones first. It is changed in place, so that focus and what a screen reader has read stay. */
import { formatTime } from './captions.js';
import { setText } from './dom.js';

/**
 * @typedef {{ id: string, carrier: string, from: string | null, to: string | null, state: 'dialing' | 'live' | 'ended', startedAt: string, endedAt: string | null,
 *   tracks: string[], lagMs: number | null, durationMs: number }} CallView
 */

/** So much of a long id tells calls apart well enough. */
const ID_CHARS = 12;

/** Carriers whose name is not their id with a capital. */
const CARRIER_NAMES = new Map([
  ['signalwire', 'SignalWire'],
  ['audiosocket', 'AudioSocket'],
  ['sip', 'SIP'],
  ['browser', 'the page’s phone'],
]);

/** What people call the carrier. @param {string} carrier @returns {string} */
export function nameCarrier(carrier) {
  return CARRIER_NAMES.get(carrier) ?? `${carrier.slice(0, 1).toUpperCase()}${carrier.slice(1)}`;
}

/** Who talks to whom, as far as the carrier told; its id where it told neither. @param {CallView} call @returns {string} */
export function nameCall(call) {
  if (call.from === null && call.to === null) return `Call ${call.id.length > ID_CHARS ? `${call.id.slice(0, ID_CHARS)}…` : call.id}`;
  return `${call.from ?? 'unknown'} → ${call.to ?? 'unknown'}`;
}

/** Its state, length and lag in words. @param {CallView} call @returns {string} */
export function describeCall(call) {
  const length = formatTime(call.durationMs);
  if (call.state === 'ended') return `Ended ${formatClock(call.endedAt)}, ${length}`;
  if (call.state === 'dialing') return 'Ringing';
  return call.lagMs === null ? `Live, ${length}` : `Live, ${length}, lag ${Math.round(call.lagMs)} ms`;
}

/** Wall-clock time of an ISO date, as the reader's own country writes it. @param {string | null} iso @returns {string} */
export function formatClock(iso) {
  return iso === null ? '' : new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** Those that go on first, then by their start, newest first. @param {CallView} a @param {CallView} b */
function byInterest(a, b) {
  if ((a.state === 'ended') !== (b.state === 'ended')) return a.state === 'ended' ? 1 : -1;
  return a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0;
}

export class CallList {
  /** @type {HTMLElement} */
  #list;
  /** @type {(id: string) => void} */
  #onChoose;
  /** @type {Map<string, { item: HTMLElement, button: HTMLButtonElement, parties: HTMLElement, state: HTMLElement }>} */
  #rows = new Map();

  /** @param {HTMLElement} list @param {(id: string) => void} onChoose */
  constructor(list, onChoose) {
    this.#list = list;
    this.#onChoose = onChoose;
  }

  /** Shows `calls`, marking the one with the id `chosen`. @param {readonly CallView[]} calls @param {string | null} chosen */
  show(calls, chosen) {
    const sorted = calls.toSorted(byInterest);
    this.#removeAllBut(new Set(sorted.map((call) => call.id)));
    for (const [index, call] of sorted.entries()) {
      const row = this.#rows.get(call.id) ?? this.#addRow(call.id);
      setText(row.parties, nameCall(call));
      setText(row.state, describeCall(call));
      row.button.dataset['state'] = call.state;
      row.button.setAttribute('aria-current', String(call.id === chosen));
      this.#place(row, index);
    }
  }

  /** @param {ReadonlySet<string>} ids */
  #removeAllBut(ids) {
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue;
      row.item.remove();
      this.#rows.delete(id);
    }
  }

  /** Moving an element takes its focus away: it is given back. @param {{ item: HTMLElement, button: HTMLElement }} row @param {number} index */
  #place(row, index) {
    const there = this.#list.children[index] ?? null;
    if (there === row.item) return;
    const focused = document.activeElement === row.button;
    this.#list.insertBefore(row.item, there);
    if (focused) row.button.focus({ preventScroll: true });
  }

  /** @param {string} id */
  #addRow(id) {
    const item = document.createElement('li');
    const button = document.createElement('button');
    const parties = document.createElement('span');
    const state = document.createElement('span');
    button.type = 'button';
    parties.className = 'parties';
    state.className = 'state';
    button.append(parties, ' ', state);
    button.addEventListener('click', () => this.#onChoose(id));
    item.append(button);
    const row = { item, button, parties, state };
    this.#rows.set(id, row);
    return row;
  }
}
