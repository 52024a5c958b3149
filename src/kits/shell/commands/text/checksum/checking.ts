// `--check`: whether files match a list of checksums.

import { shellMessage } from '../../../interpreter-command.ts'
import { linesOf, textOf } from '../bytes.ts'
import type { TextCall } from '../call.ts'
import { refusal } from '../misuse.ts'
import type { GivenOptions } from '../options.ts'
import type { Digest } from './sums.ts'

interface Check {
  names: string[]
  given: GivenOptions
  digest: Digest
}

interface Tally {
  sound: number
  malformed: number
  unreadable: number
  different: number
  equal: number
}

export async function checkSums(call: TextCall, { names, given, digest }: Check): Promise<void> {
  for (const name of names) {
    const list = await call.input(name)
    if (list === null) continue
    const shownName = name === '-' ? "'standard input'" : name
    const tally: Tally = { sound: 0, malformed: 0, unreadable: 0, different: 0, equal: 0 }
    for (const [i, line] of linesOf(list).entries()) {
      if (line.startsWith('#')) continue
      const entry = entryOf(line, digest)
      if (entry === null) {
        tally.malformed++
        if (given.has('w')) call.complain(`${shownName}: ${i + 1}: improperly formatted ${digest.tag} checksum line`, 0)
        continue
      }
      tally.sound++
      await checkOne(call, { entry, given, digest, tally })
      await call.pause()
    }
    conclude(call, { name: shownName, given, tally })
  }
}

interface Entry {
  sum: string
  name: string
}

/** `sum  name`, `sum *name` or `TAG (name) = sum`; null for any other line. */
function entryOf(line: string, { tag, length }: Digest): Entry | null {
  const plain = line.replace(/\r$/, '')
  const [, escaped = '', sum, name = ''] = /^(\\?)([\da-fA-F]+) [ *](.+)$/s.exec(plain) ?? []
  if (sum !== undefined) return sum.length === length ? { sum, name: unescaped(name, escaped) } : null
  const [, mark = '', known, tagged = '', last = ''] = /^(\\?)([\w-]+) \((.*)\) = ([\da-fA-F]+)$/s.exec(plain) ?? []
  return known === tag && last.length === length ? { sum: last, name: unescaped(tagged, mark) } : null
}

function unescaped(name: string, mark: string): string {
  const text = textOf(name)
  if (mark === '') return text
  return text.replace(/\\([nr\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter === 'r' ? '\r' : '\\'))
}

type CheckedEntry = { entry: Entry; given: GivenOptions; digest: Digest; tally: Tally }

async function checkOne(call: TextCall, { entry, given, digest, tally }: CheckedEntry): Promise<void> {
  const { name, sum } = entry
  const isTold = !given.has('status')
  const shown = /\n/.test(name) ? `\\${name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}` : name
  let bytes: string
  try {
    bytes = await call.read(name)
  } catch (error) {
    const reason = shellMessage(error)
    if (given.has('ignore-missing') && reason === 'No such file or directory') return
    call.complain(`${name}: ${reason}`)
    tally.unreadable++
    if (isTold) call.writeText(`${shown}: FAILED open or read\n`)
    return
  }
  if (digest.of(bytes) === sum.toLowerCase()) {
    tally.equal++
    if (isTold && !given.has('quiet')) call.writeText(`${shown}: OK\n`)
    return
  }
  tally.different++
  if (isTold) call.writeText(`${shown}: FAILED\n`)
}

type Conclusion = { name: string; given: GivenOptions; tally: Tally }

function conclude(call: TextCall, { name, given, tally }: Conclusion): void {
  if (tally.sound === 0) {
    throw refusal(`${name}: no properly formatted checksum lines found`)
  }
  if (!given.has('status')) {
    const warn = (count: number, one: string, many: string) => {
      if (count > 0) call.complain(`WARNING: ${count} ${count === 1 ? one : many}`, 0)
    }
    warn(tally.malformed, 'line is improperly formatted', 'lines are improperly formatted')
    warn(tally.unreadable, 'listed file could not be read', 'listed files could not be read')
    warn(tally.different, 'computed checksum did NOT match', 'computed checksums did NOT match')
    if (given.has('ignore-missing') && tally.equal === 0) call.complain(`${name}: no file was verified`)
  }
  const isStrictFailure = given.has('strict') && tally.malformed > 0
  const isNothing = given.has('ignore-missing') && tally.equal === 0
  if (tally.different + tally.unreadable > 0 || isStrictFailure || isNothing) call.exitCode = 1
}
