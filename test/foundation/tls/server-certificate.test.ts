import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/foundation/log/log.ts';
import { readSettings } from '../../../src/foundation/settings/config.ts';
import { readCertificatePair, ServerCertificate } from '../../../src/foundation/tls/server-certificate.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { type CertificateFiles, makeCertificate } from '../../helpers/certificates.ts';
import { eventually } from '../../helpers/eventually.ts';

const DAY_MS = 86_400_000;

let folder: string;
let lines: string[];
let opened: ServerCertificate | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  lines = [];
});
afterEach(() => {
  opened?.close();
  opened = null;
  rmSync(folder, { recursive: true });
});

const settingsOf = ({ cert, key }: CertificateFiles) => ({ TLS_CERT: cert, TLS_KEY: key });

async function open(files: CertificateFiles, clock = new FakeClock(new Date())): Promise<ServerCertificate> {
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  opened = await ServerCertificate.open({ settings: settingsOf(files), clock, log });
  if (opened === null) throw new Error('there is none');
  return opened;
}

describe('TLS_CERT and TLS_KEY', () => {
  it('belong together', () => {
    const problem = /TLS_CERT and TLS_KEY belong together: set both or neither/;
    expect(() => readSettings({ TLS_CERT: '/etc/tls.crt' })).toThrow(problem);
    expect(() => readSettings({ TLS_KEY: '/etc/tls.key' })).toThrow(problem);
    expect(readSettings({ TLS_CERT: 'a', TLS_KEY: 'b' })).toMatchObject({ TLS_CERT: 'a', TLS_KEY: 'b' });
  });

  it('are not needed', async () => {
    const log = createLog('silent');
    const settings = { TLS_CERT: '', TLS_KEY: '' };
    expect(await ServerCertificate.open({ settings, clock: new FakeClock(), log })).toBeNull();
  });

  it('are read as a pair', async () => {
    const pair = await readCertificatePair(settingsOf(makeCertificate(folder, 'one')));
    expect(pair.names).toBe('DNS:localhost, IP Address:127.0.0.1');
    expect(Math.round((pair.validTo.getTime() - pair.validFrom.getTime()) / DAY_MS)).toBe(30);
  });

  it('stop the start when they cannot be used, with the file and why', async () => {
    const one = makeCertificate(folder, 'one');
    const two = makeCertificate(folder, 'two');
    const none = join(folder, 'none');
    const text = join(folder, 'text');
    writeFileSync(text, 'no PEM');
    await expect(open({ ...one, cert: none })).rejects.toThrow(`TLS_CERT: ${none}: cannot be read (ENOENT)`);
    await expect(open({ ...one, key: folder })).rejects.toThrow('TLS_KEY: ');
    await expect(open({ ...one, cert: text })).rejects.toThrow(`TLS_CERT: ${text}: expected a certificate in PEM`);
    await expect(open({ ...one, key: text })).rejects.toThrow(`TLS_KEY: ${text}: expected a private key in PEM`);
    await expect(open({ ...one, key: two.key })).rejects.toThrow('got the key of another certificate');
    await expect(open({ ...one, key: two.key })).rejects.toMatchObject({ name: 'ConfigError' });
  });

  it('are read again when they change, also when a link points elsewhere, as Kubernetes does it', async () => {
    const [before, after] = ['before', 'after'].map((name) => {
      mkdirSync(join(folder, name));
      return makeCertificate(join(folder, name), 'tls');
    });
    symlinkSync('before', join(folder, 'current'));
    const files = { cert: join(folder, 'current', 'tls.crt'), key: join(folder, 'current', 'tls.key') };
    const certificate = await open(files);
    const changes: string[] = [];
    certificate.onChange = () => void changes.push(String(certificate.options.cert));
    await certificate.look();
    expect(changes).toEqual([]);
    symlinkSync('after', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await certificate.look();
    const [was, is] = await Promise.all([before, after].map((each) => readCertificatePair(settingsOf(each ?? files))));
    expect(changes).toEqual([is?.options.cert]);
    expect(is?.options.cert).not.toBe(was?.options.cert);
    expect(lines.join('')).toContain('TLS_CERT and TLS_KEY were read again');
  });

  it('stay as they were while new ones cannot be used, which is told once', async () => {
    const one = makeCertificate(folder, 'one');
    const certificate = await open(one);
    const { cert } = certificate.options;
    writeFileSync(one.cert, 'no PEM');
    await certificate.look();
    await certificate.look();
    expect(certificate.options.cert).toBe(cert);
    const told = lines.filter((line) => line.includes('cannot be used; the pair before stays'));
    expect(told).toHaveLength(1);
    expect(told[0]).not.toContain('PRIVATE KEY');
  });

  it('wait for each other when one is changed before the other', async () => {
    const one = makeCertificate(folder, 'one');
    const two = makeCertificate(folder, 'two');
    const certificate = await open(one);
    const { cert } = certificate.options;
    renameSync(two.cert, one.cert);
    await certificate.look();
    expect(certificate.options.cert).toBe(cert);
    renameSync(two.key, one.key);
    await certificate.look();
    expect(certificate.options.cert).not.toBe(cert);
  });

  it('are looked at every two seconds, and their end is told a week before and when it is there', async () => {
    const clock = new FakeClock(new Date());
    const certificate = await open(makeCertificate(folder, 'one', 10), clock);
    const told = (text: string): number => lines.filter((line) => line.includes(text)).length;
    expect(lines).toEqual([]);
    clock.advance(4 * DAY_MS);
    await eventually(() => expect([told('expires within a week'), told('has expired')]).toEqual([1, 0]));
    clock.advance(7 * DAY_MS);
    await eventually(() => expect([told('expires within a week'), told('has expired')]).toEqual([1, 1]));
    await certificate.look();
    expect(lines).toHaveLength(2);
  });
});
