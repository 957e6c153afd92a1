/** The settings with which a command runs its own gateway, beside one that may run already. */
import { NO_FOLDER } from '../foundation/settings/config.ts';
import type { Settings } from '../foundation/settings/settings.ts';

/** It listens on a free port of loopback only, closes at once and keeps no data. */
const OWN = {
  HOST: '127.0.0.1',
  PORT: 0,
  PUBLIC_URL: '',
  TLS_CERT: '',
  TLS_KEY: '',
  API_KEYS: [] as readonly string[],
  USERS_FILE: '',
  TWILIO_AUTH_TOKEN: '',
  DRAIN_TIMEOUT_MS: 0,
  SIP_PORT: 0,
  SIP_PROXY: '',
  SIP_REGISTRAR: '',
  SIP_TLS_PORT: 0,
  SIP_TRUNK: '',
  SIP_TRUNKS: '',
  AUDIOSOCKET_PORT: 0,
  ARI_URL: '',
  PROMPTS_FILE: '',
  PROMPT_CACHE_DIR: '',
  BATCH_DIR: '',
  FLOWS_DIR: '',
  DATA_DIR: NO_FOLDER,
  DATABASE_URL: '',
  DATABASE_DIRECT_URL: '',
  CLUSTER_KEY: '',
} as const;

/** `environment` for such a gateway. */
export function ownGateway(environment: Settings): Settings {
  return { ...environment, ...OWN };
}
