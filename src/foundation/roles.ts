/**
 * `admin`: everything; `supervisor`: all calls, and actions on them; `agent`: the calls whose parameter `agent` is
 * theirs; `app`: the API for programs, without the administration.
 */
export const ROLES = ['admin', 'supervisor', 'agent', 'app'] as const;
export type Role = (typeof ROLES)[number];
