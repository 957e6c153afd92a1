import { clusterKey, databaseUrl, publicUrl } from '../setting-forms.ts';
import type { SettingGroup } from '../setting-kinds.ts';

/** Several gateways that are one service: they share DATABASE_URL. */
export const cluster = {
  title: 'Several gateways',
  part: 'cluster',
  prefixes: ['CLUSTER_'],
  everyday: {},
  further: {
    CLUSTER_KEY: clusterKey(
      'Makes this gateway one of several that share DATABASE_URL: the key with which they pass requests on to each ' +
        'other, the same on all of them (openssl rand -hex 32). Empty = this gateway is alone.',
    ),
    GATEWAY_URL: publicUrl(
      'Address at which the other gateways reach this one (http://10.0.0.7:8080, no path). Needed with CLUSTER_KEY.',
    ),
    DATABASE_DIRECT_URL: databaseUrl(
      'The same database without a connection pooler in between, for locks and notifications, which belong to one ' +
        'connection. Empty = DATABASE_URL.',
    ),
  },
} as const satisfies SettingGroup;
