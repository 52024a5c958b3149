// The console's texts in the user's language. The key of a text is its English wording, so it is readable in the page's
// code; the type system rejects texts without a Chinese wording in `zh.ts`.

import type { ZH } from './zh.ts'

export type Text = keyof typeof ZH

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'bellwether.language'

/** The user's choice, otherwise the first language of the browser that the console has. */
export const language: Language = chosenLanguage()

/** For numbers and dates. */
export const locale = language === 'zh' ? 'zh-CN' : 'en-GB'

/** The `lang` of the console's own texts inside a text of another language. */
export const languageTag = language === 'zh' ? 'zh-CN' : 'en'

let book: Readonly<Record<string, string>> = {}

/** Must be awaited before the first page is rendered: the Chinese texts are loaded only if they are needed. */
export async function loadTexts(): Promise<void> {
  document.documentElement.lang = languageTag
  if (language === 'zh') book = (await import('./zh.ts')).ZH
}

/** The text in the user's language, with each `{name}` replaced by the value of that name. */
export function say(text: Text, values: Readonly<Record<string, string | number>> = {}): string {
  return (book[text] ?? text).replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** An English sentence of the service: translated if a translation is known, otherwise unchanged. */
export const sayWhereKnown = (sentence: string): string => book[sentence] ?? sentence

/** Renders everything again in another language. */
export function changeLanguage(to: Language): void {
  try {
    localStorage.setItem(STORED_AS, to)
    location.reload()
  } catch (error) {
    // Storage is full or disabled: the choice is kept only as long as the URL contains it.
    if (!(error instanceof DOMException)) throw error
    location.search = `?lang=${to}`
  }
}

function chosenLanguage(): Language {
  const asked = new URLSearchParams(globalThis.location?.search ?? '').get('lang') ?? ''
  const wanted = [asked, storedChoice() ?? '', ...navigator.languages]
  const found = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES)
  return (found as Language | undefined) ?? 'en'
}

function storedChoice(): string | null {
  try {
    return globalThis.localStorage?.getItem(STORED_AS) ?? null
  } catch (error) {
    // The browser stores nothing for pages, so there is no choice.
    if (error instanceof DOMException) return null
    throw error
  }
}
