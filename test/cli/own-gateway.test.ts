import { describe, expect, it } from 'vitest';
import { ownGateway } from '../../src/cli/own-gateway.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';

describe('the gateway of a command', () => {
  it('is for this machine alone whatever the environment says, and keeps its engine settings', () => {
    const environment = readSettings({
      HOST: '0.0.0.0',
      PORT: '9000',
      API_KEYS: 'sixteen-letters!',
      PUBLIC_URL: 'https://bridge.example.com',
      SIP_PORT: '5060',
      AUDIOSOCKET_PORT: '9019',
      BATCH_DIR: '/var/lib/batches',
      ENGINE_WORKERS: '3',
      ENDPOINT_MS: '600',
    });
    expect(ownGateway(environment)).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 0,
      API_KEYS: [],
      PUBLIC_URL: '',
      SIP_PORT: 0,
      AUDIOSOCKET_PORT: 0,
      BATCH_DIR: '',
      ENGINE_WORKERS: 3,
      ENDPOINT_MS: 600,
    });
  });
});
