import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Feed } from '../../src/calls/feed/feed.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import { ConfigError, readSettings } from '../../src/foundation/settings/config.ts';
import { openHints } from '../../src/hints/open-hints.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { caption, hintsOf, started } from './said.ts';

describe('HINTS_FILE', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'));
    path = join(folder, 'hints.yaml');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function open() {
    const clock = new FakeClock();
    const feed = new Feed({ history: 1000, epoch: 'e' });
    const lines: string[] = [];
    const note = (...line: unknown[]) => lines.push(line.map((part) => JSON.stringify(part)).join(' '));
    const log = { info: note, error: note, warn: note } as never;
    const settings = readSettings({ HINTS_FILE: path });
    const registry = { parameters: () => undefined };
    const hints = await openHints({ settings, feed, registry, clock, log, metrics: new Metrics() });
    return { clock, feed, lines, shown: hintsOf(feed), hints };
  }

  it('stops the start where it cannot be used, with the place of what is wrong', async () => {
    await expect(open()).rejects.toThrow(`HINTS_FILE: ${path}: cannot be read (ENOENT)`);
    writeFileSync(path, 'cards:\n  - { title: T, text: X, words: [] }\n');
    await expect(open()).rejects.toThrow(ConfigError);
    await expect(open()).rejects.toThrow(
      `HINTS_FILE: ${path}:2:33: cards.0.words: got a list, expected at least 1 entry`,
    );
  });

  it('is taken over when it has changed; a wrong one is told and changes nothing', async () => {
    writeFileSync(path, 'cards: [{ title: Old, text: X, words: [slow] }]');
    const { clock, feed, lines, shown, hints } = await open();
    feed.publish(started('CA1'));
    feed.publish(caption('CA1', 1, 'slow'));
    writeFileSync(path, 'cards: [{ title: Wrong, text: X, wrods: [slow] }]');
    clock.advance(2000);
    await eventually(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toContain('HINTS_FILE has changed and cannot be used; what it said before stays');
    expect(lines[0]).toContain(`${path}:1:34: cards.0.wrods: is unknown`);
    feed.publish(started('CA2'));
    feed.publish(caption('CA2', 1, 'slow'));
    writeFileSync(path, 'cards: [{ title: New, text: X, words: [slow] }, { title: B, text: X, words: [b] }]');
    clock.advance(2000);
    await eventually(() => expect(lines).toHaveLength(2));
    expect(lines[1]).toBe('{"cards":2} "HINTS_FILE was read again"');
    feed.publish(caption('CA2', 2, 'slow'));
    expect(shown.map(({ callId, title }) => [callId, title])).toEqual([
      ['CA1', 'Old'],
      ['CA2', 'Old'],
      ['CA2', 'New'],
    ]);
    await hints.close();
    expect(clock.pending).toBe(0);
  });
});
