import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { findTypos } from '../../../src/foundation/settings/setting-typos.ts';

function meaningOf(name: string): string | undefined {
  return findTypos({ [name]: 'value' })[0]?.meant;
}

describe('a typo in the name of a setting', () => {
  it.each([
    ['PROT', 'PORT'],
    ['POTR', 'PORT'],
    ['PORTT', 'PORT'],
    ['HSOT', 'HOST'],
    ['port', 'PORT'],
    ['Host', 'HOST'],
    ['APP_ULR', 'APP_URL'],
    ['APPURL', 'APP_URL'],
    ['APIKEYS', 'API_KEYS'],
    ['API_KEYSS', 'API_KEYS'],
    ['API_KYES', 'API_KEYS'],
    ['SPI_PORT', 'SIP_PORT'],
    ['SIP_PORTS', 'SIP_PORT'],
    ['MAX_CALL', 'MAX_CALLS'],
    ['max_calls', 'MAX_CALLS'],
    ['LOG_LEVL', 'LOG_LEVEL'],
    ['LOG-LEVEL', 'LOG_LEVEL'],
    ['TWILIO_AUTH_TOKN', 'TWILIO_AUTH_TOKEN'],
    ['TWILO_AUTH_TOKN', 'TWILIO_AUTH_TOKEN'],
    ['PUBLI_CURL', 'PUBLIC_URL'],
    ['ASTERISK_PASWORT', 'ASTERISK_PASSWORD'],
    ['ENGINE_WORKER', 'ENGINE_WORKERS'],
    ['API_KEY', 'API_KEYS'],
    ['APIKEY', 'API_KEYS'],
    ['API_KES', 'API_KEYS'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['CLUSTER_KEYS', 'CLUSTER_KEY'],
    ['TWILIO_AUTH_TKN', 'TWILIO_AUTH_TOKEN'],
    ['TRUNKLINE_API_KEYS', 'API_KEYS'],
    ['TRUNKLINE_API_KEY', 'API_KEYS'],
    ['trunkline_api_keys', 'API_KEYS'],
    ['TRUNKLINE_PORT', 'PORT'],
  ])('is found: %s means %s', (name, meant) => {
    expect(meaningOf(name)).toBe(meant);
  });

  it('is none where another program has the name', () => {
    const names = readFileSync(packagePath('fixtures', 'environment-variables.txt'), 'utf8')
      .split('\n')
      .filter((name) => name !== '' && !name.startsWith('#'));
    expect(names.length).toBeGreaterThan(500);
    // As Kubernetes has it for a Service that is called so.
    const link = { TRUNKLINE_PORT: 'tcp://10.43.0.7:8080', TRUNKLINE_SIP_PORT: 'udp://10.43.0.8:5060' };
    expect(findTypos({ ...Object.fromEntries(names.map((name) => [name, 'value'])), ...link })).toEqual([]);
  });

  it('is none where another one has one of what we have several, or several, and ours is set', () => {
    expect(findTypos({ API_KEY: 'of another program', API_KEYS: 'ours' })).toEqual([]);
    expect(findTypos({ TRUNKLINE_API_KEYS: 'ours', API_KEYS: 'ours' })).toHaveLength(1);
  });

  it('is none where the environment knows no case, so that the setting is set', () => {
    expect(findTypos({ Port: '1', PORT: '1' })).toEqual([]);
  });
});
