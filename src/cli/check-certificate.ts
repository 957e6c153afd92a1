/** The check of `trunkline doctor` for the server's own certificate. */
import { systemClock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { EXPIRES_SOON_MS, readCertificatePair } from '../foundation/tls/server-certificate.ts';
import { FileError } from '../foundation/yaml-text.ts';
import type { Finding } from './finding.ts';

/** Whether TLS_CERT and TLS_KEY are a pair that clients accept now; nothing where they are not set. */
export async function checkCertificate(settings: Pick<Settings, 'TLS_CERT' | 'TLS_KEY'>): Promise<Finding[]> {
  if (settings.TLS_CERT === '') return [];
  try {
    const { names, validFrom, validTo } = await readCertificatePair(settings);
    const nowMs = systemClock.wall().getTime();
    const leftMs = validTo.getTime() - nowMs;
    const detail = `TLS_CERT: for ${names}, until ${validTo.toISOString()}`;
    if (leftMs <= 0)
      return [{ name: 'tls', status: 'fail', detail: `${detail}: it has expired, so clients refuse it` }];
    if (validFrom.getTime() > nowMs)
      return [{ name: 'tls', status: 'fail', detail: `${detail}, but only from ${validFrom.toISOString()}` }];
    const status = leftMs <= EXPIRES_SOON_MS ? 'warn' : 'ok';
    return [{ name: 'tls', status, detail: status === 'ok' ? detail : `${detail}: renew it` }];
  } catch (error) {
    if (error instanceof FileError) return [{ name: 'tls', status: 'fail', detail: error.message }];
    throw error;
  }
}
