/** What the schemas of several verbs share. */
import { z } from 'zod';
import { nameSchema } from '../file/prompts.ts';

/** Where a flow goes on: a step of the same flow, or `end`, `back` (the question before), `repeat` (this step). */
export const targetSchema = nameSchema;

/** A length of time up to `max` ms. */
export const durationMs = (max: number) => z.number().int().min(0).max(max);

/** An address, which may hold variables. */
export const urlSchema = z.string().min(1).max(2000);

/** A currency by its ISO 4217 code. */
export const currencySchema = z.string().regex(/^[A-Z]{3}$/, 'expected a currency such as EUR');

/** One word or phrase, or several. */
export const wordsSchema = z.union([
  z
    .string()
    .min(1)
    .max(100)
    .transform((word) => [word]),
  z.array(z.string().min(1).max(100)).min(1).max(50),
]);
