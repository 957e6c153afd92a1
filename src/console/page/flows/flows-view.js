/** The flows: a list with their states; one flow with its steps and how calls went through them. */
import { make, setText } from '../dom.js';
import { getJson, Refusal } from '../gateway.js';
import { boundsOf, PERIODS } from '../history/periods.js';
import { addressOf } from '../router.js';
import { groupSteps, percent } from './flow-figures.js';
import { explainNoFlows, showFlow, showProblems, showState } from './flow-list.js';
import { FlowPrompts } from './flow-prompts.js';
import { showGroup } from './flow-steps.js';

/**
 * @typedef {import('../view.js').ViewContext} ViewContext
 * @typedef {import('./flow-figures.js').Statistics} Statistics
 * @typedef {import('./flow-list.js').ListedFlow} ListedFlow
 */

/** How often the list is looked at: somebody may be writing a flow beside it. */
const LOOK_MS = 4000;
const WHENS = ['hour', 'today', 'yesterday', 'week', 'month'];
const WHEN = 'week';

/** Outcomes in the order of the figures. */
const OUTCOMES = new Map([
  ['done', 'Came to the end'],
  ['transferred', 'Put through'],
  ['hangup', 'Hung up before'],
  ['failed', 'Failed'],
  ['lost', 'End unknown'],
  ['underWay', 'Now'],
]);

