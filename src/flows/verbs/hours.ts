/** The verb `hours`. */
import { z } from 'zod';
import { findHoursProblems, isOpen } from '../understand/hours.ts';
import { targetSchema } from './schemas.ts';
import { type StepExit, StepFailure, type StepTools } from './step.ts';
import { defineVerb, exit } from './verb.ts';

const HOURS = /^([01]?\d|2[0-3]):[0-5]\d ?[-–] ?(([01]?\d|2[0-3]):[0-5]\d|24:00)$/;
const span = z.string().regex(HOURS, 'expected hours such as 09:00-17:30').transform(spanOf);
const day = z.union([span.transform((one) => [one]), z.array(span).max(10)]);
const schema = z.strictObject({
  timeZone: z
    .string()
    .optional()
    .describe('Of the IANA database, such as Europe/Berlin: that of the flow unless given'),
  week: z.strictObject({
    'monday-friday': day.optional().describe('Of each of these days that does not stand here itself'),
    'monday-saturday': day.optional(),
    'monday-sunday': day.optional(),
    'saturday-sunday': day.optional(),
    monday: day.optional(),
    tuesday: day.optional(),
    wednesday: day.optional(),
    thursday: day.optional(),
    friday: day.optional(),
    saturday: day.optional(),
    sunday: day.optional(),
  }),
  holidays: z
    .array(
      z.union([z.string(), z.strictObject({ date: z.string(), name: z.string().optional(), open: day.optional() })]),
    )
    .max(400)
    .optional()
    .describe('Days such as 2026-12-25, or 12-25 for every year; with `open` the shop has other hours'),
  open: targetSchema,
  closed: targetSchema,
  holiday: targetSchema.optional().describe('`closed` unless given'),
});
type Hours = z.infer<typeof schema>;

/** Goes on where the opening hours lead at this moment. */
export const hours = defineVerb({
  schema: schema.describe('Goes on by opening hours and holidays'),
  takes: 'no time',
  shape: ['{', '}'],
  exits: ({ open, closed, holiday }) => [...exit('open', open), ...exit('closed', closed), ...exit('holiday', holiday)],
  goesOn: () => false,
  check: (fields, path) =>
    findHoursProblems(fields).map(({ path: at, message }) => ({ path: [...path, ...at], message })),
  run: runHours,
});

async function runHours(fields: Hours, { world, timeZone }: StepTools): Promise<StepExit> {
  try {
    const { open, closed, holiday = closed } = fields;
    return { open, closed, holiday }[isOpen(fields, world.wall(), timeZone)];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StepFailure(`the hours cannot be read: ${error.message}`);
  }
}

/** `9:00 - 17:00` as `09:00-17:00`. */
function spanOf(written: string): string {
  const times = written.split(/[-–]/).map((time) => time.trim().padStart(5, '0'));
  return times.join('-');
}
