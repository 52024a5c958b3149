// The program: reads the options, checks the machine and its programs, and starts the runner.

import { release } from 'node:os'
import process from 'node:process'
import { BROWSER_TOOL } from '../../src/runners/page.ts'
import { KERNEL_TOOL, type LimitsBy, type RunnerDescription } from '../../src/runners/wire.ts'
import { findChromium, sweepProfiles } from './browser/launch.ts'
import { FolderInUse, takeFolder } from './identity.ts'
import { logToStderr as log, messageOf } from './log.ts'
import { type Options, readOptions, UsageError } from './options.ts'
import { Runner } from './runner.ts'
import { SANDBOX_PATH } from './sandbox/bwrap.ts'
import { type CgroupBase, letCgroupsGo } from './sandbox/cgroup.ts'
import { notLinux, sandboxProblem } from './sandbox/check.ts'
import type { LaunchPlan } from './sandbox/launch.ts'
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
  const { workspaces, cgroups } = sandboxOf(options)
  const plan = planOf(options)
  const folder = takeFolder(workspaces)
  const { kernel, chromium, tools } = programsHere(plan)
  const description = { id: folder.id, ...descriptionOf(options), tools, limits: limitsOf(options, cgroups) }
  logStart(description)
  const { url, key, allow, isAllowExact, isOnce } = options
  const runner = new Runner({
    ...{ url, key, description, workspaces, plan, cgroups, allow, isAllowExact, kernel, chromium, isOnce, log },
    onEnded: (code) => {
      folder.letGo()
      letCgroupsGo(cgroups)
      process.exit(code)
    },
  })
  endOnSignals(runner)
  runner.connect()
}

/** The user and the control groups of commands; throws if the requested sandbox is not available. */
function sandboxOf(options: Options): ReturnType<typeof becomeOrdinaryUser> {
  // Checked before looking for a user, which only a sandbox needs.
  const elsewhere = options.isolation === 'none' ? null : notLinux()
  if (elsewhere !== null) throw new UsageError(elsewhere)
  const user = becomeOrdinaryUser(options)
  const problem = options.isolation === 'none' ? null : sandboxProblem(options)
  if (problem !== null) throw new UsageError(problem)
  return user
}

function planOf({ isolation, network, limits, idleMs, browserIdleMs }: Options): LaunchPlan {
  const isClosed = isolation !== 'none' && network !== 'all'
  const hasOwnNetworks = isClosed && OwnNetwork.worksHere()
  if (isClosed && !hasOwnNetworks) log('ports.none', { meaning: 'needs nsenter and socat: no ports, no browser' })
  return { isolation, network, limits, idleMs, browserIdleMs, hasOwnNetworks }
}

function programsHere({ isolation, hasOwnNetworks }: LaunchPlan) {
  const path = isolation === 'none' ? (process.env.PATH ?? SANDBOX_PATH) : SANDBOX_PATH
  // The system's Python if the operator's own has no kernel.
  const kernel = findKernelPython(path) ?? findKernelPython(SANDBOX_PATH)
  const tools = findTools(path)
  if (kernel !== null) tools.push({ name: KERNEL_TOOL, version: kernel.version })
  // Only in a network of the conversation's own: in the machine's network, a page could reach everything that listens
  // there.
  const chromium = hasOwnNetworks === true ? findChromium(SANDBOX_PATH) : null
  if (chromium !== null) {
    sweepProfiles()
    tools.push({ name: BROWSER_TOOL, version: chromium.version })
  }
  return { kernel: kernel?.file ?? null, chromium: chromium?.file ?? null, tools }
}

function descriptionOf({ name, labels, capacity, isolation, network }: Options) {
  return {
    name,
    labels: [...labels],
    version: ownVersion(),
    os: `${process.platform} ${release()}`.slice(0, 40),
    arch: process.arch,
    capacity,
    isolation,
    network: isolation === 'none' ? ('all' as const) : network,
  }
}

function logStart({ version, name, isolation, network, tools, limits }: RunnerDescription): void {
  log('runner.started', { version, name, isolation, network })
  for (const tool of tools) log('tool.found', tool)
  log('limits.by', limits)
  if (isolation === 'none') log('isolation.none', { meaning: NO_ISOLATION })
}

/** What limits a conversation on this machine. */
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
  // Sent by a process that started runner and service and stops both. Not the signal of a closing terminal: `nohup`
  // must keep working.
  process.on('SIGUSR2', () => runner.handBack())
  process.on('uncaughtException', (error) => {
    log('runner.failed', { message: messageOf(error), at: error.stack?.split('\n')[1]?.trim() ?? '' })
    runner.end(70)
  })
}
