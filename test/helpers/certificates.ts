/** Certificates for tests, made by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The files of a certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate for localhost and 127.0.0.1, in `folder`, whose files begin with `name`. */
export function makeCertificate(folder: string, name: string, days = 30): CertificateFiles {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  execFileSync('openssl', [...kind, '-days', String(days), ...names, '-keyout', files.key, '-out', files.cert], {
    stdio: 'pipe',
  });
  return files;
}
