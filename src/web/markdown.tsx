// Renders Markdown.

import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Highlighted } from './highlight.ts'
import { type Block, type Item, markdownBlocks, type Run, type Side } from './markdown-blocks.ts'
import { say } from './texts.ts'
import { isCopied } from './ui.tsx'

export function Markdown({ text }: { text: string }) {
  const blocks = useMemo(() => markdownBlocks(text), [text])
  return <div class="markdown">{blocks.map(block)}</div>
}

function block(one: Block, key: number) {
  switch (one.kind) {
    case 'heading':
      // The page's own heading is the first level; those of the text are below it.
      return one.level <= 2 ? (
        <h2 key={key} dir="auto">
          {one.runs.map(run)}
        </h2>
      ) : (
        <h3 key={key} dir="auto">
          {one.runs.map(run)}
        </h3>
      )
    case 'paragraph':
      return (
        <p key={key} dir="auto">
          {one.runs.map(run)}
        </p>
      )
    case 'quote':
      return <blockquote key={key}>{one.blocks.map(block)}</blockquote>
    case 'list':
      return <List key={key} start={one.start} items={one.items} />
    case 'table':
      return <Table key={key} {...one} />
    case 'code':
      return <Code key={key} language={one.language} text={one.text} />
    case 'rule':
      return <hr key={key} />
  }
}

function List({ start, items }: { start: number | null; items: Item[] }) {
  const lines = items.map(({ blocks, checked }, key) => (
    <li key={key} class={checked === null ? '' : 'task-item'}>
      {checked !== null && <input type="checkbox" checked={checked} disabled />}
      {/* An item of one paragraph is a line, not a paragraph of its own. */}
      {blocks.length === 1 && blocks[0]?.kind === 'paragraph' ? blocks[0].runs.map(run) : blocks.map(block)}
    </li>
  ))
  return start === null ? (
    <ul dir="auto">{lines}</ul>
  ) : (
    <ol dir="auto" start={start}>
      {lines}
    </ol>
  )
}

/** A number, or a sign for a missing one. */
const isNumber = (cell: Run[] = []): boolean => {
  const [one, ...more] = cell
  return (
    more.length === 0 &&
    (one === undefined || (one.kind === 'text' && /^[-+−–—]?[$¥€£]?[\d.,\s]*\d\s?%?$|^[-–—]?$/u.test(one.text.trim())))
  )
}

function Table({ sides, head, rows }: { sides: Side[]; head: Run[][]; rows: Run[][][] }) {
  const side = (column: number) => {
    const isOfNumbers = rows.length > 0 && rows.every((row) => isNumber(row[column]))
    return `to-${sides[column] ?? (isOfNumbers ? 'right' : 'start')}`
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is wider than the window is scrolled with the keys, too
    <div class="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" class={side(i)}>
                {cell.map(run)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} dir="auto" class={side(j)}>
                  {cell.map(run)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function run(one: Run, key: number) {
  switch (one.kind) {
    case 'text':
      return one.text
    case 'code':
      return <code key={key}>{one.text}</code>
    case 'strong':
      return <strong key={key}>{one.runs.map(run)}</strong>
    case 'em':
      return <em key={key}>{one.runs.map(run)}</em>
    case 'del':
      return <del key={key}>{one.runs.map(run)}</del>
    case 'break':
      return <br key={key} />
    case 'link':
      return (
        <a key={key} href={one.url} target="_blank" rel="noopener noreferrer">
          {one.runs.map(run)}
        </a>
      )
    case 'image':
      return <img key={key} src={one.url} alt={one.text} />
  }
}

/** A longer text is not highlighted, because this would block the page. */
const MAX_COLOURED = 50_000

function Code({ language, text }: { language: string; text: string }) {
  const coloured = useColours(language, text)
  return (
    <div class="code">
      <div class="code-head">
        <span class="hint">{language}</span>
        <CopyButton text={text} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that is wider than the window is scrolled with the keys, too */}
      <pre tabIndex={0}>
        <code>
          {coloured === null ? text : coloured.pieces.map(piece)}
          {coloured === null ? '' : text.slice(coloured.text.length)}
        </code>
      </pre>
    </div>
  )
}

const piece = (one: Highlighted, key: number) =>
  typeof one === 'string' ? (
    one
  ) : (
    <span key={key} class={one.classes}>
      {one.children.map(piece)}
    </span>
  )

/** The highlighted part of the text; null while the highlighter is loading, and for an unknown language. */
function useColours(language: string, text: string): { text: string; pieces: Highlighted[] } | null {
  const [coloured, setColoured] = useState<{ text: string; pieces: Highlighted[] } | null>(null)
  useEffect(() => {
    if (language === '' || text.length > MAX_COLOURED) return
    let current = true
    void import('./highlight.ts').then(({ highlight }) => {
      const pieces = highlight(language, text)
      if (current && pieces !== null) setColoured({ text, pieces })
    })
    return () => {
      current = false
    }
  }, [language, text])
  // While a text is being written it keeps its highlighting, otherwise it would flicker with every piece.
  return coloured !== null && text.startsWith(coloured.text) ? coloured : null
}

const COPIED_MS = 1_500

export function CopyButton({ text }: { text: string }) {
  const [outcome, setOutcome] = useState<'Copied' | 'Not copied' | null>(null)
  useEffect(() => {
    if (outcome === null) return
    const timer = setTimeout(() => setOutcome(null), COPIED_MS)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async () => setOutcome((await isCopied(text)) ? 'Copied' : 'Not copied')
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {say(outcome ?? 'Copy')}
    </button>
  )
}
