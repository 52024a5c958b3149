// What `unzip -l` shows: the table of contents of an archive, of which nothing is unpacked.

import type { ShellResult } from '../shell-extensions.ts'
import { readZipDirectory } from '../zip-directory.ts'
import { globExpression } from './globs.ts'

const HEAD = `  Length      Date    Time    Name
---------  ---------- -----   ----
`
const RULE = `---------                     -------
`
const EXIT_NOTHING = 11

export type Listing = {
  name: string
  bytes: Uint8Array
  wanted: readonly string[]
  isQuiet: boolean
  maxEntries: number
}

export function listed({ name, bytes, wanted, isQuiet, maxEntries }: Listing): ShellResult {
  const directory = readZipDirectory(bytes, maxEntries)
  if (!directory.ok) return { stdout: '', stderr: `unzip: ${name}: ${directory.reason}\n`, exitCode: 9 }
  const chosen = wantedTest(wanted)
  const entries = directory.entries.filter((entry) => chosen(entry.name ?? ''))
  const rows = entries.map((entry) => {
    const shown = entry.name ?? '(a name that is not in UTF-8)'
    return `${String(entry.sizeBytes).padStart(9)}  ${entry.changed}   ${shown}\n`
  })
  const total = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const count = `${entries.length} file${entries.length === 1 ? '' : 's'}`
  const foot = `${RULE}${String(total).padStart(9)}                     ${count}\n`
  const stdout = `${isQuiet ? '' : `Archive:  ${name}\n`}${HEAD}${rows.join('')}${foot}`
  return { stdout, stderr: '', exitCode: wanted.length > 0 && entries.length === 0 ? EXIT_NOTHING : 0 }
}

/** Names may be patterns; `*` goes over slashes. */
export function wantedTest(wanted: readonly string[]): (name: string) => boolean {
  const expressions = wanted.map((pattern) => globExpression(pattern))
  return (name) => wanted.length === 0 || expressions.some((expression) => expression.test(name))
}
