/**
 * What a view of the page is, and what it gets. A view is a class in a folder of its own (`page/<view>/`), with a style
 * sheet of its own; page.js makes it once and gives it to the shell.
 *
 * - `element` holds all that the view shows. The shell puts it into `<main>`, and shows one view at a time.
 * - `show(params)` is called when the address leads to the view, and again whenever the address changes inside it.
 *   `params` are the words behind `?` in the address, of a call also its `id`. It may be called with the same params.
 * - `hide()` is called when another view is shown: timers and requests that only this view needs end there.
 * - An element with `data-heading` takes the focus when the view is opened from another one, unless the view has
 *   taken it itself. Give it `tabindex="-1"`.
 * - Rules of its style sheet begin with the view's own class; buttons, fields and chips are those of page.css. `:has()`
 *   at the body is slow: put a data attribute there.
 * - Whatever a call says enters the document as text: build with `make()` of dom.js, never with markup.
 */

/**
 * @typedef {import('./router.js').ViewName} ViewName
 * @typedef {Readonly<Record<string, string>>} Params
 *
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {(params: Params) => void} show
 * @property {() => void} hide
 */

/**
 * A key that works while the view is shown and nobody types. `keys` is `KeyboardEvent.key` (`/`, `n`, `Escape`);
 * `words` explain it in the help.
 * @typedef {{ keys: string, words: string, run: (event: KeyboardEvent) => void }} Shortcut
 */

/**
 * What views share; page.js makes it.
 *
 * @typedef {object} ViewContext
 * @property {import('./call-store.js').CallStore} store the calls of now and of the last minutes, kept up by the feed
 * @property {import('./feed.js').SharedFeed} feed the one caption feed
 * @property {import('./session.js').Session} session who works here, and what they may do
 * @property {import('./preferences.js').Preferences} preferences what this browser remembers
 * @property {(words: string, kind?: 'done' | 'problem') => void} toast tells for some seconds what was done or failed
 * @property {(error: unknown) => void} fail deals with an error of gateway.js: asks for the key, tells that nobody
 *   answers, or shows the server's own words
 * @property {(view: ViewName, params?: Params) => void} go opens an address, as a link does
 * @property {(view: ViewName, params?: Params) => void} stay changes the address without a new entry in the history of
 *   the browser and without calling `show`: for filters while somebody types
 * @property {() => import('./router.js').Route} origin the list from which a call was opened, as it was
 * @property {(title: string) => void} setTitle the title of the document, while the view is shown
 * @property {(shortcuts: readonly Shortcut[]) => void} setShortcuts the view's keys, to be set in `show`
 */

/** The names of the views that have a tab. @type {readonly ViewName[]} */
export const TABS = ['live', 'history', 'phone', 'flows', 'system'];
