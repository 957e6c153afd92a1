/** The step `transfer`. */
import { describe, expect, it } from 'vitest';
import type { TransferOutcome, TransferRequest } from '../../../src/calls/leg.ts';
import { FlowCall } from '../run/flow-call.ts';

const flow = (fields: string) => `start: give
variables: {number: "4711"}
steps:
  give: {transfer: {${fields}}}
  sorry: {say: "sorry"}`;

/** A call whose carrier does `outcome` with it. */
async function transfer(
  fields: string,
  outcome: TransferOutcome,
): Promise<{ call: FlowCall; asked: TransferRequest[] }> {
  const asked: TransferRequest[] = [];
  const give = async (request: TransferRequest): Promise<TransferOutcome> => {
    asked.push(request);
    return outcome;
  };
  const call = await new FlowCall(flow(fields), { call: { transfer: give } }).hear();
  return { call, asked };
}

describe('a transfer', () => {
  it('that is done ends flow and call, with what is handed over', async () => {
    const { call, asked } = await transfer(
      'to: "sales/{number}", from: "{call.from}", prompt: "One moment.", timeoutMs: 9000, ' +
        'handoffData: {order: "{number}", n: 1}',
      'transferred',
    );
    const handoffData = '{"order":"4711","n":1}';
    expect(call.said).toEqual(['One moment.']);
    expect(asked).toEqual([{ to: 'sales/4711', from: '+15550100', timeoutMs: 9000, handoffData }]);
    expect([call.end, call.ends]).toEqual(['transferred in give', [{ handoffData, reason: 'app' }]]);
  });

  it('rings for 30 s where the flow does not say', async () => {
    const { asked } = await transfer('to: "6002"', 'transferred');
    expect(asked).toEqual([{ to: '6002', from: null, timeoutMs: 30_000, handoffData: null }]);
  });

  it.each(['busy', 'unanswered', 'refused', 'unsupported'] as const)(
    'that is %s leads to `failed`, and the caller stays',
    async (outcome) => {
      const { call } = await transfer('to: "6002", failed: sorry', outcome);
      expect(call.said).toEqual(['sorry']);
      expect(call.end).toBe('done in sorry');
      expect(call.logLines.join('')).toContain('the transfer failed');
    },
  );

  it.each([
    ['busy', 'they are busy'],
    ['unanswered', 'nobody is there'],
    ['refused', 'sorry'],
  ] as const)('that is %s leads where the step says it', async (outcome, said) => {
    const more = `
  engaged: {say: "they are busy"}
  nobody: {say: "nobody is there"}`;
    const give = async (): Promise<TransferOutcome> => outcome;
    const fields = 'to: "6002", failed: sorry, busy: engaged, noAnswer: nobody';
    const call = await new FlowCall(flow(fields) + more, { call: { transfer: give } }).hear();
    expect(call.said).toEqual([said]);
  });

  it('whose caller leaves meanwhile is over', async () => {
    const call = new FlowCall(flow('to: "6002", failed: sorry'), {
      call: { transfer: () => new Promise(() => undefined) },
    });
    await call.settled();
    call.app.close();
    await call.settled();
    expect([call.said, call.end]).toEqual([[], 'hangup in give']);
  });
});
