/** Conditions on variables, as flows write them: `{variable: age, atLeast: 18}`. */
import { z } from 'zod';

/** What a variable holds. */
export const valueSchema = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** What a variable holds. Dates are `2026-11-23`, times `14:30`, rows of digits texts. */
export type FlowValue = z.infer<typeof valueSchema>;

/** Variables by name. */
export type FlowValues = Readonly<Record<string, FlowValue>>;

/** The variable that says who has answered a call that we make. */
export const ANSWERED_BY = 'answered.by';

/**
 * Names a variable: its own name, `answered.by`, or one of `call.…` (`call.id`, `call.from`, `call.to`,
 * `call.language`).
 */
export const variableSchema = z
  .string()
  .regex(/^[A-Za-z][\w-]{0,63}(?:\.[A-Za-z][\w-]{0,63})?$/, 'expected the name of a variable such as orderNumber');

/** What has an order: numbers, times such as `14:30`, dates such as `2026-11-23`. */
const orderedSchema = z.union([
  z.number(),
  z
    .string()
    .regex(/^(\d\d:\d\d|\d{4}-\d\d-\d\d)$/, 'expected a number, a time such as 14:30 or a date such as 2026-11-23'),
]);

/**
 * A comparison of one variable. All that it names must be true. Texts are compared without regard to case; a number, a
 * time and a date only with their like: `above: 3` is false for the variable `4 dogs`, and for one that was never set.
 */
export const conditionSchema = z
  .strictObject({
    variable: variableSchema,
    is: valueSchema.optional(),
    isNot: valueSchema.optional(),
    oneOf: z.array(valueSchema).min(1).max(100).optional(),
    contains: z.string().min(1).optional(),
    startsWith: z.string().min(1).optional(),
    above: orderedSchema.optional(),
    below: orderedSchema.optional(),
    atLeast: orderedSchema.optional(),
    atMost: orderedSchema.optional(),
    isSet: z.boolean().optional(),
  })
  .refine((condition) => Object.keys(condition).length > 1, 'expected a comparison such as is, above, oneOf or isSet');

export type FlowCondition = z.infer<typeof conditionSchema>;
