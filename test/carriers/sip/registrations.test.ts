/** Several registrations at once: when all of them are said to stand. */
import { afterEach, expect, it } from 'vitest';
import { Accounts } from '../../../src/carriers/sip/accounts.ts';
import { Registrations } from '../../../src/carriers/sip/registrations.ts';
import { readTrunks } from '../../../src/carriers/sip/trunk-list.ts';
import { metricValue } from '../../calls/harness.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, SipLine } from './line.ts';

let line: SipLine;
afterEach(() => line.close());

it('do not stand while the transport of one is not open yet', async () => {
  line = new SipLine();
  const { context } = line.gateway;
  const settings = {
    ...context.settings,
    SIP_REGISTRAR: 'sip:192.0.2.7',
    SIP_USER: 'bridge',
    SIP_TRUNKS: '[{name: berlin, registrar: "sips:192.0.2.8", user: other}]',
  };
  const [first, second] = readTrunks(settings);
  if (first === undefined || second === undefined) throw new Error('expected two trunks');
  const signs: string[] = [];
  const registrations = new Registrations({
    ...context,
    settings,
    accounts: new Accounts(),
    expected: 2,
    onFailure: () => undefined,
    onSign: (trunk, sign) => void signs.push(`${trunk} ${sign}`),
  });
  const metric = (): Promise<number> => metricValue('trunkline_sip_registered', {});
  registrations.begin(first, line.stack);
  await settle();
  await line.receive(answer(line.take().at(-1) ?? '', '200 OK'));
  expect([registrations.registered, await metric()]).toEqual([false, 0]);
  registrations.begin(second, line.stack);
  await settle();
  await line.receive(answer(line.take().at(-1) ?? '', '200 OK'));
  expect([registrations.registered, await metric()]).toEqual([true, 1]);
  expect(signs).toEqual(['default answered', 'berlin answered']);
  registrations.end();
});
