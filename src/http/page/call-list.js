/**
 * The list of calls: a button for each, live ones first. It is changed in place, so that focus and what a screen reader
 * has read stay.
 */
import { describeCall, nameCall } from './calls.js';
import { setText } from './dom.js';

/** @typedef {import('./calls.js').CallView} CallView */

/** Those that go on first, then by their start, newest first. @param {CallView} a @param {CallView} b */
function byInterest(a, b) {
  if ((a.state === 'ended') !== (b.state === 'ended')) return a.state === 'ended' ? 1 : -1;
  return a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : 0;
}

export class CallList {
  /** @type {HTMLElement} */
  #list;
  /** Says how many calls were added at the end. @type {HTMLElement} */
  #added;
  /** Somebody may be about to press a row: none moves. */
  #isHeld = false;
  #addedCount = 0;
  /** The call that was chosen last and is in the list. @type {string | null} */
  #revealed = null;
  /** @type {(id: string) => void} */
  #onChoose;
  /** @type {Map<string, { item: HTMLElement, button: HTMLButtonElement, parties: HTMLElement, state: HTMLElement }>} */
  #rows = new Map();

  /** @param {{ list: HTMLElement, added: HTMLElement }} parts @param {(id: string) => void} onChoose */
  constructor({ list, added }, onChoose) {
    this.#list = list;
    this.#added = added;
    this.#onChoose = onChoose;
    list.addEventListener('pointerenter', () => {
      this.#isHeld = true;
    });
    // Rows are put in order when the list is shown next, not at once: a tap's click comes after it has left.
    for (const type of ['pointerleave', 'pointercancel']) list.addEventListener(type, () => this.#release());
  }

  #release() {
    this.#isHeld = false;
    this.#addedCount = 0;
  }

  /**
   * Shows `calls`, marking the one with the id `chosen`. Under a pointer no row moves: new ones come last, and those
   * that are gone stay.
   * @param {readonly CallView[]} calls @param {string | null} chosen
   */
  show(calls, chosen) {
    const sorted = calls.toSorted(byInterest);
    if (!this.#isHeld) this.#removeAllBut(new Set(sorted.map((call) => call.id)));
    for (const [index, call] of sorted.entries()) {
      const row = this.#rows.get(call.id) ?? this.#addRow(call.id);
      setText(row.parties, nameCall(call));
      setText(row.state, describeCall(call));
      row.button.title = `${nameCall(call)}\n${describeCall(call)}`;
      row.button.dataset['state'] = call.state;
      row.button.setAttribute('aria-current', String(call.id === chosen));
      this.#place(row, index);
    }
    this.#reveal(chosen);
    setText(this.#added, this.#addedCount === 0 ? '' : `${this.#addedCount} new, at the end`);
  }

  /**
   * A call that has just been chosen is seen in the list, be it chosen by its address. @param {string | null} chosen
   */
  #reveal(chosen) {
    const row = this.#rows.get(chosen ?? '');
    if (row === undefined || chosen === this.#revealed || this.#isHeld) return;
    this.#revealed = chosen;
    row.item.scrollIntoView({ block: 'nearest' });
  }

  /** @param {ReadonlySet<string>} ids */
  #removeAllBut(ids) {
    for (const [id, row] of this.#rows) {
      if (ids.has(id)) continue;
      row.item.remove();
      this.#rows.delete(id);
    }
  }

  /**
   * Moving an element takes its focus away: it is given back. @param {{ item: HTMLElement, button: HTMLElement }} row
   * @param {number} index
   */
  #place(row, index) {
    const there = this.#isHeld ? null : (this.#list.children[index] ?? null);
    if (there === row.item || (this.#isHeld && row.item.isConnected)) return;
    if (this.#isHeld) this.#addedCount += 1;
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
