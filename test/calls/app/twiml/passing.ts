import type { Caller, Gateway } from '../../harness.ts';

/** Lets time pass in a call, and what comes over the network come, until `holds`. */
export async function passUntil(gateway: Gateway, caller: Caller, holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 3000) throw new Error('it did not come');
    await new Promise(setImmediate);
    await gateway.clock.run(20);
    caller.returnMarks(gateway.clock.nowMs());
  }
}
