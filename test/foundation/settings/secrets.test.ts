import { describe, expect, it } from 'vitest';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { SETTINGS } from '../../../src/foundation/settings/settings.ts';
import { problemsOf } from '../../helpers/settings-problems.ts';

describe('the settings', () => {
  it('never repeat a secret', () => {
    const secrets = Object.entries(SETTINGS).filter(([, spec]) => 'secret' in spec);
    expect(secrets.map(([name]) => name)).toEqual([
      'API_KEYS',
      'WEBHOOK_SECRET',
      'TWILIO_AUTH_TOKEN',
      'CARRIER_TOKEN',
      'PLIVO_AUTH_TOKEN',
      'GENESYS_API_KEY',
      'GENESYS_CLIENT_SECRET',
      'ASTERISK_PASSWORD',
      'ARI_PASSWORD',
      'SIP_PASSWORD',
      'SIP_TRUNKS',
      'APP_SIGNING_KEY',
      'FLOW_SIGNING_KEY',
      'DATABASE_URL',
      'RECORD_KEY',
      'CLUSTER_KEY',
      'LLM_API_KEY',
      'ASR_API_KEY',
      'TTS_API_KEY',
      'OTEL_EXPORTER_OTLP_HEADERS',
      'DATABASE_DIRECT_URL',
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
