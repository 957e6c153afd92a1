/** Over which trunks a number is called. */
import { expect, it } from 'vitest';
import { trunksFor } from '../../../src/carriers/sip/trunk-choice.ts';
import { readTrunks, type SipTrunk } from '../../../src/carriers/sip/trunk-list.ts';

const SETTINGS = {
  SIP_PASSWORD: '',
  SIP_PORT: 5060,
  SIP_PROXY: '',
  SIP_REGISTRAR: '',
  SIP_SRTP: 'allow',
  SIP_TLS_PORT: 0,
  SIP_TRUNK: 'sip:192.0.2.1',
  SIP_USER: '',
} as const;
const TRUNKS = readTrunks({
  ...SETTINGS,
  SIP_TRUNKS: `[
    {name: world, server: "sip:192.0.2.2"},
    {name: germany, server: "sip:192.0.2.3", prefixes: ["+49", "0049"]},
    {name: berlin, server: "sip:192.0.2.4", prefixes: ["+4930"]},
    {name: pbx, server: "sip:192.0.2.5", prefixes: []},
  ]`,
});

const names = (to: string, isDown: (trunk: SipTrunk) => boolean = () => false): string[] =>
  trunksFor(to, TRUNKS, isDown).map(({ name }) => name);

it.each([
  ['+493012345', ['berlin', 'germany', 'default', 'world']],
  ['+498912345', ['germany', 'default', 'world']],
  ['004989123', ['germany', 'default', 'world']],
  ['+14155550100', ['default', 'world']],
])('the longest prefix goes first, then the order of the list (%s)', (to, expected) => {
  expect(names(to)).toEqual(expected);
});

it('a trunk that is down comes last, and is tried all the same', () => {
  expect(names('+493012345', ({ name }) => name === 'berlin' || name === 'default')).toEqual([
    'germany',
    'world',
    'berlin',
    'default',
  ]);
});

it('a prefix that is no beginning of a number stops the start', () => {
  const SIP_TRUNKS = '[{name: a, server: "sip:192.0.2.2", prefixes: ["+49 30"]}]';
  expect(() => readTrunks({ ...SETTINGS, SIP_TRUNKS })).toThrow(/prefixes.*expected the beginning of a number/);
});
