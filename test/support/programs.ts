// Programs of the machine that a test compares with, or needs.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The names that are in no folder of PATH. */
export function missingPrograms(names: readonly string[]): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return names.filter((name) => !folders.some((folder) => isExecutable(join(folder, name))))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    // Not there, or not to be run: the answer either way.
    return false
  }
}

/** Skips the test with a message if programs are missing; with `REQUIRE_ALL=1` the reporter counts that as a failure. */
export function needPrograms(skip: (note: string) => never, ...names: string[]): void {
  const missing = missingPrograms(names)
  if (missing.length === 0) return
  const why = `this machine lacks ${missing.join(', ')}`
  console.warn(`skipped: ${why}`)
  skip(why)
}
