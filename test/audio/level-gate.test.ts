import { describe, expect, it } from 'vitest';
import { AS_LOUD, LevelGate } from '../../src/audio/level-gate.ts';

const WINDOW_MS = 32;
const powerOf = (db: number): number => (32_768 * 10 ** (db / 20)) ** 2;

/** A gate that hears levels in dB, for so many ms each; null = silence. Each call says how its last window was. */
function listen(gate: LevelGate, db: number | null, ms: number) {
  let level = AS_LOUD;
  for (let at = 0; at < ms; at += WINDOW_MS) level = gate.note(db === null ? 0 : powerOf(db), db !== null);
  return level;
}

/** The caller says something with words at `db`. */
function say(gate: LevelGate, db: number, ms = 1000): void {
  listen(gate, db, 2 * WINDOW_MS);
  gate.begin();
  listen(gate, db, ms);
  gate.learn(gate.end(), true);
}

describe('LevelGate', () => {
  it.each([-10, -22, -45])('finds the first voice near, at %s dB', (db) => {
    expect(listen(new LevelGate(), db, 500)).toEqual(AS_LOUD);
  });

  it('learns how loud the caller is from speech with words', () => {
    const gate = new LevelGate();
    say(gate, -22);
    expect(gate.callerDb).toBeCloseTo(-22, 0);
    listen(gate, -10, 100);
    gate.begin();
    gate.learn(gate.end(), false);
    expect(gate.callerDb).toBeCloseTo(-22, 0);
  });

  it.each([
    [-35, true],
    [-32, true],
    [-28, false],
    [-22, false],
    [-15, false],
  ])('finds a voice at %s dB far beside a caller at -22 dB: %s', (db, isFar) => {
    const gate = new LevelGate();
    say(gate, -22);
    listen(gate, null, 500);
    expect(listen(gate, db, 600).isFar).toBe(isFar);
  });

  it('finds others far while the utterance is running, a third of a second after its last word', () => {
    const gate = new LevelGate();
    listen(gate, -22, 64);
    gate.begin();
    expect(listen(gate, -22, 1000).isFar).toBe(false);
    expect(listen(gate, -40, 128)).toMatchObject({ isFar: false, isSoft: true });
    expect(listen(gate, -40, 256).isFar).toBe(true);
  });

  it('follows a caller who moves to a quieter place', () => {
    const gate = new LevelGate();
    for (let db = -20; db >= -36; db -= 2) {
      listen(gate, null, 500);
      expect(listen(gate, db, 320).isFar).toBe(false);
      say(gate, db);
    }
    expect(gate.callerDb).toBeLessThan(-28);
  });

  it('hears a quieter person who has taken the phone over, asks twice and waits for an answer', () => {
    const gate = new LevelGate();
    say(gate, -20);
    for (let asked = 0; asked < 2; asked++) {
      listen(gate, null, 2100);
      expect(listen(gate, -34, 800).isFar).toBe(true);
    }
    listen(gate, null, 2100);
    expect(listen(gate, -34, 800).isFar).toBe(false);
  });

  it('holds a television that never waits for one in any case', () => {
    const gate = new LevelGate();
    say(gate, -22);
    for (let n = 0; n < 25; n++) {
      expect(listen(gate, -38, 1500).isFar).toBe(true);
      listen(gate, null, 400);
    }
  });

  it('does not know the caller any more after a minute of others alone', () => {
    const gate = new LevelGate();
    say(gate, -22);
    for (let n = 0; n < 35; n++) {
      listen(gate, -38, 1500);
      listen(gate, null, 300);
    }
    expect(gate.callerDb).toBeNull();
  });

  it('is unsure of a soft voice that is heard first, until it waits for an answer', () => {
    const gate = new LevelGate();
    listen(gate, -38, 64);
    gate.begin();
    expect(gate.isUnsure).toBe(true);
    listen(gate, -38, 1000);
    gate.learn(gate.end(), true);
    listen(gate, null, 2100);
    listen(gate, -38, 64);
    gate.begin();
    expect(gate.isUnsure).toBe(false);
  });

  it('is sure of a voice of the usual level at once', () => {
    const gate = new LevelGate();
    listen(gate, -24, 64);
    gate.begin();
    expect(gate.isUnsure).toBe(false);
  });

  it('notices who speaks far louder into a soft voice, and nobody in a caller who begins softly', () => {
    const gate = new LevelGate();
    listen(gate, -40, 64);
    gate.begin();
    listen(gate, -40, 1000);
    expect(gate.hasRisen).toBe(false);
    listen(gate, -22, 64);
    expect(gate.hasRisen).toBe(true);

    const other = new LevelGate();
    listen(other, -45, 64);
    other.begin();
    listen(other, -45, 128);
    listen(other, -22, 64);
    expect(other.hasRisen).toBe(false);
  });

  it('knows that others are heard under the words, and forgets it', () => {
    const gate = new LevelGate();
    say(gate, -22);
    expect(gate.isAmidOthers).toBe(false);
    listen(gate, -40, 1000);
    expect(gate.isAmidOthers).toBe(true);
    listen(gate, null, 120_000);
    expect(gate.isAmidOthers).toBe(false);
  });
});
