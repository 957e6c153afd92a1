import { expect, it } from 'vitest';
import { checkTrunks } from '../../../src/carriers/sip/check.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';

const NONE = readSettings({});

it('says nothing of SIP trunks that are not set', () => {
  expect(checkTrunks(NONE)).toEqual([]);
});

it('says of each trunk where it registers, where calls go, and how', () => {
  const list =
    '[{name: a, registrar: "sips:pbx.example.com", user: "4711", password: s3cret, srtp: require}, ' +
    '{name: b, server: "sip:192.0.2.1:5070", proxy: "sip:edge.example.com;transport=tcp", prefixes: ["+49", "0049"]}]';
  expect(checkTrunks({ ...NONE, SIP_TRUNKS: list })).toEqual([
    {
      name: 'sip trunks',
      status: 'ok',
      detail: 'a: registers 4711 at sips:pbx.example.com, calls go to sips:pbx.example.com, SRTP require',
    },
    {
      name: 'sip trunks',
      status: 'ok',
      detail:
        'b: calls go to sip:192.0.2.1:5070, by way of sip:edge.example.com;transport=tcp, SRTP allow, ' +
        'for numbers with +49, 0049',
    },
  ]);
});

it('fails where the server would not start, without the password', () => {
  const [finding] = checkTrunks({ ...NONE, SIP_TRUNKS: '[{name: a, serfer: "sip:x", password: s3cret}]' });
  expect(finding).toMatchObject({ name: 'sip trunks', status: 'fail' });
  expect(finding?.detail).toMatch(/^SIP_TRUNKS:1:12: 0\.serfer: is unknown, did you mean server\?/);
  expect(finding?.detail).not.toContain('s3cret');
});
