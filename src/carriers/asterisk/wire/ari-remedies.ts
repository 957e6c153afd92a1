/** What helps when Asterisk's REST interface does not take us, by what a 22.10 says in each case. */

/** Nothing answers at the address: the HTTP server of Asterisk is off, or listens elsewhere. */
export const NOTHING_ANSWERS =
  'nothing answers at ARI_URL: `http show status` in Asterisk says whether its HTTP server is enabled, and where; ' +
  'http.conf may have one [general] only, with enabled = yes';

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [401, 'ARI_USER and ARI_PASSWORD are not those of a user in ari.conf'],
  [403, 'the user of ARI_USER may only read: it needs read_only = no in ari.conf'],
  [
    404,
    'an HTTP server answers at ARI_URL, but no ARI: `ari show status` in Asterisk says whether it is enabled; ' +
      'ari.conf needs one [general] and no second one, res_ari.so must be loaded, and ARI_URL ends in /ari, ' +
      'behind the prefix of http.conf',
  ],
  [503, 'Asterisk is still starting'],
]);

/** Of an answer that is not about what was asked for; null = there is nothing to say. */
export function ariRemedy(status: number): string | null {
  return REMEDIES.get(status) ?? null;
}
