/**
 * The way of a call through its flow, in few lines: steps that follow one another without an answer are one. Without a
 * document, so that it is tested.
 */

/** @typedef {{ key: string, atMs: number, text: string }} FlowLine */

/** A line has at most so many steps; of more, the first and the last are named. */
const STEPS_NAMED = 6;

export class FlowLines {
  /** By time. @type {any[]} */
  #events = [];
  #known = new Set();

  /**
   * Takes an event of the feed, in whatever order and however often it comes. False = it changes nothing.
   * @param {any} event
   */
  add(event) {
    const name = JSON.stringify([event.type, event.flow, event.step, event.atMs, event.outcome]);
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    let at = this.#events.length;
    while (at > 0 && this.#events[at - 1].atMs > event.atMs) at -= 1;
    this.#events.splice(at, 0, event);
    return true;
  }

  /** @returns {FlowLine[]} in their order */
  read() {
    /** @type {FlowLine[]} */
    const lines = [];
    const main = this.#events.find(({ type }) => type === 'flow.started');
    /** @type {any[]} */
    let steps = [];
    const close = () => {
      if (steps.length > 0) lines.push(lineOfSteps(steps, main?.flow, lines.length === 0));
      steps = [];
    };
    for (const event of this.#events) {
      if (event.type === 'flow.step') steps.push(event);
      else if (event.type !== 'flow.started') {
        close();
        lines.push(lineOf(event));
      }
    }
    close();
    return lines;
  }
}

/** @param {any[]} steps @param {string | undefined} main @param {boolean} isFirst @returns {FlowLine} */
function lineOfSteps(steps, main, isFirst) {
  const [{ atMs, step }] = steps;
  const names = steps.map((each) =>
    each.flow === main || main === undefined ? each.step : `${each.flow}/${each.step}`,
  );
  const half = STEPS_NAMED / 2;
  const more = names.length - STEPS_NAMED;
  const shown = more <= 1 ? names : [...names.slice(0, half), `(${more} more)`, ...names.slice(-half)];
  const begin = isFirst && main !== undefined ? `Flow ${main}: ` : '';
  return { key: `flow step ${step} ${atMs}`, atMs, text: `${begin}${shown.join(' → ')}` };
}

/** @param {any} event @returns {FlowLine} */
function lineOf(event) {
  const { type, atMs, outcome } = event;
  const text = type === 'flow.input' ? describeInput(event) : describeEnd(event);
  return { key: `${type} ${outcome} ${atMs}`, atMs, text };
}

/** @param {any} event */
function describeInput({ step, kind, outcome, text, value }) {
  if (outcome === 'noInput') return `${step}: no answer`;
  if (text === null)
    return `${step}: ${outcome === 'match' ? 'a private answer' : 'a private answer that fits nothing'}`;
  const said = kind === 'keys' ? `pressed ${text}` : `“${text}”`;
  if (outcome === 'noMatch') return `${step}: ${said} fits nothing`;
  const meant =
    value === null || String(value) === text
      ? ''
      : `, understood as ${value === true ? 'yes' : value === false ? 'no' : value}`;
  return `${step}: ${said}${meant}`;
}

/** @param {any} event */
function describeEnd({ outcome, step, reason }) {
  switch (outcome) {
    case 'done':
      return 'The flow came to its end';
    case 'transferred':
      return 'The flow put the caller through';
    case 'hangup':
      return `The call ended in the step ${step}`;
    default:
      return `The flow failed in the step ${step}${why(step, reason)}`;
  }
}

/** Most reasons begin with the step. @param {string} step @param {string | null} reason */
function why(step, reason) {
  if (reason === null) return '';
  return reason.startsWith(`${step}: `) ? reason.slice(step.length) : `: ${reason}`;
}
