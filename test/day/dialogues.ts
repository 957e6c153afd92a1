/** The written set of dialogues: dialogues.yaml, checked and filled in. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { pick, type Random } from './people.ts';

const words = z.union([z.string().transform((text) => [text]), z.array(z.string()).nonempty()]);
const line = z.union([
  z.strictObject({ A: words }),
  z.strictObject({ C: words }),
  z.strictObject({ T: words }),
  z.strictObject({ K: words }),
  z.strictObject({ hold: z.number().int().positive() }),
]);
const talk = z.strictObject({
  queue: z.string(),
  tags: z.array(z.string()),
  outcomes: z.array(z.string()).nonempty(),
  notes: z.array(z.string()).default([]),
  to: z.string().nullable().default(null),
  lines: z.array(line).nonempty(),
});
const menu = z.strictObject({ handoff: z.string().nullable(), lines: z.array(line).nonempty() });
const fileSchema = z.strictObject({
  greetings: z.array(z.string()).nonempty(),
  farewells: z.array(z.tuple([z.string(), z.string()])).nonempty(),
  prompts: z.array(z.string()).nonempty(),
  talks: z.array(talk).nonempty(),
  menus: z.array(menu).nonempty(),
});

/** What the dialogues are of. */
export type Dialogues = z.infer<typeof fileSchema>;
/** A dialogue of two people. */
export type Talk = Dialogues['talks'][number];

/** One step of a call, filled in: words of somebody, keys, or a time on hold in ms. */
export type Step =
  | { readonly who: 'agent' | 'caller' | 'app' | 'keys'; readonly text: string }
  | { readonly who: 'hold'; readonly ms: number };

const WHO = { A: 'agent', C: 'caller', T: 'app', K: 'keys' } as const;

/** @throws ZodError when the file is not what it should be */
export function readDialogues(): Dialogues {
  return fileSchema.parse(parse(readFileSync(packagePath('test', 'day', 'dialogues.yaml'), 'utf8')));
}

/** `text` with what stands in braces filled in. @throws Error when nobody knows what it is */
export function fill(text: string, details: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = details[name];
    if (value === undefined) throw new Error(`the dialogues name {${name}}, expected one of ${Object.keys(details)}`);
    return value;
  });
}

/** The steps of a dialogue as it goes this time. */
export function stepsOf(lines: Talk['lines'], details: Readonly<Record<string, string>>, random: Random): Step[] {
  return lines.map((each) => {
    if ('hold' in each) return { who: 'hold', ms: each.hold * 1000 };
    const [[key = 'A', ways = ['']] = []] = Object.entries(each) as [keyof typeof WHO, string[]][];
    return { who: WHO[key], text: fill(pick(ways, random), details) };
  });
}

/** A dialogue of two people from greeting to farewell. */
export function talkSteps(
  { greetings, farewells }: Pick<Dialogues, 'greetings' | 'farewells'>,
  { lines, to }: Pick<Talk, 'lines' | 'to'>,
  details: Readonly<Record<string, string>>,
  random: Random,
): Step[] {
  const [agent, caller] = pick(farewells, random);
  const farewell: Step[] =
    to === null
      ? [
          { who: 'agent', text: fill(agent, details) },
          { who: 'caller', text: fill(caller, details) },
        ]
      : [];
  return [
    { who: 'agent', text: fill(pick(greetings, random), details) },
    ...stepsOf(lines, details, random),
    ...farewell,
  ];
}
