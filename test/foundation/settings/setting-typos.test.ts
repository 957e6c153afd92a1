import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { findTypos } from '../../../src/foundation/settings/setting-typos.ts';

const nothingSet = () => false;

function meaningOf(name: string): string | undefined {
  return findTypos([name], nothingSet)[0]?.meant;
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
  ])('is found: %s means %s', (name, meant) => {
    expect(meaningOf(name)).toBe(meant);
  });

  it('is none where another program has the name', () => {
    const names = readFileSync(packagePath('fixtures', 'environment-variables.txt'), 'utf8')
      .split('\n')
      .filter((name) => name !== '' && !name.startsWith('#'));
    expect(names.length).toBeGreaterThan(250);
    expect(findTypos(names, nothingSet)).toEqual([]);
  });

  it('is none where the environment knows no case, so that the setting is set', () => {
    expect(findTypos(['Port'], (setting) => setting === 'PORT')).toEqual([]);
  });
});
