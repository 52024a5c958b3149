// An agent on a runner, with all its servers on loopback: the git host, the provider's API, the model. Only the
// packages come from the registry that npm is set up for.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGitServer } from '../../test/support/git-server.ts'
import { startProviderHost } from '../../test/support/provider-host.ts'
import { startScriptedModel } from '../../test/support/scripted-model.ts'
import { ROOT } from '../start/paths.ts'
import { startService } from '../start/service.ts'
import { modelVariables } from './agent-script.ts'
import type { SeenEvent } from './follower.ts'
import { hostPackage, type Repository } from './lent/packages.ts'
import { workerOn } from './lent/script.ts'
import { storeToken, type TaskResult, workOn } from './lent/task.ts'
import { heading, quote, say } from './print.ts'

const READY_WITHIN_MS = 30_000

/** The results of each package, in order; throws if the registry cannot be reached. */
export async function workThrough(
  specs: readonly string[],
  screen: (event: SeenEvent) => void = () => {},
): Promise<TaskResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bellwether-lent-'))
  const ends: (() => Promise<unknown> | undefined)[] = [async () => rmSync(folder, { recursive: true, force: true })]
  try {
    const host = await startGitServer()
    ends.push(() => host.stop())
    const provider = await startProviderHost()
    ends.push(() => provider.stop())
    const repositories: Repository[] = []
    for (const spec of specs) repositories.push(await hostPackage(spec, host.url))
    const model = await startScriptedModel({ respond: workerOn(repositories) })
    ends.push(() => model.close())
    const env = { ...modelVariables(model.url), GITHUB_API_URL: `http://${provider.host}/github` }
    const service = await startService({ stateDir: join(folder, 'state'), env })
    ends.push(() => service.stop())
    const runner = await lendThis(service.url, folder)
    ends.push(async () => runner.kill('SIGKILL'))
    await storeToken(service.url)
    const done: TaskResult[] = []
    for (const repository of repositories) done.push(await workOn(service.url, host.url, { repository, screen }))
    return done
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Without a sandbox: the hosts of the demo are on this machine's loopback. */
async function lendThis(url: string, folder: string): Promise<ChildProcess> {
  const key = join(folder, 'state', 'runner-token')
  const options = ['--url', url, '--key-file', key, '--isolation', 'none', '--workspaces', join(folder, 'copies')]
  const runner = spawn(process.execPath, [join(ROOT, 'runner/src/main.ts'), ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  runner.stderr?.on('data', (text) => {
    log = `${log}${text}`.slice(-10_000)
  })
  const until = performance.now() + READY_WITHIN_MS
  while (!log.includes('pool.connected')) {
    if (runner.exitCode !== null || performance.now() > until) throw new Error(`the runner did not connect: ${log}`)
    await sleep(20)
  }
  return runner
}

/** The interactive demo: one package, with live output. */
export async function showLentMachine(spec: string): Promise<TaskResult> {
  heading(`An agent works on ${spec} with this machine's own programs`)
  const [done] = await workThrough([spec], ({ source, action, observation, content = '', args }) => {
    if (source !== 'agent') return
    if (action === 'run') say(`  $ ${args?.command ?? ''}`)
    else if (observation !== undefined && observation !== 'agent_state_changed') quote(content, 12)
  })
  if (done === undefined) throw new Error('nothing was done')
  return done
}
