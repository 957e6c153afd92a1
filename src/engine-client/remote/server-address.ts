/** The address of another server, for people. */
import type { ServerReport } from '../engine-report.ts';

/** Without a query, which may have a key in it; credentials are in no such URL. */
export function describeUrl({ protocol, host, pathname }: URL): Pick<ServerReport, 'url' | 'protocol'> {
  return { url: `${protocol}//${host}${pathname === '/' ? '' : pathname}`, protocol: protocol.slice(0, -1) };
}
