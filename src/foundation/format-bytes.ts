/** Sizes for people. */

const MEGABYTE = 1_000_000;

/** `16.1 MB`, in units of 1,000,000 bytes; less than that in kB, 10,000 times that and more in GB. */
export function formatBytes(bytes: number): string {
  if (bytes < MEGABYTE) return `${Math.max(1, Math.round(bytes / 1000))} kB`;
  const megabytes = bytes / MEGABYTE;
  if (megabytes >= 10_000) return `${Math.round(megabytes / 1000)} GB`;
  return `${megabytes < 100 ? megabytes.toFixed(1) : Math.round(megabytes)} MB`;
}
