/** A flow as it was gone through: its steps with their figures, and where each led. */
import { make } from '../dom.js';
import { addressOf } from '../router.js';
import { keyOf, percent } from './flow-figures.js';

/**
 * @typedef {import('./flow-figures.js').StepGroup} StepGroup
 * @typedef {import('./flow-figures.js').StepRow} StepRow
 * @typedef {import('./flow-figures.js').ExitRow} ExitRow
 * @typedef {import('./flow-figures.js').CountedStep} CountedStep
 */

const SHAPES = new Map([
  ['step', '→'],
  ['done', '■'],
  ['transferred', '⤴'],
  ['hangup', '✖'],
  ['failed', '✖'],
  ['lost', '?'],
  ['back', '↶'],
  ['repeat', '↻'],
]);
/** Callers of whom this share leaves in a step: it is worth a look. */
const MANY_LEAVE = 0.1;

/** @param {StepGroup} group @param {string} when the period that was counted */
export function showGroup({ flow, title, rows }, when) {
  const id = `flow-steps-${flow}`;
  return make(
    'section',
    { class: 'step-group', 'aria-labelledby': id },
    make('h3', { id }, title),
    make('ol', { class: 'flow-steps' }, ...rows.map((row) => showStep(row, when))),
  );
}

/** The id of the element of a step. @param {string} flow @param {string} step */
function idOf(flow, step) {
  return `step ${keyOf(flow, step)}`.replaceAll(' ', '-');
}

/** @param {StepRow} row @param {string} when */
function showStep(row, when) {
  const { flow, name, verb, says, calls, isStart, counted, share, exits } = row;
  const isReached = counted === null || counted.visits > 0;
  return make(
    'li',
    { class: 'flow-step', id: idOf(flow, name), tabindex: '-1', 'data-reached': isReached },
    make(
      'div',
      { class: 'step-head' },
      make('h4', {}, name),
      make('span', { class: 'chip' }, calls === null ? verb : `flow ${calls}`),
      isStart ? make('span', { class: 'chip', 'data-start': true }, 'start') : null,
      ...(counted === null ? [] : showReached(counted, share, when)),
    ),
    says === null ? null : make('p', { class: 'step-says' }, says),
    counted === null ? null : showFigures(counted),
    exits.length === 0 ? null : make('ul', { class: 'step-exits', 'aria-label': 'Leads to' }, ...exits.map(showExit)),
    counted === null ? null : showUnmatched(counted),
  );
}

/** @param {CountedStep} counted @param {number} share @param {string} when */
function showReached({ flow, step, calls, visits }, share, when) {
  if (visits === 0) return [make('span', { class: 'step-reached' }, 'not reached')];
  const again = visits > calls ? `, ${visits} times` : '';
  const words = `${calls} ${calls === 1 ? 'call' : 'calls'} · ${percent(share)}${again}`;
  const href = addressOf('history', { step: `${flow}/${step}`, when });
  return [make('a', { class: 'step-reached', href, title: 'The calls that reached it' }, bar(share), words)];
}

/** @param {CountedStep} counted */
function showFigures({ calls, time, matches, noMatches, noInputs, hangups, underWay }) {
  const asked = matches + noMatches + noInputs;
  const many = calls > 0 && hangups / calls >= MANY_LEAVE;
  /** @type {(HTMLElement | null)[]} */
  const parts = [
    hangups === 0
      ? null
      : make('span', { class: 'chip step-left', 'data-level': many ? 'failed' : 'slow' }, `${hangups} hung up here`),
    figure(noMatches, `not understood ${noMatches} of ${asked}`),
    figure(noInputs, `no answer ${noInputs} of ${asked}`),
    time === null ? null : make('span', {}, `half within ${seconds(time.p50Ms)}, 95 % within ${seconds(time.p95Ms)}`),
    figure(underWay, `${underWay} in it now`),
  ];
  const shown = parts.filter((part) => part !== null);
  return shown.length === 0 ? null : make('p', { class: 'step-figures' }, ...shown);
}

/** @param {number} count @param {string} words */
function figure(count, words) {
  return count === 0 ? null : make('span', {}, words);
}

/** @param {ExitRow} exit */
function showExit({ kind, words, to, why, count, share, parts }) {
  const reasons = parts.length === 0 ? why.join(' · ') : parts.join(', ');
  const target = to === null ? make('span', { class: 'exit-to' }, words) : linkTo(to, words);
  return make(
    'li',
    { 'data-kind': kind, 'data-count': count ?? '' },
    make('span', { class: 'exit-shape', 'aria-hidden': 'true' }, SHAPES.get(kind) ?? '→'),
    target,
    reasons === '' ? null : make('span', { class: 'exit-why' }, reasons),
    count === null
      ? null
      : make('span', { class: 'exit-count' }, bar(share), count === 0 ? '0' : `${count} · ${percent(share)}`),
  );
}

/** @param {{ flow: string, step: string }} to @param {string} words */
function linkTo({ flow, step }, words) {
  const go = () => {
    const target = document.getElementById(idOf(flow, step));
    target?.scrollIntoView({ block: 'center' });
    target?.focus({ preventScroll: true });
  };
  return make('button', { type: 'button', class: 'plain exit-to', onclick: go }, words);
}

/** What callers said that fit nothing, folded. @param {CountedStep} counted */
function showUnmatched({ unmatched }) {
  if (unmatched.length === 0) return null;
  return make(
    'details',
    { class: 'step-unmatched' },
    make('summary', {}, `What fit nothing (${unmatched.length})`),
    make(
      'ul',
      {},
      ...unmatched.map(({ text, kind, count }) =>
        make(
          'li',
          {},
          make('span', { class: 'times' }, `${count} ×`),
          kind === 'keys' ? make('span', {}, `keys ${text}`) : make('q', { dir: 'auto' }, text),
        ),
      ),
    ),
  );
}

/** How much of a whole, for the eye alone: a number stands beside it. @param {number} share */
function bar(share) {
  const element = make('span', { class: 'share', 'aria-hidden': 'true' });
  element.style.setProperty('--share', `${Math.round(Math.min(1, share) * 100)}%`);
  return element;
}

/** @param {number} ms */
function seconds(ms) {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}
