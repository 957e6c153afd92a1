/** What a gateway shows to another one instead of CLUSTER_KEY itself. */
import { createHmac } from 'node:crypto';

/**
 * Proves to the gateway at `address` that the sender has CLUSTER_KEY (`key`). It is good at that origin alone:
 * addresses come from a table, and whoever can write there, or answers at an address that a gateway has left, could
 * otherwise use at all gateways what was sent to him.
 * @throws TypeError when `address` is no URL
 */
export function proofFor(key: string, address: string): string {
  return createHmac('sha256', key)
    .update(`trunkline gateway ${new URL(address).origin}`)
    .digest('base64url');
}
