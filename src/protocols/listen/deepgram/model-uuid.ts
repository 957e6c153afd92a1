import { createHash } from 'node:crypto';

/** A UUID that is made of a model's name (RFC 9562 §5.8): the same name always has the same. */
export function modelUuid(name: string): string {
  const hex = createHash('sha256').update(`trunkline:${name}`).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
