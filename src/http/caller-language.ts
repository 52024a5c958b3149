// The language for an answer: the preferred one of `Accept-Language` among those that we have, else the configured one.

import type { Context } from 'hono'
import { config } from '../config.ts'
import type { AppEnv } from './app-env.ts'

const LANGUAGES = ['zh', 'en', 'ko'] as const
export type CallerLanguage = (typeof LANGUAGES)[number]

export function callerLanguage(c: Context<AppEnv>): CallerLanguage {
  return acceptedLanguage(c.req.header('accept-language') ?? '') ?? config(c.env).reportLanguage
}

/** The preferred one among our languages; null when the header names none. */
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
