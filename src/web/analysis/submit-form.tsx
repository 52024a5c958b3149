import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, analyze, messageOf, suggestStocks } from '../api.ts'
import { Choice } from '../controls.tsx'
import { say } from '../texts.ts'
import { Notice } from '../ui.tsx'
import type { Accepted, AnalyzeRequest, StockReading } from '../wire.ts'
import { codeOf, isOpen, ReadingList, type Readings, type Refusal, useReadings } from './readings.tsx'

/** `left` is the text that stays in the field because it was not accepted; null if nothing was sent. */
type Outcome = { taskIds: string[]; notes: string[]; problems: string[]; left: string[] | null; refused: Refusal[] }

const NOTHING: Outcome = { taskIds: [], notes: [], problems: [], left: null, refused: [] }

const LANGUAGES = (): [string, string][] => [
  ['', say('Default')],
  ['en', 'English'],
  ['zh', '中文'],
  ['ko', '한국어'],
]
const REPORT_TYPES = (): [string, string][] => [
  ['detailed', say('Detailed')],
  ['simple', say('Simple')],
  ['brief', say('Brief')],
]

/** The browser's language if reports exist in it, otherwise the language in the service's settings. */
const browserLanguage = (): string => {
  const own = navigator.language.slice(0, 2)
  return LANGUAGES().some(([code]) => code === own) ? own : ''
}

export function SubmitForm({ onSubmitted }: { onSubmitted: (taskIds: string[]) => void }) {
  const [text, setText] = useState(new URLSearchParams(location.search).get('codes') ?? '')
  const [language, setLanguage] = useState(browserLanguage)
  const [reportType, setReportType] = useState('detailed')
  const [busy, setBusy] = useState(false)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const entries = readEntries(text)
  const readings = useReadings(entries, language)
  const form = useRef<HTMLFormElement>(null)
  const submit = async (isPart: boolean) => {
    setBusy(true)
    const result = await readAndSend(entries, { readings, isPart }, { language, reportType })
    setOutcome(result)
    if (result !== null) onSubmitted(result.taskIds)
    // Text that was entered meanwhile is kept.
    if (result?.left) setText((now) => (now === text ? (result.left ?? []).join('\n') : now))
    if (result !== null) readings.refuse(result.refused)
    setBusy(false)
    if (result === null || (result.left?.length ?? 0) > 0) askFirst(form.current)
  }
  const submitAll = (event: SubmitEvent) => {
    event.preventDefault()
    void submit(false)
  }
  return (
    <form class="card submit" ref={form} onSubmit={submitAll}>
      <Codes text={text} onText={setText} />
      <Suggestions text={text} language={language} onPick={setText} />
      <ReadingList readings={readings} language={language} />
      <div class="fields">
        <Choice label={say('Language of the report')} value={language} options={LANGUAGES()} onValue={setLanguage} />
        <Choice label={say('Report')} value={reportType} options={REPORT_TYPES()} onValue={setReportType} />
        <Senders entries={entries} readings={readings} busy={busy} onPart={() => void submit(true)} />
      </div>
      {outcome !== null && <Lines kind="error" lines={outcome.problems} />}
      {outcome !== null && <Lines kind="info" lines={outcome.notes} />}
    </form>
  )
}

type SendersProps = { entries: string[]; readings: Readings; busy: boolean; onPart: () => void }

/** Sends all entries, or the clear ones while others have open questions. */
function Senders({ entries, readings: { items, choices }, busy, onPart }: SendersProps) {
  const open = items.filter((item) => isOpen(item, choices)).length
  const clear = clearCodes(items, choices).length
  const count = items.length === 0 ? entries.length : clear + open
  return (
    <>
      {open > 0 && clear > 0 && (
        <button type="button" disabled={busy} onClick={onPart}>
          {say('Submit the {count} that are clear', { count: clear })}
        </button>
      )}
      <button type="submit" class="primary" disabled={busy || entries.length === 0}>
        {busy ? say('Submitting…') : count > 1 ? say('Analyse {count}', { count }) : say('Analyse')}
      </button>
    </>
  )
}

/** The codes of entries without questions: each listing once. */
const clearCodes = (items: readonly StockReading[], choices: Readings['choices']): string[] => [
  ...new Set(items.filter((item) => !isOpen(item, choices)).flatMap((item) => codeOf(item, choices) ?? [])),
]

function Codes({ text, onText }: { text: string; onText: (text: string) => void }) {
  return (
    <>
      <label for="codes">{say('Codes or names')}</label>
      <textarea
        id="codes"
        rows={2}
        spellcheck={false}
        autocapitalize="characters"
        placeholder="600519, AAPL, HK00700"
        aria-describedby="codes-hint"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <p class="hint" id="codes-hint">
        {say('One per line, or separated by commas.')}
      </p>
    </>
  )
}

type Suggested = { stock_code: string; stock_name: string; market_label: string }

const SUGGEST_AFTER_MS = 180

