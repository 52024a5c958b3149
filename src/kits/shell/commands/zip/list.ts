// The output of `unzip -l`, `-v` and `-Z1`: an archive's table of contents, without unpacking.

import { utcOf, type Zone } from '../../../../lib/clock.ts'
import { readZipDirectory, STORED, type ZipEntry, zipComment } from '../../../zip/index.ts'
import type { ShellResult } from '../../shell-extensions.ts'
import { formatTime } from '../file-times.ts'
import { globExpression } from '../globs.ts'
import { percent } from './archive.ts'

const EXIT_NO_ARCHIVE = 9
const EXIT_NOTHING = 11

export type Listing = {
  name: string
  bytes: Uint8Array
  wanted: readonly string[]
  excluded: readonly string[]
  isQuiet: boolean
  ignoresCase: boolean
  maxEntries: number
  zone: Zone
}

export function listArchive(listing: Listing, isLong: boolean): ShellResult {
  const entries = chosen(listing)
  if (typeof entries === 'string') return unreadable(listing.name, entries)
  const table = isLong ? longTable(entries) : shortTable(entries)
  const stdout = `${listing.isQuiet ? '' : titleOf(listing)}${table}`
  return { stdout, stderr: '', exitCode: exitCodeOf(listing, entries) }
}

/** The name of the archive and its comment. */
export function titleOf({ name, bytes }: Pick<Listing, 'name' | 'bytes'>): string {
  const comment = zipComment(bytes)
  return `Archive:  ${name}\n${comment === '' ? '' : `${comment}\n`}`
}

export function namesOf(listing: Listing): ShellResult {
  const entries = chosen(listing)
  if (typeof entries === 'string') return unreadable(listing.name, entries)
  const stdout = entries.map((entry) => `${shownName(entry)}\n`).join('')
  return { stdout, stderr: '', exitCode: exitCodeOf(listing, entries) }
}

function chosen({ bytes, wanted, excluded, ignoresCase, maxEntries, zone }: Listing): ZipEntry[] | string {
  const directory = readZipDirectory(bytes, maxEntries)
  if (!directory.ok) return directory.reason
  const isWanted = wantedTest(wanted, ignoresCase)
  const isLeftOut = excluded.length === 0 ? () => false : wantedTest(excluded, ignoresCase)
  return directory.entries
    .filter(({ name }) => isWanted(name ?? '') && !isLeftOut(name ?? ''))
    .map((entry) => inZone(entry, zone))
}

/** Times stored in UTC are shown in the time zone; others are local times already. */
export function inZone(entry: ZipEntry, zone: Zone): ZipEntry {
  const { hasExactTime, modifiedMs } = entry
  if (hasExactTime) return { ...entry, changed: formatTime('%Y-%m-%d %H:%M', modifiedMs, zone) }
  return { ...entry, modifiedMs: utcOf(modifiedMs, zone.offsetAt) ?? modifiedMs }
}

const unreadable = (name: string, reason: string): ShellResult => ({
  stdout: '',
  stderr: `unzip: ${name}: ${reason}\n`,
  exitCode: EXIT_NO_ARCHIVE,
})

const exitCodeOf = ({ wanted }: Listing, entries: readonly ZipEntry[]): number =>
  wanted.length > 0 && entries.length === 0 ? EXIT_NOTHING : 0

const shownName = ({ name }: ZipEntry): string => name ?? '(a name that is not in UTF-8)'
const counted = (count: number): string => `${count} file${count === 1 ? '' : 's'}`
const sum = (entries: readonly ZipEntry[], of: (entry: ZipEntry) => number): number =>
  entries.reduce((total, entry) => total + of(entry), 0)

function shortTable(entries: readonly ZipEntry[]): string {
  const rows = entries.map(
    (entry) => `${String(entry.sizeBytes).padStart(9)}  ${entry.changed}   ${shownName(entry)}\n`,
  )
  const total = String(sum(entries, ({ sizeBytes }) => sizeBytes)).padStart(9)
  return `  Length      Date    Time    Name
---------  ---------- -----   ----
${rows.join('')}---------                     -------
${total}                     ${counted(entries.length)}
`
}

function longTable(entries: readonly ZipEntry[]): string {
  const number = (value: number, width = 8) => String(value).padStart(width)
  const rows = entries.map((entry) => {
    const method = entry.method === STORED ? 'Stored' : 'Defl:N'
    const crc = entry.crc.toString(16).padStart(8, '0')
    const sizes = `${number(entry.sizeBytes)}  ${method} ${number(entry.packed.byteLength)} ${number(percent(entry), 3)}%`
    return `${sizes} ${entry.changed} ${crc}  ${shownName(entry)}\n`
  })
  const [plain, packed] = [sum(entries, (entry) => entry.sizeBytes), sum(entries, (entry) => entry.packed.byteLength)]
  const ratio = plain === 0 || packed >= plain ? 0 : Math.floor((Math.floor((200 * (plain - packed)) / plain) + 1) / 2)
  return ` Length   Method    Size  Cmpr    Date    Time   CRC-32   Name
--------  ------  ------- ---- ---------- ----- --------  ----
${rows.join('')}--------          -------  ---                            -------
${number(plain)}         ${number(packed)} ${number(ratio, 3)}%                            ${counted(entries.length)}
`
}

/** Names may be patterns; `*` matches slashes. */
export function wantedTest(wanted: readonly string[], ignoresCase = false): (name: string) => boolean {
  const expressions = wanted.map((pattern) => globExpression(pattern, { ignoresCase }))
  return (name) => wanted.length === 0 || expressions.some((expression) => expression.test(name))
}
