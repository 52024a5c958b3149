import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** What npm calls `wrangler` only starts this file in a second process. */
export const WRANGLER = join(ROOT, 'node_modules', 'wrangler', 'wrangler-dist', 'cli.js')

/** Loaded before the program of a child that is not to outlive this process. */
export const DIE_WITH_PARENT = join(ROOT, 'scripts', 'start', 'die-with-parent.mjs')

export const VITE = join(ROOT, 'node_modules', 'vite', 'bin', 'vite.js')

/** Where everything is kept. A relative name is one below the tree. */
export function stateFolderOf({ BELLWETHER_STATE }: Readonly<Record<string, string | undefined>>): string {
  return resolve(ROOT, BELLWETHER_STATE || '.wrangler/state')
}
