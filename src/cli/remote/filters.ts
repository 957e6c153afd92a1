/** The filters of `trunkline calls` and `export`, as the API takes them. */
import type { Command } from 'commander';
import { systemClock } from '../../foundation/clock.ts';
import { parseMoment } from '../arguments.ts';

/** What a call must be like; times are ISO 8601. */
export interface FilterFlags {
  readonly since?: string;
  readonly until?: string;
  readonly carrier?: string;
  readonly party?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly queue?: string;
  readonly app?: string;
  readonly flow?: string;
  readonly outcome?: string;
  readonly endReason?: string;
  readonly tag?: string;
  readonly hasGap?: true;
}

const NAMES = [
  ...(['since', 'until', 'carrier', 'party', 'name', 'agent'] as const),
  ...(['queue', 'app', 'flow', 'outcome', 'endReason', 'tag', 'hasGap'] as const),
] satisfies readonly (keyof FilterFlags)[];

/** Adds the filters to `command`. */
export function withFilters(command: Command): Command {
  const moment = (text: string): string => parseMoment(text, systemClock.wall());
  return command
    .option('--since <time>', 'began then or later: 30m, 24h, 7d (ago), 2026-11-22 or 2026-11-22T09:30', moment)
    .option('--until <time>', 'began before that', moment)
    .option('--party <number>', 'caller or callee; +1415* for its beginning, *0100 for its end')
    .option('--name <text>', 'part of the name of one side')
    .option('--agent <agent>', 'the parameter "agent"')
    .option('--queue <queue>', 'the parameter "queue"')
    .option('--carrier <carrier>', 'the carrier')
    .option('--app <url>', 'the address of its app, without the query')
    .option('--flow <name>', 'the flow that it began with')
    .option('--outcome <outcome>', 'what came of it')
    .option('--end-reason <reason>', 'why it ended, such as lost')
    .option('--tag <tag>', 'one of its tags')
    .option('--has-gap', 'a stretch of it has no caption');
}

/** The query of the API; `words` = what was said in the call. */
export function queryOf(words: readonly string[], flags: FilterFlags): URLSearchParams {
  const query = new URLSearchParams();
  if (words.length > 0) query.set('q', words.join(' '));
  for (const name of NAMES) {
    const value = flags[name];
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
}
