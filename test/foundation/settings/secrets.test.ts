import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { SETTINGS } from '../../../src/foundation/settings/settings.ts';
import { problemsOf } from '../../helpers/settings-problems.ts';

describe('the settings', () => {
  it('never repeat a secret', () => {
    const secrets = Object.entries(SETTINGS).filter(([, spec]) => 'secret' in spec);
    expect(secrets.map(([name]) => name).toSorted()).toEqual([
      'API_KEYS',
      'APP_SIGNING_KEY',
      'ARI_PASSWORD',
      'ASR_API_KEY',
      'ASTERISK_PASSWORD',
      'CARRIER_TOKEN',
      'CLUSTER_KEY',
      'DATABASE_DIRECT_URL',
      'DATABASE_URL',
      'FLOW_SIGNING_KEY',
      'GENESYS_API_KEY',
      'GENESYS_CLIENT_SECRET',
      'LLM_API_KEY',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'PLIVO_AUTH_TOKEN',
      'RECORD_KEY',
      'SIP_PASSWORD',
      'SIP_TRUNKS',
      'TTS_API_KEY',
      'TWILIO_AUTH_TOKEN',
      'WEBHOOK_SECRET',
    ]);
    expect(problemsOf({ API_KEYS: 'hush', TWILIO_AUTH_TOKEN: 'hush', HOST: 'x', PORT: 'x' }).join()).not.toContain(
      'hush',
    );
  });

  it('repeat a URL without what is secret in it', () => {
    const wrong = {
      APP_URL: 'https://me:sesame@app.example.com/?key=sesame',
      PUBLIC_URL: 'https://me:sesame@host',
      ARI_URL: 'me:sesame@asterisk:8088/ari',
      SIP_TRUNK: 'sip:me:sesame@pbx.example.com',
      LLM_BASE_URL: 'https://me:pa"sesame@host:port',
    };
    for (const [name, value] of Object.entries(wrong)) {
      const complaint = () => readSettings({ [name]: value });
      expect(complaint).toThrow(`${name}: got "`);
      expect(complaint).not.toThrow(/sesame/);
    }
  });
});
