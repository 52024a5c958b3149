// Parses Markdown into blocks and runs, for reviews and an agent's texts. The parser is `marked`; HTML is never
// converted to elements, and a URL that is neither http(s) nor a picture of the service stays text.

import { lexer, type Token, type Tokens } from 'marked'

export type Run =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'strong' | 'em' | 'del'; runs: Run[] }
  | { kind: 'link'; runs: Run[]; url: string }
  | { kind: 'image'; text: string; url: string }
  | { kind: 'break' }

export type Item = { blocks: Block[]; checked: boolean | null }

/** The alignment of a table column; null if it is not given. */
export type Side = 'left' | 'center' | 'right' | null

export type Block =
  | { kind: 'heading'; level: number; runs: Run[] }
  | { kind: 'paragraph'; runs: Run[] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | null; items: Item[] }
  | { kind: 'table'; sides: Side[]; head: Run[][]; rows: Run[][][] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'rule' }

/** Deeper quotes and lists are shown as plain text, because the time of parsing and rendering grows with the depth. */
const MAX_DEPTH = 12
const DEEP = new RegExp(`^(?:[ \\t]*(?:>|[-*+]|\\d{1,9}[.)])[ \\t]*){${MAX_DEPTH},}`, 'm')

export function markdownBlocks(markdown: string): Block[] {
  if (DEEP.test(markdown)) return [{ kind: 'paragraph', runs: [{ kind: 'text', text: markdown }] }]
  return lexer(markdown, { gfm: true }).flatMap(blockOf)
}

function blockOf(token: Token): Block[] {
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'hr':
      return [{ kind: 'rule' }]
    case 'heading':
      return [{ kind: 'heading', level: (token as Tokens.Heading).depth, runs: runsOf(inside(token)) }]
    case 'blockquote':
      return [{ kind: 'quote', blocks: inside(token).flatMap(blockOf) }]
    case 'code':
      return [
        {
          kind: 'code',
          language: (token as Tokens.Code).lang?.split(/\s/)[0] ?? '',
          text: (token as Tokens.Code).text,
        },
      ]
    case 'list':
      return [listOf(token as Tokens.List)]
    case 'table':
      return [tableOf(token as Tokens.Table)]
    case 'html':
      return [{ kind: 'paragraph', runs: [{ kind: 'text', text: token.raw.trimEnd() }] }]
    default: {
      const tokens = inside(token)
      return [{ kind: 'paragraph', runs: tokens.length === 0 ? [textRun(token.raw)] : runsOf(tokens) }]
    }
  }
}

function listOf({ ordered, start, items }: Tokens.List): Block {
  return {
    kind: 'list',
    start: ordered ? Number(start) || 1 : null,
    items: items.map(({ tokens, task, checked }) => ({
      blocks: tokens.filter(({ type }) => type !== 'checkbox').flatMap(blockOf),
      checked: task ? checked === true : null,
    })),
  }
}

const tableOf = ({ align, header, rows }: Tokens.Table): Block => ({
  kind: 'table',
  sides: align,
  head: header.map(({ tokens }) => runsOf(tokens)),
  rows: rows.map((row) => row.map(({ tokens }) => runsOf(tokens))),
})

const inside = (token: Token): Token[] => ('tokens' in token ? (token.tokens ?? []) : [])

/** Neighboring texts are joined, so that one sentence is one run. */
function runsOf(tokens: readonly Token[] = []): Run[] {
  const runs: Run[] = []
  for (const run of tokens.flatMap(runOf)) {
    const last = runs.at(-1)
    if (run.kind === 'text' && last?.kind === 'text') last.text += run.text
    else runs.push(run)
  }
  return runs
}

function runOf(token: Token): Run[] {
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return [{ kind: token.type, runs: runsOf(inside(token)) }]
    case 'codespan':
      return [{ kind: 'code', text: (token as Tokens.Codespan).text }]
    case 'br':
      return [{ kind: 'break' }]
    case 'escape':
      return [{ kind: 'text', text: (token as Tokens.Escape).text }]
    case 'link':
      return linkOf(token as Tokens.Link)
    case 'image':
      return imageOf(token as Tokens.Image)
    case 'text':
      return inside(token).length === 0 ? boldOf(token.raw) : runsOf(inside(token))
    default:
      return [{ kind: 'text', text: token.raw }]
  }
}

function linkOf({ href, tokens }: Tokens.Link): Run[] {
  const runs = runsOf(tokens)
  return isWebAddress(href) ? [{ kind: 'link', runs, url: href }] : runs
}

const INLINE = /^data:image\/(?:svg\+xml|png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/
/** Pictures of the service itself: the charts of a stored review. */
const CHART = /^\/api\/v1\/history\/\w+\/chart\.svg\?region=[a-z]+(?:&theme=dark)?$/

/** Pictures of other hosts become links: showing them would reveal the viewer to the host. */
function imageOf({ href, text }: Tokens.Image): Run[] {
  if (INLINE.test(href) || CHART.test(href)) {
    return [{ kind: 'image', text, url: href }]
  }
  const named: Run = { kind: 'text', text: text === '' ? href : text }
  return isWebAddress(href) ? [{ kind: 'link', runs: [named], url: href }] : [named]
}

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

/** The entities that authors commonly use by name. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', copy: '©', reg: '®', trade: '™', deg: '°' },
  ...{ times: '×', divide: '÷', plusmn: '±', euro: '€', pound: '£', yen: '¥', cent: '¢', sect: '§', para: '¶' },
  ...{ hellip: '…', ndash: '–', mdash: '—', middot: '·', bull: '•', larr: '←', rarr: '→', uarr: '↑', darr: '↓' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', laquo: '«', raquo: '»', le: '≤', ge: '≥', ne: '≠' },
}

/** `**“words”**` between letters without blanks, as in Chinese text: by the rules of Markdown the asterisks would be shown. */
const boldOf = (raw: string): Run[] =>
  raw.split(/\*\*([^*\s](?:[^*]*[^*\s])?)\*\*/).flatMap((part, at): Run[] => {
    if (part === '') return []
    return at % 2 === 0 ? [textRun(part)] : [{ kind: 'strong', runs: [textRun(part)] }]
  })

function textRun(raw: string): Run {
  const text = raw.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
  return { kind: 'text', text }
}
