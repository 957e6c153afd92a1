import { TrunklineError } from '../../src/foundation/errors.ts';
import type { CarrierEvent } from '../../src/protocols/dialect.ts';

/** Each kind of event with how often it came, in the order of their first coming. */
export function summary(events: readonly (CarrierEvent | TrunklineError)[]): string {
  const counts = new Map<string, number>();
  for (const event of events) {
    const kind = kindOf(event);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} ×${count}`)).join(', ');
}

function kindOf(event: CarrierEvent | TrunklineError): string {
  if (event instanceof TrunklineError) return event.code;
  if (event.type === 'ignored') return event.what;
  if (event.type !== 'start') return event.type;
  const { codec, playback } = event.start;
  return `start ${codec.name} ${codec.rateHz} ${playback}`;
}
