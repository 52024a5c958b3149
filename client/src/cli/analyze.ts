import type { AnalysisResultResponse, TaskInfo } from '../api.generated.ts'
import { sleep } from '../http.ts'
import { type Bellwether, BellwetherError, ServiceError } from '../index.ts'
import { type Command, EXIT, type Run, UsageError } from './command.ts'
import { type Cell, clean, cleanLine, cut, type Output, table } from './terminal.ts'

const LOOK_MS = 500
const TYPES = ['simple', 'detailed', 'full', 'brief'] as const
const LANGUAGES = ['zh', 'en', 'ko'] as const

export const analyze: Command = {
  name: 'analyze',
  summary: 'analyse stocks and show the verdicts',
  usage: 'CODE…',
  flags: {
    report: { type: 'boolean', short: 'r', words: 'print each report as Markdown in place of the table' },
    language: { type: 'string', short: 'l', value: 'LANG', words: `of the reports: ${LANGUAGES.join(', ')}` },
    type: { type: 'string', value: 'TYPE', words: `of the reports: ${TYPES.join(', ')}` },
    fresh: { type: 'boolean', words: 'do not use what is cached' },
    confirm: { type: 'boolean', words: 'take the likeliest reading of a name that is not clear' },
  },
  examples: [
    'bellwether analyze 600519 AAPL 0700.HK',
    'bellwether analyze 贵州茅台 --report > report.md',
    'bellwether analyze --json MSFT | jq .report.summary',
  ],
  more: 'Codes or names, at most 50. The exit code is 1 when one of them failed; the others are shown all the same.',
  async run(run) {
    if (run.args.length === 0) throw new UsageError('no code or name is given')
    const tasks = await queued(run)
    const ended = await untilEnded(run.service, tasks, run.out)
    const results = await Promise.all(ended.map((task) => outcomeOf(run.service, task)))
    await show(run, results)
    return results.some(({ result }) => result === null) ? EXIT.failed : EXIT.done
  },
}

type Queued = { id: string; code: string }

function wishesOf(run: Run) {
  const [language, type] = [run.text('language'), run.text('type')]
  const report_language = LANGUAGES.find((one) => one === language)
  const report_type = TYPES.find((one) => one === type)
  if (language !== undefined && report_language === undefined)
    throw new UsageError(`--language is one of ${LANGUAGES.join(', ')}`)
  if (type !== undefined && report_type === undefined) throw new UsageError(`--type is one of ${TYPES.join(', ')}`)
  return {
    ...(report_language && { report_language }),
    ...(report_type && { report_type }),
    force_refresh: run.is('fresh'),
    confirm: run.is('confirm'),
  }
}

/** Also waits for stocks that are already being analyzed. */
async function queued(run: Run): Promise<Queued[]> {
  const wishes = wishesOf(run)
  const [only, ...others] = run.args
  if (others.length === 0 && only !== undefined) return [await queuedOne(run, only, wishes)]
  const { accepted, duplicates } = await run.service.analyses.batch(run.args, wishes)
  return [
    ...accepted.map(({ task_id, stock_code }) => ({ id: task_id, code: stock_code })),
    ...duplicates.map(({ existing_task_id, stock_code }) => ({ id: existing_task_id, code: stock_code })),
  ]
}

async function queuedOne(run: Run, code: string, wishes: ReturnType<typeof wishesOf>): Promise<Queued> {
  try {
    return { id: (await run.service.analyses.submit(code, wishes)).task_id, code }
  } catch (error) {
    const body = error instanceof ServiceError && error.code === 'duplicate_task' ? error.body : null
    const { existing_task_id: id } = (body ?? {}) as { existing_task_id?: string }
    if (id === undefined) throw error
    return { id, code }
  }
}

const isOver = (task: TaskInfo | undefined): task is TaskInfo =>
  task !== undefined && ['completed', 'failed', 'cancelled'].includes(task.status)

async function untilEnded(service: Bellwether, tasks: readonly Queued[], out: Output): Promise<Queued[]> {
  for (;;) {
    const { tasks: listed } = await service.call('GET /api/v1/analysis/tasks', { query: { limit: 100 } })
    const known = new Map(listed.map((task) => [task.task_id, task]))
    const open = tasks.filter(({ id }) => known.has(id) && !isOver(known.get(id)))
    const [first] = open
    if (first === undefined) return [...tasks]
    const at = known.get(first.id)
    out.progress(
      `${tasks.length - open.length}/${tasks.length} done · ${first.code} ${at?.progress ?? 0} % ${at?.message ?? ''}`,
    )
    await sleep(LOOK_MS)
  }
}

type Outcome = { code: string; id: string; result: AnalysisResultResponse | null; error: string }

async function outcomeOf(service: Bellwether, { id, code }: Queued): Promise<Outcome> {
  // A task that is no longer in a list is requested separately.
  const { result, error, status } = await service.analyses.wait(id)
  return { code, id, result, error: error ?? status }
}