export class FlowsView {
  #context;
  #params = /** @type {Readonly<Record<string, string>>} */ ({});
  #asking = new AbortController();
  #timer = 0;
  #isShown = false;
  /** What was drawn last, so that nothing moves that has not changed. */
  #shownList = '';
  #heading = make('h2', { id: 'flows-heading', tabindex: '-1', 'data-heading': true }, 'Flows');
  #back = make('a', { class: 'flows-back', href: addressOf('flows'), hidden: true }, '‹ Flows');
  #state = make('span', { class: 'flows-state' });
  #when = select(
    'flows-when',
    WHENS.map((name) => [name, PERIODS.get(name) ?? name]),
  );
  #version = select('flows-version', []);
  #calls = make('a', { class: 'button', href: '#/history' }, 'Calls');
  #choices = make(
    'div',
    { class: 'flow-choices', hidden: true },
    make('span', { class: 'flow-choice' }, make('label', { for: 'flows-when' }, 'When'), this.#when),
    make('span', { class: 'flow-choice' }, make('label', { for: 'flows-version' }, 'Version'), this.#version),
    this.#calls,
  );
  #note = make('p', { class: 'flows-note', role: 'status' });
  /** What is wrong with one flow, and how its calls ended. */
  #figures = make('div', { class: 'flows-body' });
  #prompts;
  #body = make('div', { class: 'flows-body' });
  element = make(
    'section',
    { class: 'flows', 'aria-labelledby': 'flows-heading' },
    make('header', { class: 'flows-head' }, this.#back, this.#heading, this.#state, this.#choices),
    this.#note,
    this.#figures,
    this.#body,
  );

  /** @param {ViewContext} context */
  constructor(context) {
    this.#context = context;
    this.#prompts = new FlowPrompts(context, () => this.#look());
    this.#body.before(this.#prompts.element);
    this.#when.addEventListener('change', () => this.#choose({ when: this.#when.value, version: '' }));
    this.#version.addEventListener('change', () => this.#choose({ version: this.#version.value }));
    document.addEventListener('visibilitychange', () => this.#isShown && void this.#look());
  }

  /** @param {import('../view.js').Params} params */
  show(params) {
    const isOther = params['name'] !== this.#params['name'] || !this.#isShown;
    this.#isShown = true;
    this.#params = params;
    const name = params['name'] ?? '';
    this.#context.setTitle(name === '' ? 'Flows' : `Flow ${name}`);
    this.#context.setShortcuts([
      { keys: 'r', words: 'Look again now', run: () => void this.#look() },
      ...(name === '' ? [] : [{ keys: 'Escape', words: 'Back to the flows', run: () => this.#context.go('flows') }]),
    ]);
    setText(this.#heading, name === '' ? 'Flows' : name);
    this.#back.hidden = name === '';
    this.#choices.hidden = name === '';
    if (isOther) this.#clear();
    void this.#look();
  }

  hide() {
    this.#isShown = false;
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#prompts.silence();
  }

  #clear() {
    this.#shownList = '';
    this.#figures.replaceChildren();
    this.#prompts.show([]);
    this.#body.replaceChildren();
    this.#state.replaceChildren();
    setText(this.#note, 'Loading…');
  }

  /** @param {Readonly<Record<string, string>>} changes */
  #choose(changes) {
    this.#context.go('flows', { ...this.#params, ...changes });
  }

  async #look() {
    clearTimeout(this.#timer);
    this.#asking.abort();
    const asking = new AbortController();
    this.#asking = asking;
    const name = this.#params['name'] ?? '';
    try {
      await (name === '' ? this.#loadList(asking.signal) : this.#loadFlow(name, asking.signal));
    } catch (error) {
      if (!asking.signal.aborted) this.#explain(error);
    }
    if (this.#isShown && !asking.signal.aborted && name === '' && document.visibilityState === 'visible')
      this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
  }

  /** @param {AbortSignal} signal */
  async #loadList(signal) {
    const { data } = await getJson('/v1/flows?limit=1000', signal);
    if (signal.aborted) return;
    const text = JSON.stringify(data);
    setText(this.#note, '');
    if (text === this.#shownList) return;
    this.#shownList = text;
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['flow'] : undefined;
    const list = make('ul', { class: 'flow-list', 'aria-label': 'Flows' }, ...data.map(showFlow));
    this.#body.replaceChildren(data.length === 0 ? explainNoFlows() : list);
    if (focused !== undefined) this.#linkOf(focused)?.focus({ preventScroll: true });
  }

  /** @param {string} name */
  #linkOf(name) {
    const links = /** @type {HTMLElement[]} */ ([...this.#body.querySelectorAll('[data-flow]')]);
    return links.find((link) => link.dataset['flow'] === name);
  }

  /** @param {string} name @param {AbortSignal} signal */
  async #loadFlow(name, signal) {
    const path = `/v1/flows/${encodeURIComponent(name)}`;
    this.#when.value = this.#params['when'] ?? WHEN;
    const [flow, statistics] = await Promise.all([orNull(getJson(path, signal)), this.#count(path, signal)]);
    if (signal.aborted) return;
    if (flow === null && statistics === null) {
      this.#choices.hidden = true;
      setText(this.#note, `There is no flow ${name} in FLOWS_DIR, and no call went through one.`);
      return;
    }
    this.#drawHead(name, flow, statistics);
    const scrolled = this.element.scrollTop;
    const problems = flow === null ? null : showProblems(flow);
    const outcomes = statistics === null ? null : showOutcomes(statistics);
    this.#figures.replaceChildren(...[problems, outcomes].filter((part) => part !== null));
    const flows = flow?.flows ?? [];
    this.#prompts.show(flows.map((/** @type {{ name: string }} */ each) => each.name));
    this.#body.replaceChildren(
      ...groupSteps(flows, statistics).map((group) => showGroup(group, this.#params['when'] ?? WHEN)),
    );
    this.element.scrollTop = scrolled;
  }

  /** Null = nothing is kept of calls, or none went through it. @param {string} path @param {AbortSignal} signal */
  #count(path, signal) {
    const query = new URLSearchParams();
    const { since, until } = boundsOf(this.#params['when'] ?? WHEN, new Date());
    if (since !== undefined) query.set('from', since);
    if (until !== undefined) query.set('to', until);
    const version = this.#params['version'] ?? '';
    if (version !== '') query.set('version', version);
    return orNull(getJson(`${path}/statistics?${query}`, signal));
  }

  /** @param {string} name @param {ListedFlow | null} flow @param {Statistics | null} statistics */
  #drawHead(name, flow, statistics) {
    const version = this.#params['version'] ?? '';
    const options = (statistics?.versions ?? []).map(({ version: used, calls }) => {
      const now = used === flow?.version ? ', in use' : '';
      return /** @type {[string, string]} */ ([used, `${used} (${calls}${now})`]);
    });
    if (version !== '' && options.every(([used]) => used !== version)) options.push([version, version]);
    this.#version.replaceChildren(...optionsOf([['', 'All'], ...options]));
    this.#version.value = version;
    this.#choices.hidden = statistics === null;
    this.#state.replaceChildren(flow === null ? 'its file is gone' : showState(flow));
    this.#calls.href = addressOf('history', { flow: name, when: this.#params['when'] ?? WHEN });
    setText(this.#note, describeCount(flow, statistics));
  }

  /** @param {unknown} error */
  #explain(error) {
    if (!(error instanceof Refusal) || error.status !== 403) {
      this.#context.fail(error);
      return;
    }
    this.#choices.hidden = true;
    setText(this.#note, 'Flows are for supervisors and admins.');
  }
}

/** Null = there is none. @param {Promise<any>} answer */
async function orNull(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal && (error.status === 404 || error.status === 501)) return null;
    throw error;
  }
}

/** @param {ListedFlow | null} flow @param {Statistics | null} statistics */
function describeCount(flow, statistics) {
  const about = flow?.about ?? '';
  if (statistics === null)
    return [about, 'Nothing is kept of calls, so nothing is counted (DATA_DIR).'].join(' ').trim();
  if (!statistics.isComplete) return `${about} Counted are the latest ${statistics.calls} calls.`.trim();
  return about;
}

/** @param {Statistics} statistics */
function showOutcomes({ calls, outcomes }) {
  if (calls === 0)
    return make(
      'p',
      { class: 'flows-none' },
      'No call went through it in this time. Choose another one, or call it from ',
      make('a', { href: addressOf('phone') }, 'Phone'),
      '.',
    );
  const shown = [...OUTCOMES].filter(([name]) => (outcomes[name] ?? 0) > 0);
  return make(
    'dl',
    { class: 'flow-outcomes' },
    make('div', {}, make('dt', {}, 'Calls'), make('dd', {}, String(calls))),
    ...shown.map(([name, words]) => {
      const count = outcomes[name] ?? 0;
      const share = name === 'underWay' ? null : make('small', {}, ` ${percent(count / calls)}`);
      return make('div', { 'data-outcome': name }, make('dt', {}, words), make('dd', {}, String(count), share));
    }),
  );
}

/** @param {string} id @param {readonly (readonly [string, string])[]} options */
function select(id, options) {
  return make('select', { id }, ...optionsOf(options));
}

/** @param {readonly (readonly [string, string])[]} options */
function optionsOf(options) {
  return options.map(([value, words]) => make('option', { value }, words));
}
