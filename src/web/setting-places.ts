// Maps an error to the page of the setting that fixes it. The errors are the service's own texts, English or Chinese.

const PLACES: readonly (readonly [said: RegExp, section: string])[] = [
  [/\btool servers?\b|工具服务器/i, 'tool-servers'],
  [/\brunners?\b.*\bsettings\b/i, 'runtime'],
  [/\bbudget\b.*\bsettings\b/i, 'limits'],
  [/\bagent that the settings name\b/i, 'agent'],
  [/\bsettings of the channel\b/i, 'notifications'],
  [/\bsettings\b|\bllm_\w+|设置/i, 'model'],
]

/** The page with the setting; null for a text without one. */
export function placeOfSetting(said: string): string | null {
  const found = PLACES.find(([words]) => words.test(said))
  return found === undefined ? null : `/settings/${found[1]}`
}
