// The console's words in the reader's language. A text is named by its English wording, so what a page says stands in the page;
// the type lets no text be used that has no Chinese wording in `zh.ts`.

import type { ZH } from './zh.ts'

export type Text = keyof typeof ZH

export const LANGUAGES = { en: 'English', zh: '中文' } as const
export type Language = keyof typeof LANGUAGES

const STORED_AS = 'bellwether.language'

/** What the reader chose, else the first language of the browser that the console has. */
export const language: Language = chosenLanguage()

/** For numbers and dates. */
export const locale = language === 'zh' ? 'zh-CN' : 'en-GB'

/** For the `lang` of what the console itself says inside a text of another language. */
export const languageTag = language === 'zh' ? 'zh-CN' : 'en'

let book: Readonly<Record<string, string>> = {}

/** To be awaited before the first page is drawn: the Chinese wording is loaded by its readers alone. */
export async function loadTexts(): Promise<void> {
  document.documentElement.lang = languageTag
  if (language === 'zh') book = (await import('./zh.ts')).ZH
}

/** The text in the reader's language, with each `{name}` of it replaced by the value of that name. */
export function say(text: Text, values: Readonly<Record<string, string | number>> = {}): string {
  return (book[text] ?? text).replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))
}

/** A sentence of the service, which is English: in the reader's language where that is known here, else as it came. */
export const sayWhereKnown = (sentence: string): string => book[sentence] ?? sentence

/** Draws everything anew in another language. */
export function changeLanguage(to: Language): void {
  try {
    localStorage.setItem(STORED_AS, to)
    location.reload()
  } catch (error) {
    // Full, or closed to pages: the choice holds for as long as the address has it.
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
    // A browser that keeps nothing for pages says so by an exception: then there is no choice.
    if (error instanceof DOMException) return null
    throw error
  }
}
