// Follows the lists of CONTRIBUTING in a copy of the sources, all in one, and then forgets every field once: the types have to miss
// it by its name.

import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ANALYSIS_LISTS, CHANNEL, INDICATOR } from '../support/contributing-lists.ts'
import { type ScratchCopy, scratchCopy } from '../support/scratch-copy.ts'
import { textOf } from '../support/source-tree.ts'

const TOOL = `import { z } from 'zod'
import { type ActionKind, always, contentOf, plainText, withoutRemarks } from './action-kind.ts'
import { AGENT, defineTool, type PreparedCall, type ToolUnit } from './tool.ts'

const Arguments = z.object({ text: z.string() })
type Arguments = z.infer<typeof Arguments>

const COUNTING: ActionKind = {
  action: 'count_words',
  observation: 'count_words',
  risk: { by: 'rules', rules: [{ risk: 'medium', about: 'counting', says: 'counts words', given: always }] },
  asks: () => 'by-risk',
  view: ({ text }) => \`Counting the words of: \${String(text)}\`,
  ends: null,
  modelText: plainText,
  replay: ({ text }) => ({ name: 'count_words', arguments: { text } }),
  sameAction: withoutRemarks,
  sameOutcome: contentOf,
}

export const COUNT_TOOL: ToolUnit = defineTool<Arguments>({
  name: 'count_words',
  description: 'Counts words.',
  schema: Arguments,
  agents: ['CodeActAgent', 'ReadOnlyAgent'],
  kinds: [COUNTING],
  repeatable: true,
  isPage: false,
  prepare: () => counted,
})

function counted({ text }: Arguments): PreparedCall {
  return {
    action: { source: AGENT, message: '', action: COUNTING.action, args: { text, thought: '' } },
    run: async () => ({
      source: AGENT,
      message: '',
      observation: COUNTING.observation,
      content: String(text.split(' ').length),
      extras: {},
    }),
  }
}
`

const ENDPOINT = `endpoint(
  app,
  {
    method: 'get',
    path: '/api/usage/words',
    scope: 'any',
    limit: 'reads',
    bodyLimit: 'standard',
    tag: 'Usage',
    summary: 'How many words there are',
    replies: { 200: { description: 'Their number', schema: z.number() } },
  },
  (c) => c.json(3),
)

`

const ROUTE_FILE = `import { z } from '@hono/zod-openapi'
import { detailEnvelope } from '../http/errors.ts'
import { endpoint } from '../http/openapi.ts'
import { router } from '../http/router.ts'

const app = router(detailEnvelope)

${ENDPOINT}`

const COMMAND = `import type { ShellCall, ShellResult } from '../../shell-extensions.ts'

export async function runGreet(args: readonly string[], { cwd }: ShellCall): Promise<ShellResult> {
  return { stdout: \`\${args.join(' ')} from \${cwd}\\n\`, stderr: '', exitCode: 0 }
}
`

const COMMAND_LIST = 'src/kits/shell/commands/system/all.ts'
const COMMAND_LINE = `  lazily('greet', async () => (await import('./greet.ts')).runGreet),\n`
const COMMAND_RISKS = 'src/agent/security/shell-risks.ts'
const COMMAND_RISK = `  greet: 'free',\n`

const TOOL_FIELDS = [...TOOL.matchAll(/^ {2}(\w+): /gm)].map(([, field = '']) => field)
const ENDPOINT_FIELDS = [...ENDPOINT.matchAll(/^ {4}(\w+): /gm)].map(([, field = '']) => field)

const without = (text: string, field: string) => text.replace(new RegExp(`^ +${field}: .*\n`, 'm'), '')

test('each list for an analysis names the source files that its unit is added in, and no others', () => {
  const contributing = textOf('CONTRIBUTING.md')
  for (const { heading, names } of ANALYSIS_LISTS) {
    const section = contributing.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? ''
    expect([heading, [...section.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path)]).toEqual([heading, names])
  }
})

