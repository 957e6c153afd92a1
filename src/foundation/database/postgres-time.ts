/** Time in statements to PostgreSQL; `postgres.ts`, which loads its driver, is not needed for it. */

/** Now, by the database's clock, in ms since 1970: gateways' own clocks may differ. */
export const POSTGRES_NOW_MS = '(extract(epoch from clock_timestamp()) * 1000)::bigint';
