// The values of the placeholders of a format (`%h %an %<(20)%s`).

import { type DateStyle, showDate } from './dates.ts'
import { fatal } from './failure.ts'
import { terminalColor } from './format-colors.ts'
import type { Visited } from './history.ts'
import { bodyOf, slug, subjectOf } from './message-parts.ts'
import { noteText } from './notes.ts'
import type { Signature } from './objects.ts'
import { type Padding, parsePadding, withPadded } from './padding.ts'
import type { PrettyOptions } from './pretty-options.ts'
import type { Repository } from './repository.ts'
import { abbreviate } from './revisions.ts'

const PADDING = /[<>]{1,2}\|?\([^)]*\)/
const REFUSED = /w\([^)]*\)|\((?:trailers|describe|decorate)[:)]/
const COLOR = /C(?:\(([^)]*)\)|reset|red|green|blue)/
const FIELD = /G[?GSKFPT]|g[DdsnNeE]|[HhTtPpsbBfdDn%meNS]/
const PLACEHOLDER = new RegExp(
  `%(?:(${PADDING.source})|([-+ ]?)(?:([ac])([nNeEdDrtiIslLhs])|(${REFUSED.source})|x([0-9a-fA-F]{2})|(${COLOR.source})|(${FIELD.source})))`,
  'g',
)

export async function filledFormat(repo: Repository, visited: Visited, options: PrettyOptions): Promise<string> {
  const fields = fieldsOf(repo, visited, options)
  let text = ''
  let at = 0
  let padding: Padding | null = null
  let color = ''
  for (const match of options.format.matchAll(PLACEHOLDER)) {
    const [whole, width, magic, , , refused, , sign, colorWords] = match
    if (refused !== undefined) throw fatal(`the placeholder %${refused} of a format is not available here`)
    const wanted = width === undefined ? null : parsePadding(width)
    if (width !== undefined && wanted === null) continue
    text += options.format.slice(at, match.index)
    at = match.index + whole.length
    if (wanted) padding = wanted
    // A color is not a field: the padding applies to the text after it.
    else if (sign !== undefined && padding) color += colorSign(colorWords)
    else {
      const filling = await fillingOf(match, { fields, visited, date: options.date })
      if (magic === '-' && filling === '') text = text.replace(/\n+$/, '')
      const led = filling !== '' && (magic === '+' || magic === ' ') ? (magic === '+' ? '\n' : ' ') + filling : filling
      text = padding ? withPadded(text, color + led, padding) : text + led
      padding = null
      color = ''
    }
  }
  return text + color + options.format.slice(at)
}

type Fields = Record<string, () => string | Promise<string>>
type Filling = { fields: Fields; visited: Visited; date: DateStyle }

async function fillingOf(match: RegExpMatchArray, { fields, visited, date }: Filling): Promise<string> {
  const [, , , role, what, , code, sign, colorWords, field] = match
  const { author, committer } = visited.commit
  if (role && what) return personField(role === 'a' ? author : committer, what, date)
  if (code) return String.fromCharCode(Number.parseInt(code, 16))
  if (sign) return colorSign(colorWords)
  return field ? ((await fields[field]?.()) ?? '') : ''
}

/** The output is never a terminal, so only unconditional colors are used. */
function colorSign(words: string | undefined): string {
  if (!words?.startsWith('always,')) return ''
  const color = terminalColor(words.slice('always,'.length))
  if (color === null) throw fatal('unable to parse --pretty format')
  return color
}

/** The value of each simple placeholder. */
function fieldsOf(
  repo: Repository,
  visited: Visited,
  options: PrettyOptions,
): Record<string, () => string | Promise<string>> {
  const { oid, commit } = visited
  const entry = options.entryOf?.(visited)
  const { tree, parents, message } = commit
  const short = (id: string) => abbreviate(repo, id, options.idLength)
  return {
    H: () => oid,
    h: () => short(oid),
    T: () => tree,
    t: () => short(tree),
    P: () => parents.join(' '),
    p: async () => (await Promise.all(parents.map(short))).join(' '),
    s: () => subjectOf(message),
    b: () => bodyOf(message),
    B: () => message,
    f: () => slug(subjectOf(message)),
    d: () => (decoration(options, oid) === '' ? '' : ` ${decoration(options, oid)}`),
    D: () => decoration(options, oid, false),
    n: () => '\n',
    '%': () => '%',
    m: () => options.sides?.of?.(oid) ?? '>',
    e: () => '',
    S: () => {
      throw fatal('the placeholder %S of a format is not available here')
    },
    N: async () => (options.notes ? ((await noteText(repo, options.notes, oid)) ?? '') : ''),
    gD: () => entry?.selector ?? '',
    gd: () => entry?.shortSelector ?? '',
    gs: () => entry?.message ?? '',
    gn: () => entry?.name ?? '',
    gN: () => entry?.name ?? '',
    ge: () => entry?.email ?? '',
    gE: () => entry?.email ?? '',
    'G?': () => 'N',
  }
}

function personField(by: Signature, what: string, date: DateStyle): string {
  const styles: Record<string, DateStyle> = {
    d: date,
    D: 'rfc',
    r: 'relative',
    t: 'unix',
    i: 'iso',
    I: 'iso-strict',
    s: 'short',
    h: 'human',
  }
  if (what === 'n' || what === 'N') return by.name
  if (what === 'e' || what === 'E') return by.email
  return what === 'l' || what === 'L' ? (by.email.split('@')[0] ?? '') : showDate(by, styles[what] ?? date)
}

export function decoration({ decorations }: PrettyOptions, oid: string, wrapped = true): string {
  const names = decorations?.get(oid) ?? []
  return names.length === 0 ? '' : wrapped ? `(${names.join(', ')})` : names.join(', ')
}
