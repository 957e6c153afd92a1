import { describe, expect, it } from 'vitest';
import type { AnswerTime } from '../../../src/flows/testing/expectations.ts';
import { type CallNews, ObservedCall } from '../../../src/flows/testing/observed-call.ts';
import { runScript, type ScriptedCaller } from '../../../src/flows/testing/script.ts';
import type { FlowTest } from '../../../src/flows/testing/test-file.ts';

const at = (step: string, verb: 'menu' | 'say' = 'menu'): CallNews => ({ type: 'step', flow: 'shop', step, verb });
const said = (text: string, heard = text): CallNews => ({ type: 'spoken', text, heard, interrupted: heard !== text });
const ended = (outcome: string): CallNews => ({ type: 'ended', outcome, reason: null });

/** A caller whose flow answers each thing that the caller does with the next of `answers`; time never passes. */
class FakeCaller implements ScriptedCaller {
  readonly observed = new ObservedCall();
  readonly did: string[] = [];
  isSpokenTo = false;
  answerMs: AnswerTime = 'untimed';
  readonly #answers: (readonly CallNews[])[];

  constructor(...answers: (readonly CallNews[])[]) {
    this.#answers = answers;
    this.#answer();
  }

  get isListenedTo(): boolean {
    return this.observed.hasAsked;
  }

  async say(text: string): Promise<void> {
    this.did.push(`say ${text}`);
    this.#answer();
  }

  async press(keys: string): Promise<void> {
    this.did.push(`press ${keys}`);
    this.#answer();
  }

  async sound(tone: string): Promise<void> {
    this.did.push(tone);
    this.#answer();
  }

  async wait(durationMs: number): Promise<void> {
    this.did.push(`wait ${durationMs}`);
    if (!this.isSpokenTo) this.#answer();
  }

  async until(holds: () => boolean): Promise<boolean> {
    return holds();
  }

  hangUp(): void {
    this.did.push('hang up');
    if (this.observed.outcome === null) this.observed.note(ended('hangup'));
    this.observed.note({ type: 'over' });
  }

  #answer(): void {
    for (const news of this.#answers.shift() ?? []) this.observed.note(news);
  }
}

/** Where the script stands in its file. */
const FIRST_LINE = 7;
const run = async (caller: FakeCaller, script: FlowTest['script'], more: Partial<FlowTest> = {}) =>
  (
    await runScript(
      { name: 'a', script, ...more },
      caller,
      script.map((_, index) => FIRST_LINE + index),
    )
  ).failures;

describe('a scripted caller', () => {
  it('passes when all comes that was expected, and hangs up', async () => {
    const caller = new FakeCaller([at('menu'), said('Welcome. Press 1.')], [at('hours', 'say'), said('Nine to five.')]);
    const script = [
      { expect: { step: 'menu', said: ['welcome', 'press 1'] } },
      { press: 1 },
      { expect: { step: 'hours', said: 'nine to five', notSaid: 'Welcome' } },
    ];
    expect(await run(caller, script, { outcome: 'hangup', steps: ['menu', 'hours'] })).toEqual([]);
    expect(caller.did).toEqual(['press 1', 'hang up']);
  });

  it('says which line failed, what was expected and what came', async () => {
    const caller = new FakeCaller([at('menu'), said('Welcome.')]);
    const [failure] = await run(caller, [{ expect: { step: 'hours', said: 'Goodbye' } }, { press: 1 }]);
    expect(failure).toBe(
      'line 7, expect {"step":"hours","said":"Goodbye"}: expected the step hours, the flow is at menu; ' +
        'expected to hear "Goodbye", heard "Welcome."',
    );
    expect(caller.did).toEqual(['hang up']);
  });

  it('does not count what was said before the caller did something, nor what was cut off', async () => {
    const caller = new FakeCaller([at('menu'), said('Welcome.')], [said('Press one or two.', 'Press one')]);
    const script = [{ say: 'hours' }, { expect: { said: 'Press one', notSaid: 'welcome' } }];
    expect(await run(caller, script)).toEqual([]);
    expect(
      await run(new FakeCaller([at('menu'), said('a')], [said('b c', 'b')]), [{ press: 1 }, { expect: { said: 'c' } }]),
    ).toEqual([expect.stringContaining('expected to hear "c", heard "b"')]);
  });

  it('speaks only while the flow listens', async () => {
    const mute = new FakeCaller([at('welcome', 'say')]);
    expect(await run(mute, [{ say: 'hello' }])).toEqual([expect.stringContaining('does not listen')]);
    const over = new FakeCaller([at('menu'), said('Bye.'), ended('done')]);
    expect(await run(over, [{ say: 'hello' }])).toEqual([expect.stringContaining('was over before that')]);
  });

  it('cuts in while the flow speaks, and only then', async () => {
    const silent = new FakeCaller([at('menu')]);
    expect(await run(silent, [{ cutIn: { press: 2 } }])).toEqual([
      expect.stringContaining('nothing that could be cut'),
    ]);
    const speaking = new FakeCaller([at('menu')], [at('repairs', 'say')]);
    speaking.isSpokenTo = true;
    expect(await run(speaking, [{ cutIn: { press: 2, afterMs: 700 } }, { expect: { step: 'repairs' } }])).toEqual([]);
    expect(speaking.did).toEqual(['wait 700', 'press 2', 'hang up']);
  });

  it('compares variables, and how the call went as a whole', async () => {
    const set: CallNews = { type: 'set', name: 'day', value: '2026-11-27' };
    const news = [at('day'), set, said('a'), at('check'), ended('done')] as const;
    const script = [{ expect: { variables: { day: '2026-11-28' } } }];
    expect(await run(new FakeCaller(news), script)).toEqual([
      expect.stringContaining('the variable day to be "2026-11-28", it is "2026-11-27"'),
    ]);
    const wholly = { outcome: 'transferred', steps: ['check', 'day'], notSteps: ['check'] } as const;
    const whole = { ...wholly, steps: [...wholly.steps], notSteps: [...wholly.notSteps] };
    expect(await run(new FakeCaller(news), [{ expect: { ended: true } }], whole)).toEqual([
      'expected the outcome transferred, it is done',
      'expected the step day after check, came to day, check',
      'expected not to come to the step check',
    ]);
  });

  it('holds an answer against the time that it may take, where that was measured', async () => {
    const caller = new FakeCaller([at('menu'), said('a')]);
    caller.answerMs = 420;
    const script = [{ expect: { answerWithinMs: 400 } }];
    expect(await run(caller, script)).toEqual([expect.stringContaining('within 400 ms, it took 420 ms')]);
    caller.answerMs = null;
    expect(await run(caller, script)).toEqual([expect.stringContaining('within 400 ms, none came')]);
    expect(await run(new FakeCaller([at('menu'), said('a')]), script)).toEqual([]);
  });
});
