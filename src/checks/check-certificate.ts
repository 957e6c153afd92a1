/** The checks of `trunkline doctor` for certificates: the server's own, and that of SIP over TLS. */
import { X509Certificate } from 'node:crypto';
import { systemClock } from '../foundation/clock.ts';
import type { Finding } from '../foundation/finding.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { EXPIRES_SOON_MS, readCertificatePair } from '../foundation/tls/server-certificate.ts';
import { readFileText } from '../foundation/watched-file.ts';
import { FileError } from '../foundation/yaml-text.ts';

type CertificateSettings = Pick<
  Settings,
  'TLS_CERT' | 'TLS_KEY' | 'SIP_TLS_CERT' | 'SIP_TLS_KEY' | 'SIP_TLS_CA' | 'PUBLIC_URL' | 'GATEWAY_URL'
>;

const FILE_MAX_BYTES = 1_048_576;
const CERTIFICATES = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** How long something holds. */
interface Validity {
  readonly validFrom: Date;
  readonly validTo: Date;
}

/** Whether the pairs are ones that clients accept now, and SIP_TLS_CA certificates; nothing of those not set. */
export async function checkCertificates(settings: CertificateSettings): Promise<Finding[]> {
  const { TLS_CERT, TLS_KEY, SIP_TLS_CERT, SIP_TLS_KEY, SIP_TLS_CA, PUBLIC_URL, GATEWAY_URL } = settings;
  const addresses = { PUBLIC_URL, GATEWAY_URL };
  const sip = { TLS_CERT: SIP_TLS_CERT, TLS_KEY: SIP_TLS_KEY };
  return [
    ...(TLS_CERT === '' ? [] : await checkPair('', { TLS_CERT, TLS_KEY }, addresses)),
    ...(SIP_TLS_CERT === '' ? [] : await checkPair('SIP_', sip, {})),
    ...(SIP_TLS_CA === '' ? [] : [await checkAuthorities(SIP_TLS_CA)]),
  ];
}

/** `addresses` = those of ours that clients ask, by their settings; '' = not set. */
async function checkPair(
  prefix: '' | 'SIP_',
  paths: Pick<Settings, 'TLS_CERT' | 'TLS_KEY'>,
  addresses: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const name = prefix === '' ? 'tls' : 'sip tls';
  try {
    const pair = await readCertificatePair(paths, prefix);
    const detail = `${prefix}TLS_CERT: for ${pair.names}, until ${pair.validTo.toISOString()}`;
    const others = Object.entries(addresses).filter(([, url]) => url.startsWith('https:') && !pair.isFor(hostOf(url)));
    return [
      { name, ...judge(detail, pair) },
      ...others.map(([setting, url]): Finding => {
        const wrong = `TLS_CERT is not for ${hostOf(url)}, the host of ${setting}`;
        return { name, status: 'warn', detail: `${wrong}: clients that ask without a proxy refuse it` };
      }),
    ];
  } catch (error) {
    if (error instanceof FileError) return [{ name, status: 'fail', detail: error.message }];
    throw error;
  }
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

async function checkAuthorities(path: string): Promise<Finding> {
  const name = 'sip tls';
  try {
    const found = (await readFileText(path, FILE_MAX_BYTES)).match(CERTIFICATES) ?? [];
    const certificates = found.map((text) => new X509Certificate(text));
    const detail = `SIP_TLS_CA: ${certificates.length} certificate${certificates.length === 1 ? '' : 's'} in ${path}`;
    if (certificates.length === 0) return { name, status: 'fail', detail: `${detail}, expected one or more in PEM` };
    const ends = certificates.map(({ validTo }) => new Date(validTo).getTime());
    const first = new Date(Math.min(...ends));
    return {
      name,
      ...judge(`${detail}, the first until ${first.toISOString()}`, { validFrom: new Date(0), validTo: first }),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, status: 'fail', detail: `SIP_TLS_CA: ${path} cannot be used: ${reason}` };
  }
}

function judge(detail: string, { validFrom, validTo }: Validity): Omit<Finding, 'name'> {
  const nowMs = systemClock.wall().getTime();
  const leftMs = validTo.getTime() - nowMs;
  if (leftMs <= 0) return { status: 'fail', detail: `${detail}: it has expired, so the other side refuses it` };
  if (validFrom.getTime() > nowMs)
    return { status: 'fail', detail: `${detail}, but only from ${validFrom.toISOString()}` };
  return leftMs <= EXPIRES_SOON_MS ? { status: 'warn', detail: `${detail}: renew it` } : { status: 'ok', detail };
}
