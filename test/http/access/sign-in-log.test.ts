import { expect, it } from 'vitest';
import { type AuditSink, SignInLog } from '../../../src/http/access/sign-in-log.ts';
import { FakeClock } from '../../fakes/clock.ts';

const CLIENT = { address: '192.0.2.1', isShared: false };
const DAY_MS = 86_400_000;

it('strangers who guess all day add a line a minute, which says how many there were', () => {
  const clock = new FakeClock();
  const lines: Parameters<AuditSink['note']>[0][] = [];
  const log = new SignInLog({ clock, audit: { note: (line) => void lines.push(line) } });
  for (let second = 0; second < DAY_MS / 1000; second++) {
    for (let guess = 0; guess < 10; guess++) log.refuse(null, CLIENT);
    clock.advance(1000);
  }
  expect(lines.length).toBeLessThan(1600);
  const guesses = lines.reduce((sum, { detail }) => sum + 1 + Number(detail['unnoted'] ?? 0), 0);
  expect(guesses).toBeGreaterThan(860_000);

  // Whoever is guessed at by name is not hidden among them.
  log.refuse('ann', CLIENT);
  expect(lines.at(-1)).toMatchObject({ who: 'ann', action: 'session.refused', detail: { address: '192.0.2.1' } });
});