async function show(run: Run, results: readonly Outcome[]): Promise<void> {
  const { out } = run
  if (out.isJson) {
    for (const { result, code, id, error } of results) out.json(result ?? { stock_code: code, task_id: id, error })
    return
  }
  if (run.is('report')) {
    for (const { id, result } of results) if (result !== null) out.line(clean(await run.service.analyses.markdown(id)))
  } else
    out.line(
      table(
        HEAD,
        results.map((one) => rowOf(one, out)),
        { out, right: [2, 4, 5], gives: 1 },
      ),
    )
  const notices = results.map(({ result }) => cleanLine(String(result?.report.meta.data_notice ?? '')))
  for (const notice of new Set(notices)) if (notice !== '') out.note(notice, 'yellow')
  for (const { code, result, error } of results) {
    if (result === null) out.note(`${cleanLine(code)}: ${cleanLine(error)}`, 'red')
  }
}

const HEAD = ['code', 'name', 'score', 'verdict', 'price', 'change', 'buy', 'stop', 'target']
const shown = (value: unknown): string =>
  value === null || value === undefined || value === '' ? '–' : cleanLine(String(value))

/** The price without the text around it, which is in the report. */
const levelOf = (text: unknown): string => /^[\d.,]+/.exec(shown(text))?.[0] ?? cut(shown(text), 16)

function rowOf({ code, result }: Outcome, { color }: Output): Cell[] {
  if (result === null) return [cleanLine(code), '', '', { text: 'failed', paint: color.red }]
  const { meta, summary, strategy } = result.report
  const paint = { buy: color.green, sell: color.red }[String(summary.action)] ?? color.bold
  const change = meta.change_pct
  return [
    cleanLine(result.stock_code),
    shown(result.stock_name),
    shown(summary.sentiment_score),
    { text: shown(summary.operation_advice), paint },
    shown(meta.current_price),
    typeof change === 'number' ? `${change > 0 ? '+' : ''}${change.toFixed(2)} %` : '–',
    levelOf(strategy?.ideal_buy),
    levelOf(strategy?.stop_loss),
    levelOf(strategy?.take_profit),
  ]
}

export const watch: Command = {
  name: 'watch',
  summary: 'show what happens: analysis tasks, or the events of a conversation',
  usage: '[CONVERSATION]',
  flags: {
    after: {
      type: 'string',
      value: 'ID',
      words: 'begin behind this event; otherwise a conversation from its beginning, tasks from now on',
    },
  },
  examples: [
    'bellwether watch',
    'bellwether watch --json | jq -r .data.stock_code',
    'bellwether watch 8f14e45fceea467a9b1c0d2e3f405162',
  ],
  more: 'It goes on until Ctrl-C; a lost connection is made anew, and nothing is missed or shown twice.',
  async run(run) {
    const after = run.text('after')
    if (after !== undefined && !/^-?\d{1,15}$/.test(after)) throw new UsageError('--after is a whole number')
    const from = after === undefined ? {} : { after: Number(after) }
    const leave = new AbortController()
    process.once('SIGINT', () => leave.abort())
    const options = { ...from, signal: leave.signal }
    const [id] = run.args
    if (id === undefined) await watchTasks(run, options)
    else await watchConversation(run, id, options)
    return leave.signal.aborted ? EXIT.interrupted : EXIT.done
  },
}

async function watchTasks({ service, out }: Run, options: { after?: number; signal: AbortSignal }): Promise<void> {
  const onLost = (error: Error) => out.note(`connection lost, trying again (${cleanLine(error.message)})`, 'dim')
  const shownOf = new Map<string, string>()
  for await (const { event, id, data } of service.analyses.stream({ ...options, onLost })) {
    if (out.isJson) out.json({ event, id, data })
    else if (event === 'alert_triggered') out.line(`${out.color.yellow('alert')} ${cleanLine(JSON.stringify(data))}`)
    else if (data.stock_code !== undefined) {
      const paint =
        event === 'task_failed' ? out.color.red : event === 'task_completed' ? out.color.green : out.color.dim
      const name = [data.stock_code, data.stock_name ?? ''].map(cleanLine).join(' ').trim()
      const words = out.color.dim(cleanLine(data.error ?? data.message ?? ''))
      const line = `${paint(cleanLine(data.status).padEnd(10))} ${String(data.progress).padStart(3)} %  ${name}  ${words}`
      // Some events report a further step of the run without a visible change.
      if (shownOf.get(data.task_id) !== line) out.line(line)
      shownOf.set(data.task_id, line)
    }
  }
}

async function watchConversation(
  { service, out }: Run,
  id: string,
  options: { after?: number; signal: AbortSignal },
): Promise<void> {
  const { Transcript } = await import('./show.ts')
  const transcript = new Transcript(out, { showsUser: true })
  if ((await service.conversation(id).info()) === null)
    throw new BellwetherError('not_found', `There is no conversation ${cleanLine(id)}`)
  for await (const frame of service.conversation(id).follow(options)) transcript.frame(frame)
  transcript.close()
}