/** Names that start like the current entry; a selected one replaces the entry. */
function Suggestions({ text, language, onPick }: { text: string; language: string; onPick: (text: string) => void }) {
  const [found, setFound] = useState<Suggested[]>([])
  const [before = '', entry = ''] = /^([\s\S]*[,，、;；\n])?([\s\S]*)$/.exec(text)?.slice(1) ?? []
  const wanted = entry.trim()
  useEffect(() => {
    setFound([])
    if (wanted === '') return
    let isCurrent = true
    const timer = setTimeout(() => {
      suggestStocks(wanted, language).then(
        ({ items }) => isCurrent && setFound(items.filter(({ stock_code: code }) => code !== wanted)),
        // The form also works without suggestions; errors of the service are shown when it is sent.
        () => isCurrent && setFound([]),
      )
    }, SUGGEST_AFTER_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [wanted, language])
  if (found.length === 0) return null
  return (
    <fieldset class="suggestions">
      <legend class="visually-hidden">{say('Suggestions')}</legend>
      {found.map(({ stock_code: code, stock_name: name, market_label: market }) => (
        <button key={code} type="button" class="chip" onClick={() => onPick(`${before}${code}, `)}>
          {name} <span class="code">{code}</span> <span class="visually-hidden">{market}</span>
        </button>
      ))}
    </fieldset>
  )
}

function Lines({ kind, lines }: { kind: 'error' | 'info'; lines: string[] }) {
  if (lines.length === 0) return null
  return (
    <Notice kind={kind}>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </Notice>
  )
}

/** Names may contain blanks, so only commas, semicolons and line ends separate entries, except a comma as in `Apple, Inc.`. */
const readEntries = (text: string): string[] =>
  text
    .split(/,(?!\s*(?:inc|ltd|corp|co|llc)\b)|[，、;；\n]/i)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

type Chosen = { language: string; reportType: string }

/**
 * Sends the codes of the entries; null while an entry is unclear, which then becomes a question. With `isPart` the
 * clear ones are sent.
 */
async function readAndSend(
  entries: string[],
  { readings: { ask, choices }, isPart }: { readings: Readings; isPart: boolean },
  chosen: Chosen,
): Promise<Outcome | null> {
  try {
    const items = await ask()
    const open = items.filter((item) => isOpen(item, choices)).map(({ input }) => input)
    const codes = clearCodes(items, choices)
    if (open.length > 0 && (!isPart || codes.length === 0)) return null
    if (codes.length === 0) return { ...NOTHING, left: [] }
    const sent = await send(codes, chosen, entries)
    // If sending failed, nothing was sent: the text stays in the field.
    return { ...sent, left: sent.left === null ? null : [...open, ...sent.left] }
  } catch (error) {
    return { ...NOTHING, problems: [messageOf(error)] }
  }
}

/** Moves the focus to the first question, or back to the field if an entry is unknown. */
function askFirst(form: HTMLFormElement | null): void {
  // The readings are rendered in the next frame.
  requestAnimationFrame(() => {
    const question = [...(form?.querySelectorAll('fieldset') ?? [])].find(
      (one) => one.querySelector(':checked') === null,
    )
    const target = question?.querySelector('input') ?? form?.querySelector('textarea')
    target?.focus()
  })
}

async function send(codes: string[], chosen: Chosen, entries: string[]): Promise<Outcome> {
  const [only = ''] = codes
  const typed = entries.length === 1 ? (entries[0] ?? only) : only
  const request: AnalyzeRequest = {
    ...(codes.length === 1 ? { stock_code: only, original_query: typed } : { stock_codes: codes }),
    ...(chosen.language === '' ? {} : { report_language: chosen.language }),
    report_type: chosen.reportType,
    selection_source: 'manual',
    async_mode: true,
  }
  try {
    return readAccepted(await analyze(request))
  } catch (error) {
    const existing = error instanceof ApiError && error.status === 409 ? error.body.existing_task_id : null
    if (typeof existing === 'string') return { ...NOTHING, taskIds: [existing], notes: [following(only)], left: [] }
    const refused = refusalsIn(error)
    if (refused.length === 0) return { ...NOTHING, problems: [messageOf(error)] }
    // One invalid code refuses all of them: the valid ones are sent again, and the others become questions.
    const left = refused.map(({ input }) => input)
    const good = codes.filter((code) => !left.includes(code))
    if (good.length === codes.length) return { ...NOTHING, problems: refused.map(({ message }) => message) }
    const sent = good.length === 0 ? { ...NOTHING, left: [] } : await send(good, chosen, good)
    if (sent.left === null) return sent
    return { ...sent, left: [...left, ...sent.left], refused: [...refused, ...sent.refused] }
  }
}

function readAccepted(answer: Accepted): Outcome {
  if ('task_id' in answer) return { ...NOTHING, taskIds: [answer.task_id], left: [] }
  const accepted = answer.accepted.map(({ task_id }) => task_id)
  const duplicates = answer.duplicates.map(({ existing_task_id }) => existing_task_id)
  const notes = answer.duplicates.map(({ stock_code }) => following(stock_code))
  return { ...NOTHING, taskIds: [...accepted, ...duplicates], notes, left: [] }
}

/** The service's message about each refused entry: `{"invalid": [{"input", "message", "candidates"}]}` in the detail. */
function refusalsIn(error: unknown): Refusal[] {
  const detail = error instanceof ApiError ? error.body.detail : null
  if (typeof detail !== 'object' || detail === null || !('invalid' in detail) || !Array.isArray(detail.invalid))
    return []
  return detail.invalid.map(({ input, message, candidates }) => {
    const said = String(message)
    return {
      input: String(input),
      message: said.includes(String(input)) ? said : `${input}: ${said}`,
      candidates: Array.isArray(candidates) ? candidates : [],
    }
  })
}

const following = (code: string): string =>
  say('{code} is being analysed already; that task is marked below.', { code })
