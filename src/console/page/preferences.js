/** What this browser remembers of how somebody likes to work. Nothing that is said in calls is among it. */

const PREFIX = 'trunkline.';
const THEMES = ['system', 'light', 'dark'];
/** Sizes of the text, in percent of the browser's own. */
const SIZES_PERCENT = [85, 100, 115, 130, 150];
const SIZE_USUAL = 1;

/** A browser may forbid storage, also by throwing: then things are remembered until the page is closed. */
export class Preferences {
  /** @type {Map<string, string>} */
  #here = new Map();

  /** @param {string} name @param {string} usual what counts while nothing was remembered @returns {string} */
  recall(name, usual) {
    try {
      return localStorage.getItem(PREFIX + name) ?? this.#here.get(name) ?? usual;
    } catch {
      return this.#here.get(name) ?? usual;
    }
  }

  /** @param {string} name @param {string} value */
  remember(name, value) {
    this.#here.set(name, value);
    try {
      localStorage.setItem(PREFIX + name, value);
    } catch {
      // It is remembered in #here.
    }
  }

  /** `system`, `light` or `dark`. @returns {string} */
  get theme() {
    const theme = this.recall('theme', 'system');
    return THEMES.includes(theme) ? theme : 'system';
  }

  /** The next theme in turn; returns it. @returns {string} */
  changeTheme() {
    const next = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length] ?? 'system';
    this.remember('theme', next);
    this.apply();
    return next;
  }

  /** Makes text larger or smaller; returns its size in percent. @param {1 | -1} steps @returns {number} */
  changeSize(steps) {
    const index = Math.min(Math.max(this.#sizeIndex + steps, 0), SIZES_PERCENT.length - 1);
    this.remember('size', String(index));
    this.apply();
    return SIZES_PERCENT[index] ?? 100;
  }

  get #sizeIndex() {
    const index = Number(this.recall('size', String(SIZE_USUAL)));
    return Number.isInteger(index) && index in SIZES_PERCENT ? index : SIZE_USUAL;
  }

  /** Gives the document its theme and size. */
  apply() {
    const root = document.documentElement;
    root.dataset['theme'] = this.theme;
    root.style.fontSize = `${SIZES_PERCENT[this.#sizeIndex] ?? 100}%`;
  }
}
