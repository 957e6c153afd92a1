/** What the parts of the system view are built of. */
import { make } from '../dom.js';

/** @typedef {import('../dom.js').Child} Child */

/** A titled part of the view. @param {string} id @param {string} title @param {...Child} children */
export function panel(id, title, ...children) {
  return make(
    'section',
    { class: 'panel', id: `system-${id}`, 'aria-labelledby': `system-${id}-title` },
    make('h3', { id: `system-${id}-title` }, title),
    ...children,
  );
}

/**
 * An element whose content is made of data, again only when the data differ. Nothing in it takes the focus, so it may
 * be drawn at any time.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {string} className @param {(data: any) => Child[]} makeContent
 * @returns {{ element: HTMLElementTagNameMap[T], show: (data: unknown) => void }}
 */
export function region(tag, className, makeContent) {
  const element = make(tag, { class: className });
  let shown = '';
  return {
    element,
    show: (data) => {
      const text = JSON.stringify(data);
      if (text === shown) return;
      shown = text;
      element.replaceChildren(...makeContent(data).filter((child) => child !== null));
    },
  };
}

/** A shape, a colour and words. @param {'ok' | 'warn' | 'fail' | 'none'} level @param {string} words */
export function state(level, words) {
  return make('span', { class: 'health', 'data-level': level }, words);
}
