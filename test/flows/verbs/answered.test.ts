/** Flows that call somebody: who has answered, and messages for machines; and flows that a fax machine calls. */
import { describe, expect, it } from 'vitest';
import { FlowCall, flowOf } from '../run/flow-call.ts';

const FLOW = `start: who
failedPrompt: "gone wrong"
steps:
  who:
    branch:
      when:
        - {if: {variable: answered.by, is: person}, next: greet}
        - {if: {variable: answered.by, is: machine}, next: leave}
        - {if: {variable: answered.by, is: fax}, next: bye}
      else: other
  greet: {say: "good morning, {answered.by}"}
  leave: {leaveMessage: "please call us"}
  bye: {say: "a fax"}
  other: {say: "anybody there"}`;

/** A flow whose call is being answered. */
async function call(flow = FLOW): Promise<FlowCall> {
  const made = new FlowCall(flow);
  made.answer.isAwaited = true;
  return made.settled();
}

describe('a branch on answered.by', () => {
  it('waits until it is known', async () => {
    const made = await call();
    await made.wait(3000);
    expect([made.steps, made.said]).toEqual([['who'], []]);
    made.answer.tell({ type: 'answered', by: 'person' });
    await made.hear();
    expect([made.steps, made.said]).toEqual([['who', 'greet'], [expect.stringMatching(/good morning, +person/)]]);
  });

  it.each([
    ['fax', 'a fax'],
    ['unknown', 'anybody there'],
  ] as const)('knows %s', async (by, said) => {
    const made = await call();
    made.answer.tell({ type: 'answered', by });
    expect((await made.hear()).said).toEqual([said]);
  });

  it('does not wait in calls that others make', async () => {
    expect((await new FlowCall(FLOW).hear()).said).toEqual(['anybody there']);
  });

  it('ends with its call', async () => {
    const made = await call();
    made.app.close();
    made.answer.tell({ type: 'answered', by: 'person' });
    await made.settled();
    expect([made.steps, made.end, made.failures]).toEqual([['who'], 'hangup in who', []]);
  });
});

describe('a message for a machine', () => {
  it('is said when the machine records, and nothing that it says cuts it off', async () => {
    const made = await call();
    made.answer.tell({ type: 'answered', by: 'machine' });
    await made.wait(5000);
    expect([made.steps, made.said]).toEqual([['who', 'leave'], []]);
    made.answer.tell({ type: 'beep', heard: true });
    await made.settled();
    expect(made.said).toEqual(['please call us']);
    expect(made.voice.asked.at(-1)?.options.interruptible).toBe('none');
    expect((await made.hear()).end).toBe('done in leave');
  });

  it('is said at once where the machine records already, and to people', async () => {
    for (const by of ['machine', 'person'] as const) {
      const made = new FlowCall('start: leave\nsteps:\n  leave: {leaveMessage: "call us"}');
      made.answer.by = by;
      made.answer.isListening = by === 'machine';
      expect((await made.settled()).said).toEqual(['call us']);
    }
  });

  it('waits to know who answers', async () => {
    const made = await call('start: leave\nsteps:\n  leave: {leaveMessage: "call us"}');
    await made.wait(1000);
    expect(made.said).toEqual([]);
    made.answer.tell({ type: 'answered', by: 'unknown' });
    expect((await made.settled()).said).toEqual(['call us']);
  });

  it.each([
    ['fails', '', 'failed in leave'],
    ['goes on at `failed`', ', failed: sorry', 'done in sorry'],
  ])('%s where the greeting does not end', async (_, failed, end) => {
    const made = await call(
      `start: leave
steps:
  leave: {leaveMessage: {prompt: "call us", timeoutMs: 9000${failed}}}
  sorry: {say: "never mind"}`,
    );
    made.answer.tell({ type: 'answered', by: 'machine' });
    await made.wait(8900);
    expect(made.end).toBeNull();
    await made.wait(200);
    expect((await made.hear()).end).toBe(end);
    expect(made.said).not.toContain('call us');
  });
});

describe('a fax machine', () => {
  const SHOP = (more: string) => `start: menu
${more}
steps:
  menu: {menu: {prompt: "press one", choices: {one: {key: '1', next: bye}}}}
  receive: {transfer: "8000"}
  bye: {say: "bye"}`;

  it('leads wherever the flow says, whatever it is doing', async () => {
    const made = await new FlowCall(SHOP('fax: receive'), { call: { transfer: async () => 'transferred' } }).settled();
    expect(made.said).toEqual(['press one']);
    made.answer.tell({ type: 'fax', tone: 'cng' });
    await made.hear();
    expect([made.steps, made.end]).toEqual([['menu', 'receive'], 'transferred in receive']);
    expect(made.news).toContainEqual(expect.objectContaining({ type: 'flow.step', step: 'receive', by: 'fax' }));
  });

  it('that answers leads there too, and not where the branch does that waits for it', async () => {
    const made = await call(FLOW.replace('steps:', 'fax: other\nsteps:'));
    made.answer.tell({ type: 'fax', tone: 'ced' });
    made.answer.tell({ type: 'answered', by: 'fax' });
    expect((await made.hear()).said).toEqual(['anybody there']);
  });

  it('is led nowhere that is not there', () => {
    expect(() => flowOf(SHOP('fax: nowhere'))).toThrow('there is no step nowhere');
  });

  it('is passed over where no flow says anything of it', async () => {
    const made = await new FlowCall(SHOP('')).settled();
    made.answer.tell({ type: 'fax', tone: 'cng' });
    await made.hear();
    expect(made.steps).toEqual(['menu']);
  });

  it('leads out of a flow that was called', async () => {
    const made = await new FlowCall(`start: sub\nfax: bye\nsteps:\n  sub: {flow: other}\n  bye: {say: "bye"}`, {
      others: { other: SHOP('') },
    }).settled();
    made.answer.tell({ type: 'fax', tone: 'cng' });
    await made.hear();
    expect([made.said.at(-1), made.end]).toEqual(['bye', 'done in bye']);
  });
});