test('what is added as its list says is complete, and the types miss every field that is forgotten', async () => {
  const copy = await scratchCopy()
  const touched = await addOneOfEach(copy)
  for (const { add, fields } of ANALYSIS_LISTS) await add(copy, 'example', fields)
  expect(await copy.types()).toBe('')
  expect(touched.filter(([what, path]) => !isNamed(what, path))).toEqual([])
  await expectToolTold(copy.root)
  expect(derivedIn(copy.root)).toEqual({
    variables: ['EXAMPLE_CHANNEL_KEY', 'EXAMPLE_MARKET_URL', 'EXAMPLE_NEWS_KEY'],
    kinds: ['example'],
    order: ['tencent', 'yahoo', 'eastmoney', 'sina', 'tushare', 'finnhub', 'alphavantage', 'example'],
    figures: ['example_figure_example'],
    ofOlderReports: null,
  })

  const forgotten = await forgetEachField(copy)
  expect(forgotten.length).toBeGreaterThan(25)
  const ofAnalysis = await forgetEachOfAnalysis(copy)
  const wrong = await copy.types()
  const isMissed = ([path, field]: Named) => errorsIn(wrong, path).includes(`'${field}' is missing`)
  expect(forgotten.filter((one) => !isMissed(one))).toEqual([])
  expect(errorsIn(wrong, COMMAND_RISKS)).toMatch(/missing the following properties.*: greet, mute/)
  const missed = wrong
    .split(/\n(?=\S)/)
    .filter((error) => !forgotten.some(([path]) => error.startsWith(`${path}(`)))
    .flatMap((error) => /Property '(\w+)' is missing/.exec(error)?.[1] ?? [])
  expect(missed.filter((field) => ofAnalysis.includes(field)).sort()).toEqual(ofAnalysis)
})

async function expectToolTold(root: string): Promise<void> {
  const { tools, ...told } = await toldBy(root)
  expect(tools.filter((name) => !rowsOfTools().includes(name))).toEqual(['count_words'])
  expect(told).toEqual({
    agents: [true, true],
    risk: { risk: 1, reasons: ['counts words'] },
    waits: [true, false],
    view: 'Counting the words of: one two',
    observed: [{ type: 'text', text: '2' }],
    replayed: [{ kind: 'call', name: 'count_words', arguments: '{"text":"one two"}', thought: '' }],
  })
}

/** Adds each unit of an analysis once more without each of its fields; which ones, sorted. */
async function forgetEachOfAnalysis(copy: ScratchCopy): Promise<string[]> {
  const left: string[] = []
  for (const { add, fields } of ANALYSIS_LISTS) {
    for (const field of Object.keys(fields)) {
      const rest = Object.fromEntries(Object.entries(fields).filter(([one]) => one !== field))
      await add(copy, `without${left.length}`, rest)
      left.push(field)
    }
  }
  // Inside a field: a setting of which nobody says where the operator sets it, and a series without its warm-up.
  await CHANNEL.add(copy, 'within0', { ...CHANNEL.fields, environment: "{ key: tokenIn('EXAMPLE_OTHER_KEY') }" })
  await INDICATOR.add(copy, 'within1', { ...INDICATOR.fields, lines: "{ NAMELine: { field: 'x', isPercent: false } }" })
  return [...left, 'topic', 'warmUp'].sort()
}

type Named = readonly [string, string]

/** What was added or changed for each of them, as the lists have it. */
async function addOneOfEach({ write, edit }: ScratchCopy): Promise<Named[]> {
  const registry = 'src/agent/tools/index.ts'
  const imports = "import { COUNT_TOOL } from './count-words.ts'\n"
  await write('src/agent/tools/count-words.ts', TOOL)
  await edit(registry, 'import { REMOTE_CALL }', `${imports}import { REMOTE_CALL }`)
  await edit(registry, '  VIEW_TOOL,\n]', '  VIEW_TOOL,\n  COUNT_TOOL,\n]')
  await edit('src/routes/usage.ts', 'export { app as usage }', `${ENDPOINT}export { app as usage }`)
  await write('src/kits/shell/commands/system/greet.ts', COMMAND)
  await edit(COMMAND_LIST, "  refused('df'", `${COMMAND_LINE}  refused('df'`)
  await edit(COMMAND_RISKS, "  grep: '", `${COMMAND_RISK}  grep: '`)
  return [
    ['tool', 'src/agent/tools/count-words.ts'],
    ['tool', registry],
    ['endpoint', 'src/routes/usage.ts'],
    ['command', 'src/kits/shell/commands/system/greet.ts'],
    ['command', COMMAND_LIST],
    ['command', COMMAND_RISKS],
  ]
}

