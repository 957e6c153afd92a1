/** Addresses of the page: which view, and what it shows. Pure functions. */

/** @typedef {'live' | 'calls' | 'history' | 'phone' | 'flows' | 'system'} ViewName */

/**
 * `params` are the words behind `?`; of a call also its `id`.
 * @typedef {{ view: ViewName, params: Readonly<Record<string, string>> }} Route
 */

const VIEWS = new Set(['live', 'history', 'phone', 'flows', 'system']);

/** @param {string} text @returns {string} as it came where it is no valid encoding */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The route of an address: `#/live`, `#/calls/<id>?at=12000`, `#/history?q=…`, `#/phone`, `#/flows?name=…`,
 * `#/system`. `#<id>` is the call with that id, as addresses were before; anything else is the live view.
 * @param {string} hash with its `#`, or empty @returns {Route}
 */
export function parseRoute(hash) {
  const text = hash.replace(/^#/, '');
  if (text !== '' && !text.startsWith('/')) return { view: 'calls', params: { id: decode(text) } };
  const [path = '', query = ''] = splitOnce(text.slice(1), '?');
  const [name = '', rest = ''] = splitOnce(path, '/');
  const params = Object.fromEntries(new URLSearchParams(query));
  if (name === 'calls' && rest !== '') return { view: 'calls', params: { ...params, id: decode(rest) } };
  return { view: /** @type {ViewName} */ (VIEWS.has(name) ? name : 'live'), params };
}

/**
 * The address of a route; parameters that are empty are left out.
 * @param {ViewName} view @param {Readonly<Record<string, string>>} [params] @returns {string} with its `#`
 */
export function addressOf(view, params = {}) {
  const { id, ...rest } = params;
  const query = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString();
  const path = view === 'calls' && id !== undefined ? `calls/${encodeURIComponent(id)}` : view;
  return `#/${path}${query === '' ? '' : `?${query}`}`;
}

/** @param {string} text @param {string} mark @returns {string[]} one or two parts */
function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}
