/**
 * The captions of one call: finals as paragraphs in the order of their start, below them what is being said right now.
 * It follows the newest caption unless the reader has scrolled up, and keeps only the latest paragraphs in the
 * document, so a long call costs no more than a short one.
 */

import { formatTime } from './calls.js';

/** Paragraphs kept in the document; earlier ones are in the transcript. */
export const PARAGRAPHS_MAX = 500;

/** Nearer to the end than this, the reader is taken to read along. */
const END_PX = 48;

const TRACK_NAMES = new Map([
  ['inbound', 'Inbound'],
  ['outbound', 'Outbound'],
  ['spoken', 'Spoken'],
]);

/**
 * @typedef {{ track: string, utterance: number, version?: number, text: string, startMs: number }} Final
 * @typedef {{ track: string, startMs: number, endMs: number, reason: string }} Gap
 * @typedef {Final & { stable: string, tail: string, final: boolean, lagMs: number }} Caption
 * @typedef {{ pane: HTMLElement, finals: HTMLElement, pending: HTMLElement, earlier: HTMLElement, newest: HTMLElement
 * }} CaptionParts
 */

/** Why a stretch has no caption, in words. */
const GAP_REASONS = new Map([
  ['engine', 'the speech engine failed'],
  ['overload', 'the machine had too much to do'],
  ['shutdown', 'the server was stopped'],
  ['media', 'the sound was lost on the way'],
  ['limit', 'the captions are too many to be kept'],
]);

/**
 * A new element with a class and, as plain text, its content. @param {string} tag @param {string} className @param
 * {string} [text]
 */
