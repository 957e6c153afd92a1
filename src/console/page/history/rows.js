/** The calls that were found: one line each, a card on a phone. The arrow keys move through them. */
import { formatTime, isFailure, isolate, nameCall, nameCarrier, nameEnd, nameSpeaker, sidesOf } from '../calls.js';
import { make } from '../dom.js';
import { addressOf } from '../router.js';

/**
 * @typedef {import('../calls.js').CallView} CallView
 * @typedef {{ track: string, startMs: number, parts: { text: string, marked: boolean }[] }} Found
 * @typedef {CallView & { found?: Found[] }} FoundCall
 */

/** Ends at which nobody talked. */
const NOT_TALKED = new Set(['busy', 'unanswered', 'refused']);
const FOUND_SHOWN = 3;

export class Rows {
  element = make('ul', { class: 'found-calls', 'aria-label': 'Calls' });
  #onDelete;

  /** @param {(call: FoundCall) => void} onDelete called when somebody wants a call to be deleted */
  constructor(onDelete) {
    this.#onDelete = onDelete;
    this.element.addEventListener('keydown', (event) => this.#press(event));
  }

  /** @param {readonly FoundCall[]} calls @param {{ mayDelete: boolean, now: Date }} how */
  show(calls, { mayDelete, now }) {
    const { focusedId } = this;
    this.element.replaceChildren(...calls.map((call) => this.#row(call, mayDelete, now)));
    const again = focusedId === null ? null : this.#linkOf(focusedId);
    if (again) again.focus({ preventScroll: true });
    else if (focusedId !== null) this.focusFirst();
  }

  /** Focuses the row of a call and brings it into sight, if it is there. @param {string} id */
  focusOn(id) {
    const link = this.#linkOf(id);
    link?.focus({ preventScroll: true });
    link?.scrollIntoView({ block: 'center' });
  }

  /** @param {string} id */
  #linkOf(id) {
    return this.#links.find((link) => link.dataset['id'] === id);
  }

  /** Focuses the first row, if there is one. */
  focusFirst() {
    this.#links[0]?.focus();
  }

  get isEmpty() {
    return this.element.childElementCount === 0;
  }

  get #links() {
    return /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll('a[data-id]')]);
  }

  /** The call whose row has the focus; null = none. @returns {string | null} */
  get focusedId() {
    const { activeElement } = document;
    return activeElement instanceof HTMLElement && this.element.contains(activeElement)
      ? (activeElement.dataset['id'] ?? null)
      : null;
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const links = this.#links;
    const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 };
    const next = /** @type {Record<string, number>} */ (steps)[event.key];
    if (next !== undefined) {
      event.preventDefault();
      links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
    }
    const button = links[at]?.parentElement?.querySelector('button');
    if (event.key === 'Delete' && button instanceof HTMLElement) button.click();
  }

  /** @param {FoundCall} call @param {boolean} mayDelete @param {Date} now */
  #row(call, mayDelete, now) {
    const name = nameCall(call);
    const { found = [] } = call;
    const at = found[0]?.startMs;
    const address = addressOf('calls', { id: call.id, ...(at === undefined ? {} : { at: String(at) }) });
    const erase = make(
      'button',
      { type: 'button', class: 'plain erase', 'aria-label': `Delete the call ${name}`, title: 'Delete…' },
      '✕',
    );
    erase.addEventListener('click', () => this.#onDelete(call));
    return make(
      'li',
      { class: 'found-call' },
      make(
        'a',
        { href: address, 'data-id': call.id, title: `${name}, over ${nameCarrier(call.carrier)}` },
        showTime(call.startedAt, now),
        showSides(call),
        make('span', { class: 'length' }, call.state === 'dialing' ? '–' : formatTime(call.durationMs)),
        showEnd(call),
        make('span', { class: 'what' }, ...(found.length > 0 ? showFound(call) : showMarks(call))),
      ),
      mayDelete && call.state === 'ended' ? erase : null,
    );
  }
}

/** The day too, unless it is today. @param {string} iso @param {Date} now */
function showTime(iso, now) {
  const at = new Date(iso);
  const clock = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  const day = at.toLocaleDateString([], {
    day: '2-digit',
    month: 'short',
    ...(at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' }),
  });
  const isToday = at.toDateString() === now.toDateString();
  return make('time', { class: 'when', datetime: iso }, isToday ? clock : `${day} ${clock}`);
}

/** @param {CallView} call */
function showSides(call) {
  const { inbound, outbound } = sidesOf(call);
  if (inbound === null && outbound === null) return make('span', { class: 'parties' }, nameCall(call));
  return make(
    'span',
    { class: 'parties' },
    make('b', {}, isolate(inbound ?? 'unknown')),
    make('span', { class: 'to' }, ` → ${isolate(outbound ?? 'unknown')}`),
  );
}

/** Why it ended: a shape, a word and a colour. @param {CallView} call */
function showEnd(call) {
  if (call.state !== 'ended') {
    const words = call.state === 'dialing' ? 'ringing' : 'live';
    return make('span', { class: 'end', 'data-end': 'live' }, words);
  }
  const reason = call.endReason ?? '';
  if ((call.handoffData ?? null) !== null) return make('span', { class: 'end', 'data-end': 'passed' }, 'passed on');
  const kind = isFailure(call.endReason) ? 'failed' : NOT_TALKED.has(reason) ? 'nobody' : 'good';
  return make('span', { class: 'end', 'data-end': kind }, nameEnd(reason));
}

/** What was found, with its words marked. @param {FoundCall} call @returns {HTMLElement[]} */
function showFound(call) {
  return (call.found ?? [])
    .slice(0, FOUND_SHOWN)
    .map(({ track, parts }) =>
      make(
        'span',
        { class: 'snippet', 'data-track': track },
        make('span', { class: 'speaker' }, `${isolate(nameSpeaker(call, track))}: `),
        make('bdi', {}, ...parts.map(({ text, marked }) => (marked ? make('mark', {}, text) : text))),
      ),
    );
}

/** What is worth knowing of a call without a search. @param {CallView} call @returns {(HTMLElement | null)[]} */
function showMarks(call) {
  const { gaps = 0, keys = 0 } = call.counts ?? {};
  const outcome = call.outcome ?? '';
  // Where nobody is named, the queue stands among the names.
  const queue = sidesOf(call).outbound === call.queue ? '' : (call.queue ?? '');
  return [
    queue === '' ? null : make('span', { class: 'queue' }, queue),
    outcome === '' ? null : make('span', { class: 'outcome' }, outcome),
    gaps === 0 ? null : make('span', { class: 'chip', 'data-level': 'slow' }, gaps === 1 ? '1 hole' : `${gaps} holes`),
    keys === 0 ? null : make('span', { class: 'chip' }, keys === 1 ? '1 key' : `${keys} keys`),
    call.sound === 'recorded' ? make('span', { class: 'chip' }, 'sound') : null,
    ...(call.tags ?? []).map((tag) => make('span', { class: 'chip tag' }, tag)),
  ];
}
