/** The certificate of the HTTP server and its key, read again when their files change. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock, Timer } from '../clock.ts';
import type { Log } from '../log/log.ts';
import { ConfigError } from '../settings/config.ts';
import type { Settings } from '../settings/settings.ts';
import { markOf, readFileText } from '../watched-file.ts';
import { FileError } from '../yaml-text.ts';

const FILE_MAX_BYTES = 1_048_576;
/** How often the files are looked at. */
const LOOK_MS = 2000;
/** So long before its end a certificate should have been renewed: certbot does so 30 days before. */
export const EXPIRES_SOON_MS = 7 * 86_400_000;

type Paths = Pick<Settings, 'TLS_CERT' | 'TLS_KEY'>;

/** A certificate, with the chain that its file holds, and its key. */
export interface CertificatePair {
  readonly options: SecureContextOptions;
  readonly names: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  /** Whether it is for a host, a name or an address. */
  isFor(host: string): boolean;
}

/**
 * Reads both files. `prefix` = of the names of the settings that errors name: SIP_ for the pair of SIP.
 * @throws FileError when one cannot be used, or they do not belong together
 */
export async function readCertificatePair({ TLS_CERT, TLS_KEY }: Paths, prefix = ''): Promise<CertificatePair> {
  const [certSetting, keySetting] = [`${prefix}TLS_CERT`, `${prefix}TLS_KEY`];
  const [cert, key] = await Promise.all([readPem(certSetting, TLS_CERT), readPem(keySetting, TLS_KEY)]);
  const certificate = parsed(certSetting, TLS_CERT, 'a certificate in PEM', () => new X509Certificate(cert));
  const privateKey = parsed(keySetting, TLS_KEY, 'a private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw new FileError(`${keySetting}: ${TLS_KEY}: got the key of another certificate, expected that of ${TLS_CERT}`);
  const options: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' };
  parsed(certSetting, TLS_CERT, 'a certificate that TLS can use', () => createSecureContext(options));
  const { subjectAltName, subject, validFrom, validTo } = certificate;
  return {
    options,
    names: subjectAltName ?? subject,
    validFrom: new Date(validFrom),
    validTo: new Date(validTo),
    isFor: (host) => (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined,
  };
}

async function readPem(setting: string, path: string): Promise<string> {
  try {
    return await readFileText(path, FILE_MAX_BYTES);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new FileError(`${setting}: ${code === undefined ? message : `${path}: cannot be read (${code})`}`);
  }
}

function parsed<T>(setting: string, path: string, expected: string, parse: () => T): T {
  try {
    return parse();
  } catch {
    throw new FileError(`${setting}: ${path}: expected ${expected}, got something else`);
  }
}

interface CertificateOptions {
  readonly settings: Paths;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/**
 * Looks at both files every two seconds, through links too, as certbot and Kubernetes renew them. A pair that cannot be
 * used is told, and the one before stays.
 */
export class ServerCertificate {
  readonly #options: CertificateOptions;
  readonly #timer: Timer;
  #pair: CertificatePair;
  #marks: string;
  #isLooking = false;
  /** What was said of the end of the certificate in use. */
  #told: 'nothing' | 'soon' | 'expired' = 'nothing';
  /** Called when there is another one. */
  onChange: () => void = () => undefined;

  private constructor(options: CertificateOptions, pair: CertificatePair, marks: string) {
    this.#options = options;
    this.#pair = pair;
    this.#marks = marks;
    this.#timer = options.clock.every(LOOK_MS, () => void this.look(), true);
    this.#tellEnd();
  }

  /** Null = TLS_CERT is not set. @throws ConfigError when the files cannot be used */
  static async open(options: CertificateOptions): Promise<ServerCertificate | null> {
    const { settings } = options;
    if (settings.TLS_CERT === '') return null;
    try {
      const marks = await marksOf(settings);
      return new ServerCertificate(options, await readCertificatePair(settings), marks);
    } catch (error) {
      if (error instanceof FileError) throw new ConfigError([error.message]);
      throw error;
    }
  }

  /** When it expires, in seconds since 1970. */
  get expiresSeconds(): number {
    return this.#pair.validTo.getTime() / 1000;
  }

  /** For the server that is to use it. */
  get options(): SecureContextOptions {
    return this.#pair.options;
  }

  /** Reads the files if they have changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const marks = await marksOf(this.#options.settings);
      if (marks !== this.#marks) await this.#renew(marks);
      this.#tellEnd();
    } finally {
      this.#isLooking = false;
    }
  }

  /** Looks no more. */
  close(): void {
    this.#timer.cancel();
  }

  async #renew(marks: string): Promise<void> {
    const { settings, log } = this.#options;
    this.#marks = marks;
    try {
      this.#pair = await readCertificatePair(settings);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error(`the files of TLS_CERT and TLS_KEY have changed and cannot be used; the pair before stays: ${message}`);
      return;
    }
    this.#told = 'nothing';
    log.info({ validTo: this.#pair.validTo.toISOString() }, 'TLS_CERT and TLS_KEY were read again');
    this.onChange();
  }

  #tellEnd(): void {
    const { clock, log } = this.#options;
    const { validFrom, validTo } = this.#pair;
    const leftMs = validTo.getTime() - clock.wall().getTime();
    const state = leftMs <= 0 ? 'expired' : leftMs <= EXPIRES_SOON_MS ? 'soon' : 'nothing';
    if (state === this.#told) return;
    this.#told = state;
    const facts = { validFrom: validFrom.toISOString(), validTo: validTo.toISOString() };
    if (state === 'expired') log.error(facts, 'the certificate of TLS_CERT has expired: clients refuse it. Renew it');
    else if (state === 'soon') log.warn(facts, 'the certificate of TLS_CERT expires within a week. Renew it');
  }
}

async function marksOf({ TLS_CERT, TLS_KEY }: Paths): Promise<string> {
  return (await Promise.all([markOf(TLS_CERT), markOf(TLS_KEY)])).join(' ');
}
