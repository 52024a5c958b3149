// `npm run deploy`: looks at what a deployment needs, says what is missing and the command that mends it, and only then applies the
// database's migrations and deploys. `-- --check` only looks.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Fault, messageOf } from '../start/fault.ts'
import { ROOT } from '../start/paths.ts'
import { Wrangler } from './ask-wrangler.ts'
import type { Finding } from './checks.ts'

const USAGE = `Usage: npm run deploy -- [options]

Looks at wrangler.toml and, where wrangler is signed in, at the account; says what is missing and the command that mends it. With
nothing missing it applies the migrations of the database and deploys.

  --check          only looks
  --env NAME       an environment of wrangler.toml, as containers
  --config FILE    another file than wrangler.toml
  --help           this text`

type Wishes = { help: boolean; check: boolean; env: string | undefined; config: string }

export async function main(args: readonly string[]): Promise<void> {
  try {
    const wishes = readDeployArguments(args)
    if (wishes.help) console.log(USAGE)
    else process.exitCode = await deploy(wishes, { env: process.env, print: (line) => console.log(line) })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

/** Throws a `Fault` that names an unknown option. */
export function readDeployArguments(args: readonly string[]): Wishes {
  const options = {
    help: { type: 'boolean', short: 'h', default: false },
    check: { type: 'boolean', default: false },
    env: { type: 'string', short: 'e' },
    config: { type: 'string', short: 'c', default: join(ROOT, 'wrangler.toml') },
  } as const
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false })
    return { ...values, env: values.env }
  } catch (error) {
    const [sentence = ''] = messageOf(error).split('. ')
    throw new Fault(`${sentence.replace(/\.$/, '')}. See: npm run deploy -- --help`)
  }
}

type DeployDeps = { env: NodeJS.ProcessEnv; print: (line: string) => void }

/** The exit code. */
export async function deploy({ check, env, config }: Wishes, around: DeployDeps): Promise<number> {
  // With wrangler's code, which takes seconds to load.
  const { looksAtAccount, looksAtConfig, readDeployment } = await import('./checks.ts')
  const wrangler = new Wrangler({ config, environment: env, env: around.env })
  const deployment = await readDeployment(config, env)
  const findings = [...looksAtConfig(deployment), ...(await looksAtAccount(deployment, wrangler))]
  for (const finding of findings) around.print(textOf(finding))
  const missing = findings.filter(({ kind }) => kind === 'missing').length
  const unknown = findings.filter(({ kind }) => kind === 'unknown').length
  around.print(`\n${summary(missing, unknown)}`)
  if (missing > 0) return 1
  if (check) return 0
  const steps = [['d1', 'migrations', 'apply', 'DB', '--remote'], ['deploy']]
  for (const step of steps) {
    const code = await run(wrangler.words(step), around.env)
    if (code !== 0) return code
  }
  return 0
}

const MARKS = { fine: 'ok     ', missing: 'MISSING', unknown: 'UNKNOWN', told: 'note   ' } as const

export function textOf({ kind, what, mend }: Finding): string {
  const lines = mend === undefined ? [] : mend.split('\n').map((line) => `\n          ${line}`)
  return `${MARKS[kind]} ${what}${lines.join('')}`
}

function summary(missing: number, unknown: number): string {
  const open = unknown === 0 ? '' : ` ${unknown} could not be looked at: wrangler will tell.`
  if (missing === 0) return `Nothing is known to be missing.${open}`
  return `${missing} ${missing === 1 ? 'thing is' : 'things are'} missing; nothing was deployed.${open}`
}

async function run(words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn('wrangler', words, { cwd: ROOT, env, stdio: 'inherit' })
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Fault(`wrangler cannot be started: ${error.message}`)))
    child.once('close', (code) => resolve(code ?? 1))
  })
}
