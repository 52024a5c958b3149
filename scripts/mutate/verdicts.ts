// Stored verdicts, so that a stopped run can resume. A verdict is valid while the mutated file and
// the test files that decided it are unchanged.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Verdict } from './judge.ts'
import type { Mutation } from './mutations.ts'
import { textKey } from './reach.ts'

type StoredVerdict = Verdict & { tests: string[] }

export class Verdicts {
  readonly #file: string
  readonly #kept: Record<string, StoredVerdict>

  constructor(file: string, { afresh }: { afresh: boolean }) {
    this.#file = file
    this.#kept =
      afresh || !existsSync(file) ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Record<string, StoredVerdict>)
  }

  /** Null if there is no verdict, or if it was decided by other tests. */
  find(mutation: Mutation, tests: readonly string[]): Verdict | null {
    const kept = this.#kept[keyOf(mutation)]
    if (!kept) return null
    const { state, by } = kept
    const now = new Set(tests.map(textKey))
    const then = new Set(kept.tests)
    const isSame = state === 'caught' ? kept.tests.every((key) => now.has(key)) : [...now].every((key) => then.has(key))
    return isSame ? { state, by } : null
  }

  keep(mutation: Mutation, { state, by }: Verdict, tests: readonly string[]): void {
    if (state !== 'caught' && state !== 'survived') return
    const catching = tests.find((test) => by.startsWith(`${test}: `))
    this.#kept[keyOf(mutation)] = { state, by, tests: (catching ? [catching] : tests).map(textKey) }
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, JSON.stringify(this.#kept))
  }
}

function keyOf({ path, start, end, replacement }: Mutation): string {
  return JSON.stringify([textKey(path), start, end, replacement])
}
