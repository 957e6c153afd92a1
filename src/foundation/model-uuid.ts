import { createHash } from 'node:crypto';

/** A UUID that is made of a model's name (RFC 9562 §5.8): the same name always has the same. */
export function modelUuid(name: string): string {
  const hex = createHash('sha256').update(`trunkline:${name}`).digest('hex');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join('-');
}
