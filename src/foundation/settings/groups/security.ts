import { apiKeys } from '../setting-forms.ts';
import { flag, peers, type SettingGroup } from '../setting-kinds.ts';

/** Who may use the server. */
export const security = {
  title: 'Security',
  everyday: {
    API_KEYS: apiKeys(
      'Keys for /v1, /docs, /metrics and the web page. Each needs at least 16 characters if other machines can reach ' +
        'this server. Empty = only this machine may use them.',
    ),
    ALLOW_ANONYMOUS: flag(false, 'Admit everyone, without a key and without a carrier signature.'),
    TRUSTED_PROXIES: peers(
      'Addresses of your reverse proxies. The server ignores X-Forwarded-For and X-Forwarded-Proto from all others.',
    ),
  },
  tuning: {},
} as const satisfies SettingGroup;
