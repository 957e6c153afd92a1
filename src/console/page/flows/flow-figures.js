/** Steps as they are written, and how calls went through them, as one. Pure functions. */

/**
 * As `GET /v1/flows/{name}` and its statistics say it.
 * @typedef {{ reason: string, to: string, detail: string | null }} WrittenExit
 * @typedef {{ name: string, verb: string, says: string | null, calls: string | null,
 *   exits: WrittenExit[] }} WrittenStep
 * @typedef {{ name: string, start: string, keys: Record<string, string>, steps: WrittenStep[] }} WrittenFlow
 * @typedef {{ kind: string, flow: string | null, step: string | null, reason: string | null, detail: string | null,
 *   count: number }} CountedExit
 * @typedef {{ flow: string, step: string, verb: string, calls: number, visits: number, underWay: number,
 *   exits: CountedExit[], matches: number, noMatches: number, noInputs: number,
 *   time: { p50Ms: number, p95Ms: number } | null, hangups: number,
 *   unmatched: { text: string, kind: 'keys' | 'speech', count: number }[] }} CountedStep
 * @typedef {{ calls: number, isComplete: boolean, outcomes: Record<string, number>,
 *   versions: { version: string, calls: number, last: string }[], steps: CountedStep[] }} Statistics
 *
 * A way out of a step. `to` is the step it leads to, null = the flow ends or goes back; `why` says what leads there;
 * `count` is null where nothing was counted; `parts` are the counts of its reasons, where there are several.
 * @typedef {{ kind: 'step' | 'done' | 'transferred' | 'hangup' | 'failed' | 'lost' | 'back' | 'repeat', words: string,
 *   to: { flow: string, step: string } | null, why: string[], count: number | null, share: number,
 *   parts: string[] }} ExitRow
 * @typedef {{ flow: string, name: string, verb: string, says: string | null, calls: string | null, isStart: boolean,
 *   counted: CountedStep | null, share: number, exits: ExitRow[] }} StepRow
 * @typedef {{ flow: string, title: string, rows: StepRow[] }} StepGroup
 */

/** Why a flow leaves a step, where no choice or condition says it. */
const REASONS = new Map([
  ['yes', 'yes'],
  ['no', 'no'],
  ['else', 'otherwise'],
  ['open', 'open'],
  ['closed', 'closed'],
  ['holiday', 'holiday'],
  ['noInput', 'no answer'],
  ['noMatch', 'not understood'],
  ['failed', 'failed'],
  ['fax', 'fax machine'],
  ['empty', 'nothing recorded'],
  ['timedOut', 'waited too long'],
  ['busy', 'busy'],
  ['noAnswer', 'nobody answers'],
]);

/** Ways out that are no steps. */
const ENDS = new Map([
  ['done', 'end of the flow'],
  ['transferred', 'put through'],
  ['hangup', 'hung up here'],
  ['failed', 'failed here'],
  ['lost', 'ended, nobody knows how'],
  ['back', 'the question before'],
  ['repeat', 'this step again'],
]);

/**
 * The steps of a flow and of those that it calls, with what was counted; then steps that only other versions have.
 * @param {readonly WrittenFlow[]} flows @param {Statistics | null} statistics null = nothing was counted
 * @returns {StepGroup[]}
 */
export function groupSteps(flows, statistics) {
  const counted = new Map((statistics?.steps ?? []).map((step) => [keyOf(step.flow, step.step), step]));
  const total = statistics?.calls ?? 0;
  const groups = flows.map((flow, index) => ({
    flow: flow.name,
    title: index === 0 ? 'Steps' : `Steps of ${flow.name}`,
    rows: flow.steps.map((step) => {
      const key = keyOf(flow.name, step.name);
      const found = counted.get(key) ?? null;
      counted.delete(key);
      return rowOf(flow, step, statistics === null ? null : (found ?? nothing(flow.name, step)), total);
    }),
  }));
  const others = [...counted.values()].map((step) => rowOf(null, written(step), step, total));
  return others.length === 0
    ? groups
    : [...groups, { flow: '', title: flows.length === 0 ? 'Steps' : 'Steps of other versions', rows: others }];
}

/** Names a step among those of all flows. @param {string} flow @param {string} step @returns {string} */
export function keyOf(flow, step) {
  return `${flow} ${step}`;
}

/** @param {number} share 0 to 1 @returns {string} such as `57 %`; less than a half is not nothing */
export function percent(share) {
  const value = share * 100;
  return value > 0 && value < 0.5 ? '<1 %' : `${Math.round(value)} %`;
}

/**
 * @param {WrittenFlow | null} flow @param {WrittenStep} step @param {CountedStep | null} counted
 * @param {number} total
 */
