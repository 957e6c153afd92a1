/**
 * The phone: a call from this browser, worked with mouse, finger or keyboard. What is said in it appears as in any
 * call.
 */
import { make, part, setText } from './dom.js';
import { callPath, KeyWanted, NoAnswer, postJson } from './gateway.js';
import { GivenUp, PhoneLine } from './phone-line.js';

/** @typedef {'idle' | 'asking' | 'connecting' | 'live'} PhoneState */

/** @type {Record<PhoneState, string>} */
const WORDS = {
  idle: 'Talk to Trunkline with your microphone.',
  asking: 'Waiting for the microphone. Your browser may ask whether this page may use it.',
  connecting: 'Connecting…',
  live: 'In a call.',
};

const DIGIT = /^[0-9*#]$/;
/** The meter shows levels from this below full scale. */
const METER_RANGE_DB = 60;
/** How far the meter falls with each frame: slower than the voice, or it could not be read. */
const METER_FALL = 0.04;

/** @param {number} rms 0 to 1 @returns {number} what the meter shows of it */
function toMeter(rms) {
  return rms === 0 ? 0 : Math.min(1, Math.max(0, 1 + (20 * Math.log10(rms)) / METER_RANGE_DB));
}

/** @param {unknown} error @returns {string} */
function explain(error) {
  if (error instanceof NoAnswer) return 'The server does not answer. Try again in a moment.';
  return error instanceof Error ? error.message : String(error);
}

export class Phone {
  #section = part('phone');
  #meter = /** @type {HTMLMeterElement} */ (part('phone-level'));
  #text = /** @type {HTMLInputElement} */ (part('phone-text'));
  /** @type {PhoneLine | null} */
  #line = null;
  #callId = '';
  #muted = false;
  #flow = /** @type {HTMLSelectElement} */ (part('phone-flow'));
  #hasFlows = false;
  /** @type {(callId: string) => void} */
  #onLive;
  /** @type {(error: KeyWanted) => void} */
  #onKeyWanted;

  /**
   * @param {{ onLive(callId: string): void, onKeyWanted(error: KeyWanted): void }} page what the page does about this
   * call, and about a missing key
   */
  constructor({ onLive, onKeyWanted }) {
    this.#onLive = onLive;
    this.#onKeyWanted = onKeyWanted;
    part('phone-call').addEventListener('click', () => void this.#call());
    part('phone-hangup').addEventListener('click', () => this.hangUp());
    part('phone-mute').addEventListener('click', () => this.#mute(!this.#muted));
    part('phone-keys').addEventListener('click', () => this.#showKeypad(part('keypad').hidden !== false));
    part('keypad').addEventListener('click', ({ target }) =>
      this.#press(target instanceof HTMLElement ? (target.dataset['digit'] ?? '') : ''),
    );
    part('phone-say').addEventListener('submit', (event) => {
      event.preventDefault();
      void this.#say();
    });
    this.#section.addEventListener('keydown', (event) => this.#pressKey(event));
    addEventListener('keydown', (event) => this.#closeKeypad(event));
    addEventListener('pagehide', () => this.hangUp());
    this.#show('idle');
  }

  /**
   * Offers flows that may talk to whoever calls; none = there is nothing to choose.
   * @param {readonly string[]} names
   */
  offerFlows(names) {
    const chosen = this.#flow.value;
    const usual = make('option', { value: '' }, 'as the server is set up');
    this.#flow.replaceChildren(usual, ...names.map((name) => make('option', { value: name }, name)));
    this.#flow.value = names.includes(chosen) ? chosen : '';
    this.#hasFlows = names.length > 0;
    this.#showFlows();
  }

  #showFlows() {
    part('phone-flow-field').hidden = !this.#hasFlows || this.#line !== null;
  }

  /** What became of the last call need not be told any more. */
  forget() {
    this.#section.dataset['told'] = 'false';
  }

  /** Ends the call, if there is one. */
  hangUp() {
    if (this.#line === null) return;
    this.#line.hangUp();
    this.#finish('You hung up.');
  }

  async #call() {
    if (this.#line !== null) return;
    const line = new PhoneLine({
      onConnecting: () => this.#show('connecting'),
      onLive: (callId) => this.#begin(callId),
      onLevel: (rms) => {
        this.#meter.value = Math.max(toMeter(rms), this.#meter.value - METER_FALL);
      },
      onSpeaking: (speaking) => this.#showSpeaking(speaking),
      onEnded: (words) => this.#finish(words),
    });
    this.#line = line;
    this.#report('');
    this.#show('asking');
    this.#section.focus({ preventScroll: true });
    try {
      await line.dial(this.#hasFlows ? this.#flow.value : '');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    if (error instanceof GivenUp) return;
    this.#finish('');
    if (error instanceof KeyWanted) this.#onKeyWanted(error);
    else this.#report(explain(error));
  }

  /** @param {string} callId */
  #begin(callId) {
    this.#callId = callId;
    document.body.dataset['phoneCall'] = callId;
    this.#show('live');
    this.#onLive(callId);
  }

  /** @param {string} words why it is over; empty = something else says so */
  #finish(words) {
    this.#line = null;
    document.body.dataset['phoneCall'] = '';
    this.#mute(false);
    this.#showKeypad(false);
    this.#showSpeaking(false);
    this.#meter.value = 0;
    const hadFocus = this.#section.contains(document.activeElement);
    this.#show('idle');
    this.#section.dataset['told'] = 'true';
    if (words !== '') setText(part('phone-state'), words);
    if (hadFocus) part('phone-call').focus({ preventScroll: true });
  }

  /** @param {PhoneState} state */
  #show(state) {
    this.#section.dataset['state'] = state;
    setText(part('phone-state'), WORDS[state]);
    this.#showFlows();
    part('phone-call').hidden = state !== 'idle';
    part('phone-hangup').hidden = state === 'idle';
    setText(part('phone-hangup'), state === 'live' ? 'Hang up' : 'Cancel');
    for (const id of ['phone-sound', 'phone-mute', 'phone-keys', 'phone-say']) part(id).hidden = state !== 'live';
  }

  /** @param {string} problem empty = none */
  #report(problem) {
    setText(part('phone-problem'), problem);
    part('phone-problem').hidden = problem === '';
  }

  /** @param {boolean} speaking */
  #showSpeaking(speaking) {
    this.#section.dataset['speaking'] = String(speaking);
    part('phone-speaking').hidden = !speaking;
  }

  /** @param {boolean} muted */
  #mute(muted) {
    this.#muted = muted;
    this.#line?.mute(muted);
    part('phone-mute').setAttribute('aria-pressed', String(muted));
  }

  /** @param {boolean} shown */
  #showKeypad(shown) {
    part('keypad').hidden = !shown;
    document.body.dataset['keypad'] = String(shown);
    part('phone-keys').setAttribute('aria-expanded', String(shown));
  }

  /**
   * Esc, wherever the focus is; it goes back to the button that opens the keypad if it was in there. @param
   * {KeyboardEvent} event
   */
  #closeKeypad(event) {
    const keypad = part('keypad');
    if (event.key !== 'Escape' || event.isComposing || keypad.hidden) return;
    event.preventDefault();
    const hadFocus = keypad.contains(document.activeElement);
    this.#showKeypad(false);
    if (hadFocus) part('phone-keys').focus({ preventScroll: true });
  }

  /**
   * Digits typed while the phone has the focus are keys of the keypad, except in its text. @param {KeyboardEvent} event
   */
  #pressKey(event) {
    if (event.target === this.#text || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    this.#press(event.key);
  }

  /** @param {string} digit */
  #press(digit) {
    if (DIGIT.test(digit)) this.#line?.press(digit);
  }

  async #say() {
    const text = this.#text.value.trim();
    if (text === '') return;
    this.#text.value = '';
    this.#report('');
    try {
      await postJson(`${callPath(this.#callId)}/say`, { text });
    } catch (error) {
      if (error instanceof KeyWanted) this.#onKeyWanted(error);
      else this.#report(explain(error));
      if (this.#text.value === '') this.#text.value = text;
    }
  }
}
