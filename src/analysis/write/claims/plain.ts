/** The text as it is read: one width, one minus, no emphasis and nothing invisible. */
export function plain(text: string): string {
  const superscripts = text.replace(/10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_all, digits: string) => `10^${digits.normalize('NFKC')}`)
  return superscripts
    .normalize('NFKC')
    .replace(/\p{Cf}|\p{Extended_Pictographic}|\uFE0F/gu, (char) => (/\d/.test(char) ? char : ''))
    .replace(/[−–—]/g, '-')
    .replace(/\*\*|__|`/g, '')
    .replace(/[〜～]/g, '~')
    .replace(/[’]/g, "'")
}
