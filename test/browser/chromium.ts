/**
 * The browser that the browser tests run in: the distribution's Chromium, driven by playwright-core, which brings none
 * of its own.
 */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts it, with `switches` of Chromium's. @throws Error saying how to install it when there is none. */
export function launchBrowser(switches: readonly string[] = []): Promise<Browser> {
  const executablePath = PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) {
    throw new Error(
      `found no browser at ${PLACES.join(', ')}: install one with "apt-get install chromium" (Debian) and try again`,
    );
  }
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...switches] });
}

/**
 * Switches that give pages a microphone, without asking, in which the recording at `path` is played once for each page
 * that opens it.
 */
export function microphoneOf(path: string): string[] {
  return [
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-audio-capture=${path}%noloop`,
  ];
}
