import { expect, it } from 'vitest';
import { CallTally } from '../../src/records/call-tally.ts';

it('a call is kept under whom it was with last', () => {
  const tally = CallTally.begin('C1', 'here', {
    carrier: 'asterisk',
    from: '6001',
    to: '610',
    names: { inbound: 'Maria', outbound: null },
    agent: null,
    queue: null,
    app: null,
    startedAt: '2026-01-01T00:00:00.000Z',
    tracks: ['inbound', 'outbound'],
    own: null,
    parameters: {},
  });
  for (const [agent, name] of [['6002', 'Tom'] as const, ['6003', 'Ann'] as const]) {
    const names = { inbound: 'Maria', outbound: name };
    tally.add({ type: 'call.assigned', callId: 'C1', agent, queue: 'support', names, atMs: 20 }, 20);
  }
  expect(tally.row()).toMatchObject({ agent: '6003', queue: 'support', inbound_name: 'Maria', outbound_name: 'Ann' });
});
