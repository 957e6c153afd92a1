/** What fax machines send, by arithmetic (ITU-T T.30, V.21, V.25): 8 kHz, 16-bit. */
import { LINE_RATE_HZ } from './signals.ts';

const LEVEL = 5000;
const silence = (durationMs: number): Int16Array => new Int16Array((durationMs * LINE_RATE_HZ) / 1000);

/** The tone of a fax machine that calls, so often. */
export function faxCall(times: number, toneHz = 1100): Int16Array {
  return joined(Array.from({ length: times }, () => [wave(500, () => toneHz), silence(3000)]).flat());
}

/** What one that answers sends: its tone, and twice its preamble with something like the frame behind it. */
export function faxAnswer({ ced, reversals }: { readonly ced: boolean; readonly reversals: boolean }): Int16Array {
  const tone = ced ? [wave(3000, () => 2100, reversals ? 450 : null), silence(75)] : [];
  const talk = [faxFlags(1000), fsk(Array.from({ length: 120 }, (_, bit) => (bit * 7) % 3 !== 0)), silence(1500)];
  return joined([...tone, ...talk, ...talk]);
}

/** Flags of V.21, channel 2, for so long. */
export function faxFlags(durationMs: number): Int16Array {
  const bits = Array.from(
    { length: Math.round((durationMs * 300) / 1000) },
    (_, bit) => bit % 8 !== 0 && bit % 8 !== 7,
  );
  return fsk(bits);
}

function fsk(bits: readonly boolean[]): Int16Array {
  return wave((bits.length * 1000) / 300, (atMs) => (bits[Math.floor((atMs * 300) / 1000)] ? 1650 : 1850));
}

/** A tone whose pitch may change without a jump; its phase is turned round every `reversalMs`. */
function wave(durationMs: number, hertzAt: (atMs: number) => number, reversalMs: number | null = null): Int16Array {
  let phase = 0;
  return Int16Array.from({ length: Math.round((durationMs * LINE_RATE_HZ) / 1000) }, (_, i) => {
    const atMs = (i * 1000) / LINE_RATE_HZ;
    phase += (2 * Math.PI * hertzAt(atMs)) / LINE_RATE_HZ;
    const turned = reversalMs !== null && Math.floor(atMs / reversalMs) % 2 === 1 ? Math.PI : 0;
    return Math.round(LEVEL * Math.sin(phase + turned));
  });
}

function joined(parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}
