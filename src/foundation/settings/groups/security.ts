import { apiKeys, outboundAllow } from '../setting-forms.ts';
import { flag, peers, type SettingGroup, secret, text } from '../setting-kinds.ts';

/** Who may use the server. */
export const security = {
  title: 'Security',
  part: 'security',
  everyday: {
    API_KEYS: apiKeys(
      'Keys for /v1, /docs, /metrics and the web page, each with all rights (admin). Each needs at least 16 ' +
        'characters if other machines can reach this server. Without keys and users only this machine may use them.',
    ),
    TRUSTED_PROXIES: peers(
      'Addresses of your reverse proxies. The server ignores X-Forwarded-For and X-Forwarded-Proto from all others.',
    ),
    OUTBOUND_ALLOW: outboundAllow(
      'Private networks and hosts that requests of this server may reach, such as flows=10.0.0.0/8 or crm.local. ' +
        'flows=, apps=, calls= or batches= says for what, whoever named the URL; without it an entry holds for URLs ' +
        'in settings and flows, and never for those that requests, apps or callers name. Empty = the public ' +
        'internet alone.',
    ),
    WEBHOOK_SECRET: secret(
      'key',
      'Key with which the server signs the webhooks of calls (CALL_WEBHOOK_URL) and of batches that have ended ' +
        '(Standard Webhooks). Empty = batches with a webhook are refused.',
    ),
  },
  further: {
    USERS_FILE: text(
      '',
      'path',
      'YAML file of people and keys with their roles, which `trunkline user` writes; read again when it changes. ' +
        'Empty = the users are in DATA_DIR or DATABASE_URL.',
    ),
    ALLOW_ANONYMOUS: flag(false, 'Admit everyone, without a key and without a carrier signature.'),
  },
} as const satisfies SettingGroup;
