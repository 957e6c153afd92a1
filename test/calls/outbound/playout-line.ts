/** A playout and a carrier to play to, on a clock of the test. */
import { Playout } from '../../../src/calls/outbound/playout.ts';
import { FRAME_MS, MULAW_8K, msToBytes } from '../../../src/foundation/units.ts';
import type { CarrierCommand } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { BufferingPlayer } from '../../fakes/player.ts';

export const FRAME_BYTES = msToBytes(FRAME_MS, MULAW_8K);

/** A sound with a name. */
export interface Named {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A sound whose every frame begins with `level`. */
export function sound(name: string, frames: number, level = 1): Named {
  return { name, bytes: new Uint8Array(frames * FRAME_BYTES).fill(level) };
}

interface LineOptions {
  readonly buffered?: boolean;
  readonly leadMs?: number;
  readonly wayMs?: number;
  readonly losesMark?: (n: number) => boolean;
}

/** A playout and the carrier that it plays to. */
export class Line {
  readonly clock = new FakeClock();
  readonly sent: { readonly command: CarrierCommand; readonly atMs: number }[] = [];
  readonly log: string[] = [];
  readonly player: BufferingPlayer;
  readonly playout: Playout<Named>;

  constructor({ buffered = true, leadMs = 400, wayMs = 0, losesMark = () => false }: LineOptions = {}) {
    const { clock } = this;
    this.player = new BufferingPlayer({
      clock,
      frameMs: FRAME_MS,
      wayMs,
      losesMark,
      onMark: (name) => this.playout.onMark(name),
    });
    this.playout = new Playout<Named>({
      codec: MULAW_8K,
      clock,
      buffered,
      leadMs,
      send: (command) => {
        this.sent.push({ command, atMs: clock.nowMs() });
        if (buffered) this.player.send(command);
      },
      onBegun: ({ name }) => this.log.push(`begun ${name}`),
      onHeard: ({ name }) => this.log.push(`heard ${name} at ${clock.nowMs()}`),
      onMarkLost: () => this.log.push('mark lost'),
      onFailure: (error) => {
        throw error;
      },
    });
  }

  /** Adds all of a sound. */
  push(each: Named): void {
    const open = this.playout.open(each);
    open.add(each.bytes);
    open.end();
  }

  get framesAtMs(): number[] {
    return this.sent.filter(({ command }) => command.type === 'audio').map(({ atMs }) => atMs);
  }

  get marks(): string[] {
    return this.sent.flatMap(({ command }) => (command.type === 'mark' ? [command.name] : []));
  }
}
