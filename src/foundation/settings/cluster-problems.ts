/** Settings of several gateways that need each other. */
import type { Settings } from './settings.ts';

type ClusterSettings = Pick<Settings, 'CLUSTER_KEY' | 'DATABASE_URL' | 'DATABASE_DIRECT_URL' | 'GATEWAY_URL'>;

/** What is missing beside CLUSTER_KEY and DATABASE_DIRECT_URL, one line each. */
export function findClusterProblems(settings: ClusterSettings): string[] {
  const { CLUSTER_KEY, DATABASE_URL, DATABASE_DIRECT_URL, GATEWAY_URL } = settings;
  const problems: string[] = [];
  if (CLUSTER_KEY !== '' && DATABASE_URL === '')
    problems.push('CLUSTER_KEY needs DATABASE_URL: the PostgreSQL database that the gateways share');
  if (CLUSTER_KEY !== '' && GATEWAY_URL === '')
    problems.push(
      'CLUSTER_KEY needs GATEWAY_URL: the address at which the other gateways reach this one, such as ' +
        'http://10.0.0.7:8080',
    );
  if (DATABASE_DIRECT_URL !== '' && DATABASE_URL === '')
    problems.push('DATABASE_DIRECT_URL needs DATABASE_URL: both name the same database');
  return problems;
}
