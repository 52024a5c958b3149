// A market review's Markdown as blocks and runs of text. It knows what reviews are written in and nothing more: whatever
// else stands there stays text, and no markup of any kind becomes an element.

export type Run =
  | { kind: 'text' | 'strong' | 'em'; text: string }
  | { kind: 'link'; text: string; url: string }
  | { kind: 'image'; text: string; url: string }

export type Block =
  | { kind: 'heading'; level: number; runs: Run[] }
  | { kind: 'paragraph'; runs: Run[] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; items: Run[][] }
  | { kind: 'table'; head: Run[][]; rows: Run[][][] }
  | { kind: 'rule' }

export function reviewBlocks(markdown: string): Block[] {
  return markdown
    .split(/\n[ \t]*\n+/)
    .map((chunk) => chunk.split('\n').filter((line) => line.trim() !== ''))
    .flatMap((lines) => (lines.length === 0 ? [] : blocksOf(lines)))
}

/** Lines without an empty one between them: a table, a quotation and a list take as many as they can. */
function blocksOf(lines: readonly string[]): Block[] {
  const [first = '', ...rest] = lines
  const after = (count: number) => (count < lines.length ? blocksOf(lines.slice(count)) : [])
  const heading = /^(#{1,6})\s+(.*)$/.exec(first)
  if (heading) return [{ kind: 'heading', level: heading[1]?.length ?? 1, runs: runsOf(heading[2] ?? '') }, ...after(1)]
  if (/^(-{3,}|\*{3,})$/.test(first.trim())) return [{ kind: 'rule' }, ...after(1)]
  if (first.startsWith('>')) {
    const quoted = lines.slice(
      0,
      countOf(lines, (line) => line.startsWith('>')),
    )
    const inside = quoted.map((line) => line.replace(/^> ?/, '')).join('\n')
    return [{ kind: 'quote', blocks: reviewBlocks(inside) }, ...after(quoted.length)]
  }
  if (isItem(first)) {
    const items = lines.slice(0, countOf(lines, isItem))
    return [{ kind: 'list', items: items.map((line) => runsOf(line.slice(2))) }, ...after(items.length)]
  }
  if (isRow(first) && /^\|(\s*:?-+:?\s*\|)+$/.test(rest[0]?.trim() ?? '')) {
    const all = lines.slice(0, countOf(lines, isRow))
    const [head = [], , ...rows] = all.map(cellsOf)
    return [{ kind: 'table', head, rows }, ...after(all.length)]
  }
  const count = 1 + countOf(rest, (line) => !/^(#{1,6}\s|>|- )/.test(line))
  return [{ kind: 'paragraph', runs: runsOf(lines.slice(0, count).join(' ')) }, ...after(count)]
}

const isItem = (line: string): boolean => line.startsWith('- ')
const isRow = (line: string): boolean => line.startsWith('|')

function countOf(lines: readonly string[], belongs: (line: string) => boolean): number {
  const end = lines.findIndex((line) => !belongs(line))
  return end === -1 ? lines.length : end
}

function cellsOf(line: string): Run[][] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => runsOf(cell.trim()))
}

const RUN =
  /!\[((?:\\.|[^\]\\])*)\]\(([^)\s]*)\)|\[((?:\\.|[^\]\\])*)\]\(<?([^)\s>]*)>?\)|\*\*(?!\s)((?:\\.|[^*\\])+)(?<!\s)\*\*|\*(?!\s)((?:\\.|[^*\\])+)(?<!\s)\*|\\./g

/** Pictures are those that the review brings along; links lead to the web. Of others the words stay. */
export function runsOf(text: string): Run[] {
  const runs: Run[] = []
  const say = (words: string) => {
    const last = runs.at(-1)
    if (last?.kind === 'text') last.text += plain(words)
    else if (words !== '') runs.push({ kind: 'text', text: plain(words) })
  }
  let from = 0
  for (const match of text.matchAll(RUN)) {
    say(text.slice(from, match.index))
    from = match.index + match[0].length
    const [whole, alt, picture = '', label, url = '', strong, em] = match
    if (alt !== undefined && /^data:image\/svg\+xml;base64,[A-Za-z0-9+/=]+$/.test(picture)) {
      runs.push({ kind: 'image', text: plain(alt), url: picture })
    } else if (label !== undefined && /^https?:\/\//.test(url)) runs.push({ kind: 'link', text: plain(label), url })
    else if (strong !== undefined) runs.push({ kind: 'strong', text: plain(strong) })
    else if (em !== undefined) runs.push({ kind: 'em', text: plain(em) })
    else say(alt ?? label ?? whole)
  }
  say(text.slice(from))
  return runs
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' }

/** The characters that stand behind escapes. */
const plain = (text: string): string =>
  text.replace(/\\([!-/:-@[-`{-~])|&(?:lt|gt|amp);/g, (found, escaped: string | undefined) => {
    return escaped ?? ENTITIES[found] ?? found
  })
