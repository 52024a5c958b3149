// The texts of screening, in three languages.

import { EN } from './texts/en.ts'
import { KO } from './texts/ko.ts'
import { ZH } from './texts/zh.ts'
import type { ScreeningTexts } from './words.ts'

export const SCREENING_TEXTS: Readonly<Record<'zh' | 'en' | 'ko', ScreeningTexts>> = { zh: ZH, en: EN, ko: KO }
