// The parts of a conversation that not every machine has: a notebook's kernel and a browser.

import { join } from 'node:path'
import { Browser } from './browser/browser.ts'
import type { ConversationDeps } from './conversation.ts'
import type { Log } from './log.ts'
import { Notebook } from './notebook/notebook.ts'
import { type ConversationFolders, kernelLaunch, type LaunchPlan } from './sandbox/launch.ts'

type Around = { readonly folders: ConversationFolders; readonly plan: LaunchPlan; readonly root: string }

export function openParts(
  { id, folder, kernel, chromium, log }: ConversationDeps,
  { folders, plan, root }: Around,
): { notebook: Notebook; browser: Browser } {
  const logHere: Log = (event, fields) => log(event, { conversation: id, ...fields })
  return {
    notebook: new Notebook({
      launch: kernel === null ? null : () => kernelLaunch(kernel, { folders, plan }),
      log: logHere,
      idleMs: plan.idleMs,
    }),
    browser: new Browser({
      program: chromium,
      folder: join(folder, 'browser'),
      folders,
      plan,
      root,
      log: logHere,
      idleMs: plan.browserIdleMs,
    }),
  }
}
