// The language in which a caller wants to be answered: what `Accept-Language` asks for among those that we have, else the configured one.

import type { Context } from 'hono'
import { config } from '../config.ts'
import type { AppEnv } from './app-env.ts'

const LANGUAGES = ['zh', 'en', 'ko'] as const
export type CallerLanguage = (typeof LANGUAGES)[number]

export function callerLanguage(c: Context<AppEnv>): CallerLanguage {
  return acceptedLanguage(c.req.header('accept-language') ?? '') ?? config(c.env).reportLanguage
}

/** The one that it prefers of ours; null where it names none. */
export function acceptedLanguage(header: string): CallerLanguage | null {
  const ranges = header.split(',').flatMap((part, place) => {
    const [range = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const language = LANGUAGES.find((one) => range === one || range.startsWith(`${one}-`))
    const weight = Number(parameters.find((text) => text.startsWith('q='))?.slice(2) ?? 1)
    return language === undefined || !(weight > 0) ? [] : [{ language, weight, place }]
  })
  ranges.sort((a, b) => b.weight - a.weight || a.place - b.place)
  return ranges[0]?.language ?? null
}
