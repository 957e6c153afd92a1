/** Languages as AudioHook names them: with a region, `en-US`. */

/** `language`, in BCP-47, with its likeliest region (UTS 35); as it is where there is none. */
export function toLocale(language: string): string {
  try {
    const locale = new Intl.Locale(language);
    const region = locale.region ?? locale.maximize().region;
    return region === undefined ? language : `${locale.language}-${region}`;
  } catch {
    return language;
  }
}
