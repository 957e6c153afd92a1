/** Certificates and keys for SIP over TLS, read again when their files change. */
import { createSecureContext, rootCertificates, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { Clock } from '../../foundation/clock.ts';
import type { Log } from '../../foundation/log/log.ts';
import { ConfigError } from '../../foundation/settings/config.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import { WatchedFile } from '../../foundation/watched-file.ts';
import { FileError } from '../../foundation/yaml-text.ts';

const FILE_MAX_BYTES = 1_048_576;
const SETTINGS = ['SIP_TLS_CERT', 'SIP_TLS_KEY', 'SIP_TLS_CA'] as const;
type TlsSetting = (typeof SETTINGS)[number];
const BEGINNINGS: Readonly<Record<TlsSetting, RegExp>> = {
  SIP_TLS_CERT: /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/,
  SIP_TLS_KEY: /-----BEGIN (?:\w+ )?PRIVATE KEY-----/,
  SIP_TLS_CA: /-----BEGIN (?:TRUSTED )?CERTIFICATE-----/,
};

/** The files as they are now. */
export class TlsFiles {
  readonly #texts: Partial<Record<TlsSetting, string>> = {};
  readonly #watches: WatchedFile[] = [];
  #options: SecureContextOptions = {};
  #context: SecureContext;
  /** Whether all files have been read once: before, a key waits for its certificate. */
  #complete = false;
  /** Called when a file has changed. */
  onChange: () => void = () => undefined;

  private constructor() {
    this.#context = createSecureContext();
  }

  /** Reads what the settings name. @throws ConfigError when a file cannot be used */
  static async open(
    settings: Pick<Settings, TlsSetting>,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ): Promise<TlsFiles> {
    const files = new TlsFiles();
    const named = SETTINGS.filter((setting) => settings[setting] !== '');
    try {
      for (const setting of named) {
        const take = (text: string): Record<string, number> => files.#take(setting, text);
        const options = { path: settings[setting], setting, maxBytes: FILE_MAX_BYTES, clock, log, take };
        files.#watches.push(await openNamed(options));
      }
      files.#complete = true;
      files.#renew();
    } catch (error) {
      files.close();
      if (error instanceof FileError) throw new ConfigError([error.message]);
      throw error;
    }
    return files;
  }

  /** Our certificate and key, and whose signatures count. */
  get options(): SecureContextOptions {
    return this.#options;
  }

  /** The same, for connections that we open. */
  get context(): SecureContext {
    return this.#context;
  }

  /** Reads no more. */
  close(): void {
    for (const watch of this.#watches) watch.close();
  }

  #take(setting: TlsSetting, text: string): Record<string, number> {
    if (!BEGINNINGS[setting].test(text)) {
      const expected = setting === 'SIP_TLS_KEY' ? 'a private key' : 'certificates';
      throw new FileError(`got a file without ${expected} in PEM, expected ${expected}`);
    }
    this.#texts[setting] = text;
    if (this.#complete) this.#renew();
    return {};
  }

  /** A key that was changed before its certificate waits for it: until then the pair before stays. */
  #renew(): void {
    const { SIP_TLS_CERT: cert, SIP_TLS_KEY: key, SIP_TLS_CA: ca } = this.#texts;
    const options: SecureContextOptions = {
      minVersion: 'TLSv1.2',
      ca: ca === undefined ? [...rootCertificates] : ca,
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
    };
    try {
      this.#context = createSecureContext(options);
      this.#options = options;
    } catch (error) {
      const { code = 'of another form' } = error as NodeJS.ErrnoException;
      throw new FileError(`SIP_TLS_CERT and SIP_TLS_KEY: got files that cannot be used (${code}), expected a pair`);
    }
    this.onChange();
  }
}

/** @throws FileError that names the setting */
async function openNamed(options: Parameters<typeof WatchedFile.open>[0]): Promise<WatchedFile> {
  try {
    return await WatchedFile.open(options);
  } catch (error) {
    throw error instanceof FileError ? new FileError(`${options.setting}: ${error.message}`) : error;
  }
}
