import type { OwnEntry, PlacedEntry } from '../../calls/feed/exchange.ts';
import type { NewRow } from './feed-rows.ts';

/** An event of this gateway on its way into the common order. */
export interface OwnRow extends NewRow {
  readonly entry: OwnEntry;
  /** Nobody wants it later: a partial caption, or what the detector says. */
  readonly isPassing: boolean;
  /** JSON, as others get it. */
  content: string;
  /** It is late if it gets a higher number than this; null = it is not. */
  lateAfter: number | null;
  /** When it was published, on the clock. */
  readonly sinceMs: number;
  /** Null = the database has not said yet. */
  number: number | null;
  /** As readers here got it before it had its place; null = they did not. */
  shown: (Omit<PlacedEntry, 'number'> & { number: number | null }) | null;
}
