/** Apps, whether they can be reached, and a button that tries the one of the settings. */
import { make, setText } from '../dom.js';
import { postJson } from '../gateway.js';
import { panel, region, state } from './panel.js';
import { countOf, formatAgo, serverTime } from './words.js';

export class Apps {
  #context;
  #list = region('ul', 'apps', (apps) =>
    apps.length === 0
      ? [make('li', { class: 'quiet' }, 'None is set: calls without a flow are captioned only. APP_URL names one.')]
      : apps.map(showApp),
  );
  #button = make('button', { type: 'button' }, 'Test the app');
  #answer = make('p', { class: 'panel-note', role: 'status' });
  element = panel('apps', 'App', this.#list.element, this.#button, this.#answer);

  /** @param {import('../view.js').ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#button.addEventListener('click', () => void this.#test());
  }

  /** @param {any} system */
  show({ apps, ...system }) {
    const now = serverTime(system);
    this.#list.show(apps.map((/** @type {any} */ app) => describeApp(app, now)));
    this.#button.hidden = !apps.some((/** @type {any} */ { isOwn }) => isOwn);
  }

  async #test() {
    this.#button.disabled = true;
    setText(this.#answer, 'Trying…');
    try {
      const { reachable, detail, tookMs } = await postJson('/v1/system/app-test');
      setText(this.#answer, `${reachable ? 'Reached' : 'Not reached'} after ${tookMs} ms: ${detail}.`);
    } catch (error) {
      setText(this.#answer, '');
      this.#context.fail(error);
    }
    this.#button.disabled = false;
    this.#button.focus();
  }
}

/** @param {any} app @param {Date} now @returns {{ address: string, level: 'ok' | 'fail' | 'none', words: string }} */
function describeApp({ app: address, reachedAt, trouble }, now) {
  if (trouble !== null) {
    const { reason, count, since } = trouble;
    return { address, level: 'fail', words: `${reason}, ${countOf(count, 'time')}, first ${formatAgo(since, now)}` };
  }
  if (reachedAt === null) return { address, level: 'none', words: 'not tried since the start' };
  return { address, level: 'ok', words: `reached ${formatAgo(reachedAt, now)}` };
}

/** @param {ReturnType<typeof describeApp>} app */
function showApp({ address, level, words }) {
  return make('li', {}, make('code', {}, address), state(level, words));
}
