/** The sound of a recorded call, in step with what was said. */
import { make } from '../dom.js';
import { callPath } from '../gateway.js';

export class SoundBar {
  #audio = make('audio', { controls: true, preload: 'metadata', 'aria-label': 'Sound of the call' });
  #problem = make('span', { class: 'hint', role: 'status' });
  element = make('div', { class: 'sound', hidden: true }, this.#audio, this.#problem);
  #id = '';

  /** @param {(ms: number) => void} onTime called while it plays, with the time of the call */
  constructor(onTime) {
    this.#audio.addEventListener('timeupdate', () => onTime(this.#audio.currentTime * 1000));
    this.#audio.addEventListener('error', () => {
      this.#problem.textContent = 'The sound cannot be played.';
    });
  }

  /** @param {string} id @param {boolean} hasSound */
  show(id, hasSound) {
    this.element.hidden = !hasSound;
    if (!hasSound || id === this.#id) return;
    this.#id = id;
    this.#problem.textContent = '';
    this.#audio.src = `${callPath(id)}/sound`;
  }

  get isShown() {
    return !this.element.hidden;
  }

  /** @param {number} ms of the call */
  seek(ms) {
    this.#audio.currentTime = ms / 1000;
  }

  toggle() {
    if (this.#audio.paused) void this.#audio.play().catch(() => undefined);
    else this.#audio.pause();
  }

  stop() {
    this.#audio.pause();
  }
}
