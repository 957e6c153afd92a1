/**
 * The phones of the overload benchmark, in a process of their own: `tsx overload-callers.ts <order as JSON>`. Each line
 * places one call after the other, in real time, and hangs up at the end of what it says; who is refused tries again.
 * Prints what became of the calls, as JSON.
 */
import { randomUUID } from 'node:crypto';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { loadPrompts, promptConversation } from './prompts.ts';

const SPEECH_SHARE = 0.45;
const STAGGER_MS = 137;
/** What a refusal asks for is left to carriers; callers try again about so soon. */
const TRY_AGAIN_MS = 1000;

/** What is to be done. */
export interface OverloadOrder {
  readonly url: string;
  readonly lines: number;
  /** Different conversations, each of so many seconds. */
  readonly conversations: number;
  readonly seconds: number;
  /** No call is begun after so many seconds; 0 = each line places one call. */
  readonly beginForSeconds: number;
}

/** What became of the calls. Times are ms since 1970. */
export interface OverloadCallers {
  readonly placed: number;
  readonly refusedAtMs: readonly number[];
}

/** The conversation that is said in a call. */
export function conversationOf(callId: string): number {
  return Number(callId.split('-')[1]);
}

async function main(order: OverloadOrder): Promise<OverloadCallers> {
  const prompts = loadPrompts();
  const said = Array.from({ length: order.conversations }, (_, index) =>
    promptConversation(prompts, order.seconds, SPEECH_SHARE, 2000 + index),
  );
  const refusedAtMs: number[] = [];
  let placed = 0;
  const endMs = systemClock.nowMs() + order.beginForSeconds * 1000;
  const place = async (conversation: number): Promise<void> => {
    const inbound = said[conversation] ?? new Int16Array(0);
    const url = `${order.url.replace(/^http/, 'ws')}/twilio/media`;
    try {
      const callSid = `CA-${conversation}-${randomUUID()}`;
      const { closeCode } = await placeCall({
        url,
        tracks: { inbound },
        pace: 'realtime',
        clock: systemClock,
        callSid,
      });
      if (closeCode === 1013) throw new Error('refused after the handshake');
      placed++;
    } catch {
      refusedAtMs.push(systemClock.wall().getTime());
      await sleep(systemClock, TRY_AGAIN_MS);
    }
  };
  const line = async (index: number): Promise<void> => {
    await sleep(systemClock, index * STAGGER_MS);
    for (let turn = index; turn === index || systemClock.nowMs() < endMs; turn++)
      await place(turn % order.conversations);
  };
  await Promise.all(Array.from({ length: order.lines }, (_, index) => line(index)));
  return { placed, refusedAtMs };
}

const [, script, order] = process.argv;
if (script?.endsWith('overload-callers.ts') && order !== undefined)
  process.stdout.write(JSON.stringify(await main(JSON.parse(order) as OverloadOrder)));