/** In which file which field is not there any more. */
async function forgetEachField({ write, edit }: ScratchCopy): Promise<Named[]> {
  const tools = TOOL_FIELDS.map((field): Named => [`src/agent/tools/lacks-${field}.ts`, field])
  const endpoints = ENDPOINT_FIELDS.map((field): Named => [`src/routes/lacks-${field}.ts`, field])
  for (const [path, field] of tools) await write(path, without(TOOL, field))
  for (const [path, field] of endpoints) await write(path, without(ROUTE_FILE, field))
  await edit(COMMAND_RISKS, COMMAND_RISK, '')
  await edit(COMMAND_LIST, COMMAND_LINE, `${COMMAND_LINE}  { name: 'mute' },\n`)
  return [...tools, ...endpoints, [COMMAND_LIST, 'run']]
}

/** What the compiler says of one file. */
function errorsIn(output: string, path: string): string {
  return output
    .split(/\n(?=\S)/)
    .filter((error) => error.startsWith(`${path}(`))
    .join('\n')
}

/** Whether the list names the file, or a folder that it is in. */
function isNamed(what: string, path: string): boolean {
  const [, list = ''] = new RegExp(`\n## To add an? ${what}\n([\\s\\S]*?)\n## `).exec(textOf('CONTRIBUTING.md')) ?? []
  const names = [...list.matchAll(/`(src\/[\w./-]+)`/g)].map(([, name = '']) => name)
  return names.some((name) => path === name || path.startsWith(`${name}/`))
}

/** The tools in the documentation. */
function rowsOfTools(): string[] {
  const rows = textOf('docs/agent-tools.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name))
}

/** What the rest of the service knows of the new tool, from its file and its line alone, and which tools there are. */
async function toldBy(root: string): Promise<{ tools: string[] }> {
  const script = `
    import { modelText } from './src/agent/context/history.ts'
    import { readReplay } from './src/agent/trajectory.ts'
    import { riskOfAction } from './src/agent/security/judgement.ts'
    import { needsConfirmation } from './src/agent/security/judgement.ts'
    import { actionKind, TOOLS, toolsOf } from './src/agent/tools/index.ts'
    const deps = { commands: [], shellTimeoutMs: 1000, seesImages: false }
    const has = (agent) => toolsOf(agent, deps).some(({ name }) => name === 'count_words')
    const tool = toolsOf('ReadOnlyAgent', deps).find(({ name }) => name === 'count_words')
    const { action, run } = tool.prepare({ text: 'one two' })
    const risk = riskOfAction(action, { judgeScript: () => { throw new Error('it is no script') } })
    const first = { action: 'message', source: 'user', args: { content: 'Count.' } }
    console.log(JSON.stringify({
      tools: TOOLS.map(({ name }) => name),
      agents: [has('CodeActAgent'), has('ReadOnlyAgent')],
      risk,
      waits: [null, 2].map((severity) => needsConfirmation(action, { risk: risk.risk, severity })),
      view: actionKind(action.action).view(action.args),
      observed: modelText({ ...(await run({})), cause: 1 }),
      replayed: readReplay(JSON.stringify([first, action])).replay.steps,
    }))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script], {
    cwd: root,
  })
  return JSON.parse(stdout)
}

/** What the copy makes of the units, asked of the copy itself. */
function derivedIn(root: string): unknown {
  const program = `
    import { parseConfig, VARIABLES } from './src/config.ts'
    import { CHANNEL_KINDS } from './src/notify/registry.ts'
    import { TrendAnalysis } from './src/analysis/report/trend-analysis.ts'
    const examples = (names) => names.filter((name) => /example/i.test(name)).sort()
    console.log(JSON.stringify({
      variables: examples(VARIABLES.map(({ name }) => name)),
      kinds: examples(CHANNEL_KINDS),
      order: parseConfig({ AUTH_MODE: 'local' }).marketData,
      figures: examples(Object.keys(TrendAnalysis.shape)),
      ofOlderReports: TrendAnalysis.shape.example_figure_example?.parse(undefined),
    }))`
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' })
  return JSON.parse(answer)
}
