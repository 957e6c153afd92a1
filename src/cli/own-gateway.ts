/** The settings with which a command runs a gateway of its own, beside whatever serves already. */
import type { Settings } from '../foundation/settings/settings.ts';

/**
 * Whatever the environment says, it is this machine's alone, on a port of its own and no other, and ends when it is
 * told to.
 */
const OWN = {
  HOST: '127.0.0.1',
  PORT: 0,
  PUBLIC_URL: '',
  API_KEYS: [] as readonly string[],
  TWILIO_AUTH_TOKEN: '',
  DRAIN_TIMEOUT_MS: 0,
  SIP_PORT: 0,
  SIP_REGISTRAR: '',
  SIP_TRUNK: '',
  AUDIOSOCKET_PORT: 0,
  ARI_URL: '',
  PROMPTS_FILE: '',
  PROMPT_CACHE_DIR: '',
  BATCH_DIR: '',
} as const;

/** `environment` for a gateway of one's own. */
export function ownGateway(environment: Settings): Settings {
  return { ...environment, ...OWN };
}
