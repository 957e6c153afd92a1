/** Opens what the gateways of a cluster share from moment to moment, beside the records and the feed. */
import type { Clock } from '../../foundation/clock.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { Cluster } from '../cluster.ts';
import { ForwardClient } from '../forward/forward-client.ts';
import { proofFor } from '../forward/gateway-proof.ts';
import { Owners } from '../forward/owners.ts';
import { OneUseTable } from './one-use-table.ts';
import { SharedAttempts } from './shared-attempts.ts';
import { SharedSessions } from './shared-sessions.ts';
import { StateDatabase } from './state-database.ts';
import { StoredClaims } from './stored-claims.ts';

/** The shared state, as one gateway uses it. */
export interface SharedState {
  /** Of this gateway. */
  readonly id: string;
  readonly oneUse: OneUseTable;
  readonly claims: StoredClaims;
  readonly owners: Owners;
  readonly client: ForwardClient;
  readonly access: {
    readonly sessions: SharedSessions;
    readonly attempts: SharedAttempts;
    readonly key: string;
    readonly proof: string;
  };
  /** Ends its connections. Never rejects. */
  close(): Promise<void>;
}

interface OpenOptions {
  readonly cluster: Pick<Cluster, 'id' | 'members'>;
  readonly clock: Clock;
}

/** Connects to nothing yet. */
export function openSharedState(
  { DATABASE_URL, CLUSTER_KEY: key, GATEWAY_URL }: Pick<Settings, 'DATABASE_URL' | 'CLUSTER_KEY' | 'GATEWAY_URL'>,
  { cluster, clock }: OpenOptions,
): SharedState {
  const database = new StateDatabase(DATABASE_URL);
  const client = new ForwardClient({ key, me: cluster.id, clock });
  return {
    id: cluster.id,
    oneUse: new OneUseTable({ database, clock }),
    claims: new StoredClaims({ database, gateway: cluster.id, clock }),
    owners: new Owners({ cluster, database, clock }),
    client,
    access: {
      sessions: new SharedSessions(database),
      attempts: new SharedAttempts({ database, key }),
      key,
      proof: proofFor(key, GATEWAY_URL),
    },
    close: async () => {
      client.close();
      await database.close();
    },
  };
}
