// Names are the field's standard terms: a declaration is not called by a word that fits every other one as well.

import { expect, test } from 'vitest'
import { filesIn, textOf } from '../support/source-tree.ts'

/** Refused as the whole name, and the kind of word to use instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  About: 'Header',
  After: 'Action',
  Again: 'Retry',
  Apart: 'Distance',
  Around: 'Context',
  Asked: 'Request',
  At: 'Position',
  Before: 'State',
  Begun: 'Start',
  Beside: 'Extras',
  Between: 'Interval',
  Both: 'Pair',
  By: 'Editor',
  Desk: 'Deps',
  Done: 'Result',
  Door: 'Auth',
  Drawn: 'Series',
  Elsewhere: 'Remote',
  Found: 'SearchResult',
  From: 'Source',
  Given: 'Options',
  Got: 'Received',
  Heard: 'Message',
  Held: 'Holdings',
  How: 'Format',
  Inside: 'Part',
  Instead: 'Replacement',
  Into: 'Target',
  Kept: 'Record',
  Known: 'Facts',
  Left: 'Remainder',
  Lost: 'Loss',
  Made: 'Product',
  Means: 'Deps',
  More: 'Details',
  Most: 'Limit',
  Naming: 'TitleGenerator',
  Nothing: 'Empty',
  Of: 'PropsOf',
  On: 'Listener',
  One: 'Item',
  Onward: 'NextStep',
  Outfit: 'Deps',
  Outside: 'Host',
  Own: 'OwnerData',
  Parts: 'Deps',
  Place: 'Position',
  Places: 'Positions',
  Ports: 'Deps',
  Pulse: 'Heartbeat',
  Put: 'Write',
  Ran: 'Run',
  Recall: 'Knowledge',
  Rest: 'Remainder',
  Room: 'State',
  Said: 'Message',
  Seen: 'Observation',
  Sent: 'Request',
  Several: 'List',
  Shown: 'View',
  Stuff: 'Data',
  Surroundings: 'Deps',
  Taken: 'Reservation',
  Thing: 'Item',
  Things: 'Items',
  Thinker: 'Agent',
  Told: 'Report',
  Tombstone: 'Deletion',
  Trail: 'Log',
  Vault: 'SecretMasker',
  Wanted: 'Query',
  Way: 'Deps',
  Ways: 'Deps',
  What: 'Scope',
  When: 'Time',
  Where: 'Location',
  Who: 'Author',
  Whole: 'Document',
  Whose: 'Owner',
  Why: 'Reason',
  Within: 'Context',
  World: 'Deps',
  Written: 'Output',
}

/** Enough as the name of a function or a text: `put(node)`, `within(limit)`. */
const FUNCTIONS = new Set(['About', 'After', 'At', 'Before', 'Beside', 'Between', 'Most', 'Put', 'Within'])

const ALLOWED: Readonly<Record<string, string>> = {
  'runner/src/ports/ports.ts Ports': 'TCP ports are called so',
  'test/node/kits/node-program/runtime-fs.test.ts Thing': 'any class, the argument of a program',
  'test/unit/kits/node-program/node-command.test.ts Thing': 'stands in the text of a program',
  'test/unit/lib/log.test.ts Thing': 'any class that has a parent',
}

const words = Object.keys(INSTEAD)
const lower = words.filter((word) => !FUNCTIONS.has(word)).map((word) => word.toLowerCase())
const MODIFIERS = '(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?'
/** Types, schemas and components, at any depth. */
const TYPES = new RegExp(`^[ \\t]*${MODIFIERS}(?:type|interface|class|enum|const|function\\*?) (${words.join('|')})\\b`)
const EXPORTED = new RegExp(`^export (?:default )?(?:async )?(?:const|let|function\\*?) (${lower.join('|')})\\b`)

function refusedIn(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, i) => {
    const name = (TYPES.exec(line) ?? EXPORTED.exec(line))?.[1]
    if (name === undefined || `${path} ${name}` in ALLOWED) return []
    const instead = INSTEAD[`${name.charAt(0).toUpperCase()}${name.slice(1)}`]
    return [`${path}:${i + 1}: ${name} says nothing of what it is; a name like ${instead} does`]
  })
}

const files = filesIn('src', 'durable-objects', 'runner', 'client', 'scripts', 'bench', 'test').filter((path) =>
  /\.(tsx?|mjs)$/.test(path),
)

test('a declaration has the name of what it is', () => {
  expect(files.length).toBeGreaterThan(2000)
  expect(files.flatMap((path) => refusedIn(path, textOf(path)))).toEqual([])
})

test('every name that is allowed is still there', () => {
  const declares = (entry: string) => {
    const [path = '', name = ''] = entry.split(' ')
    return textOf(path)
      .split('\n')
      .some((line) => TYPES.exec(line)?.[1] === name)
  }
  expect(Object.keys(ALLOWED).filter((entry) => !declares(entry))).toEqual([])
})

test('each form of a declaration is seen', () => {
  const text = [
    ...['type Told = { a: 1 }', 'export interface Known<T> {', 'export abstract class World {', '  class Held {'],
    ...['export const Where = () => 1', 'const Kept = z.object({', 'export default function Asked() {'],
    ...['export async function told() {', 'export const kept = 1'],
  ]
  expect(refusedIn('x.ts', text.join('\n')).map((found) => found.split(' ')[0])).toEqual(
    text.map((_, i) => `x.ts:${i + 1}:`),
  )
  const fine = ['type KnownFacts = {', 'const told = 1', 'const { Told } = x', '  put() {', 'export function put() {']
  expect(refusedIn('x.ts', fine.join('\n'))).toEqual([])
})