function make(tag, className, text = '') {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

/** A paragraph with its time and track in front; `words` go into the element returned second. @param {Final} caption */
function makeParagraph(caption) {
  const paragraph = make('p', 'caption');
  paragraph.dataset['track'] = caption.track;
  const who = make('span', 'who');
  who.append(
    make('time', 'at', formatTime(caption.startMs)),
    ' ',
    make('span', 'track', TRACK_NAMES.get(caption.track) ?? caption.track),
    ' ',
  );
  const words = make('span', 'words');
  paragraph.append(who, words);
  return { paragraph, words };
}

/** Something that happened rather than was said. @param {string} words @param {number} atMs */
function makeNote(words, atMs) {
  const note = make('p', 'note', words);
  note.prepend(make('time', 'at', formatTime(atMs)), ' ');
  return note;
}

export class Captions {
  /** @type {CaptionParts} */
  #parts;
  /** The keys of the paragraphs in the document. @type {Set<string>} */
  #shown = new Set();
  /**
   * What is being said on each track. @type {Map<string, { element: HTMLElement, stable: HTMLElement, tail:
   * HTMLElement, utterance: number }>}
   */
  #speaking = new Map();
  /** The last utterance of each track that became final: partials up to it are old. @type {Map<string, number>} */
  #settled = new Map();
  /** Paragraphs that start no later than this were taken out of the document. */
  #prunedToMs = -Infinity;
  #following = true;
  #unread = 0;

  /** @param {CaptionParts} parts */
  constructor(parts) {
    this.#parts = parts;
    parts.pane.addEventListener('scroll', () => this.#noteScroll(), { passive: true });
    parts.newest.addEventListener('click', () => this.#goToNewest());
    new ResizeObserver(() => this.#keepUp()).observe(parts.pane);
  }

  get empty() {
    return this.#shown.size === 0 && this.#speaking.size === 0;
  }

  /** Forgets everything, for another call. */
  clear() {
    this.#parts.finals.replaceChildren();
    this.#parts.pending.replaceChildren();
    this.#parts.earlier.hidden = true;
    this.#shown.clear();
    this.#speaking.clear();
    this.#settled.clear();
    this.#prunedToMs = -Infinity;
    this.#goToNewest();
  }

  /**
   * Adds what was said before the page was opened; a screen reader does not read it out.
   * @param {readonly ((Final & { kind: 'caption' }) | (Gap & { kind: 'gap' }))[]} items
   */
  addHistory(items) {
    if (items.length > PARAGRAPHS_MAX) this.#parts.earlier.hidden = false;
    this.#quietly(() => {
      for (const item of items.slice(-PARAGRAPHS_MAX)) {
        if (item.kind === 'gap') this.#addGap(item);
        if (item.kind === 'caption') this.#addCaption(item);
      }
    });
    this.#keepUp();
  }

  /** A caption event, partial or final. Repeated ones change nothing. @param {Caption} caption */
  add(caption) {
    if (caption.final) this.#addFinal(caption);
    else this.#showPartial(caption);
    this.#keepUp();
  }

  /**
   * A better text of an utterance whose final was shown; a screen reader does not read it out again. Without words its
   * paragraph goes.
   * @param {Final} revision
   */
  revise(revision) {
    this.#addCaption(revision);
    this.#keepUp();
  }

  /**
   * What Trunkline said, until `atMs`; words that were cut off by an interruption are told apart.
   * @param {{ utterance: string, text: string, heardText: string, interrupted: boolean, atMs: number }} spoken
   */
  addSpoken({ utterance, text, heardText, interrupted, atMs }) {
    const heard = interrupted ? heardText : text;
    const unheard = text.startsWith(heard) ? text.slice(heard.length).trim() : '';
    const { paragraph, words } = makeParagraph({ track: 'spoken', utterance: 0, text, startMs: atMs });
    words.append(make('span', 'said', heard));
    if (unheard !== '') words.append(' ', make('del', 'unheard', unheard));
    if (interrupted) words.append(' ', make('span', 'cut', '(interrupted)'));
    this.#insert(`spoken ${utterance}`, paragraph, atMs);
    this.#keepUp();
  }

  /** A stretch that has no caption. @param {Gap} gap */
  addGap(gap) {
    this.#addGap(gap);
    this.#keepUp();
  }

  /** A key that was pressed at `atMs`. @param {string} digit @param {number} atMs */
  addDigit(digit, atMs) {
    this.#insert(`key ${digit} ${atMs}`, makeNote(`Key ${digit} pressed`, atMs), atMs);
    this.#keepUp();
  }

  /** The end of the call, `durationMs` after its beginning. @param {string} words @param {number} durationMs */
  addEnd(words, durationMs) {
    this.#insert('end', makeNote(words, durationMs), durationMs);
    this.#keepUp();
  }

  /** No more will be said: what is unfinished goes. */
  stop() {
    for (const track of [...this.#speaking.keys()]) this.#stopSpeaking(track);
  }

  /** @param {Gap} gap */
  #addGap({ track, startMs, endMs, reason }) {
    const words =
      `${TRACK_NAMES.get(track) ?? track}: not captioned until ${formatTime(endMs)}, ` +
      `${GAP_REASONS.get(reason) ?? 'something went wrong'}`;
    this.#insert(`gap ${track} ${startMs}`, makeNote(words, startMs), startMs);
  }

  /** A final or a revision of one, perhaps of one that is shown. @param {Final} final */
  #addCaption(final) {
    const paragraph = this.#find(`${final.track} ${final.utterance}`);
    if (paragraph === null) this.#addFinal(final);
    else this.#replaceWords(paragraph, final);
  }

  /** @param {Final} final */
  #addFinal(final) {
    if (final.utterance >= (this.#speaking.get(final.track)?.utterance ?? Infinity)) this.#stopSpeaking(final.track);
    this.#settled.set(final.track, Math.max(final.utterance, this.#settled.get(final.track) ?? 0));
    if (final.text.trim() === '') return;
    const { paragraph, words } = makeParagraph(final);
    paragraph.dataset['version'] = String(final.version ?? 1);
    words.append(make('span', 'said', final.text));
    this.#insert(`${final.track} ${final.utterance}`, paragraph, final.startMs);
  }

  /** @param {string} key @returns {HTMLElement | null} */
  #find(key) {
    if (!this.#shown.has(key)) return null;
    const { finals } = this.#parts;
    for (let at = finals.lastElementChild; at instanceof HTMLElement; at = at.previousElementSibling)
      if (at.dataset['key'] === key) return at;
    return null;
  }

  /** Unless it is older than what is shown. @param {HTMLElement} paragraph @param {Final} final */
  #replaceWords(paragraph, { text, version = 1 }) {
    if (version <= Number(paragraph.dataset['version'] ?? 1)) return;
    paragraph.dataset['version'] = String(version);
    this.#quietly(() => {
      if (text.trim() === '') this.#remove(paragraph);
      else paragraph.querySelector('.said')?.replaceWith(make('span', 'said revised', text));
    });
  }

  /** @param {HTMLElement} paragraph */
  #remove(paragraph) {
    this.#shown.delete(paragraph.dataset['key'] ?? '');
    paragraph.remove();
  }

  /** Changes finals without a screen reader reading them out. @param {() => void} change */
  #quietly(change) {
    this.#parts.finals.setAttribute('aria-live', 'off');
    change();
    requestAnimationFrame(() => this.#parts.finals.setAttribute('aria-live', 'polite'));
  }

  /**
   * Puts `element` where its time belongs, which is nearly always the end. @param {string} key @param {HTMLElement}
   * element @param {number} startMs
   */
  #insert(key, element, startMs) {
    if (this.#shown.has(key) || startMs <= this.#prunedToMs) return;
    const { finals } = this.#parts;
    element.dataset['key'] = key;
    element.dataset['startMs'] = String(startMs);
    let before = null;
    for (
      let at = finals.lastElementChild;
      at instanceof HTMLElement && Number(at.dataset['startMs']) > startMs;
      at = at.previousElementSibling
    )
      before = at;
    finals.insertBefore(element, before);
    this.#shown.add(key);
    if (!this.#following) this.#unread += 1;
    if (this.#shown.size > PARAGRAPHS_MAX) this.#prune();
  }

  /**
   * Takes out the paragraph that starts first; the browser's scroll anchoring keeps in place what the reader looks at.
   */
  #prune() {
    const { finals, earlier } = this.#parts;
    const oldest = finals.firstElementChild;
    if (!(oldest instanceof HTMLElement)) return;
    this.#prunedToMs = Math.max(this.#prunedToMs, Number(oldest.dataset['startMs']));
    this.#shown.delete(oldest.dataset['key'] ?? '');
    oldest.remove();
    earlier.hidden = false;
  }

  /** @param {Caption} caption */
  #showPartial(caption) {
    if (caption.utterance <= (this.#settled.get(caption.track) ?? 0)) return;
    const speaking = this.#speaking.get(caption.track);
    if (speaking?.utterance === caption.utterance) {
      speaking.stable.textContent = caption.stable;
      speaking.tail.textContent = caption.tail;
      return;
    }
    this.#stopSpeaking(caption.track);
    const { paragraph, words } = makeParagraph(caption);
    const stable = make('span', 'stable', caption.stable);
    const tail = make('span', 'tail', caption.tail);
    words.append(stable, tail);
    this.#parts.pending.append(paragraph);
    this.#speaking.set(caption.track, { element: paragraph, stable, tail, utterance: caption.utterance });
  }

  /** @param {string} track */
  #stopSpeaking(track) {
    this.#speaking.get(track)?.element.remove();
    this.#speaking.delete(track);
  }

  #noteScroll() {
    const { pane } = this.#parts;
    this.#following = this.empty || pane.scrollHeight - pane.scrollTop - pane.clientHeight < END_PX;
    this.#showButton();
  }

  #goToNewest() {
    this.#following = true;
    this.#keepUp();
    if (document.activeElement === this.#parts.newest) this.#parts.pane.focus({ preventScroll: true });
    this.#showButton();
  }

  /** Before there is a caption the pane holds a text that is read from its beginning. */
  #keepUp() {
    if (this.empty) return;
    if (this.#following) this.#parts.pane.scrollTop = this.#parts.pane.scrollHeight;
    else this.#showButton();
  }

  #showButton() {
    const { newest } = this.#parts;
    if (this.#following) this.#unread = 0;
    newest.hidden = this.#following;
    newest.textContent = this.#unread === 0 ? 'Newest caption' : `${this.#unread} new below`;
  }
}
