/** The containers in which live Opus comes. */
import { isOgg, OggPackets } from './ogg-packets.ts';
import type { OpusHead } from './opus-head.ts';
import { isWebm, WebmPackets } from './webm-packets.ts';

/** Takes one apart as it comes. */
export interface OpusContainer {
  readonly name: string;
  /** Of the stream; another one when a new stream has begun. Null before any has. */
  readonly head: OpusHead | null;
  /**
   * The packets of sound that are complete with `bytes`, cut anywhere.
   * @throws RangeError with the reason for a file that is not read
   */
  push(bytes: Uint8Array): Uint8Array[];
}

const CONTAINERS = [
  { is: isOgg, open: () => new OggPackets() },
  { is: isWebm, open: () => new WebmPackets() },
] as const;

/** For a file that begins with these bytes; null = it is none; undefined = more have to come. */
export function openContainer(head: Uint8Array): OpusContainer | null | undefined {
  const found = CONTAINERS.map(({ is }) => is(head));
  const at = found.indexOf(true);
  if (at >= 0) return CONTAINERS[at]?.open();
  return found.includes(null) ? undefined : null;
}
