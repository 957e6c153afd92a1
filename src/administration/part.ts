/** What admins and `trunkline db` do with the records. */
import type { Part } from '../parts/part.ts';

/** Always on: its routes say where nothing is kept. */
export const administration: Part = {
  name: 'administration',
  open: async (services) => (await import('./open.ts')).openAdministration(services),
};
