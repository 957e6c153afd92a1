import { IncomingResponseMessage, URI } from 'sip.js/lib/core/index.js';
import { expect, it } from 'vitest';
import { grantedIn } from '../../../src/carriers/sip/granted-time.ts';
import { parseSip } from '../../../src/carriers/sip/parser.ts';
import { answer, request } from './line.ts';

it.each([
  ['that is ours without a port, as where nobody can connect to us', '<sip:bridge@192.0.2.1;transport=tls>', 500],
  ['that has a port', '<sip:bridge@192.0.2.1:5061;transport=tls>', 60],
  ['of a longer address', '<sip:bridge@192.0.2.10;transport=tls>', 60],
])('the time of a contact %s', (_, contact, grantedS) => {
  const contacts = `Contact: <sip:bridge@192.0.2.50:5060>;expires=30, ${contact};expires=500`;
  const message = parseSip(answer(request('REGISTER'), '200 OK', [contacts]));
  if (!(message instanceof IncomingResponseMessage)) throw new Error('no answer');
  expect(grantedIn(message, new URI('sip', 'bridge', '192.0.2.1', undefined, { transport: 'tls' }), 600)).toBe(
    grantedS,
  );
});
