/** The flows: whether calls can use them, what is wrong with their files, how many calls there were. */
import { make } from '../dom.js';
import { addressOf } from '../router.js';

/**
 * @typedef {{ line: number, column: number, message: string }} Problem
 * @typedef {{ name: string, file: string, about: string, state: 'used' | 'kept' | 'refused', version: string | null,
 *   since: string | null, refusedSince: string | null, errors: Problem[], warnings: Problem[],
 *   calls: { count: number, isMore: boolean, last: string | null } | null }} ListedFlow
 */

const STATES = /** @type {const} */ ({
  used: ['ok', 'in use'],
  kept: ['slow', 'the version before stays'],
  refused: ['failed', 'cannot be used'],
});

const EXAMPLE = `version: 1
start: welcome
failed: person
steps:
  welcome:
    menu:
      prompt: For our hours, press 1. For a person, press 2.
      choices:
        hours: { key: '1', say: [hours, open], next: hours }
        person: { key: '2', say: [a person, somebody], next: person }
  hours:
    say: We are open from 9 to 5, Monday to Friday.
  person:
    transfer: { to: '+15550100' }`;

/** Whether calls can use it: a shape, a colour and words. @param {Pick<ListedFlow, 'state'>} flow */
export function showState({ state }) {
  const [level, words] = STATES[state];
  return make('span', { class: 'chip', 'data-level': level }, words);
}

/** @param {ListedFlow} flow */
export function showFlow(flow) {
  const { name, about, version, calls } = flow;
  const used = calls === null ? '' : describeCalls(calls);
  return make(
    'li',
    { class: 'flow-row' },
    make(
      'div',
      { class: 'flow-line' },
      make('a', { href: addressOf('flows', { name }), 'data-flow': name }, name),
      showState(flow),
      version === null ? null : make('code', { class: 'flow-version' }, version),
      used === '' ? null : make('span', { class: 'flow-calls' }, used),
    ),
    about === '' ? null : make('p', { class: 'flow-about' }, about),
    showProblems(flow),
  );
}

/**
 * What is wrong with a file, as editors find it: file:line:column. Null = nothing.
 * @param {Pick<ListedFlow, 'file' | 'errors' | 'warnings'>} flow
 */
export function showProblems({ file, errors, warnings }) {
  if (errors.length + warnings.length === 0) return null;
  const show =
    (/** @type {string} */ kind) =>
    (/** @type {Problem} */ { line, column, message }) =>
      make('li', { 'data-kind': kind }, make('code', {}, `${file}:${line}:${column}`), ' ', message);
  return make('ul', { class: 'flow-problems' }, ...errors.map(show('error')), ...warnings.map(show('warning')));
}

/** What to do where there are none. */
export function explainNoFlows() {
  return make(
    'div',
    { class: 'hint' },
    make('p', {}, make('strong', {}, 'No flows yet.')),
    make('p', {}, 'A flow says what callers hear and what they may answer. It is a file, and needs no program.'),
    make('p', {}, 'Write this to ', make('code', {}, 'flows/shop.yaml'), ':'),
    make('pre', { tabindex: '0', 'aria-label': 'A first flow' }, EXAMPLE),
    make('p', {}, 'Then check it, try it in the terminal, and start the server with it:'),
    make(
      'pre',
      { tabindex: '0', 'aria-label': 'Commands' },
      'trunkline flow check flows\ntrunkline flow call flows/shop.yaml\nFLOWS_DIR=flows trunkline serve',
    ),
    make('p', {}, 'Call it from ', make('a', { href: addressOf('phone') }, 'the phone of this page'), '.'),
  );
}

/** @param {{ count: number, isMore: boolean, last: string | null }} calls */
function describeCalls({ count, isMore, last }) {
  if (count === 0) return last === null ? 'no call yet' : 'no call in 7 days';
  return `${count}${isMore ? ' or more' : ''} ${count === 1 ? 'call' : 'calls'} in 7 days`;
}
