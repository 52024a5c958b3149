// The parts of one conversation on this machine: folders, limits, a network, and the programs that only some machines
// have.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from './browser/browser.ts'
import type { ConversationDeps } from './conversation.ts'
import type { Log } from './log.ts'
import { Notebook } from './notebook/notebook.ts'
import { askGit } from './sandbox/ask-git.ts'
import { Cgroup } from './sandbox/cgroup.ts'
import {
  type ConversationFolders,
  kernelLaunch,
  type LaunchPlan,
  makeFolders,
  programLaunch,
  terminalLaunch,
} from './sandbox/launch.ts'
import { OwnNetwork } from './sandbox/own-network.ts'
import { writeRunFiles } from './sandbox/run-files.ts'
import { SandboxServices, type ServicesDeps } from './sandbox/services.ts'
import { Journal } from './session/journal.ts'
import { Tree } from './sync/tree.ts'
import { ToolServers } from './tool-servers.ts'
import { Views } from './views.ts'

/** Requests to the service for the programs here. */
type Asks = Pick<ServicesDeps, 'ask' | 'mayReach'>
type LaunchContext = { readonly folders: ConversationFolders; readonly plan: LaunchPlan; readonly log: Log }

export type ConversationParts = LaunchContext & {
  readonly cgroup: Cgroup | null
  readonly network: OwnNetwork | null
  readonly services: SandboxServices
  readonly servers: ToolServers
  readonly views: Views
  readonly journal: Journal
  readonly tree: Tree
  readonly notebook: Notebook
  readonly browser: Browser
}

export function openParts(deps: ConversationDeps, asks: Asks): ConversationParts {
  mkdirSync(deps.folder, { recursive: true, mode: 0o700 })
  const log: Log = (event, fields) => deps.log(event, { conversation: deps.id, ...fields })
  const made = makeFolders(deps.folder)
  // First the parts that only write files: if the disk is full, nothing has started that must be ended.
  const journal = new Journal(join(deps.folder, 'journal'), log)
  const network = ownNetwork(deps, made)
  const folders = network === null ? made : { ...made, network }
  const cgroup = deps.cgroups === null ? null : new Cgroup(deps.cgroups, deps.id, deps.plan.limits)
  const plan = { ...deps.plan, entrances: cgroup?.entrances ?? [] }
  writeRunFiles(folders.run, plan)
  const tree = new Tree(deps.folder, (folder, args) => askGit(folder, args, { folders, plan: deps.plan }))
  const place = { folders, plan, log }
  return {
    ...place,
    cgroup,
    network,
    services: new SandboxServices(folders.run, { ...deps, ...asks }),
    servers: new ToolServers({
      launch: (program) => programLaunch(program, place),
      log,
      startProgram: deps.startProgram,
    }),
    views: new Views({ network, launch: () => terminalLaunch(folders, plan), log, idleMs: plan.idleMs }),
    journal,
    tree,
    ...programsOf(deps, place, tree.root),
  }
}

/** Only if the sandbox does not use the machine's network. */
function ownNetwork({ folder, plan }: ConversationDeps, { run }: ConversationFolders): OwnNetwork | null {
  if (plan.hasOwnNetworks !== true) return null
  return new OwnNetwork({ folder: join(folder, 'network'), run, hasProxy: plan.network === 'list' })
}

/** A notebook's kernel and a browser, which not every machine has. */
function programsOf(
  { folder, kernel, chromium }: ConversationDeps,
  { folders, plan, log }: LaunchContext,
  root: string,
): { notebook: Notebook; browser: Browser } {
  const launch = kernel === null ? null : () => kernelLaunch(kernel, { folders, plan })
  return {
    notebook: new Notebook({ launch, log, idleMs: plan.idleMs }),
    browser: new Browser({
      program: chromium,
      folder: join(folder, 'browser'),
      folders,
      plan,
      root,
      log,
      idleMs: plan.browserIdleMs,
    }),
  }
}
