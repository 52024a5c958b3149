// The program: what the operator said, whether the machine can do it, what it has; then the runner.

import { release } from 'node:os'
import process from 'node:process'
import { BROWSER_TOOL } from '../../src/runners/page.ts'
import { KERNEL_TOOL, type LimitsBy } from '../../src/runners/wire.ts'
import { findChromium, sweepProfiles } from './browser/launch.ts'
import { FolderInUse, takeFolder } from './identity.ts'
import { logToStderr as log, messageOf } from './log.ts'
import { type Options, readOptions, UsageError } from './options.ts'
import { Runner } from './runner.ts'
import { SANDBOX_PATH } from './sandbox/bwrap.ts'
import { type CgroupBase, letCgroupsGo } from './sandbox/cgroup.ts'
import { notLinux, sandboxProblem } from './sandbox/check.ts'
import { OwnNetwork } from './sandbox/own-network.ts'
import { becomeOrdinaryUser } from './sandbox/user.ts'
import { findKernelPython, findTools } from './tools.ts'
import { USAGE } from './usage.ts'
import { ownVersion } from './version.ts'

const NO_ISOLATION =
  'there is no sandbox: commands run with your rights in all your files, reach every network that you reach, and nothing limits what they take'

main(process.argv.slice(2))

function main(args: readonly string[]): void {
  try {
    const options = readOptions(args, process.env)
    if (options === 'help') process.stdout.write(USAGE)
    else if (options === 'version') process.stdout.write(`${ownVersion()}\n`)
    else start(options)
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof FolderInUse)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 2
  }
}

function start(options: Options): void {
  const { isolation, network, idleMs, browserIdleMs } = options
  const given = { isolation, network, limits: options.limits, idleMs, browserIdleMs }
  // Before a user is looked for that only a sandbox needs.
  const elsewhere = options.isolation === 'none' ? null : notLinux()
  if (elsewhere !== null) throw new UsageError(elsewhere)
  const { workspaces, cgroups } = becomeOrdinaryUser(options)
  if (options.isolation !== 'none') {
    const problem = sandboxProblem(given)
    if (problem !== null) throw new UsageError(problem)
  }
  const isClosed = options.isolation !== 'none' && options.network !== 'all'
  const plan = { ...given, hasOwnNetworks: isClosed && OwnNetwork.worksHere() }
  if (isClosed && !plan.hasOwnNetworks) log('ports.none', { meaning: 'needs nsenter and socat: no ports, no browser' })
  const folder = takeFolder(workspaces)
  const path = isolation === 'none' ? (process.env.PATH ?? SANDBOX_PATH) : SANDBOX_PATH
  // Of the system, where the operator's own Python has none.
  const kernel = findKernelPython(path) ?? findKernelPython(SANDBOX_PATH)
  const tools = findTools(path)
  if (kernel !== null) tools.push({ name: KERNEL_TOOL, version: kernel.version })
  // Only in a network of the conversation's own: in the machine's a page would reach whatever listens on it.
  const chromium = plan.hasOwnNetworks ? findChromium(SANDBOX_PATH) : null
  if (chromium !== null) {
    sweepProfiles()
    tools.push({ name: BROWSER_TOOL, version: chromium.version })
  }
  log('runner.started', {
    version: ownVersion(),
    name: options.name,
    isolation: options.isolation,
    network: options.isolation === 'none' ? 'all' : options.network,
  })
  for (const { name, version } of tools) log('tool.found', { name, version })
  const limits = limitsOf(options, cgroups)
  log('limits.by', limits)
  if (options.isolation === 'none') log('isolation.none', { meaning: NO_ISOLATION })
  const runner = new Runner({
    url: options.url,
    key: options.key,
    description: {
      id: folder.id,
      name: options.name,
      labels: [...options.labels],
      version: ownVersion(),
      os: `${process.platform} ${release()}`.slice(0, 40),
      arch: process.arch,
      capacity: options.capacity,
      isolation: options.isolation,
      network: options.isolation === 'none' ? 'all' : options.network,
      tools,
      limits,
    },
    workspaces,
    plan,
    cgroups,
    allow: options.allow,
    isAllowExact: options.isAllowExact,
    kernel: kernel?.file ?? null,
    chromium: chromium?.file ?? null,
    isOnce: options.isOnce,
    log,
    onEnded: (code) => {
      folder.letGo()
      letCgroupsGo(cgroups)
      process.exit(code)
    },
  })
  endOnSignals(runner)
  runner.connect()
}

/** What holds a conversation to its limits on this machine. */
function limitsOf({ isolation }: Options, cgroups: CgroupBase | null): LimitsBy {
  if (isolation === 'none') return { cpu: 'none', memory: 'none', processes: 'none', disk: 'none' }
  return {
    cpu: cgroups?.folders.cpu === undefined ? 'nice' : 'kernel',
    memory: cgroups?.folders.memory === undefined ? 'watched' : 'kernel',
    processes: 'kernel',
    disk: 'watched',
  }
}

function endOnSignals(runner: Runner): void {
  let signals = 0
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      signals += 1
      if (signals === 1) runner.drain()
      else runner.end(1)
    })
  }
  process.on('uncaughtException', (error) => {
    log('runner.failed', { message: messageOf(error), at: error.stack?.split('\n')[1]?.trim() ?? '' })
    runner.end(70)
  })
}
