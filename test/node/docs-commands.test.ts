// The commands that the documents show, run as a reader would run them: the blocks with `curl` against a service that the
// README's own `npm start` brought up. What cannot be run is checked by its form, or stands with a reason in a list.

import { expect, onTestFinished, test } from 'vitest'
import { inlineCommands, type ShellBlock, shellBlocks } from '../support/doc-commands.ts'
import { NOT_TRIED, problemOf, reasonNotTried } from '../support/doc-commands-forms.ts'
import { type BlockResult, type DocService, type ServiceAddresses, startAsWritten } from '../support/doc-service.ts'
import { missingForSandbox } from '../support/lent-machine.ts'
import { startNotifyHost } from '../support/notify-host.ts'
import { needPrograms } from '../support/programs.ts'
import { type ScriptedRequest, startScriptedModel } from '../support/scripted-model.ts'
import type { ScriptedReply } from '../support/scripted-model-orders.ts'

const START = 'npm start'
/** Blocks that go on while the others run, each with what it prints when it is ready. */
const KEPT: Readonly<Record<string, RegExp>> = { 'npm run runner': /^.* pool\.connected .*$/m }
/** A line that asks the service something; such a block is run. */
const ASKS = /(^|[\s(|])curl\s/

type Expected = {
  readonly statuses: readonly number[]
  /** The shapes of the answers that the block prints. */
  readonly answers: readonly unknown[]
  /** What the document promises beside that. */
  check?(service: DocService, result: BlockResult): Promise<void>
}

const MISSING = missingForSandbox()
const FIVE = ['600519', '0700.HK', 'AAPL', 'MSFT', 'TSLA']
const COUNT = { name: 'execute_bash', arguments: { command: 'wc -l < notes.md > lines.txt; cat lines.txt' } }
const ANSWER = 'notes.md has 3 lines.'
/** The analyses of the other tutorial may still be at work, and ask the same model: they must not take the agent's answers. */
const answerTo = ({ body, answersSoFar }: ScriptedRequest): ScriptedReply => {
  const isAgent = JSON.stringify(body).includes('How many lines has notes.md?')
  return isAgent ? ([{ calls: [COUNT] }, { text: ANSWER }][answersSoFar] ?? { text: ANSWER }) : { text: 'ready' }
}
const MADE = { status: 'ok', conversation_id: expect.any(String) }
const NEW_KEY = { key: expect.stringMatching(/^\S{20,}$/), scopes: ['conversations', 'analysis'], name: 'laptop' }

const README: readonly Expected[] = [
  {
    statuses: [200, 200, 200],
    answers: [
      { events: expect.any(Array), has_more: false },
      { stock_code: '600519', stock_name: expect.any(String), report: expect.any(Object) },
    ],
    check: commandRan,
  },
]

/** What a reader gets, by page: one entry for each block with `curl`, in its order. */
const EXPECTED: Readonly<Record<string, readonly Expected[]>> = {
  'README.md': README,
  'README.zh.md': README,
  'docs/api.md': [{ statuses: [201], answers: [{ ...NEW_KEY, owner: 'ann' }] }],
  'docs/calendar.md': [
    {
      statuses: [200, 200],
      answers: [
        {
          ...{ from: '2027-01-01', to: '2027-03-31' },
          listings: [
            { stock_code: '600519', state: 'known' },
            { stock_code: 'AAPL', state: 'known' },
          ],
        },
      ],
    },
  ],
  'docs/client.md': [
    {
      statuses: [200, 200, 200],
      answers: [
        { success: true, at_rest: true, message: 'hello' },
        { stock_code: 'AAPL', report: expect.any(Object) },
      ],
    },
  ],
  'docs/deploy.md': [{ statuses: [201], answers: [{ ...NEW_KEY, owner: 'me' }] }],
  'docs/portfolio.md': [
    {
      statuses: [200, 200, 200],
      answers: [
        { id: 1, name: 'Main', base_currency: 'CNY' },
        { id: 2 },
        { account_count: 1, currency: 'CNY', total_cash: -140_010, cost_method: 'avg' },
      ],
    },
  ],
  'docs/tutorials/evening-stocks.md': [
    {
      statuses: [200, 200],
      answers: [
        { channel_id: 'team', mode: 'digest' },
        { ok: true, outcome: 'sent' },
      ],
    },
    { statuses: [201], answers: [{ name: 'Evening', stocks: FIVE.map((stock_code) => ({ stock_code })) }] },
    { statuses: [200, 202], answers: [{ accepted: FIVE.map((stock_code) => ({ stock_code })), duplicates: [] }] },
    { statuses: [200, 201], answers: [{ name: 'Evening', channels: ['team'], next_run_at: expect.any(String) }] },
    { statuses: [200], answers: [{ runs: [] }] },
  ],
  'docs/tutorials/first-agent.md': [
    { statuses: [200, 200], answers: [{ ok: true, reply: 'ready' }, { message: 'Settings stored' }] },
    { statuses: [200, 200], answers: [MADE, { uploaded_files: ['/workspace/notes.md'] }] },
    { statuses: [200], answers: [{ success: true, at_rest: true, message: ANSWER }] },
    {
      statuses: [200, 200, 200],
      answers: [
        { events: [{ action: 'run' }, { observation: 'run', content: expect.stringContaining('3') }] },
        ['lines.txt', 'notes.md'],
        { code: '3\n' },
      ],
    },
    { statuses: [200, 200], answers: [MADE, ['notes.md']] },
  ],
  'docs/tutorials/laptop-runner.md': [
    { statuses: [200], answers: [{ runners: [{ state: 'connected', isolation: 'bwrap' }] }] },
    { statuses: [200, 200, 200], answers: [MADE, { success: true, at_rest: true }, { code: '42\n' }] },
  ],
}

/** The command of the first message ran: its events are those that the block asks for. */
async function commandRan(service: DocService): Promise<void> {
  const get = async (path: string) => (await fetch(`${service.url}${path}`)).json()
  const { results } = (await get('/api/conversations')) as { results: { conversation_id: string }[] }
  const events = () => get(`/api/conversations/${results[0]?.conversation_id}/events?include_types=run`)
  await expect.poll(events).toMatchObject({
    events: [{ action: 'run' }, { observation: 'run', success: true, content: expect.stringContaining('6 a.txt') }],
  })
}

const BLOCKS = shellBlocks()
const isAlone = ({ commands }: ShellBlock) => commands.length === 1
const isStart = (block: ShellBlock) => isAlone(block) && block.commands[0] === START
const signOf = (block: ShellBlock) => (isAlone(block) ? KEPT[block.commands[0] ?? ''] : undefined)
/** Stops and starts services, so a test of its own runs it: `docs-keep-it.test.ts`. */
const RUN_ELSEWHERE = 'docs/tutorials/keep-it.md'
const isRun = (block: ShellBlock) =>
  isStart(block) || signOf(block) !== undefined || block.commands.some((command) => ASKS.test(command))

test('every command that a document shows is run, checked by its form, or listed with a reason', () => {
  expect(BLOCKS.length).toBeGreaterThan(0)
  const shown = BLOCKS.filter((block) => !isRun(block)).flatMap(({ page, commands }) =>
    commands.map((command) => ({ page, command })),
  )
  const others = [...shown, ...inlineCommands()]
  const problems = others
    .filter(({ command }) => reasonNotTried(command) === null)
    .map(({ page, command }) => ({ page, command, problem: problemOf(command) }))
    .filter(({ problem }) => problem !== null)
  expect(problems).toEqual([])
  const stale = Object.keys(NOT_TRIED).filter((start) => !others.some(({ command }) => command.startsWith(start)))
  expect(stale).toEqual([])
})

test('a command that would not be understood is noticed', () => {
  expect(problemOf('npm run no-such-script')).toMatch(/has no script/)
  expect(problemOf('npm run bench -- --sript x')).toMatch(/--sript/)
  expect(problemOf('npm run bench -- P99')).toMatch(/no row P99/)
  expect(problemOf('npm run test:faults -- agents')).toMatch(/no suite agents/)
  expect(problemOf('npm run build:runtime -- --now')).toMatch(/takes no/)
  expect(problemOf('npm run demo -- --agents')).toMatch(/does not know/)
  expect(problemOf('node scripts/no-such-file.ts')).toMatch(/no file/)
  expect(problemOf('PROT=1 npm start')).toMatch(/nothing reads PROT/)
  expect(problemOf('make all')).toMatch(/no test knows/)
})

test('the blocks that ask the service get the answers that the documents promise', async ({ skip }) => {
  needPrograms(skip, 'bash', 'curl', 'sed')
  const start = BLOCKS.find(isStart)
  const isHere = (block: ShellBlock) => block.page !== RUN_ELSEWHERE && !isStart(block) && !lacksSandbox(block)
  const blocks = BLOCKS.filter((block) => isRun(block) && isHere(block))
  const asking = blocks.filter((block) => signOf(block) === undefined)
  const pages = [...new Set(asking.map(({ page }) => page))]
  const of = (page: string) => asking.filter((block) => block.page === page)
  const promised = Object.keys(EXPECTED).filter((page) => !lacksSandbox({ page }))
  expect(pages.map((page) => [page, of(page).length])).toEqual(
    promised.map((page) => [page, EXPECTED[page]?.length ?? 0]),
  )

  const service = await startAsWritten(start?.text ?? '', await standIns())
  onTestFinished(() => service.stop())
  expect(start?.text).toContain('ready http://127.0.0.1:8787')
  expect(service.printed).toBe(`ready ${service.url}`)
  for (const block of blocks) {
    const sign = signOf(block)
    if (sign === undefined) await askAsWritten(service, block, of(block.page).indexOf(block))
    else await service.keepRunning(block.text, sign)
  }
})

async function askAsWritten(service: DocService, { page, text }: ShellBlock, at: number): Promise<void> {
  const { statuses, answers, check } = EXPECTED[page]?.[at] ?? {}
  const result = await service.run(text)
  expect([page, result.exitCode, result.statuses], result.stderr).toEqual([page, 0, statuses])
  expect([page, result.answers]).toMatchObject([page, answers])
  await check?.(service, result)
}

/** What the tutorial about runners needs is not everywhere; the reason is printed. */
const SANDBOX_PAGE = 'docs/tutorials/laptop-runner.md'
const lacksSandbox = ({ page }: { page: string }) => page === SANDBOX_PAGE && MISSING !== null

/** A model and a chat on loopback, in place of those that the tutorials name. */
async function standIns(): Promise<ServiceAddresses> {
  const model = await startScriptedModel({ respond: answerTo })
  onTestFinished(() => model.close())
  const chat = await startNotifyHost()
  onTestFinished(() => chat.close())
  return {
    'https://api.openai.com/v1': `${model.url}/docs/v1`,
    'https://hooks.slack.com': `${chat.url}/docs/slack`,
  }
}
