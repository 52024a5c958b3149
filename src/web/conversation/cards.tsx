// The cards of an agent's actions: outputs, changed files, steps with their results, pictures.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { clockTime } from '../format.ts'
import { CopyButton } from '../markdown.tsx'
import { ScrolledPre } from '../scrolled-pre.tsx'
import { locale, say } from '../texts.ts'
import { visible } from '../visible.ts'
import { type Coloured, coloured, isForTerminal } from './ansi.ts'
import { type DiffLine, diffLines, sideBySide } from './diff.ts'
import type { Answer, Entry } from './entries.ts'

/** A longer output is collapsed, because its layout is slow on a phone. */
const FOLD_AT = 5_000

/** With `atEnd` the output opens at its end, because errors are printed last. */
export function OutputText({ text, atEnd }: { text: string; atEnd: boolean }) {
  const [folded, setFolded] = useState(text.length > FOLD_AT)
  const box = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    if (atEnd && box.current !== null) box.current.scrollTop = box.current.scrollHeight
  }, [atEnd])
  return (
    <>
      <ScrolledPre class="output" box={box}>
        <Printed text={folded ? (atEnd ? text.slice(-FOLD_AT) : text.slice(0, FOLD_AT)) : text} />
      </ScrolledPre>
      {folded && (
        <button type="button" class="quiet" onClick={() => setFolded(false)}>
          {say('Show all {count} characters', { count: text.length.toLocaleString(locale) })}
        </button>
      )}
    </>
  )
}

/** The end of the output of a running command. */
export function LiveOutput({ text }: { text: string }) {
  const box = useRef<HTMLPreElement>(null)
  useLayoutEffect(() => {
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [text])
  return (
    <ScrolledPre class="output live" box={box}>
      <Printed text={text} />
    </ScrolledPre>
  )
}

/** A program's output, in its colors: the edge stores them with the output, a runner sends them while a command runs. */
function Printed({ text }: { text: string }) {
  const pieces = useMemo(() => (isForTerminal(text) ? coloured(text) : [{ text, classes: '' }]), [text])
  return <>{pieces.map(piece)}</>
}

const piece = ({ text, classes }: Coloured, key: number) =>
  classes === '' ? (
    text
  ) : (
    <span key={key} class={classes}>
      {text}
    </span>
  )

type Step = Extract<Entry, { kind: 'step' }>

export function StepCard({ entry, live, running }: { entry: Step; live: string; running: boolean }) {
  const { title, body, result, pictures, more, isOpen, at, answer, hasFailed } = entry
  return (
    <>
      <details class={hasFailed ? 'entry step failed' : 'entry step'} open={isOpen}>
        <summary>
          {visible(title)} {hasFailed && <span class="badge failed">{say('failed')}</span>}
          {result === null && <span class="badge">{standing(answer, running)}</span>} <StartTime at={at} />
        </summary>
        {body !== '' && <OutputText text={visible(body)} atEnd={false} />}
        {result === null && live !== '' && <LiveOutput text={live} />}
        {result !== null && result !== '' && <OutputText text={result} atEnd={isOpen} />}
        {more !== '' && (
          <details>
            <summary>{say('The page as the agent reads it')}</summary>
            <OutputText text={more} atEnd={false} />
          </details>
        )}
      </details>
      <Pictures urls={pictures} />
    </>
  )
}

/** The state of an action that has no result yet. */
export function standing(answer: Answer, running: boolean): string {
  if (answer === 'rejected') return say('You rejected it.')
  if (answer === 'awaited') return say('Waits for your answer.')
  return running ? say('Running…') : say('No result.')
}

/** The start time; shown on hover or focus. Empty for entries that are not a step. */
const StartTime = ({ at }: { at: string }) =>
  at === '' ? null : (
    <time class="when" dateTime={at}>
      {clockTime(at)}
    </time>
  )

export const Pictures = ({ urls }: { urls: string[] }) =>
  urls.length === 0 ? null : (
    <div class="pictures">
      {urls.map((url, key) => (
        <img key={key} src={url} alt={say('Picture {n}', { n: key + 1 })} />
      ))}
    </div>
  )

type Edit = Extract<Entry, { kind: 'edit' }>

export function EditCard({ entry: { path, diff, result, at } }: { entry: Edit }) {
  const lines = useMemo(() => diffLines(diff), [diff])
  return (
    <details class="entry edit" open={lines.length <= OPEN_UP_TO}>
      <summary>
        <span class="mono">{visible(path)}</span> <Counts lines={lines} /> <StartTime at={at} />
      </summary>
      <DiffView diff={diff} lines={lines} />
      <p class="hint edit-result">{result.split('\n', 1)[0]}</p>
    </details>
  )
}

export function Counts({ lines }: { lines: DiffLine[] }) {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return (
    <>
      <span class="added">+{count('added')}</span> <span class="removed">−{count('removed')}</span>
    </>
  )
}

/** In one column or two, with a button to copy it. */
export function DiffView({ diff, lines }: { diff: string; lines: DiffLine[] }) {
  const [isSplit, setIsSplit] = useState(false)
  const [isWhole, setIsWhole] = useState(lines.length <= MOST_LINES)
  const shown = isWhole ? lines : lines.slice(0, MOST_LINES)
  return (
    <>
      <div class="form-actions">
        <button type="button" class="quiet" aria-pressed={isSplit} onClick={() => setIsSplit(!isSplit)}>
          {isSplit ? say('One column') : say('Side by side')}
        </button>
        <CopyButton text={diff} />
      </div>
      {isSplit ? <SplitDiff lines={shown} /> : <UnifiedDiff lines={shown} />}
      {!isWhole && (
        <button type="button" class="quiet" onClick={() => setIsWhole(true)}>
          {say('Show all {count} lines', { count: lines.length.toLocaleString(locale) })}
        </button>
      )}
    </>
  )
}

/** A longer one is collapsed, so that the conversation stays visible. */
const OPEN_UP_TO = 60
/** More lines than this make the page slow. */
const MOST_LINES = 1_000

const UnifiedDiff = ({ lines }: { lines: DiffLine[] }) => (
  <ScrolledPre class="diff">
    {lines.map(({ kind, text, was, is }, key) => (
      <span key={key} class={`diff-line ${kind}`} data-line={is ?? was ?? ''}>
        {`${SIGNS[kind]}${visible(text)}\n`}
      </span>
    ))}
  </ScrolledPre>
)

const SIGNS = { added: '+', removed: '-', same: ' ', place: '' } as const

const SplitDiff = ({ lines }: { lines: DiffLine[] }) => (
  <table class="diff split">
    <tbody>
      {sideBySide(lines).map(([before, after], key) => (
        <tr key={key}>
          <Side line={before} at={before?.was} />
          <Side line={after} at={after?.is} />
        </tr>
      ))}
    </tbody>
  </table>
)

const Side = ({ line, at }: { line: DiffLine | null; at: number | null | undefined }) => (
  <td class={line === null ? 'diff-line nothing' : `diff-line ${line.kind}`} data-line={at ?? ''}>
    {visible(line?.text ?? '')}
  </td>
)
