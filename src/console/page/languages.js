/** The English name of a language, such as `German`. @param {string} code BCP-47 @returns {string} */
export function languageName(code) {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code;
  } catch {
    return code;
  }
}
