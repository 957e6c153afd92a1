/** Whether a trunk at which we do not register is there. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANSWER_TIMEOUT_MS, KEEPALIVE_MS } from '../../../src/carriers/sip/registrar-watch.ts';
import { TrunkWatch } from '../../../src/carriers/sip/trunk-watch.ts';
import { settle } from '../../fakes/clock.ts';
import { answer, headerIn, SipLine } from './line.ts';

const SERVER = { host: '192.0.2.7', port: 5060, scheme: 'sip', transport: 'UDP' } as const;
const TRUNK = { name: 'carrier', registrar: null, server: SERVER, proxy: null, user: '4711', password: 'secret' };

let line: SipLine;
let watch: TrunkWatch;
let changes: boolean[];
beforeEach(() => {
  line = new SipLine();
  changes = [];
  watch = new TrunkWatch({
    trunk: { ...TRUNK, srtp: 'off', prefixes: null },
    clock: line.gateway.clock,
    log: line.gateway.context.log,
    onChange: (isUp) => void changes.push(isUp),
  });
});
afterEach(async () => {
  watch.close();
  await line.close();
});

/** Answers the OPTIONS that was sent last. */
async function answered(status: string): Promise<void> {
  await settle();
  const options = line.take().findLast((text) => text.startsWith('OPTIONS ')) ?? '';
  await line.receive(answer(options, status));
}

const told = (text: string): number => line.gateway.logLines.filter((entry) => entry.includes(text)).length;

describe('a trunk', () => {
  it('is asked by OPTIONS at once and every 28 s, in the name of its user', async () => {
    watch.ask(line.stack);
    watch.ask(line.stack);
    await settle();
    const [options = '', ...more] = line.take();
    expect(options).toMatch(/^OPTIONS sip:192\.0\.2\.7 /);
    expect(headerIn(options, 'From')).toMatch(/^<sip:4711@198\.51\.100\.1(:5060)?>/);
    expect(more).toEqual([]);
    await line.receive(answer(options, '200 OK'));
    await line.gateway.clock.run(KEEPALIVE_MS, 1000);
    expect(line.lines()).toEqual([expect.stringMatching(/^OPTIONS /)]);
  });

  it.each(['200 OK', '404 Not Found', '401 Unauthorized', '405 Method Not Allowed'])(
    'that answers %s is up',
    async (status) => {
      watch.ask(line.stack);
      await answered(status);
      expect([watch.isDown, changes]).toEqual([false, [true]]);
    },
  );

  it('that takes no calls (503) is down until it answers otherwise', async () => {
    watch.ask(line.stack);
    await answered('503 Service Unavailable');
    expect([watch.isDown, told('a SIP trunk is down')]).toEqual([true, 1]);
    await line.gateway.clock.run(KEEPALIVE_MS, 1000);
    await answered('503 Service Unavailable');
    expect([watch.isDown, told('a SIP trunk is down')]).toEqual([true, 1]);
    await line.gateway.clock.run(KEEPALIVE_MS, 1000);
    await answered('200 OK');
    expect([watch.isDown, changes, told('there again')]).toEqual([false, [false, true], 1]);
  });

  it('that has answered and is silent is down, for as long as that lasts', async () => {
    watch.ask(line.stack);
    await answered('200 OK');
    await line.gateway.clock.run(KEEPALIVE_MS + ANSWER_TIMEOUT_MS, 1000);
    expect(watch.isDown).toBe(true);
    await line.gateway.clock.run(300_000, 5000);
    expect([watch.isDown, told('a SIP trunk is down')]).toEqual([true, 1]);
  });

  it('that never answers OPTIONS is not doubted for that, but for a call in vain, and only for a minute', async () => {
    watch.ask(line.stack);
    await line.gateway.clock.run(5 * KEEPALIVE_MS, 1000);
    expect([watch.isDown, changes, told('does not answer OPTIONS')]).toEqual([false, [], 1]);
    watch.note('silent');
    expect(watch.isDown).toBe(true);
    await line.gateway.clock.run(61_000, 1000);
    expect(watch.isDown).toBe(false);
    watch.note('answered');
    expect(changes).toEqual([false, true]);
  });
});
