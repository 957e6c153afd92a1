import { z } from 'zod';
import type { SettingSpec } from './setting-kinds.ts';

/** Names are those of HTTP headers and of attributes; values have no control characters. */
const NAME = /^[\w.!#$%&'*+^`|~/-]+$/;
const VALUE = /^[^\p{Cc}]*$/u;

/**
 * Reads `name=value` pairs with commas between them; values may be percent-encoded
 * (https://www.w3.org/TR/baggage/#header-content). Null when `text` is no such list.
 */
export function parseKeyPairs(text: string): Readonly<Record<string, string>> | null {
  const pairs = new Map<string, string>();
  for (const item of text.split(',').filter((each) => each.trim() !== '')) {
    const at = item.indexOf('=');
    const name = item.slice(0, Math.max(at, 0)).trim();
    const value = decoded(item.slice(at + 1).trim());
    if (!NAME.test(name) || value === null || !VALUE.test(value)) return null;
    pairs.set(name, value);
  }
  return Object.fromEntries(pairs);
}

function decoded(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}

/** A list of pairs as {@link parseKeyPairs} reads it. */
export function keyPairs(meaning: string): SettingSpec<string> {
  return {
    schema: z.string().refine((text) => parseKeyPairs(text) !== null, 'pairs such as name=value,other=value%20two'),
    defaultText: '',
    unit: 'name=value, comma-separated',
    meaning,
  };
}
