/** Calls whose token or id another gateway has to be asked for. */
import { describe, expect, it } from 'vitest';
import type { CallClaims, ClaimOutcome } from '../../src/calls/admission/call-claims.ts';
import type { CallSummary } from '../../src/calls/call-summary.ts';
import type { CallLeg, LegHandlers } from '../../src/calls/leg.ts';
import { CallRegistry } from '../../src/calls/registry.ts';
import type { TrunklineError } from '../../src/foundation/errors.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';
import type { CallStart } from '../../src/protocols/dialect.ts';
import { settle } from '../fakes/clock.ts';
import { startCalls } from './harness.ts';

/** The rows of calls that gateways have claimed; the test says when they answer. */
class Rows implements CallClaims {
  readonly taken = new Set<string>();
  readonly released: string[] = [];
  readonly asked: string[] = [];
  isAway = false;
  #waiting: (() => void)[] = [];

  async claim({ beginning: { id } }: CallSummary): Promise<ClaimOutcome> {
    this.asked.push(id);
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    if (this.isAway) return 'unknown';
    if (this.taken.has(id)) return 'taken';
    this.taken.add(id);
    return 'ours';
  }

  release(id: string): void {
    this.released.push(id);
    this.taken.delete(id);
  }

  async answer(): Promise<void> {
    while (this.#waiting.length > 0) {
      for (const resolve of this.#waiting.splice(0)) resolve();
      await settle();
    }
  }
}

const start = (callId: string, streamId = 'S1'): CallStart => ({
  carrier: 'other',
  callId,
  streamId,
  from: null,
  to: null,
  tracks: ['inbound'],
  playback: 'buffered',
  codec: MULAW_8K,
  parameters: {},
});

function begin() {
  const { context, clock, events } = startCalls();
  const claims = new Rows();
  const registry = new CallRegistry({ ...context, claims });
  const failures: string[] = [];
  const accept = (): LegHandlers => {
    let handlers: LegHandlers | null = null;
    const leg: CallLeg = {
      send: () => undefined,
      close: () => undefined,
      fail: ({ code }: TrunklineError) => void failures.push(code),
      pause: () => undefined,
      resume: () => undefined,
    };
    registry.accept({
      carrier: 'other',
      tokenRequired: false,
      connect: (given) => {
        handlers = given;
        return leg;
      },
    });
    if (handlers === null) throw new Error('no leg was opened');
    return handlers;
  };
  const ids = () => registry.list().map(({ id }) => id);
  return { registry, claims, accept, ids, failures, clock, events };
}

const audio = (sequence: number) =>
  ({ type: 'audio', track: 'inbound', bytes: new Uint8Array(160), atMs: (sequence - 1) * 20, sequence }) as const;

describe('a call whose id is asked for', () => {
  it('has all that came meanwhile, also its end', async () => {
    const { claims, accept, registry, ids, events } = begin();
    const line = accept();
    line.onEvent({ type: 'start', start: start('CA1') });
    for (let sequence = 1; sequence <= 50; sequence++) line.onEvent(audio(sequence));
    expect([ids(), registry.liveCount]).toEqual([[], 1]);
    await claims.answer();
    expect(registry.get('CA1')).toMatchObject({ state: 'live', durationMs: 1000 });
    const other = accept();
    other.onEvent({ type: 'start', start: start('CA2') });
    other.onEvent(audio(1));
    other.onClosed({ reason: 'closed', code: null, error: null });
    await claims.answer();
    await expect.poll(() => registry.get('CA2')?.state).toBe('ended');
    expect(events.filter(({ callId }) => callId === 'CA2').map(({ type }) => type)).toEqual(
      expect.arrayContaining(['call.started', 'call.ended']),
    );
  });

  it('gets another one where a stored call has it, and where a stream here asks for it at the same time', async () => {
    const { claims, accept, ids } = begin();
    claims.taken.add('CA1');
    const [line, first, second] = [accept(), accept(), accept()];
    line.onEvent({ type: 'start', start: start('CA1') });
    first.onEvent({ type: 'start', start: start('CA2', 'S1') });
    second.onEvent({ type: 'start', start: start('CA2', 'S2') });
    await claims.answer();
    expect(ids().toSorted()).toEqual(['CA1:S1', 'CA2', 'CA2:S2']);
  });

  it('begins under its own name where nobody can tell', async () => {
    const { claims, accept, ids } = begin();
    claims.isAway = true;
    accept().onEvent({ type: 'start', start: start('CA1') });
    await claims.answer();
    expect(ids()).toEqual(['CA1']);
  });

  it('gives its id back when it may not begin any more', async () => {
    const { claims, accept, registry, ids, failures, clock } = begin();
    accept().onEvent({ type: 'start', start: start('CA1') });
    const drained = registry.drain(0);
    await claims.answer();
    clock.advance(0);
    await drained;
    expect([ids(), failures, claims.released]).toEqual([[], ['draining'], ['CA1']]);
  });

  it('is refused when more sound comes meanwhile than anybody says', async () => {
    const { claims, accept, ids, failures } = begin();
    const line = accept();
    line.onEvent({ type: 'start', start: start('CA1') });
    for (let sequence = 1; sequence <= 3001; sequence++) line.onEvent(audio(sequence));
    expect(failures).toEqual(['audio_too_fast']);
    await claims.answer();
    expect([ids(), claims.released]).toEqual([[], ['CA1']]);
  });
});
