/** Settings of SIP that contradict each other. */
import { expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';

const TLS = { SIP_TLS_PORT: '5061', SIP_TLS_CERT: 'cert.pem', SIP_TLS_KEY: 'key.pem' };

it.each<[string, Record<string, string>]>([
  ['SIP_PORT', { SIP_PROXY: 'sip:pbx', ...TLS }],
  ['SIP_TLS_PORT', { SIP_TRUNK: 'sips:pbx' }],
  ['SIP_TRUNKS', { SIP_TRUNKS: '[]' }],
  ['SIP_TLS_CERT', { SIP_TLS_PORT: '5061' }],
  ['SIP_TLS_KEY', { SIP_TLS_CERT: 'cert.pem' }],
  ['SIP_TLS_CA', { SIP_TLS_CLIENTS: 'verified' }],
  ['SIP_TLS_PORT', { SIP_PORT: '5061', ...TLS }],
])('%s is told to be wrong in %s', (name, environment) => {
  expect(() => readSettings(environment)).toThrow(name);
});

it.each<[Record<string, string>]>([
  [{ ...TLS }],
  [{ ...TLS, SIP_TRUNK: 'sips:pbx.example.com' }],
  [{ ...TLS, SIP_REGISTRAR: 'sip:pbx.example.com;transport=tls', SIP_USER: 'trunkline' }],
  [{ SIP_PORT: '5060', SIP_TRUNK: 'sip:pbx.example.com;transport=tls' }],
])('%s is as it may be', (environment) => {
  expect(() => readSettings(environment)).not.toThrow();
});