function rowOf(flow, step, counted, total) {
  const { name, verb, says, calls } = step;
  const own = flow?.name ?? counted?.flow ?? '';
  return {
    flow: own,
    name,
    verb,
    says,
    calls,
    isStart: flow?.start === name,
    counted,
    share: total === 0 ? 0 : (counted?.calls ?? 0) / total,
    exits: exitsOf(own, step, counted),
  };
}

/** @param {string} flow @param {WrittenStep} step @param {CountedStep | null} counted @returns {ExitRow[]} */
function exitsOf(flow, step, counted) {
  const rest = gather(counted?.exits ?? [], flow, step.name);
  /** @type {Map<string, ExitRow>} */
  const rows = new Map();
  for (const { reason, to, detail } of step.exits) {
    const why = detail ?? REASONS.get(reason) ?? '';
    const known = rows.get(to);
    if (known !== undefined) known.why.push(why);
    else rows.set(to, writtenExit(flow, to, why, counted === null ? null : (rest.get(to)?.count ?? 0)));
    const row = rows.get(to);
    if (row !== undefined) row.parts = rest.get(to)?.parts ?? row.parts;
    rest.delete(to);
  }
  // A step that calls a flow goes on in it.
  for (const [target, { exit, count, parts }] of rest) rows.set(target, { ...countedExit(exit, count), parts });
  const visits = counted?.visits ?? 0;
  for (const row of rows.values()) row.share = visits === 0 ? 0 : (row.count ?? 0) / visits;
  return [...rows.values()].map((row) => ({ ...row, why: [...new Set(row.why)].filter((words) => words !== '') }));
}

/**
 * What was counted, by where it led; `parts` say why, where there is more than one reason, the most frequent first.
 * @param {readonly CountedExit[]} exits @param {string} flow @param {string} step
 * @returns {Map<string, { exit: CountedExit, count: number, parts: string[] }>}
 */
function gather(exits, flow, step) {
  /** @type {Map<string, CountedExit[]>} */
  const byTarget = new Map();
  for (const exit of exits) {
    const target = targetOf(exit, flow, step);
    byTarget.set(target, [...(byTarget.get(target) ?? []), exit]);
  }
  return new Map(
    [...byTarget].map(([target, all]) => {
      const exit = /** @type {CountedExit} */ (all[0]);
      const parts = all.length === 1 ? [] : all.map((one) => `${whyOf(one)} ${one.count}`);
      return [target, { exit, count: all.reduce((sum, { count }) => sum + count, 0), parts }];
    }),
  );
}

/** @param {CountedExit} exit */
function whyOf({ reason, detail }) {
  if (reason === 'match') return detail ?? 'answered';
  if (reason === 'key') return 'a key';
  return reason === null ? 'otherwise' : (REASONS.get(reason) ?? reason);
}

/** As the target is written. @param {CountedExit} exit @param {string} flow @param {string} step */
function targetOf({ kind, flow: other, step: to }, flow, step) {
  if (kind === 'done') return 'end';
  if (kind !== 'step') return ` ${kind}`;
  if (other !== flow) return keyOf(other ?? '', to ?? '');
  return to === step ? 'repeat' : (to ?? '');
}

/** @param {string} flow @param {string} to @param {string} why @param {number | null} count @returns {ExitRow} */
function writtenExit(flow, to, why, count) {
  const kind = to === 'end' ? 'done' : to === 'back' || to === 'repeat' ? to : 'step';
  // Where a way back led, only the caller's way says; it is counted with the step that it was.
  const isCounted = to !== 'back';
  return {
    kind,
    words: ENDS.get(kind) ?? to,
    to: kind === 'step' ? { flow, step: to } : null,
    why: [why],
    count: isCounted ? count : null,
    share: 0,
    parts: [],
  };
}

/** @param {CountedExit} exit @param {number} count @returns {Omit<ExitRow, 'parts'>} */
function countedExit({ kind, flow, step }, count) {
  const known = /** @type {ExitRow['kind']} */ (kind);
  if (known !== 'step') return { kind: known, words: ENDS.get(kind) ?? kind, to: null, why: [], count, share: 0 };
  return {
    kind: known,
    words: step ?? '',
    to: { flow: flow ?? '', step: step ?? '' },
    why: ['back, or a key'],
    count,
    share: 0,
  };
}

/** A step that no call reached. @param {string} flow @param {WrittenStep} step @returns {CountedStep} */
function nothing(flow, { name, verb }) {
  const none = { calls: 0, visits: 0, underWay: 0, matches: 0, noMatches: 0, noInputs: 0, hangups: 0 };
  return { flow, step: name, verb, ...none, exits: [], time: null, unmatched: [] };
}

/** @param {CountedStep} step @returns {WrittenStep} */
function written({ step, verb }) {
  return { name: step, verb, says: null, calls: null, exits: [] };
}
